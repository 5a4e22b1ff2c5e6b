// Package page reads the fields of an invoice from the text of its pages by
// labels, places, arithmetic and weights that were learnt: docs/invoices.md.
package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/model"
	"tallyhouse/ingest/invoice/text"
)

// Kind is what a document is.
type Kind int

// What a document can be.
const (
	NotAnInvoice Kind = iota
	SeveralInvoices
	Invoice
	CreditNote
)

// Reader reads invoices in the languages that it has words of. It holds no state
// of what it reads and may be used by several goroutines.
type Reader struct {
	vocabulary *vocabulary
	weights    model.Model
}

// NewReader returns a Reader of all languages. An error means that the words
// built into the program are faulty.
func NewReader() (*Reader, error) {
	v, err := newVocabulary()
	if err != nil {
		return nil, fmt.Errorf("preparing the reader of pages: %w", err)
	}
	weights, err := model.Load()
	if err != nil {
		return nil, fmt.Errorf("preparing the reader of pages: %w", err)
	}
	return &Reader{vocabulary: v, weights: weights}, nil
}

// With returns a Reader that decides by other weights, as training makes them.
func (r *Reader) With(weights model.Model) *Reader {
	return &Reader{vocabulary: r.vocabulary, weights: weights}
}

// Considered returns the candidates that Read weighs, by the names of the fields: what training learns from.
func (r *Reader) Considered(doc text.Document, own Own) map[string][]model.Candidate {
	s := newSheet(r.vocabulary, doc)
	s.weights = r.weights
	s.read(own)
	return s.considered
}

// Read reads the fields of the document. Fields that are not certain are nil;
// a document that is no invoice has none.
func (r *Reader) Read(doc text.Document, own Own) (Kind, fields.Invoice, []fields.Finding) {
	s := newSheet(r.vocabulary, doc)
	s.weights = r.weights
	kind, out := s.read(own)
	return kind, out, s.findings
}

func (s *sheet) read(own Own) (Kind, fields.Invoice) {
	buyers := s.buyers()
	number, numberAt := s.number(buyers)
	date, day := s.date(number, numberAt)
	due := s.due(date, day)
	t, weighed, all := s.total()
	kind := s.kind(number, date, due, t)
	if kind != NotAnInvoice && s.several(all) {
		kind = SeveralInvoices
	}
	if kind == CreditNote && s.selfBilled(own, buyers) {
		kind = Invoice
	}
	s.addAside()
	taxID, idAt, name := s.idAndName(own, buyers)
	out := fields.Invoice{
		Number: number, Date: date, DueDate: due, SupplierTaxID: taxID,
		SupplierName: name,
		SupplierIBAN: s.supplierIBAN(buyers),
		Currency:     s.currency(all, t.gross, countryCurrency(taxID)),
	}
	if out.Currency == nil && !s.twofold {
		out.Currency = s.homeCurrency(taxID, idAt, buyers)
	}
	s.addAmounts(&out, t, kind)
	s.couldBeTotals(weighed, all, exponentOf(out.Currency), kind)
	s.keepCertain(&out)
	if kind == NotAnInvoice || kind == SeveralInvoices {
		return kind, fields.Invoice{}
	}
	return kind, out
}

func (s *sheet) addAmounts(out *fields.Invoice, t totals, kind Kind) {
	divisor := int64(math.Pow10(scale - exponentOf(out.Currency)))
	for _, part := range []*share{t.net, t.tax, t.gross} {
		if t.gross == nil || part != nil && part.value%divisor != 0 {
			return
		}
	}
	amount := func(part *share) *fields.Amount {
		if part == nil {
			return nil
		}
		value := part.value / divisor
		if kind == CreditNote {
			value = -absolute(value)
		}
		return &fields.Amount{Value: value, Evidence: s.evidence(part.from.item, part.rule, part.confidence)}
	}
	out.Net, out.Tax, out.Gross = amount(t.net), amount(t.tax), amount(t.gross)
}

// exponentOf is the number of decimals of an invoice's amounts.
func exponentOf(currency *fields.Text) int {
	if currency == nil {
		return 2
	}
	return fields.Exponent(currency.Value)
}

// couldBeTotals notes the labelled sums, and those that the weights find likeliest, as what net, tax and gross could be.
func (s *sheet) couldBeTotals(weighed totals, all []sum, exponent int, kind Kind) {
	divisor := int64(math.Pow10(scale - exponent))
	note := func(field string, value int64, at *sum, rule string, score float64) {
		if field == "" || value%divisor != 0 {
			return
		}
		value /= divisor
		if kind == CreditNote {
			value = -absolute(value)
		}
		s.couldBe(field, strconv.FormatInt(value, 10), at.item, rule, score)
	}
	for field, part := range map[string]*share{fields.Net: weighed.net, fields.Tax: weighed.tax, fields.Gross: weighed.gross} {
		if part != nil {
			note(field, part.value, part.from, part.rule, part.confidence)
		}
	}
	for i := range all {
		sm := &all[i]
		field := map[role]string{roleNet: fields.Net, roleTax: fields.Tax, roleTaxWithin: fields.Tax, roleGross: fields.Gross,
			rolePayable: fields.Gross}[sm.role]
		note(field, sm.value, sm, "labelled sum", 0.2*float64(1+min(sm.weight, 2)))
	}
}

// keepCertain drops what is not certain: that, too, is only possible.
func (s *sheet) keepCertain(f *fields.Invoice) {
	values := map[string]string{}
	keep := func(field, value string, e fields.Evidence) bool {
		if e.Confidence >= fields.Certain {
			values[field] = value
			return true
		}
		f.Possible = append(f.Possible, fields.Possible{Field: field, Value: value, Evidence: e})
		return false
	}
	for _, t := range []struct {
		field string
		text  **fields.Text
	}{{fields.Number, &f.Number}, {fields.Date, &f.Date}, {fields.DueDate, &f.DueDate}, {fields.SupplierName, &f.SupplierName},
		{fields.SupplierTaxID, &f.SupplierTaxID}, {fields.SupplierIBAN, &f.SupplierIBAN}, {fields.Currency, &f.Currency}} {
		if *t.text != nil && !keep(t.field, (*t.text).Value, (*t.text).Evidence) {
			*t.text = nil
		}
	}
	for _, a := range []struct {
		field  string
		amount **fields.Amount
	}{{fields.Net, &f.Net}, {fields.Tax, &f.Tax}, {fields.Gross, &f.Gross}} {
		if *a.amount != nil && !keep(a.field, strconv.FormatInt((*a.amount).Value, 10), (*a.amount).Evidence) {
			*a.amount = nil
		}
	}
	for _, p := range s.others(values) {
		known := slices.ContainsFunc(f.Possible, func(k fields.Possible) bool { return k.Field == p.Field && k.Value == p.Value })
		if !known {
			f.Possible = append(f.Possible, p)
		}
	}
}

func (s *sheet) medianSize() float64 {
	var sizes []float64
	for _, row := range s.rows[:min(len(s.rows), 400)] {
		for _, it := range row {
			sizes = append(sizes, it.size)
		}
	}
	if len(sizes) == 0 {
		return 0
	}
	// Selection by counting on a coarse grid is enough for a threshold.
	var grid [400]int
	for _, v := range sizes {
		grid[int(math.Min(v*4, 399))]++
	}
	n := 0
	for i, c := range grid {
		if n += c; n*2 >= len(sizes) {
			return float64(i) / 4
		}
	}
	return 0
}
