package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// spacedGap is the widest gap between words whose letters are set far apart, in parts of the font size.
const spacedGap = 1.5

// closeUp makes words of letters that are set far apart, as titles are: "N O T E  N °  8" is NOTE N° 8. What follows in their size and is
// set so is closed up, too, whatever signs it has: its number.
func closeUp(row []Word) []Word {
	const letters, signs = 4, 4
	var out []Word
	size := 0.0 // of letters that were set far apart
	for i := 0; i < len(row); {
		n, most := spacedRun(row[i:])
		if most < letters && (n < signs || row[i].Size != size) {
			out = append(out, row[i:i+max(n, 1)]...)
			i += max(n, 1)
			continue
		}
		size = row[i].Size
		out = append(out, spacedWords(row[i:i+n])...)
		i += n
	}
	return out
}

// spacedRun is how many words of a row begin with, single signs of one size, and how many letters among them follow each other at most.
func spacedRun(row []Word) (n, most int) {
	letters := 0
	for n < len(row) && utf8.RuneCountInString(row[n].Text) == 1 && (n == 0 || row[n].Size == row[n-1].Size && gapOf(row, n) < spacedGap) {
		r, _ := utf8.DecodeRuneInString(row[n].Text)
		if letters++; !unicode.IsLetter(r) {
			letters = 0
		}
		most = max(most, letters)
		n++
	}
	return n, most
}

// spacedWords sets a run of single signs in words: most of its gaps part letters, wider ones words.
func spacedWords(run []Word) []Word {
	const wider, least = 1.6, 0.15
	gaps := make([]float64, 0, len(run))
	for i := 1; i < len(run); i++ {
		gaps = append(gaps, gapOf(run, i))
	}
	ordered := slices.Sorted(slices.Values(gaps))
	usual := ordered[len(ordered)/2]
	var out []Word
	var text strings.Builder // of the last word
	for i, w := range run {
		if i > 0 && gaps[i-1] < max(wider*usual, usual+least) {
			text.WriteString(w.Text)
			out[len(out)-1].X1 = w.X1
			continue
		}
		if i > 0 {
			out[len(out)-1].Text = text.String()
			text.Reset()
		}
		text.WriteString(w.Text)
		w.spaced = true
		out = append(out, w)
	}
	out[len(out)-1].Text = text.String()
	return out
}

// gapOf is the gap before a word of a row, in parts of the font size.
func gapOf(row []Word, i int) float64 {
	return (row[i].X0 - row[i-1].X1) / max(row[i].Size, 1)
}
