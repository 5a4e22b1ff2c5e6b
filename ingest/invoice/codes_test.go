package invoice_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// modules are the lines of a QR code that another program has drawn.
func modules(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "codes", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// code is a QR code as a picture on a page.
func code(t *testing.T, name string) *pdftest.Picture {
	t.Helper()
	const width, margin = 3, 12
	lines := modules(t, name)
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

// Given a code that is drawn, in any of the ways that programs draw them, then it is read as a picture of it would be.
func TestCodesThatAreDrawn(t *testing.T) {
	lines := modules(t, "giro-ten-times")
	// each writes something for every run of dark modules, at most so many at a time.
	each := func(most int, write func(x, y, n int) string) string {
		var out strings.Builder
		for y, line := range lines {
			for x := 0; x < len(line); x++ {
				n := 0
				for x+n < len(line) && line[x+n] == '#' && n < most {
					n++
				}
				if n > 0 {
					out.WriteString(write(x, len(lines)-1-y, n))
					x += n - 1
				}
			}
		}
		return out.String()
	}
	rectangle := func(x, y, n int) string { return fmt.Sprintf("%d %d %d 1 re\n", x, y, n) }
	outline := func(x, y, n int) string {
		return fmt.Sprintf("%d %d m %d %d l %d %d l %d %d l h\n", x, y, x+n, y, x+n, y+1, x, y+1)
	}
	const placed, white = "1.2 0 0 1.2 400 300 cm 0 g ", " 1 g 400 400 9 9 re f"
	corners := "0 g 0 34 7 7 re f 0 0 7 7 re f 34 34 7 7 re f 1 g 1 35 5 5 re f 1 1 5 5 re f 35 35 5 5 re f " +
		"0 g 2 36 3 3 re f 2 2 3 3 re f 36 36 3 3 re f "
	for name, c := range map[string]struct {
		drawing string
		read    bool
	}{
		"module by module":    {placed + each(1, func(x, y, n int) string { return rectangle(x, y, n) + "f " }), true},
		"as one path":         {placed + each(1, rectangle) + "f", true},
		"as one path of runs": {placed + each(99, rectangle) + "f", true},
		"as outlines":         {placed + each(99, outline) + "f*", true},
		"as lines": {placed + "1 w " + each(99, func(x, y, n int) string {
			return fmt.Sprintf("%d %d.5 m %d %d.5 l ", x, y, x+n, y)
		}) + "S", true},
		"corners in layers":            {placed + each(99, rectangle) + "f " + corners, true},
		"on white":                     {"1 g 390 290 80 80 re f " + placed + each(99, rectangle) + "f" + white, true},
		"turned":                       {"0 1.2 -1.2 0 500 300 cm 0 g " + each(99, rectangle) + "f", true},
		"in blue, beside a table":      {"0 0 0 rg 40 290 355 1 re 40 345 300 1 re f 0.1 0.1 0.6 rg " + placed[:27] + each(99, rectangle) + "f", true},
		"outside of its clipping path": {placed + "0 0 1 1 re W n " + each(99, rectangle) + "f", false},
		"in white":                     {"1.2 0 0 1.2 400 300 cm 1 g " + each(99, rectangle) + "f", false},
	} {
		t.Run(name, func(t *testing.T) {
			v := pdftest.Sample()
			p := v.Page()
			p.Drawing = c.drawing
			r := read(pdftest.Document{Pages: []pdftest.Page{p}}.Bytes(), invoice.Options{})
			found := len(r.Findings) == 1 && strings.Contains(r.Findings[0].Message, "asks for EUR 148800.00")
			if found != c.read || !found && len(r.Findings) > 0 || r.Gross == nil || r.Gross.Value != 1488000 {
				t.Errorf("findings %+v, gross %+v", r.Findings, r.Gross)
			}
		})
	}
}
