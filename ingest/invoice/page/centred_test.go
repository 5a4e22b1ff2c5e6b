package page

import (
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
	"tallyhouse/ingest/invoice/text"
)

// Given a cell of two lines and what stands beside it half a line lower, then a figure belongs to the first of the lines; words do not, nor
// figures below lines of their own or under one of the cell's.
func TestFiguresInTheMiddleOfACell(t *testing.T) {
	line := func(y, x0, x1 float64, words string) text.Line {
		return text.Line{Y: y, Cells: []text.Cell{{Text: words, X0: x0, X1: x1, Y: y, Size: 10}}}
	}
	first, second := line(500, 300, 480, "VAT (0% on €409.00) reverse"), line(511, 300, 330, "charge")
	for name, c := range map[string]struct {
		lines []text.Line
		want  string
	}{
		"a figure":                   {[]text.Line{first, line(505.5, 518, 544, "€0.00"), second}, "VAT (0% on €409.00) reverse + €0.00 | charge"},
		"a figure with its currency": {[]text.Line{first, line(505.5, 518, 544, "0.00 EUR"), second}, "VAT (0% on €409.00) reverse + 0.00 EUR | charge"},
		"words":                      {[]text.Line{first, line(505.5, 518, 580, "Rheinstraße 5"), second}, "VAT (0% on €409.00) reverse | Rheinstraße 5 | charge"},
		"a figure under the cell":    {[]text.Line{first, line(505.5, 400, 426, "€0.00"), second}, "VAT (0% on €409.00) reverse | €0.00 | charge"},
		"lines of two columns":       {[]text.Line{first, line(505.5, 518, 544, "€0.00"), line(511, 40, 90, "Total")}, "VAT (0% on €409.00) reverse | €0.00 | Total"},
		"lines a whole line apart":   {[]text.Line{first, line(511, 518, 544, "€0.00"), line(522, 300, 330, "charge")}, "VAT (0% on €409.00) reverse | €0.00 | charge"},
		"nothing below it":           {[]text.Line{first, line(505.5, 518, 544, "€0.00")}, "VAT (0% on €409.00) reverse | €0.00"},
		"a figure beside a table on the left": {[]text.Line{first, {Y: 507, Cells: []text.Cell{line(507, 40, 90, "20 %").Cells[0],
			line(505.5, 518, 544, "€0.00").Cells[0]}}, second}, "VAT (0% on €409.00) reverse + €0.00 | 20 % | charge"},
		"a figure with words of its own": {[]text.Line{first, {Y: 505.5, Cells: []text.Cell{line(505.5, 485, 510, "Tax").Cells[0],
			line(505.5, 518, 544, "€0.00").Cells[0]}}, second}, "VAT (0% on €409.00) reverse | Tax + €0.00 | charge"},
		"a label that has its figure": {[]text.Line{{Y: 500, Cells: []text.Cell{first.Cells[0], line(500, 518, 544, "€1.00").Cells[0]}},
			line(505.5, 518, 544, "€0.00"), second}, "VAT (0% on €409.00) reverse + €1.00 | €0.00 | charge"},
		"a paragraph that goes on": {[]text.Line{first, line(505.5, 518, 544, "€0.00"), second, line(522, 300, 360, "of the buyer")},
			"VAT (0% on €409.00) reverse | €0.00 | charge | of the buyer"},
		"a figure above both of them": {[]text.Line{line(494.5, 518, 544, "€0.00"), first, second}, "€0.00 | VAT (0% on €409.00) reverse | charge"},
	} {
		t.Run(name, func(t *testing.T) {
			var rows []string
			for _, l := range centred(c.lines) {
				var cells []string
				for _, cell := range l.Cells {
					cells = append(cells, cell.Text)
				}
				rows = append(rows, strings.Join(cells, " + "))
			}
			if got := strings.Join(rows, " | "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Given a bill of software whose tax has a label of two lines with its figure in their middle, then net, tax and total are read.
func TestATaxInTheMiddleOfItsLabel(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	doc := typed.Document(`Invoice
Invoice number   8C41F7D2-0019
Date of issue    October 4, 2026
Plotdesk Software Limited                    Bill to
Grand Canal Quay, Dublin 2                   Isarkante Projekt GmbH
IE VAT IE3915028EH                           DE VAT DE318744200

Description                                  Qty        Amount
Plotdesk Team                                12         €409.00

                                  Subtotal              €409.00
                                  VAT - Germany (0% on €409.00) reverse
                                  charge
                                  Total                 €409.00
                                  Amount paid           €409.00
                                  Amount remaining        €0.00`)
	lines := doc.Pages[0].Lines
	label := slices.IndexFunc(lines, func(l text.Line) bool { return strings.HasPrefix(l.Cells[0].Text, "VAT - Germany") })
	value := text.Cell{Text: "€0.00", X0: 500, X1: 530, Y: lines[label].Y + 6, Size: 10}
	doc.Pages[0].Lines = slices.Insert(lines, label+1, text.Line{Y: value.Y, Cells: []text.Cell{value}})
	if _, got, _ := reader.Read(doc, Own{}); brief(got) != "8C41F7D2-0019 | 2026-10-04 | - | 40900 | 0 | 40900" {
		t.Errorf("got %s", brief(got))
	}
}
