package explain_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/explain"
	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/invoice/text"
)

// drawn is a drawing: its elements with their attributes, and the texts in it.
func drawn(t *testing.T, result invoice.Result, doc text.Document) (elements []xml.StartElement, texts []string) {
	t.Helper()
	var b bytes.Buffer
	if err := explain.SVG(&b, result, doc); err != nil {
		t.Fatal(err)
	}
	reader := xml.NewDecoder(&b)
	for {
		token, err := reader.Token()
		if errors.Is(err, io.EOF) {
			return elements, texts
		}
		if err != nil {
			t.Fatalf("it is no XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			elements = append(elements, token.Copy())
		case xml.CharData:
			texts = append(texts, string(token))
		}
	}
}

// Given an invoice, then its drawing has its text, and a box around each value where it stands.
func TestEachValueHasItsBox(t *testing.T) {
	reader, err := invoice.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	result, doc := reader.Explain(t.Context(), pdftest.Sample().PDF(), invoice.Options{})
	_, texts := drawn(t, result, doc)
	for _, want := range []string{"Bauwerk Donau GmbH", "14.880,00 €", "gross", "gross: 1488000 (98 %, page 1, net + tax = gross)",
		fmt.Sprintf("invoiceNumber: 2026-0417 (%.0f %%, page 1, number label)", 100*result.Number.Confidence)} {
		if !slices.Contains(texts, want) {
			t.Errorf("%q isn't drawn", want)
		}
	}
	// The box of the gross encloses the cell that it is printed in.
	page := doc.Pages[0]
	box := result.Gross.Box
	for _, line := range page.Lines {
		for _, c := range line.Cells {
			inside := box.Left*page.Width <= c.X0+1 && box.Right*page.Width >= c.X1-1 && box.Top*page.Height < c.Y && box.Bottom*page.Height > c.Y
			if inside != (c.Text == "14.880,00 €") {
				t.Errorf("the box of the gross encloses %q: %t", c.Text, inside)
			}
		}
	}
}

// Whatever a file says, its drawing is a picture that runs nothing, fetches nothing, and stays within bounds.
func TestHostileTextsAreNothingButText(t *testing.T) {
	evil := `</text></svg><script>alert(1)</script><image href="https://evil.example/x"/>" onload="alert(2)` + "\x00\x1b[31m\u202e&#0;]]>"
	everywhere := &fields.Box{Left: math.Inf(-1), Top: math.NaN(), Right: math.MaxFloat64, Bottom: 1}
	on := fields.Evidence{Page: 1, Text: evil, Rule: evil, Confidence: math.NaN(), Box: everywhere}
	result := invoice.Result{Status: invoice.Status(evil), Reason: invoice.Reason(evil), Detail: evil,
		Invoice: fields.Invoice{Number: &fields.Text{Value: evil, Evidence: on}, Gross: &fields.Amount{Value: math.MinInt64, Evidence: on},
			Possible: []fields.Possible{{Field: evil, Value: evil, Evidence: on}}},
		Findings: []fields.Finding{{Rule: evil, Message: evil, Place: evil}},
	}
	cell := text.Cell{Text: evil + strings.Repeat("x", 100_000), X0: math.Inf(1), X1: math.NaN(), Y: -1e300, Size: math.Inf(1)}
	cells := slices.Repeat([]text.Cell{cell}, 20_000)
	doc := text.Document{Pages: slices.Repeat([]text.Page{
		{Number: 1, Width: math.NaN(), Height: 1e300, Lines: []text.Line{{Cells: cells}}}, {Number: 2, Width: 595, Height: 842},
	}, 1)}
	elements, texts := drawn(t, result, doc)
	for _, e := range elements {
		if !slices.Contains([]string{"svg", "rect", "text", "title"}, e.Name.Local) {
			t.Fatalf("there is a <%s>", e.Name.Local)
		}
		for _, a := range e.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") || strings.Contains(a.Value, "evil") ||
				strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
				t.Fatalf("<%s> has %s=%q", e.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	size := 0
	for _, s := range texts {
		size += len(s)
		if strings.ContainsAny(s, "\x00\x1b\u202e") {
			t.Fatalf("a text is %q", s)
		}
	}
	if size > 4<<20 {
		t.Errorf("the drawing has %d bytes of text", size)
	}
}
