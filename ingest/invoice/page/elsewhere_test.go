package page

import (
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given bills without tax that say from what their fees are counted, or what else is owed to the biller, in larger sums than their own, then
// none of those is stated: the total is, or nothing.
func TestSumsOfSomethingElse(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		page  string
		gross int64
	}{
		"a building's cost, in an item": {`gemeente Polderwaard
Legesnota
Aanslagnummer      8801 4477 203
Dagtekening        09-02-2026
Vervaldatum        23-03-2026

Op grond van de Legesverordening 2026 bent u verschuldigd:
2.3.1.1 Bouwactiviteit, 2,15% over bouwkosten € 1.840.000                       € 39.560,00
2.3.9 Welstandsadvies                                                              € 463,50
Te betalen leges                                                                € 40.023,50
Over leges wordt geen btw geheven.
`, 4002350},
		"a loan's balance, in a sentence": {`Hypothekenbank Nord AG
                                                                  31.03.2026
Entgeltabrechnung I. Quartal 2026
Rechnung Nr. KF-881402

Bereitstellungsprovision, 3 Monate                               19.500,00 EUR
Avalprovision, 1 Quartal                                          1.800,00 EUR
Summe der Entgelte                                               21.300,00 EUR
Die Leistungen sind nach § 4 Nr. 8 UStG von der Umsatzsteuer befreit.
Ihr aktueller Saldo des Darlehens beträgt 21.900.000,00 EUR Soll.
`, 2130000},
	} {
		_, got, _ := reader.Read(typed.Document(c.page), Own{})
		if got.Gross != nil && got.Gross.Value != c.gross {
			t.Errorf("%s: gross %d", name, got.Gross.Value)
		}
	}
}

// Given a fee for arranging a loan whose total bears the loan's name, and no other sum is labelled, then it is the total.
func TestATotalNamedAfterALoan(t *testing.T) {
	s := sheetOf(t, "Loan arrangement fee   5,000.00\nTotal loan fees   5,000.00")
	_, all := s.byRules()
	own := []sum{}
	for _, sm := range all {
		if sm.role == roleGross {
			own = append(own, sm)
		}
	}
	if _, kept := s.ownSums(nil, own); len(kept) != len(own) || len(own) == 0 {
		t.Errorf("%d of %d totals kept", len(kept), len(own))
	}
}

// Given the largest sum of a page, what a fee is counted from, and nothing labelled, then no way to take the figures has it for the total.
func TestTheLargestSumMayBeOfSomethingElse(t *testing.T) {
	s := sheetOf(t, "Bouwactiviteit, 2,15% over bouwkosten € 1.840.000,00   € 39.560,00\nWelstandsadvies   € 463,50\nLeges   € 40.023,50")
	totals := map[int64]bool{}
	for _, b := range s.billing(nil).bills {
		totals[b.gross] = true
	}
	if totals[1_840_000_00*PerMinor] || !totals[40_023_50*PerMinor] {
		t.Errorf("totals %v", totals)
	}
}
