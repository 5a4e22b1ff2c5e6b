package store

import (
	"time"

	"golang.org/x/text/unicode/norm"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// readings are what was read of mails. They contribute to no sums: a reading is evidence, and no money.
func readings() *Entity {
	type reading = events.Reading
	value := func(r *reading, name string) events.Stated {
		s, _ := analytics.FieldOf(r, name)
		return s
	}
	// The database makes the keys of these that suppliers are looked up by, and leaves marks out that stand beside their letters.
	composed := func(r *reading, name string) string { return norm.NFC.String(value(r, name).Text.V) }
	hashes := func(r *reading) []string {
		var all []string
		for _, d := range r.Documents {
			all = append(all, d.SHA256)
		}
		return all
	}
	return &Entity{
		Topic: events.Readings,
		Table: "readings",
		Columns: []Column{
			textColumn("state", func(r *reading) string { return string(analytics.StateOfReading(r)) }),
			textColumn("reason", func(r *reading) string { return r.Reason.V }),
			integerColumn("newest", newest),
			textColumn("sender", func(r *reading) string { return r.Mail.From.V }),
			textColumn("subject", func(r *reading) string { return r.Mail.Subject.V }),
			textColumn("message_id", func(r *reading) string { return r.Mail.MessageID.V }),
			textColumn("mail_sha256", func(r *reading) string { return r.Mail.SHA256.V }),
			textsColumn("document_sha256", hashes, itself),
			textColumn("number", func(r *reading) string { return value(r, "invoiceNumber").Text.V }),
			textColumn("supplier", func(r *reading) string { return composed(r, "supplierName") }),
			textColumn("currency", func(r *reading) string { return value(r, "currency").Text.V }),
			integerOrNull("gross", func(r *reading) events.Opt[int64] { return value(r, "gross").Minor }),
			textsColumn("repeats", analytics.Repeats, itself),
			textColumn("confirmed_by", func(r *reading) string { return r.ConfirmedBy.V }),
			textColumn("tax_id", func(r *reading) string { return composed(r, analytics.FieldTaxID) }),
			textColumn("contractor", func(r *reading) string { return value(r, analytics.FieldContractor).Text.V }),
			textColumn("sender_domain", func(r *reading) string { return analytics.VouchedDomain(r.Mail) }),
			textsColumn("ibans", analytics.IBANs, itself),
			jsonColumn("reading", storedReading),
		},
		project: func(_ string, data any) string { return data.(*reading).ProjectID.V },
		version: readingVersion,
	}
}

// newest is when the mail arrived, in microseconds before 1970, so that what came last is the least and stands first. A
// mail without an instant is the oldest.
func newest(r *events.Reading) int64 {
	if !r.Mail.ArrivedAt.Ok {
		return 0
	}
	return -r.Mail.ArrivedAt.V.Truncate(time.Microsecond).UnixMicro()
}

// storedReading is the whole reading; nothing for rows without one.
func storedReading(b []byte, r *events.Reading) []byte {
	if r.Status == "" {
		return b
	}
	return events.AppendReading(b, r)
}

// requests are what people ask the intake of mail for.
func requests() *Entity {
	type request = events.Request
	return &Entity{
		Topic: events.Requests,
		Table: "intake_requests",
		Columns: []Column{
			textColumn("action", func(r *request) string { return r.Action }),
			textColumn("sender", func(r *request) string { return r.Sender }),
			textColumn("requested_by", func(r *request) string { return r.RequestedBy.V }),
			instantOrNull("requested_at", func(r *request) events.Opt[time.Time] {
				return events.Opt[time.Time]{V: r.RequestedAt, Ok: !r.RequestedAt.IsZero()}
			}),
			textColumn("outcome", func(r *request) string { return r.Answer.V.Outcome }),
			textColumn("detail", func(r *request) string { return r.Answer.V.Detail.V }),
			instantOrNull("answered_at", func(r *request) events.Opt[time.Time] {
				return events.Opt[time.Time]{V: r.Answer.V.At, Ok: r.Answer.Ok}
			}),
		},
		project: func(_ string, data any) string { return data.(*request).ProjectID.V },
	}
}
