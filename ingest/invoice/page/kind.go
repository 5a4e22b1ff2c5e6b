package page

import (
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/fields"
)

// titles are what the lines of a document call it.
type titles struct {
	credit, title, sumOnly, hard bool
	own, other                   *item // the first that is an invoice's title and nothing else; that of another kind of document
	titleRow, ownRow             int
	covers                       bool // a sentence sends an invoice along
	reminder                     bool // a title or subject names a reminder or a statement of account: it lists invoices sent before
}

// nowhere is the row of what isn't there.
const nowhere = 1 << 30

// titles reads what a document is called. A title stands above the total: what is called a credit below it is another document.
func (s *sheet) titles(numbered bool, gross *share) titles {
	n := titles{titleRow: nowhere, ownRow: nowhere}
	total, invoiceFirst := nowhere, false
	if gross != nil {
		total = gross.from.item.row
	}
	for _, row := range s.rows {
		for _, it := range row {
			if it.page > 2 {
				break
			}
			text := strings.Trim(s.behindSubject(it.folded), " .:#")
			n.covers = n.covers || s.sendsAlong(it)
			if s.enclosure.MatchString(text) {
				continue
			}
			strict := s.ownTitle(text)
			if s.creditTitle.MatchString(text) && len(leadingPart(text)) < 60 && it.page == 1 && row[0].y < s.heights[0]*0.6 &&
				!invoiceFirst && !n.reminder && it.row < total && moneyIn(row) == 0 {
				if s.correctionTitle.MatchString(text) && s.replaces() { // an invoice anew, not what is less of one
					n.title, n.titleRow = true, min(n.titleRow, it.row)
				} else {
					n.credit = true
				}
			} else if strict && it.page == 1 {
				invoiceFirst = true // what is called a credit below is an item of it
			}
			if strict && it.page == 1 && n.own == nil {
				n.own = it
			}
			s.calledInvoice(&n, it, text, numbered)
			if it.page == 1 && n.other == nil && it.y < s.heights[0]*0.5 && s.otherHeading(it, text) {
				n.other = it
				n.hard = s.titleAboutInvoices.MatchString(text)
			}
			if !n.reminder && it.row < min(total, n.ownRow) && s.reminds(it, text) {
				n.other, n.hard, n.reminder = it, true, true
			}
			if s.titleAlone.MatchString(text) {
				n.ownRow = min(n.ownRow, it.row)
			}
		}
	}
	// "Rechnungsbetrag" beside a sum is a title where nothing says otherwise.
	n.title = n.title || n.sumOnly && n.other == nil
	return n
}

// calledInvoice notes a short line that has a word for an invoice, or begins with one.
func (s *sheet) calledInvoice(n *titles, it *item, text string, numbered bool) {
	loc := s.invoiceWord.FindStringIndex(text)
	if loc == nil {
		return
	}
	part := loc[0] + len(leadingPart(text[loc[0]:]))
	if !strings.Contains(text[:loc[0]], " ") { // "Beitragsrechnung zur Bauleistungsversicherung"
		loc[0] = 0
	}
	if loc[0] == 0 && len(it.dates) > 0 && moneyIn(s.rows[it.row]) == 0 { // "Facture de solde pour l'appartement témoin, le 4 décembre"
		first, _, _ := strings.Cut(text, ",")
		part = min(part, len(first))
	}
	if part >= 80 || !(loc[0] < 20 && part < 45 || loc[0] == 0) || s.endsParagraph(it) {
		return
	}
	if r, _ := s.roleOf(text[:part]); !numbered && r != roleNone {
		n.sumOnly = true
		return
	}
	n.title = true
	n.titleRow = min(n.titleRow, it.row)
}

// replaces reports whether a document says that it replaces an invoice, and not that it doesn't.
func (s *sheet) replaces() bool {
	for _, row := range s.rows {
		for _, it := range row {
			m := s.replacing.FindStringIndex(it.folded)
			if m != nil && !s.denied.MatchString(lastWord(it.folded[:m[0]])+" "+it.folded[m[0]:m[1]]) {
				return true
			}
		}
	}
	return false
}

// endsParagraph reports whether a line is the end of a sentence that fills the line above it: "… 30 days from the / invoice date."
func (s *sheet) endsParagraph(it *item) bool {
	const apart = 1.6 // lines of one paragraph, in their size
	above := s.above(it)
	if above == nil || it.y-above.y >= apart*it.size || absFloat(above.x0-it.x0) >= 2 {
		return false
	}
	return strings.HasSuffix(strings.TrimSpace(it.folded), ".") && len(above.folded) > maxLabelled/2 && above.x1 > it.x1
}

// reminds reports whether a line is the subject of a letter, or a title alone on it, that names a reminder: it decides over the
// invoices that the letter lists.
func (s *sheet) reminds(it *item, text string) bool {
	const longest = 90
	if it.page != 1 || it.y > s.heights[0]*0.6 || len(text) > longest || moneyIn(s.rows[it.row]) > 0 {
		return false
	}
	if left := s.left(it); s.subject.MatchString(it.folded) || left != nil && s.subject.MatchString(left.folded+" ") {
		return s.reminderSubject.MatchString(text)
	}
	return it.col == 0 && len(s.rows[it.row]) <= 2 && s.reminderTitle.MatchString(text) // a number may stand beside it
}

