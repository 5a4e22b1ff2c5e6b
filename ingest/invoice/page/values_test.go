package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestAmountsOfEveryHabit(t *testing.T) {
	cases := []struct {
		in       string
		want     int64 // 1/10,000
		currency string
		money    bool
	}{
		{"1.234,56", 12345600, "", true}, {"1,234.56", 12345600, "", true}, {"1 234,56", 12345600, "", true}, {"1'234.56", 12345600, "", true},
		{"1’234.56", 12345600, "", true}, {"12,00-", -120000, "", true}, {"CHF 1'081.--", 10810000, "CHF", true}, {"5.–", 50000, "", true}, {"Rs -40.00", -400000, "INR", true}, {"1.250,00 lei", 12500000, "RON", true}, {"12 500 Ft", 125000000, "HUF", true}, {"-12,00", -120000, "", true}, {"−12,00 €", -120000, "EUR", true},
		{"-€ 9,32", -93200, "EUR", true}, {"€ -9,32", -93200, "EUR", true}, {"$20.00 USD", 200000, "USD", true}, {"CHF 1'234.50", 12345000, "CHF", true},
		{"-CHF 2'105.22", -21052200, "CHF", true}, {"£300", 3000000, "GBP", true}, {"3,500", 35000000, "", false}, {"$3,500", 35000000, "USD", true},
		{"Fr. 12.50", 125000, "CHF", true}, {"17 115,45PLN", 171154500, "PLN", true}, {"5.–", 50000, "", true}, {"41,1765", 411765, "", false},
		{"19 %", 190000, "", false}, {"7,5 kg", 75000, "", false}, {"0,00", 0, "", true}, {"1.000.000,00", 10000000000, "", true}, {"EUR 25", 250000, "EUR", true},
	}
	for _, c := range cases {
		got := amounts([]rune(c.in))
		if len(got) != 1 || got[0].value != c.want || got[0].currency != c.currency || got[0].money() != c.money {
			t.Errorf("amounts(%q) = %+v, want %d %q money %v", c.in, got, c.want, c.currency, c.money)
		}
	}
}

func TestIdentifiersAreNoAmounts(t *testing.T) {
	for _, in := range []string{"RE-2026", "12/345/6789", "00123", "A4", "2024-01-31", "12:30", "1234567890123", "1.23.456", "AT95 3437"} {
		for _, a := range amounts([]rune(in)) {
			if a.money() {
				t.Errorf("amounts(%q) found money %+v", in, a)
			}
		}
	}
}

// TestEveryFormatOfEveryAmountIsReadBack writes amounts as the countries do.
func TestEveryFormatOfEveryAmountIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.Int64Range(0, 99_999_999_999).Draw(t, "cents")
		style := rapid.SampledFrom([][2]string{{".", ","}, {",", "."}, {" ", ","}, {"'", "."}, {"\u00a0", ","}, {"\u202f", ","}, {"", ","}, {"", "."}}).Draw(t, "style")
		negative := rapid.Bool().Draw(t, "negative")
		text := format(cents, style[0], style[1])
		want := cents * 100
		if negative {
			text, want = "-"+text, -want
		}
		got := amounts([]rune("Summe " + text + " EUR"))
		if len(got) != 1 || got[0].value != want || got[0].currency != "EUR" {
			t.Fatalf("amounts(%q) = %+v, want %d", text, got, want)
		}
	})
}

func format(cents int64, group, decimal string) string {
	whole := fmt.Sprint(cents / 100)
	var parts []string
	for len(whole) > 3 {
		parts = append([]string{whole[len(whole)-3:]}, parts...)
		whole = whole[:len(whole)-3]
	}
	return strings.Join(append([]string{whole}, parts...), group) + decimal + fmt.Sprintf("%02d", cents%100)
}

