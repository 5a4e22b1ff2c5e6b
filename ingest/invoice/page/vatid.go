package page

import (
	"strings"
)

// taxID is a tax identifier found in text.
type taxID struct {
	start, end int
	value      string // upper case, as written but without spaces
	country    string // of a VAT id, else empty
	valid      bool   // the country's check digit agrees
	wrong      bool   // it does not; neither, where none is known
}

// vatShape finds VAT ids of Europe and, in the end, of India, with the spaces, dots and hyphens that are printed.
const vatShape = `\b(` +
	`at[ -]?u ?\d{2} ?\d{3} ?\d{3}|at[ -]?u ?\d{8}|` +
	`be[ -]?[01]?\d{3}[ .]?\d{3}[ .]?\d{3}|bg ?\d{9,10}|` +
	`che ?-? ?\d{3}[ .]?\d{3}[ .]?\d{3}|cy ?\d{8}[a-z]|cz ?\d{8,10}|` +
	`de[ -]?\d{3} ?\d{3} ?\d{3}|de ?\d{2} ?\d{3} ?\d{4}|dk[ -]?\d{2} ?\d{2} ?\d{2} ?\d{2}|` +
	`ee ?\d{9}|el ?\d{9}|es ?-? ?[a-z0-9]-?\d{7}-?[a-z0-9]|eu ?\d{9}|` +
	`fi[ -]?\d{7}-?\d|fr ?[a-z0-9]{2} ?\d{3} ?\d{3} ?\d{3}|fr ?\d{3} \d{3} \d{3} \d{2}|` +
	`gb ?\d{3} ?(?:\d{4} ?\d{2}|\d{3} ?\d{3})(?: ?\d{3})?|hr ?\d{11}|hu ?\d{8}|` +
	`ie ?\d[a-z0-9]\d{5}[a-z]{1,2}|it ?-?\d{11}|ix ?\d{9}|lt ?\d{9,12}|lu ?\d{8}|lv ?\d{11}|mt ?\d{8}|` +
	`nl[ -]?\d{3}\.?\d{3}\.?\d{3}\.?b\.?\d{2}|nl ?\d{4}\.?\d{2}\.?\d{3}\.?b\.?\d{2}|no ?\d{3} ?\d{3} ?\d{3} ?mva|` +
	`pl ?\d{10}|pl ?\d{3}[ -]\d{3}[ -]\d{2}[ -]\d{2}|pt ?\d{3} ?\d{3} ?\d{3}|` +
	`ro ?\d{6,10}|se ?\d{6}-?\d{4} ?\d{2}|si ?\d{8}|sk ?\d{10}|xi ?\d{9}|li ?\d{5}|` +
	`\d{2}[a-z]{5}\d{4}[a-z][a-z1-9]z[a-z0-9])\b`

// vatIDs finds VAT ids in a folded text.
func (v *vocabulary) vatIDs(folded string) []taxID {
	if digitsIn(folded) < 6 {
		return nil
	}
	var out []taxID
	for _, m := range v.vatShape.FindAllStringIndex(folded, 32) {
		// An IBAN starts alike: its letters are followed by more figures.
		if rest := folded[m[1]:]; len(rest) > 1 && (rest[0] == ' ' || rest[0] == '-') && rest[1] >= '0' &&
			rest[1] <= '9' && strings.HasPrefix(folded[m[0]:], "de") {
			continue
		}
		value := compact(folded[m[0]:m[1]])
		valid, known, country := false, true, value[:2]
		if isDigit(rune(value[0])) { // a state's number
			valid, country = checkIndia(value), "IN"
		} else {
			valid, known = checkVAT(value)
		}
		out = append(out, taxID{start: m[0], end: m[1], value: value, country: country, valid: valid,
			wrong: known && !valid})
	}
	return out
}

