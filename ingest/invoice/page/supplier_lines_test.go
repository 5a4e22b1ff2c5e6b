package page

import (
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/typed"
)

const billedWork = `
Rechnung Nr. 2026-118                 12.03.2026

Erdarbeiten                             600,00
Baustelleneinrichtung                   400,00
Summe netto                           1.000,00
20 % USt                                200,00
Rechnungsbetrag EUR                   1.200,00
`

// Given a letter whose head names no company, only a mark or what kind of body the sender is, then the
// supplier is the company whose line below the sums holds its tax id and account or register's entry, else the name in the head.
func TestTheCompanyBelowTheSums(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ page, name, id string }{
		"a trade name, the buyer behind 'pro'": {"STRÁŽ BOHEMIA bezpečnostní agentura\n\n" +
			"Pro: Nová Palmovka Development s.r.o., Sokolovská 9900, Praha 8, DIČ CZ49134647\n" + billedWork +
			"\nStráž Bohemia security s.r.o., Na Žertvách 880, 180 00 Praha 8, IČ 36959618, DIČ CZ36959618, IBAN CZ65 0800 0000 1920 0014 5399\n",
			"Stráž Bohemia security s.r.o.", "CZ36959618"},
		"what kind of body it is": {"WASSERVERBAND TRIESTINGTAL-OST\nKörperschaft öffentlichen Rechts\n2552 Hirtenberg, Am Hochbehälter 1\n\n\n" +
			"Industriepark Entwicklungs GmbH\nOpernring 1109/4\n1010 Wien\n" + billedWork + "\nIBAN AT09 7614 4421 4004 3653 · UID ATU62093601\n",
			"WASSERVERBAND TRIESTINGTAL-OST", "ATU62093601"},
		"the form in words behind the name, its id in the next line, an agency in the head": {"MATÉRIO'SUD\n\nAgence de Vénissieux\n" +
			"52 avenue Francis de Pressensé 69200\nTél 04 78 00 11 34\n\n                             Rivage Promotion SAS\n" +
			"                             18 quai Rambaud\n                             69002 Lyon\n" + billedWork +
			"\nMatériaux et Négoce du Sud-Est — Société par actions simplifiée au capital de 3 240 000 € — 305927147 RCS Aix-en-\n" +
			"Provence — N° TVA FR61305927147\n",
			"Matériaux et Négoce du Sud-Est", "FR61305927147"},
	} {
		t.Run(name, func(t *testing.T) {
			_, f, _ := reader.Read(typed.Document(c.page), Own{})
			if got := stated(f.SupplierName); got != c.name {
				t.Errorf("the supplier is %q, want %q", got, c.name)
			}
			if got := stated(f.SupplierTaxID); got != c.id {
				t.Errorf("his tax id is %q, want %q", got, c.id)
			}
		})
	}
}

// stated is a text as it is stated, "" where it isn't certain.
func stated(text *fields.Text) string {
	if text == nil || text.Confidence < fields.Certain {
		return ""
	}
	return text.Value
}

// Given parties over addresses, then what stands below a town, its province or country, is no name, nor is a department alone.
func TestWhatEndsAnAddressIsNoName(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := reader.Read(typed.Document(`MARISOL
Calle Primavera 26
18006 Granada
Granada
España
                                                   Pedro Carrasco Molina
                                                   Calle Málaga 4
                                                   18151 Ogíjares
                                                   Granada
                                                   España

Factura INV/2026/00002
Fecha de factura                        Fecha de vencimiento
24/04/2026                              24/04/2026

Descripción                             Cantidad   Precio unitario   Impuestos   Importe
Ordenador                               1,00       2.469,00          21% G       2.469,00 €
                                                   Importe base                  2.469,00 €
                                                   IVA 21%                         518,49 €
                                                   Total                         2.987,49 €
`), Own{})
	if s := newSheet(reader.vocabulary, typed.Document("x")); s.nameLike("Financiële administratie") || s.nameLike("Accounts") {
		t.Error("a department is a name")
	}
	if name := stated(got.SupplierName); name != "" && name != "MARISOL" {
		t.Errorf("supplier %s", name)
	}
}

