package invoice_test

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// Given what invoices say of number, day and currency at their head, in sentences, titles, tables and
// two calendars, then these are read, or null where they are not certain.
func TestNumbersDaysAndCurrenciesAtTheHead(t *testing.T) {
	const euros = "Nettobetrag|1.000,00 €|USt. 20 %|200,00 €|Gesamtbetrag|1.200,00 €"
	cases := []struct{ name, city, head, sums, want string }{
		{"title with number", "1020 Wien", "Rechnung 2026-0417|Wien, am 17.04.2026", euros, "2026-0417 2026-04-17 EUR 120000"},
		{"title with number and day", "1020 Wien", "Rechnung Nr. 17/2026 vom 17. April 2026", euros, "17/2026 2026-04-17 EUR 120000"},
		{"hash", "London EC1A 1BB", "INVOICE #10442|Date: 17 Apr 2026", "Subtotal|£1,000.00|VAT 20%|£200.00|Total|£1,200.00",
			"10442 2026-04-17 GBP 120000"},
		{"french sentence", "33000 Bordeaux", "Facture FA-2026-001 du 17/04/2026|Bordeaux, le 17 avril 2026",
			"Total HT|1 000,00 €|TVA 20 %|200,00 €|Total TTC|1 200,00 €", "FA-2026-001 2026-04-17 EUR 120000"},
		{"italian sentence", "20121 Milano", "Fattura n. 12/A del 17/04/2026",
			"Imponibile|1.000,00 €|IVA 22 %|220,00 €|Totale fattura|1.220,00 €", "12/A 2026-04-17 EUR 122000"},
		{"spanish", "28013 Madrid", "Factura Nº: A-2026-15|Madrid, a 17 de abril de 2026",
			"Base imponible|1.000,00 €|IVA 21 %|210,00 €|Total|1.210,00 €", "A-2026-15 2026-04-17 EUR 121000"},
		{"american", "Austin, TX 78701", "INVOICE|Invoice # INV-3337|Invoice Date 04/17/2026|Due Date 05/05/2026",
			"Subtotal|$1,000.00|Sales Tax 8.25%|$82.50|Total|$1,082.50", "INV-3337 2026-04-17 USD 108250"},
		{"american, any day", "Austin, TX 78701", "INVOICE|Invoice No: 3337|Date: 04/05/2026",
			"Subtotal|USD 1,000.00|Tax|USD 82.50|Total|USD 1,082.50", "3337 2026-04-05 USD 108250"},
		{"british, any day", "London EC1A 1BB", "INVOICE|Invoice No: 3337|Date: 04/05/2026",
			"Subtotal|£1,000.00|VAT 20%|£200.00|Total|£1,200.00", "3337 2026-05-04 GBP 120000"},
		{"month in words", "London EC1A 1BB", "INVOICE|Invoice No: 3337|Date: April 17th, 2026",
			"Subtotal|£1,000.00|VAT 20%|£200.00|Total|£1,200.00", "3337 2026-04-17 GBP 120000"},
		{"franc in front", "8001 Zürich", "Rechnung Nr. 4711|Zürich, 17.04.2026",
			"Zwischentotal|Fr. 1'000.00|MWST 8.1%|Fr. 81.00|Total|Fr. 1'081.00", "4711 2026-04-17 CHF 108100"},
		{"whole francs", "8001 Zürich", "Rechnung Nr. 4711|Zürich, 17.04.2026",
			"Zwischentotal|CHF 1'000.--|MWST 8.1%|CHF 81.--|Total|CHF 1'081.--", "4711 2026-04-17 CHF 108100"},
		{"swiss, euro", "8001 Zürich", "Rechnung Nr. 4711|Zürich, 17.04.2026",
			"Zwischentotal|EUR 1'000.00|MWST 8.1%|EUR 81.00|Total|EUR 1'081.00", "4711 2026-04-17 EUR 108100"},
		{"polish", "00-950 Warszawa", "Faktura VAT nr FV/12/2026|Data wystawienia: 17.04.2026",
			"Razem netto|1 000,00 PLN|VAT 23%|230,00 PLN|Razem brutto|1 230,00 PLN", "FV/12/2026 2026-04-17 PLN 123000"},
		{"dutch", "1017 GC Amsterdam", "Factuur|Factuurnummer: 2026-0417|Factuurdatum: 17-04-2026",
			"Subtotaal|€ 1.000,00|BTW 21%|€ 210,00|Totaal|€ 1.210,00", "2026-0417 2026-04-17 EUR 121000"},
		{"portuguese", "1000-205 Lisboa", "Fatura|Fatura n.º FT 2026/12|Data de emissão: 17/04/2026",
			"Subtotal|1.000,00 €|IVA 23%|230,00 €|Total|1.230,00 €", "FT 2026/12 2026-04-17 EUR 123000"},
		{"swedish", "111 22 Stockholm", "Faktura|Fakturanummer: 4711|Fakturadatum: 2026-04-17",
			"Netto|1 000,00 SEK|Moms 25%|250,00 SEK|Totalt|1 250,00 SEK", "4711 2026-04-17 SEK 125000"},
		{"danish", "1050 København", "Faktura|Fakturanr.: 4711|Fakturadato: 17.04.2026",
			"Subtotal|1.000,00 kr.|Moms 25%|250,00 kr.|Total DKK|1.250,00", "4711 2026-04-17 DKK 125000"},
		{"letters and blanks", "1020 Wien", "Rechnung|Rechnungsnummer: RE 2026 0417|Datum: 17.04.2026", euros, "* 2026-04-17 EUR 120000"},
		{"replaced invoice", "1020 Wien",
			"Rechnung|Rechnungsnummer: 2026-0418|Ersetzt Rechnung Nr. 2026-0417 vom 10.04.2026|Rechnungsdatum: 17.04.2026", euros,
			"2026-0418 2026-04-17 EUR 120000"},
		{"page numbers", "1020 Wien", "Rechnung Nr. 2026-0417 Seite 1 von 1|Datum 17.04.2026", euros, "2026-0417 2026-04-17 EUR 120000"},
		{"customer before", "1020 Wien", "Rechnung|Kunde: 50444 Rechnung: 2026-0417 Datum: 17.04.2026", euros,
			"2026-0417 2026-04-17 EUR 120000"},
		{"service month", "1020 Wien",
			"Rechnung Nr. 4711|Leistung im April 2026|Rechnungsdatum 17.04.2026|Lieferdatum entspricht Rechnungsdatum", euros,
			"4711 2026-04-17 EUR 120000"},
		{"no day", "1020 Wien", "Rechnung Nr. 4711|Leistungszeitraum 01.03.2026 - 31.03.2026", euros, "4711 - EUR 120000"},
		{"two currencies", "1020 Wien", "Rechnung Nr. 4711|Datum 17.04.2026", euros + "|entspricht|USD 1.310,00",
			"4711 2026-04-17 EUR 120000"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var p pdftest.Page
			at := func(x, y float64, text string) {
				p.Texts = append(p.Texts, pdftest.Text{X: x, Y: y, Size: 10, Text: text})
			}
			at(60, 50, "Bauwerk Donau Ltd")
			at(60, 64, "Long Street 7")
			at(60, 78, c.city)
			for i, line := range []string{"Northern Homes Ltd", "Mill Lane 5", c.city} {
				at(60, 140+13*float64(i), line)
			}
			for i, line := range strings.Split(c.head, "|") {
				at(60, 230+15*float64(i), line)
			}
			cells := strings.Split(c.sums, "|")
			for i := 0; i+1 < len(cells); i += 2 {
				at(300, 400+7*float64(i), cells[i])
				at(480, 400+7*float64(i), cells[i+1])
			}
			r := read(pdftest.Document{Pages: []pdftest.Page{p}}.Bytes(), invoice.Options{})
			got := strings.Join([]string{text{r.Number}.show(), text{r.Date}.show(), text{r.Currency}.show(), amount{r.Gross}.show()}, " ")
			if rest, any := strings.CutPrefix(c.want, "*"); got != c.want && !(any && strings.HasSuffix(got, rest)) {
				t.Errorf("%s %s\n got %s\nwant %s", r.Status, r.Detail, got, c.want)
			}
		})
	}
}
