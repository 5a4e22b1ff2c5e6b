package known_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/known"
)

// at is a place of a page, its left end and its top in percent.
func at(left, top float64) fields.Box {
	return fields.Box{Left: left / 100, Top: top / 100, Right: left/100 + 0.1, Bottom: top/100 + 0.01}
}

// candidate is what a field could be, or what the page is certain of.
type candidate struct {
	field, value string
	box          fields.Box
	label        string
	confidence   float64
}

func invoiceOf(all []candidate) (i fields.Invoice) {
	for _, c := range all {
		e := fields.Evidence{Page: 1, Rule: "by its place", Confidence: c.confidence, Box: &c.box, Label: c.label}
		n, _ := strconv.ParseInt(c.value, 10, 64)
		switch {
		case c.confidence < fields.Certain:
			i.Possible = append(i.Possible, fields.Possible{Field: c.field, Value: c.value, Evidence: e})
		case c.field == fields.Number:
			i.Number = &fields.Text{Value: c.value, Evidence: e}
		case c.field == fields.Date:
			i.Date = &fields.Text{Value: c.value, Evidence: e}
		case c.field == fields.DueDate:
			i.DueDate = &fields.Text{Value: c.value, Evidence: e}
		case c.field == fields.Net:
			i.Net = &fields.Amount{Value: n, Evidence: e}
		case c.field == fields.Tax:
			i.Tax = &fields.Amount{Value: n, Evidence: e}
		case c.field == fields.Gross:
			i.Gross = &fields.Amount{Value: n, Evidence: e}
		}
	}
	return i
}

// saying is what an invoice is certain of.
func saying(i fields.Invoice) string {
	var all []string
	for _, t := range []*fields.Text{i.Number, i.Date, i.DueDate} {
		all = append(all, certainly(t))
	}
	for _, a := range []*fields.Amount{i.Net, i.Tax, i.Gross} {
		if a == nil {
			all = append(all, "-")
		} else {
			all = append(all, fmt.Sprint(a.Value))
		}
	}
	return strings.Join(all, " ")
}

