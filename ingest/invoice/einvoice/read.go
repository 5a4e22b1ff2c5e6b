package einvoice

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"tallyhouse/ingest/invoice/fields"
)

// Format is the syntax of an e-invoice.
type Format string

// The formats that are read.
const (
	CII         Format = "CII"
	ZUGFeRD     Format = "ZUGFeRD 1"
	UBL         Format = "UBL"
	EbInterface Format = "ebInterface"
)

// Document is an e-invoice read.
type Document struct {
	Format Format
	fields.Invoice
	// TypeCode is the UNTDID 1001 code, 381 for a credit note.
	TypeCode string
	// Findings name what is unusual and does not change the values.
	Findings []fields.Finding
}

// party is a seller or buyer.
type party struct{ name, vatID, taxNumber string }

// raw is an e-invoice as text, before it is checked.
type raw struct {
	root                                    *node
	format                                  Format
	guideline, number, kind, issued, dueDay string
	seller                                  party
	currency, taxCurrency                   string
	net, tax, gross, payable                string
	lines, allowances, charges, prepaid     string
	rounding                                string
	breakdown                               []taxLine
	items                                   []line
}

type taxLine struct{ category, rate, base, tax string }

type line struct{ net, price string }

// Read reads and checks an e-invoice. Errors wrap ErrNoInvoice or ErrFaulty.
func Read(data []byte) (Document, error) {
	root, err := parse(data)
	if err != nil {
		return Document{}, fmt.Errorf("reading e-invoice: %w", err)
	}
	var r raw
	switch format(root.name) {
	case CII:
		r = readCII(root)
	case ZUGFeRD:
		r = readZUGFeRD(root)
	case UBL:
		r = readUBL(root)
	case EbInterface:
		r = readEbInterface(root)
	default:
		return Document{}, fmt.Errorf("reading root element %s: %w", root.name.Local, ErrNoInvoice)
	}
	r.root = root
	doc, err := r.document()
	if err != nil {
		return Document{}, fmt.Errorf("checking e-invoice: %w", err)
	}
	return doc, nil
}

func readCII(root *node) raw {
	doc, trade := root.at("ExchangedDocument"), root.at("SupplyChainTradeTransaction")
	agreement, settlement := trade.at("ApplicableHeaderTradeAgreement"), trade.at("ApplicableHeaderTradeSettlement")
	r := raw{
		format:    CII,
		guideline: root.at("ExchangedDocumentContext", "GuidelineSpecifiedDocumentContextParameter", "ID").value(),
		number:    doc.at("ID").value(), kind: doc.at("TypeCode").value(),
		issued: ciiDate(doc.at("IssueDateTime")),
		seller: ciiParty(agreement.at("SellerTradeParty")),
	}
	r.settle(settlement, settlement.at("SpecifiedTradeSettlementHeaderMonetarySummation"))
	for _, item := range trade.all("IncludedSupplyChainTradeLineItem") {
		r.items = append(r.items, line{
			net: item.at("SpecifiedLineTradeSettlement", "SpecifiedTradeSettlementLineMonetarySummation",
				"LineTotalAmount").value(),
			price: item.at("SpecifiedLineTradeAgreement", "NetPriceProductTradePrice", "ChargeAmount").value(),
		})
	}
	return r
}

func readZUGFeRD(root *node) raw {
	doc, trade := root.at("HeaderExchangedDocument"), root.at("SpecifiedSupplyChainTradeTransaction")
	agreement, settlement := trade.at("ApplicableSupplyChainTradeAgreement"),
		trade.at("ApplicableSupplyChainTradeSettlement")
	r := raw{
		format: ZUGFeRD,
		guideline: root.at("SpecifiedExchangedDocumentContext", "GuidelineSpecifiedDocumentContextParameter",
			"ID").value(),
		number: doc.at("ID").value(), kind: doc.at("TypeCode").value(),
		issued: ciiDate(doc.at("IssueDateTime")),
		seller: ciiParty(agreement.at("SellerTradeParty")),
	}
	r.settle(settlement, settlement.at("SpecifiedTradeSettlementMonetarySummation"))
	return r
}

// settle reads what CII and ZUGFeRD 1 have in common.
func (r *raw) settle(settlement, sum *node) {
	r.currency = settlement.at("InvoiceCurrencyCode").value()
	r.taxCurrency = settlement.at("TaxCurrencyCode").value()
	for _, terms := range settlement.all("SpecifiedTradePaymentTerms") {
		// The last date is the due date; earlier ones are for paying with a discount.
		if day := ciiDate(terms.at("DueDateDateTime")); day > r.dueDay {
			r.dueDay = day
		}
	}
	r.net, r.gross = sum.at("TaxBasisTotalAmount").value(), sum.at("GrandTotalAmount").value()
	r.lines, r.allowances, r.charges = sum.at("LineTotalAmount").value(), sum.at("AllowanceTotalAmount").value(),
		sum.at("ChargeTotalAmount").value()
	r.prepaid, r.payable, r.rounding = sum.at("TotalPrepaidAmount").value(), sum.at("DuePayableAmount").value(),
		sum.at("RoundingAmount").value()
	for _, t := range sum.all("TaxTotalAmount") {
		if c := t.attr("currencyID"); r.tax == "" || c == r.currency {
			r.tax = t.value()
		}
	}
	for _, t := range settlement.all("ApplicableTradeTax") {
		rate := t.at("RateApplicablePercent").value()
		if rate == "" {
			rate = t.at("ApplicablePercent").value()
		}
		r.breakdown = append(r.breakdown, taxLine{t.at("CategoryCode").value(), rate, t.at("BasisAmount").value(),
			t.at("CalculatedAmount").value()})
	}
}

