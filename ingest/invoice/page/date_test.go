package page

import (
	"testing"
	"time"
)

func TestDatesOfEveryHabit(t *testing.T) {
	v := testVocabulary(t)
	cases := []struct {
		in    string
		order dateOrder
		want  string
	}{
		{"17.04.2026", dayFirst, "2026-04-17"}, {"7. Mai 2014", dayFirst, "2014-05-07"}, {"11. Juli 2014", dayFirst, "2014-07-11"},
		{"3. März 2024", dayFirst, "2024-03-03"},
		{"1. Jänner 2025", dayFirst, "2025-01-01"}, {"2026-04-17", dayFirst, "2026-04-17"}, {"2000/01/02", monthFirst, "2000-01-02"},
		{"May 7, 2020", dayFirst, "2020-05-07"},
		{"Jan 1, 2022", dayFirst, "2022-01-01"}, {"7 May 2020", dayFirst, "2020-05-07"}, {"1er janvier 2024", dayFirst, "2024-01-01"},
		{"12 de febrero de 2024", dayFirst, "2024-02-12"},
		{"15 agosto 2024", dayFirst, "2024-08-15"}, {"19 april 2014", dayFirst, "2014-04-19"}, {"03/04/2025", dayFirst, "2025-04-03"},
		{"03/04/2025", monthFirst, "2025-03-04"},
		{"13/04/2025", dayFirst, "2025-04-13"}, {"8-9-2022", dayFirst, "2022-09-08"}, {"21.05.14", dayFirst, "2014-05-21"},
		{"15-Mar-2023", dayFirst, "2023-03-15"}, {"2026. április 17.", dayFirst, "2026-04-17"}, {"2026. febr. 7", dayFirst, "2026-02-07"},
		// October in Croatian, where ordinals have a full stop; November in Polish and Czech.
		{"17. listopada 2026.", dayFirst, "2026-10-17"}, {"17 listopada 2026", dayFirst, "2026-11-17"},
		{"17. listopadu 2026", dayFirst, "2026-11-17"}, {"3. veljače 2026.", dayFirst, "2026-02-03"},
		{"Fattura FPR 9/26 — 22.05.26", dayFirst, "2026-05-22"}, {"Faktura 7/26 - 3.5.2026", dayFirst, "2026-05-03"},
		{"numero 7 del 18 marzo 2026", dayFirst, "2026-03-18"}, {"Nr. 12 vom 3. März 2026", dayFirst, "2026-03-03"},
		{"nº 3 de 5 de mayo de 2026", dayFirst, "2026-05-05"},
		// Roman months, as in Austria, Hungary and Poland.
		{"30. IX. 2026", dayFirst, "2026-09-30"}, {"7 V 2026", dayFirst, "2026-05-07"}, {"1. XII. 2026", dayFirst, "2026-12-01"},
		// Days in words.
		{"Wien, am dritten September 2026", dayFirst, "2026-09-03"}, {"the twenty-third of May 2026", dayFirst, "2026-05-23"},
		{"Quimper, le vingt et un mars 2026", dayFirst, "2026-03-21"}, {"Milano, trentuno marzo 2026", dayFirst, "2026-03-31"},
		{"a siete de abril de 2026", dayFirst, "2026-04-07"}, {"dnia dwudziestego pierwszego maja 2026", dayFirst, "2026-05-21"},
		{"14. prosince 2021", dayFirst, "2021-12-14"}, {"14. prosinec 2021", dayFirst, "2021-12-14"},
		// Greek and Cyrillic months; years first with a word behind them; a year's word right behind it; a number before a stroke.
		{"3 Μαΐου 2026", dayFirst, "2026-05-03"}, {"17 ΣΕΠΤΕΜΒΡΙΟΥ 2026", dayFirst, "2026-09-17"}, {"6 юни 2026 г.", dayFirst, "2026-06-06"},
		{"16.09.2025г.", dayFirst, "2025-09-16"}, {"0000004127/16.09.2025", dayFirst, "2025-09-16"}, {"12. märts 2026", dayFirst, "2026-03-12"},
		{"2025. gada 7. oktobrī", dayFirst, "2025-10-07"}, {"2026. g. 30. janvāris", dayFirst, "2026-01-30"},
		{"2026 m. rugpjūčio 4 d.", dayFirst, "2026-08-04"}, {"2026 m. kovo 16 d.", dayFirst, "2026-03-16"},
	}
	for _, c := range cases {
		found := v.dates(fold([]rune(c.in)))
		if len(found) != 1 {
			t.Errorf("v.dates(%q) = %v, want one", c.in, found)
			continue
		}
		if d, ok := found[0].in(c.order); !ok || d.String() != c.want {
			t.Errorf("v.dates(%q) = %s %v, want %s", c.in, d, ok, c.want)
		}
	}
}

// Given narrow cells in which a day's year stands in the next line, then they hold that day; what else stands above a year doesn't.
func TestDaysBrokenOverLinesOfACell(t *testing.T) {
	for lines, want := range map[string]int{
		"Tax point      29 May\n               2026":     1,
		"Fakturadato    4. maj\n               2026":     1,
		"Vencimento     2026-02-\n               21":     1,
		"Vencimento     2026-\n               02-21":     1,
		"Guia           77/2026-\n               02-41":  0,
		"Valuation      7\n               2026":          0,
		"Datum          4. Mai\n        2026":            0, // in another column
		"Rok plačila:   18. 11.     2026":                1, // of a line that wider spaces fill
		"Maße           18. 11      2026":                0,
		"Umbau im Mai und Abnahme am 4. Mai\n2026 folgt": 0,
	} {
		found := 0
		for _, row := range sheetOf(t, lines).rows {
			for _, it := range row {
				found += len(it.dates)
			}
		}
		if found != want {
			t.Errorf("%q: %d days, want %d", lines, found, want)
		}
	}
}

func TestNumbersThatAreNoDates(t *testing.T) {
	v := testVocabulary(t)
	for _, in := range []string{"31.02.2024", "192.168.10.12", "1.2.3", "AB-12-05-2024", "12.345,67", "2024-13-01", "32/12/2024",
		"0123/45678", "Paragraph 19 Abs. 1", "Block 7IX 2026", "30. IIII. 2026", "31. II. 2026"} {
		if found := v.dates(fold([]rune(in))); len(found) != 0 {
			t.Errorf("v.dates(%q) = %v, want none", in, found)
		}
	}
}

func TestTheOrderOfFiguresIsDecidedByTheDocument(t *testing.T) {
	v := testVocabulary(t)
	all := func(texts ...string) (out []date) {
		for _, s := range texts {
			out = append(out, v.dates(fold([]rune(s)))...)
		}
		return out
	}
	if orderOf(all("03/04/2025", "25/04/2025"), true) != dayFirst {
		t.Error("a 25th in front means days first, also in America")
	}
	if orderOf(all("03/04/2025", "04/25/2025"), false) != monthFirst {
		t.Error("a 25th behind means months first")
	}
	if orderOf(all("03/04/2025"), true) != monthFirst || orderOf(all("03/04/2025"), false) != dayFirst {
		t.Error("else the country decides")
	}
}

func FuzzDates(f *testing.F) {
	v := testVocabulary(f)
	f.Add("vom 3. März 2024 bis 04/25/2025, 2024-02-29")
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range v.dates(fold([]rune(s))) {
			for _, order := range []dateOrder{dayFirst, monthFirst} {
				if read, ok := d.in(order); ok {
					if _, err := time.Parse(time.DateOnly, read.String()); err != nil {
						t.Fatalf("%q gives %s: %v", s, read, err)
					}
				}
			}
		}
	})
}
