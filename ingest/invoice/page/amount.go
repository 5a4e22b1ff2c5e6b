package page

import (
	"strings"
	"unicode"
)

// scale is the number of decimals an amount is held with while reading.
const scale = 4

// amount is a number found in text.
type amount struct {
	start, end int   // in runes, currency and sign included
	value      int64 // in 1/10,000 of the currency's unit, with its sign
	decimals   int   // decimals written
	currency   string
	percent    bool
	unit       bool // a quantity: a unit of measure follows
	grouped    bool // has thousands separators
	spaced     bool // grouped by spaces
	foreign    bool // what a sum of the invoice is in another currency
	crowns     bool // "kr" stands beside it, of whichever country
}

// money reports whether the number can be a sum of money as totals print it.
func (a amount) money() bool {
	return !a.percent && !a.unit && !a.foreign && (a.decimals == 2 || (a.currency != "" || a.crowns) && a.decimals <= 2)
}

// maxDigits bounds the whole part: beyond it, a number is an identifier.
const maxDigits = 12

// amounts finds the numbers in s from left to right; none overlaps another.
func (v *vocabulary) amounts(s []rune) []amount {
	var out []amount
	for i := 0; i < len(s); {
		if !isDigit(s[i]) {
			i++
			continue
		}
		if i > 0 && (isLetterOrDigit(s[i-1]) && !currencyEndsAt(s, i) || s[i-1] == '/' || s[i-1] == '_' ||
			s[i-1] == '#') {
			i = skipToken(s, i)
			continue
		}
		a, end, ok := v.parseNumber(s, i)
		if !ok {
			i = max(end, i+1)
			continue
		}
		v.addSurroundings(&a, s)
		if n := len(out); n > 0 && out[n-1].end > a.start { // "€ 1.845,00 € 81.180,00": the sign between is the second one's
			out[n-1].end = a.start
		}
		out = append(out, a)
		i = max(end, a.end)
	}
	return out
}

func isMinus(r rune) bool { return r == '-' || r == '−' || r == '–' }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || isDigit(r) }

func skipToken(s []rune, i int) int {
	for i < len(s) && !unicode.IsSpace(s[i]) {
		i++
	}
	return i
}

// parseNumber reads the number that starts at s[at]; end is where reading
// stopped, also when it is none.
func (v *vocabulary) parseNumber(s []rune, at int) (a amount, end int, ok bool) {
	type part struct {
		separator rune // before the part; 0 for the first
		digits    string
	}
	var parts []part
	i := at
	read := func() string {
		start := i
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		return string(s[start:i])
	}
	parts = append(parts, part{0, read()})
	for i+1 < len(s) && isDigit(s[i+1]) {
		sep := s[i]
		switch sep {
		case '.', ',':
		case '\'', '’', '´', '`', '′', '‘', 'ʼ':
			sep = '\''
		case ' ', 0xA0, 0x202F, 0x2009:
			sep = ' '
			// A space groups three digits only, after at most three.
			if last := parts[len(parts)-1]; groupOf(s, i+1) != 3 || len(last.digits) > 3 ||
				last.separator == ',' || last.separator == '.' {
				sep = 0
			}
		default:
			sep = 0
		}
		if sep == 0 {
			break
		}
		i++
		parts = append(parts, part{sep, read()})
	}
	a = amount{start: at, end: i}
	if i < len(s) && (s[i] == '/' || s[i] == ':' || s[i] == '-' || s[i] == '–') && i+1 < len(s) && isDigit(s[i+1]) {
		return a, skipToken(s, i), false // a date, a time, an identifier
	}
	if i < len(s) && unicode.IsLetter(s[i]) && !currencyStartsAt(s, i) && !crownsAt(s, i) && !v.unitAt(s, i) {
		return a, skipToken(s, i), false
	}
	whole, fraction := parts[0].digits, ""
	last := parts[len(parts)-1]
	groups := parts[1:]
	if len(parts) > 1 {
		same := 0
		for _, p := range groups {
			if p.separator == last.separator {
				same++
			}
		}
		decimal := (last.separator == '.' || last.separator == ',') && same == 1 &&
			(len(last.digits) != 3 || len(groups) > 1 || whole == "0" || len(whole) > 3)
		if decimal {
			fraction = last.digits
			groups = groups[:len(groups)-1]
		}
	}
	crores := len(groups) > 1 && len(whole) < 3 && len(groups[0].digits) == 2 // "1,25,40,000", as in India
	for k, p := range groups {
		digits := 3
		if crores && p.separator == ',' && k < len(groups)-1 {
			digits = 2
		}
		if len(p.digits) != digits || p.separator != groups[0].separator || k == 0 && len(whole) > 3 {
			return a, i, false
		}
		whole += p.digits
	}
	a.grouped = len(groups) > 0
	a.spaced = a.grouped && groups[0].separator == ' '
	// "5.–", "5.--" and "12,-" are whole amounts.
	if fraction == "" && i+1 < len(s) && (s[i] == '.' || s[i] == ',') && (s[i+1] == '-' || s[i+1] == '–' || s[i+1] == '—') {
		fraction = "00"
		for i++; i < len(s) && (s[i] == '-' || s[i] == '–' || s[i] == '—'); {
			i++
		}
		a.end = i
	}
	if len(whole) > maxDigits || len(fraction) > scale && strings.Trim(fraction[scale:], "0") != "" {
		return a, i, false
	}
	if len(whole) > 1 && whole[0] == '0' && len(groups) == 0 && fraction == "" {
		return a, i, false // a leading zero: an identifier
	}
	a.decimals = len(fraction)
	digits := whole + (fraction + "0000")[:scale]
	for _, d := range digits {
		a.value = a.value*10 + int64(d-'0')
	}
	return a, i, true
}

