package invoice

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/calendar"
)

// Bounds of what a result holds: files, and what takes a reader over, decide what stands in it. A longer text is left
// out, for what remains of it is another one.
const (
	longestNumber   = 100 // characters
	longestName     = 300
	longestTaxID    = 50
	longestEvidence = 200 // is cut
	maxMessage      = 2_000
	maxWarnings     = 100
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
		{"invoiceNumber", &r.Number, noLonger(longestNumber)},
		{"supplierName", &r.SupplierName, noLonger(longestName)},
		{"supplierTaxId", &r.SupplierTaxID, noLonger(longestTaxID)},
		{"invoiceDate", &r.Date, isDate},
		{"dueDate", &r.DueDate, isDate},
		{"currency", &r.Currency, isCurrency},
	} {
		if *f.field == nil {
			continue
		}
		t := **f.field
		t.Value, t.Text = untrusted.Line(t.Value), untrusted.Cut(untrusted.Line(t.Text), longestEvidence)
		if *f.field = &t; !f.valid(t.Value) {
			*f.field = nil
			r.Warnings = append(slices.Clip(r.Warnings), fmt.Sprintf("%s is left out: %q is none, or too long", f.name, untrusted.Cut(t.Value, 40)))
		}
	}
	for _, field := range []**fields.Amount{&r.Net, &r.Tax, &r.Gross} {
		if *field != nil {
			a := **field
			a.Text = untrusted.Cut(untrusted.Line(a.Text), longestEvidence)
			*field = &a
		}
	}
	if n := len(r.Warnings); n > maxWarnings {
		r.Warnings = r.Warnings[n-maxWarnings:] // the last are of what is left out
	}
	warnings := make([]string, len(r.Warnings))
	for i, w := range r.Warnings {
		warnings[i] = short(w)
	}
	r.Warnings = warnings
	return r
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
	return Result{Status: Failed, Reason: reason, Detail: err.Error()}.bounded()
}
