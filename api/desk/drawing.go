package desk

import (
	"math/big"
	"slices"
	"strconv"

	"tallyhouse/analytics"
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
	var longest analytics.Int128
	for _, p := range append([]barOf{{"", mark}}, parts...) {
		if p.amount != nil && p.amount.Value.Sub(longest).Sign() > 0 {
			longest = p.amount.Value
		}
	}
	if longest.Sign() <= 0 {
		return nil
	}
	b := &bars{}
	for _, p := range parts {
		if p.amount != nil && p.amount.Value.Sign() > 0 {
			inset := barInset * len(b.Parts)
			b.Parts = append(b.Parts, part{p.class, thousandths(p.amount.Value, longest), inset, barHeight - 2*inset})
		}
	}
	if mark != nil && mark.Value.Sign() > 0 {
		b.Mark = min(thousandths(mark.Value, longest), 997)
	}
	return b
}

type barOf struct {
	class  string
	amount *amount
}

// thousandths is a part of a whole.
func thousandths(value, whole analytics.Int128) int { return scaled(value, whole, 1000) }

// scaled is value, where whole, which is more than 0, is to.
func scaled(value, whole analytics.Int128, to int64) int {
	part := new(big.Int).Mul(value.Big(), big.NewInt(to))
	return int(part.Quo(part, whole.Big()).Int64())
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

// chartColumn is a column of a chart: amounts that stand on each other.
type chartColumn struct {
	title  string
	label  string // below it; "" for none
	values []analytics.Int128
}

const (
	plotHeight  = 230 // pixels
	plotTop     = 18
	labelHeight = 26
	labelRoom   = 110 // thousandths of the width, which a label needs on a phone
	mostTicks   = 5
)

// drawChart draws columns of amounts of one currency, of a class for each value of a column.
func drawChart(l *language.Language, title, currency string, classes []string, columns []chartColumn) *chart {
	var top, depth analytics.Int128 // depth is how far it goes below 0
	for _, c := range columns {
		var above, below analytics.Int128
		for _, v := range c.values {
			above, below = above.Add(v.OrZero()), below.Add(v.Neg().OrZero())
		}
		top, depth = top.AtLeast(above), depth.AtLeast(below)
	}
	span := top.Add(depth)
	if span.IsZero() {
		return nil
	}
	pixels := func(v analytics.Int128) int { return scaled(v, span, plotHeight) }
	c := &chart{Title: title, Height: plotTop + plotHeight + labelHeight, Zero: plotTop + pixels(top)}
	for _, at := range ticks(top, depth) {
		y := c.Zero - pixels(at)
		c.Ticks = append(c.Ticks, tick{Y: y, TextY: y - 4, Label: l.Whole(at, currency)})
	}
	n := len(columns)
	for i, col := range columns {
		bar := chartBar{X: percent(i*1000+120, n), Width: percent(760, n), Title: col.title}
		up, down := c.Zero, c.Zero
		for k, v := range col.values {
			height := max(pixels(v.AtLeast(v.Neg())), 1)
			switch v.Sign() {
			case 1:
				up -= height
				bar.Parts = append(bar.Parts, chartPart{classes[k], up, height})
			case -1:
				bar.Parts = append(bar.Parts, chartPart{classes[k], down, height})
				down += height
			}
		}
		c.Bars = append(c.Bars, bar)
	}
	next := n * (1000 + labelRoom) // where the label behind begins, in thousandths of a column; of two that are too near it stays
	for i, col := range slices.Backward(columns) {
		if col.label != "" && next-i*1000 >= n*labelRoom {
			c.Labels, next = append(c.Labels, chartLabel{X: percent(i*1000, n), Text: col.label}), i*1000
		}
	}
	slices.Reverse(c.Labels)
	return c
}

// percent is where thousandths of a column are, among n columns.
func percent(thousandths, n int) string {
	hundredths := thousandths * 10 / n // of a percent
	return strconv.Itoa(hundredths/100) + "." + strconv.Itoa(hundredths%100/10) + strconv.Itoa(hundredths%10) + "%"
}

// ticks are a few round steps from so far below 0 to the top.
func ticks(top, depth analytics.Int128) (all []analytics.Int128) {
	step := niceStep(top.Add(depth).Big())
	first, last := new(big.Int).Quo(depth.Big(), step), new(big.Int).Quo(top.Big(), step)
	for i := -first.Int64(); i <= last.Int64(); i++ {
		at, err := analytics.Int128FromBig(new(big.Int).Mul(step, big.NewInt(i)))
		if err != nil { // it is between two that there are
			break
		}
		all = append(all, at)
	}
	return all
}

// niceStep divides a span into a few round steps.
func niceStep(span *big.Int) *big.Int {
	ten, most := big.NewInt(10), big.NewInt(mostTicks)
	for unit := big.NewInt(100); ; unit.Mul(unit, ten) {
		for _, factor := range []int64{1, 2, 5} {
			step := new(big.Int).Mul(unit, big.NewInt(factor))
			if new(big.Int).Quo(span, step).Cmp(most) < 0 {
				return step
			}
		}
	}
}
