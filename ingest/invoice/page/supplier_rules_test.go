package page

import (
	"slices"
	"testing"
)

// Given lines below names in law and others, then those below a company's name describe it, unless they have a name in law themselves.
func TestWhatStandsBelowACompanysName(t *testing.T) {
	for lines, want := range map[string]bool{
		"Gallagher Nolan LLP\nSOLICITORS & NOTARIES":        true,
		"Lofts GmbH\nAbteilung Technik":                     true,
		"Gallagher Nolan\nSOLICITORS & NOTARIES":            false,
		"Lofts GmbH\nBerger Holding AG":                     false,
		"Lofts GmbH\nGemeinde Mondsee":                      false,
		"Lofts GmbH\n                    Abteilung Technik": false,
		// Lines of the address below a legal form on a line of its own.
		"Moyle Valley Works\nLimited\nMill Park\nNavan\nCo. Meath":       true,
		"Moyle Valley Works\nLimited\nMill Park\nMeath Board GmbH":       false,
		"Moyle Valley Works\nLimited\n\n\nCo. Meath":                     false,
		"Moyle Valley Works\nA 12\nMill Park\nNavan\nCo. Meath":          false,
		"Moyle Valley Works\nLimited\nMill Park\n             Co. Meath": false,
	} {
		s := sheetOf(t, lines)
		if got := s.describes(s.rows[len(s.rows)-1][0]); got != want {
			t.Errorf("%q: %t, want %t", lines, got, want)
		}
	}
}

// Given a name and a line below it, then that begins another company's lines where it names one and is nothing else, or stands further
// below; what may be the rest of the name, or tells whose it is, doesn't.
func TestWhereAnothersLinesBegin(t *testing.T) {
	for lines, want := range map[string]bool{
		"Franchise SE\nRLK Realkontor Linz GmbH":               true,
		"Realkontor\nLinz GmbH":                                false,
		"Franchise SE\n& Co. KG":                               false,
		"Kronbau GmbH\nEin Unternehmen der Kronbau Holding AG": false,
		"Kronbau GmbH\nKronbau Holding AG, 4614 Marchtrenk":    false,
		"Kronbau GmbH\nHof 3\nMoser AG, 4614 Marchtrenk":       true,
		"Kronbau GmbH\nHof 3\nKronbau GmbH, 4614 Marchtrenk":   false,
		"Kronbau GmbH\nLinzer Straße 3":                        false,
	} {
		s := sheetOf(t, lines)
		c := named{it: s.rows[0][0], key: s.rows[0][0].key, form: s.inLaw(s.rows[0][0].text())}
		if got := s.beginsAnothers(s.rows[len(s.rows)-1][0], c); got != want {
			t.Errorf("%q: %t, want %t", lines, got, want)
		}
	}
}

