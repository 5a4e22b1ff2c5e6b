package invoice_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// Given an e-invoice with texts that nobody writes, then what is too long, no date or no currency is left out with a
// warning, what cannot be seen is taken away, and everything else is read.
func TestTextsBeyondTheirBoundsAreLeftOut(t *testing.T) {
	long := strings.Repeat("a", 60_000)
	for _, c := range []struct {
		name    string
		change  func(*pdftest.CrossIndustryInvoice)
		want    string
		warning string
	}{
		{"as it is", func(*pdftest.CrossIndustryInvoice) {}, "FX-1 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675", ""},
		{"a supplier of 60,000 letters", func(c *pdftest.CrossIndustryInvoice) { c.Supplier = long },
			"FX-1 | 2026-04-17 | 2026-05-17 | - | ATU12345675", "supplierName is left out"},
		{"the longest supplier", func(c *pdftest.CrossIndustryInvoice) { c.Supplier = strings.Repeat("ä", 300) },
			"FX-1 | 2026-04-17 | 2026-05-17 | " + strings.Repeat("ä", 300) + " | ATU12345675", ""},
		{"a number of 60,000 letters", func(c *pdftest.CrossIndustryInvoice) { c.Number = long },
			"- | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675", "invoiceNumber is left out"},
		{"a tax id of 60,000 letters", func(c *pdftest.CrossIndustryInvoice) { c.TaxID = "AT" + long },
			"FX-1 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | -", "supplierTaxId is left out"},
		{"a due date far away", func(c *pdftest.CrossIndustryInvoice) { c.Due = []string{"99991231"} },
			"FX-1 | 2026-04-17 | - | Bauwerk Donau GmbH | ATU12345675", "dueDate is left out"},
		{"a date long ago", func(c *pdftest.CrossIndustryInvoice) { c.Date = "00010101" },
			"FX-1 | - | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675", "invoiceDate is left out"},
		{"text that nobody sees", func(c *pdftest.CrossIndustryInvoice) {
			c.Supplier = "Bau\u202ewerk\u200b\r\n Donau\u0085 \u00adGmbH\ufeff"
		},
			"FX-1 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675", ""},
		{"text that nobody sees alone", func(c *pdftest.CrossIndustryInvoice) { c.Number = "\u200b\u202e" },
			"- | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675", "invoiceNumber is left out"},
	} {
		xml := pdftest.SampleCII()
		c.change(&xml)
		r := read(pdftest.CII(xml), invoice.Options{})
		got, _, _ := strings.Cut(values(r), " | EUR")
		if r.Status != invoice.OK || got != c.want || r.Gross == nil || r.Gross.Value != 1488000 {
			t.Errorf("%s: read %.300s (%s), want %.300s", c.name, got, r.Detail, c.want)
		}
		if !strings.Contains(strings.Join(r.Warnings(), "; "), c.warning) {
			t.Errorf("%s: warnings %q", c.name, r.Warnings())
		}
	}
}

// What a process wrote that a file has taken over is no result, or one within the bounds.
func TestResultsOfOthersAreHeldToTheBounds(t *testing.T) {
	for name, line := range map[string]string{
		"another reason": `{"status":"failed","reason":"because I say so"}`,
		"no reason":      `{"status":"failed"}`,
		"a reason of ok": `{"status":"ok","reason":"broken"}`,
		"another status": `{"status":"` + strings.Repeat("x", 1000) + `"}`,
		"no JSON":        "ok",
		"cut off":        `{"status":"ok"`,
	} {
		if _, err := invoice.ParseJSON([]byte(line)); err == nil || len(err.Error()) > 500 {
			t.Errorf("%s: got %v", name, err)
		}
	}
	long := strings.Repeat(`\u0000a`, 60_000)
	r, err := invoice.ParseJSON([]byte(`{"status":"ok","detail":"` + long + `","invoiceNumber":"` + long + `",
		"supplierName":" A\u0000\u202e\nB ","supplierIban":"AT611904300234573202","currency":"€","dueDate":"0000-00-00","evidence":{"supplierName":{"text":"` + long + `"}},"findings":[{"rule":"` + long + `","message":"` + long + `"}]}`))
	if err != nil || r.Number != nil || r.Currency != nil || r.DueDate != nil || r.SupplierIBAN != nil || r.SupplierName.Value != "A B" ||
		len(r.SupplierName.Text) > 300 || len(r.Detail) > 2100 || len(r.Warnings()) != 5 || len(r.Warnings()[0]) > 2100 {
		t.Errorf("got %.300v, %v", r, err)
	}
}

// Whatever a process writes, a result that is taken is within the bounds and stays what it is.
func FuzzParseJSON(f *testing.F) {
	f.Add([]byte(`{"status":"ok","invoiceNumber":"a\u0000","currency":"EUR","net":1,"evidence":{"net":{"page":1,"confidence":2}},` +
		`"findings":[{"rule":"x","message":"y","place":"net","page":1,"box":{"left":0.1,"top":0.1,"right":2,"bottom":1}}],` +
		`"possible":[{"field":"net","value":"1","page":1,"rule":"r","confidence":-1}]}`))
	f.Add([]byte(`{"status":"failed","reason":"broken","detail":"why"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := invoice.ParseJSON(line)
		if err != nil {
			return
		}
		for _, text := range []*fields.Text{r.Number, r.Date, r.DueDate, r.SupplierName, r.SupplierTaxID, r.SupplierIBAN, r.Currency} {
			if text != nil && (text.Value == "" || utf8.RuneCountInString(text.Value) > 300 || strings.ContainsFunc(text.Value, unicode.IsControl)) {
				t.Fatalf("a text is %q", text.Value)
			}
		}
		written, err := r.JSON()
		if err != nil || len(written) > 1<<20 {
			t.Fatalf("%d bytes, %v", len(written), err)
		}
		again, err := invoice.ParseJSON(written)
		if err != nil {
			t.Fatal(err)
		}
		if rewritten, err := again.JSON(); err != nil || string(rewritten) != string(written) {
			t.Fatalf("%s became %s, %v", written, rewritten, err)
		}
	})
}
