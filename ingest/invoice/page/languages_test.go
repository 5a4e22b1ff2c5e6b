package page

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/typed"
	"tallyhouse/ingest/invoice/page/words"
)

// Given the page that every language has in testdata/languages, with the values
// that stand on it in its first line, then these are read.
func TestAPageOfEveryLanguage(t *testing.T) {
	w, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := preparedReader()
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
			kind, got, _ := reader.Read(typed.Document(lines), Own{})
			if kind != Invoice || line(got) != want {
				t.Errorf("kind %d\n got %s\nwant %s", kind, line(got), want)
			}
		})
	}
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
