package invoice

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tallyhouse/analytics"
	"tallyhouse/ingest/invoice/einvoice"
	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/iban"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/calendar"
)

// Bounds of what a result holds: files, and what takes a reader over, decide what stands in it. A longer text is left
// out, for what remains of it is another one.
const (
	longestNumber   = analytics.LongestInvoiceNumber
	longestName     = analytics.LongestSupplierName
	longestTaxID    = analytics.LongestTaxID
	longestEvidence = 200 // characters; is cut
	maxMessage      = 2_000
	longestRule     = 60
	longestFinding  = 500
	maxFindings     = 100
)

// bounded is a result with what anybody can use: texts on one line, of printable characters and no longer than their
// bounds, dates of the ledger, currencies that look like one. What is left out has a warning.
func (r Result) bounded() Result {
	r.Detail = short(r.Detail)
	for _, f := range []struct {
		name  string
		field **fields.Text
		valid func(string) bool
	}{
		{fields.Number, &r.Number, noLonger(longestNumber)},
		{fields.SupplierName, &r.SupplierName, noLonger(longestName)},
		{fields.SupplierTaxID, &r.SupplierTaxID, noLonger(longestTaxID)},
		{fields.SupplierIBAN, &r.SupplierIBAN, iban.Valid},
		{fields.Date, &r.Date, isDate},
		{fields.DueDate, &r.DueDate, isDate},
		{fields.Currency, &r.Currency, isCurrency},
	} {
		if *f.field == nil {
			continue
		}
		t := **f.field
		t.Value, t.Evidence = untrusted.Line(t.Value), boundedEvidence(t.Evidence)
		if *f.field = &t; !f.valid(t.Value) {
			*f.field = nil
			r.Findings = append(slices.Clip(r.Findings), fields.Finding{Rule: "value-left-out", Place: f.name,
				Message: fmt.Sprintf("%s is left out: %q is none, or too long", f.name, untrusted.Cut(t.Value, 40))})
		}
	}
	for _, field := range []**fields.Amount{&r.Net, &r.Tax, &r.Gross} {
		if *field != nil {
			a := **field
			a.Evidence = boundedEvidence(a.Evidence)
			*field = &a
		}
	}
	if n := len(r.Findings); n > maxFindings {
		r.Findings = r.Findings[n-maxFindings:] // the last are of what is left out
	}
	findings := make([]fields.Finding, len(r.Findings))
	for i, f := range r.Findings {
		findings[i] = fields.Finding{Rule: untrusted.Cut(untrusted.Line(f.Rule), longestRule),
			Message: untrusted.Cut(untrusted.Line(f.Message), longestFinding),
			Place:   untrusted.Cut(untrusted.Line(f.Place), longestEvidence), Page: max(0, min(f.Page, mostPages)), Box: boundedBox(f.Box)}
	}
	r.Findings = findings
	r.Possible = boundedPossible(r.Possible)
	return r
}

// boundedEvidence is evidence with what anybody can use.
func boundedEvidence(e fields.Evidence) fields.Evidence {
	e.Text = untrusted.Cut(untrusted.Line(e.Text), longestEvidence)
	e.Label = untrusted.Cut(untrusted.Line(e.Label), longestRule)
	e.Rule = untrusted.Cut(untrusted.Line(e.Rule), longestRule)
	e.Page = max(0, min(e.Page, mostPages))
	if !(e.Confidence >= 0) { // NaN neither
		e.Confidence = 0
	}
	e.Confidence = min(e.Confidence, 1)
	e.Box = boundedBox(e.Box)
	return e
}

// mostPages bounds the number of a page.
const mostPages = 1_000_000

// boundedBox is a box within the page, nil for one that encloses nothing.
func boundedBox(b *fields.Box) *fields.Box {
	if b == nil {
		return nil
	}
	within := fields.Box{Left: max(b.Left, 0), Top: max(b.Top, 0), Right: min(b.Right, 1), Bottom: min(b.Bottom, 1)}
	if !(within.Left < within.Right && within.Top < within.Bottom) {
		return nil
	}
	return &within
}

// boundedPossible keeps a few values of each field.
func boundedPossible(all []fields.Possible) []fields.Possible {
	var out []fields.Possible
	kept := map[string]int{}
	for _, p := range all {
		p.Value, p.Evidence = untrusted.Line(p.Value), boundedEvidence(p.Evidence)
		if !slices.Contains(fields.Names(), p.Field) || kept[p.Field] == fields.MaxPossible || p.Value == "" ||
			utf8.RuneCountInString(p.Value) > longestName {
			continue
		}
		kept[p.Field]++
		out = append(out, p)
	}
	return out
}

func noLonger(most int) func(string) bool {
	return func(s string) bool { return s != "" && utf8.RuneCountInString(s) <= most }
}

func isDate(s string) bool {
	_, err := calendar.ParseDate(s)
	return err == nil
}

func isCurrency(s string) bool {
	return len(s) == 3 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// short is a message that a person can read.
func short(message string) string { return untrusted.Cut(untrusted.Line(message), maxMessage) }

// Failure is the result of a file that was not read, for a reason, and because of err.
func Failure(reason Reason, err error) Result {
	out := Result{Status: Failed, Reason: reason, Detail: err.Error()}
	var faulty *einvoice.Faulty
	if errors.As(err, &faulty) {
		out.Findings = faulty.Findings
	}
	return out.bounded()
}
