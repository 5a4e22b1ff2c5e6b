package desk

import (
	"math"
	"slices"
	"testing"

	"tallyhouse/analytics"
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
	of := func(n int64) *amount { return minor(n, "EUR") }
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
	of := func(paid, forecast int64) []analytics.Int128 {
		return []analytics.Int128{analytics.Int(paid), analytics.Int(forecast)}
	}
	c := drawChart(english(t), "title", "EUR", []string{"paid", "forecast"}, []chartColumn{
		{values: of(300_00, 100_00), label: "2026"}, {values: of(-100_00, 0)}, {values: of(0, 0)}})
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
	if drawChart(english(t), "", "EUR", []string{"paid"}, []chartColumn{{values: of(0, 0)}}) != nil {
		t.Error("nothing is drawn")
	}
}

// Given years that begin close to each other, then a label that has no room before the next one is left out.
func TestLabelsOfAChartHaveRoom(t *testing.T) {
	columns := make([]chartColumn, 20)
	for i := range columns {
		columns[i].values = []analytics.Int128{analytics.Int(1)}
	}
	columns[0].label, columns[1].label, columns[5].label, columns[7].label, columns[19].label = "2021", "2022", "2023", "2024", "2025"
	var shown []string
	for _, l := range drawChart(english(t), "", "EUR", []string{"paid"}, columns).Labels {
		shown = append(shown, l.Text+" at "+l.X)
	}
	if want := []string{"2022 at 5.00%", "2024 at 35.00%", "2025 at 95.00%"}; !slices.Equal(shown, want) {
		t.Errorf("the labels are %q, want %q", shown, want)
	}
}

// Sums beyond 64 bits, of either sign, are drawn as others are: with few ticks, and within the chart.
func TestChartsHoldSumsBeyond64Bits(t *testing.T) {
	most := analytics.Int(math.MaxInt64)
	for name, c := range map[string]struct{ up, down analytics.Int128 }{
		"two that 64 bits hold": {most, most.Neg()}, "one sum above": {most.Add(most), analytics.Int(0)},
		"both beyond": {most.Add(most), most.Add(most).Neg()}, "one below": {analytics.Int(1), most.Add(most).Neg()},
	} {
		drawn := drawChart(english(t), "", "EUR", []string{"paid", "forecast"}, []chartColumn{{values: []analytics.Int128{c.up, most}},
			{values: []analytics.Int128{c.down, most.Neg()}}})
		if n := len(drawn.Ticks); n < 2 || n > mostTicks+2 {
			t.Errorf("%s: %d ticks", name, n)
		}
		for _, bar := range drawn.Bars {
			for _, p := range bar.Parts {
				if p.Y < 0 || p.Y+p.Height > drawn.Height {
					t.Errorf("%s: a part from %d of %d leaves the chart of %d", name, p.Y, p.Height, drawn.Height)
				}
			}
		}
	}
}

// The top lines add up; a line that isn't one, and what may not be seen, do not.
func TestTheTotalIsThatOfTheTopLines(t *testing.T) {
	top := "a"
	b := budget{Nodes: []budgetNode{
		{NodeID: "a", lineFigures: lineFigures{Budget: minor(100, "EUR")}},
		{NodeID: "b", ParentID: &top, lineFigures: lineFigures{Budget: minor(60, "EUR")}},
		{NodeID: "c", lineFigures: lineFigures{Budget: minor(-30, "EUR")}}}}
	total := b.total()
	if total.Budget == nil || *total.Budget != *minor(70, "EUR") || total.Paid != nil {
		t.Errorf("the total is %+v, %+v", total.Budget, total.Paid)
	}
}
