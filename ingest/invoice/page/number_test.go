package page

import (
	"testing"
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
