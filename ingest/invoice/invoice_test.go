package invoice_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/ocr"
	"tallyhouse/ingest/invoice/page"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// reader is made once: its words take as long to compile as many pages to read.
var reader = sync.OnceValues(invoice.NewReader)

func read(data []byte, o invoice.Options) invoice.Result {
	r, err := reader()
	if err != nil {
		return invoice.Result{Detail: err.Error()}
	}
	return r.Read(context.Background(), data, o)
}

// values are the fields of a result as one line, "-" where null.
func values(r invoice.Result) string {
	var out []string
	for _, f := range []interface{ show() string }{text{r.Number}, text{r.Date}, text{r.DueDate}, text{r.SupplierName},
		text{r.SupplierTaxID}, text{r.Currency}, amount{r.Net}, amount{r.Tax}, amount{r.Gross}} {
		out = append(out, f.show())
	}
	return strings.Join(out, " | ")
}

func TestInvoicesOfFiveLanguages(t *testing.T) {
	sample := pdftest.Sample
	cases := []struct {
		name   string
		change func(*pdftest.Invoice)
		want   string
	}{
		{"austrian", func(*pdftest.Invoice) {},
			"2026-0417 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675 | EUR | 1240000 | 248000 | 1488000"},
		{"swiss", func(v *pdftest.Invoice) {
			v.City, v.TaxIDLabel, v.TaxID = "8001 Zürich", "MWST-Nr.", "CHE-116.281.710"
			v.NetLabel, v.Net, v.TaxLabel, v.Tax, v.GrossLabel, v.Gross = "Zwischentotal", "CHF 7'789.90", "MWST 8.1 %", "CHF 630.98",
				"Total inkl. MWST", "CHF 8'420.88"
		}, "2026-0417 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | CHE116281710 | CHF | 778990 | 63098 | 842088"},
		{"english", func(v *pdftest.Invoice) {
			v.Title, v.NumberLabel, v.DateLabel, v.DueLabel = "INVOICE", "Invoice No.", "Invoice date", "Due date"
			v.Date, v.Due, v.Terms = "17 April 2026", "17 May 2026", "Thank you."
			v.Supplier, v.Street, v.City, v.TaxIDLabel, v.TaxID = "Harrow & Lane Ltd", "12 High Street", "London EC1A 1BB", "VAT Reg No",
				"GB980780684"
			v.NetLabel, v.Net, v.TaxLabel, v.Tax, v.GrossLabel, v.Gross = "Subtotal", "£1,000.00", "VAT 20%", "£200.00", "Total",
				"£1,200.00"
		}, "2026-0417 | 2026-04-17 | 2026-05-17 | Harrow & Lane Ltd | GB980780684 | GBP | 100000 | 20000 | 120000"},
		{"french", func(v *pdftest.Invoice) {
			v.Title, v.NumberLabel, v.DateLabel, v.DueLabel = "Facture", "Facture n°", "Date de facture", "Date d'échéance"
			v.Date, v.Due, v.Terms = "17/04/2026", "17/05/2026", "Paiement à 30 jours."
			v.Supplier, v.Street, v.City, v.TaxIDLabel, v.TaxID = "Traiteur Rivière SAS", "4 place du Marché", "33000 Bordeaux",
				"N° TVA intracommunautaire", "FR40303265045"
			v.NetLabel, v.Net, v.TaxLabel, v.Tax, v.GrossLabel, v.Gross = "Total HT", "14 592,30 €", "TVA 20 %", "2 918,46 €",
				"Total TTC", "17 510,76 €"
		}, "2026-0417 | 2026-04-17 | 2026-05-17 | Traiteur Rivière SAS | FR40303265045 | EUR | 1459230 | 291846 | 1751076"},
		{"italian", func(v *pdftest.Invoice) {
			v.Title, v.NumberLabel, v.DateLabel, v.DueLabel = "FATTURA", "Fattura n.", "Data fattura", "Scadenza"
			v.Date, v.Due, v.Terms = "17/04/2026", "17/05/2026", "Pagamento a 30 giorni."
			v.Supplier, v.Street, v.City, v.TaxIDLabel, v.TaxID = "Officine Perrone S.r.l.", "Via Roma 21", "20121 Milano", "P. IVA",
				"IT00743110157"
			v.NetLabel, v.Net, v.TaxLabel, v.Tax, v.GrossLabel, v.Gross = "Imponibile", "100,00 €", "IVA 22 %", "22,00 €",
				"Totale fattura", "122,00 €"
		}, "2026-0417 | 2026-04-17 | 2026-05-17 | Officine Perrone S.r.l. | IT00743110157 | EUR | 10000 | 2200 | 12200"},
		{"spanish", func(v *pdftest.Invoice) {
			v.Title, v.NumberLabel, v.DateLabel, v.DueLabel = "FACTURA", "Factura nº", "Fecha de factura", "Vencimiento"
			v.Date, v.Due, v.Terms = "17/04/2026", "17/05/2026", "Pago a 30 días."
			v.Supplier, v.Street, v.City, v.TaxIDLabel, v.TaxID = "Suministros Muñoz S.L.", "Calle Mayor 15", "28013 Madrid", "NIF",
				"ESB58378431"
			v.NetLabel, v.Net, v.TaxLabel, v.Tax, v.GrossLabel, v.Gross = "Base imponible", "1.000,00 €", "IVA 21 %", "210,00 €",
				"Total factura", "1.210,00 €"
		}, "2026-0417 | 2026-04-17 | 2026-05-17 | Suministros Muñoz S.L. | ESB58378431 | EUR | 100000 | 21000 | 121000"},
		{"due by terms", func(v *pdftest.Invoice) {
			v.DueLabel, v.Terms = "", "Innerhalb von 14 Tagen 2 % Skonto, 30 Tage netto."
		}, "2026-0417 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675 | EUR | 1240000 | 248000 | 1488000"},
		{"credit note", func(v *pdftest.Invoice) { v.Title, v.NumberLabel = "GUTSCHRIFT", "Gutschriftsnummer" },
			"2026-0417 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675 | EUR | -1240000 | -248000 | -1488000"},
		{"sums that do not agree", func(v *pdftest.Invoice) { v.Tax = "2.481,00 €" },
			"2026-0417 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675 | EUR | - | - | -"},
		{"small business", func(v *pdftest.Invoice) {
			v.NetLabel, v.TaxLabel, v.TaxID, v.Terms = "", "", "", "Umsatzsteuerfrei nach § 6 Abs. 1 Z 27 UStG (Kleinunternehmer)."
		}, "2026-0417 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | - | EUR | 1488000 | 0 | 1488000"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := sample()
			c.change(&v)
			r := read(v.PDF(), invoice.Options{})
			if r.Status != invoice.OK || values(r) != c.want {
				t.Errorf("%s %s\n got %s\nwant %s", r.Status, r.Detail, values(r), c.want)
			}
		})
	}
}

