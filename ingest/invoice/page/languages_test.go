package page

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/words"
	"tallyhouse/ingest/invoice/text"
)

// Given the page that every language has in testdata/languages, with the values
// that stand on it in its first line, then these are read.
func TestAPageOfEveryLanguage(t *testing.T) {
	w, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := NewReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range w.Languages() {
		if language == "any" {
			continue
		}
		t.Run(language, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "languages", language+".txt"))
			if err != nil {
				t.Fatalf("the language has no test page: %v", err)
			}
			want, lines, _ := strings.Cut(string(data), "\n")
			kind, got := reader.Read(typed(lines), Own{})
			if kind != Invoice || line(got) != want {
				t.Errorf("kind %d\n got %s\nwant %s", kind, line(got), want)
			}
		})
	}
}

// typed is a page as a typewriter sets it: characters of one width, two or more
// spaces between cells.
func typed(lines string) text.Document {
	const width, height, left = 5.5, 12, 40
	var set []text.Word
	row := 0
	for line := range strings.Lines(lines) {
		row++
		column := 0
		for _, word := range strings.Split(strings.TrimRight(line, "\n"), " ") {
			n := len([]rune(word))
			if n > 0 {
				x := left + width*float64(column)
				set = append(set, text.Word{Text: word, X0: x, X1: x + width*float64(n), Y: float64(60 + height*row), Size: 10})
			}
			column += n + 1
		}
	}
	return text.Document{Pages: []text.Page{text.FromWords(1, 595, 842, set)}}
}

// line writes the fields of an invoice in one line, "-" where null.
func line(f fields.Invoice) string {
	var out []string
	for _, v := range []*fields.Text{f.Number, f.Date, f.DueDate, f.SupplierName, f.SupplierTaxID, f.Currency} {
		if v == nil {
			out = append(out, "-")
		} else {
			out = append(out, v.Value)
		}
	}
	for _, v := range []*fields.Amount{f.Net, f.Tax, f.Gross} {
		if v == nil {
			out = append(out, "-")
		} else {
			out = append(out, strconv.FormatInt(v.Value, 10))
		}
	}
	return strings.Join(out, " | ")
}
