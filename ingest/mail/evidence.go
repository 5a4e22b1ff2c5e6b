package mail

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/originals"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Originals keeps what was mailed, and knows which records came with the same thing before.
type Originals interface {
	// Put keeps a content for good before it returns.
	Put(ctx context.Context, tenant string, content []byte) error
	Get(ctx context.Context, tenant string, h originals.Hash) ([]byte, error)
	// Enlist notes that a record came with a thing and gives those noted before it, the same at every repetition.
	Enlist(ctx context.Context, tenant, thing, record string) (before []string, err error)
	// First notes what is said of a thing, unless something was noted before, and gives what was noted first.
	First(ctx context.Context, tenant, thing string, content []byte) (first []byte, err error)
	// Noted gives what First noted of a thing, nil when it noted nothing.
	Noted(ctx context.Context, tenant, thing string) ([]byte, error)
}

// nowhere keeps nothing.
type nowhere struct{}

func (nowhere) Put(context.Context, string, []byte) error { return nil }

func (nowhere) Get(context.Context, string, originals.Hash) ([]byte, error) {
	return nil, errNoOriginals
}

func (nowhere) Enlist(context.Context, string, string, string) ([]string, error) { return nil, nil }

func (nowhere) First(_ context.Context, _, _ string, content []byte) ([]byte, error) {
	return content, nil
}

func (nowhere) Noted(context.Context, string, string) ([]byte, error) { return nil, nil }

var errNoOriginals = errors.New("originals are kept nowhere: name their place by --originals-dir or --originals-s3")

// source is a mail as evidence: where it was, who vouches for its sender, and its bytes.
type source struct {
	evidence events.ReadMail
	raw      []byte
}

// longestHeader bounds what is kept of a field of a mail's header, in characters.
const longestHeader = 1000

// maxFrom bounds the addresses in From that are kept.
const maxFrom = 5

func newSource(o mailbox.Options, validity uint32, m mailbox.Mail, messageID string, raw []byte) source {
	e := evidenceOf(o, validity, m, messageID)
	e.SHA256, e.Bytes = events.Some(originals.Of(raw).String()), int64(len(raw))
	return source{evidence: e, raw: raw}
}

// evidenceOf is what the mailbox alone says of a mail.
func evidenceOf(o mailbox.Options, validity uint32, m mailbox.Mail, messageID string) events.ReadMail {
	h := message.ReadHeader(m.Header)
	from := h.Addresses("From")
	e := events.ReadMail{
		MessageID: headerText(messageID), Mailbox: o.String(), UIDValidity: int64(validity), UID: int64(m.UID),
		From: headerText(strings.Join(from[:min(len(from), maxFrom)], ", ")), Released: m.State.Released(),
		Bytes: min(m.Size, events.MaxAmount), Subject: headerText(h.Text("Subject")),
	}
	if day := calendar.ViennaDate(m.Arrived); day >= calendar.MinDate && day <= calendar.MaxDate {
		e.ArrivedAt = events.Some(m.Arrived)
	}
	if server := o.Senders.AuthServer; server != "" {
		found := untrusted.Cut(untrusted.Line(vouched(h, server)), longestHeader)
		e.Verdict, e.VerdictBy = events.Some(found), events.Some(server)
	}
	return e
}

func headerText(s string) events.Opt[string] {
	return text(untrusted.Cut(untrusted.Line(s), longestHeader))
}

// keep puts a mail and its files among the originals, as long as it takes.
func (w *watch) keep(ctx context.Context, from source, files []message.File) error {
	err := w.retry(ctx, "originals", func() error { return w.putAll(ctx, w.box.Tenant, from, files) })
	if err == nil {
		w.observe(stepKept)
	}
	return err
}

