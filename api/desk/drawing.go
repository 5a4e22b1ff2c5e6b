package desk

import (
	"strconv"

	"tallyhouse/api/desk/language"
)

// Drawings are SVG without scripts and styles. Where things are is said in thousandths, or in percents and pixels, so that they fit
// any width without changing the size of letters.

// bars are amounts of one currency above each other, from 0 to the largest of them.
type bars struct {
	Parts []part
	Mark  int // where a line stands, in thousandths; 0 for none
}

// part is from 0 on, in thousandths.
type part struct {
	Class     string
	Width     int
	Y, Height int // pixels
}

const (
	barHeight = 16 // pixels
	barInset  = 2  // of each part from the one behind it
)

// drawBars draws amounts, the ones behind first. What is below 0 isn't drawn.
func drawBars(mark *amount, parts ...barOf) *bars {
	longest := int64(0)
	if mark != nil {
		longest = mark.Value
	}
	for _, p := range parts {
		if p.amount != nil {
			longest = max(longest, p.amount.Value)
		}
	}
	if longest <= 0 {
		return nil
	}
	b := &bars{}
	for _, p := range parts {
		if p.amount != nil && p.amount.Value > 0 {
			inset := barInset * len(b.Parts)
			b.Parts = append(b.Parts, part{p.class, thousandths(p.amount.Value, longest), inset, barHeight - 2*inset})
		}
	}
	if mark != nil && mark.Value > 0 {
		b.Mark = min(thousandths(mark.Value, longest), 997)
	}
	return b
}

type barOf struct {
	class  string
	amount *amount
}

// thousandths is a part of a whole.
func thousandths(value, whole int64) int { return scaled(value, whole, 1000) }

// scaled is value, where whole is to. Amounts beyond what can be multiplied lose what nobody sees.
func scaled(value, whole, to int64) int {
	for whole > 1<<52 {
		value, whole = value>>10, whole>>10
	}
	if whole <= 0 {
		return 0
	}
	return int(value * to / whole)
}

// chart is amounts over time.
type chart struct {
	Title  string
	Height int // pixels, with the labels below
	Zero   int // pixels from above
	Bars   []chartBar
	Ticks  []tick
	Labels []chartLabel
}

type chartBar struct {
	X, Width string // percents
	Title    string
	Parts    []chartPart
}

type chartPart struct {
	Class     string
	Y, Height int // pixels
}

type tick struct {
	Y     int
	TextY int
	Label string
}

type chartLabel struct {
	X    string
	Text string
}

// column of a chart: amounts that stand on each other.
type chartColumn struct {
	title  string
	label  string // below it; "" for none
	values []int64
}

const (
	plotHeight  = 230 // pixels
	plotTop     = 18
	labelHeight = 26
	mostTicks   = 5
)

// drawChart draws columns of amounts of one currency, of a class for each value of a column.
func drawChart(l *language.Language, title, currency string, classes []string, columns []chartColumn) *chart {
	top, bottom := int64(0), int64(0)
	for _, c := range columns {
		above, below := int64(0), int64(0)
		for _, v := range c.values {
			above, below = above+max(0, v), below+min(0, v)
		}
		top, bottom = max(top, above), min(bottom, below)
	}
	if len(columns) == 0 || top == 0 && bottom == 0 {
		return nil
	}
	span := top - bottom
	pixels := func(v int64) int { return scaled(v, span, plotHeight) }
	c := &chart{Title: title, Height: plotTop + plotHeight + labelHeight, Zero: plotTop + pixels(top)}
	step := niceStep(span)
	for at := bottom / step * step; at <= top; at += step {
		y := c.Zero - pixels(at)
		c.Ticks = append(c.Ticks, tick{Y: y, TextY: y - 4, Label: l.Whole(at, currency)})
	}
	n := len(columns)
	for i, col := range columns {
		bar := chartBar{X: percent(i*1000+120, n), Width: percent(760, n), Title: col.title}
		up, down := c.Zero, c.Zero
		for k, v := range col.values {
			height := max(pixels(max(v, -v)), 1)
			switch {
			case v > 0:
				up -= height
				bar.Parts = append(bar.Parts, chartPart{classes[k], up, height})
			case v < 0:
				bar.Parts = append(bar.Parts, chartPart{classes[k], down, height})
				down += height
			}
		}
		c.Bars = append(c.Bars, bar)
		if col.label != "" {
			c.Labels = append(c.Labels, chartLabel{X: percent(i*1000, n), Text: col.label})
		}
	}
	return c
}

// percent is where thousandths of a column are, among n columns.
func percent(thousandths, n int) string {
	hundredths := thousandths * 10 / n // of a percent
	return strconv.Itoa(hundredths/100) + "." + strconv.Itoa(hundredths%100/10) + strconv.Itoa(hundredths%10) + "%"
}

// niceStep divides a span into a few round steps.
func niceStep(span int64) int64 {
	step := int64(100)
	for {
		for _, factor := range []int64{1, 2, 5} {
			if span/(step*factor) < mostTicks {
				return step * factor
			}
		}
		step *= 10
	}
}