func TestDatesOfEveryHabit(t *testing.T) {
	cases := []struct {
		in    string
		order dateOrder
		want  string
	}{
		{"17.04.2026", dayFirst, "2026-04-17"}, {"7. Mai 2014", dayFirst, "2014-05-07"}, {"11. Juli 2014", dayFirst, "2014-07-11"}, {"3. März 2024", dayFirst, "2024-03-03"},
		{"1. Jänner 2025", dayFirst, "2025-01-01"}, {"2026-04-17", dayFirst, "2026-04-17"}, {"2000/01/02", monthFirst, "2000-01-02"}, {"May 7, 2020", dayFirst, "2020-05-07"},
		{"Jan 1, 2022", dayFirst, "2022-01-01"}, {"7 May 2020", dayFirst, "2020-05-07"}, {"1er janvier 2024", dayFirst, "2024-01-01"}, {"12 de febrero de 2024", dayFirst, "2024-02-12"},
		{"15 agosto 2024", dayFirst, "2024-08-15"}, {"19 april 2014", dayFirst, "2014-04-19"}, {"03/04/2025", dayFirst, "2025-04-03"}, {"03/04/2025", monthFirst, "2025-03-04"},
		{"13/04/2025", dayFirst, "2025-04-13"}, {"8-9-2022", dayFirst, "2022-09-08"}, {"21.05.14", dayFirst, "2014-05-21"}, {"15-Mar-2023", dayFirst, "2023-03-15"},
	}
	for _, c := range cases {
		found := dates(fold([]rune(c.in)))
		if len(found) != 1 {
			t.Errorf("dates(%q) = %v, want one", c.in, found)
			continue
		}
		if d, ok := found[0].in(c.order); !ok || d.String() != c.want {
			t.Errorf("dates(%q) = %s %v, want %s", c.in, d, ok, c.want)
		}
	}
}

func TestNumbersThatAreNoDates(t *testing.T) {
	for _, in := range []string{"31.02.2024", "192.168.10.12", "1.2.3", "AB-12-05-2024", "12.345,67", "2024-13-01", "32/12/2024", "0123/45678", "Paragraph 19 Abs. 1"} {
		if found := dates(fold([]rune(in))); len(found) != 0 {
			t.Errorf("dates(%q) = %v, want none", in, found)
		}
	}
}

