// Package page reads the fields of an invoice from the text of its pages by
// labels, places, arithmetic and weights that were learnt: docs/invoices.md.
package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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
	taxID, idAt := s.taxID(own, buyers)
	out := fields.Invoice{
		Number: number, Date: date, DueDate: due, SupplierTaxID: taxID,
		SupplierName: s.supplier(own, buyers, idAt),
		SupplierIBAN: s.supplierIBAN(buyers),
		Currency:     s.currency(all, t.gross, countryCurrency(taxID)),
	}
	if out.Currency == nil {
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

// kind decides what the document is. An invoice calls itself one and carries what
// an invoice must: a number or date and a sum to pay. Where its title is a word that
// nobody knows, and none of another kind of document, it carries all that an invoice has: net, tax and total of a bill, or a day by
// which to pay.
func (s *sheet) kind(number, date, due *fields.Text, t totals) Kind {
	const never = 1 << 30
	credit, title, sumOnly, other, hard := false, false, false, false, false
	invoiceFirst := false
	total := never // a title stands above the total: what is called a credit below it is another document
	if t.gross != nil {
		total = t.gross.from.item.row
	}
	titleRow, otherRow, ownRow := never, never, never
	for _, row := range s.rows {
		for _, it := range row {
			if it.page > 2 {
				break
			}
			text := strings.Trim(it.folded, " .:#")
			if s.creditTitle.MatchString(text) && len(text) < 60 && it.page == 1 && row[0].y < s.heights[0]*0.6 &&
				!invoiceFirst && it.row < total && moneyIn(row) == 0 {
				credit = true
			} else if loc := s.invoiceTitle.FindStringIndex(text); loc != nil && it.page == 1 &&
				(loc[1] == len(text) || hasDigit(text) && s.titleTail.MatchString(text[loc[1]:])) {
				invoiceFirst = true // what is called a credit below is an item of it
			}
			if loc := s.invoiceWord.FindStringIndex(text); loc != nil && len(text) < 80 &&
				(loc[0] < 20 && len(text) < 45 || loc[0] == 0) {
				if r, _ := s.roleOf(text); certain(number) || r == roleNone {
					title = true
					titleRow = min(titleRow, it.row)
				} else {
					sumOnly = true
				}
			}
			if it.page == 1 && it.row < otherRow && it.y < s.heights[0]*0.5 && s.otherHeading(it, text) {
				other, otherRow = true, it.row
				hard = s.titleAboutInvoices.MatchString(text)
			}
			if s.titleAlone.MatchString(text) {
				ownRow = min(ownRow, it.row)
			}
		}
	}
	// "Rechnungsbetrag" beside a sum is a title where nothing says otherwise.
	title = title || sumOnly && !other
	sure := certain(number) && number.Rule == "number label"
	whole := certain(number) && certain(date) && t.gross.certain() &&
		(t.net.certain() && t.tax.certain() || certain(due))
	switch {
	case t.gross == nil && !(sure && certain(date) && title):
		return NotAnInvoice
	case !certain(number) && !certain(date):
		return NotAnInvoice
	case hard && ownRow > otherRow && !credit:
		return NotAnInvoice
	case other && !(sure && title && !credit && titleRow < otherRow):
		if !(credit || sure && title && t.tax != nil && t.net != nil && s.invoicePart.MatchString(fold([]rune(number.Text)))) {
			return NotAnInvoice
		}
	case !title && !credit && !(sure && t.gross != nil) && !whole:
		return NotAnInvoice
	}
	if credit {
		return CreditNote
	}
	return Invoice
}

// certain reports whether a value is known well enough to be stated.
func certain(t *fields.Text) bool { return t != nil && t.Confidence >= fields.Certain }

// selfBilled reports whether what calls itself a credit is an invoice that the buyer issued for his supplier, as
// Article 224 of the VAT directive allows: it says so, or stands on the own company's paper.
func (s *sheet) selfBilled(own Own, buyers map[*item]bool) bool {
	for _, row := range s.rows {
		for _, it := range row {
			if it.page > 1 {
				return false
			}
			head := it.y < s.heights[0]*0.15 && !buyers[it] && len(own.Names) > 0
			if s.selfBilling.MatchString(it.folded) || head && own.isName(s.firstPart(it.text())) {
				return true
			}
		}
	}
	return false
}

func moneyIn(row []*item) int {
	n := 0
	for _, it := range row {
		n += moneyCount(it)
	}
	return n
}

// otherHeading reports whether an item is the title of another kind of document:
// a quote, an order … Its words stand alone or with a number, large or last in
// their row; with a value beside it, or in a row of headings, it is a label.
func (s *sheet) otherHeading(it *item, text string) bool {
	loc := s.otherTitle.FindStringIndex(text)
	if loc == nil || len(text) > 60 || strings.HasSuffix(strings.TrimSpace(it.folded), ":") {
		return false
	}
	if it.size >= s.median*1.15 && !strings.Contains(text, ":") {
		return true
	}
	rest := text[loc[1]:]
	if !s.titleTail.MatchString(rest) || strings.Contains(rest, ":") {
		return false
	}
	right := s.right(it)
	if hasDigit(rest) {
		return true
	}
	return right == nil && len(s.rows[it.row]) <= 2 && !s.valueBelow(it)
}

// valueBelow reports whether a number stands right under an item, as under a label.
func (s *sheet) valueBelow(it *item) bool {
	for _, b := range s.below(it, 1.2) {
		if hasDigit(b.folded) && len(b.runes) < 24 && !strings.Contains(b.folded, ":") {
			return true
		}
	}
	return false
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
