package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/fields"
)

// sumsOf are net, tax and gross of an invoice, as brief has them.
func sumsOf(f fields.Invoice) string {
	return strings.Join(strings.Split(brief(f), " | ")[3:], " | ")
}

// Given a final invoice with a table of the partial ones that it settles, then their sums and the row that adds them up aren't taken for its own;
// what is the only table of sums is.
func TestTablesOfOtherInvoices(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const own = `
Schlussrechnungssumme netto                                     437.460,14
abzüglich Teilrechnungen                                        330.000,00
Offener Nettobetrag                                             107.460,14
20 % Umsatzsteuer                                                21.492,03
Noch zu zahlen                                                  128.952,17
`
	const table = `
Rechnung      Datum         netto EUR      20 % USt EUR     brutto EUR
25/231        14.11.2025    150.000,00     30.000,00        180.000,00
26/034        20.02.2026    180.000,00     36.000,00        216.000,00
`
	const total = `Summe Teilrechnungen        330.000,00     66.000,00        396.000,00
`
	for name, c := range map[string]struct{ sums, want string }{
		"with a row that adds them up":      {own + table + total, "10746014 | 2149203 | 12895217"},
		"above the sums":                    {table + total + own, "10746014 | 2149203 | 12895217"},
		"without that row":                  {own + table, "10746014 | 2149203 | 12895217"},
		"under the heading of their number": {own + "\nRechnungs-Nr." + table[len("\nRechnung"):] + total, "10746014 | 2149203 | 12895217"},
		"no other sums":                     {table + total, "33000000 | 6600000 | 39600000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, f, _ := reader.Read(typedBill(c.sums), Own{})
			if got := sumsOf(f); got != c.want {
				t.Errorf("read %s, want %s", got, c.want)
			}
		})
	}
}

// Given an invoice without tax of which a part is withheld, then its total is what it was before that.
func TestWhatIsWithheldIsPartOfTheTotal(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ sums, want string }{
		"no tax is due, as a row says": {`
Rechnungsbetrag netto                                95.330,00
Umsatzsteuer 0 % (Übergang der Steuerschuld)              0,00
5 % Deckungsrücklass                                 -4.766,50
Zahlbetrag EUR                                       90.563,50
`, "9533000 | 0 | 9533000"},
		"rows with numbers, in another language": {`
1. Vrednost vseh izvršenih del                      241.800,00
2. Po prejšnjih situacijah                          160.425,00
3. DDV - obrnjena davčna obveznost po 76.a členu          0,00
4. Znesek situacije v EUR                            81.375,00
5. Zadržana sredstva 10 %                             8.137,50
6. Ostane za izplačilo                               73.237,50
`, "8137500 | 0 | 8137500"},
		"a tax that is in none of the sums": {`
Rechnungsbetrag netto                                95.330,00
20 % Umsatzsteuer                                    19.066,00
5 % Deckungsrücklass                                 -4.766,50
Zahlbetrag EUR                                       90.563,50
`, "- | - | -"},
		"a tax is": {`
Rechnungsbetrag netto                                95.330,00
20 % Umsatzsteuer                                    19.066,00
Rechnungsbetrag brutto                              114.396,00
5 % Deckungsrücklass                                 -5.719,80
Zahlbetrag EUR                                      108.676,20
`, "9533000 | 1906600 | 11439600"},
	} {
		t.Run(name, func(t *testing.T) {
			_, f, _ := reader.Read(typedBill(c.sums), Own{})
			if got := sumsOf(f); got != c.want {
				t.Errorf("read %s, want %s", got, c.want)
			}
		})
	}
}
