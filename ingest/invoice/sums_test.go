package invoice_test

import (
	"fmt"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// foot sets an invoice with the given rows below its items; cells of a row are
// separated by "|", the last ones stand at the right.
func foot(title string, rows ...string) []byte {
	v := pdftest.Sample()
	v.Title, v.NetLabel, v.TaxLabel, v.GrossLabel, v.Terms = title, "", "", "", ""
	p := v.Page()
	kept := p.Texts[:0]
	for _, text := range p.Texts {
		if text.Y < 295 || text.Y > 330 { // without the item, whose sum is another
			kept = append(kept, text)
		}
	}
	p.Texts = kept
	for i, r := range rows {
		y := 300 + 16*float64(i)
		cells := strings.Split(r, "|")
		if len(cells) == 1 {
			p.Texts = append(p.Texts, pdftest.Text{X: 60, Y: y, Text: cells[0]})
			continue
		}
		p.Texts = append(p.Texts, pdftest.Text{X: 230 - 70*float64(max(0, len(cells)-4)), Y: y, Text: cells[0]})
		for k, c := range cells[1:] {
			if c != "" {
				p.Texts = append(p.Texts, pdftest.Text{X: 500 - 75*float64(len(cells)-2-k), Y: y, Text: c})
			}
		}
	}
	return pdftest.Document{Pages: []pdftest.Page{p}}.Bytes()
}

// Given the foot of an invoice, then its sums are net, tax and gross of the whole, whatever else
// stands there; what is not certain is null.
func TestSumsAtTheFoot(t *testing.T) {
	var cases []struct{ name, want, rows string }
	add := func(name, want string, rows ...string) {
		cases = append(cases, struct{ name, want, rows string }{name, want, strings.Join(rows, "\n")})
	}
	add("two rates", "110000 | 19700 | 129700", "Summe netto|1.100,00 €", "zzgl. 19 % MwSt.|190,00 €", "zzgl. 7 % MwSt.|7,00 €",
		"Gesamtbetrag|1.297,00 €")
	add("two rates with bases", "110000 | 19700 | 129700", "Nettosumme|1.100,00 €", "USt. 19 % auf 1.000,00 €|190,00 €",
		"USt. 7 % auf 100,00 €|7,00 €", "Rechnungsbetrag|1.297,00 €")
	add("table of rates", "110000 | 19700 | 129700", "MwSt.-Satz|Netto|MwSt.|Brutto", "19 %|1.000,00|190,00|1.190,00",
		"7 %|100,00|7,00|107,00", "Summe|1.100,00|197,00|1.297,00")
	add("table of rates, french", "110000 | 20550 | 130550", "Taux|Base HT|Montant TVA", "20,00 %|1 000,00|200,00", "5,50 %|100,00|5,50",
		"Total HT|1 100,00 €", "Total TVA|205,50 €", "Total TTC|1 305,50 €")
	add("three rates, italian", "130000 | 23600 | 153600", "Imponibile 22%|1.000,00 €", "Imponibile 10%|100,00 €",
		"Imponibile 4%|200,00 €", "Totale imponibile|1.300,00 €", "Totale IVA|236,00 €", "Totale fattura|1.536,00 €")
	add("discount before tax", "90000 | 18000 | 108000", "Zwischensumme|1.000,00 €", "10 % Rabatt|-100,00 €", "Nettobetrag|900,00 €",
		"20 % USt.|180,00 €", "Gesamtbetrag|1.080,00 €")
	add("discount, french", "90000 | 18000 | 108000", "Sous-total HT|1 000,00 €", "Remise 10 %|-100,00 €", "Total HT|900,00 €",
		"TVA 20 %|180,00 €", "Total TTC|1 080,00 €")
	add("discount, english", "90000 | 18000 | 108000", "Subtotal|£1,000.00", "Discount (10%)|-£100.00", "Net total|£900.00",
		"VAT (20%)|£180.00", "Total|£1,080.00")
	add("prepayment", "1000000 | 200000 | 1200000", "Gesamt netto|10.000,00 €", "USt. 20 %|2.000,00 €", "Gesamt brutto|12.000,00 €",
		"abzgl. Abschlagszahlung vom 01.02.2026|-4.800,00 €", "Restbetrag|7.200,00 €")
	add("prepayment, english", "1000000 | 200000 | 1200000", "Subtotal|10,000.00 EUR", "VAT 20%|2,000.00 EUR", "Total|12,000.00 EUR",
		"Less deposit paid|-4,800.00 EUR", "Balance due|7,200.00 EUR")
	add("prepayment, french", "1000000 | 200000 | 1200000", "Total HT|10 000,00 €", "TVA 20 %|2 000,00 €", "Total TTC|12 000,00 €",
		"Acompte versé|-4 800,00 €", "Net à payer|7 200,00 €")
	add("prepayment, italian", "1000000 | 220000 | 1220000", "Imponibile|10.000,00 €", "IVA 22%|2.200,00 €", "Totale fattura|12.200,00 €",
		"Acconto versato|-4.880,00 €", "Netto a pagare|7.320,00 €")
	add("prepayment, spanish", "1000000 | 210000 | 1210000", "Base imponible|10.000,00 €", "IVA 21%|2.100,00 €",
		"Total factura|12.100,00 €", "Anticipo|-4.840,00 €", "Total a pagar|7.260,00 €")
	add("skonto", "1000000 | 200000 | 1200000", "Netto|10.000,00 €", "20 % MwSt.|2.000,00 €", "Brutto|12.000,00 €",
		"Bei Zahlung bis 20.04.2026 3 % Skonto|360,00 €", "Zahlbetrag bei Skonto|11.640,00 €")
	add("early payment, english", "1000000 | 200000 | 1200000", "Net amount|EUR 10,000.00", "VAT 20 %|EUR 2,000.00",
		"Total amount|EUR 12,000.00", "2 % discount if paid within 10 days|EUR 240.00")
	add("retention, spanish", "100000 | 21000 | 121000", "Base imponible|1.000,00 €", "IVA 21%|210,00 €", "Total factura|1.210,00 €",
		"Retención IRPF 15%|-150,00 €", "Total a pagar|1.060,00 €")
	add("withholding, italian", "100000 | 22000 | 122000", "Imponibile|1.000,00 €", "IVA 22%|220,00 €", "Totale fattura|1.220,00 €",
		"Ritenuta d'acconto 20%|-200,00 €", "Netto a pagare|1.020,00 €")
	add("security retained", "1000000 | 200000 | 1200000", "Nettosumme|10.000,00 €", "20 % USt.|2.000,00 €", "Bruttosumme|12.000,00 €",
		"abzgl. 5 % Deckungsrücklass|-600,00 €", "Auszahlungsbetrag|11.400,00 €")
	add("small business", "50000 | 0 | 50000", "Gesamtbetrag|500,00 €", "Gemäß § 19 UStG wird keine Umsatzsteuer berechnet.")
	add("small business, french", "50000 | 0 | 50000", "Total|500,00 €", "TVA non applicable, art. 293 B du CGI")
	add("small business, italian", "50000 | 0 | 50000", "Totale|500,00 €",
		"Operazione senza applicazione dell'IVA, regime forfettario art. 1 L. 190/2014")
	add("reverse charge", "500000 | 0 | 500000", "Nettobetrag|5.000,00 €", "USt. 0 %|0,00 €", "Gesamtbetrag|5.000,00 €",
		"Übergang der Steuerschuld auf den Leistungsempfänger (Reverse Charge)")
	add("reverse charge of building work", "500000 | 0 | 500000", "Rechnungsbetrag|5.000,00 €",
		"Steuerschuldnerschaft des Leistungsempfängers gemäß § 13b UStG")
	add("reverse charge, austrian", "500000 | 0 | 500000", "Gesamtbetrag|5.000,00 €",
		"Die Steuerschuld geht gemäß § 19 Abs. 1a UStG auf den Leistungsempfänger über.")
	add("reverse charge, english", "500000 | 0 | 500000", "Total|"+
		"EUR 5,000.00", "Reverse charge: VAT to be accounted for by the recipient")
	add("reverse charge, spanish", "500000 | 0 | 500000", "Total|5.000,00 €", "Inversión del sujeto pasivo")
	add("tax within", "10000 | 2000 | 12000", "Gesamtbetrag|120,00 €", "darin enthalten 20 % USt.|20,00 €")
	add("tax within, english", "10000 | 2000 | 12000", "Total|£120.00", "Includes VAT of|£20.00")
	add("tax within, french", "10000 | 2000 | 12000", "Total TTC|120,00 €", "dont TVA 20 %|20,00 €")
	add("swiss rounding", "778990 | 63098 | 842090", "Zwischentotal|CHF 7'789.90", "MWST 8.1 %|CHF 630.98", "Rundung|CHF 0.02",
		"Total CHF|8'420.90")
	add("shipping within net", "101000 | 20200 | 121200", "Warenwert|1.000,00 €", "Versandkosten|10,00 €", "Nettobetrag|1.010,00 €",
		"USt. 20 %|202,00 €", "Gesamtbetrag|1.212,00 €")
	add("carried over", "1000000 | 200000 | 1200000", "Übertrag|3.500,00 €", "Summe netto|10.000,00 €", "USt. 20 %|2.000,00 €",
		"Rechnungsbetrag|12.000,00 €")
	add("currency column", "1000000 | 200000 | 1200000", "Netto|EUR|10.000,00", "USt. 20 %|EUR|2.000,00", "Gesamt|EUR|12.000,00")
	add("gross per item", "1000000 | 200000 | 1200000", "Total excl. VAT|10,000.00", "VAT 20.00 %|2,000.00", "Total incl. VAT|12,000.00")
	add("instalment", "1000000 | 200000 | 1200000", "Leistungsstand netto|25.000,00 €",
		"abzüglich bisherige Abschläge netto|-15.000,00 €", "Nettobetrag|10.000,00 €", "20 % USt.|2.000,00 €",
		"Rechnungsbetrag|12.000,00 €")
	add("fee without tax", "- | 2000 | 12200", "Imponibile|100,00 €", "Bollo|2,00 €", "IVA 20%|20,00 €", "Totale documento|122,00 €")
	add("tourist tax", "- | 2000 | 22500", "Summe netto|200,00 €", "10 % USt.|20,00 €", "Ortstaxe|5,00 €", "Gesamtbetrag|225,00 €")
	add("headings over the sums", "100000 | 20000 | 120000", "|Nettobetrag|USt. 20 %|Gesamtbetrag", "|1.000,00 €|200,00 €|1.200,00 €")
	add("headings over the sums, french", "100000 | 20000 | 120000", "|TOTAL HT|TOTAL TVA|TOTAL TTC", "|1 000,00|200,00|1 200,00")
	add("headings over rate and sums", "100000 | 19000 | 119000", "|Netto EUR|MwSt. %|MwSt. EUR|Brutto EUR",
		"|1.000,00|19,00|190,00|1.190,00")
	add("tax within, in words", "100000 | 20000 | 120000", "Gesamtbetrag|1.200,00 €",
		"Im Gesamtbetrag sind 200,00 € MwSt. (20 %) enthalten.")
	add("tax within, behind", "100000 | 20000 | 120000", "Summe inkl. 20 % MwSt.|1.200,00 €", "darin MwSt. 20 %|200,00 €")
	add("labels with the currency", "100000 | 20000 | 120000", "Summe netto (EUR)|1.000,00", "20 % MwSt. (EUR)|200,00",
		"Rechnungsbetrag (EUR)|1.200,00")
	add("figures without cents", "100000 | 20000 | 120000", "Nettobetrag|1.000 €", "USt. 20 %|200 €", "Gesamtbetrag|1.200 €")
	add("three decimals in rates", "100000 | 5500 | 105500", "Total HT|1 000,00 €", "TVA 5,500 %|55,00 €", "Total TTC|1 055,00 €")
	add("american", "100000 | 8250 | 108250", "Subtotal|$1,000.00", "Sales tax (8.25%)|$82.50", "Total due|$1,082.50")
	add("american with shipping", "- | 8250 | 109250", "Subtotal|$1,000.00", "Shipping|$10.00", "Sales tax|$82.50", "Total|$1,092.50")
	add("canadian", "100000 | 14975 | 114975", "Subtotal|$1,000.00", "GST 5%|$50.00", "QST 9.975%|$99.75", "Total|$1,149.75")
	add("zero rate and another", "100000 | 18000 | 118000", "Nettobetrag|1.000,00 €", "USt. 0 %|0,00 €", "USt. 20 %|180,00 €",
		"Gesamtbetrag|1.180,00 €")
	add("paid already", "100000 | 20000 | 120000", "Nettobetrag|1.000,00 €", "USt. 20 %|200,00 €", "Gesamtbetrag|1.200,00 €",
		"Bereits bezahlt|1.200,00 €", "Offener Betrag|0,00 €")
	add("tax within, french words", "100000 | 20000 | 120000", "Total TTC|1 200,00 €", "dont 200,00 € de TVA")
	add("balance brought forward", "- | - | -", "Charges of this month|£1,200.00", "Previous balance|£300.00", "Total to pay|£1,500.00")
	add("what is left alone", "- | - | -", "Anzahlung vom 01.02.2026|-500,00 €", "Restbetrag|700,00 €")
	add("what does not agree", "- | - | -", "Nettobetrag|1.000,00 €", "USt. 20 %|190,00 €", "Gesamtbetrag|1.200,00 €")
	add("what agrees with other figures alone", "- | - | -",
		"Gerüst|200,00 €", "Nettobetrag|1.000,00 €", "USt. 20 %|190,00 €", "Gesamtbetrag|1.200,00 €")
	add("two items and their total", "- | - | 32000", "Delivery of goods|£300.00", "Collection|£20.00", "Total|£320.00")
	add("an unknown total", "- | - | -", "Total Gruppe A|1.000,00 €", "Zu zahlen|1.300,00 €")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := read(foot("RECHNUNG", strings.Split(c.rows, "\n")...), invoice.Options{})
			if got := fmt.Sprintf("%s | %s | %s", amount{r.Net}.show(), amount{r.Tax}.show(), amount{r.Gross}.show()); got != c.want {
				t.Errorf("%s %s\n got %s\nwant %s", r.Status, r.Detail, got, c.want)
			}
		})
	}
}

