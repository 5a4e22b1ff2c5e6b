package invoice_test

import (
	"fmt"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// Given tables of items with taxes, discounts and sums of their own, over one page or several, then
// the sums are those of the whole invoice.
func TestSumsBelowTablesOfItems(t *testing.T) {
	const foot = "=Nettobetrag|||1.000,00 €\n=USt. 20 %|||200,00 €\n=Gesamtbetrag|||1.200,00 €"
	cases := []struct{ name, table, want string }{
		{"gross and net per item", "#Bezeichnung|Netto|USt.|Brutto\nFenster|600,00|120,00|720,00\nTür|400,00|80,00|480,00\n" + foot,
			"100000 20000 120000"},
		{"rate per item", "#Bezeichnung|Menge|USt. %|Gesamt\nFenster|2|20 %|600,00\nTür|1|20 %|400,00\n" + foot, "100000 20000 120000"},
		{"one item as dear as all", "#Bezeichnung|Menge|Einzelpreis|Gesamt\nFenster|1|1.000,00|1.000,00\n" + foot, "100000 20000 120000"},
		{"discount per item", "#Description|Price|Discount|Total\nWindow|700.00|-100.00|600.00\nDoor|400.00|0.00|" +
			"400.00\n=Subtotal|||1,000.00 €\n=VAT 20 %|||200.00 €\n=Total|||1,200.00 €", "100000 20000 120000"},
		{"groups", "#Bezeichnung|Menge|Einzelpreis|Gesamt\nErdgeschoss\nFenster|1|600,00|600,00\n=Summe Erdgeschoss|||" +
			"600,00\nObergeschoss\nTür|1|400,00|400,00\n=Summe Obergeschoss|||400,00\n" + foot, "100000 20000 120000"},
		{"carried over", "#Bezeichnung|Menge|Einzelpreis|Gesamt\nFenster|1|600,00|600,00\n=Übertrag|||600,00 €\n\f\n" +
			"=Übertrag|||600,00 €\nTür|1|400,00|400,00\n" + foot, "100000 20000 120000"},
		{"carried over, french",
			"#Désignation|Qté|P.U. HT|Montant HT\nFenêtre|1|600,00|600,00\n=À reporter|||600,00 €\n\f\n=Report|||" +
				"600,00 €\nPorte|1|400,00|400,00\n=Total HT|||1 000,00 €\n=TVA 20 %|||200,00 €\n=Total TTC|||" +
				"1 200,00 €", "100000 20000 120000"},
		{"sum of the page", "#Bezeichnung|Menge|Einzelpreis|Gesamt\nFenster|1|600,00|600,00\n=Zwischensumme Seite 1|||" +
			"600,00 €\n\f\nTür|1|400,00|400,00\n" + foot, "100000 20000 120000"},
		{"totals on a page of their own",
			"#Bezeichnung|Menge|Einzelpreis|Gesamt\nFenster|1|600,00|600,00\nTür|1|400,00|400,00\n\f\n" + foot, "100000 20000 120000"},
		{"total row of the table",
			"#Pos|Net|VAT|Gross\nWindow|600.00|120.00|720.00\nDoor|400.00|80.00|480.00\n=Total EUR|1,000.00|200.00|1,200.00",
			"100000 20000 120000"},
		{"hours", "#Leistung|Stunden|Satz|Betrag\nPlanung|10,00 h|60,00 €|600,00 €\nBauleitung|8,00 h|50,00 €|400,00 €\n" + foot,
			"100000 20000 120000"},
		{"a credit among the items",
			"#Bezeichnung|Menge|Einzelpreis|Gesamt\nFenster|2|600,00|1.200,00\nGutschrift Transportschaden|1|-200,00|-200,00\n" + foot,
			"100000 20000 120000"},
		{"whole numbers", "#Bezeichnung|Menge|Einzelpreis|Gesamt\nFenster|1|600|600\nTür|1|400|400\n" + foot, "100000 20000 120000"},
		{"two rates by item", "#Artikel|MwSt|Einzel|Gesamt\nBuch|7 %|100,00|100,00\nLampe|19 %|900,00|900,00\n" +
			"=Summe netto|||1.000,00 €\n=MwSt. 7 %|||7,00 €\n=MwSt. 19 %|||171,00 €\n=Gesamtsumme|||1.178,00 €", "100000 17800 117800"},
		{"tax table before the total",
			"#Artikel|Menge|Einzel|Gesamt\nLampe|1|1.000,00|1.000,00\n#USt-Satz|Netto|USt|Brutto\n20 %|1.000,00|" +
				"200,00|1.200,00\n=Rechnungsbetrag|||1.200,00 €", "100000 20000 120000"},
		{"prices with tax", "#Article|Qty|Price incl. VAT|Total incl. VAT\nLamp|1|1,200.00|1,200.00\n=Total|||" +
			"1,200.00 €\n=of which VAT 20 %|||200.00 €", "100000 20000 120000"},
		{"retained", "#Leistung|||Betrag\nBauteil A|||1.000,00\n" + foot + "\n=Haftrücklass 5 %|||-60,00 €\n" +
			"=Überweisungsbetrag|||1.140,00 €", "100000 20000 120000"},
		{"earlier instalments",
			"#Leistung|||Betrag\nGesamtleistung bisher|||5.000,00\nabzüglich 1. Abschlagsrechnung|||-4.000,00\n" + foot,
			"100000 20000 120000"},
		{"final invoice", "=Gesamtleistung netto|||10.000,00 €\n=USt. 20 %|||2.000,00 €\n=Gesamtleistung brutto|||" +
			"12.000,00 €\n=abzügl. 1. Abschlagszahlung brutto|||-6.000,00 €\n=abzügl. 2. Abschlagszahlung brutto|||" +
			"-4.800,00 €\n=Restforderung|||1.200,00 €", "1000000 200000 1200000"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			first := pdftest.Sample()
			first.NetLabel, first.TaxLabel, first.GrossLabel, first.Terms, first.Title = "", "", "", "", "Rechnung"
			head := first.Page()
			var kept []pdftest.Text
			for _, x := range head.Texts {
				if x.Y < 295 || x.Y > 330 {
					kept = append(kept, x)
				}
			}
			head.Texts = kept
			pages := []pdftest.Page{head}
			y := 300.0
			for _, line := range strings.Split(c.table, "\n") {
				if line == "\f" {
					pages, y = append(pages, pdftest.Page{}), 80
					continue
				}
				p := &pages[len(pages)-1]
				for k, cell := range strings.Split(strings.TrimLeft(line, "=#"), "|") {
					x := []float64{60, 290, 370, 470}[k]
					if strings.HasPrefix(line, "=") && k == 0 {
						x = 200
					}
					if cell != "" {
						p.Texts = append(p.Texts, pdftest.Text{X: x, Y: y, Size: 9, Text: cell})
					}
				}
				y += 16
			}
			r := read(pdftest.Document{Pages: pages}.Bytes(), invoice.Options{})
			if got := fmt.Sprintf("%s %s %s", amount{r.Net}.show(), amount{r.Tax}.show(), amount{r.Gross}.show()); got != c.want {
				t.Errorf("%s %s\n got %s\nwant %s", r.Status, r.Detail, got, c.want)
			}
		})
	}
}