func TestTheOrderOfFiguresIsDecidedByTheDocument(t *testing.T) {
	all := func(texts ...string) (out []date) {
		for _, s := range texts {
			out = append(out, dates(fold([]rune(s)))...)
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

func TestVATIDs(t *testing.T) {
	cases := []struct {
		in, value string
		valid     bool
	}{
		{"ATU12345675", "ATU12345675", true}, {"ATU12345678", "ATU12345678", false}, {"DE136695976", "DE136695976", true}, {"DE 136 695 976", "DE136695976", true},
		{"DE123456789", "DE123456789", false}, {"CHE-116.281.710 MWST", "CHE116281710", true}, {"FR40303265045", "FR40303265045", true}, {"FR 40 303 265 045", "FR40303265045", true},
		{"IT00743110157", "IT00743110157", true}, {"ESB58378431", "ESB58378431", true}, {"NL004495445B01", "NL004495445B01", true}, {"GB980780684", "GB980780684", true},
		{"PL8567346215", "PL8567346215", true}, {"BE0428759497", "BE0428759497", true}, {"LU15027442", "LU15027442", true}, {"SE556188840401", "SE556188840401", true},
		{"PT501964843", "PT501964843", true}, {"DK13585628", "DK13585628", true}, {"FI20774740", "FI20774740", true}, {"SI50223054", "SI50223054", true},
		{"BG175074752", "BG175074752", true}, {"BG175074751", "BG175074751", false}, {"CY10259033P", "CY10259033P", true}, {"CY10259033Z", "CY10259033Z", false}, {"CZ25123891", "CZ25123891", true}, {"CZ25123890", "CZ25123890", false},
		{"EE100931558", "EE100931558", true}, {"EE100594103", "EE100594103", false}, {"EL094259216", "EL094259216", true}, {"EL123456781", "EL123456781", false}, {"HU12892312", "HU12892312", true}, {"HU12892313", "HU12892313", false},
		{"IE6433435F", "IE6433435F", true}, {"IE6433435OA", "IE6433435OA", true}, {"IE8D79739I", "IE8D79739I", true}, {"IE6433435E", "IE6433435E", false}, {"LT119511515", "LT119511515", true}, {"LT100001919017", "LT100001919017", true}, {"LT100001919018", "LT100001919018", false},
		{"LV40003521600", "LV40003521600", true}, {"LV40003521601", "LV40003521601", false}, {"MT11679112", "MT11679112", true}, {"MT11679113", "MT11679113", false}, {"RO18547290", "RO18547290", true}, {"RO18547291", "RO18547291", false},
		{"SK2022749619", "SK2022749619", true}, {"SK2022749618", "SK2022749618", false}, {"NO 988 077 917 MVA", "NO988077917MVA", true}, {"HR33392005961", "HR33392005961", true}, {"NL123456789B13", "NL123456789B13", true},
		{"AT-U12345675", "ATU12345675", true}, {"BE 0428.759.497", "BE0428759497", true}, {"DE-136695976", "DE136695976", true}, {"DK 13 58 56 28", "DK13585628", true}, {"NL 0044.95.445.B01", "NL004495445B01", true}, {"PT 501 964 843", "PT501964843", true}, {"SE 556188-8404 01", "SE556188840401", true}, {"GB 980 780 684", "GB980780684", true},
	}
	for _, c := range cases {
		got := vatIDs(fold([]rune(c.in)))
		if len(got) != 1 || got[0].value != c.value || got[0].valid != c.valid {
			t.Errorf("vatIDs(%q) = %+v, want %s valid %v", c.in, got, c.value, c.valid)
		}
	}
	for _, in := range []string{"IBAN DE75 1234 5678 0000 0012 34", "Rechnung 136695976", "D-63571"} {
		if got := vatIDs(fold([]rune(in))); len(got) != 0 {
			t.Errorf("vatIDs(%q) = %+v, want none", in, got)
		}
	}
}

func TestDaysOfPaymentTerms(t *testing.T) {
	for in, want := range map[string]int{
		"Zahlbar innerhalb von 14 Tagen mit 2 % Skonto, 30 Tage netto.": 30, "30 Tage netto": 30, "Zahlungsziel: 14 Tage": 14,
		"Zahlbar innerhalb von 30 Tagen ohne Abzug.": 30, "Bei Zahlung innerhalb 14 Tagen gewähren wir 2,0% Skonto.": -1, "Net 45 days": 45, "Payment within 14 days": 14,
		"Paiement à 30 jours": 30, "Pagamento a 60 giorni": 60, "Pago a 30 días": 30, "binnen 10 Tagen 3 % Skonto": -1, "Lieferung innerhalb von 5 Tagen": -1,
	} {
		if got := termDays(fold([]rune(in))); got != want {
			t.Errorf("termDays(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestFiltersOfPatternsLoseNothing(t *testing.T) {
	for _, l := range append(append(append([]label{}, numberLabels...), dateLabels...), dueLabels...) {
		for _, text := range []string{"rechnungsnummer", "invoice no 7", "facture no 12", "datum 1.2.2024", "fallig am 3.4.2025", "date d'echeance", "vencimiento", "zahlbar bis"} {
			if l.pattern.MatchString(text) != l.pattern.re.MatchString(text) {
				t.Errorf("%s behaves differently with its filter on %q", l.pattern.re, text)
			}
		}
	}
}

func FuzzAmounts(f *testing.F) {
	f.Add("Summe 1.234,56- € (12.00) CHF 5.–")
	f.Fuzz(func(t *testing.T, s string) {
		runes := []rune(s)
		for _, a := range amounts(runes) {
			if a.start < 0 || a.end > len(runes) || a.start >= a.end || a.decimals > scale+64 {
				t.Fatalf("amount %+v of %q lies outside", a, s)
			}
		}
	})
}

func FuzzDates(f *testing.F) {
	f.Add("vom 3. März 2024 bis 04/25/2025, 2024-02-29")
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range dates(fold([]rune(s))) {
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

func FuzzNumberAt(f *testing.F) {
	f.Add("Nr.: RE 2024/001 vom", 0)
	f.Fuzz(func(t *testing.T, s string, from int) {
		it := &item{runes: []rune(s)}
		it.folded = fold(it.runes)
		if from < 0 || from > len(it.runes) {
			return
		}
		if v, ok := numberAt(it, from, true); ok && (!hasDigit(v) || len(v) > 60) {
			t.Fatalf("number %q of %q", v, s)
		}
	})
}
