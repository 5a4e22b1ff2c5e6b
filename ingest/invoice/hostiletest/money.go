package hostiletest

import (
	"fmt"
	"strings"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// embedded are files within files, and e-invoices that are bombs.
func embedded() []PDF {
	attached := func(name string, data []byte) []byte {
		return pdftest.Document{Pages: []pdftest.Page{pdftest.Sample().Page()}, Attachments: []pdftest.Attachment{
			{Name: name, Data: data, Relationship: "Alternative"},
		}}.Bytes()
	}
	good := string(pdftest.CII(pdftest.SampleCII()))
	// before puts text into the e-invoice's root element, behind its start.
	before := func(text string) []byte {
		return []byte(strings.Replace(good, "<rsm:ExchangedDocumentContext>", text+"<rsm:ExchangedDocumentContext>", 1))
	}
	document := func(declaration, text string) []byte {
		head, rest, _ := strings.Cut(good, "?>")
		return []byte(head + "?>" + declaration + strings.Replace(rest, "FX-1", text, 1))
	}
	itself := with(objects{
		1:  "<< /Type /Catalog /Pages 2 0 R /AF [" + repeat("10 0 R ", 100_000) + "] /Names << /EmbeddedFiles << /Names [(a) 10 0 R] >> >> >>",
		10: "<< /Type /Filespec /F (a.pdf) /UF 10 0 R /EF << /F 10 0 R /UF 11 0 R >> >>",
		11: stream("/Type /EmbeddedFile", sample().file()),
	})
	var bombs pdftest.Document
	bombs.Pages = []pdftest.Page{pdftest.Sample().Page()}
	for n := range 70 {
		bombs.Attachments = append(bombs.Attachments, pdftest.Attachment{Name: fmt.Sprintf("%d.xml", n),
			Data: []byte("<x>" + repeat(" ", 15<<20))})
	}
	all := outcomes("an embedded file that is the file", invoice.TooMuchWork, "", itself)
	all = append(all, PDF{Name: "70 embedded bombs", Data: bombs.Bytes(), Reason: invoice.TooMuchWork})
	lol := "<!DOCTYPE x [<!ENTITY a \"" + repeat("lol", 100) + "\">" + each(1, 30, func(n int) string {
		return fmt.Sprintf("<!ENTITY a%d \"%s\">", n, repeat(fmt.Sprintf("&a%d;", n-1), 10))
	}) + "]>"
	for _, c := range []struct {
		name   string
		reason invoice.Reason
		data   []byte
	}{
		{"an e-invoice", "", []byte(good)},
		{"an e-invoice called by a name of a million letters", "", nil},
		{"entities of entities", invoice.FaultyEInvoice, document(lol, "&a29;")},
		{"an entity that is a file", invoice.FaultyEInvoice, document(`<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>`, "&f;")},
		{"entities that none declares", invoice.FaultyEInvoice, document("", "&f;")},
		{"100,000 levels", invoice.FaultyEInvoice, before(repeat("<a>", 100_000) + repeat("</a>", 100_000))},
		{"100,000 levels that none closes", invoice.FaultyEInvoice, before(repeat("<a>", 100_000))},
		{"a million elements", invoice.FaultyEInvoice, before(repeat("<a/>", 1_000_000))},
		{"a million attributes", invoice.FaultyEInvoice,
			before("<a" + each(0, 1_000_000, func(n int) string { return fmt.Sprintf(" a%x=''", n) }) + "/>")},
		{"half a million namespaces", invoice.FaultyEInvoice,
			before("<a" + each(0, 500_000, func(n int) string { return fmt.Sprintf(" xmlns:n%x='u'", n) }) + "/>")},
		{"a text in a million parts", "", before("<a>" + repeat("x<!-- -->", 1_000_000) + "</a>")},
		{"a text of 15 MiB", "", before("<a>" + repeat("x", 15<<20) + "</a>")},
		{"a name of 15 MiB", "", before("<" + repeat("x", 15<<20) + "/>")},
		{"a million instructions", "", before(repeat("<?x y?>", 1_000_000))},
		{"two invoices", invoice.FaultyEInvoice, []byte(good + good)},
		{"noise behind it", invoice.FaultyEInvoice, []byte(good + "<<<<")},
		{"an encoding that it hasn't", "", []byte(strings.Replace(good, "UTF-8", "UTF-16", 1))},
		{"a number of a million digits", invoice.FaultyEInvoice, []byte(strings.ReplaceAll(good, "14880.00", repeat("9", 1_000_000)))},
		{"a number with an exponent", invoice.FaultyEInvoice, []byte(strings.ReplaceAll(good, "14880.00", "1e999999999"))},
		{"a supplier of 60,000 letters", "", []byte(strings.Replace(good, "Bauwerk Donau GmbH", repeat("\u2028\"", 15_000), 1))},
		{"a currency of 60,000 letters", invoice.FaultyEInvoice, []byte(strings.ReplaceAll(good, "EUR", repeat("\"", 60_000)))},
		{"30,000 wrong items", invoice.FaultyEInvoice, []byte(strings.Replace(good, "<ram:ApplicableHeaderTradeAgreement>",
			repeat("<ram:IncludedSupplyChainTradeLineItem><ram:SpecifiedLineTradeSettlement>"+
				"<ram:SpecifiedTradeSettlementLineMonetarySummation><ram:LineTotalAmount>x</ram:LineTotalAmount>"+
				"</ram:SpecifiedTradeSettlementLineMonetarySummation></ram:SpecifiedLineTradeSettlement>"+
				"</ram:IncludedSupplyChainTradeLineItem>", 30_000)+"<ram:ApplicableHeaderTradeAgreement>", 1))},
	} {
		name := "factur-x.xml"
		if c.data == nil {
			name, c.data = repeat("x", 1_000_000), []byte(strings.Replace(good, "FX-1", "", 1))
			c.reason = invoice.FaultyEInvoice
		}
		all = append(all, PDF{Name: "an e-invoice with " + c.name, Data: attached(name, c.data), Reason: c.reason})
	}
	return all
}

// sums carry, besides the invoice, a sum of 99,999.00 that nobody sees, or that says so to programs alone.
func sums() []PDF {
	const lie = "BT /F1 12 Tf 340 360 Td (Gesamtbetrag 99.999,00) Tj ET "
	// below is the invoice with content behind its own, which stands last.
	below := func(content, resources string, more objects) objects {
		o := shown("", resources, more)
		o[6] = stream("", []byte(letter()+content))
		return o
	}
	replaced := strings.Replace(letter(), "(14.880,00", "/Span << /ActualText (99.999,00 \x80) >> BDC (14.880,00", 1)
	replaced = strings.Replace(replaced, "(14.880,00 \\200) Tj", "(14.880,00 \\200) Tj EMC", 1)
	var all []PDF
	for _, c := range []struct {
		name string
		o    objects
	}{
		{"white", below("1 g "+lie, "", nil)},
		{"without ink", below("3 Tr "+lie, "", nil)},
		{"too small", below(strings.Replace(lie, "/F1 12", "/F1 0.5", 1), "", nil)},
		{"beside the page", below(strings.Replace(lie, "340 360", "3400 360", 1), "", nil)},
		{"outside its clipping path", below("0 0 5 5 re W n "+lie, "", nil)},
		{"painted over", below(lie+"1 g 330 350 250 30 re f", "", nil)},
		{"transparent", below("/Gone gs "+lie, "/ExtGState << /Gone << /ca 0 /CA 0 >> >>", nil)},
		{"in a layer that is off", below("/OC /L BDC "+lie+"EMC", "/Properties << /L 10 0 R >>", objects{
			1:  "<< /Type /Catalog /Pages 2 0 R /OCProperties << /OCGs [10 0 R] /D << /OFF [10 0 R] >> >> >>",
			10: "<< /Type /OCG /Name (off) >>",
		})},
		{"in a form outside its box", below("/Fm Do", "/XObject << /Fm 10 0 R >>", objects{
			10: stream("/Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 4 0 R >> >>", []byte(lie)),
		})},
		{"as the text to read aloud", with(objects{6: stream("", []byte(replaced))})},
		{"in a note", with(objects{3: strings.Replace(page(""), "/Contents", "/Annots [<< /Subtype /FreeText /Rect [340 350 590 380] "+
			"/Contents (Gesamtbetrag 99.999,00) >>] /Contents", 1)})},
		{"in the metadata", with(objects{
			1:  "<< /Type /Catalog /Pages 2 0 R /Metadata 10 0 R >>",
			10: stream("/Type /Metadata /Subtype /XML", []byte("<x>Gesamtbetrag 99.999,00</x>")),
		})},
		{"in a field", with(objects{1: "<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [<< /T (total) /V (99.999,00) >>] >> >>"})},
	} {
		all = append(all, PDF{Name: "another sum " + c.name, Data: c.o.file()})
	}
	return all
}
