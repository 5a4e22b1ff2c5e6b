// Package explain draws what was read of an invoice on its pages, as one SVG that needs nothing else: no script, no font, no
// address. What stands in it comes from strangers, so all of it is written as text.
package explain

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/text"
	"tallyhouse/ingest/untrusted"
)

// Bounds of a drawing. A page is drawn as far as it holds more.
const (
	maxPages = 100
	maxCells = 5_000 // of a page
	maxChars = 300   // of a cell
	maxSide  = 5_000 // points
)

// The legend beside the pages, in points.
const (
	legendWidth = 380
	lineHeight  = 14
	margin      = 20
)

// colors of the fields' boxes, in the order of fields.Names.
var colors = []string{"#0b6e4f", "#1f5fbf", "#7b2cbf", "#b3541e", "#8d6e00", "#00798c", "#c2185b", "#ad343e", "#d00000"}

// SVG draws the pages of a document as the reader saw them, with a box around each value and a dashed one around what else was
// possible, and beside them what was read.
func SVG(w io.Writer, result invoice.Result, doc text.Document) error {
	d := &drawing{out: bufio.NewWriter(w)}
	pages := doc.Pages[:min(len(doc.Pages), maxPages)]
	width, height := 0.0, float64(margin)
	for _, p := range pages {
		width = max(width, side(p.Width))
		height += side(p.Height) + margin
	}
	lines := legend(result)
	height = max(height, float64(len(lines)+2)*lineHeight)
	d.print(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" font-family="Helvetica, Arial, sans-serif">`+"\n",
		number(width+legendWidth+3*margin), number(height))
	d.print(`<rect width="100%%" height="100%%" fill="#e8e8e8"/>` + "\n")
	y := float64(margin)
	for _, p := range pages {
		d.page(p, y, marksOf(result, p.Number))
		y += side(p.Height) + margin
	}
	for i, l := range lines {
		d.text(width+2*margin, float64(i+2)*lineHeight, 10, l.color, l.text)
	}
	d.print("</svg>\n")
	if d.err != nil {
		return fmt.Errorf("draw an invoice: %w", d.err)
	}
	return d.out.Flush()
}

// side is the length of a page's side, within what can be drawn.
func side(v float64) float64 {
	if !(v > 0) { // nor NaN
		return 0
	}
	return min(v, maxSide)
}

// mark is a box on a page.
type mark struct {
	fields.Box
	color, name, title string
	dashed             bool
}

// marksOf are the boxes of a page: first what else was possible, so that the values lie above it.
func marksOf(result invoice.Result, page int) (all []mark) {
	for _, p := range result.Possible {
		if p.Page == page && p.Box != nil {
			all = append(all, mark{Box: *p.Box, color: colorOf(p.Field), dashed: true, title: sentence(p.Field+", possible", p.Value, p.Evidence)})
		}
	}
	for _, v := range values(result) {
		if v.Page == page && v.Box != nil {
			all = append(all, mark{Box: *v.Box, color: colorOf(v.Field), name: v.Field, title: sentence(v.Field, v.Value, v.Evidence)})
		}
	}
	return all
}

// values are the fields that have one, in their order.
func values(r invoice.Result) (all []fields.Possible) {
	for _, f := range []struct {
		name   string
		text   *fields.Text
		amount *fields.Amount
	}{{fields.Number, r.Number, nil}, {fields.Date, r.Date, nil}, {fields.DueDate, r.DueDate, nil},
		{fields.SupplierName, r.SupplierName, nil}, {fields.SupplierTaxID, r.SupplierTaxID, nil}, {fields.SupplierIBAN, r.SupplierIBAN, nil},
		{fields.Currency, r.Currency, nil},
		{fields.Net, nil, r.Net}, {fields.Tax, nil, r.Tax}, {fields.Gross, nil, r.Gross}} {
		switch {
		case f.text != nil:
			all = append(all, fields.Possible{Field: f.name, Value: f.text.Value, Evidence: f.text.Evidence})
		case f.amount != nil:
			all = append(all, fields.Possible{Field: f.name, Value: strconv.FormatInt(f.amount.Value, 10), Evidence: f.amount.Evidence})
		}
	}
	return all
}

