package page

import (
	"strings"

	"tallyhouse/ingest/invoice/fields"
)

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
			text := strings.Trim(s.behindSubject(it.folded), " .:#")
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

// behindSubject is a line of a letter without the word that begins its subject: what follows is the document's title.
func (v *vocabulary) behindSubject(folded string) string {
	if m := v.subject.FindStringIndex(folded); m != nil {
		return folded[m[1]:]
	}
	return folded
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
	return right == nil && len(s.rows[it.row]) <= 2 && !s.valueBelow(it) && !s.labelOfRun(it)
}

// labelOfRun reports whether an item is one of several labels with one left edge whose values stand beside or below them, one as
// the other: titles stand alone.
func (s *sheet) labelOfRun(it *item) bool {
	const rows = 5
	value := s.lower(it)
	if value == nil || !hasDigit(value.folded) {
		return false
	}
	for r := max(0, it.row-rows); r <= min(it.row+rows, len(s.rows)-1); r++ {
		for _, other := range s.rows[r] {
			if other == it || other.page != it.page || absFloat(other.x0-it.x0) > 2 || absFloat(other.size-it.size) > 0.5 {
				continue
			}
			if v := s.lower(other); v != nil && v != value && absFloat((v.y-other.y)-(value.y-it.y)) < 1 &&
				(absFloat(v.x0-value.x0) < 3 || absFloat(v.x1-value.x1) < 3) {
				return true
			}
		}
	}
	return false
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