// leadingPart is a line up to the first mark between its parts: "Rechnung 7 / Kunde 12".
func leadingPart(text string) string {
	for _, mark := range []string{" / ", " | ", " ~ ", " , "} { // "·" and "•" are folded so
		text, _, _ = strings.Cut(text, mark)
	}
	return text
}

// ownTitle reports whether the first part of a line is the title of an invoice, alone or with its number.
func (v *vocabulary) ownTitle(text string) bool {
	text = strings.TrimRight(leadingPart(text), " .,:#")
	loc := v.anyInvoiceTitle.FindStringIndex(text)
	return loc != nil && (loc[1] == len(text) || hasDigit(text) && v.titleTail.MatchString(text[loc[1]:]))
}

// sendsAlong reports whether a line says that an invoice comes with the letter: "please find enclosed our invoice".
func (s *sheet) sendsAlong(it *item) bool {
	if len(it.folded) <= maxLabelled/2 || !s.sentAlong.MatchString(it.folded) {
		return false
	}
	return s.invoiceWord.MatchString(it.folded) || s.invoiceWord.MatchString(s.textBelow(it))
}

// withinSentence reports whether a sum stands within a sentence: words go on behind it, or fill its line.
func withinSentence(sm *sum) bool {
	return len(sm.item.folded) > maxLabelled || hasLetters(sm.item.folded[sm.amount.end:])
}

// larger is from how much on a text is set larger than another, as titles and names are.
const larger = 1.15

// overrules reports whether a document is called an invoice above what names another kind of document, or in larger letters: what is
// named below is an order or a quote that it's about.
func (n titles) overrules() bool {
	return n.own != nil && !n.hard && (n.own.row < n.other.row || n.own.size >= larger*n.other.size)
}

// kind decides what the document is. An invoice calls itself one and carries what
// an invoice must: a number or date and a sum to pay. Where its title is a word that
// nobody knows, and none of another kind of document, it carries all that an invoice has: net, tax and total of a bill, or a day by
// which to pay.
func (s *sheet) kind(number, date, due *fields.Text, t totals) Kind {
	n := s.titles(certain(number), t.gross)
	sure := certain(number) && number.Rule == numberLabel
	dated := certain(number) && certain(date)
	whole := dated && t.gross.certain() && (t.net.certain() && t.tax.certain() || certain(due)) && !s.offers()
	switch {
	case t.gross == nil && !(n.title && dated && (sure || certain(due) && !n.covers)):
		return NotAnInvoice
	case !certain(number) && !certain(date):
		return NotAnInvoice
	case n.covers && n.own == nil && (t.gross == nil || withinSentence(t.gross.from)):
		return NotAnInvoice // the letter that an invoice was sent with
	case n.hard && n.ownRow > n.other.row && !n.credit, n.own == nil && s.mentions(s.noInvoice):
		return NotAnInvoice
	case n.other != nil && !n.overrules() && !(sure && n.title && !n.credit && n.titleRow < n.other.row):
		if !(n.credit || sure && n.title && t.tax != nil && t.net != nil && s.invoicePart.MatchString(fold([]rune(number.Text)))) {
			return NotAnInvoice
		}
	case !n.title && n.own == nil && !n.credit && !(sure && t.gross != nil) && !whole:
		return NotAnInvoice
	}
	if n.credit {
		return CreditNote
	}
	return Invoice
}

// offers reports whether a document without a title offers, orders or agrees on something, as its sentences say, or begins a line of its
// upper half with the name of such a document. What a certificate is valid for isn't an offer.
func (s *sheet) offers() bool {
	for _, row := range s.rows {
		for _, it := range row {
			head := it.page == 1 && it.y < s.heights[0]/2 && moneyIn(row) == 0 && it.col == 0
			text := strings.Trim(s.behindSubject(it.folded), " .#")
			if it.size >= larger*s.median { // "Angebot: Flachdach"
				text = strings.Replace(text, ":", "", 1)
			}
			if s.offering.MatchString(it.folded) && !s.certificate.MatchString(it.folded) || head && s.namesOther(text, len(row) == 1) {
				return true
			}
		}
	}
	return false
}

// namesOther reports whether a line names another document and says what it is about, or stands alone; with its number it is a reference.
func (s *sheet) namesOther(text string, alone bool) bool {
	loc := s.otherTitle.FindStringIndex(text)
	return loc != nil && !strings.Contains(text, ":") && (longWord.MatchString(text[loc[1]:]) || alone && loc[1] == len(text))
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
	said := strings.TrimSpace(it.folded)
	if loc == nil || len(text) > 60 || strings.HasSuffix(said, ":") || strings.HasPrefix(said, ":") { // a label, or its value
		return false
	}
	if it.size >= larger*s.median && !strings.Contains(text, ":") {
		return true
	}
	rest := text[loc[1]:]
	if !s.titleTail.MatchString(rest) || strings.Contains(rest, ":") {
		return false
	}
	right := s.right(it)
	if hasDigit(rest) {
		return moneyIn(s.rows[it.row]) == 0 // else it is an item
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

// valueBelow reports whether a number stands right under an item, as under a label. "Nr. 7" says itself what it is.
func (s *sheet) valueBelow(it *item) bool {
	for _, b := range s.below(it, 1.2) {
		first, _, _ := strings.Cut(b.folded, " ")
		numbered := slices.Contains(s.numberWords, strings.Trim(first, "."))
		if hasDigit(b.folded) && len(b.runes) < 24 && !strings.Contains(b.folded, ":") && !numbered {
			return true
		}
	}
	return false
}
