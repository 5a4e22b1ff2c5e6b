package page

import (
	"slices"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/model"
	"tallyhouse/ingest/invoice/page/typed"
)

// Given days in lines of an item that go on from the line above, in small letters or right behind "of", then what is said before them
// begins above: the rate of exchange or the order whose days they are. A line that begins anew says all itself.
func TestWhatIsSaidBeforeADay(t *testing.T) {
	for lines, want := range map[string]bool{
		"Avans 64.000 EUR la curs BNR 5,0842\nlei/EUR din 11/03/2026":    true,
		"Kran laut Bestellung 4471 vom\n11.03.2026":                      true,
		"Kran laut Bestellung 4471\nRechnung 7 vom 11.03.2026":           false,
		"Umrechnung zum Kurs der EZB\nvon 0,9412 vom 11.03.2026":         true,
		"Converted at the exchange rate\nof the bank on 11 March 2026":   true,
		"Przeliczono po kursie średnim\nnbp z dnia 11.03.2026":           true,
		"Árfolyam: 1 EUR = 392,11 Ft\nmnb középárfolyam 2026. 03. 11-én": true,
		"EREDETI\nkelte: 2026. 03. 11.":                                  true,
		"Datum der ursprünglichen\nrechnung 11.03.2026":                  true,
	} {
		s := sheetOf(t, lines)
		last := s.rows[len(s.rows)-1][0]
		if len(last.dates) != 1 {
			t.Fatalf("%q: days %v", lines, last.dates)
		}
		if got := s.otherDate.MatchString(s.lineBefore(last, last.dates[0])); got != want {
			t.Errorf("%q: said before the day %q, another's: %v", lines, s.lineBefore(last, last.dates[0]), got)
		}
	}
}

// Given a day in small letters under another document's number, with one right edge, then that is said before it.
func TestWhatIsSaidOverADayOnTheRight(t *testing.T) {
	s := sheetOf(t, "Opravný daňový doklad          k faktuře č. 20260113\n                                   ze dne 2. 9. 2026")
	day := s.rows[1][0]
	if len(day.dates) != 1 || s.lineBefore(day, day.dates[0]) != "k fakture c. 20260113 ze dne " {
		t.Errorf("%q: %q", day.text(), s.lineBefore(day, day.dates[0]))
	}
}

// Given words beside a day, then those of a payment, a debit and a rate of exchange say that it is another than that of issue, those of a
// course don't, and "issued" says that it is that one.
func TestWordsOfDays(t *testing.T) {
	v := testVocabulary(t)
	for said, want := range map[string]bool{"abbuchung am": true, "bezahlt am": true, "wechselkurs vom": true, "kurs per": true,
		"ablesung am": true, "meter reading date": true, "releve du": true, "avlast den": true,
		"kursrechnung": false, "kursbeginn": false} {
		if got := v.otherDate.MatchString(said); got != want {
			t.Errorf("%q: another day's %v, want %v", said, got, want)
		}
	}
	for said, want := range map[string]bool{"ausgestellt": true, "ausgestellt am": true, "dargestellt": false} {
		got := false
		for _, l := range v.dateLabels {
			got = got || l.rule == "date label" && l.pattern.MatchString(said)
		}
		if got != want {
			t.Errorf("%q: the day of issue %v, want %v", said, got, want)
		}
	}
}

// Given a line that begins with the end of a word broken in the line above, then that end is no label of a number; on its own it is.
func TestAnEndOfAWordIsNoLabel(t *testing.T) {
	for lines, want := range map[string]int{
		"Index încărcare RO e-\nFactura: 5044182077": 0,
		"Index încărcare\nFactura: 5044182077":       1,
	} {
		var all candidates
		sheetOf(t, lines).labelledNumbers(&all)
		if len(all.all) != want {
			t.Errorf("%q: %d labelled numbers, want %d", lines, len(all.all), want)
		}
	}
}

// Given days that nothing announces, then the one of the letter is that of issue, beside an address, too, and not one that its subject tells;
// and so is the one behind the number, a stroke between them.
func TestDaysThatNothingAnnounces(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for head, want := range map[string]string{
		"Ms Grainne Tuohy                        Your ref: Road/Lot 2\nCorrib Strand Homes Limited                 6th March 2026\nGalway\n\n" +
			"Re: Site at Salthill – transfer dated 19th January 2026 – our fee note 26/0417": "2026-03-06",
		"INVOICE 26/0417\n\nTax point          28 February 2026\nRaised on          6 March 2026": "2026-03-06",
		"INVOICE 26/0417\n\nTax point          6 March 2026":                                      "2026-03-06",
		"INVOICE\nNo. 26/0417 / 6 March 2026\n\nContract No. 62/01.02.2026":                       "2026-03-06",
		"INVOICE 26/0417\n\nHotel              KX88120 v. 6 March 2026":                           "",
	} {
		_, f, _ := reader.Read(typed.Document("Brannigan Daly Solicitors LLP\n7 Merchants Row, Galway\n\n"+head+`

Professional fee                                        1,000.00
VAT 23%                                                   230.00
Total                                                   1,230.00
`), Own{})
		if got := stated(f.Date); got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}

// Given days that something else is dated, the tax point beside the day of issue, or what the subject tells below the day of the letter, then
// they are not considered; alone each is.
func TestDaysThatAreNotConsidered(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const subject = "Re: Site at Salthill - transfer dated 19 January 2026 - our fee note 26/0417"
	for head, want := range map[string][]string{
		"INVOICE 26/0417\n\nTax point          28 February 2026\nRaised on          6 March 2026": {"2026-03-06"},
		"INVOICE 26/0417\n\nTax point          28 February 2026":                                  {"2026-02-28"},
		"6 March 2026\n\n" + subject: {"2026-03-06"},
		subject:                      {"2026-01-19"},
	} {
		var got []string
		for _, c := range reader.Considered(typed.Document("Harrow & Lane Ltd\n12 High Street, London\n\n"+head+"\n\nTotal   1,230.00"), Own{})[fields.Date] {
			got = append(got, c.Key)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", head, got, want)
		}
	}
}

// Given a number that a plain label announces, then the day behind it is its day where the number is the invoice's own.
func TestADayBehindAPlainNumber(t *testing.T) {
	s := sheetOf(t, "ФАКТУРА\n№ 0000018844 / 28.11.2025 г.")
	own := s.rows[1][0]
	for value, want := range map[string]bool{"0000018844": true, "7": false} {
		number, at := &fields.Text{Value: value, Evidence: fields.Evidence{Confidence: 1}}, own
		if value == "7" {
			at = s.rows[0][0]
		}
		s.date(number, at)
		got := slices.ContainsFunc(s.considered[fields.Date], func(c model.Candidate) bool { return slices.Contains(c.Features, behindTheNumber) })
		if got != want {
			t.Errorf("the number is %s: %t, want %t", value, got, want)
		}
	}
}