// with adds lines to the sample invoice.
func with(texts ...pdftest.Text) []byte {
	p := pdftest.Sample().Page()
	p.Texts = append(p.Texts, texts...)
	return pdftest.Document{Pages: []pdftest.Page{p}}.Bytes()
}

func row(y float64, label, value string) []pdftest.Text {
	return []pdftest.Text{{X: 340, Y: y, Text: label}, {X: 470, Y: y, Text: value}}
}

func TestTrapsBesideTheTotals(t *testing.T) {
	const want = "2026-0417 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675 | EUR | 1240000 | 248000 | 1488000"
	cases := map[string][]pdftest.Text{
		"prepayment": append(row(408, "abzüglich Anzahlung", "-4.880,00 €"), row(424, "Zahlbetrag", "10.000,00 €")...),
		"skonto":     append(row(408, "2 % Skonto", "-297,60 €"), row(424, "Zahlbar mit Skonto bis 27.04.2026", "14.582,40 €")...),
		"other numbers": {{X: 340, Y: 190, Text: "Bestellnummer: B-753182"}, {X: 340, Y: 204, Text: "Kundennummer: 50444"},
			{X: 340, Y: 218, Text: "Zu Rechnungsnummer: 2025-9999"}},
		"other dates":      {{X: 340, Y: 190, Text: "Leistungsdatum: 01.03.2026"}, {X: 340, Y: 204, Text: "Bestelldatum: 02.02.2026"}},
		"the customer's":   {{X: 60, Y: 205, Text: "Ihre UID-Nr.: ATU57477929"}},
		"a balance before": append(row(408, "Saldovortrag", "500,00 €"), row(424, "Offener Betrag", "15.380,00 €")...),
	}
	for name, texts := range cases {
		t.Run(name, func(t *testing.T) {
			if got := values(read(with(texts...), invoice.Options{})); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

// Given another total that nobody sees, then the invoice is read without it, and
// a warning says so.
func TestATotalThatNobodySeesIsNoTotal(t *testing.T) {
	plain := read(with(), invoice.Options{})
	for name, texts := range map[string][]pdftest.Text{
		"tiny":         {{X: 60, Y: 430, Size: 0.5, Text: "Rechnungsbetrag inkl. USt. 99.999,00 €"}},
		"off the page": {{X: 60, Y: -40, Text: "Rechnungsbetrag inkl. USt. 99.999,00 €"}},
	} {
		r := read(with(texts...), invoice.Options{})
		if values(r) != values(plain) || plain.Gross == nil || len(plain.Warnings()) != 0 {
			t.Errorf("%s:\n got %s\nwant %s", name, values(r), values(plain))
		}
		if len(r.Warnings()) != 1 || !strings.Contains(r.Warnings()[0], "7 figures") {
			t.Errorf("%s: warnings %q", name, r.Warnings())
		}
	}
}

// Given a VAT id whose check digit is wrong in a note, and a seller's block with a tax number, then the block's is the
// supplier's.
func TestTheSellersBlockOutdoesAWrongVATID(t *testing.T) {
	v := pdftest.Sample()
	v.TaxID = ""
	p := v.Page()
	p.Texts = append(p.Texts, pdftest.Text{X: 60, Y: 500, Text: "Verkäufer"}, pdftest.Text{X: 60, Y: 514, Text: "Bauwerk Donau GmbH"},
		pdftest.Text{X: 60, Y: 528, Text: "Steuernummer: 201/113/40209"},
		pdftest.Text{X: 60, Y: 700, Text: "Bauwerk Donau GmbH, Geschäftsführung: M. Muster, USt-IdNr: DE123456789"})
	r := read(pdftest.Document{Pages: []pdftest.Page{p}}.Bytes(), invoice.Options{})
	if got := (text{r.SupplierTaxID}).show(); got != "201/113/40209" {
		t.Errorf("tax id = %s", got)
	}
}

func TestTheOwnCompanyIsNeverTheSupplier(t *testing.T) {
	own := invoice.Options{Own: page.Own{Names: []string{"Bauwerk Donau"}, VATIDs: []string{"ATU 12345675"}}}
	r := read(pdftest.Sample().PDF(), own)
	if r.SupplierName != nil && strings.Contains(r.SupplierName.Value, "Donau") || r.SupplierTaxID != nil {
		t.Errorf("supplier %v, tax id %v: they are our own", r.SupplierName, r.SupplierTaxID)
	}
}

func TestWhatIsNoInvoiceIsRefused(t *testing.T) {
	letter := func(texts ...string) []byte {
		var p pdftest.Page
		for i, s := range texts {
			size := 10.0
			if i == 0 {
				size = 18
			}
			p.Texts = append(p.Texts, pdftest.Text{X: 60, Y: 60 + 20*float64(i), Size: size, Text: s})
		}
		return pdftest.Document{Pages: []pdftest.Page{p}}.Bytes()
	}
	retitled := func(title, number string) []byte {
		v := pdftest.Sample()
		v.Title, v.NumberLabel, v.DateLabel, v.DueLabel = title, number, "Datum", ""
		return v.PDF()
	}
	// The title no larger than the rest, on the page of an invoice that quotes
	// invoice numbers.
	small := func(title string) []byte {
		v := pdftest.Sample()
		v.Title, v.NumberLabel = "", "Rechnungsnummer"
		p := v.Page()
		p.Texts = append(p.Texts, pdftest.Text{X: 60, Y: 250, Text: title})
		return pdftest.Document{Pages: []pdftest.Page{p}}.Bytes()
	}
	for name, data := range map[string][]byte{
		"small reminder": small("2. Mahnung"),
		"small proforma": small("Proforma-Rechnung"),
		"statement":      small("Kontoauszug 3/2026"),
		"quote":          retitled("ANGEBOT", "Angebotsnummer"),
		"order":          retitled("BESTELLUNG", "Bestellnummer"),
		"confirmation":   retitled("Auftragsbestätigung", "Auftragsnummer"),
		"delivery note":  retitled("Lieferschein", "Lieferscheinnummer"),
		"reminder":       retitled("Mahnung", "Mahnnummer"),
		"english quote":  retitled("Quotation", "Quote number"),
		"french quote":   retitled("Devis", "Devis n°"),
		"memo": letter("MEMO", "To all colleagues", "The invoice process changes on 1 May 2026.",
			"Please send invoices to the new address from then on."),
		"contract": letter("MIETVERTRAG", "zwischen Anna Muster und Bert Beispiel",
			"Die Miete beträgt 900,00 € im Monat, zahlbar bis zum 5. des Monats.", "Wien, 01.02.2026"),
		"two words only": letter("Rechnung", "folgt in Kürze mit gesonderter Post, wir danken für Ihre Geduld"),
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(data, invoice.Options{}); r.Status != invoice.Failed || r.Reason != invoice.NotAnInvoice {
				t.Errorf("%s %s: %s", r.Status, r.Reason, values(r))
			}
		})
	}
}

func TestTheEInvoiceWinsOverThePage(t *testing.T) {
	file := func(xml []byte, metadata, relationship string) []byte {
		return pdftest.Document{Pages: []pdftest.Page{pdftest.Sample().Page()}, Metadata: metadata,
			Attachments: []pdftest.Attachment{{Name: "anything.bin", Data: []byte("no xml")},
				{Name: "some name.xml", Data: xml, Relationship: relationship}}, ObjectStreams: true}.Bytes()
	}
	good := pdftest.CII(pdftest.SampleCII())
	r := read(file(good, pdftest.FacturXMetadata, "Alternative"), invoice.Options{})
	if r.Status != invoice.OK || r.Number.Value != "FX-1" || r.Number.Page != 0 || r.Gross.Value != 1488000 {
		t.Errorf("%s %s %s", r.Status, r.Detail, values(r))
	}
	if len(r.Warnings()) == 0 || !strings.Contains(strings.Join(r.Warnings(), " "), `"FX-1" in the e-invoice and "2026-0417" on page 1`) {
		t.Errorf("warnings = %q, want the number that differs", r.Warnings())
	}
	if r = read(file(good, pdftest.FacturXMetadata, "Alternative"), invoice.Options{NoXML: true}); r.Number.Value != "2026-0417" {
		t.Errorf("page alone: %s", values(r))
	}
	other := pdftest.SampleCII()
	other.Number = "FX-2"
	two := func(second []byte) []byte {
		return pdftest.Document{Pages: []pdftest.Page{pdftest.Sample().Page()},
			Attachments: []pdftest.Attachment{{Name: "factur-x.xml", Data: good, Relationship: "Data"},
				{Name: "second.xml", Data: second, Relationship: "Data"}}}.Bytes()
	}
	if r := read(two(good), invoice.Options{}); r.Status != invoice.OK {
		t.Errorf("attached twice: %s %s", r.Reason, r.Detail)
	}
	for name, data := range map[string][]byte{
		"two invoices":    two(pdftest.CII(other)),
		"contradiction":   file(bytes.Replace(good, []byte("14880.00</ram:Grand"), []byte("14881.00</ram:Grand"), 1), "", "Data"),
		"no relationship": file(good, pdftest.FacturXMetadata, ""),
		"claimed only":    pdftest.Document{Pages: []pdftest.Page{pdftest.Sample().Page()}, Metadata: pdftest.FacturXMetadata}.Bytes(),
	} {
		if r := read(data, invoice.Options{}); r.Reason != invoice.FaultyEInvoice {
			t.Errorf("%s: %s %s", name, r.Status, r.Reason)
		}
	}
	if r := read(file(good, pdftest.FacturXMetadata, "Source"), invoice.Options{}); r.Status != invoice.OK ||
		!strings.Contains(strings.Join(r.Warnings(), " "), "Source") {
		t.Errorf("another relationship is a warning: %s %q", r.Status, r.Warnings())
	}
}

// Given an e-invoice that no PDF goes with, then it is read as one within a PDF is.
func TestAnEInvoiceOfXMLAloneIsRead(t *testing.T) {
	cii := pdftest.CII(pdftest.SampleCII())
	ubl := []byte(`<?xml version="1.0" encoding="UTF-8"?><ubl:Invoice xmlns:ubl="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2">
<CustomizationID>urn:cen.eu:en16931:2017</CustomizationID><ID>U-7</ID><IssueDate>2026-03-01</IssueDate>
<InvoiceTypeCode>875</InvoiceTypeCode><DocumentCurrencyCode>EUR</DocumentCurrencyCode>
<AccountingSupplierParty><Party><PartyTaxScheme><CompanyID>DE136695976</CompanyID><TaxScheme><ID>VAT</ID></TaxScheme>
</PartyTaxScheme><PartyLegalEntity><RegistrationName>Rohbau AG</RegistrationName></PartyLegalEntity></Party></AccountingSupplierParty>
<TaxTotal><TaxAmount currencyID="EUR">19.00</TaxAmount><TaxSubtotal><TaxableAmount>100.00</TaxableAmount><TaxAmount>19.00</TaxAmount>
<TaxCategory><ID>S</ID><Percent>19</Percent></TaxCategory></TaxSubtotal></TaxTotal>
<LegalMonetaryTotal><LineExtensionAmount>100.00</LineExtensionAmount><TaxExclusiveAmount>100.00</TaxExclusiveAmount>
<TaxInclusiveAmount>119.00</TaxInclusiveAmount><PayableAmount>119.00</PayableAmount></LegalMonetaryTotal>
<InvoiceLine><LineExtensionAmount>100.00</LineExtensionAmount><Price><PriceAmount>100.00</PriceAmount></Price></InvoiceLine></ubl:Invoice>`)
	const (
		wantCII = "FX-1 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675 | EUR | 1240000 | 248000 | 1488000"
		wantUBL = "U-7 | 2026-03-01 | - | Rohbau AG | DE136695976 | EUR | 10000 | 1900 | 11900"
	)
	cases := []struct {
		name string
		data []byte
		o    invoice.Options
		want string
	}{
		{"cii", cii, invoice.Options{}, wantCII},
		{"cii behind a byte order mark and blanks", append([]byte("\xEF\xBB\xBF\n "),
			bytes.TrimPrefix(cii, []byte(`<?xml version="1.0" encoding="UTF-8"?>`))...), invoice.Options{}, wantCII},
		{"ubl, a partial construction invoice", ubl, invoice.Options{}, wantUBL},
		{"sums that contradict each other", bytes.Replace(ubl, []byte(">119.00</TaxInc"), []byte(">120.00</TaxInc"), 1),
			invoice.Options{}, "faulty-einvoice"},
		{"cut off", cii[:len(cii)/2], invoice.Options{}, "faulty-einvoice"},
		{"other xml", []byte(`<?xml version="1.0"?><Order><ID>7</ID></Order>`), invoice.Options{}, "not-a-pdf"},
		{"an invoice of another kind", []byte(`<Invoice><Number>1</Number></Invoice>`), invoice.Options{}, "not-a-pdf"},
		{"not asked for", cii, invoice.Options{NoXML: true}, "not-a-pdf"},
		{"too large", cii, invoice.Options{Limits: invoice.Limits{Bytes: 100}}, "too-large"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := read(c.data, c.o)
			got := string(r.Reason)
			if r.Status == invoice.OK {
				got = values(r)
			}
			if got != c.want {
				t.Errorf("\n got %s (%s)\nwant %s", got, r.Detail, c.want)
			}
		})
	}
}

func TestFailuresHaveTheirReason(t *testing.T) {
	blank := pdftest.Document{Pages: []pdftest.Page{{}}}.Bytes()
	scan := pdftest.Document{Pages: []pdftest.Page{{Picture: &pdftest.Picture{Width: 8, Height: 8, Gray: make([]byte, 64)}}}}.Bytes()
	long := pdftest.Document{Pages: make([]pdftest.Page, 12)}.Bytes()
	bomb := pdftest.Document{Pages: []pdftest.Page{{}},
		Attachments: []pdftest.Attachment{{Name: "factur-x.xml", Data: bytes.Repeat([]byte("<a>"), 10<<20)}}}.Bytes()
	cases := []struct {
		name string
		data []byte
		opts invoice.Options
		want invoice.Reason
	}{
		{"no pdf", []byte("hello"), invoice.Options{}, invoice.NotAPDF},
		{"half a file", pdftest.Sample().PDF()[:900], invoice.Options{}, invoice.Broken},
		{"no pages", pdftest.Document{}.Bytes(), invoice.Options{}, invoice.NoPages},
		{"blank page", blank, invoice.Options{}, invoice.NoText},
		{"too large", pdftest.Sample().PDF(), invoice.Options{Limits: invoice.Limits{Bytes: 100}}, invoice.TooLarge},
		{"too many pages", long, invoice.Options{Limits: invoice.Limits{Pages: 11}}, invoice.TooManyPages},
		{"too much work", pdftest.Sample().PDF(), invoice.Options{Limits: invoice.Limits{Operations: 50}}, invoice.TooMuchWork},
		{"attachment bomb", bomb, invoice.Options{}, invoice.TooMuchWork},
		{"no time", pdftest.Sample().PDF(), invoice.Options{Limits: invoice.Limits{Time: time.Nanosecond, Operations: 1 << 40}},
			invoice.Timeout},
		{"ocr off", scan, invoice.Options{NoOCR: true}, invoice.OCROff},
		{"ocr missing", scan, invoice.Options{OCR: ocr.Options{Tesseract: "no-such-program-anywhere"}}, invoice.OCRMissing},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := read(c.data, c.opts)
			if r.Status != invoice.Failed || r.Reason != c.want || r.Detail == "" {
				t.Errorf("%s %s %q, want %s", r.Status, r.Reason, r.Detail, c.want)
			}
		})
	}
}

