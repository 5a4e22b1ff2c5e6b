package page

import (
	"testing"

	"tallyhouse/ingest/invoice/text"
)

// Given a line of words that are set in letters far apart, however many, then no cell becomes much longer than what is read of one.
func TestSpacedWordsAreJoinedUpToALimit(t *testing.T) {
	var line []text.Cell
	for i := range 5_000 {
		x := 20 * float64(i)
		line = append(line, text.Cell{Text: "F Ü R", X0: x, X1: x + 15, Size: 10})
	}
	cells := joinSpaced(line)
	if len(cells) < 2 {
		t.Fatalf("%d cells", len(cells))
	}
	for _, c := range cells {
		if len(c.Text) > maxRunes+len(" FÜR") {
			t.Errorf("a cell of %d bytes", len(c.Text))
		}
	}
}
