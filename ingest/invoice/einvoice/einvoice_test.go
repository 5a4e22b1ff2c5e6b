package einvoice_test

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/einvoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

func TestTheThreeSyntaxesAreRead(t *testing.T) {
	ubl := `<?xml version="1.0" encoding="UTF-8"?><Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2">
<CustomizationID>urn:cen.eu:en16931:2017</CustomizationID><ID>U-7</ID><IssueDate>2026-03-01</IssueDate>
<DueDate>2026-03-31</DueDate>
<InvoiceTypeCode>380</InvoiceTypeCode><DocumentCurrencyCode>EUR</DocumentCurrencyCode>
<AccountingSupplierParty><Party><PartyTaxScheme><CompanyID>DE136695976</CompanyID><TaxScheme><ID>VAT</ID></TaxScheme>
</PartyTaxScheme><PartyLegalEntity><RegistrationName>Verkauf AG</RegistrationName></PartyLegalEntity></Party>
</AccountingSupplierParty>
<TaxTotal><TaxAmount currencyID="EUR">19.00</TaxAmount><TaxSubtotal><TaxableAmount>100.00</TaxableAmount>
<TaxAmount>19.00</TaxAmount><TaxCategory><ID>S</ID><Percent>19</Percent></TaxCategory></TaxSubtotal></TaxTotal>
<LegalMonetaryTotal><LineExtensionAmount>100.00</LineExtensionAmount><TaxExclusiveAmount>100.00</TaxExclusiveAmount>
<TaxInclusiveAmount>119.00</TaxInclusiveAmount><PayableAmount>119.00</PayableAmount></LegalMonetaryTotal>
<InvoiceLine><LineExtensionAmount>100.00</LineExtensionAmount><Price><PriceAmount>100.00</PriceAmount></Price></InvoiceLine>
</Invoice>`
	zugferd := `<?xml version="1.0"?><x:CrossIndustryDocument xmlns:x="urn:ferd:CrossIndustryDocument:invoice:1p0">
<SpecifiedExchangedDocumentContext><GuidelineSpecifiedDocumentContextParameter><ID>urn:ferd:comfort</ID>
</GuidelineSpecifiedDocumentContextParameter></SpecifiedExchangedDocumentContext>
<HeaderExchangedDocument><ID>Z-1</ID><TypeCode>380</TypeCode><IssueDateTime>
<DateTimeString format="102">20140301</DateTimeString></IssueDateTime></HeaderExchangedDocument>
<SpecifiedSupplyChainTradeTransaction><ApplicableSupplyChainTradeAgreement><SellerTradeParty><Name>Alt GmbH</Name>
<SpecifiedTaxRegistration><ID schemeID="FC">201/113/40209</ID></SpecifiedTaxRegistration></SellerTradeParty>
</ApplicableSupplyChainTradeAgreement>
<ApplicableSupplyChainTradeSettlement><InvoiceCurrencyCode>EUR</InvoiceCurrencyCode>
<SpecifiedTradeSettlementMonetarySummation><LineTotalAmount>50.00</LineTotalAmount>
<TaxBasisTotalAmount>50.00</TaxBasisTotalAmount><TaxTotalAmount>9.50</TaxTotalAmount>
<GrandTotalAmount>59.50</GrandTotalAmount></SpecifiedTradeSettlementMonetarySummation></ApplicableSupplyChainTradeSettlement>
</SpecifiedSupplyChainTradeTransaction></x:CrossIndustryDocument>`
	cases := []struct {
		name, xml, number, date, supplier, taxID string
		format                                   einvoice.Format
		net, tax, gross                          int64
	}{
		{"cii", string(pdftest.CII(pdftest.SampleCII())), "FX-1", "2026-04-17", "Bauwerk Donau GmbH", "ATU12345675", einvoice.CII,
			1240000, 248000, 1488000},
		{"ubl", ubl, "U-7", "2026-03-01", "Verkauf AG", "DE136695976", einvoice.UBL, 10000, 1900, 11900},
		{"zugferd 1", zugferd, "Z-1", "2014-03-01", "Alt GmbH", "201/113/40209", einvoice.ZUGFeRD, 5000, 950, 5950},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if !einvoice.Is([]byte(c.xml)) {
				t.Error("not recognised by its root element")
			}
			d, err := einvoice.Read([]byte(c.xml))
			if err != nil {
				t.Fatal(err)
			}
			if d.Format != c.format || d.Number.Value != c.number || d.Date.Value != c.date || d.SupplierName.Value != c.supplier ||
				d.SupplierTaxID.Value != c.taxID {
				t.Errorf("read %s %s %s %s %s", d.Format, d.Number.Value, d.Date.Value, d.SupplierName.Value, d.SupplierTaxID.Value)
			}
			if d.Net.Value != c.net || d.Tax.Value != c.tax || d.Gross.Value != c.gross || d.Currency.Value != "EUR" {
				t.Errorf("sums %d %d %d %s", d.Net.Value, d.Tax.Value, d.Gross.Value, d.Currency.Value)
			}
		})
	}
}