func TestTheJSONLineSaysWhatTheResultSays(t *testing.T) {
	r := read(pdftest.Sample().PDF(), invoice.Options{})
	r.File = "a & b.pdf"
	line, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`{"file":"a & b.pdf","status":"ok","invoiceNumber":"2026-0417","invoiceDate":"2026-04-17"`,
		`"net":1240000`, `"gross":{"page":1,"text":"14.880,00 €","rule":"net + tax = gross","confidence":0.98,"box":{"left":0.7899,"top":0.4561,"right":0.8787,"bottom":0.4682},"label":"gesamtbetrag"}`} {
		if !bytes.Contains(line, []byte(part)) {
			t.Errorf("%s lacks %s", line, part)
		}
	}
	back, err := invoice.ParseJSON(line)
	if err != nil || values(back) != values(r) || !reflect.DeepEqual(back.Invoice, r.Invoice) {
		t.Errorf("read back %s, %v", values(back), err)
	}
	failed, err := read(nil, invoice.Options{}).JSON()
	if err != nil || !bytes.Contains(failed, []byte(`"status":"failed","reason":"not-a-pdf"`)) ||
		!bytes.Contains(failed, []byte(`"gross":null,"evidence":{}`)) {
		t.Errorf("%s, %v", failed, err)
	}
	if _, err := invoice.ParseJSON([]byte(`{"status":"maybe"}`)); err == nil {
		t.Error("an unknown status was accepted")
	}
}