func colorOf(field string) string {
	for i, name := range fields.Names() {
		if name == field {
			return colors[i%len(colors)]
		}
	}
	return "#444"
}

func sentence(what, value string, e fields.Evidence) string {
	at := fmt.Sprintf("page %d", e.Page)
	if e.Page == 0 {
		at = "the e-invoice"
	}
	return fmt.Sprintf("%s: %s (%d %%, %s, %s)", what, value, int(math.Round(e.Confidence*100)), at, cmp.Or(e.Rule, "no rule"))
}

// legendLine is a line beside the pages.
type legendLine struct{ text, color string }

func legend(r invoice.Result) (all []legendLine) {
	const black, gray = "#111", "#555"
	add := func(color, format string, args ...any) {
		const most = 90 // characters that fit
		all = append(all, legendLine{untrusted.Cut(untrusted.Line(fmt.Sprintf(format, args...)), most), color})
	}
	add(black, "%s %s", r.Status, r.Reason)
	if r.Detail != "" {
		add(gray, "%s", r.Detail)
	}
	for _, v := range values(r) {
		add(colorOf(v.Field), "%s", sentence(v.Field, v.Value, v.Evidence))
	}
	for _, p := range r.Possible {
		add(gray, "%s", sentence(p.Field+", possible", p.Value, p.Evidence))
	}
	for _, f := range r.Findings {
		add(black, "%s: %s", f.Rule, f.Message)
	}
	return all
}

// drawing writes; its first error ends it.
type drawing struct {
	out *bufio.Writer
	err error
}

func (d *drawing) print(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.out, format, args...)
	}
}

func (d *drawing) page(p text.Page, y float64, marks []mark) {
	width, height := side(p.Width), side(p.Height)
	d.print(`<svg x="%d" y="%s" width="%s" height="%s"><rect width="100%%" height="100%%" fill="#fff"/>`+"\n", margin, number(y),
		number(width), number(height))
	cells := 0
	for _, line := range p.Lines {
		for _, c := range line.Cells {
			if cells++; cells <= maxCells {
				d.cell(c, p.Left)
			}
		}
	}
	for _, m := range marks {
		dash := ""
		if m.dashed {
			dash = ` stroke-dasharray="3 2"`
		}
		left, top := m.Left*width, m.Top*height
		d.print(`<rect x="%s" y="%s" width="%s" height="%s" fill="%s" fill-opacity="0.1" stroke="%s"%s><title>%s</title></rect>`+"\n",
			number(left), number(top), number((m.Right-m.Left)*width), number((m.Bottom-m.Top)*height), m.color, m.color, dash,
			escaped(m.title))
		if m.name != "" {
			d.text(left, max(top-1.5, 6), 6, m.color, m.name)
		}
	}
	d.print("</svg>\n")
}

// cell writes what stands on the page, as wide as it is there.
func (d *drawing) cell(c text.Cell, left float64) {
	s := escaped(untrusted.Cut(c.Text, maxChars))
	if s == "" {
		return
	}
	d.print(`<text x="%s" y="%s" font-size="%s" fill="#222" textLength="%s" lengthAdjust="spacingAndGlyphs">%s</text>`+"\n",
		number(c.X0-left), number(c.Y), number(min(max(c.Size, 1), 100)), number(max(c.X1-c.X0, 1)), s)
}

func (d *drawing) text(x, y, size float64, color, s string) {
	d.print(`<text x="%s" y="%s" font-size="%s" fill="%s">%s</text>`+"\n", number(x), number(y), number(size), color, escaped(s))
}

// number is a coordinate, within what a viewer can place.
func number(v float64) string {
	if math.IsNaN(v) {
		v = 0
	}
	return strconv.FormatFloat(max(-2*maxSide, min(v, 1e6)), 'f', 2, 64)
}

// escaped is a text that is nothing but text, in an element or an attribute.
func escaped(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(untrusted.Line(s))); err != nil {
		return ""
	}
	return b.String()
}
