package page

import (
	"regexp"
	"strings"

	"tallyhouse/ingest/invoice/text"
)

// spacedWord is a word that is set in letters far apart, as small headings are: "F Ü R".
var spacedWord = regexp.MustCompile(`^\p{L}(?: \p{L})+$`)

// spacedSum is a sum that is set in figures far apart: "$ 1 ,1 8 3". What has neither a sign nor a separator may be several numbers.
var spacedSum = regexp.MustCompile(`^[$€£] ?(?:` + spacedFigure + ` )+` + spacedFigure + `$|^(?:\d )+[.,](?: ?\d)+$`)

// spacedFigure is one figure, with a separator beside it or not: the gap is narrow there.
const spacedFigure = `(?:\d?[.,]\d?|\d)`

// joinSpaced joins the letters of words that are set far apart, and such words with those beside them: their spaces are wide, too.
func joinSpaced(cells []text.Cell) []text.Cell {
	const widest = 1.3 // spaces between such words, in sizes
	var out []text.Cell
	spaced := false
	for _, c := range cells {
		now := spacedWord.MatchString(c.Text)
		if now || spacedSum.MatchString(c.Text) {
			c.Text = strings.ReplaceAll(c.Text, " ", "")
		}
		last := len(out) - 1
		if last >= 0 && (now || spaced) && len(out[last].Text) < maxRunes && c.X0-out[last].X1 <= widest*c.Size && c.Size == out[last].Size {
			out[last].Text += " " + c.Text
			out[last].X1 = c.X1
			spaced = true
			continue
		}
		out, spaced = append(out, c), now
	}
	return out
}
