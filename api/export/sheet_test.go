package export_test

import (
	"bytes"
	"testing"

	"tallyhouse/api/export"
)

// Given texts of others that a spreadsheet would take for formulas, and amounts, then the sheet holds texts and numbers, in the form of
// its language.
func TestASheetHoldsNoFormulas(t *testing.T) {
	for decimal, want := range map[byte]string{
		',': "\ufeffSupplier;Net;Date\r\n\"'=HYPERLINK(1)\";-1234,05;2026-10-30\r\n\"a;b \"\"c\"\"\";2,5;\r\n",
		'.': "\ufeffSupplier,Net,Date\r\n\"'=HYPERLINK(1)\",-1234.05,2026-10-30\r\n\"a;b \"\"c\"\"\",2.5,\r\n",
	} {
		var b bytes.Buffer
		s := export.NewSheet(&b, decimal)
		end := func() {
			if err := s.EndLine(); err != nil {
				t.Fatal(err)
			}
		}
		s.Text("Supplier")
		s.Text("Net")
		s.Text("Date")
		end()
		s.Text("=HYPERLINK(1)")
		s.Amount([]byte("-123405"), 2)
		s.Plain("2026-10-30")
		end()
		s.Text(`a;b "c"`)
		s.Number("2.5")
		s.Plain("")
		end()
		if b.String() != want {
			t.Errorf("the sheet is %q, want %q", b.String(), want)
		}
	}
}
