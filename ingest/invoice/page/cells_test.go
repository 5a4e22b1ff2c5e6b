package page

import (
	"slices"
	"testing"

	"tallyhouse/ingest/invoice/text"
)

// Given cells of nothing but sums, or nothing but days, then each is a cell of its own, where it stands; what has words, spaces in a sum or
// another number of decimals stays whole.
func TestFiguresOfColumnsThatAreSetClose(t *testing.T) {
	for cell, want := range map[string][]string{
		"15.000,00 2.850,00 17.850,00": {"15.000,00", "2.850,00", "17.850,00"},
		"1,200.00 -240.00":             {"1,200.00", "-240.00"},
		"31/07/2025 14/09/2025":        {"31/07/2025", "14/09/2025"},
		"2025-07-31 2025-09-14":        {"2025-07-31", "2025-09-14"},
		"15 000,00":                    {"15 000,00"},
		"1 17.850,00":                  {"1 17.850,00"},
		"17.850,00 EUR":                {"17.850,00 EUR"},
		"17.850,00":                    {"17.850,00"},
		"7601 220 934":                 {"7601 220 934"},
		"31/07/2025 17.850,00":         {"31/07/2025 17.850,00"},
	} {
		var got []string
		for _, c := range figuresApart([]text.Cell{{Text: cell, X0: 100, X1: 100 + 5*float64(len(cell))}}) {
			got = append(got, c.Text)
			if width := c.X1 - c.X0; width != 5*float64(len(c.Text)) {
				t.Errorf("%q: %q is %g wide", cell, c.Text, width)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
}

// Given sums of columns that are set so close that they seem one cell, then net, tax and total of the row are read.
func TestARowOfTotalsThatIsSetClose(t *testing.T) {
	if got, want := sumsOn(t, `
Rechnung                             netto     19 % MwSt      brutto
Abrechnungssumme              46.932,80 8.917,23 55.850,03
1. Abschlagsrechnung          33.000,00 6.270,00 39.270,00
Restforderung                 13.932,80 2.647,23 16.580,03`), "1393280 | 264723 | 1658003"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Given cells with the lines of a frame that is drawn by characters, then these are none of what it says.
func TestFramesOfCharacters(t *testing.T) {
	var got []string
	for _, c := range unframed([]text.Cell{{Text: "┌ BAUWERK HUBER ────┐"}, {Text: "│ Hofgasse 3 │"}, {Text: "└────┘"}, {Text: "A – B | C"}}) {
		got = append(got, c.Text)
	}
	if want := []string{"BAUWERK HUBER", "Hofgasse 3", "A – B | C"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := sheetOf(t, "┌ BAUWERK HUBER ────┐").rows[0][0].text(); got != "BAUWERK HUBER" {
		t.Errorf("the line says %q", got)
	}
}
