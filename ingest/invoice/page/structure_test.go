package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// billed is a page with a head of its own between the parties and the items.
func billed(head, foot string) string {
	return `Bauwerk Huber GmbH
Hofgasse 3
1010 Wien
UID: ATU33864707

Stadtbau Isar GmbH
Altstadt 101
1020 Wien

` + head + `

Leistung            Betrag in EUR
Mauerwerk                1.000,00

Summe netto              1.000,00
20 % USt                   200,00
Gesamtbetrag             1.200,00

` + foot
}

// Given a label that names another kind of document, one of several with their values a line lower, then it is no title.
func TestALabelAmongOthersIsNoTitle(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const labels = "Rechnungsnummer:\n              2026-0417\nAngebot\n              2026-0099\nRechnungsdatum:\n              06.05.2026"
	if kind, _, _ := reader.Read(typed.Document(billed("Rechnung\n"+labels, "")), Own{}); kind != Invoice {
		t.Errorf("an invoice that names an offer is of kind %d", kind)
	}
	offer := strings.ReplaceAll(billed("Angebot\n\n\nNummer:   2026-0417\nDatum:    06.05.2026", ""), "Gesamtbetrag", "Angebotssumme")
	if kind, _, _ := reader.Read(typed.Document(offer), Own{}); kind != NotAnInvoice {
		t.Errorf("an offer is of kind %d", kind)
	}
}

// Given three sums in a row without labels that close, then they may be net, tax and total where the rate of some country leads to a tax
// so large that chance would hardly; any two items add up to their total.
func TestARateTellsUnlabelledSums(t *testing.T) {
	v := testVocabulary(t)
	for sums, want := range map[string]bool{
		"10.000,00   1.900,00   11.900,00": true,
		"10.000,00   1.911,00   11.911,00": false,
		"100,00      19,00      119,00":    false, // a rate within a cent of most small figures
	} {
		b := newSheet(v, typed.Document("Leistungen im Mai   "+sums)).billing(nil)
		closing := 0
		for _, c := range b.bills {
			if c.closes() {
				closing++
				if got := b.reasoned(c); got != want {
					t.Errorf("%q: net and tax for a reason %v, want %v", sums, got, want)
				}
			}
		}
		if closing == 0 {
			t.Errorf("%q: nothing closes", sums)
		}
	}
}

// Given a tax id below an address under a name that isn't the supplier's, then it is that one's, whether a label says who he is or not.
func TestATaxIDBelowAnotherAddressIsNotTheSuppliers(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for buyer, want := range map[string]string{
		"Veretti d.o.o.\nCesta v Log 22\n1000 Ljubljana\nID za DDV: SI50223054\n": "",
		"Veretti d.o.o.\nCesta v Log 22\n1000 Ljubljana\n":                        "SI50223054",
	} {
		foot := ""
		if want != "" {
			foot = strings.Repeat("\n", 30) + "ID za DDV: SI50223054"
		}
		_, f, _ := reader.Read(typed.Document(`Gradnje Sava d.o.o.
Dunajska cesta 5
2000 Maribor
office@gradnje-sava.si

`+buyer+`
Račun št. 2026-0417
Datum izdaje: 06.05.2026

Opis               Znesek
Fasada             1.000,00

Neto               1.000,00
DDV 22 %             220,00
Skupaj za plačilo  1.220,00 EUR
`+foot), Own{})
		got := ""
		if f.SupplierTaxID != nil {
			got = f.SupplierTaxID.Value
		}
		if got != want {
			t.Errorf("read %q as the supplier's, want %q", got, want)
		}
	}
}

// Given a currency's abbreviation in a column of its own between label and sum, then the label is the sum's.
func TestACurrencyBetweenLabelAndSum(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, currency := range []string{"kr.", "Kč", "Ft", "lei", "EUR"} {
		_, f, _ := reader.Read(typed.Document(billed("Rechnung\nRechnungsnummer:   2026-0417\nRechnungsdatum:    06.05.2026",
			"Gesamtbetrag inkl. USt   "+currency+"   1.200,00")), Own{})
		if f.Gross == nil || f.Gross.Value != 120_000 {
			t.Errorf("behind %q the total is %+v", currency, f.Gross)
		}
		if got := withoutCurrency(fold([]rune(currency))); strings.Trim(got, " ") != "" {
			t.Errorf("%q leaves %q beside the currency", currency, got)
		}
	}
}

// Given credit notes that name the credited invoice with its day beside their own, in several languages, then the other document's day is
// not the day of issue.
func TestTheDayOfTheCreditedInvoice(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range []string{
		"Gutschrift Nr. AV2603-0118\nWien, 27.03.2026 — storniert teilweise die Rechnung LO2602-1904 vom 28.02.2026",
		"AVOIR AV2603-0118\nLyon, le 27/03/2026 — annule partiellement la facture LO2602-1904 du 28/02/2026",
		"Nota di credito n. AV2603-0118\nMilano, 27/03/2026 — storna in parte la fattura LO2602-1904 del 28/02/2026",
		"Dobropis č. AV2603-0118\nPraha, 27.03.2026 — částečně ruší fakturu LO2602-1904 ze dne 28.02.2026",
		"Dobropis št. AV2603-0118\nLjubljana, 27.03.2026 — delno razveljavlja račun LO2602-1904 z dne 28.02.2026",
		"Kreditnota nr. AV2603-0118\nOslo, 27.03.2026 — gjelder faktura LO2602-1904 av 28.02.2026",
	} {
		_, f, _ := reader.Read(typed.Document("Muster Bau GmbH\nMusterstr. 12\n12345 Musterstadt\n\n"+head+"\n\n"+closing), Own{})
		if f.Date == nil || f.Date.Value != "2026-03-27" {
			t.Errorf("%q: the day is %+v", head, f.Date)
		}
	}
}

// Given a table of vouchers below the invoice, with a column of days, then the day of issue is the labelled one of the invoice.
func TestAColumnOfDaysIsNoDayOfIssue(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	_, f, _ := reader.Read(typed.Document("Muster Bau GmbH\nMusterstr. 12\n12345 Musterstadt\n\n"+
		"FACTUUR      Nummer: 2603318      Datum: 31/05/26      Vervaldag: 30/06/26\n\n"+closing+
		"\n\nBon        Datum        Afvalstroom\nW88000     03/05/26     gemengd\nW88037     07/05/26     gemengd\n"+
		"W88074     11/05/26     gips\nW88111     15/05/26     gips\n"), Own{})
	if f.Date == nil || f.Date.Value != "2026-05-31" {
		t.Errorf("the day is %+v", f.Date)
	}
}
