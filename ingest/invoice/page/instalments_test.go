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