// Given lines that begin with a name and go on without a mark, then the name ends with its legal form where a register's entry follows.
func TestANameThroughItsForm(t *testing.T) {
	s := sheetOf(t, "Zeile")
	for line, want := range map[string]string{
		"Beton Tulln GmbH & Co KG Firmensitz Tulln FN 78114s UID-Nr. ATU29604176": "Beton Tulln GmbH & Co KG",
		"Beton Tulln GmbH Handel und Gewerbe":                                     "Beton Tulln GmbH Handel und Gewerbe",
		"Beton Tulln Handelsregister Wels HRB 4711":                               "Beton Tulln Handelsregister Wels HRB 4711",
	} {
		if got := s.throughItsForm(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// Given words that are no name by themselves, then a company's name may hold them behind its beginning, and nobody else's.
func TestWordsWithinNames(t *testing.T) {
	v := testVocabulary(t)
	for name, want := range map[string]bool{
		"Nordlicht Telefon GmbH": true, "Hansa-Marschland VVaG": true, "Telefon Nordlicht GmbH": false, "Nordlicht Telefon": false,
	} {
		if got := v.nameLike(name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
	if !v.inLaw("Hansa-Marschland VVaG") {
		t.Error("a mutual insurer's name is none in law")
	}
}

// Given an address over a tax id that is called "yours", then it is the buyer's, but where words say that the buyer issued the document.
func TestWhoIsToldYourTaxID(t *testing.T) {
	const address = "Sonnblick Bauträger GmbH\nAlpenstraße 117\n5020 Salzburg\n"
	for lines, want := range map[string]bool{
		address + "Ihre UID: ATU72405630":                                          true,
		address + "UID: ATU72405630":                                               false,
		address + "Bitte geben Sie Ihre UID: ATU72405630":                          false,
		address + "Ihre UID: ATU72405630\nGutschrift durch den Leistungsempfänger": false,
	} {
		s := sheetOf(t, lines)
		if got := s.buyers()[s.rows[0][0]]; got != want {
			t.Errorf("%q: the buyer %t, want %t (self-billed %t)", lines, got, want, s.saysSelfBilled())
		}
	}
}

// Given lines that begin with a name, then its legal form stands behind it where the capital follows.
func TestTheFormBehindAName(t *testing.T) {
	for line, want := range map[string]bool{
		"Négoce du Sud — Société par actions simplifiée au capital de 3 240 000 €": true,
		"Négoce du Sud, SARL au capital de 8 000 €":                                true,
		"Négoce du Sud — Société par actions simplifiée":                           false,
		"Négoce du Sud — Société anonyme Durand au capital de 8 000 €":             false,
		"Négoce du Sud au capital de 8 000 € SARL":                                 false,
		"Négoce du Sud — groupe de la Société anonyme au capital de 8 000 €":       false,
	} {
		s := sheetOf(t, line)
		if got := s.formBehind("Négoce du Sud", s.rows[0][0]); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}

// Given a line with an account below one that ends in the word for a bank, then what it begins with is the bank's name.
func TestABankBrokenOverTwoLines(t *testing.T) {
	for lines, want := range map[string]bool{
		"auf mein Konto bei der Volksbank\nMittelhessen, IBAN AT61 1904 3002 3457 3201": true,
		"auf das Konto unserer Firma\nMittelhessen, IBAN AT61 1904 3002 3457 3201":      false,
		"auf mein Konto bei der Volksbank\nMittelhessen, wie bisher":                    false,
		"auf mein Konto bei der Volksbank\nIBAN AT61 1904 3002 3457 3201, Mittelhessen": false,
	} {
		s := sheetOf(t, lines)
		if got := s.brokenBank("Mittelhessen", s.rows[1][0]); got != want {
			t.Errorf("%q: %t, want %t", lines, got, want)
		}
	}
}

// Given an address and, behind a gap, lines in its column, then those that tell whose it is belong to its block; without an address, none do.
func TestABlockGoesOnBehindAGap(t *testing.T) {
	for lines, want := range map[string]int{
		"Groene Linie B.V.\nKwekerijweg 6\n2771 AT Boskoop\n\ninfo@groene.example\n\nKvK 28104477": 5,
		"Groene Linie B.V.\nKwekerijweg 6\n2771 AT Boskoop\n\nOmschrijving":                        3,
		"Groene Linie B.V.\nHoveniers\n\ninfo@groene.example":                                      2,
	} {
		s := sheetOf(t, lines)
		if got := len(s.block(s.rows[0][0])); got != want {
			t.Errorf("%q: %d lines, want %d", lines, got, want)
		}
	}
}

// Given a company that signs a letter, then it is the supplier where nothing but its place speaks for the likeliest name, and no other signs.
func TestTheCompanyThatSigns(t *testing.T) {
	s := sheetOf(t, "Peter Odermatt\n\nFreundliche Grüße\n\nHelvia Versicherung AG\nHelvia Leben AG")
	signs := func(i int) named {
		it := s.signatures[i]
		return named{name: it.text(), key: it.key, whole: it.key, form: true, it: it}
	}
	head := named{name: "Peter Odermatt", ties: map[tie]bool{tieHead: true}}
	for name, c := range map[string]struct {
		all       []named
		likeliest named
		want      int
	}{
		"one company":             {[]named{head, signs(0)}, head, 1},
		"two":                     {[]named{signs(0), signs(1)}, head, -1},
		"more than its place":     {[]named{head, signs(0)}, named{ties: map[tie]bool{tieHead: true, tieID: true}}, -1},
		"a person, for whom else": {[]named{head}, head, -1},
	} {
		if got := s.theSigned(c.all, &c.likeliest); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// Given a person who signs and what stands right below the name in the head, then the person is meant; not where that signs, too, or is a name
// in law.
func TestThePersonWhoSigns(t *testing.T) {
	s := sheetOf(t, "DI Judith Thalhammer\nArchitektin")
	person := named{whole: "P", it: s.rows[0][0], ties: map[tie]bool{tieSigned: true, tieHead: true}}
	for name, c := range map[string]struct {
		likeliest named
		want      bool
	}{
		"what she does":       {named{whole: "A", it: s.rows[1][0], ties: map[tie]bool{tieHead: true}}, true},
		"a name that signs":   {named{whole: "A", it: s.rows[1][0], ties: map[tie]bool{tieSigned: true}}, false},
		"a name in law":       {named{whole: "A", it: s.rows[1][0], form: true}, false},
		"the same in another": {named{whole: "P", it: s.rows[1][0]}, false},
	} {
		if got := person.signed(&c.likeliest); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// Given numbers without a label that are a month of a year, or stand in the row of an item with its price and sum, then they are something
// else's; others may be the invoice's. With a label a number is in no address, whatever stands behind it.
func TestNumbersOfMonthsAndItems(t *testing.T) {
	for line, want := range map[string]bool{
		"Bauarbeiten 04/2026": true,
		"Beton RC0/45          4,00          2,50          10,00": true,
		"Bauarbeiten 104/2026":        false,
		"Beton RC0/45          10,00": false,
	} {
		s := sheetOf(t, line)
		var all candidates
		s.unlabelledNumbers(&all)
		if len(all.all) == 0 {
			t.Fatalf("%q: no candidate", line)
		}
		if got := s.somethingElse(all.all[0]); got != want {
			t.Errorf("%q: %q is something else's: %t, want %t", line, all.all[0].value, got, want)
		}
	}
	s := sheetOf(t, "Rechnungsnummer 4810 Gmunden")
	var all candidates
	s.labelledNumbers(&all)
	for _, c := range all.all {
		s.seenOfNumber(c, nil)
		if slices.Contains(c.features, "in an address") {
			t.Errorf("%q, with a label, is in an address", c.value)
		}
	}
}

// Given a table of items and its sums, then what stands between headings and sums is among the items.
func TestWhatStandsAmongItems(t *testing.T) {
	s := sheetOf(t, `Wien, 21.04.2026
Pos  Leistung                  Menge      Einzelpreis      Betrag
1    Vermittlung                1,00           100,00      100,00
     geschlossen am 17.04.2026
Nettobetrag                                                100,00
Zahlbar nach dem 01.05.2026`)
	for row, want := range map[int]bool{0: false, 3: true, 5: false} {
		if got := s.amongItems(s.rows[row][0]); got != want {
			t.Errorf("row %d: %t, want %t", row, got, want)
		}
	}
}

// Given a net sum, the tax that a printed rate makes of it, and what both come to, then a total alone of the first is another one's net sum.
func TestATotalThatIsANetSum(t *testing.T) {
	s := sheetOf(t, `Summe netto                 7.630,00
TVA 21 %                    1.602,30
Total                       9.232,30`)
	b := s.billing(s.sums())
	b.look()
	for value, want := range map[int64]bool{76_300_000: true, 92_323_000: false} {
		if got := b.withTaxBelow(&totals{gross: &share{value: value}}); got != want {
			t.Errorf("%d: %t, want %t", value, got, want)
		}
	}
}

// Given a line that begins in the middle of a name, then it is none by itself.
func TestTheRestOfAName(t *testing.T) {
	for line, want := range map[string]bool{"di F.lli Tosetto S.n.c.": true, "& Söhne OG": true, "Di Bella S.r.l.": false, "de Vries B.V.": false} {
		if got := torn(line); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}

// Given two names that end alike, then the person whose line says that he owns it trades under the other one.
func TestWhoOwnsATradeName(t *testing.T) {
	for line, want := range map[string]bool{
		"Inh. Josef Kramsach, Meisterbetrieb": true, "Josef Kramsach, Meisterbetrieb": false, "Meisterbetrieb, Inh. Josef Kramsach": true,
	} {
		s := sheetOf(t, "Elektro Kramsach\n"+line)
		mark, person := named{name: "Elektro Kramsach", it: s.rows[0][0]}, named{name: "Josef Kramsach", it: s.rows[1][0]}
		if got := s.owns(&person, &mark); got != want {
			t.Errorf("%q: owned %v, want %v", line, got, want)
		}
	}
}

// Given headings that begin left of their columns' figures, then the heading of a figure is the one that begins last before it.
func TestHeadingsThatBeginLeftOfTheirFigures(t *testing.T) {
	s := sheetOf(t, "Art        Netto          USt            Betrag\nGebühr          100,00         20,00          120,00")
	for i, want := range []string{"netto", "ust", "betrag"} {
		if head := s.heading(s.rows[1][i+1]); head == nil || head.folded != want {
			t.Errorf("above figure %d stands %v, want %s", i, head, want)
		}
	}
}

// Given a name over an address with a tax id, and another id beside the account below the sums, then the name's is another's; not where
// the account's line holds the same id, holds none, or stands above the sums.
func TestAnotherIDBelowTheSums(t *testing.T) {
	const head, sums = "Seeblick Wohnbau GmbH\nUferweg 4\n5310 Mondsee\nUID: ATU69088346\n\n",
		"Honorar            100,00\nFahrt               50,00\nRechnungsbetrag    150,00\n\n"
	for lines, want := range map[string]bool{
		head + sums + "Sparkasse AT61 1904 3002 3457 3201, UID ATU12345675":     true,
		head + sums + "Sparkasse AT61 1904 3002 3457 3201, UID ATU69088346":     false,
		head + sums + "Sparkasse AT61 1904 3002 3457 3201":                      false,
		head + "Sparkasse AT61 1904 3002 3457 3201, UID ATU12345675\n\n" + sums: false,
	} {
		s := sheetOf(t, lines)
		if got := s.otherIDInBlock(&named{it: s.rows[0][0]}, Own{}); got != want {
			t.Errorf("%q: another's %v, want %v", lines, got, want)
		}
	}
}

// Given lines that begin in small letters, then they go on with a sentence where the long line above them doesn't end: no name begins there.
func TestLinesThatGoOnWithASentence(t *testing.T) {
	const long = "Die Kosten sind sofort fällig, ich bitte um Überweisung der Summe"
	for lines, want := range map[string]bool{
		long + "\nauf mein Konto bei der Handelshaus Alster AG, IBAN DE16 3705 0198 0019 2844 06": true,
		long + ".\nauf mein Konto bei der Handelshaus Alster AG":                                  false,
		long + "\nHandelshaus Alster AG":                                                          false,
		"Handel und Wandel\nam alten Hafen GmbH":                                                  false,
		long + "\n          auf mein Konto":                                                       false,
	} {
		s := sheetOf(t, lines)
		if got := s.goesOnSentence(s.rows[1][0]); got != want {
			t.Errorf("%q: %t, want %t", lines, got, want)
		}
	}
	s := sheetOf(t, long+"\nauf mein Konto bei der Handelshaus Alster AG, HRB 4418, IBAN DE16 3705 0198 0019 2844 06")
	s.imprint(map[*item]bool{}, func(name string, _ *item, _, _ string) { t.Errorf("the imprint names %q", name) })
}

// Given a name beside an account, then words of banks tell that it is the bank's.
func TestWordsOfBanks(t *testing.T) {
	v := testVocabulary(t)
	for name, want := range map[string]bool{"Bankhaus Severin AG": true, "Bankverein Werther AG": true, "Handelshaus Alster AG": false} {
		if got := v.ofBank(name, "iban de16 3705 0198 0019 2844 06"); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

// Given a person's name and his surname behind a profession or degree, then that is short for it; a surname alone may be anybody's.
func TestASurnameBehindAProfession(t *testing.T) {
	s := &sheet{vocabulary: testVocabulary(t)}
	for short, want := range map[string]bool{
		"Notarin Dr. Wild": true, "Dr. Wild": true, "Architektin Wild": true, "Wild": false, "Dr. Wilde": false, "Frau Wild": false, "Dr. Anna": false,
	} {
		all := []named{{name: short, key: Key(short)}, {name: "Dr. Anna-Katharina Wild", key: Key("Dr. Anna-Katharina Wild"), person: true}}
		if s.group(all); (all[0].whole == all[1].key) != want {
			t.Errorf("%q is short for %s: %t, want %t", short, all[1].name, !want, want)
		}
		company := named{name: "Dr. Wild"}
		if s.surname(&named{name: short}, &company) {
			t.Errorf("%q is short for what is no person's name", short)
		}
	}
}
