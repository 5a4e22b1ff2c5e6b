// Package invoice reads the fields of an invoice from the text of its pages by
// labels, places and arithmetic, in German, English, French, Italian and
// Spanish, and in parts of Dutch, Polish and Portuguese.
package invoice

import (
	"math"
	"strings"

	"tallyhouse/ingest/document/fields"
	"tallyhouse/ingest/document/pdftext"
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
func Read(doc pdftext.Document, own Own) (Kind, fields.Invoice) {
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
	creditTitle  = compile(`^\W*(?:(?:kopie|copy|duplikat|original) )?(?:gutschrift|rechnungskorrektur|stornorechnung|storno|credit note|credit memo|credit invoice|creditnota|creditfactuur|avoir|note de credit|facture d'avoir|nota di credito|nota di accredito|nota de credito|factura rectificativa|abono|kreditnota|rechnungskorrektur \(384\)|korrekturrechnung|wertgutschrift)\b`)
	otherTitle   = compile(`^\W*(?:kopie )?(?:angebot|offerte?|kostenvoranschlag|auftragsbestatigung|bestellung|bestellbestatigung|lieferschein|mahnung|zahlungserinnerung|kontoauszug|vertrag|mietvertrag|rahmenvertrag|memo|memorandum|aktennotiz|protokoll|gesprachsprotokoll|speditionsauftrag|frachtbrief|packliste|quote|quotation|estimate|proposal|purchase order|order confirmation|order|delivery note|packing (?:list|slip)|remittance advice|reminder|payment reminder|dunning|statement of account|contract|agreement|service agreement|report|minutes|devis|bon de commande|bon de livraison|commande|relance|contrat|proforma|pro ?forma(?: invoice|[- ]rechnung)?|preventivo|ordine|conferma d'ordine|documento di trasporto|ddt|sollecito|contratto|presupuesto|pedido|albaran|contrato|forwarding order|forwarding instruction|offerta|orden de compra|order change|order ?response|order-x|purchase order change|urzedowe poswiadczenie odbioru|upo|bordereau|cahier|certificate|zertifikat|curriculum|lebenslauf|newsletter|agenda|manual|handbuch|payslip|gehaltsabrechnung|lohnabrechnung|leihschein|quotazione|cotizacion|offert|orcamento)\b`)
)

// kind tells what the document is. An invoice calls itself one and carries what
// an invoice must: a number or date and a sum to pay.
func (s *sheet) kind(number, date *fields.Text, t totals) Kind {
	credit, title, other, titleRow, otherRow := false, false, false, 1<<30, 1<<30
	for _, row := range s.rows {
		for _, it := range row {
			if it.page > 2 {
				break
			}
			text := strings.Trim(it.folded, " .:#")
			if creditTitle.MatchString(text) && len(text) < 60 && it.page == 1 && row[0].y < s.heights[0]*0.6 {
				credit = true
			}
			if invoiceTitle.MatchString(text) && len(text) < 80 {
				title = true
				titleRow = min(titleRow, it.row)
			}
			if otherTitle.MatchString(text) && len(text) < 60 && it.page == 1 && it.row < otherRow && it.y < s.heights[0]*0.5 && s.heading(it) {
				other, otherRow = true, it.row
			}
		}
	}
	sure := number != nil && number.Rule == "number label"
	switch {
	case t.gross == nil && !(sure && date != nil && title):
		return NotAnInvoice
	case number == nil && date == nil:
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

var invoiceNumberLabel = compile(`rechnung|invoice|facture|fattura|factura|faktu`)

// heading tells whether an item can be a title: its words stand alone or with a
// number, not as a label of a list with a value beside it.
func (s *sheet) heading(it *item) bool {
	if strings.Contains(it.folded, ":") && !strings.HasSuffix(strings.TrimSpace(it.folded), ":") {
		return false
	}
	if strings.HasSuffix(strings.TrimSpace(it.folded), ":") {
		return false
	}
	median := s.medianSize()
	return it.size >= median*1.15 || it.row < 12 && s.right(it) == nil && it.col == 0
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
