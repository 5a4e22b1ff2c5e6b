package text_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ledongthuc/pdf"

	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// Given a file that an independent reader understands, then we see exactly the same glyphs, none more and none fewer.
func TestTheGlyphsAreThoseThatAnotherReaderSees(t *testing.T) {
	for name, data := range map[string][]byte{
		"the sample invoice": pdftest.Sample().PDF(),
		"two pages": pdftest.Document{Pages: []pdftest.Page{
			{Texts: []pdftest.Text{{X: 60, Y: 100, Text: "Rechnung RE-17"}, {X: 300, Y: 100, Text: "1.234,56"}}},
			{Texts: []pdftest.Text{{X: 60, Y: 90, Text: "Seite 2"}}},
		}}.Bytes(),
	} {
		t.Run(name, func(t *testing.T) {
			other, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			text, err := other.GetPlainText()
			if err != nil {
				t.Fatal(err)
			}
			want, err := io.ReadAll(text)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, p := range read(t, data).Pages {
				got.WriteString(show(p))
			}
			if glyphs(got.String()) != glyphs(string(want)) {
				t.Errorf("we see\n%s\nthe other reader\n%s", got.String(), want)
			}
		})
	}
}

// glyphs are the visible characters of a text, in an order of their own: readers differ in the order of lines and in
// white space.
func glyphs(text string) string {
	visible := []rune(strings.NewReplacer(" ", "", "\n", "", "|", "").Replace(text))
	slices.Sort(visible)
	return string(visible)
}