// TestAmountsAreRightOrNull prints invoices of any sums, with one or two rates,
// and now and then with a wrong total: what is read is what is true.
func TestAmountsAreRightOrNull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Int64Range(100, 90_000_000).Draw(t, "first net")
		second := rapid.SampledFrom([]int64{0, rapid.Int64Range(100, 90_000_000).Draw(t, "second net")}).Draw(t, "second")
		taxes := []int64{(first*20 + 50) / 100, (second*10 + 50) / 100}
		net, tax := first+second, taxes[0]+taxes[1]
		printed := net + tax
		wrong := rapid.IntRange(0, 3).Draw(t, "wrong") == 0
		if wrong {
			printed += rapid.Int64Range(1, 5000).Draw(t, "by")
		}
		v := pdftest.Sample()
		v.NetLabel, v.TaxLabel, v.GrossLabel = "", "", ""
		p := v.Page()
		lines := []struct{ label, value string }{{"Nettobetrag", euro(net)}, {"USt. 20 % von " + euro(first), euro(taxes[0])}}
		if second > 0 {
			lines = append(lines, struct{ label, value string }{"USt. 10 % von " + euro(second), euro(taxes[1])})
		}
		lines = append(lines, struct{ label, value string }{"Gesamtbetrag", euro(printed)})
		for i, l := range lines {
			p.Texts = append(p.Texts, pdftest.Text{X: 300, Y: 360 + 16*float64(i), Text: l.label},
				pdftest.Text{X: 480, Y: 360 + 16*float64(i), Text: l.value})
		}
		r := read(pdftest.Document{Pages: []pdftest.Page{p}}.Bytes(), invoice.Options{})
		if r.Status != invoice.OK {
			t.Fatalf("%s %s", r.Reason, r.Detail)
		}
		if wrong {
			if r.Net != nil || r.Tax != nil {
				t.Fatalf("%s: sums that do not agree were taken", values(r))
			}
			return
		}
		if r.Net == nil || r.Net.Value != net || r.Tax == nil || r.Tax.Value != tax || r.Gross == nil || r.Gross.Value != printed {
			t.Fatalf("%s, want %d %d %d", values(r), net, tax, printed)
		}
	})
}

