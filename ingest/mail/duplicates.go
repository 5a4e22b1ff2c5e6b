package mail

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/known"
	"tallyhouse/ingest/originals"
	"tallyhouse/schemas/events"
)

// The rules of repetitions, the surest first (docs/mail.md#the-same-invoice-twice).
const (
	duplicateContent = "duplicate-content"
	duplicateNumber  = "duplicate-number"
	duplicateAmount  = "duplicate-amount"
)

// repetition is what may make a record the repetition of earlier ones of its tenant: any of the things is the same.
type repetition struct {
	rule, place, message string
	things               []string
}

// repetitions are what tells a record's invoice from others, as far as it is certain.
func repetitions(d draft, f reading) []repetition {
	content := repetition{rule: duplicateContent, message: "the very same file has been mailed before"}
	for _, doc := range d.documents {
		if doc.Kind == original {
			content.things = append(content.things, thing("content", originals.Of(doc.file.Data).String()))
		}
	}
	all := []repetition{content}
	var suppliers []string
	for _, s := range []struct{ kind, id string }{
		{"contractor", f.contractor}, {"tax id", known.TaxKey(f.taxID)}, {"name", known.NameKey(f.supplier)},
	} {
		if s.id != "" {
			suppliers = append(suppliers, thing(s.kind, s.id))
		}
	}
	if n := number(f.number); n != "" {
		r := repetition{
			rule: duplicateNumber, place: fields.Number,
			message: "an invoice of the same supplier with the same number has come before",
		}
		for _, supplier := range suppliers {
			r.things = append(r.things, thing("number", supplier, n))
		}
		all = append(all, r)
	}
	if f.gross != nil && f.date != "" && f.currency != "" {
		r := repetition{rule: duplicateAmount, place: fields.Gross,
			message: "an invoice of the same supplier with the same date and amount has come before"}
		for _, supplier := range suppliers {
			r.things = append(r.things, thing("amount", supplier, f.currency, fmt.Sprint(*f.gross), f.date))
		}
		all = append(all, r)
	}
	return all
}

// thing joins parts, each with its length before it, so that two things never look the same.
func thing(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%d:%s", len(p), p)
	}
	return b.String()
}

// repeated finds the earlier records that a record may be a repetition of, and notes it for those to come. Each record
// is named by the surest rule alone. The order of records is that in which they were noted first, so it stays the same
// however often a mail is read.
func (in *Intake) repeated(ctx context.Context, d draft, f reading) ([]events.Finding, error) {
	var findings []events.Finding
	named := map[string]bool{}
	for _, r := range repetitions(d, f) {
		before := make([][]string, len(r.things))
		asking, asked := errgroup.WithContext(ctx)
		for i, t := range r.things {
			asking.Go(func() (err error) {
				before[i], err = in.options.Originals.Enlist(asked, d.tenant, t, d.id)
				return err
			})
		}
		if err := asking.Wait(); err != nil {
			return nil, err
		}
		var records []string
		for _, id := range slices.Concat(before...) {
			if id != d.id && !named[id] && len(records) < originals.MaxListed {
				named[id] = true
				records = append(records, id)
			}
		}
		if len(records) > 0 {
			findings = append(findings, events.Finding{Rule: r.rule, Message: r.message, Place: text(r.place), Records: events.Some(records)})
		}
	}
	return findings, nil
}
