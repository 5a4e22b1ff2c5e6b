package page

import (
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given bills whose net sum has no label, or stands nowhere, then net, tax and total are what their figures, rates and words come to; where
// those don't agree, no more than the total is stated, and nothing where something was paid before.
func TestSumsWithoutALabelledNetSum(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const deed = `
Errichtung Kaufvertrag                EUR    3.120,00
Treuhandabwicklung                    EUR    2.096,10
                                      EUR    5.216,10
20% Umsatzsteuer                      EUR    1.043,22
Barauslagen (umsatzsteuerfrei):
  Eingabengebühr                      EUR       74,00
  Auszüge                             EUR       31,85
Summe                                 EUR    6.365,17`
	for name, c := range map[string]struct{ sums, want string }{
		"items, tax, total": {`
Beschwerde, 250 Punkte                         500,00 EUR
Ortsaugenschein                                125,00 EUR
PDV 25 %                                       156,25 EUR
SVEUKUPNO                                      781,25 EUR`, "62500 | 15625 | 78125"},
		"the same, but not by the rate": {`
Beschwerde, 250 Punkte                         500,00 EUR
Ortsaugenschein                                125,00 EUR
PDV 25 %                                       166,25 EUR
SVEUKUPNO                                      791,25 EUR`, "- | - | 79125"},
		"a subtotal without a label, and expenses beside the tax": {deed, "- | 104322 | 636517"},
		"the same, but something is missing":                      {strings.Replace(deed, "  Auszüge                             EUR       31,85\n", "", 1), "- | - | 636517"},
		"a tax on one of the items, as of insurance": {`
Premie                                EUR 1.843,50
Poliskosten                              EUR 12,50
Assurantiebelasting 21% over de premie  EUR 387,14
Te voldoen                            EUR 2.243,14

Verzekeringen zijn vrijgesteld van btw.`, "185600 | 38714 | 224314"},
		"in a sentence": {`
Für meine Bemühungen erlaube ich mir, Ihnen 14.25 Stunden zum vereinbarten Ansatz
von CHF 320.00, somit CHF 4'560.00, zuzüglich Auslagenpauschale von 3 %, CHF
136.80, zusammen CHF 4'696.80, sowie die Mehrwertsteuer von 8,1 % mit CHF
380.44 in Rechnung zu stellen. Der Gesamtbetrag beläuft sich auf CHF 5'077.24.`, "469680 | 38044 | 507724"},
		"in a sentence without a rate": {`
Für meine Bemühungen erlaube ich mir, Ihnen 14.25 Stunden zum vereinbarten Ansatz
von CHF 320.00, somit CHF 4'560.00, zuzüglich der Auslagen von CHF
136.80, zusammen CHF 4'696.80, sowie die Mehrwertsteuer mit CHF
380.44 in Rechnung zu stellen. Der Gesamtbetrag beläuft sich auf CHF 5'077.24.`, "- | - | 507724"},
		"a tax that is withheld of the total": {`
Honorarios                              3.200,00 €
I.V.A. 21 %                               672,00 €
Total minuta                            3.872,00 €
Retención I.R.P.F. 15 %                  -480,00 €
Líquido a percibir                      3.392,00 €`, "320000 | 67200 | 387200"},
		"a row of totals below headings, the sum of both below it": {`
Denumirea           Cant.    Valoarea -lei-     TVA -lei-
Tâmplărie PVC       43,50         18.760,50      3.939,71
Total                             18.760,50      3.939,71
Total de plată (lei)                            22.700,21`, "1876050 | 393971 | 2270021"},
		"a row of totals below headings, the sum of both above it": {`
VALOR A PAGAR
336,15 €

Taxa              Base         IVA
6%              182,40       10,94
23%              71,15       16,36
0%               55,30        0,00
Total           308,85       27,30`, "30885 | 2730 | 33615"},
		"rounded to whole crowns": {`
Takomläggning                        42 750,00
Netto                                42 750,00
Moms 25%                             10 687,50
Öresutjämning                             0,50
SUMMA ATT BETALA SEK                 53 438,00`, "4275000 | 1068750 | 5343800"},
		"not registered for tax, items that look like net and tax": {`
3 days at 425 per day                £1,275.00
Plots / printing                        £67.20
Total to pay                         £1,342.20

I am not registered for VAT.`, "134220 | 0 | 134220"},
		"what is left of all work so far, its total without a label": {`
Gesamtleistung bisher                   40.200,00
Mehrwertsteuer 8,1 %                     3.256,20
Total                                   43.456,20
bisher verrechnet 1. TR                -24.138,70
Zwischensumme                           17.870,03
Mehrwertsteuer 8,1 %                     1.447,47
                                        19.317,50`, "1787003 | 144747 | 1931750"},
		"a total, and the tax within it by its rate": {`
Mauerwerk                                 120,00 EUR
Gesamtbetrag                              120,00 EUR
20 % USt                                   20,00 EUR`, "10000 | 2000 | 12000"},
		"what is withheld is no tax": {`
Total minuta                            3.872,00 €
Retención                                -480,00 €
Líquido a percibir                      3.392,00 €`, "- | - | 387200"},
		"something was deducted in other words": {`
Malerarbeiten                           1.000,00 EUR
20 % USt                                  200,00 EUR
Ihre Überweisung                         -500,00 EUR
Summe                                     700,00 EUR`, "- | - | -"},
		"something was paid before": {`
Malerarbeiten                           1.000,00 EUR
20 % USt                                  200,00 EUR
Anzahlung vom 2.3.                       -500,00 EUR
Restbetrag                                700,00 EUR`, "- | - | -"},
	} {
		_, got, _ := reader.Read(typedBill(c.sums), Own{})
		if _, sums, _ := strings.Cut(brief(got), " | - | "); sums != c.want {
			t.Errorf("%s: %s, want %s", name, brief(got), c.want)
		}
	}
}

// Given labels of what is to be paid, of what is withheld, of rounding and of no tax, in the words of several languages, then they are
// told apart.
func TestRolesOfLabels(t *testing.T) {
	v := testVocabulary(t)
	for label, want := range map[string]role{
		"Líquido a percibir": rolePayable, "Ukupno za platiti": rolePayable, "Preostalo za platiti": rolePayable, "Líquido a receber": rolePayable,
		"Netto a pagare": rolePayable, "Til betaling": rolePayable, "Retención I.R.P.F. 15 %": roleOther, "Haftrücklass 5 %": roleOther,
		"Öresutjämning": roleRounding, "Assurantiebelasting 21 %": roleTax, "Versicherungsteuer 11 %": roleTax, "Totaal vooruitbetaald": roleOther,
		"Projekt folderu sprzedażowego": roleNone, "Plătit": roleOther,
	} {
		if got, _ := v.roleOf(fold([]rune(label))); got != want {
			t.Errorf("%q has the role %d, want %d", label, got, want)
		}
	}
	for _, said := range []string{"I am not registered for VAT.", "Nicht umsatzsteuerpflichtig", "Operazione senza IVA", "Exento de IVA", "Geen btw verschuldigd",
		"Nie jestem podatnikiem VAT", "Nie sme platiteľmi DPH", "Nisem zavezanec za DDV", "Nije obveznik PDV-a", "Nu este plătitor de TVA", "Ej momspliktig"} {
		if !v.noTax.MatchString(fold([]rune(said))) {
			t.Errorf("%q says that there is no tax", said)
		}
	}
}

// Given a total of which something is withheld, then no way to take the figures has that for its tax or net sum; what is printed without a
// sign, and all of a credit note, may be.
func TestWhatIsWithheldIsNoPartOfABill(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]bool{
		"Total minuta   3.872,00 €\nFondo   -480,00 €\nLíquido   3.392,00 €":       false,
		"Total minuta   3.872,00 €\nFondo   480,00 €\nLíquido   3.392,00 €":        true,
		"Total minuta   -3.872,00 €\nIVA   -480,00 €\nBase   -3.392,00 €":          true,
		"Total minuta   3.872,00 €\nAnticipo   -3.392,00 €\nIVA   480,00 €":        false,
		"Total minuta   -3.872,00 €\nIVA   480,00 €\nBase imponible   -3.392,00 €": true,
	} {
		s := newSheet(reader.vocabulary, typed.Document(page))
		got := slices.ContainsFunc(s.billing(s.sums()).bills, func(c *bill) bool { return c.closes() && c.tax == 480_0000 })
		if got != want {
			t.Errorf("%q: a bill with a tax of 480,00: %t, want %t", page, got, want)
		}
	}
}