// Given a net sum, a tax and a total that contradict each other, then none of them is stated, and a finding says why.
func TestSumsThatContradictEachOtherAreAFinding(t *testing.T) {
	r := read(foot("RECHNUNG", "Nettobetrag|1.000,00 €", "USt. 20 %|190,00 €", "Gesamtbetrag|1.200,00 €"), invoice.Options{})
	if r.Net != nil || r.Tax != nil || r.Gross != nil {
		t.Errorf("%s: contradictory sums were stated", values(r))
	}
	if len(r.Findings) != 1 || r.Findings[0].Rule != "sums-disagree" || r.Findings[0].Place != fields.Gross || r.Findings[0].Box == nil {
		t.Errorf("findings %+v, want one of sums-disagree at the total", r.Findings)
	}
	r = read(foot("RECHNUNG", "Nettobetrag|1.000,00 €", "USt. 20 %|200,00 €", "Gesamtbetrag|1.200,00 €"), invoice.Options{})
	if len(r.Findings) > 0 {
		t.Errorf("findings %+v of sums that agree", r.Findings)
	}
}

// Given totals whose labels no lexicon holds, then they are read: in a row under headings, beside a table, above their parts.
func TestTotalsOfUnknownLabelsAreRead(t *testing.T) {
	for name, rows := range map[string][]string{
		"headings":      {"|Leistungsentgelt|Steuer|Endsumme", "Summen|1.000,00 €|200,00 €|1.200,00 €"},
		"table":         {"|Satz|Basis|Steuer", "|20 %|1.000,00|200,00", "Endstand|1.200,00 €"},
		"labels":        {"Leistungsentgelt|1.000,00 €", "Abgabe 20 %|200,00 €", "Endstand|1.200,00 €"},
		"gross on top":  {"Endstand|1.200,00 €", "Leistungsentgelt|1.000,00 €", "USt. 20 %|200,00 €"},
		"taxes by rate": {"USt.|20 %|1.000,00 €|200,00 €", "Zahlbetrag|1.200,00 €"},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(foot("RECHNUNG", rows...), invoice.Options{})
			got := fmt.Sprintf("%s | %s | %s", amount{r.Net}.show(), amount{r.Tax}.show(), amount{r.Gross}.show())
			if got != "100000 | 20000 | 120000" {
				t.Errorf("%s %s: got %s", r.Status, r.Detail, got)
			}
		})
	}
}
