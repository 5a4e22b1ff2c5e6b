package page

import (
	"math"
	"slices"

	"tallyhouse/ingest/invoice/text"
)

// centred brings values that stand half a line lower, in the middle beside a cell of two lines, into the first of these lines:
//
//	VAT – Germany (0 %
//	                            0.00
//	on 409.00)
//
// Lines of a cell never stand so near to one another.
func centred(lines []text.Line) []text.Line {
	var out []text.Line
	for i, line := range lines {
		if last := len(out) - 1; i > 0 && last >= 0 && i+1 < len(lines) && between(lines[i-1], line, lines[i+1]) {
			out[last].Cells = append(slices.Clip(out[last].Cells), line.Cells...)
			continue
		}
		out = append(out, line)
	}
	return out
}

// between reports whether a line is one value on the right of two lines of one cell, in their middle, as near to them as no third line of
// the cell could be.
func between(above, line, below text.Line) bool {
	const nearest = 0.8 // sizes
	if len(above.Cells) != 1 || len(line.Cells) != 1 || len(below.Cells) != 1 {
		return false
	}
	first, value, second := above.Cells[0], line.Cells[0], below.Cells[0]
	near := nearest * value.Size
	return value.Y-first.Y < near && second.Y-value.Y < near && math.Abs(first.X0-second.X0) < 1 &&
		value.X0 > max(first.X1, second.X1) && inFigures(value.Text)
}

// inFigures reports whether a text is a figure, with a currency at most.
func inFigures(s string) bool {
	folded := fold([]rune(s))
	return hasDigit(folded) && !hasLetters(withoutCurrency(folded))
}
