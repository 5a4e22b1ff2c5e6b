package page

import (
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/typed"
)

// Given taxes of two rates that are printed without their rates, each in a line or as sums of their columns, then net is the
// rest of the total, and the tax all of them together; where they don't lead to the total, nothing is stated.
func TestTaxesWithoutTheirRates(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const bill = `Bauwerk Huber GmbH
Hofgasse 3
1010 Wien
UID: ATU33864707

Rechnung

Rechnungsnummer:   2026-0417
Rechnungsdatum:    06.05.2026

Leistung            Betrag in EUR
Mauerwerk                1.000,00
Bücher                     500,00

`
	for name, c := range map[string]struct {
		totals          string
		net, tax, gross int64 // 0: not known
		findings        int
	}{
		"a line for each": {`Summe netto              1.500,00
Mehrwertsteuer             200,00
Mehrwertsteuer              50,00
Gesamtbetrag             1.750,00`, 150000, 25000, 175000, 0},
		"lines that don't lead to the total": {`Summe netto              1.500,00
Mehrwertsteuer             200,00
Mehrwertsteuer              51,00
Gesamtbetrag             1.750,00`, 0, 0, 0, 1},
		"the sums of columns": {`Anteil    Posten        Abgabe     Zusammen
20 %       1.000,00     200,00  1.200,00
10 %         500,00      50,00    550,00
           1.500,00     250,00  1.750,00

Gesamtbetrag                     1.750,00`, 150000, 25000, 175000, 0},
	} {
		_, f, findings := reader.Read(typed.Document(bill+c.totals), Own{})
		value := func(a *fields.Amount) int64 {
			if a == nil {
				return 0
			}
			return a.Value
		}
		if value(f.Net) != c.net || value(f.Tax) != c.tax || value(f.Gross) != c.gross || len(findings) != c.findings {
			t.Errorf("%s: %d + %d = %d and %v", name, value(f.Net), value(f.Tax), value(f.Gross), findings)
		}
	}
}

// Given a charge whose label says, by the tax's name, that no tax applies to it, in several languages, then it is none: it is no second tax.
func TestWhatNoTaxAppliesToIsNoTax(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, lines := range []string{
		"Osnovica               302,60\nPDV 25%                 75,65\nPristojba (ne podliježe PDV-u)   10,62\nUKUPNO EUR             388,87",
		"Nettobetrag            302,60\nUSt 25 %                75,65\nGebühr (nicht steuerbar, ohne Ausweis von USt)   10,62\nGesamtbetrag EUR       388,87",
		"Imponibile             302,60\nIVA 25 %                75,65\nDiritti fissi (non soggetti IVA)   10,62\nTotale EUR             388,87",
		"Net                    302.60\nVAT 25%                 75.65\nDuty (not subject to VAT)   10.62\nTotal EUR              388.87",
	} {
		_, f, _ := reader.Read(typed.Document(paper("Rechnung", lines, "")), Own{})
		if f.Tax == nil || f.Tax.Value != 7565 || f.Gross == nil || f.Gross.Value != 38887 {
			t.Errorf("of\n%s\ntax %+v, gross %+v", lines, f.Tax, f.Gross)
		}
	}
}
