package page

import (
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given several sums and days in one cell, then they are instalments, unless one of the sums is less a discount.
func TestInstalments(t *testing.T) {
	for line, want := range map[string]bool{
		"7.000,00 € bis 01.05.2026, 7.000,00 € bis 01.06.2026":                        true,
		"2.910,00 € bis 24.04.2026 abzüglich 3 %, 3.000,00 € bis 17.05.2026":          false,
		"2.910,00 € bis 24.04.2026 nach Abzug des Skontos, 3.000,00 € bis 17.05.2026": false,
		"7.000,00 € bis 01.05.2026, spätestens bis 15.05.2026":                        false,
		"7.000,00 € und 5.000,00 € bis 01.05.2026":                                    false,
	} {
		s := newSheet(testVocabulary(t), typed.Document(line))
		if got := s.instalments(s.rows[0][0]); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}

// Given rows of a day and a sum each, which together are a total that is printed, then none is the day by which to pay; two ways to pay one
// sum, or one row, are none.
func TestRowsOfInstalments(t *testing.T) {
	for name, c := range map[string]struct {
		page string
		want bool
	}{
		"two halves": {`Data scadenza    Importo
30-09-2026       6.088,42
31-10-2026       6.088,43
Totale documento EUR 12.176,85`, true},
		"a discount and the whole": {`Data scadenza    Importo
30-09-2026       5.900,00
31-10-2026       6.088,43
Totale documento EUR 6.088,43`, false},
		"one row": {`Data scadenza    Importo
30-09-2026       6.088,42
Totale documento EUR 6.088,42`, false},
		"both on one day": {`Data scadenza    Importo
30-09-2026       6.088,42
30-09-2026       6.088,43
Totale documento EUR 12.176,85`, false},
	} {
		s := newSheet(testVocabulary(t), typed.Document(c.page))
		if got := s.instalments(s.rows[1][0]); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
