package einvoice_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/einvoice"
	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// summary is what an e-invoice says, in minor units; "-" is not known.
func summary(d einvoice.Document) string {
	text := func(f *fields.Text) string {
		if f == nil {
			return "-"
		}
		return f.Value
	}
	amount := func(f *fields.Amount) string {
		if f == nil {
			return "-"
		}
		return fmt.Sprint(f.Value)
	}
	return strings.Join([]string{text(d.Number), text(d.Date), text(d.DueDate), text(d.SupplierName), text(d.SupplierTaxID),
		text(d.Currency), amount(d.Net), amount(d.Tax), amount(d.Gross), d.TypeCode}, " ")
}

// Every version of ebInterface says the same in other words; sums follow from the rates, and are not known where they
// don't.
func TestEbInterfaceIsRead(t *testing.T) {
	v6 := string(pdftest.EbInterface("E-1"))
	v4 := `<?xml version="1.0" encoding="UTF-8"?>
<Invoice n1:DocumentType="InvoiceForPartialDelivery" n1:InvoiceCurrency="EUR" xmlns="http://www.ebinterface.at/schema/4p3/"
 xmlns:n1="http://www.ebinterface.at/schema/4p3/"><InvoiceNumber>E-4</InvoiceNumber><InvoiceDate>2014-02-16</InvoiceDate>
<RelatedDocument><InvoiceNumber>other</InvoiceNumber></RelatedDocument>
<Biller><VATIdentificationNumber>00000000</VATIdentificationNumber><Address><Salutation>Firma</Salutation><Name>Willi</Name></Address></Biller>
<InvoiceRecipient><VATIdentificationNumber>ATU59405934</VATIdentificationNumber><Address><Name>Wir</Name></Address></InvoiceRecipient>
<Tax><VAT><VATItem><TaxedAmount>100.00</TaxedAmount><VATRate n1:TaxCode="AT022">20</VATRate><Amount>20</Amount></VATItem>
<VATItem><TaxedAmount>50.5000</TaxedAmount><VATRate>10</VATRate><Amount>5.05</Amount></VATItem>
<VATItem><TaxedAmount>7.00</TaxedAmount><TaxExemption>RCH</TaxExemption><Amount>0.00</Amount></VATItem></VAT></Tax>
<TotalGrossAmount>182.55</TotalGrossAmount><PayableAmount>100.00</PayableAmount></Invoice>`
	v3 := `<eb:Invoice xmlns:eb="http://www.ebinterface.at/schema/3p02/" eb:DocumentType="Invoice" eb:InvoiceCurrency="EUR">
<eb:InvoiceNumber>E-3</eb:InvoiceNumber><eb:InvoiceDate>2011-02-02</eb:InvoiceDate>
<eb:Biller><eb:VATIdentificationNumber>ATU51507409</eb:VATIdentificationNumber><eb:Address><eb:Name>Willi</eb:Name></eb:Address></eb:Biller>
<eb:Tax><eb:VAT><eb:Item><eb:TaxedAmount>6464.00</eb:TaxedAmount><eb:TaxRate>20.00</eb:TaxRate><eb:Amount>1292.80</eb:Amount></eb:Item>
</eb:VAT></eb:Tax><eb:TotalGrossAmount>7756.80</eb:TotalGrossAmount></eb:Invoice>`
	change := func(xml string, oldnew ...string) string { return strings.NewReplacer(oldnew...).Replace(xml) }
	const v6Says = "E-1 2026-04-17 2026-05-17 Bauwerk Donau GmbH ATU12345675 EUR 1240000 248000 1488000 380"
	memo := change(v6, `DocumentType="Invoice"`, `DocumentType="CreditMemo"`)
	for _, c := range []struct{ name, xml, want string }{
		{"version 6.1", v6, v6Says},
		{"version 4.3, several rates, no VAT id", v4, "E-4 2014-02-16 - Willi - EUR 15750 2505 18255 326"},
		{"version 3.0.2", v3, "E-3 2011-02-02 - Willi ATU51507409 EUR 646400 129280 775680 380"},
		{"a tax that the rate says", change(v6, "<eb:TaxAmount>2480.00</eb:TaxAmount>", ""), v6Says},
		{"another tax besides", change(v6, "</eb:Tax>", "<eb:OtherTax><eb:TaxAmount>5.00</eb:TaxAmount></eb:OtherTax></eb:Tax>"),
			"E-1 2026-04-17 2026-05-17 Bauwerk Donau GmbH ATU12345675 EUR - - 1488000 380"},
		{"no rate", change(v6, "TaxItem>", "Other>"), "E-1 2026-04-17 2026-05-17 Bauwerk Donau GmbH ATU12345675 EUR - - 1488000 380"},
		{"a credit note", memo, "E-1 2026-04-17 2026-05-17 Bauwerk Donau GmbH ATU12345675 EUR -1240000 -248000 -1488000 381"},
		{"a negative credit note is an invoice", change(memo, "12400.00", "-12400.00", "2480.00", "-2480.00", "14880.00", "-14880.00"),
			"E-1 2026-04-17 2026-05-17 Bauwerk Donau GmbH ATU12345675 EUR 1240000 248000 1488000 381"},
		{"a negative invoice is a credit note", change(v6, "12400.00", "-12400.00", "2480.00", "-2480.00", "14880.00", "-14880.00"),
			"E-1 2026-04-17 2026-05-17 Bauwerk Donau GmbH ATU12345675 EUR -1240000 -248000 -1488000 380"},
	} {
		d, err := einvoice.Read([]byte(c.xml))
		if err != nil || !einvoice.Is([]byte(c.xml)) || d.Format != einvoice.EbInterface || summary(d) != c.want {
			t.Errorf("%s: read %q, want %q: %v", c.name, summary(d), c.want, err)
		}
	}
	for name, xml := range map[string]string{
		"net and tax are not gross": change(v6, "14880.00", "14880.01"),
		"no gross":                  change(v6, "TotalGrossAmount", "Total"),
		"no number":                 change(v6, ">E-1<", "><"),
		"an impossible date":        change(v6, "2026-04-17", "2026-04-31"),
		"no currency":               change(v6, `"EUR"`, `""`),
	} {
		if _, err := einvoice.Read([]byte(xml)); !errors.Is(err, einvoice.ErrFaulty) {
			t.Errorf("%s: error = %v, want a fault", name, err)
		}
	}
}
