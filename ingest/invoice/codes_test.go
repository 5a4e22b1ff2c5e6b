package invoice_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// code is a QR code that another program has drawn, as a picture on a page.
func code(t *testing.T, name string) *pdftest.Picture {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "codes", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	const width, margin = 3, 12
	lines := strings.Fields(string(data))
	side := len(lines)*width + 2*margin
	p := &pdftest.Picture{Width: side, Height: side, Gray: []byte(strings.Repeat("\xff", side*side)), X: 60, Y: 500, Side: 130}
	for y := range len(lines) * width {
		for x := range len(lines) * width {
			if lines[y/width][x/width] == '#' {
				p.Gray[(y+margin)*side+x+margin] = 0
			}
		}
	}
	return p
}

// Given an invoice with a code of its payment, then what both say is certain, a difference is found, and the code alone
// states nothing.
func TestCodesOfPayments(t *testing.T) {
	const whole = "2026-0417 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675 | EUR | 1240000 | 248000 | 1488000"
	const account = "IBAN AT61 1904 3002 3457 3201"
	plain := func(*pdftest.Invoice) {}
	unnamed := func(v *pdftest.Invoice) { // neither a currency nor a country
		v.Net, v.Tax, v.Gross, v.TaxID = "12.400,00", "2.480,00", "14.880,00", ""
	}
	cases := []struct {
		name, code, foot, want, rule, message string
		page                                  func(*pdftest.Invoice)
	}{
		{"agrees", "giro", account, whole, "", "", plain},
		{"ten times the sum", "giro-ten-times", account, whole, "payment-code-differs", "asks for EUR 148800.00", plain},
		{"a printed sum less a discount", "giro-after-discount", "Bei Zahlung bis 24.04.2026: 14.582,40 €", whole, "", "", plain},
		{"another account", "giro-other-account", account, whole, "payment-code-differs", "pays to DE89370400440532013000", plain},
		{"an account that isn't printed", "giro-other-account", "", whole, "", "", plain},
		{"a wrong check digit", "giro-wrong-digit", account, whole, "payment-code-faulty", "AT611904300234573202 is wrong", plain},
		{"no payment", "other", account, whole, "", "", plain},
		{"another currency", "qr-bill", "", whole, "payment-code-differs", "asks for CHF, the page for EUR", plain},
		{"the currency that the page leaves out", "qr-bill", "",
			"2026-0417 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | - | CHF | 1240000 | 248000 | 1488000", "", "", unnamed},
		{"no currency of another sum", "giro-ten-times", "",
			"2026-0417 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | - | - | 1240000 | 248000 | 1488000", "payment-code-differs", "",
			unnamed},
		{"a day that the page offers", "upn", "20.05.2026", strings.Replace(whole, "2026-05-17", "2026-05-20", 1), "", "",
			func(v *pdftest.Invoice) { v.DueLabel, v.Terms = "", "" }},
		{"sums that contradict each other", "giro", "",
			"2026-0417 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675 | EUR | - | - | -", "sums-disagree", "",
			func(v *pdftest.Invoice) { v.Tax = "2.380,00 €" }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := pdftest.Sample()
			c.page(&v)
			p := v.Page()
			p.Picture = code(t, c.code)
			p.Texts = append(p.Texts, pdftest.Text{X: 60, Y: 660, Size: 9, Text: c.foot})
			r := read(pdftest.Document{Pages: []pdftest.Page{p}}.Bytes(), invoice.Options{})
			if values(r) != c.want {
				t.Errorf("%s %s\n got %s\nwant %s", r.Status, r.Detail, values(r), c.want)
			}
			switch {
			case c.rule == "" && len(r.Findings) > 0:
				t.Errorf("findings %+v", r.Findings)
			case c.rule != "" && (len(r.Findings) != 1 || r.Findings[0].Rule != c.rule || !strings.Contains(r.Findings[0].Message, c.message)):
				t.Errorf("findings %+v, want %s: %s", r.Findings, c.rule, c.message)
			}
		})
	}
}
