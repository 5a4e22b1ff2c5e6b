package invoice

import (
	"strings"
)

// taxID is a tax identifier found in text.
type taxID struct {
	start, end int
	value      string // upper case, as written but without spaces
	country    string // of a VAT id, else empty
	valid      bool   // the country's check digit agrees; false where none is known
}

// vatPattern finds VAT ids of Europe with optional spaces, dots and hyphens.
var vatPattern = compile(`\b(atu ?\d{2} ?\d{3} ?\d{3}|at ?u ?\d{8}|be ?[01]?\d{3}[ .]?\d{3}[ .]?\d{3}|bg ?\d{9,10}|che ?-? ?\d{3}[ .]?\d{3}[ .]?\d{3}|cy ?\d{8}[a-z]|cz ?\d{8,10}|de ?\d{3} ?\d{3} ?\d{3}|de ?\d{2} ?\d{3} ?\d{4}|dk ?\d{2} ?\d{2} ?\d{2} ?\d{2}|ee ?\d{9}|el ?\d{9}|es ?-? ?[a-z0-9]-?\d{7}-?[a-z0-9]|eu ?\d{9}|fi ?\d{8}|fr ?[a-z0-9]{2} ?\d{3} ?\d{3} ?\d{3}|gb ?\d{3} ?\d{4} ?\d{2}(?: ?\d{3})?|hr ?\d{11}|hu ?\d{8}|ie ?\d[a-z0-9]\d{5}[a-z]{1,2}|it ?\d{11}|ix ?\d{9}|lt ?\d{9,12}|lu ?\d{8}|lv ?\d{11}|mt ?\d{8}|nl ?\d{3}\.?\d{3}\.?\d{3}\.?b\.?\d{2}|pl ?\d{10}|pl ?\d{3}[ -]\d{3}[ -]\d{2}[ -]\d{2}|pt ?\d{9}|ro ?\d{6,10}|se ?\d{12}|si ?\d{8}|sk ?\d{10}|xi ?\d{9}|li ?\d{5})\b`)

// vatIDs finds VAT ids in the folded text of s.
func vatIDs(folded string) []taxID {
	if digitsIn(folded) < 6 {
		return nil
	}
	var out []taxID
	for _, m := range vatPattern.FindAllStringIndex(folded, 32) {
		// An IBAN starts alike: its letters are followed by more figures.
		if rest := folded[m[1]:]; len(rest) > 1 && (rest[0] == ' ' || rest[0] == '-') && rest[1] >= '0' && rest[1] <= '9' && strings.HasPrefix(folded[m[0]:], "de") {
			continue
		}
		value := compact(folded[m[0]:m[1]])
		out = append(out, taxID{start: m[0], end: m[1], value: value, country: value[:2], valid: checkVAT(value)})
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

// checkVAT verifies the check digits of a compact VAT id; false where the
// country has none that is public.
func checkVAT(id string) bool {
	if len(id) < 4 {
		return false
	}
	country, body := id[:2], id[2:]
	switch country {
	case "AT":
		return len(body) == 9 && body[0] == 'U' && checkAustria(body[1:])
	case "BE":
		return len(body) == 10 && allDigits(body) && atoi(body[8:]) == 97-atoi(body[:8])%97
	case "CH":
		return len(id) == 12 && checkWeights(id[3:], []int{5, 4, 3, 2, 7, 6, 5, 4}, 11)
	case "DE":
		return len(body) == 9 && allDigits(body) && checkMod1110(body)
	case "DK":
		return len(body) == 8 && allDigits(body) && weighted(body, []int{2, 7, 6, 5, 4, 3, 2, 1})%11 == 0
	case "ES":
		return len(body) == 9 && checkSpain(body)
	case "FI":
		return len(body) == 8 && checkWeights(body, []int{7, 9, 10, 5, 8, 4, 2}, 11)
	case "FR":
		return len(body) == 11 && allDigits(body) && atoi(body[:2]) == (12+3*(atoi(body[2:])%97))%97
	case "GB", "XI":
		return checkBritain(body)
	case "HR":
		return len(body) == 11 && allDigits(body) && checkMod1110(body)
	case "IT":
		return len(body) == 11 && allDigits(body) && luhn(body)
	case "LU":
		return len(body) == 8 && allDigits(body) && atoi(body[:6])%89 == atoi(body[6:])
	case "NL":
		return len(body) == 12 && body[9] == 'B' && allDigits(body[:9]) && weighted(body[:8], []int{9, 8, 7, 6, 5, 4, 3, 2})%11 == int(body[8]-'0')
	case "PL":
		return len(body) == 10 && allDigits(body) && weighted(body[:9], []int{6, 5, 7, 2, 3, 4, 5, 6, 7})%11 == int(body[9]-'0')
	case "PT":
		return len(body) == 9 && checkWeights(body, []int{9, 8, 7, 6, 5, 4, 3, 2}, 11)
	case "SE":
		return len(body) == 12 && allDigits(body) && luhn(body[:10])
	case "SI":
		return len(body) == 8 && checkWeights(body, []int{8, 7, 6, 5, 4, 3, 2}, 11)
	}
	return false
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
	sum := 4
	for i := range 7 {
		d := int(s[i] - '0')
		if i%2 == 1 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	return (10-sum%10)%10 == int(s[7]-'0')
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

func luhn(s string) bool {
	sum := 0
	for i := range len(s) {
		d := int(s[len(s)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
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
	sum := 0
	for i := range 7 {
		d := int(middle[i] - '0')
		if i%2 == 0 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	check := (10 - sum%10) % 10
	return last == byte('0'+check) || last == "JABCDEFGHI"[check]
}