// agreed is the mail that a record is told to have come with: the first of those that were read for it. One mail may lie in
// several mailboxes, or several times in one, each copy at its own place and second; whoever reads which, and when, a version
// of the record says the same.
func (w *watch) agreed(ctx context.Context, record string, own source) (source, error) {
	noted := events.AppendReading(nil, &events.Reading{Status: events.ReadingCompleted, Mail: own.evidence})
	err := w.retry(ctx, "originals", func() (err error) {
		noted, err = w.options.Originals.First(ctx, w.box.Tenant, mailOfRecord(record), noted)
		return err
	})
	if err != nil {
		return source{}, err
	}
	first, err := events.ParseReading(string(noted))
	if err != nil {
		w.log.Error("what was noted of a record can't be read; the mail at hand counts", "record", record, "error", err)
		return own, nil
	}
	return source{evidence: first.Mail, raw: own.raw}, nil
}

// mailOfRecord is what the mail is noted under that a record came with.
func mailOfRecord(record string) string { return thing("mail of a record", record) }

// notedMail is the mail that a record is told to have come with, as far as it is noted.
func (in *Intake) notedMail(ctx context.Context, tenant, record string) (mail events.ReadMail, noted bool, err error) {
	first, err := in.options.Originals.Noted(ctx, tenant, mailOfRecord(record))
	if err != nil || first == nil {
		return mail, false, err
	}
	r, err := events.ParseReading(string(first))
	if err != nil {
		in.options.Log.Error("what was noted of a record can't be read", "record", record, "error", err)
		return mail, false, nil
	}
	return r.Mail, true, nil
}

func (in *Intake) putAll(ctx context.Context, tenant string, from source, files []message.File) error {
	if err := in.options.Originals.Put(ctx, tenant, from.raw); err != nil {
		return err
	}
	for _, f := range files {
		if err := in.options.Originals.Put(ctx, tenant, f.Data); err != nil {
			return err
		}
	}
	return nil
}

// evidence is the event that tells what a record's documents say, and why; e is the record that it goes before, failure
// why that one failed.
func (d draft) evidence(e events.Event, f reading, failure string, repeated []events.Finding) events.Event {
	r := &events.Reading{ProjectID: events.Some(d.project), Status: events.ReadingCompleted, Mail: d.source.evidence}
	for _, doc := range d.documents {
		r.Documents = append(r.Documents, doc.evidence())
	}
	record := e.Data.(*events.Record)
	if failure != "" {
		r.Status, r.Reason, r.Detail = events.ReadingFailed, text(f.reason), text(untrusted.Line(failure))
	}
	r.Fields = readFields(f, record)
	for _, found := range f.result.Findings {
		r.Findings = append(r.Findings, findingOf(found))
	}
	if stated := f.gross != nil || f.net != nil || f.tax != nil; failure == "" && stated && record.Currency.Ok && !d.plausible(f) {
		r.Findings = append(r.Findings, events.Finding{Rule: "amount-implausible", Place: events.Some(fields.Gross),
			Message: "an amount is larger than --mail-max-amount, so none of the amounts was taken over"})
	}
	r.Findings = append(r.Findings, repeated...)
	return events.Event{Envelope: e.Envelope, Data: r}
}

func (d document) evidence() events.ReadDocument {
	kind := "pdf"
	if d.file.XML {
		kind = "xml"
	}
	return events.ReadDocument{Name: d.Name, Kind: d.Kind, Type: kind, SHA256: originals.Of(d.file.Data).String(),
		Bytes: int64(len(d.file.Data)), Stated: d.states}
}

