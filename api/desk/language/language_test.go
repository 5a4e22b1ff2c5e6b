package language

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
)

func load(t *testing.T) (english, german *Language) {
	t.Helper()
	ls, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return ls.all[0], ls.all[1]
}

// Every message is there in both languages, with the same values in it, and says something.
func TestBothLanguagesHaveTheSameMessages(t *testing.T) {
	english, german := load(t)
	values := regexp.MustCompile(`\{\d\}`)
	for key, message := range english.messages {
		other, ok := german.messages[key]
		if !ok {
			t.Errorf("%s is not in German", key)
			continue
		}
		a, b := values.FindAllString(message, -1), values.FindAllString(other, -1)
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) || strings.TrimSpace(message) == "" || strings.TrimSpace(other) == "" {
			t.Errorf("%s is %q and %q", key, message, other)
		}
	}
	for key := range german.messages {
		if _, ok := english.messages[key]; !ok {
			t.Errorf("%s is not in English", key)
		}
	}
}

// Every message that a page or the code names is there, and none is there that nothing names.
func TestMessagesAreThoseThatAreNamed(t *testing.T) {
	english, _ := load(t)
	named := map[string]bool{}
	key := regexp.MustCompile("[\"`]([a-z][a-zA-Z]*(?:\\.[a-zA-Z]+)+)[\"`]")
	called := regexp.MustCompile(`(?:\bt |\.text\()"([^"]+)"`)
	prefix := regexp.MustCompile(`(?:name |Name\()"([a-z][a-zA-Z]*)"|"([a-z]+\.)" \+`)
	var prefixes []string
	for _, pattern := range []string{"../*.go", "../templates/*.html"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range key.FindAllStringSubmatch(string(text), -1) {
				named[m[1]] = true
			}
			for _, m := range called.FindAllStringSubmatch(string(text), -1) {
				if _, ok := english.messages[m[1]]; !ok && !strings.HasSuffix(m[1], ".") {
					t.Errorf("%s names the message %s", file, m[1])
				}
			}
			for _, m := range prefix.FindAllStringSubmatch(string(text), -1) {
				prefixes = append(prefixes, strings.TrimSuffix(m[1]+m[2], ".")+".")
			}
		}
	}
	for _, message := range slices.Sorted(maps.Keys(english.messages)) {
		if !named[message] && !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(message, p) }) {
			t.Errorf("nothing names the message %s", message)
		}
	}
}

func TestFormsOfAmountsNumbersAndDates(t *testing.T) {
	english, german := load(t)
	for _, c := range []struct {
		form            func(l *Language) string
		english, german string
	}{
		{func(l *Language) string { return l.Amount(analytics.Int(123456789), "EUR") }, "1,234,567.89", "1.234.567,89"},
		{func(l *Language) string { return l.Amount(analytics.Int(-5), "EUR") }, "−0.05", "−0,05"},
		{func(l *Language) string { return l.Amount(analytics.Int(0), "EUR") }, "0.00", "0,00"},
		{func(l *Language) string { return l.Amount(analytics.Int(1000), "JPY") }, "1,000", "1.000"},
		{func(l *Language) string { return l.Amount(analytics.Int(120000), "RSD") }, "1,200.00", "1.200,00"},
		{func(l *Language) string { return l.Amount(analytics.Int(1234), "KWD") }, "1.234", "1,234"},
		{func(l *Language) string { return l.Amount(analytics.Int(-9007199254740991), "EUR") }, "−90,071,992,547,409.91", "−90.071.992.547.409,91"},
		{func(l *Language) string { return l.Whole(analytics.Int(99950), "EUR") }, "1,000", "1.000"},
		{func(l *Language) string { return l.Whole(analytics.Int(-149), "EUR") }, "−1", "−1"},
		{func(l *Language) string { return l.Whole(analytics.Int(-150), "EUR") }, "−2", "−2"},
		{func(l *Language) string { return l.Number("-1146.5") }, "−1,146.5", "−1.146,5"},
		{func(l *Language) string { return l.Date(calendar.NewDate(2026, 5, 7)) }, "7 May 2026", "07.05.2026"},
		{func(l *Language) string { return l.Month(calendar.NewDate(2026, 1, 7).Month()) }, "Jan 2026", "Jän. 2026"},
	} {
		if got := c.form(english); got != c.english {
			t.Errorf("in English %q, want %q", got, c.english)
		}
		if got := c.form(german); got != c.german {
			t.Errorf("in German %q, want %q", got, c.german)
		}
	}
}

