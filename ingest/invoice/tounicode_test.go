package invoice_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// says is a ToUnicode table: the text of codes, which have so many bytes.
func says(bytes int, texts map[int]rune) string {
	var out strings.Builder
	out.WriteString("/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n1 begincodespacerange <" + strings.Repeat("00", bytes) +
		"> <" + strings.Repeat("FF", bytes) + "> endcodespacerange\n")
	for code, r := range texts {
		fmt.Fprintf(&out, "1 beginbfchar <%0*X> <%04X> endbfchar\n", 2*bytes, code, r)
	}
	out.WriteString("endcmap end end")
	return out.String()
}

// swapped has 1 and 9 change places.
func swapped(r rune) rune {
	switch r {
	case '1':
		return '9'
	case '9':
		return '1'
	}
	return r
}

func same(r rune) rune { return r }

// byProgram is the sample, set in the glyphs of a TrueType program, which a table gives other texts.
func byProgram(t *testing.T, program []byte, text func(rune) rune, page pdftest.Page) []byte {
	t.Helper()
	known, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	var buffer sfnt.Buffer
	texts := map[int]rune{}
	for _, line := range page.Texts {
		var codes strings.Builder
		for _, r := range line.Text {
			glyph, err := known.GlyphIndex(&buffer, r)
			if err != nil {
				t.Fatal(err)
			}
			texts[int(glyph)] = text(r)
			fmt.Fprintf(&codes, "%04X", int(glyph))
		}
		page.Drawing += fmt.Sprintf("BT /F3 %.1f Tf %.1f %.1f Td <%s> Tj ET\n", max(line.Size, 9), line.X, pdftest.Height-line.Y, codes.String())
	}
	page.Texts = nil
	return pdftest.Document{Pages: []pdftest.Page{page}, ToUnicode: says(2, texts), TrueType: program}.Bytes()
}

// Given text that says other figures than a font of the file draws, as the font itself says, then no sum is stated and a
// finding tells why. Where both agree, or the font says nothing, as parts of fonts do, all is read.
func TestTextThatSaysOtherFiguresThanAreDrawn(t *testing.T) {
	const whole = "2026-0417 | 2026-04-17 | 2026-05-17 | Bauwerk Donau GmbH | ATU12345675 | EUR | 1240000 | 248000 | 1488000"
	byNames := func(text func(rune) rune) []byte {
		texts := map[int]rune{}
		for r := rune(32); r < 127; r++ {
			texts[int(r)] = text(r)
		}
		return pdftest.Document{Pages: []pdftest.Page{pdftest.Sample().Page()}, ToUnicode: says(1, texts)}.Bytes()
	}
	part := bytes.Replace(slices.Clone(goregular.TTF), []byte("cmap"), []byte("cmaq"), 1)
	for name, c := range map[string]struct {
		data  []byte
		whole bool
	}{
		"names that agree":            {byNames(same), true},
		"names of other figures":      {byNames(swapped), false},
		"a program that agrees":       {byProgram(t, goregular.TTF, same, pdftest.Sample().Page()), true},
		"a program of other figures":  {byProgram(t, goregular.TTF, swapped, pdftest.Sample().Page()), false},
		"a program that says nothing": {byProgram(t, part, same, pdftest.Sample().Page()), true},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(c.data, invoice.Options{})
			if c.whole {
				if values(r) != whole || len(r.Findings) > 0 {
					t.Errorf("%s %s %+v\n got %s\nwant %s", r.Status, r.Detail, r.Findings, values(r), whole)
				}
				return
			}
			if r.Net != nil || r.Tax != nil || r.Gross != nil {
				t.Errorf("stated %s", values(r))
			}
			if !slices.ContainsFunc(r.Warnings(), func(w string) bool { return strings.Contains(w, "are drawn as others than the text") }) {
				t.Errorf("findings %+v", r.Findings)
			}
		})
	}
}

// Given a large sum in a part of a font that doesn't say what its glyphs are, then it is compared with what is drawn there.
func TestLargeSumsAreComparedWithWhatIsDrawn(t *testing.T) {
	page := func() pdftest.Page {
		p := pdftest.Sample().Page()
		for i := range p.Texts {
			p.Texts[i].Text = strings.NewReplacer("12.400,00", "124.000,00", "2.480,00", "24.800,00", "14.880,00", "148.800,00").Replace(p.Texts[i].Text)
		}
		return p
	}
	part := bytes.Replace(slices.Clone(goregular.TTF), []byte("cmap"), []byte("cmaq"), 1)
	honest := read(byProgram(t, part, same, page()), invoice.Options{OCR: patient()})
	if honest.Gross == nil || honest.Gross.Value != 14880000 || len(honest.Findings) > 0 {
		t.Errorf("gross %+v, findings %+v", honest.Gross, honest.Findings)
	}
	lie := read(byProgram(t, part, swapped, page()), invoice.Options{OCR: patient()})
	if lie.Net != nil || lie.Tax != nil || lie.Gross != nil || lie.Status != invoice.OK {
		t.Errorf("%s %s, stated %s", lie.Status, lie.Detail, values(lie))
	}
	if len(lie.Findings) != 1 || lie.Findings[0].Rule != "figures-contradict" || !strings.Contains(lie.Findings[0].Message, "148.800,00") {
		t.Errorf("findings %+v", lie.Findings)
	}
	unread := read(byProgram(t, part, swapped, page()), invoice.Options{NoOCR: true})
	if unread.Gross == nil || unread.Gross.Value != 94880000 {
		t.Errorf("without OCR the gross sum is %+v, which this test should lie about", unread.Gross)
	}
}
