// Package page reads the fields of an invoice from the text of its pages by
// labels, places and arithmetic, in German, English, French, Italian and
// Spanish, and in parts of Dutch, Polish and Portuguese.
package page

import (
	"math"
	"strings"

	"tallyhouse/ingest/invoice/fields"
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

// Read reads the fields of the document. Fields that are not certain are nil;
// a document that is no invoice has none.
func Read(doc text.Document, own Own) (Kind, fields.Invoice) {
	s := newSheet(doc)
	number, numberAt := s.number()
	date, day := s.date(numberAt)
	t, all := s.total()
	kind := s.kind(number, date, t)
	if kind == NotAnInvoice {
		return kind, fields.Invoice{}
	}
	if s.several(all) {
		return SeveralInvoices, fields.Invoice{}
	}
	buyers := s.buyers()
	taxID, idAt := s.taxID(own, buyers)
	out := fields.Invoice{
		Number: number, Date: date, DueDate: s.due(date, day), SupplierTaxID: taxID,
		SupplierName: s.supplier(own, buyers, idAt),
		Currency:     s.currency(all, t.gross),
	}
	if out.Currency == nil {
		out.Currency = s.homeCurrency(taxID, idAt)
	}
	s.addAmounts(&out, t, kind)
	keepCertain(&out)
	return kind, out
}

func (s *sheet) addAmounts(out *fields.Invoice, t totals, kind Kind) {
	if t.gross == nil {
		return
	}
	exponent := 2
	if out.Currency != nil {
		exponent = fields.Exponent(out.Currency.Value)
	}
	divisor := int64(math.Pow10(scale - exponent))
	if t.grossValue%divisor != 0 || t.netValue%divisor != 0 || t.taxValue%divisor != 0 {
		return
	}
	amount := func(value int64, from *sum) *fields.Amount {
		if kind == CreditNote {
			value = -absolute(value)
		}
		return &fields.Amount{Value: value / divisor, Evidence: s.evidence(from.item, t.rule, t.confidence)}
	}
	out.Gross = amount(t.grossValue, t.gross)
	if t.hasNet {
		out.Net = amount(t.netValue, t.net)
	}
	if t.hasTax {
		out.Tax = amount(t.taxValue, t.tax)
	}
}

// keepCertain drops what is not certain.
func keepCertain(f *fields.Invoice) {
	for _, t := range []**fields.Text{&f.Number, &f.Date, &f.DueDate, &f.SupplierName, &f.SupplierTaxID, &f.Currency} {
		if *t != nil && (*t).Confidence < fields.Certain {
			*t = nil
		}
	}
	for _, a := range []**fields.Amount{&f.Net, &f.Tax, &f.Gross} {
		if *a != nil && (*a).Confidence < fields.Certain {
			*a = nil
		}
	}
}

var (
	invoiceTitle = compile(`\b(?:[a-z-]*rechnung(?:s(?:nummer|nr|datum|betrag)?)?|invoices?|tax invoice|facture|fattura|factura|factuur\w*|faktura|fatura|bill|beitragsrechnung|honorarnote|gebuhrenbescheid|receipt|rechnungs\w*|inv#?|quittung|szamla|factua)\b`)
	creditTitle  = compile(`^\W*(?:(?:kopie|copy|duplikat|original) )?(?:gutschrift|rechnungskorrektur|stornorechnung|storno|credit note|credit memo|credit invoice|creditnota|creditfactuur|avoir|note de credit|facture d'avoir|nota (?:di )?credito|nota di accredito|nota de (?:credito|abono)|factura rectificativa|factura de abono|abono|kreditnota|rechnungskorrektur \(384\)|korrekturrechnung|wertgutschrift)\b`)
	plainTitle   = compile(`^(?:rechnung|invoice|tax invoice|vat invoice|facture|fattura|factura|factuur|faktura|fatura)\b`)
	otherTitle   = compile(`^\W*(?:kopie |\d\. ?|(?:erste|zweite|dritte|letzte|first|second|third|final) )?(?:angebot|(?:vertrags|ver)angebot|auftrag|reisekostenabrechnung|spesenabrechnung|bid|tender|estratto conto|extracto|(?:facture|fattura|factura) pro ?-?forma|offerte?|kostenvoranschlag|auftragsbestatigung|bestellung|bestellbestatigung|lieferschein|mahnung|zahlungserinnerung|kontoauszug|vertrag|mietvertrag|rahmenvertrag|memo|memorandum|aktennotiz|protokoll|gesprachsprotokoll|speditionsauftrag|frachtbrief|packliste|quote|quotation|estimate|proposal|purchase order|order confirmation|order|delivery note|packing (?:list|slip)|remittance advice|reminder|payment reminder|dunning|statement of account|contract|agreement|service agreement|report|minutes|devis|bon de commande|bon de livraison|commande|relance|contrat|pro[ -]?forma(?:[- ]?(?:invoice|rechnung))?|preventivo|ordine|conferma d'ordine|documento di trasporto|ddt|sollecito|contratto|presupuesto|pedido|albaran|contrato|forwarding order|forwarding instruction|offerta|orden de compra|order change|order ?response|order-x|purchase order change|urzedowe poswiadczenie odbioru|upo|bordereau|cahier|certificate|zertifikat|curriculum|lebenslauf|newsletter|agenda|manual|handbuch|payslip|gehaltsabrechnung|lohnabrechnung|leihschein|quotazione|cotizacion|offert|orcamento)\b`)
	// hardTitle names what quotes invoices, with their numbers and sums.
	hardTitle = compile(`^\W*(?:\d\. ?|(?:erste|zweite|dritte|letzte|first|second|third|final) )?(?:mahnung|zahlungserinnerung|kontoauszug|saldenbestatigung|(?:payment )?reminder|dunning|statement of account|account statement|remittance advice|relance|sollecito|estratto conto|extracto|(?:(?:facture|fattura|factura) )?pro ?-?forma)`)
	titleTail = compile(`^[ :.]*(?:(?:nr|no|n|num|number|nummer|#)[ :.#]*)?(?:[a-z]{0,5}[-/ ]?\d[\w./-]*)?[ .]*$`)
)

// kind decides what the document is. An invoice calls itself one and carries what
// an invoice must: a number or date and a sum to pay.
func (s *sheet) kind(number, date *fields.Text, t totals) Kind {
	const never = 1 << 30
	credit, title, sumOnly, other, hard := false, false, false, false, false
	invoiceFirst := false
	titleRow, otherRow, ownRow := never, never, never
	for _, row := range s.rows {
		for _, it := range row {
			if it.page > 2 {
				break
			}
			text := strings.Trim(it.folded, " .:#")
			if creditTitle.MatchString(text) && len(text) < 60 && it.page == 1 && row[0].y < s.heights[0]*0.6 && !invoiceFirst && moneyIn(row) == 0 {
				credit = true
			} else if loc := plainTitle.FindStringIndex(text); loc != nil && it.page == 1 && (loc[1] == len(text) || hasDigit(text) && titleTail.MatchString(text[loc[1]:])) {
				invoiceFirst = true // what is called a credit below is an item of it
			}
			if loc := invoiceTitle.FindStringIndex(text); loc != nil && len(text) < 80 && (loc[0] < 20 && len(text) < 45 || loc[0] == 0) {
				if r, _ := roleOf(text); number != nil || r == roleNone {
					title = true
					titleRow = min(titleRow, it.row)
				} else {
					sumOnly = true
				}
			}
			if it.page == 1 && it.row < otherRow && it.y < s.heights[0]*0.5 && s.otherHeading(it, text) {
				other, otherRow = true, it.row
				hard = hardTitle.MatchString(text)
			}
			if titleOnly.MatchString(text) {
				ownRow = min(ownRow, it.row)
			}
		}
	}
	// "Rechnungsbetrag" beside a sum is a title where nothing says otherwise.
	title = title || sumOnly && !other
	sure := number != nil && number.Rule == "number label"
	switch {
	case t.gross == nil && !(sure && date != nil && title):
		return NotAnInvoice
	case number == nil && date == nil:
		return NotAnInvoice
	case hard && ownRow > otherRow && !credit:
		return NotAnInvoice
	case other && !(sure && title && !credit && titleRow < otherRow):
		if !(credit || sure && title && t.hasTax && t.hasNet && invoiceNumberLabel.MatchString(fold([]rune(number.Text)))) {
			return NotAnInvoice
		}
	case !title && !credit && !(sure && t.gross != nil):
		return NotAnInvoice
	}
	if credit {
		return CreditNote
	}
	return Invoice
}

func moneyIn(row []*item) int {
	n := 0
	for _, it := range row {
		n += moneyCount(it)
	}
	return n
}

var invoiceNumberLabel = compile(`rechnung|invoice|facture|fattura|factura|faktu`)

// otherHeading reports whether an item is the title of another kind of document:
// a quote, an order … Its words stand alone or with a number, large or last in
// their row; with a value beside it, or in a row of headings, it is a label.
func (s *sheet) otherHeading(it *item, text string) bool {
	loc := otherTitle.FindStringIndex(text)
	if loc == nil || len(text) > 60 || strings.HasSuffix(strings.TrimSpace(it.folded), ":") {
		return false
	}
	if it.size >= s.medianSize()*1.15 && !strings.Contains(text, ":") {
		return true
	}
	rest := text[loc[1]:]
	if !titleTail.MatchString(rest) || strings.Contains(rest, ":") {
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
