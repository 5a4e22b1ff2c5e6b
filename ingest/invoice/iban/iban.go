// Package iban knows the numbers of bank accounts (ISO 13616).
package iban

import (
	"regexp"
	"slices"
	"strings"
)

// Lengths of an IBAN without spaces.
const (
	shortest = 15
	longest  = 34
)

var shape = regexp.MustCompile(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}`)

// In finds the IBANs in a text, without their spaces: those whose check digits are right.
func In(text string) []string {
	var out []string
	for _, found := range shape.FindAllString(text, -1) {
		found = strings.ReplaceAll(found, " ", "")
		// Words behind it look like more of it.
		for n := min(len(found), longest); n >= shortest; n-- {
			if Valid(found[:n]) {
				if !slices.Contains(out, found[:n]) {
					out = append(out, found[:n])
				}
				break
			}
		}
	}
	return out
}

// Valid reports whether the check digits of an IBAN without spaces, in capitals, are right.
func Valid(s string) bool { return len(s) >= shortest && len(s) <= longest && Checked(s) }

// Checked is ISO 7064 mod 97,10 with the first four characters, a prefix and the check digits, behind the others.
func Checked(s string) bool {
	if len(s) < 5 || !figures(s[2:4]) || s[0] < 'A' || s[0] > 'Z' || s[1] < 'A' || s[1] > 'Z' {
		return false
	}
	rest := 0
	for _, c := range s[4:] + s[:4] {
		switch {
		case c >= '0' && c <= '9':
			rest = (rest*10 + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			rest = (rest*100 + int(c-'A') + 10) % 97
		default:
			return false
		}
	}
	return rest == 1
}

func figures(s string) bool { return strings.Trim(s, "0123456789") == "" }
