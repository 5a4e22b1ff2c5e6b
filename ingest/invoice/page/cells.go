package page

import (
	"regexp"
	"strings"
	"unicode"

	"tallyhouse/ingest/invoice/text"
)

// wholeFigures is a cell of nothing but sums with two decimals and without spaces, or nothing but days: those of columns that are set so
// close that they seem one cell, "15.000,00 2.850,00 17.850,00", "31/07/2025 14/09/2025".
var wholeFigures = regexp.MustCompile(`^(?:-?\d{1,3}(?:[.,']?\d{3})*[.,]\d\d(?: -?\d{1,3}(?:[.,']?\d{3})*[.,]\d\d)+|` +
	`\d{1,2}[./-]\d{1,2}[./-]\d{4}(?: \d{1,2}[./-]\d{1,2}[./-]\d{4})+|\d{4}-\d\d-\d\d(?: \d{4}-\d\d-\d\d)+)$`)

// figuresApart makes cells of their own of figures that are cells of several columns. Where each stands is counted by characters, for
// figures are of one width.
func figuresApart(cells []text.Cell) []text.Cell {
	var out []text.Cell
	for _, c := range cells {
		if !strings.Contains(c.Text, " ") || !wholeFigures.MatchString(c.Text) {
			out = append(out, c)
			continue
		}
		width, at := (c.X1-c.X0)/float64(len(c.Text)), c.X0
		for _, figure := range strings.Split(c.Text, " ") {
			own := c
			own.Text, own.X0, own.X1 = figure, at, at+width*float64(len(figure))
			out = append(out, own)
			at = own.X1 + width
		}
	}
	return out
}

// unframed are cells without the lines that frames are drawn with by characters.
func unframed(cells []text.Cell) []text.Cell {
	var out []text.Cell
	for _, c := range cells {
		if strings.ContainsFunc(c.Text, frames) {
			c.Text = strings.TrimFunc(strings.Map(func(r rune) rune {
				if frames(r) {
					return ' '
				}
				return r
			}, c.Text), unicode.IsSpace)
			if c.Text == "" {
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// frames reports whether a character is one of Unicode's for drawing boxes.
func frames(r rune) bool { return r >= '\u2500' && r <= '\u257f' }
