package page

import (
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

func sheetOf(t *testing.T, lines string) *sheet {
	t.Helper()
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	s := newSheet(reader.vocabulary, typed.Document(lines))
	s.weights = reader.weights
	return s
}

// Given a line of several parts, then the words around a value are those of its own part.
func TestPartsOfALine(t *testing.T) {
	const line = "kelt: 1 | teljesites: 2 ~ esedekesseg: 3"
	for at, want := range map[int][2]string{6: {"kelt: ", ""}, 22: {"teljesites: ", ""}, 39: {"esedekesseg: ", ""}} {
		if before, behind := partAround(line, at, at+1); before != want[0] || behind != want[1] {
			t.Errorf("around %d: %q, %q, want %q", at, before, behind, want)
		}
	}
}

// Given the subject of a letter, then its number has the rule of a number within the title.
func TestTheNumberOfASubject(t *testing.T) {
	for _, line := range []string{"Betreff: Rechnung 4418/26", "Objet : facture 4418/26", "Betreft: factuur 4418/26"} {
		number, _ := sheetOf(t, line+"\n").number(nil)
		if number == nil || number.Value != "4418/26" || number.Rule != "number label within title" {
			t.Errorf("%s: %+v", line, number)
		}
	}
}

// Given a day right behind title and number, then that announces it; given the end of another document's line, then no.
func TestDaysBehindTheNumber(t *testing.T) {
	s := sheetOf(t, "Bestellung 7788 vom\n02.02.2026\n\nRechnung BF-4418 · 05.02.2026\n")
	date, _ := s.date(nil, nil)
	if date == nil || date.Value != "2026-02-05" || date.Rule != behindTheNumber {
		t.Errorf("date %+v", date)
	}
	order := s.rows[1][0]
	if said := s.lineBefore(order, order.dates[0]); said != "bestellung 7788 vom" {
		t.Errorf("before the day of the order: %q", said)
	}
}

// Given words of what is left to pay that end in a net one, then they name a net sum.
func TestWhatIsLeftNet(t *testing.T) {
	v := testVocabulary(t)
	for label, want := range map[string]role{"verbleiben netto": roleNet, "amount due (net)": roleNet, "verbleibt brutto": roleGross,
		"zu zahlen": rolePayable, "netto a pagare": rolePayable, "net a payer": rolePayable} {
		if got, _ := v.roleOf(label); got != want {
			t.Errorf("%q is %s, want %s", label, roleNames[got], roleNames[want])
		}
	}
}

// Given a sum without a label behind one that has a label, in one text, then both are figures.
func TestFiguresBehindLabelledOnes(t *testing.T) {
	s := sheetOf(t, "20 %: netto 1.000,00, wzyx 200,00\n")
	if b := s.billing(s.sums()); b.byValue[10_000_000] == nil || b.byValue[2_000_000] == nil {
		t.Errorf("figures %v", b.byValue)
	}
}
