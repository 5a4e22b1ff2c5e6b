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
	out := slices.Clone(lines)
	for i := 1; i+1 < len(out); i++ {
		for c := len(out[i].Cells) - 1; c >= 0; c-- {
			if !between(out, i, c) {
				continue
			}
			value, above, own := out[i].Cells[c], slices.Clone(out[i-1].Cells), slices.Clone(out[i].Cells)
			out[i-1].Cells = append(above, value)
			out[i].Cells = slices.Delete(own, c, c+1)
		}
	}
	return slices.DeleteFunc(out, func(l text.Line) bool { return len(l.Cells) == 0 })
}

// between reports whether a value stands on the right of a cell of two lines, in their middle, as near to them as no third line of the cell
// could be, and nothing of its own line is nearer to it than they are.
func between(lines []text.Line, i, c int) bool {
	const nearest = 0.8 // sizes
	value := lines[i].Cells[c]
	first, one := leftOf(lines[i-1].Cells, value)
	second, other := leftOf(lines[i+1].Cells, value)
	if !one || !other || !inFigures(value.Text) || inFigures(first.Text) || math.Abs(first.X0-second.X0) >= 1 {
		return false
	}
	if beside, found := leftOf(lines[i].Cells[:c], value); found && beside.X1 > first.X0 {
		return false
	}
	near := nearest * value.Size
	return first.Y < value.Y && value.Y-first.Y < near && value.Y < second.Y && second.Y-value.Y < near && !goesOn(lines, i, first, second)
}

// goesOn reports whether a text has more lines than two, as a paragraph beside a column of sums. A line with a figure is another text.
func goesOn(lines []text.Line, i int, first, second text.Cell) bool {
	const about, around = 1.25, 6
	line := about * (second.Y - first.Y)
	for _, l := range lines[max(0, i-around):min(len(lines), i+around)] {
		if len(l.Cells) == 0 {
			continue
		}
		c := l.Cells[len(l.Cells)-1]
		if math.Abs(c.X0-first.X0) < 1 && (c.Y < first.Y && first.Y-c.Y < line || c.Y > second.Y && c.Y-second.Y < line) {
			return true
		}
	}
	return false
}

// leftOf is the last cell of a line, where it ends before a value begins.
func leftOf(line []text.Cell, value text.Cell) (text.Cell, bool) {
	last := len(line) - 1
	if last < 0 || line[last].X1 >= value.X0 {
		return text.Cell{}, false
	}
	return line[last], true
}

// inFigures reports whether a text is a figure, with a currency at most.
func inFigures(s string) bool {
	folded := fold([]rune(s))
	return hasDigit(folded) && !hasLetters(withoutCurrency(folded))
}