// compact is the comparable form of an identifier: letters and digits, upper case.
func compact(s string) string {
	var out strings.Builder
	for _, r := range strings.ToUpper(s) {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// checkIndia verifies the last character of a number of India's tax on goods and services.
func checkIndia(id string) bool {
	const figures = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	sum := 0
	for i := range len(id) - 1 {
		product := strings.IndexByte(figures, id[i]) * (1 + i%2)
		sum += product/len(figures) + product%len(figures)
	}
	return figures[(len(figures)-sum%len(figures))%len(figures)] == id[len(id)-1]
}

// checkVAT verifies the check digits of a compact VAT id. known is false where
// the country has none that is public, or the id is of a kind without.
func checkVAT(id string) (valid, known bool) {
	if len(id) < 4 {
		return false, false
	}
	body := id[2:]
	switch country := id[:2]; country {
	case "CH":
		return len(id) == 12 && checkWeights(id[3:], []int{5, 4, 3, 2, 7, 6, 5, 4}, 11), true
	case "AT":
		return len(body) == 9 && body[0] == 'U' && checkAustria(body[1:]), true
	case "CY":
		return checkCyprus(body), true
	case "ES":
		return len(body) == 9 && checkSpain(body), true
	case "FR":
		return allDigits(body) && len(body) == 11 && atoi(body[:2]) == (12+3*(atoi(body[2:])%97))%97, allDigits(body)
	case "GB", "XI":
		return checkBritain(body), true
	case "IE":
		return checkIreland(body), true
	case "NL":
		return checkNetherlands(body), true
	case "NO":
		return checkWeights(strings.TrimSuffix(body, "MVA"), []int{3, 2, 7, 6, 5, 4, 3, 2}, 11), true
	case "CZ":
		return len(body) == 8 && checkCzechia(body), len(body) == 8
	default:
		check, known := digitChecks[country]
		return known && allDigits(body) && check(body), known
	}
}

// digitChecks verify VAT ids that are figures alone.
var digitChecks = map[string]func(body string) bool{
	"BE": func(d string) bool {
		if len(d) == 9 {
			d = "0" + d // printed without its leading zero, as before 2005
		}
		return len(d) == 10 && atoi(d[8:]) == 97-atoi(d[:8])%97
	},
	"BG": func(d string) bool {
		check := 0
		if len(d) != 9 {
			return len(d) == 10 // of persons: no check that is the same for all
		}
		if check = weighted(d[:8], []int{1, 2, 3, 4, 5, 6, 7, 8}) % 11; check == 10 {
			check = weighted(d[:8], []int{3, 4, 5, 6, 7, 8, 9, 10}) % 11 % 10
		}
		return check == int(d[8]-'0')
	},
	"DE": func(d string) bool { return len(d) == 9 && checkMod1110(d) },
	"DK": func(d string) bool { return len(d) == 8 && weighted(d, []int{2, 7, 6, 5, 4, 3, 2, 1})%11 == 0 },
	"EE": func(d string) bool { return len(d) == 9 && weighted(d, []int{3, 7, 1, 3, 7, 1, 3, 7, 1})%10 == 0 },
	"EL": func(d string) bool {
		return len(d) == 9 && weighted(d[:8], []int{256, 128, 64, 32, 16, 8, 4, 2})%11%10 == int(d[8]-'0')
	},
	"FI": func(d string) bool { return checkWeights(d, []int{7, 9, 10, 5, 8, 4, 2}, 11) },
	"HR": func(d string) bool { return len(d) == 11 && checkMod1110(d) },
	"HU": func(d string) bool { return len(d) == 8 && weighted(d, []int{9, 7, 3, 1, 9, 7, 3, 1})%10 == 0 },
	"IT": func(d string) bool { return len(d) == 11 && luhn(d) },
	"LT": func(d string) bool {
		if len(d) != 9 && len(d) != 12 {
			return false
		}
		first, second, n := 0, 0, len(d)-1
		for i := range n {
			first += int(d[i]-'0') * (1 + i%9)
			second += int(d[i]-'0') * (1 + (i+2)%9)
		}
		check := first % 11
		if check == 10 {
			check = second % 11 % 10
		}
		return check == int(d[n]-'0')
	},
	"LU": func(d string) bool { return len(d) == 8 && atoi(d[:6])%89 == atoi(d[6:]) },
	"LV": func(d string) bool {
		return len(d) == 11 && (d[0] <= '3' || weighted(d, []int{9, 1, 4, 8, 3, 10, 2, 5, 7, 6, 1})%11 == 3)
	},
	"MT": func(d string) bool { return len(d) == 8 && weighted(d, []int{3, 4, 6, 7, 8, 9, 10, 1})%37 == 0 },
	"PL": func(d string) bool {
		return len(d) == 10 && weighted(d[:9], []int{6, 5, 7, 2, 3, 4, 5, 6, 7})%11 == int(d[9]-'0')
	},
	"PT": func(d string) bool {
		check := 11 - weighted(d, []int{9, 8, 7, 6, 5, 4, 3, 2})%11
		return len(d) == 9 && check%11%10 == int(d[8]-'0')
	},
	"RO": func(d string) bool {
		if len(d) < 2 || len(d) > 10 {
			return false
		}
		padded := strings.Repeat("0", 10-len(d)) + d
		return weighted(padded[:9], []int{7, 5, 3, 2, 1, 7, 5, 3, 2})*10%11%10 == int(d[len(d)-1]-'0')
	},
	"SE": func(d string) bool { return len(d) == 12 && luhn(d[:10]) },
	"SI": func(d string) bool {
		check := 11 - weighted(d, []int{8, 7, 6, 5, 4, 3, 2})%11
		return len(d) == 8 && check != 11 && check%10 == int(d[7]-'0')
	},
	"SK": func(d string) bool { return len(d) == 10 && atoi(d)%11 == 0 },
}

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func weighted(digits string, weights []int) int {
	sum := 0
	for i, w := range weights {
		if i < len(digits) {
			sum += int(digits[i]-'0') * w
		}
	}
	return sum
}

// checkWeights is the usual scheme: modulus minus the weighted sum, 10 and 11
// standing for 0 (10 never valid).
func checkWeights(s string, weights []int, modulus int) bool {
	if len(s) != len(weights)+1 || !allDigits(s) {
		return false
	}
	check := (modulus - weighted(s, weights)%modulus) % modulus
	return check != 10 && check == int(s[len(s)-1]-'0')
}

func checkAustria(s string) bool {
	if len(s) != 8 || !allDigits(s) {
		return false
	}
	return (10-(4+doubledSum(s[:7], 1))%10)%10 == int(s[7]-'0')
}

// checkMod1110 is ISO 7064 mod 11,10.
func checkMod1110(s string) bool {
	product := 10
	for _, c := range s[:len(s)-1] {
		sum := (int(c-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	return (11-product)%10 == int(s[len(s)-1]-'0')
}

// luhn doubles every second digit from the right.
func luhn(s string) bool { return doubledSum(s, len(s)%2)%10 == 0 }

// doubledSum adds up digits, every second of them, from the index start on,
// doubled and its own digits added.
func doubledSum(digits string, start int) int {
	sum := 0
	for i := range len(digits) {
		d := int(digits[i] - '0')
		if i%2 == start {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	return sum
}

func checkBritain(body string) bool {
	if len(body) != 9 && len(body) != 12 || !allDigits(body) {
		return false
	}
	sum := weighted(body[:7], []int{8, 7, 6, 5, 4, 3, 2}) + atoi(body[7:9])
	return sum%97 == 0 || (sum+55)%97 == 0
}

func checkSpain(body string) bool {
	const letters = "TRWAGMYFPDXBNJZSQVHLCKE"
	first, last, middle := body[0], body[8], body[1:8]
	if !allDigits(middle) {
		return false
	}
	switch {
	case first >= '0' && first <= '9':
		return letters[atoi(body[:8])%23] == last
	case first == 'X' || first == 'Y' || first == 'Z':
		return letters[(int(first-'X')*10_000_000+atoi(middle))%23] == last
	}
	check := (10 - doubledSum(middle, 0)%10) % 10
	return last == byte('0'+check) || last == "JABCDEFGHI"[check]
}

func checkCyprus(body string) bool {
	if len(body) != 9 || !allDigits(body[:8]) {
		return false
	}
	odd := []int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21}
	sum := 0
	for i := range 8 {
		d := int(body[i] - '0')
		if i%2 == 0 {
			d = odd[d]
		}
		sum += d
	}
	return body[8] == byte('A'+sum%26)
}

func checkCzechia(body string) bool {
	check := (11 - weighted(body[:7], []int{8, 7, 6, 5, 4, 3, 2})%11) % 11
	if check == 0 {
		check = 1
	}
	return allDigits(body) && check%10 == int(body[7]-'0')
}

func checkIreland(body string) bool {
	if len(body) < 8 || len(body) > 9 {
		return false
	}
	digits, tail := body[:7], body[7:]
	if !allDigits(digits) {
		digits = "0" + body[2:7] + body[:1] // the form of before 2013, a letter second
	}
	if !allDigits(digits) {
		return false
	}
	sum := weighted(digits, []int{8, 7, 6, 5, 4, 3, 2})
	if len(tail) == 2 && tail[1] != 'W' {
		sum += 9 * int(tail[1]-'A'+1)
	}
	return "WABCDEFGHIJKLMNOPQRSTUV"[sum%23] == tail[0]
}

// checkNetherlands knows the check of companies and, since 2020, that of sole
// traders (mod 97 over the whole id).
func checkNetherlands(body string) bool {
	if len(body) != 12 || body[9] != 'B' || !allDigits(body[:9]) || !allDigits(body[10:]) {
		return false
	}
	if weighted(body[:8], []int{9, 8, 7, 6, 5, 4, 3, 2})%11 == int(body[8]-'0') {
		return true
	}
	rest := 0
	for _, c := range "NL" + body {
		if c >= '0' && c <= '9' {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1
}