// Given where the values of earlier invoices stood that people have confirmed, then a candidate of the next one that stands alike is
// stated if it is the only one and what must hold does; what a page is certain of gives way to a correction alone.
func TestValuesStandWhereTheyStoodBefore(t *testing.T) {
	stood := func(field string, box fields.Box, label string) known.Stood {
		return known.Stood{Field: field, Page: 1, Box: box, Label: label}
	}
	number := stood(fields.Number, at(70, 20), "kennung")
	corrected := number
	corrected.Corrected = true
	unlabelled := stood(fields.Number, at(70, 20), "")
	sums := known.Layout{stood(fields.Net, at(80, 50), "summe"), stood(fields.Tax, at(80, 52), "abgabe"), stood(fields.Gross, at(80, 54), "endsumme")}
	is := func(field, value string, box fields.Box, label string, confidence float64) candidate {
		return candidate{field, value, box, label, confidence}
	}
	for _, c := range []struct {
		when     string
		page     []candidate
		taught   []known.Layout
		findings []string
		want     string // number, date, due date, net, tax, gross
	}{
		{"nothing was taught", []candidate{is(fields.Number, "7", at(70, 20), "kennung", 0.5)}, nil, nil, "- - - - - -"},
		{"it stands there", []candidate{is(fields.Number, "7", at(70, 20), "kennung", 0.1)}, []known.Layout{{number}}, nil, "7 - - - - -"},
		{"it stands some lines below", []candidate{is(fields.Number, "7", at(70, 26), "kennung", 0.1)}, []known.Layout{{number}}, nil, "7 - - - - -"},
		{"it ends in the same column", []candidate{is(fields.Number, "7", fields.Box{Left: 0.75, Top: 0.2, Right: 0.8, Bottom: 0.21}, "kennung", 0.1)},
			[]known.Layout{{number}}, nil, "7 - - - - -"},
		{"it stands in another column", []candidate{is(fields.Number, "7", at(50, 20), "kennung", 0.5)}, []known.Layout{{number}}, nil, "- - - - - -"},
		{"it has another label", []candidate{is(fields.Number, "7", at(70, 20), "kunde", 0.5)}, []known.Layout{{number}}, nil, "- - - - - -"},
		{"nothing announces it at the same place", []candidate{is(fields.Number, "7", at(70, 20), "", 0.1)}, []known.Layout{{unlabelled}}, nil, "7 - - - - -"},
		{"nothing announces it elsewhere in the column", []candidate{is(fields.Number, "7", at(70, 26), "", 0.5)}, []known.Layout{{unlabelled}}, nil, "- - - - - -"},
		{"it is what another field could be", []candidate{is(fields.Date, "2026-01-01", at(70, 20), "kennung", 0.5)}, []known.Layout{{number}}, nil, "- - - - - -"},
		{"two stand alike, one of them at the same place", []candidate{is(fields.Number, "7", at(70, 26), "kennung", 0.5), is(fields.Number, "8", at(70, 20), "kennung", 0.1)},
			[]known.Layout{{number}}, nil, "8 - - - - -"},
		{"two stand alike, both elsewhere", []candidate{is(fields.Number, "7", at(70, 26), "kennung", 0.5), is(fields.Number, "8", at(70, 28), "kennung", 0.1)},
			[]known.Layout{{number}}, nil, "- - - - - -"},
		{"two earlier invoices say different things", []candidate{is(fields.Number, "7", at(70, 20), "kennung", 0.5), is(fields.Number, "8", at(30, 20), "nummer", 0.1)},
			[]known.Layout{{number}, {stood(fields.Number, at(30, 20), "nummer")}}, nil, "- - - - - -"},
		{"one of two earlier invoices looked otherwise", []candidate{is(fields.Number, "7", at(70, 20), "kennung", 0.5)},
			[]known.Layout{{stood(fields.Number, at(30, 20), "nummer")}, {number}}, nil, "7 - - - - -"},
		{"the page is certain of another value", []candidate{is(fields.Number, "9", at(10, 10), "nummer", 0.9), is(fields.Number, "7", at(70, 20), "kennung", 0.1)},
			[]known.Layout{{number}}, nil, "9 - - - - -"},
		{"a person has corrected that", []candidate{is(fields.Number, "9", at(10, 10), "nummer", 0.9), is(fields.Number, "7", at(70, 20), "kennung", 0.1)},
			[]known.Layout{{corrected}}, nil, "7 - - - - -"},
		{"a due date before the date", []candidate{is(fields.Date, "2026-02-01", at(70, 22), "tag", 0.9), is(fields.DueDate, "2026-01-01", at(70, 24), "bis", 0.5),
			is(fields.Number, "7", at(70, 20), "kennung", 0.1)}, []known.Layout{{number, stood(fields.DueDate, at(70, 24), "bis")}}, nil, "7 2026-02-01 - - - -"},
		{"sums that agree", []candidate{is(fields.Net, "100", at(80, 60), "summe", 0.1), is(fields.Tax, "20", at(80, 62), "abgabe", 0.1),
			is(fields.Gross, "120", at(80, 64), "endsumme", 0.1)}, []known.Layout{sums}, nil, "- - - 100 20 120"},
		{"sums that don't", []candidate{is(fields.Net, "100", at(80, 60), "summe", 0.1), is(fields.Tax, "20", at(80, 62), "abgabe", 0.1),
			is(fields.Gross, "130", at(80, 64), "endsumme", 0.1), is(fields.Number, "7", at(70, 20), "kennung", 0.1)},
			[]known.Layout{sums, {number}}, nil, "7 - - - - -"},
		{"a total that other printed sums make", []candidate{is(fields.Net, "100", at(10, 60), "", 0.1), is(fields.Tax, "20", at(30, 62), "", 0.1),
			is(fields.Tax, "5", at(30, 64), "", 0.1), is(fields.Gross, "125", at(80, 64), "endsumme", 0.1)}, []known.Layout{sums}, nil, "- - - - - 125"},
		{"a total that the printed sums don't make", []candidate{is(fields.Net, "100", at(10, 60), "", 0.1), is(fields.Tax, "20", at(30, 62), "", 0.1),
			is(fields.Gross, "125", at(80, 64), "endsumme", 0.1)}, []known.Layout{sums}, nil, "- - - - - -"},
		{"a total that a certain net sum and the printed tax don't make", []candidate{is(fields.Net, "90", at(10, 60), "", 0.9), is(fields.Net, "105", at(10, 62), "", 0.1),
			is(fields.Tax, "20", at(30, 62), "", 0.1), is(fields.Gross, "125", at(80, 64), "endsumme", 0.1)}, []known.Layout{sums}, nil, "- - - 90 - -"},
		{"sums without a total", []candidate{is(fields.Net, "100", at(80, 60), "summe", 0.1), is(fields.Tax, "20", at(80, 62), "abgabe", 0.1)},
			[]known.Layout{sums}, nil, "- - - - - -"},
		{"sums of which a finding says that they disagree", []candidate{is(fields.Gross, "120", at(80, 64), "endsumme", 0.1)}, []known.Layout{sums},
			[]string{"sums-disagree"}, "- - - - - -"},
	} {
		t.Run(c.when, func(t *testing.T) {
			var findings []fields.Finding
			for _, rule := range c.findings {
				findings = append(findings, fields.Finding{Rule: rule})
			}
			before := invoiceOf(c.page)
			i := known.Place(before, findings, c.taught)
			if got := saying(i); got != c.want {
				t.Errorf("it says %s, want %s", got, c.want)
			}
			if again := known.Place(i, findings, c.taught); saying(again) != saying(i) {
				t.Errorf("placed again it says %s", saying(again))
			}
			if saying(before) != saying(invoiceOf(c.page)) {
				t.Errorf("what was read has changed: %s", saying(before))
			}
		})
	}
}
