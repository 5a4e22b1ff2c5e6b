package desk

import (
	"math"
	"testing"

	"tallyhouse/api/desk/language"
)

func english(t *testing.T) *language.Language {
	t.Helper()
	ls, err := language.Load()
	if err != nil {
		t.Fatal(err)
	}
	return ls.All()[0]
}

// Bars are as long as their amounts, beside the longest; nothing is drawn below 0.
func TestBarsAreAsLongAsTheirAmounts(t *testing.T) {
	of := func(n int64) *amount { return &amount{n, "EUR"} }
	b := drawBars(of(500), barOf{"budget", of(1000)}, barOf{"invoiced", of(250)}, barOf{"paid", of(-10)}, barOf{"committed", nil})
	if len(b.Parts) != 2 || b.Parts[0].Width != 1000 || b.Parts[1].Width != 250 || b.Mark != 500 {
		t.Errorf("%+v", b)
	}
	if b := drawBars(of(0), barOf{"budget", of(0)}); b != nil {
		t.Errorf("nothing is drawn as %+v", b)
	}
	large := drawBars(nil, barOf{"budget", of(math.MaxInt64)}, barOf{"paid", of(math.MaxInt64 / 4)})
	if width := large.Parts[1].Width; width < 249 || width > 250 {
		t.Errorf("large amounts are %+v", large.Parts)
	}
}

// A chart has a column for each value, within its height; values below 0 hang below its line, and columns beside each other.
func TestChartsHoldTheirColumns(t *testing.T) {
	c := drawChart(english(t), "title", "EUR", []string{"paid", "forecast"}, []chartColumn{
		{values: []int64{300_00, 100_00}, label: "2026"}, {values: []int64{-100_00, 0}}, {values: []int64{0, 0}}})
	if len(c.Bars) != 3 || len(c.Labels) != 1 || len(c.Bars[0].Parts) != 2 || len(c.Bars[1].Parts) != 1 || len(c.Bars[2].Parts) != 0 {
		t.Fatalf("%+v", c)
	}
	first, below := c.Bars[0].Parts, c.Bars[1].Parts[0]
	if first[0].Y+first[0].Height != c.Zero || first[1].Y+first[1].Height != first[0].Y || below.Y != c.Zero {
		t.Errorf("the columns stand at %+v and %+v, the line at %d", first, below, c.Zero)
	}
	if want := 3 * first[1].Height; first[0].Height < want-3 || first[0].Height > want+3 {
		t.Errorf("300 is %d high and 100 %d", first[0].Height, first[1].Height)
	}
	if c.Bars[1].X != "37.33%" || c.Bars[1].Width != "25.33%" {
		t.Errorf("the second column is at %s, %s wide", c.Bars[1].X, c.Bars[1].Width)
	}
	if drawChart(english(t), "", "EUR", []string{"paid"}, []chartColumn{{values: []int64{0}}}) != nil {
		t.Error("nothing is drawn")
	}
}

// The top lines add up; a line that isn't one, and what may not be seen, do not.
func TestTheTotalIsThatOfTheTopLines(t *testing.T) {
	top := "a"
	b := budget{Nodes: []budgetNode{
		{NodeID: "a", lineFigures: lineFigures{Budget: &amount{100, "EUR"}}},
		{NodeID: "b", ParentID: &top, lineFigures: lineFigures{Budget: &amount{60, "EUR"}}},
		{NodeID: "c", lineFigures: lineFigures{Budget: &amount{-30, "EUR"}}}}}
	total := b.total()
	if total.Budget == nil || *total.Budget != (amount{70, "EUR"}) || total.Paid != nil {
		t.Errorf("the total is %+v, %+v", total.Budget, total.Paid)
	}
}
