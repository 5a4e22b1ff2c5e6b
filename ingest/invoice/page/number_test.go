package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

func FuzzNumberAt(f *testing.F) {
	v := testVocabulary(f)
	f.Add("Nr.: RE 2024/001 vom", 0)
	f.Fuzz(func(t *testing.T, s string, from int) {
		it := &item{runes: []rune(s)}
		it.folded = fold(it.runes)
		if from < 0 || from > len(it.runes) {
			return
		}
		if value, _, ok := v.numberAt(it, from, true); ok && (!hasDigit(value) || len(value) > 60) {
			t.Fatalf("number %q of %q", value, s)
		}
	})
}

// Given a day behind a number, behind a short word or a place, then it is the number's; behind other words, or a comma and no place, it isn't.
func TestDaysBehindNumbers(t *testing.T) {
	for line, want := range map[string]bool{
		"FAKTURA 1182/HB, 10.06.2026":                          true,
		"FAKTURA 1182/HB z dnia 10.06.2026":                    true,
		"FAKTURA 1182/HB, Kraków, dnia 10.06.2026":             true,
		"FAKTURA 1182/HB, rezerwacja BK-7710442 od 10.06.2026": false,
		"FAKTURA 1182/HB Kraków, dnia 10.06.2026":              false,
		"10.06.2026 FAKTURA 1182/HB":                           false,
	} {
		s := newSheet(testVocabulary(t), typed.Document(line))
		it := s.rows[0][0]
		const number = "1182/hb"
		if got := s.dayBehind(it, strings.Index(it.folded, number)+len(number)); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}

// Given invoices whose number no label announces, then it is the one that stands large, alone and right above the label of the day, whole
// where it is broken over two lines; neither one in small letters nor what is one of two, nor where a label announces another.
func TestANumberOverTheDay(t *testing.T) {
	for name, c := range map[string]struct {
		above, size, want string
	}{
		"large":                  {"TC-2026-0847", "large", "TC-2026-0847"},
		"broken over two lines":  {"EU-2026-\n                                        00142", "large", "EU-2026-00142"},
		"as small as the others": {"TC-2026-0847", "", ""},
		"figures alone":          {"20260847", "large", ""},
		"of two":                 {"TC-2026-0847\n                                        AB-2026-1111", "large", ""},
	} {
		doc := typed.Document(letterhead + `
                                        ` + c.above + `
                                        Rechnungsdatum: 28.08.2026

Malerarbeiten                                                   100,00 €
Nettobetrag                                                     100,00 €
USt. 20 %                                                        20,00 €
Rechnungsbetrag                                                 120,00 €
`)
		for _, line := range doc.Pages[0].Lines {
			for i := range line.Cells {
				if c.size == "large" && strings.Contains(c.above, line.Cells[i].Text) {
					line.Cells[i].Size = 20
				}
			}
		}
		s := newSheet(testVocabulary(t), doc)
		var all candidates
		s.labelledNumbers(&all)
		s.unlabelledNumbers(&all)
		got := ""
		if heads := s.overDay(all.all); heads != nil {
			got = heads.value
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Given figures that are the end of another number, as where it is broken, then that one is meant; those of a shorter or an equal one, and
// what has a label, are meant themselves.
func TestFiguresThatEndAnotherNumber(t *testing.T) {
	long := &candidate{rule: noLabel, key: "RE202500287"}
	for _, c := range []struct {
		key, rule string
		want      bool
	}{
		{"202500287", noLabel, true}, {"202500287", titleBefore, false}, {"RE202500287", noLabel, false}, {"287", noLabel, false}, {"99500287", noLabel, false},
	} {
		own := &candidate{rule: c.rule, key: c.key}
		if got := wholeNumberOf(own, []*candidate{long, own}) == long; got != c.want {
			t.Errorf("%s %s: %t, want %t", c.rule, c.key, got, c.want)
		}
	}
}

// Given a credit note that names the invoice which it corrects, then a sentence about that invoice doesn't make its number the note's own;
// nor is a house number ever one.
func TestNumbersThatAreAnothers(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for particulars, want := range map[string]string{
		"Gutschrift\nvom 19. November 2025\nzu Rechnung MR-2025-04471 vom 05.11.2025\n\nDer Betrag wird mit der offenen Rechnung MR-2025-04471 verrechnet.": "",
		"Gutschrift GS-2025-00318\nzu Rechnung MR-2025-04471 vom 05.11.2025":                                                                                "GS-2025-00318",
		"Honorarnote\nDatum 12.03.2026\nGumpendorfer Straße 71/14":                                                                                          "",
	} {
		if got := numberOn(t, reader, withParticulars(particulars)); got != want {
			t.Errorf("%q: %q, want %q", particulars, got, want)
		}
	}
}
