package text

import "testing"

// Given small letters set high behind a word, then they stand on its line; figures, capitals, and what is apart, large or no higher don't.
func TestSmallLettersSetHigh(t *testing.T) {
	base := Word{Text: "1", X0: 100, X1: 105, Y: 239, Size: 10}
	for name, c := range map[string]struct {
		behind Word
		want   float64
	}{
		"the end of an ordinal": {Word{Text: "er", X0: 105.3, X1: 111, Y: 236, Size: 7}, 239},
		"a footnote":            {Word{Text: "2", X0: 105.3, X1: 109, Y: 236, Size: 7}, 236},
		"a capital":             {Word{Text: "A", X0: 105.3, X1: 109, Y: 236, Size: 7}, 236},
		"apart":                 {Word{Text: "er", X0: 112, X1: 118, Y: 236, Size: 7}, 236},
		"hardly smaller":        {Word{Text: "er", X0: 105.3, X1: 111, Y: 236, Size: 9.7}, 239},
		"as large":              {Word{Text: "er", X0: 105.3, X1: 111, Y: 236, Size: 10}, 236},
		"a line above":          {Word{Text: "er", X0: 105.3, X1: 111, Y: 231, Size: 7}, 231},
		"a long word":           {Word{Text: "janvier", X0: 105.3, X1: 125, Y: 236, Size: 7}, 236},
	} {
		if got := lower([]Word{base, c.behind}); got[1].Y != c.want || got[0] != base {
			t.Errorf("%s: at %v, want %v", name, got[1].Y, c.want)
		}
	}
}
