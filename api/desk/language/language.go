// Package language says what people read at the desk in their language: the messages, and the forms of amounts, numbers, dates and
// months. Messages are in messages/<language>/*.json; a test holds the languages to the same keys.
package language

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/big"
	"path"
	"strconv"
	"strings"

	"golang.org/x/text/language"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/money"
)

//go:embed messages
var files embed.FS

// Language is one that the desk speaks. It does not change.
type Language struct {
	Tag      string // as in the lang of a page
	Group    string // between thousands
	Decimal  string // before the fraction
	messages map[string]string
	months   [12]string // short
	date     func(year, month, day int) string
}

// Languages are all that the desk speaks.
type Languages struct {
	all     []*Language
	matcher language.Matcher
}

// minus is the sign of negative numbers: as wide as a plus, and never broken from its number.
const minus = "\u2212"

// Load reads the messages.
func Load() (*Languages, error) {
	english := &Language{Tag: "en", Group: ",", Decimal: ".",
		months: [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}}
	english.date = func(year, month, day int) string { return fmt.Sprintf("%d %s %d", day, english.months[month-1], year) }
	german := &Language{Tag: "de", Group: ".", Decimal: ",",
		months: [12]string{"Jän.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sep.", "Okt.", "Nov.", "Dez."}}
	german.date = func(year, month, day int) string { return fmt.Sprintf("%02d.%02d.%d", day, month, year) }
	ls := &Languages{all: []*Language{english, german}}
	var tags []language.Tag
	for _, l := range ls.all {
		if err := l.load(); err != nil {
			return nil, err
		}
		tags = append(tags, language.Make(l.Tag))
	}
	ls.matcher = language.NewMatcher(tags)
	return ls, nil
}

func (l *Language) load() error {
	l.messages = map[string]string{}
	names, err := fs.Glob(files, path.Join("messages", l.Tag, "*.json"))
	if err != nil {
		return fmt.Errorf("find the messages of %s: %w", l.Tag, err)
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read the messages of %s: %w", l.Tag, err)
		}
		var some map[string]string
		if err := json.Unmarshal(text, &some); err != nil {
			return fmt.Errorf("read the messages in %s: %w", name, err)
		}
		for key, message := range some {
			if _, twice := l.messages[key]; twice {
				return fmt.Errorf("%s has the message %s a second time", name, key)
			}
			l.messages[key] = message
		}
	}
	return nil
}

// All are the languages, the one first that is spoken to those who read none of them.
func (ls *Languages) All() []*Language { return ls.all }

// Of is the language that suits the header Accept-Language best.
func (ls *Languages) Of(accept string) *Language {
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(wanted) == 0 {
		return ls.all[0]
	}
	_, at, _ := ls.matcher.Match(wanted...)
	return ls.all[at]
}

// Text is a message. What it says of values stands in it as {0}, {1} and so on.
func (l *Language) Text(key string, values ...any) (string, error) {
	message, ok := l.messages[key]
	if !ok {
		return "", fmt.Errorf("there is no message %q in %s", key, l.Tag)
	}
	if len(values) == 0 {
		return message, nil
	}
	var pairs []string
	for i, v := range values {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", fmt.Sprint(v))
	}
	return strings.NewReplacer(pairs...).Replace(message), nil
}

// Name is what a value of the API is called, by the message kind.value; the value itself where there is none, as lists may grow.
func (l *Language) Name(kind, value string) string {
	if name, ok := l.messages[kind+"."+value]; ok {
		return name
	}
	return value
}

// Amount is an amount of minor units, without its currency.
func (l *Language) Amount(minor analytics.Int128, code string) string {
	return string(l.form().AppendMinor(nil, minor.String(), money.Decimals(code)))
}

func (l *Language) form() money.Form {
	return money.Form{Minus: minus, Group: l.Group, Point: l.Decimal}
}

// Whole is an amount in whole units, rounded half away from zero: for where there is little room, with the exact one beside it.
func (l *Language) Whole(minor analytics.Int128, code string) string {
	unit := int64(1)
	for range money.Decimals(code) {
		unit *= 10
	}
	rounded, rest := new(big.Int).QuoRem(minor.Big(), big.NewInt(unit), new(big.Int))
	if rest := rest.Int64(); 2*rest >= unit {
		rounded.Add(rounded, big.NewInt(1))
	} else if -2*rest >= unit {
		rounded.Sub(rounded, big.NewInt(1))
	}
	return l.form().Number(rounded.String())
}

// Number is a decimal number like -1234.5, as JSON has it.
func (l *Language) Number(text string) string { return l.form().Number(text) }

// Date is a day.
func (l *Language) Date(d calendar.Date) string {
	year, month, day := d.Time().Date()
	return l.date(year, int(month), day)
}

// Month is a month with its year.
func (l *Language) Month(m calendar.Month) string {
	year, month, _ := m.First().Time().Date()
	return fmt.Sprintf("%s %d", l.months[month-1], year)
}

// ParseMinor reads an amount as people write it in the language, like -1.234,56 or 1234,5, in minor units of a currency. Between
// thousands may be the language's own mark or a blank, and nowhere else.
func (l *Language) ParseMinor(text, code string) (minor int64, ok bool) {
	return l.parseMinor(text, money.Decimals(code))
}

// ParseMinors reads an amount of whichever currency: what it is in minor units by how many decimals the currency has, as far as it can
// be an amount of such a one.
func (l *Language) ParseMinors(text string) map[int]int64 {
	minors := map[int]int64{}
	for decimals := range money.MostDecimals + 1 {
		if minor, ok := l.parseMinor(text, decimals); ok {
			minors[decimals] = minor
		}
	}
	return minors
}

func (l *Language) parseMinor(text string, decimals int) (minor int64, ok bool) {
	text, negative := strings.CutPrefix(strings.ReplaceAll(text, minus, "-"), "-")
	text = strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(text)
	whole, fraction, _ := strings.Cut(text, l.Decimal)
	for _, mark := range []string{l.Group, " "} {
		groups := strings.Split(whole, mark)
		for i, group := range groups {
			if len(groups) > 1 && (i > 0 && len(group) != 3 || len(group) == 0 || len(group) > 3) {
				return 0, false
			}
		}
		whole = strings.Join(groups, "")
	}
	const most = 13 // digits
	if whole == "" || len(whole) > most || len(fraction) > decimals || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, false
	}
	minor, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", decimals-len(fraction)), 10, 64)
	if negative {
		minor = -minor
	}
	return minor, err == nil
}
