package invoice_test

import (
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// Given an invoice whose sender is named in a line that runs up the edge of the page alone, then he is the supplier, whose tax id is that
// line's, and neither has a place on the page; a watermark across the page names nobody.
func TestTheSupplierAtTheEdgeOfThePage(t *testing.T) {
	p := pdftest.Page{Drawing: "BT /F1 8 Tf 0 1 -1 0 30 200 Tm " +
		"(Aeberli Suter Architekten GmbH, Industriestr. 4, 84028 Landshut, HRB 1234, USt-IdNr. DE136695976) Tj ET " +
		"BT /F1 60 Tf 0.7 0.7 -0.7 0.7 120 300 Tm (Entwurf GmbH) Tj ET"}
	p.Texts = []pdftest.Text{
		{X: 175, Y: 80, Text: "Baukonsortium Limmatfeld"}, {X: 175, Y: 93, Text: "Am Tabor 3"}, {X: 175, Y: 106, Text: "80331 München"},
		{X: 175, Y: 230, Size: 14, Text: "Rechnung 2026-0417"}, {X: 175, Y: 250, Text: "Datum 17.04.2026"},
		{X: 175, Y: 400, Text: "Nettobetrag"}, {X: 480, Y: 400, Text: "1.000,00 €"},
		{X: 175, Y: 414, Text: "19 % USt."}, {X: 480, Y: 414, Text: "190,00 €"},
		{X: 175, Y: 428, Text: "Gesamtbetrag"}, {X: 480, Y: 428, Text: "1.190,00 €"},
	}
	r := read(pdftest.Document{Pages: []pdftest.Page{p}}.Bytes(), invoice.Options{})
	if got := (text{r.SupplierName}).show(); got != "Aeberli Suter Architekten GmbH" {
		t.Errorf("%s %s: supplier %s", r.Status, r.Detail, got)
	}
	if got := (text{r.SupplierTaxID}).show(); got != "DE136695976" {
		t.Errorf("tax id %s", got)
	}
	if r.SupplierName != nil && r.SupplierName.Box != nil {
		t.Errorf("its box is %v", r.SupplierName.Box)
	}
}
