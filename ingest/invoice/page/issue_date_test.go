package page

import (
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given an invoice whose day of issue has a label, and other days elsewhere, then it is issued on that day: whatever the label says in
// parentheses, and though another day, of an exchange rate or a delivery, stands in a line that goes on from the one above.
func TestTheDayOfIssueBesideOthers(t *testing.T) {
	reader, err := NewReader()
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct{ dated, item string }{
		"a remark behind the label":   {"Data (zi/lună/an): 12/03/2026", "Proiectare"},
		"a rate of exchange":          {"Data (zi/lună/an): 12/03/2026", "Avans: 64.000,00 EUR la curs BNR 5,0842\nlei/EUR din 11/03/2026"},
		"a delivery in a broken line": {"Data: 12/03/2026", "Tâmplărie conform aviz, livrare la șantier\nîn Giroc din 02/03/2026"},
	} {
		const head, sums = "Constructim Banat S.R.L.\nCIF: RO28418209\n\nFACTURĂ\nNumăr: CB-118\n", "\n\nTotal 100,00\nTVA 21% 21,00\nTotal de plată 121,00 lei\n"
		_, got, _ := reader.Read(typed.Document(head+c.dated+"\nScadența: 27/03/2026\n\n"+c.item+sums), Own{})
		if got.Date == nil || got.Date.Value != "2026-03-12" {
			t.Errorf("%s: issued %v", what, got.Date)
		}
	}
}
