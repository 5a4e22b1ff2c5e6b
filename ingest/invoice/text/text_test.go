package text_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/pdf"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/invoice/text"
)

func read(t *testing.T, data []byte) text.Document {
	t.Helper()
	budget := pdf.NewBudget(64<<20, 2_000_000)
	f, err := pdf.Open(context.Background(), data, budget)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := f.Pages(10)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := text.Read(context.Background(), f, budget, pages)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// show writes a page's cells, one line a line, cells parted by "|".
func show(p text.Page) string {
	var lines []string
	for _, l := range p.Lines {
		var cells []string
		for _, c := range l.Cells {
			cells = append(cells, c.Text)
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return strings.Join(lines, "\n")
}

func TestWordsCellsAndLinesFollowTheirPlace(t *testing.T) {
	data := pdftest.Document{Pages: []pdftest.Page{{Texts: []pdftest.Text{
		{X: 300, Y: 100, Text: "1.234,56 €"}, // shown first, stands right
		{X: 60, Y: 140, Text: "Größe über (alles)"},
		{X: 60, Y: 100.5, Text: "Gesamt betrag"},
		{X: 60, Y: 180, Text: "R E C H N U N G"},
		{X: 60, Y: 200, Text: "fett"}, {X: 60.4, Y: 200, Text: "fett"}, // drawn twice
	}}}}.Bytes()
	want := "Gesamt betrag|1.234,56 €\nGröße über (alles)\nRECHNUNG\nfett"
	if got := show(read(t, data).Pages[0]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// page wraps a content stream and resources into a file.
func page(content, resources, rest string, rotate int) []byte {
	return fmt.Appendf(nil, "%%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages"+
		" /Kids [3 0 R] >>\nendobj\n"+
		"3 0 obj\n<< /Type /Page /MediaBox [0 0 600 800] /Rotate %d /Resources << %s >> /Contents 4 0 R >>\nendobj\n"+
		"4 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n%s\ntrailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%%%EOF", rotate,
		resources, len(content), content, rest)
}

const helvetica = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"

func TestContentIsInterpreted(t *testing.T) {
	cases := []struct {
		name, content, resources, rest string
		rotate                         int
		want                           string
	}{
		{name: "kerning and gaps", content: "BT /F1 10 Tf 50 700 Td [(Rech) -20 (nung) -400 (Nr.) -3000 (7)] TJ ET", resources: helvetica,
			want: "Rechnung Nr.|7"},
		{name: "lines", content: "BT /F1 10 Tf 12 TL 50 700 Td (one) Tj T* (two) Tj (three) ' ET", resources: helvetica,
			want: "one\ntwo\nthree"},
		{name: "rotated page", content: "BT /F1 10 Tf 0 1 -1 0 100 50 Tm (upright) Tj ET", resources: helvetica, rotate: 90,
			want: "upright"},
		{name: "actual text", content: "/Span << /ActualText <FEFF20AC> >> BDC BT /F1 10 Tf 50 700 Td (xyz) Tj ET EMC",
			resources: helvetica, want: "€"},
		{name: "form", content: "q 1 0 0 1 0 100 cm /X Do Q", resources: helvetica + " /XObject << /X 5 0 R >>",
			rest: "5 0 obj\n<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Length 43 >>\nstream\nBT" +
				" /F1 10 Tf 50 50 Td (in a form) Tj ET /X Do\nendstream\nendobj", want: "in a form"},
		{name: "inline image", content: "BI /W 2 /H 2 /BPC 8 /CS /G ID \x01EI\x02 EI BT /F1 10 Tf 50 700 Td (after) Tj ET",
			resources: helvetica, want: "after"},
		{name: "bullets of WinAnsi", content: "BT /F1 10 Tf 50 700 Td (Nordwind \\177 Am Kai 3 \\201 Emden) Tj ET",
			resources: "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >>",
			want:      "Nordwind • Am Kai 3 • Emden"},
		{name: "differences", content: "BT /F1 10 Tf 50 700 Td (\\001\\002) Tj ET",
			resources: "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Foo /Encoding << /Differences [1 /Euro /uni00DF] >> >> >>",
			want:      "€ß"},
		{name: "composite font", content: "BT /F1 10 Tf 50 700 Td <000100020003> Tj ET",
			resources: "/Font << /F1 << /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 5 0 R" +
				" /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /DW 500 /W [1 [600 600] 3 3 2000] >>] >> >>",
			rest: "5 0 obj\n<< /Length 119 >>\nstream\n" +
				"1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0001> <0003> <0041> endbfrange\nendstream\nendobj", want: "ABC"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc := read(t, page(c.content, c.resources, c.rest, c.rotate))
			if got := show(doc.Pages[0]); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFontsWithoutAnyMappingAreCounted(t *testing.T) {
	doc := read(t, page("BT /F1 10 Tf 50 700 Td <00010002> Tj ET",
		"/Font << /F1 << /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /Type /Font /Subtype"+
			" /CIDFontType2 >>] >> >>", "", 0))
	if doc.Glyphs != 0 || doc.Unmapped != 2 {
		t.Errorf("%d glyphs, %d unmapped, want 0 and 2", doc.Glyphs, doc.Unmapped)
	}
}

func TestOperatorsAreBounded(t *testing.T) {
	data := page(strings.Repeat("q Q ", 50_000), helvetica, "", 0)
	budget := pdf.NewBudget(64<<20, 20_000)
	f, err := pdf.Open(context.Background(), data, budget)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := f.Pages(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := text.Read(context.Background(), f, budget, pages); !errors.Is(err, pdf.ErrBudget) {
		t.Errorf("error = %v, want the budget's", err)
	}
}

func TestEndlessOperandsAreBounded(t *testing.T) {
	doc := read(t, page("["+strings.Repeat("0 ", 3<<20)+"] TJ BT /F1 10 Tf 50 700 Td (after) Tj ET", helvetica, "", 0))
	if got := show(doc.Pages[0]); got != "" && got != "after" {
		t.Errorf("got %q", got)
	}
}

func FuzzContent(f *testing.F) {
	f.Add([]byte("BT /F1 10 Tf 50 700 Td [(Rech) -20 (nung)] TJ ET"))
	f.Add([]byte("/Span << /ActualText (x) >> BDC q 1 0 0 1 0 0 cm /X Do Q EMC BI /W 1 ID x EI"))
	f.Add([]byte("q 40 690 m 9 9 9 9 1 1 c h 40 690 100 30 re W* f Q 1 0 0 rg /Cs cs .5 scn /G gs 7 Tr BT" +
		" /F1 10 Tf 50 700 Td (x) Tj ET /OC /L BDC /I Do sh"))
	f.Fuzz(func(t *testing.T, content []byte) {
		data := page(string(content), helvetica, "", 0)
		budget := pdf.NewBudget(4<<20, 50_000)
		file, err := pdf.Open(context.Background(), data, budget)
		if err != nil {
			return
		}
		pages, _ := file.Pages(3)
		_, _ = text.Read(context.Background(), file, budget, pages)
	})
}

func FuzzFont(f *testing.F) {
	f.Add([]byte("1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <0042> endbfchar"), []byte{0, 1, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, cmap, program []byte) {
		rest := fmt.Sprintf("5 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n6 0 obj\n<< /Length %d >>\n"+
			"stream\n%s\nendstream\nendobj", len(cmap), cmap, len(program), program)
		for _, font := range []string{"/ToUnicode 5 0 R", "/Encoding 5 0 R"} {
			data := page("BT /F1 10 Tf (AB\\001\\002) Tj ET",
				"/Font << /F1 << /Type /Font /Subtype /Type0 "+font+" /DescendantFonts [<< /FontDescriptor <<"+
					" /FontFile2 6 0 R >> >>] >> >>", rest, 0)
			budget := pdf.NewBudget(4<<20, 50_000)
			file, err := pdf.Open(context.Background(), data, budget)
			if err != nil {
				return
			}
			pages, _ := file.Pages(1)
			_, _ = text.Read(context.Background(), file, budget, pages)
		}
	})
}