func euro(cents int64) string {
	whole := fmt.Sprint(cents / 100)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "." + whole[i:]
	}
	return fmt.Sprintf("%s,%02d €", whole, cents%100)
}

func FuzzRead(f *testing.F) {
	f.Add(pdftest.Sample().PDF())
	f.Add(pdftest.Document{Pages: []pdftest.Page{pdftest.Sample().Page()},
		Attachments:   []pdftest.Attachment{{Name: "x", Data: pdftest.CII(pdftest.SampleCII()), Relationship: "Data"}},
		ObjectStreams: true}.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r := read(data, invoice.Options{NoOCR: true, Limits: invoice.Limits{Operations: 200_000, Unpacked: 8 << 20}})
		if r.Reason == invoice.Crashed {
			t.Fatal(r.Detail)
		}
		if _, err := r.JSON(); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkReadPage(b *testing.B) {
	data := pdftest.Sample().PDF()
	for b.Loop() {
		if r := read(data, invoice.Options{}); r.Status != invoice.OK {
			b.Fatal(r.Detail)
		}
	}
}

func TestSeveralInvoicesInOneFileAreRefused(t *testing.T) {
	first, second := pdftest.Sample(), pdftest.Sample()
	second.Number = "2026-0418"
	two := pdftest.Document{Pages: []pdftest.Page{first.Page(), second.Page()}}.Bytes()
	if r := read(two, invoice.Options{}); r.Reason != invoice.SeveralInvoices {
		t.Errorf("%s %s: %s", r.Status, r.Reason, values(r))
	}
	copied := pdftest.Document{Pages: []pdftest.Page{first.Page(), first.Page()}}.Bytes()
	if r := read(copied, invoice.Options{}); r.Status != invoice.OK || r.Gross.Value != 1488000 {
		t.Errorf("an invoice and its copy: %s %s", r.Status, values(r))
	}
}
