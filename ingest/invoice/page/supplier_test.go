package page

import (
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given the head of a system through which invoices are sent, as its programs print it, then the seller below is the supplier.
func TestASystemOfInvoicesIsNoSupplier(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{"Krajowy System e-Faktur", "Sistema di Interscambio", "Portail Public de Facturation", "Chorus Pro",
		"Online Számla", "RO e-Factura", "VeriFactu"} {
		_, f, _ := reader.Read(typed.Document(system+`

                                 Numer Faktury:
                                 FA/2026/417

Sprzedawca                       Nabywca
NIP: 5260250995                  NIP: 6808208874
Nazwa: Bartek, Syn and Wnuk      Nazwa: Strzelec LLC
ul. Polna 3                      ul. Lipowa 7
20-892 Lublin                    28-068 Radom

Data wystawienia: 31.10.2026

Lp. Nazwa        Ilość   Wartość netto
1   Tynkowanie   1          1 000,00 PLN

    Razem netto              1 000,00 PLN
    VAT 23%                    230,00 PLN
    Kwota należności ogółem  1 230,00 PLN
`), Own{})
		if f.SupplierName == nil || f.SupplierName.Value != "Bartek, Syn and Wnuk" {
			t.Errorf("below %s the supplier is %+v", system, f.SupplierName)
		}
	}
}

// Given a name at the top that is the likeliest, then one under the seller's label and its own outdoes it when it is
// nearly as likely: portals set their own name above the parties.
func TestALabelledSupplierOutdoesThePortal(t *testing.T) {
	labelled := named{whole: "acme", rule: ruleSeller, how: byName, share: 0.4}
	portal := named{whole: "portal", rule: ruleLetterhead, share: 0.5}
	company := named{whole: "acmegmbh", form: true, rule: ruleSeller, how: byName, share: 0.2, it: &item{page: 1, row: 8}}
	person := func(row int) named {
		return named{whole: "eve", rule: ruleIDBlock, share: 0.7, it: &item{page: 1, row: row}}
	}
	placed := func(share float64) named {
		return named{whole: "portal", rule: ruleLetterhead, share: share, ties: map[tie]bool{tieHead: true, tieAgain: true}}
	}
	for name, c := range map[string]struct {
		seller, likeliest named
		want              bool
	}{
		"barely likelier":           {labelled, portal, true},
		"much likelier":             {labelled, named{whole: "portal", rule: ruleLetterhead, share: 0.7}, false},
		"placed, not much likelier": {labelled, placed(0.7), true},
		"placed, much likelier":     {labelled, placed(1.3), false},
		"labelled itself":           {labelled, named{whole: "other", rule: ruleSeller, share: 0.5}, false},
		"without a label of a name": {named{whole: "acme", rule: ruleSeller, share: 0.4}, portal, false},
		"the same name":             {labelled, named{whole: "acme", rule: ruleLetterhead, share: 0.5}, false},
		"whom to ask, in its block": {company, person(12), true},
		"another, above its block":  {company, person(5), false},
		"another, far below":        {company, person(60), false},
	} {
		if got := c.seller.outdoes(&c.likeliest); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Given a name and a phrase of the same party, right above or below it, then the name is stated, not the phrase, unless that has a legal
// form or a label; phrases of others say nothing.
func TestANameRatherThanThePhraseBelowIt(t *testing.T) {
	at := func(row int) *item { return &item{page: 1, row: row, x0: 50, x1: 200, y: float64(12 * row), size: 10} }
	who := named{name: "Architektin DI Sabine Kröll", whole: "ARCHITEKTINDISABINEKROLL", it: at(1)}
	const licence = "Staatlich befugte und beeidete Ziviltechnikerin"
	for name, c := range map[string]struct {
		likeliest named
		want      bool
	}{
		"what she is licensed for":  {named{name: licence, it: at(2)}, true},
		"with a legal form":         {named{name: licence, form: true, it: at(2)}, false},
		"with a seller's label":     {named{name: licence, it: at(2), ties: map[tie]bool{tieLabel: true}}, false},
		"far below":                 {named{name: licence, it: at(6)}, false},
		"a person in small letters": {named{name: "mag. judith thalhammer", person: true, it: at(2)}, false},
		"a name with short words":   {named{name: "Kröll von der Au und Co", it: at(2)}, false},
		"a name of two words":       {named{name: "Ziviltechnikerin Kröll", it: at(2)}, false},
	} {
		c.likeliest.whole = "OTHER"
		if got := who.rather(&c.likeliest); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Given the one address that isn't the labelled buyer's, with a name and a phrase over it, then the name is whose it is, not the phrase next
// to the address.
func TestTheOnlyAddressIsTheNamesNotThePhrases(t *testing.T) {
	s := newSheet(testVocabulary(t), set(`Architektin DI Sabine Kröll
Staatlich befugte und beeidete Ziviltechnikerin
Marktplatz 4
4810 Gmunden


Rechnung an:
Lofts Gmunden GmbH
Seeweg 2
4810 Gmunden
`, "", ""))
	if only := s.onlyBlock(s.buyers()); only == nil || only.text() != "Architektin DI Sabine Kröll" {
		t.Errorf("the only block is of %v, want the architect's", only)
	}
}
