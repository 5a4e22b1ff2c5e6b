package text

import (
	"fmt"
	"testing"
)

// Given signs that stand one by one, then those of a title are closed up to its words, by their gaps; signs of an ordinary line are not.
func TestLettersSetFarApart(t *testing.T) {
	const size, wide = 10.0, 6.0
	type sign struct {
		text string
		gap  float64 // before it
	}
	spell := func(words ...string) (signs []sign) {
		for _, word := range words {
			gap := 7.5
			for _, r := range word {
				signs = append(signs, sign{string(r), gap})
				gap = 2
			}
		}
		return signs
	}
	far := func(signs []sign) []sign {
		signs[0].gap = 30
		return signs
	}
	for name, c := range map[string]struct {
		signs []sign
		want  string
	}{
		"a title":                     {spell("INVOICE"), `["INVOICE"]`},
		"words and a number":          {spell("NOTE", "D'HONORAIRES", "N°", "8841-2"), `["NOTE D'HONORAIRES N° 8841-2"]`},
		"letters wider than columns":  {[]sign{{"N", 0}, {"O", 9}, {"T", 9}, {"A", 9}}, `["NOTA"]`},
		"a word behind it":            {append(spell("NOTE"), sign{"8841", 7.5}), `["NOTE 8841"]`},
		"a word that is set as usual": {append([]sign{{"BAU", 0}, {"O", 12}, {"B", 2}, {"E", 2}, {"R", 2}}, sign{"KG", 12}), `["BAU OBER KG"]`},
		"a column behind it":          {append(spell("NOTE"), sign{"8841", 20}), `["NOTE" "8841"]`},
		"its number behind a gap":     {append(spell("NOTE"), far(spell("1", "43/26"))...), `["NOTE" "1 43/26"]`},
		"figures":                     {spell("12345"), `["1 2 3 4 5"]`},
		"fewer letters than a word's": {[]sign{{"A", 0}, {"4", 2}, {"m", 2}, {"x", 2}, {"2", 2}, {"m", 2}}, `["A 4 m x 2 m"]`},
	} {
		var row []Word
		x := 50.0
		for _, s := range c.signs {
			x += s.gap
			row = append(row, Word{Text: s.text, X0: x, X1: x + wide, Y: 100, Size: size})
			x += wide
		}
		var got []string
		for _, line := range FromWords(1, 595, 842, row).Lines { // as of pages that were scanned
			for _, cell := range line.Cells {
				got = append(got, cell.Text)
			}
		}
		if fmt.Sprintf("%q", got) != c.want {
			t.Errorf("%s: %q, want %s", name, got, c.want)
		}
	}
}