func groupOf(s []rune, i int) int {
	n := 0
	for i+n < len(s) && isDigit(s[i+n]) {
		n++
	}
	return n
}

// addSurroundings reads sign, currency, percent and unit next to the number.
func (v *vocabulary) addSurroundings(a *amount, s []rune) {
	i := a.end
	for i < len(s) && unicode.IsSpace(s[i]) && i-a.end < 3 {
		i++
	}
	negative := false
	if a.end < len(s) && isMinus(s[a.end]) && (a.end+1 >= len(s) || !isLetterOrDigit(s[a.end+1])) {
		negative = true
		a.end++
	}
	if i < len(s) {
		switch {
		case s[i] == '%' || s[i] == '‰':
			a.percent, a.end = true, i+1
		default:
			if code, n := currencyAt(s, i); code != "" {
				a.currency, a.end = code, i+n
			} else if crownsAt(s, i) {
				a.crowns = true
			} else if v.unitAt(s, i) {
				a.unit = true
			}
		}
	}
	p := a.start
	back := func() {
		for p > 0 && unicode.IsSpace(s[p-1]) && a.start-p < 3 {
			p--
		}
	}
	back()
	if code, n := currencyBefore(s, p); code != "" {
		if a.currency == "" {
			a.currency = code
		}
		p -= n
		a.start = p
		back()
	}
	for _, n := range []int{len("kr"), len("kr.")} { // "kr 1 200", "kr. 1 200"
		a.crowns = a.crowns || p >= n && crownsAt(s[:p], p-n) && (p == n || !unicode.IsLetter(s[p-n-1]))
	}
	if p > 0 && isMinus(s[p-1]) &&
		(p < 2 || !isLetterOrDigit(s[p-2]) && (p < 3 || s[p-2] != ' ' || !isDigit(s[p-3]))) {
		negative = true
		p--
		a.start = p
		back()
		if code, n := currencyBefore(s, p); code != "" && a.currency == "" {
			a.currency = code
			a.start = p - n
		}
	}
	if negative {
		a.value = -a.value
	}
	// "PHP 8 developers", "2 CAD stations": no sums of money.
	if a.currency != "" && a.decimals == 0 && !a.grouped && !unmistakable(a.currency) && wordFollows(s[a.end:]) &&
		strings.Contains(string(s[a.start:a.end]), a.currency) {
		a.currency = ""
	}
}

// wordFollows reports whether a text goes on with a word or another number.
func wordFollows(s []rune) bool {
	for _, c := range s {
		if c != ' ' {
			return isLetterOrDigit(c)
		}
	}
	return false
}

// unitAt reports whether a unit of measure stands at s[i].
func (v *vocabulary) unitAt(s []rune, i int) bool {
	end := i
	for end < len(s) && (unicode.IsLetter(s[end]) || s[end] == '²' || s[end] == '³') && end-i < 12 {
		end++
	}
	return v.units[fold(s[i:end])]
}
