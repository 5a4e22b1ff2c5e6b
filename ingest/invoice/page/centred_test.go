package page

import (
	"testing"

	"tallyhouse/ingest/invoice/text"
)

// Given a cell of two lines and what stands beside it half a line lower, then a figure belongs to the first of the lines; words do not, nor
// figures below lines of their own or under one of the cell's.
func TestFiguresInTheMiddleOfACell(t *testing.T) {
	line := func(y, x0, x1 float64, words string) text.Line {
		return text.Line{Y: y, Cells: []text.Cell{{Text: words, X0: x0, X1: x1, Y: y, Size: 10}}}
	}
	first, second := line(500, 300, 480, "VAT - Germany (0% on €409.00) reverse"), line(511, 300, 330, "charge")
	for name, c := range map[string]struct {
		lines []text.Line
		rows  int
	}{
		"a figure":                    {[]text.Line{first, line(505.5, 518, 544, "€0.00"), second}, 2},
		"a figure in its currency":    {[]text.Line{first, line(505.5, 518, 544, "0.00 EUR"), second}, 2},
		"words":                       {[]text.Line{first, line(505.5, 518, 580, "Rheinstraße 5"), second}, 3},
		"a figure under the cell":     {[]text.Line{first, line(505.5, 400, 426, "€0.00"), second}, 3},
		"lines of two cells":          {[]text.Line{first, line(505.5, 518, 544, "€0.00"), line(511, 40, 90, "Total")}, 3},
		"lines a whole line apart":    {[]text.Line{first, line(511, 518, 544, "€0.00"), line(522, 300, 330, "charge")}, 3},
		"nothing below it":            {[]text.Line{first, line(505.5, 518, 544, "€0.00")}, 2},
		"a figure above both of them": {[]text.Line{line(494.5, 518, 544, "€0.00"), first, second}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			if got := centred(c.lines); len(got) != c.rows {
				t.Errorf("%d lines, want %d: %v", len(got), c.rows, got)
			}
		})
	}
}