func TestTheLanguageIsTheBrowsers(t *testing.T) {
	ls, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for accept, want := range map[string]string{"": "en", "de": "de", "de-AT,de;q=0.9,en;q=0.8": "de", "en-GB": "en", "fr": "en",
		"fr, de;q=0.5": "de", "en;q=0.3, de-CH;q=0.9": "de", ";;;": "en", "*": "en"} {
		if got := ls.Of(accept).Tag; got != want {
			t.Errorf("%q is answered in %s, want %s", accept, got, want)
		}
	}
}

// Amounts are read as people write them, in minor units of the currency; what could mean two things is none.
func TestAmountsThatAreTyped(t *testing.T) {
	english, german := load(t)
	for _, c := range []struct {
		language *Language
		text     string
		currency string
		want     int64
		ok       bool
	}{
		{german, "1.234,56", "EUR", 123456, true}, {german, "1234,5", "EUR", 123450, true}, {german, "1 234", "EUR", 123400, true},
		{german, "-1.234.567,89", "EUR", -123456789, true}, {german, "\u2212120,00", "EUR", -12000, true}, {german, "0", "EUR", 0, true},
		{german, "1\u00a0234,00", "EUR", 123400, true}, {german, "1234", "JPY", 1234, true}, {german, "1,234", "KWD", 1234, true},
		{english, "1,234.56", "EUR", 123456, true}, {english, "12", "", 1200, true},
		{german, "12.50", "EUR", 0, false}, {english, "1,23", "EUR", 0, false}, {english, "1.234", "EUR", 0, false},
		{german, "1.2345,00", "EUR", 0, false}, {german, ".123", "EUR", 0, false}, {german, "1,2,3", "EUR", 0, false},
		{german, "12,5", "JPY", 0, false}, {german, "", "EUR", 0, false}, {german, "-", "EUR", 0, false}, {german, "--1", "EUR", 0, false},
		{german, "1e3", "EUR", 0, false}, {german, "12345678901234", "EUR", 0, false}, {german, "\u0661", "EUR", 0, false},
		{german, "1234.567", "EUR", 0, false}, {german, "1 2", "EUR", 0, false},
	} {
		if got, ok := c.language.ParseMinor(c.text, c.currency); ok != c.ok || ok && got != c.want {
			t.Errorf("%s %q %s: got %d %t, want %d %t", c.language.Tag, c.text, c.currency, got, ok, c.want, c.ok)
		}
	}
}

// Given an amount without its currency, then it is read as one of every currency that may have so many decimals.
func TestAmountsOfWhicheverCurrency(t *testing.T) {
	english, german := load(t)
	for _, c := range []struct {
		language *Language
		text     string
		want     map[int]int64
	}{
		{german, "50000", map[int]int64{0: 50_000, 1: 500_000, 2: 5_000_000, 3: 50_000_000, 4: 500_000_000}},
		{german, "1.234,5", map[int]int64{1: 12_345, 2: 123_450, 3: 1_234_500, 4: 12_345_000}}, {english, "12.345", map[int]int64{3: 12_345, 4: 123_450}},
		{german, "12.345", map[int]int64{0: 12_345, 1: 123_450, 2: 1_234_500, 3: 12_345_000, 4: 123_450_000}}, {german, "RE-12", map[int]int64{}},
		{german, "", map[int]int64{}},
	} {
		if got := c.language.ParseMinors(c.text); !maps.Equal(got, c.want) {
			t.Errorf("%s %q: got %v, want %v", c.language.Tag, c.text, got, c.want)
		}
	}
}

// Every amount that is shown can be typed as it is shown.
func TestAmountsAreReadAsTheyAreShown(t *testing.T) {
	english, german := load(t)
	for _, l := range []*Language{english, german} {
		for _, code := range []string{"EUR", "JPY", "KWD", "CLF"} {
			for _, minor := range []int64{0, 1, -1, 99, 100, -12345, 1_000_000, 99_999_999_999} {
				if got, ok := l.ParseMinor(l.Amount(analytics.Int(minor), code), code); !ok || got != minor {
					t.Errorf("%s %s: %s is read as %d", l.Tag, code, l.Amount(analytics.Int(minor), code), got)
				}
			}
		}
	}
}
