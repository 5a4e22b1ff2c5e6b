package analytics

import (
	"slices"
	"strings"

	"tallyhouse/schemas/events"
)

// InboxState is where a reading stands in the inbox (docs/mail.md#the-inbox).
type InboxState string

// The states of the inbox.
const (
	InboxRead          InboxState = "read"
	InboxDoubtful      InboxState = "doubtful"
	InboxDuplicate     InboxState = "duplicate"
	InboxFailed        InboxState = "failed"
	InboxQuarantined   InboxState = "quarantined"
	InboxWithoutRecord InboxState = "withoutRecord"
	InboxHandled       InboxState = "" // it isn't shown
)

// InboxStates lists the states that are shown, those first that wait for a person.
func InboxStates() []InboxState {
	return []InboxState{InboxDoubtful, InboxDuplicate, InboxFailed, InboxQuarantined, InboxWithoutRecord, InboxRead}
}

// StateOfReading is the state of a reading. What a person has confirmed is read, whatever was found about it.
func StateOfReading(r *events.Reading) InboxState {
	switch r.Status {
	case events.ReadingQuarantined:
		return InboxQuarantined
	case events.ReadingWithoutRecord:
		return InboxWithoutRecord
	case events.ReadingFailed:
		return InboxFailed
	case events.ReadingCompleted:
	default:
		return InboxHandled
	}
	switch {
	case r.ConfirmedBy.Ok:
		return InboxRead
	case len(Repeats(r)) > 0:
		return InboxDuplicate
	case len(Missing(r)) > 0 || slices.ContainsFunc(r.Findings, doubts):
		return InboxDoubtful
	}
	return InboxRead
}

// Missing lists the fields that a record needs to be paid and that nothing certain was read of.
func Missing(r *events.Reading) []string {
	var missing []string
	for _, name := range []string{"invoiceNumber", "invoiceDate", "supplierName", "currency", "gross"} {
		if _, ok := FieldOf(r, name); !ok {
			missing = append(missing, name)
		}
	}
	return missing
}

// FieldOf is the value of a field; false when nothing is certain.
func FieldOf(r *events.Reading, name string) (events.Stated, bool) {
	for _, f := range r.Fields {
		if f.Name == name {
			return f.Value.V, f.Value.Ok
		}
	}
	return events.Stated{}, false
}

// VouchedDomain is the domain of the one sender of a mail, in lower case, where the mailbox's own server vouches for it; else "".
func VouchedDomain(m events.ReadMail) string {
	_, domain, is := strings.Cut(m.From.V, "@")
	if m.Verdict.V != "pass" || !is || strings.ContainsAny(domain, "@, ") {
		return ""
	}
	return strings.ToLower(domain)
}

// IBANs are the accounts on a reading's pages that may be the supplier's.
func IBANs(r *events.Reading) []string {
	var all []string
	for _, f := range r.Fields {
		if f.Name != FieldIBAN {
			continue
		}
		for _, s := range append([]events.Stated{f.Value.V}, f.Alternatives...) {
			if s.Text.V != "" {
				all = append(all, s.Text.V)
			}
		}
	}
	return all
}

// Repeats lists the earlier records that a reading may be a repetition of, each once.
func Repeats(r *events.Reading) []string {
	var all []string
	for _, f := range r.Findings {
		if !strings.HasPrefix(f.Rule, "duplicate-") {
			continue
		}
		for _, id := range f.Records.V {
			if !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all
}

// doubts reports whether a finding makes what was read doubtful, and isn't only worth knowing.
func doubts(f events.Finding) bool {
	return slices.Contains([]string{"page-differs", "amount-implausible", "unseen-figures", "value-left-out", "payment-code-differs"}, f.Rule)
}
