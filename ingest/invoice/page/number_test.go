package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

func FuzzNumberAt(f *testing.F) {
	v := testVocabulary(f)
	f.Add("Nr.: RE 2024/001 vom", 0)
	f.Fuzz(func(t *testing.T, s string, from int) {
		it := &item{runes: []rune(s)}
		it.folded = fold(it.runes)
		if from < 0 || from > len(it.runes) {
			return
		}
		if value, _, ok := v.numberAt(it, from, true); ok && (!hasDigit(value) || len(value) > 60) {
			t.Fatalf("number %q of %q", value, s)
		}
	})
}

// Given a day behind a number, behind a short word or a place, then it is the number's; behind other words, or a comma and no place, it isn't.
func TestDaysBehindNumbers(t *testing.T) {
	for line, want := range map[string]bool{
		"FAKTURA 1182/HB, 10.06.2026":                          true,
		"FAKTURA 1182/HB z dnia 10.06.2026":                    true,
		"FAKTURA 1182/HB, Kraków, dnia 10.06.2026":             true,
		"FAKTURA 1182/HB, rezerwacja BK-7710442 od 10.06.2026": false,
		"FAKTURA 1182/HB Kraków, dnia 10.06.2026":              false,
		"10.06.2026 FAKTURA 1182/HB":                           false,
	} {
		s := newSheet(testVocabulary(t), typed.Document(line))
		it := s.rows[0][0]
		const number = "1182/hb"
		if got := s.dayBehind(it, strings.Index(it.folded, number)+len(number)); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}
