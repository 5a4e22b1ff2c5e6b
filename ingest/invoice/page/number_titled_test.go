package page

import (
	"slices"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/model"
)

// numberBy is the number that a rule finds among those of a page, "" for none.
func numberBy(t *testing.T, lines string, rule func(*sheet, []*candidate) *candidate) string {
	t.Helper()
	s := sheetOf(t, lines)
	var all candidates
	s.labelledNumbers(&all)
	for _, c := range all.all {
		s.seenOfNumber(c, nil)
	}
	if c := rule(s, all.all); c != nil {
		return c.value
	}
	return ""
}

// Given numbers that labels announce on a sheet, then the one behind its title, or alone below it, is known by that, unless it is a month,
// two are, or a plain label announces one.
func TestANumberThatItsTitleAloneAnnounces(t *testing.T) {
	for lines, want := range map[string]string{
		"Mietrechnung 47-26-10-0551\nMietvertrag: 2026/0311": "47-26-10-0551",
		"TEILHONORARNOTE\nHN 26 – 0418":                      "HN 26 – 0418",
		"TEILHONORARNOTE\nHN 26 – 0418 Projekt Linz":         "",
		"Mietrechnung 12/2026":                               "",
		"Mietrechnung 2026":                                  "",
		"Mietrechnung 47-0551\nMietrechnung 47-0552":         "",
		"Mietrechnung 47-0551\nRechnungsnummer 47-0552":      "",
	} {
		if got := numberBy(t, lines, (*sheet).byTitleAlone); got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

// Given figures in groups as thousands are, then they are one number behind a title alone.
func TestNumbersInThousands(t *testing.T) {
	v := testVocabulary(t)
	for line, want := range map[string]string{
		"Rechnung 118 446": "118 446", "Rechnung 3 002 184": "3 002 184", "Kunde 118 446": "", "Rechnung 1184 446": "", "Rechnung 118 44": "",
	} {
		r := []rune(line)
		from := wordEnd(r, 0) + 1
		got := ""
		if end := v.joined(r, from, wordEnd(r, from), false); end > wordEnd(r, from) {
			got = string(r[from:end])
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// Given a month behind a title and a number with a plain label, then that one is the number; without it, or beside a number that is no
// month, nothing is changed.
func TestANumberBesideAMonth(t *testing.T) {
	month, number := &candidate{value: "12/2026", key: "122026", rule: titleBefore}, &candidate{value: "SV-1", key: "SV1", rule: numberLabel}
	other := &candidate{value: "77/14", key: "7714", rule: titleBefore}
	for name, c := range map[string]struct {
		chosen *candidate
		all    []*candidate
		want   *candidate
	}{
		"a month beside a label":     {month, []*candidate{month, number}, number},
		"a month alone":              {month, []*candidate{month, other}, nil},
		"a number beside a label":    {other, []*candidate{other, number}, nil},
		"a month that has the label": {&candidate{value: "12/2026", key: "122026", rule: numberLabel}, []*candidate{number}, nil},
	} {
		if got := labelledBeside(c.chosen, c.all); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Given weights that are certain of a month, or of nothing, then the number that a plain label or the title announces is stated.
func TestNumbersThatWeightsDoNotChoose(t *testing.T) {
	for name, c := range map[string]struct {
		lines   string
		weights map[string]int
		want    string
	}{
		"a month behind the title": {"Vorschreibung 12/2026\nRechnungsnummer 47-0552", map[string]int{titleBefore: 9000}, "47-0552"},
		"the title's, hardly likelier than another": {"Mietrechnung 47-0551\nMietvertrag MV 2026/0211",
			map[string]int{titleBefore: 10, "shape A 9/9": 10}, "47-0551"},
	} {
		s := sheetOf(t, c.lines)
		s.weights = model.Model{fields.Number: {Weights: c.weights}}
		got, _ := s.number(nil)
		if !certain(got) || got.Value != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// Given a title in capitals before a number, then it is no part of the number; other capitals are.
func TestATitleIsNoPrefix(t *testing.T) {
	v := testVocabulary(t)
	for text, want := range map[string]string{"RAČUN 26-300-118842": "", "RE 26-300": "RE 26-300"} {
		it := &item{runes: []rune(text), folded: fold([]rune(text))}
		if got, _, _ := v.numberAt(it, 0, false); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Given the number of a plain label, then it is the document's where a sentence asks to quote what the label names and no other label of an
// invoice's number stands there.
func TestANumberThatASentenceAsksToQuote(t *testing.T) {
	const asked = "\nBitte überweisen Sie unter Angabe des Kassenzeichens an die Stadtkasse."
	for lines, want := range map[string]string{
		"Kassenzeichen: 5110.447.1" + asked:                                         "5110.447.1",
		"Kassenzeichen: 5110.447.1":                                                 "",
		"Kassenzeichen: 5110.447.1\nDie Stadtkasse führt das Kassenzeichen.":        "",
		"Kassenzeichen: 5110.447.1\nBitte geben Sie an: Aktenzeichen":               "",
		"Kassenzeichen: 5110.447.1\nKassenzeichen: 5110.447.2" + asked:              "",
		"Kassenzeichen: 5110.447.1\nRechnungsnummer: 26-88" + asked:                 "",
		"Document: KB-2604\nPlease pay the sum, quoting the document number above.": "KB-2604",
	} {
		if got := numberBy(t, lines, (*sheet).askedFor); got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
	s := sheetOf(t, "Muster\nKassenzeichen: 5110.447.1"+asked)
	s.weights = model.Model{fields.Number: {}}
	if got, _ := s.number(nil); !certain(got) {
		t.Errorf("whatever the weights say: %+v", got)
	}
}

// Given a label that calls the invoice the supplier's own and is nothing else, then it announces the number as plainly as any; within a text
// it may tell of an earlier one.
func TestWhatIsCalledOurInvoice(t *testing.T) {
	plainly := func(_ *sheet, all []*candidate) *candidate {
		if i := slices.IndexFunc(all, func(c *candidate) bool { return c.rule == numberLabel }); i >= 0 {
			return all[i]
		}
		return nil
	}
	for lines, want := range map[string]string{
		"Our invoice        BR/1187/04-I":              "BR/1187/04-I",
		"Unsere Rechnung:   26-118":                    "26-118",
		"Notre facture      F/118-7":                   "F/118-7",
		"CREDIT NOTE\nOur invoice        BR/1187/04-I": "",
		"Less our invoice   BR/1187/03-I":              "",
		"Our invoice BR/1187/03-I was settled":         "",
	} {
		if got := numberBy(t, lines, plainly); got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}
