package page

import (
	"strings"
	"unicode"
)

// isCurrency reports whether a word is one of the ISO 4217 codes that are read.
func isCurrency(word string) bool {
	switch word {
	case "EUR", "USD", "GBP", "CHF", "PLN", "CZK", "HUF", "SEK", "NOK", "DKK", "RON", "BGN", "INR",
		"JPY", "CNY", "CAD", "AUD", "NZD", "SGD", "HKD", "ZAR", "BRL", "MXN", "TRY", "ILS", "AED",
		"SAR", "THB", "KRW", "ISK", "RUB", "UAH", "RSD", "KWD", "BHD", "TND", "MAD", "EGP", "MYR",
		"IDR", "PHP", "VND", "CLP", "COP", "ARS", "PEN", "BAM", "HRK", "EEK", "LVL", "LTL":
		return true
	}
	return false
}

// unmistakable reports whether a code is hardly ever a word or another abbreviation.
// CAD, PEN, PHP, TRY and others are.
func unmistakable(code string) bool {
	switch code {
	case "EUR", "USD", "GBP", "CHF", "PLN", "CZK", "HUF", "NOK", "DKK", "BGN", "HRK", "RSD", "EEK", "LVL", "LTL":
		return true
	}
	return false
}

// currencyWords are spellings other than codes.
var currencyWords = []struct{ text, code string }{
	{"US$", "USD"}, {"A$", "AUD"}, {"C$", "CAD"}, {"NZ$", "NZD"}, {"HK$", "HKD"}, {"S$", "SGD"}, {"R$", "BRL"},
	{"CA$", "CAD"}, {"AU$", "AUD"},
	{"SFr.", "CHF"}, {"sFr.", "CHF"}, {"Fr.", "CHF"}, {"Euro", "EUR"}, {"EURO", "EUR"}, {"euro", "EUR"},
	{"euros", "EUR"}, {"Euros", "EUR"}, {"Eur", "EUR"}, {"eur", "EUR"}, {"eurų", "EUR"}, {"eurot", "EUR"}, {"евро", "EUR"}, {"Евро", "EUR"},
	{"ЕВРО", "EUR"}, {"ευρώ", "EUR"}, {"Ευρώ", "EUR"}, {"ΕΥΡΩ", "EUR"}, {"лв.", "BGN"}, {"лв", "BGN"}, {"ЛВ.", "BGN"}, {"ЛВ", "BGN"},
	{"лева", "BGN"}, {"Лв.", "BGN"}, {"zł", "PLN"}, {"zl", "PLN"},
	{"Rs.", "INR"}, {"Rs", "INR"}, {"Ft", "HUF"}, {"lei", "RON"}, {"Lei", "RON"}, {"Kč", "CZK"}, {"€", "EUR"},
	{"£", "GBP"}, {"$", "USD"}, {"¥", "JPY"}, {"₹", "INR"}, {"₺", "TRY"}, {"₽", "RUB"}, {"₴", "UAH"}, {"₪", "ILS"},
}

// currencyAt returns the currency written at s[i] and its length.
func currencyAt(s []rune, i int) (code string, length int) {
	if i+3 <= len(s) && (i+3 == len(s) || !unicode.IsLetter(s[i+3])) {
		if word := string(s[i : i+3]); isCurrency(word) {
			return word, 3
		}
	}
	for _, w := range currencyWords {
		n := len([]rune(w.text))
		if i+n <= len(s) && string(s[i:i+n]) == w.text && (!unicode.IsLetter(s[i+n-1]) || i+n == len(s) ||
			!unicode.IsLetter(s[i+n])) {
			return w.code, n
		}
	}
	return "", 0
}

// crownsAt reports whether the word for crowns that Denmark, Norway and Sweden share stands at s[i], with or without a full stop.
func crownsAt(s []rune, i int) bool {
	return i+1 < len(s) && (s[i] == 'k' || s[i] == 'K') && s[i+1] == 'r' && (i+2 == len(s) || !unicode.IsLetter(s[i+2]))
}

func currencyStartsAt(s []rune, i int) bool {
	code, _ := currencyAt(s, i)
	return code != ""
}

// currencyBefore returns the currency that ends at s[end], exclusive.
func currencyBefore(s []rune, end int) (code string, length int) {
	for n := 5; n >= 1; n-- {
		if end-n < 0 {
			continue
		}
		if end-n > 0 && unicode.IsLetter(s[end-n]) && unicode.IsLetter(s[end-n-1]) {
			continue
		}
		if code, length := currencyAt(s[:end], end-n); code != "" && length == n {
			return code, n
		}
	}
	return "", 0
}

func currencyEndsAt(s []rune, end int) bool {
	code, _ := currencyBefore(s, end)
	return code != ""
}

// currencyIn returns the first currency code or symbol in s.
func currencyIn(s []rune) string {
	code, _, _ := findCurrency(s)
	return code
}

// findCurrency returns the first currency code or symbol in s, where it stands
// and its length.
func findCurrency(s []rune) (code string, at, length int) {
	for i := range s {
		if i > 0 && unicode.IsLetter(s[i]) && (unicode.IsLetter(s[i-1]) || isDigit(s[i-1]) && s[i] == 'e') {
			continue
		}
		if code, n := currencyAt(s, i); code != "" {
			if strings.HasPrefix(string(s[i:]), "Fr.") && (i+n >= len(s) || !isDigit(s[min(i+n+1, len(s)-1)])) {
				continue // "Fr." is also Friday and Mrs.
			}
			return code, i, n
		}
	}
	return "", 0, 0
}
