package page

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAmountsOfEveryHabit(t *testing.T) {
	v := testVocabulary(t)
	cases := []struct {
		in       string
		want     int64 // 1/10,000
		currency string
		money    bool
	}{
		{"1.234,56", 12345600, "", true}, {"1,234.56", 12345600, "", true}, {"1 234,56", 12345600, "", true},
		{"1'234.56", 12345600, "", true},
		{"1’234.56", 12345600, "", true}, {"12,00-", -120000, "", true}, {"CHF 1'081.--", 10810000, "CHF", true},
		{"5.–", 50000, "", true}, {"Rs -40.00", -400000, "INR", true}, {"1.250,00 lei", 12500000, "RON", true},
		{"12 500 Ft", 125000000, "HUF", true}, {"-12,00", -120000, "", true}, {"−12,00 €", -120000, "EUR", true},
		{"-€ 9,32", -93200, "EUR", true}, {"€ -9,32", -93200, "EUR", true}, {"$20.00 USD", 200000, "USD", true},
		{"CHF 1'234.50", 12345000, "CHF", true},
		{"-CHF 2'105.22", -21052200, "CHF", true}, {"£300", 3000000, "GBP", true}, {"3,500", 35000000, "", false},
		{"$3,500", 35000000, "USD", true},
		{"Fr. 12.50", 125000, "CHF", true}, {"17 115,45PLN", 171154500, "PLN", true}, {"5.–", 50000, "", true},
		{"41,1765", 411765, "", false},
		{"19 %", 190000, "", false}, {"7,5 kg", 75000, "", false}, {"0,00", 0, "", true}, {"1.000.000,00", 10000000000, "", true},
		{"EUR 25", 250000, "EUR", true}, {"₹ 6,72,305.50", 6723055000, "INR", true}, {"1,25,40,000.00", 125400000000, "", true},
	}
	for _, c := range cases {
		got := v.amounts([]rune(c.in))
		if len(got) != 1 || got[0].value != c.want || got[0].currency != c.currency || got[0].money() != c.money {
			t.Errorf("v.amounts(%q) = %+v, want %d %q money %v", c.in, got, c.want, c.currency, c.money)
		}
	}
}

func TestIdentifiersAreNoAmounts(t *testing.T) {
	v := testVocabulary(t)
	for _, in := range []string{"RE-2026", "12/345/6789", "00123", "A4", "2024-01-31", "12:30", "1234567890123", "1.23.456", "AT95 3437",
		"123,45,678.00", "1,2,345.00", "1,234,56,789.00"} {
		for _, a := range v.amounts([]rune(in)) {
			if a.money() {
				t.Errorf("v.amounts(%q) found money %+v", in, a)
			}
		}
	}
}

// TestEveryFormatOfEveryAmountIsReadBack writes amounts as the countries do.
func TestEveryFormatOfEveryAmountIsReadBack(t *testing.T) {
	v := testVocabulary(t)
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.Int64Range(0, 99_999_999_999).Draw(t, "cents")
		style := rapid.SampledFrom([][2]string{{".", ","}, {",", "."}, {" ", ","}, {"'", "."}, {"\u00a0", ","}, {"\u202f", ","},
			{"", ","}, {"", "."}}).Draw(t, "style")
		negative := rapid.Bool().Draw(t, "negative")
		text := format(cents, style[0], style[1])
		want := cents * 100
		if negative {
			text, want = "-"+text, -want
		}
		got := v.amounts([]rune("Summe " + text + " EUR"))
		if len(got) != 1 || got[0].value != want || got[0].currency != "EUR" {
			t.Fatalf("v.amounts(%q) = %+v, want %d", text, got, want)
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

func FuzzAmounts(f *testing.F) {
	v := testVocabulary(f)
	f.Add("Summe 1.234,56- € (12.00) CHF 5.–")
	f.Add("44 ketels à € 1.845,00 € 81.180,00 - 12,00 -EUR 5,00")
	f.Fuzz(func(t *testing.T, s string) {
		runes := []rune(s)
		before := 0
		for _, a := range v.amounts(runes) {
			if a.start < before {
				t.Fatalf("amount %+v of %q begins within the one before, which ends at %d", a, s, before)
			}
			before = a.end
			if a.start < 0 || a.end > len(runes) || a.start >= a.end || a.decimals > scale+64 {
				t.Fatalf("amount %+v of %q lies outside", a, s)
			}
		}
	})
}