func TestCreditNotesAreNegative(t *testing.T) {
	c := pdftest.SampleCII()
	for _, code := range []string{"381", "81", "83", "261", "296", "532"} {
		c.TypeCode = code
		d, err := einvoice.Read(pdftest.CII(c))
		if err != nil {
			t.Fatal(err)
		}
		if d.Net.Value != -1240000 || d.Tax.Value != -248000 || d.Gross.Value != -1488000 {
			t.Errorf("type %s: sums %d %d %d, want them negative", code, d.Net.Value, d.Tax.Value, d.Gross.Value)
		}
	}
}

// Given an e-invoice of a type that EN 16931 knows, construction invoices among
// them, then its sums keep their sign and nothing is remarked.
func TestInvoicesOfAllTypesAreRead(t *testing.T) {
	for _, code := range []string{"380", "326", "384", "386", "389", "875", "876", "877"} {
		c := pdftest.SampleCII()
		c.TypeCode = code
		d, err := einvoice.Read(pdftest.CII(c))
		if err != nil || d.TypeCode != code || d.Net.Value != 1240000 || d.Gross.Value != 1488000 || len(d.Findings) != 0 {
			t.Errorf("type %s: %+v, %v", code, d, err)
		}
	}
	c := pdftest.SampleCII()
	c.TypeCode = "351"
	if d, err := einvoice.Read(pdftest.CII(c)); err != nil || len(d.Findings) != 1 || d.Findings[0].Rule != "BR-CL-01" {
		t.Errorf("type of no invoice: findings %v, %v", d.Findings, err)
	}
}

func TestTheLastDayOfSeveralTermsIsTheDueDate(t *testing.T) {
	c := pdftest.SampleCII()
	c.Due = []string{"20260501", "20260517", "20260424"}
	d, err := einvoice.Read(pdftest.CII(c))
	if err != nil || d.DueDate.Value != "2026-05-17" {
		t.Errorf("due %v, %v", d.DueDate, err)
	}
}

