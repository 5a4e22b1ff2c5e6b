package page

import (
	"testing"

	"tallyhouse/ingest/invoice/page/model"
)

// Given names with and without degrees, professions and given names, then those of persons are known for such.
func TestPersonsAreKnownByTheirGivenNames(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"Ayşe Yıldız":                       true,
		"MAG. FLORIAN HUBER":                true,
		"Dipl.-Ing. (FH) Thomas Berger":     true,
		"architetto Chiara Rossi":           true,
		"Anna-Lena von der Heide":           true,
		"valentina moser":                   true,
		"DIANA KOLLER":                      true,
		"Berger Bau GmbH":                   false,
		"Franz Berger GmbH":                 false,
		"Anna":                              false,
		"Anna und Kind":                     false,
		"Material und Anfahrt":              false,
		"Max 3 Monate":                      false,
		"Max B2 Monate":                     false,
		"Haus am See mit Garten von Martin": false,
	} {
		if got := reader.vocabulary.person(name); got != want {
			t.Errorf("%q is a person: %t, want %t", name, got, want)
		}
	}
}

// Given letters of persons who bill without a company, with what they do before or over their names, or under a label of a pair, then the
// person is the supplier.
func TestPersonsWhoBill(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const buyer = `
Seeblick Wohnbau GmbH
Uferweg 4
5310 Mondsee
`
	for name, c := range map[string]struct{ letter, want string }{
		"what a notary is, over the name": {`
                    Öffentlicher Notar
                    Dr. Konrad Hell
                    Hauptplatz 7 · 8010 Graz · Telefon 0316 82 44 10
` + buyer + body, "Dr. Konrad Hell"},
		"a profession in small letters before the name": {`
architetto Chiara Rossi
iscritta all'Ordine, via Rastello 31, 34170 Gorizia, tel. 0481 53 02 77
` + buyer + body + `
arch. Chiara Rossi
C.F. RSSCHR79L51E098K
`, "architetto Chiara Rossi"},
		"labels of a pair over the parties": {`
De                                   Para
Marta Ferrer Llopis                  Levante Promociones, S.L.
Arquitecta técnica                   CIF B96330188
NIF 25417883P                        Av. del Puerto 212
C/ Sagunto 73                        46023 Valencia
46009 Valencia
` + body, "Marta Ferrer Llopis"},
	} {
		if got := supplierIn(reader, c.letter); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Given a company that signs, two persons who may both bill, or a person in the line below a company's name, then no person is taken for who
// bills; given one whose own lines hold a tax id, or whose name is set larger than the company's, then that one is.
func TestThePersonWhoBills(t *testing.T) {
	s := sheetOf(t, "Anna Berger\n\n\n\nMuster Bau GmbH\nFranz Huber\n\n\n\nMaria Koller")
	person := func(row int, name string, ties ...tie) named {
		c := named{name: name, key: Key(name), whole: Key(name), it: s.rows[row][0], rule: ruleLetterhead, person: s.person(name), ties: map[tie]bool{}}
		for _, t := range ties {
			c.ties[t] = true
		}
		return c
	}
	company := func(ties ...tie) named {
		c := person(1, "Muster Bau GmbH", ties...)
		c.form = true
		return c
	}
	for name, c := range map[string]struct {
		all  []named
		want int
	}{
		"a tax id in the person's lines":     {[]named{company(tieHead), person(0, "Anna Berger", tieID)}, 1},
		"nothing but its place":              {[]named{company(tieHead), person(0, "Anna Berger", tieHead)}, -1},
		"the company owns the account":       {[]named{company(tieHolder), person(0, "Anna Berger", tieID)}, -1},
		"below a company's name":             {[]named{company(tieHead), person(2, "Franz Huber", tieID)}, -1},
		"two persons":                        {[]named{person(0, "Anna Berger", tieID), person(3, "Maria Koller", tieSigned)}, -1},
		"no person":                          {[]named{person(0, "Material und Anfahrt", tieID)}, -1},
		"the person is named in the imprint": {[]named{{name: "Anna Berger", person: true, it: s.rows[0][0], rule: ruleImprint, ties: map[tie]bool{tieID: true}}}, -1},
	} {
		if got := s.thePerson(c.all, map[*item]bool{}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	s.rows[0][0].size *= 1.5
	if got := s.thePerson([]named{company(tieHead), person(0, "Anna Berger", tieHead)}, map[*item]bool{}); got != 1 {
		t.Errorf("set larger than the company: %d, want the person", got)
	}
}

// Given a given name alone over a surname in the same letters, then they are one name.
func TestASurnameBelowAGivenName(t *testing.T) {
	for letter, want := range map[string]bool{
		"MAG. FLORIAN\nTHURNER": true, "Friederike\nSommer": true, "Friederike Sommer\nGarten": false, "Garten\nSommer": false,
		"Friederike\nSommer 12": false, "Friederike\nsommerlich": false,
	} {
		s := sheetOf(t, letter)
		if got := s.surnameBelow(s.rows[0][0]) != nil; got != want {
			t.Errorf("%q: %t, want %t", letter, got, want)
		}
	}
}

// Given labels of a pair, then they are labels of the parties; one alone, or with two of the first word, is none.
func TestFromAndTo(t *testing.T) {
	for letter, want := range map[string]bool{
		"De                  Para\nAna Ferrer          Promociones SL": true,
		"Da\nChiara Rossi\n\nPer\nEdil SRL":                            true,
		"De\nAna Ferrer":                                               false,
		"De\nAna Ferrer\n\n                        Para\n                        Promociones SL": false,
		"Ana\nDe                  Para":                    false,
		"De     De     Para\nAna    Eva    Promociones SL": false,
	} {
		s := sheetOf(t, letter)
		if got := s.from != nil && s.labelsSeller(s.from) && s.labelsBuyer(s.to); got != want {
			t.Errorf("%q: %t, want %t", letter, got, want)
		}
	}
}

// Given legal forms written out, as imprints have them, then they are legal forms.
func TestLegalFormsInWords(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"Berger Bau Gesellschaft mit beschränkter Haftung", "Négoce du Sud Société par actions simplifiée", "Edil Rossi società a responsabilità limitata",
		"Obras Norte Sociedad Limitada", "Novák stavby společnost s ručením omezeným", "Gradnja družba z omejeno odgovornostjo", "Ház Részvénytársaság",
	} {
		if !reader.vocabulary.legalForm.MatchString(foldText(name)) {
			t.Errorf("%q has no legal form", name)
		}
	}
}

// Given equally likely names in a letter, a seller's label of a pair, and a given name over a surname, then the person who bills is stated,
// the label announces a name, and the two lines are one.
func TestPersonsAreAmongTheNames(t *testing.T) {
	s := sheetOf(t, "Muster Bau GmbH\n\n\n\n\n\nAnna Berger\nBachweg 4\n5020 Salzburg\nSteuernummer 12 345/6789")
	s.weights = model.Model{"supplierName": {}}
	if got, _ := s.rankedNames(Own{}, map[*item]bool{}, nil); got == nil || got.name != "Anna Berger" || got.score != fromImprint {
		t.Errorf("the supplier is %+v", got)
	}
	found := map[string]string{}
	add := func(name string, _ *item, rule, _ string) { found[name] = rule }
	sheetOf(t, "De                  Para\nAna Ferrer          Promociones SL").sellerLabels(add)
	s = sheetOf(t, "MAG. FLORIAN\nTHURNER")
	s.overLines("MAG. FLORIAN", s.rows[0][0], nil, add)
	if found["Ana Ferrer"] != ruleSeller || found["MAG. FLORIAN THURNER"] != ruleLetterhead {
		t.Errorf("found are %v", found)
	}
	s.rows[1][0].size *= 2
	if s.surnameBelow(s.rows[0][0]) != nil {
		t.Error("a line in other letters is taken for the surname")
	}
	s = sheetOf(t, "Franz Huber\nAnna Berger")
	one := named{name: "Franz Huber", person: true, it: s.rows[0][0]}
	other := named{name: "Anna Berger", person: true, it: s.rows[1][0], ties: map[tie]bool{tieHead: true}}
	if other.professed(&one) {
		t.Error("a person is taken for what another one does")
	}
}