// Given a text of the head that is the place of the letter's day, or the second half of a name, then it is no name.
func TestWhatIsNoNameInTheHead(t *testing.T) {
	v := testVocabulary(t)
	s := newSheet(v, typed.Document("Nevenka Bulić\nSplit, Domovinskog rata 880\n\nSplit, 16.03.2026. u 11:42\nZadar, Obala 7"))
	if !s.townOfLetter("Split") || s.townOfLetter("Zadar") || s.townOfLetter("Nevenka Bulić") {
		t.Error("the place of the letter's day isn't told from other texts")
	}
	for text, want := range map[string]bool{
		"und Geoinformatik AG": false, "et Fils SARL": false, "e Figli S.r.l.": false, "Amstad Vermessung AG": true, "e-bau GmbH": true,
		"Anstalt des öffentlichen Rechts": false, "Wasserverband Ost": true, "Établissement public local": false,
		"UG (haftungsbeschränkt)": false, "Sp. z o.o. Sp. k.": false, "SA/NV": false, "Unipessoal Lda": false, "Bau UG (haftungsbeschränkt)": true,
		"Notarin": false, "Rechtsanwälte": true, "p.h.G. Hohenstein Verwaltungs-GmbH": false,
		"Eenmanszaak": false, "UNITED KINGDOM": false, "Republic of Ireland": false, "Stadtwerke Ost, Anstalt des öffentlichen Rechts": true,
	} {
		if got := v.nameLike(text); got != want {
			t.Errorf("%q: a name %v, want %v", text, got, want)
		}
	}
}

// Given a name on two lines that are set to the right, then it is read whole.
func TestANameOverTwoLinesOnTheRight(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	right := func(line string) string { return strings.Repeat(" ", 70-len([]rune(line))) + line + "\n" }
	page := right("Amstad Vermessung") + right("und Geoinformatik AG") + right("Kernserstrasse 88") + right("6060 Sarnen") +
		right("CHE-796.251.096 MWST") + "\nBaukonsortium Riedmatt\nDorfplatz 101\n6064 Kerns\n" + billedWork
	_, f, _ := reader.Read(typed.Document(page), Own{})
	if got := stated(f.SupplierName); got != "Amstad Vermessung und Geoinformatik AG" {
		t.Errorf("the supplier is %q", got)
	}
}