func TestFaultsAreRefused(t *testing.T) {
	change := func(f func(*pdftest.CrossIndustryInvoice)) string {
		c := pdftest.SampleCII()
		f(&c)
		return string(pdftest.CII(c))
	}
	good := string(pdftest.CII(pdftest.SampleCII()))
	cases := []struct{ name, xml, rule string }{
		{"no guideline", change(func(c *pdftest.CrossIndustryInvoice) { c.Guideline = "" }), "BR-01"},
		{"no number", change(func(c *pdftest.CrossIndustryInvoice) { c.Number = "" }), "BR-02"},
		{"iso date", change(func(c *pdftest.CrossIndustryInvoice) { c.Date = "2026-04-17" }), "CII-DT-097"},
		{"impossible date", change(func(c *pdftest.CrossIndustryInvoice) { c.Date = "20260431" }), "CII-DT-097"},
		{"net and tax are not gross", change(func(c *pdftest.CrossIndustryInvoice) { c.Gross = "14880.01" }), "BR-CO-15"},
		{"lines are not net", change(func(c *pdftest.CrossIndustryInvoice) { c.Lines = "12399.00" }), "BR-CO-13"},
		{"tax is not the rate's", change(func(c *pdftest.CrossIndustryInvoice) { c.Rate = "10" }), "BR-CO-17"},
		{"payable", change(func(c *pdftest.CrossIndustryInvoice) { c.Payable = "1.00" }), "BR-CO-16"},
		{"no tax id", change(func(c *pdftest.CrossIndustryInvoice) { c.TaxID = "" }), "BR-S-02"},
		{"negative price", change(func(c *pdftest.CrossIndustryInvoice) { c.Price = "-5" }), "BR-27"},
		{"half cents", change(func(c *pdftest.CrossIndustryInvoice) { c.LineNet = "12400.005" }), "BR-DEC-23"},
		{"no type code", change(func(c *pdftest.CrossIndustryInvoice) { c.TypeCode = "" }), "BR-04"},
		{"a line more", change(func(c *pdftest.CrossIndustryInvoice) { c.LineNet = "12300.00" }), "BR-CO-10"},
		{"vat id without country", change(func(c *pdftest.CrossIndustryInvoice) { c.TaxID = "123456789" }), "BR-CO-09"},
		{"no currency of this world", change(func(c *pdftest.CrossIndustryInvoice) { c.Currency = "EUX" }), "BR-CL-04"},
		{"currency in words", change(func(c *pdftest.CrossIndustryInvoice) { c.Currency = "Euro" }), "BR-CL-04"},
		{"french and due before", change(func(c *pdftest.CrossIndustryInvoice) {
			c.TaxID, c.Due = "FR40392809137", []string{"20260101"}
		}), "BR-FR-CO-07"},
		{"cut off", good[:len(good)*2/3], "EOF"},
		{"lying encoding", strings.Replace(good, "Donau", "Don\xE4u", 1), "encoding"},
		{"entities", strings.Replace(good, "?>", `?><!DOCTYPE a [<!ENTITY b "boom">]>`, 1), "document type"},
		{"deep", strings.Replace(good, "<rsm:ExchangedDocument>", strings.Repeat("<a>", 200)+strings.Repeat("</a>",
			200)+"<rsm:ExchangedDocument>", 1), "deep"},
		{"two roots", good + good[strings.Index(good, "<rsm:"):], "two root"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := einvoice.Read([]byte(c.xml))
			if !errors.Is(err, einvoice.ErrFaulty) || !strings.Contains(err.Error(), c.rule) {
				t.Errorf("error = %v, want a fault by %s", err, c.rule)
			}
		})
	}
}

func TestOtherXMLIsNoInvoice(t *testing.T) {
	for _, xml := range []string{
		`<order/>`, `<SCRDMCCBDACIOMessageStructure xmlns="urn:un"/>`, `plain text`, ``, `<Invoice/>`, "\xfe\xff", "<\x00",
		`<Invoice xmlns="urn:example:of:a:shop"/>`, `<CreditNote xmlns="http://www.ebinterface.at/schema/6p1/"/>`,
	} {
		if einvoice.Is([]byte(xml)) {
			t.Errorf("Is(%q) = true", xml)
		}
	}
	if _, err := einvoice.Read([]byte(`<Invoice><Number>1</Number></Invoice>`)); !errors.Is(err, einvoice.ErrNoInvoice) {
		t.Errorf("error = %v, want no invoice: an Invoice element alone is not UBL", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(pdftest.CII(pdftest.SampleCII()))
	f.Add(pdftest.EbInterface("E-1"))
	f.Add(pdftest.UTF16(binary.BigEndian, pdftest.EbInterface("E-1")))
	f.Add([]byte(`<?xml version="1.0" encoding="IBM850"?>` +
		`<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><AccountingSupplierParty/><LegalMonetaryTotal/></Invoice>`))
	for _, name := range []string{"cii", "ubl"} {
		data, err := os.ReadFile("testdata/rules/" + name + ".xml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := einvoice.Read(data)
		if err == nil && (d.Number == nil || d.Gross == nil || d.Currency == nil || d.Date == nil) {
			t.Error("an accepted e-invoice lacks what every invoice must have")
		}
		if is := einvoice.Is(data); err == nil && !is {
			t.Error("an e-invoice was read that is not recognized")
		}
	})
}
