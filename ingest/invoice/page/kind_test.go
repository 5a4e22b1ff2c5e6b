package page

import (
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// paper is a bill with a title, totals and what stands below them.
func paper(title, totals, below string) string {
	return `Bauwerk Huber GmbH
Hofgasse 3
1010 Wien
UID: ATU33864707

` + title + `

Nr.:               2026-0417
Datum:             06.05.2026

Leistung            Betrag in EUR
Mauerwerk                1.000,00

` + totals + `

` + below + `
`
}

const closing = `Summe netto              1.000,00
20 % Mehrwertsteuer        200,00
Gesamtbetrag             1.200,00`

// Given documents of titles that are known and not, then those are invoices that are called so, or that carry all that one has and are
// called nothing else; and what is called a credit below the total is another document.
func TestKindsOfDocuments(t *testing.T) {
	reader, err := NewReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		paper string
		want  Kind
	}{
		"an invoice": {paper("Rechnung", closing, ""), Invoice},
		"a title that nobody knows, net, tax, total": {paper("Wupperzettel", closing, ""), Invoice},
		"the same without a tax":                     {paper("Wupperzettel", "Gesamtbetrag 1.000,00", ""), NotAnInvoice},
		"the same with a day by which to pay":        {paper("Wupperzettel", "Gesamtbetrag 1.000,00", "Zahlbar bis: 05.06.2026"), Invoice},
		"a quote":                                    {paper("Angebot", closing, ""), NotAnInvoice},
		"a credit note":                              {paper("Gutschrift", closing, ""), CreditNote},
		"a credit named below the total":             {paper("Wupperzettel", closing, "Storno zu Rechnung 2026-0399 vom 02.05.2026"), Invoice},
		"a credit named above the total":             {paper("Storno zu Rechnung 2026-0399 vom 02.05.2026", closing, ""), CreditNote},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _, _ := reader.Read(typed.Document(c.paper), Own{}); got != c.want {
				t.Errorf("the kind is %d, want %d", got, c.want)
			}
		})
	}
}

// Given labels of sums without and with tax, also such as end like others begin, then they are told apart.
func TestWithoutTaxIsNotWithTax(t *testing.T) {
	v := testVocabulary(t)
	for label, want := range map[string]role{
		"Znesek brez DDV": roleNet, "Skupaj brez davka": roleNet, "Znesek z DDV": roleGross, "Skupaj z davkom": roleGross,
		"Celkem bez daně": roleNet, "Celkem s daní": roleGross, "Iznos bez PDV-a": roleNet, "Total sans TVA": roleNet,
		"Totaal excl. btw": roleNet, "Betrag ohne MwSt.": roleNet, "Betrag mit MwSt.": roleGross,
	} {
		if got, _ := v.roleOf(fold([]rune(label))); got != want {
			t.Errorf("%q has the role %d, want %d", label, got, want)
		}
	}
}