// Given a company in the block of the tax id whose line says no more than a trade and a legal form, then the line above belongs to its name.
// What goes on behind a comma, as members of a board do, is no name, and a street behind the form is no part of one.
func TestNamesInTheBlockOfTheTaxID(t *testing.T) {
	for lines, want := range map[string]string{
		"Hollmann Brandt\nRechtsanwälte PartG mbB\nUSt-IdNr. DE136695976":                "Hollmann Brandt Rechtsanwälte PartG mbB",
		"Musterstadt\n\n\nRechtsanwälte PartG mbB\nUSt-IdNr. DE136695976":                "Rechtsanwälte PartG mbB",
		"Unser Handwerk\nHollmann Dach GmbH\nUSt-IdNr. DE136695976":                      "Hollmann Dach GmbH",
		"Vorstand: Dr. Wiebke Harms,\nTorsten Kühl\nUSt-IdNr. DE136695976":               "",
		"Kallenbach Baustoffhandels-GmbH, Sitz Fulda\nUSt-IdNr. DE136695976":             "Kallenbach Baustoffhandels-GmbH",
		"Kiilto ja Kumppanit Oy Hitsaajankatu 22, 00810 Helsinki\nUSt-IdNr. DE136695976": "Kiilto ja Kumppanit Oy",
		"Kiilto ja Kumppanit AG Abteilung Buchhaltung\nUSt-IdNr. DE136695976":            "Kiilto ja Kumppanit AG",
		"Kiilto Ltd Accounts Department\nUSt-IdNr. DE136695976":                          "Kiilto Ltd",
		"Wohnbau GmbH & Co. Objekt Allee 12 KG\nUSt-IdNr. DE136695976":                   "Wohnbau GmbH & Co. Objekt Allee 12 KG",
	} {
		s := sheetOf(t, lines)
		got := ""
		s.nearTaxID(s.rows[len(s.rows)-1][0], map[*item]bool{}, func(name string, _ *item, rule, how string) {
			if how == "company" || rule == ruleIDLine {
				got = s.cleanName(name)
			}
			if name == "Torsten Kühl" {
				t.Errorf("%q: a member of the board is the supplier", lines)
			}
		})
		if got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

// Given a name, then it is whole where it begins with its legal form.
func TestANameThatBeginsWithItsForm(t *testing.T) {
	s := newSheet(testVocabulary(t), typed.Document("x"))
	for name, want := range map[string]bool{"SRL Lhoest & Van Aerde": true, "Lhoest SRL": false, "SRL": false, "Notaires": false} {
		if got := s.formFirst(name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
}

// Given the entry of a register at the foot of a page, then what stands above it may name its owner, but not who goes on a list.
func TestNamesAboveARegister(t *testing.T) {
	for lines, want := range map[string]bool{"Geschäftsführung\nTorsten Kühl": true, "Vorstand: Dr. Wiebke Harms,\nTorsten Kühl": false} {
		s, got := sheetOf(t, strings.Repeat("\n", 60)+lines+"\nAmtsgericht Hamburg HRB 5518"), false
		s.legalNotice(map[*item]bool{}, func(name string, _ *item, _, _ string) { got = got || name == "Torsten Kühl" })
		if got != want {
			t.Errorf("%q: %t, want %t", lines, got, want)
		}
	}
}

// Given a label of who is paid, then a company behind it is the seller; an office or a bank may be paid for him.
func TestWhoIsPaid(t *testing.T) {
	for lines, want := range map[string]string{
		"REMIT TO\nTri-Mesa Equipment Rentals, Inc.\nDallas, TX 75284": "Tri-Mesa Equipment Rentals, Inc.",
		"REMIT TO\nContoso Billing\nDallas, TX 75284":                  "",
	} {
		got := ""
		sheetOf(t, lines).sellerLabels(func(name string, _ *item, _, _ string) { got = name })
		if got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

// Given a name over an address alone and a company in whose block the only tax id stands, then the company has the imprint, with an account
// there or without; a name that tells more of itself is no addressee.
func TestTheOnlyTaxIDBesideAnAddress(t *testing.T) {
	for more, want := range map[string]bool{"": true, "Tel. 040 5551234": false} {
		s := sheetOf(t, "Nordufer Quartier GmbH\nElbchaussee 9\n22765 Hamburg\n"+more+strings.Repeat("\n", 12)+
			strings.Repeat(" ", 60)+"Sandtor Recht GmbH\n"+strings.Repeat(" ", 60)+"USt-IdNr. DE136695976")
		id := s.rows[len(s.rows)-1][0]
		all := s.names(Own{}, map[*item]bool{}, id)
		s.tie(all, id)
		of := func(name string) *named {
			i := slices.IndexFunc(all, func(c named) bool { return c.name == name })
			if i < 0 {
				t.Fatalf("%s is not among %d names", name, len(all))
			}
			return &all[i]
		}
		if got := s.imprinted(of("Sandtor Recht GmbH"), of("Nordufer Quartier GmbH"), map[*item]bool{}); got != want {
			t.Errorf("with %q: %t, want %t", more, got, want)
		}
	}
}

// Given a company's line below the sums with its tax id, then it is an imprint where it has an account, too.
func TestALineOfATaxIDAlone(t *testing.T) {
	for more, want := range map[string]bool{"": false, " IBAN DE89 3704 0044 0532 0130 00": true} {
		s := sheetOf(t, "Sandtor\n\nA   1,00\nB   1,00\nC   2,00\n\nSandtor Recht GmbH, USt-IdNr. DE136695976"+more)
		company := &named{name: "Sandtor Recht GmbH", key: "SANDTORRECHTGMBH", whole: "SANDTORRECHTGMBH", form: true, it: s.rows[len(s.rows)-1][0],
			ties: map[tie]bool{tieID: true, tieAccount: more != ""}}
		mark := &named{name: "Sandtor", key: "SANDTOR", whole: "SANDTOR", it: s.rows[0][0], ties: map[tie]bool{tieHead: true}}
		if got := s.imprinted(company, mark, map[*item]bool{}); got != want {
			t.Errorf("with %q: %t, want %t", more, got, want)
		}
	}
}