// readFields are the fields with a value that the record has, or with something that was possible.
func readFields(f reading, record *events.Record) []events.ReadField {
	taken := map[string]bool{
		fields.Number: record.InvoiceNumber.Ok, fields.Date: record.RecognitionDate.Ok, fields.DueDate: record.DueDate.Ok,
		fields.SupplierName: record.CounterpartyName.Ok, fields.SupplierTaxID: record.Intake.Status.V == "completed",
		fields.SupplierIBAN: record.Intake.Status.V == "completed",
		fields.Currency:     record.Currency.Ok, fields.Net: record.Net.Ok, fields.Tax: record.Tax.Ok, fields.Gross: record.Gross.Ok,
	}
	var all []events.ReadField
	for _, name := range fields.Names() {
		one := events.ReadField{Name: name}
		if s, certain := statedOf(f.result.Invoice, name); s != nil {
			if certain && taken[name] {
				one.Value = events.Some(*s)
			} else {
				one.Alternatives = append(one.Alternatives, *s)
			}
		}
		for _, p := range f.result.Possible {
			if p.Field != name || len(one.Alternatives) == fields.MaxPossible {
				continue
			}
			if s := possible(p); s != nil {
				one.Alternatives = append(one.Alternatives, *s)
			}
		}
		if one.Value.Ok || len(one.Alternatives) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// statedOf is what a field says, nil when it says nothing.
func statedOf(v fields.Invoice, name string) (s *events.Stated, certain bool) {
	texts := map[string]*fields.Text{fields.Number: v.Number, fields.Date: v.Date, fields.DueDate: v.DueDate,
		fields.SupplierName: v.SupplierName, fields.SupplierTaxID: v.SupplierTaxID, fields.SupplierIBAN: v.SupplierIBAN,
		fields.Currency: v.Currency}
	if t := texts[name]; t != nil {
		one := stated(t.Evidence)
		one.Text = events.Some(t.Value)
		return &one, t.Confidence >= fields.Certain
	}
	amounts := map[string]*fields.Amount{fields.Net: v.Net, fields.Tax: v.Tax, fields.Gross: v.Gross}
	if a := amounts[name]; a != nil && withinLedger(a.Value) {
		one := stated(a.Evidence)
		one.Minor = events.Some(a.Value)
		return &one, a.Confidence >= fields.Certain
	}
	return nil, false
}

// possible is a possible value, nil when it is none that the ledger could take.
func possible(p fields.Possible) *events.Stated {
	one := stated(p.Evidence)
	switch p.Field {
	case fields.Net, fields.Tax, fields.Gross:
		n, err := strconv.ParseInt(p.Value, 10, 64)
		if err != nil || !withinLedger(n) {
			return nil
		}
		one.Minor = events.Some(n)
	default:
		one.Text = events.Some(p.Value)
	}
	return &one
}

func withinLedger(n int64) bool { return n <= events.MaxAmount && n >= -events.MaxAmount }

const whole = 10_000 // basis points of a confidence, parts of a page

// isCertain reports whether what was read of a value was certain.
func isCertain(s events.Stated) bool {
	return float64(s.ConfidenceBp.Units) >= fields.Certain*whole*math.Pow10(int(s.ConfidenceBp.Scale))
}

func placeOf(b events.Box) fields.Box {
	part := func(v int64) float64 { return float64(v) / whole }
	return fields.Box{Left: part(b.Left), Top: part(b.Top), Right: part(b.Right), Bottom: part(b.Bottom)}
}

func stated(e fields.Evidence) events.Stated {
	return events.Stated{
		ConfidenceBp: events.Decimal{Units: int64(math.Round(e.Confidence * whole))}, Page: int64(e.Page), Box: boxOf(e.Box),
		Printed: text(e.Text), Label: text(e.Label), Rule: e.Rule,
	}
}

func boxOf(b *fields.Box) events.Opt[events.Box] {
	if b == nil {
		return events.Opt[events.Box]{}
	}
	part := func(v float64) int64 { return int64(math.Round(v * whole)) }
	return events.Some(events.Box{Left: part(b.Left), Top: part(b.Top), Right: part(b.Right), Bottom: part(b.Bottom)})
}

func findingOf(f fields.Finding) events.Finding {
	out := events.Finding{Rule: f.Rule, Message: f.Message, Place: text(f.Place), Box: boxOf(f.Box)}
	if out.Rule == "" {
		out.Rule = "unnamed" // a reader that a file took over may leave it out
	}
	if f.Page > 0 {
		out.Page = events.Some(int64(f.Page))
	}
	return out
}