func ciiDate(n *node) string {
	s := n.at("DateTimeString")
	if format := s.attr("format"); s != nil && format != "" && format != "102" {
		return "?" + s.value()
	}
	return s.value()
}

func ciiParty(n *node) party {
	p := party{name: partyName(n.at("Name"))}
	for _, reg := range n.all("SpecifiedTaxRegistration") {
		id := reg.at("ID")
		switch id.attr("schemeID") {
		case "VA":
			p.vatID = id.value()
		case "FC":
			p.taxNumber = id.value()
		}
	}
	if p.name == "" {
		p.name = n.at("SpecifiedLegalOrganization", "TradingBusinessName").value()
	}
	return p
}

// identifierLine is a line of a party's name that holds a number and no name.
var identifierLine = regexp.MustCompile(`(?i)^\s*(?:GLN|ILN|DUNS|ID|[\pL.]+-? ?(?:Nr|No|Nummer|Number)\.?)\s*:?\s*\S*\d\S*\s*$`)

// partyName leaves out the identifiers that some programs write into the name,
// each on a line of its own.
func partyName(n *node) string {
	if n == nil {
		return ""
	}
	var kept []string
	for line := range strings.Lines(string(n.text)) {
		if !identifierLine.MatchString(line) {
			kept = append(kept, line)
		}
	}
	if name := strings.Join(strings.Fields(strings.Join(kept, " ")), " "); name != "" {
		return name
	}
	return n.value()
}

func readUBL(root *node) raw {
	sum := root.at("LegalMonetaryTotal")
	r := raw{
		format: UBL, guideline: root.at("CustomizationID").value(), number: root.at("ID").value(),
		kind: root.at("InvoiceTypeCode").value(), issued: root.at("IssueDate").value(),
		dueDay:   root.at("DueDate").value(),
		currency: root.at("DocumentCurrencyCode").value(), taxCurrency: root.at("TaxCurrencyCode").value(),
		net: sum.at("TaxExclusiveAmount").value(), gross: sum.at("TaxInclusiveAmount").value(),
		lines: sum.at("LineExtensionAmount").value(), allowances: sum.at("AllowanceTotalAmount").value(),
		charges: sum.at("ChargeTotalAmount").value(),
		prepaid: sum.at("PrepaidAmount").value(), payable: sum.at("PayableAmount").value(),
		rounding: sum.at("PayableRoundingAmount").value(),
	}
	if root.name.Local == "CreditNote" {
		if r.kind = root.at("CreditNoteTypeCode").value(); r.kind == "" {
			r.kind = "381"
		}
	}
	if r.dueDay == "" {
		r.dueDay = root.at("PaymentMeans", "PaymentDueDate").value()
	}
	p := root.at("AccountingSupplierParty", "Party")
	if r.seller.name = p.at("PartyLegalEntity", "RegistrationName").value(); r.seller.name == "" {
		r.seller.name = p.at("PartyName", "Name").value()
	}
	for _, scheme := range p.all("PartyTaxScheme") {
		if id := scheme.at("CompanyID").value(); scheme.at("TaxScheme", "ID").value() == "VAT" {
			r.seller.vatID = id
		} else {
			r.seller.taxNumber = id
		}
	}
	for _, total := range root.all("TaxTotal") {
		amount := total.at("TaxAmount")
		if c := amount.attr("currencyID"); r.tax == "" || c == r.currency {
			r.tax = amount.value()
		}
		for _, t := range total.all("TaxSubtotal") {
			r.breakdown = append(r.breakdown, taxLine{t.at("TaxCategory", "ID").value(),
				t.at("TaxCategory", "Percent").value(), t.at("TaxableAmount").value(), t.at("TaxAmount").value()})
		}
	}
	for _, name := range []string{"InvoiceLine", "CreditNoteLine"} {
		for _, item := range root.all(name) {
			r.items = append(r.items, line{item.at("LineExtensionAmount").value(),
				item.at("Price", "PriceAmount").value()})
		}
	}
	return r
}

// day reads a date as format 102 (YYYYMMDD) or ISO 8601.
func day(s string) (string, bool) {
	s = strings.TrimSpace(s)
	layout := "20060102"
	if len(s) >= 10 && s[4] == '-' {
		s, layout = s[:10], time.DateOnly
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return "", false
	}
	return t.Format(time.DateOnly), true
}
