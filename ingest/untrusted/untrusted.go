// Package untrusted makes texts that strangers wrote fit for records, logs and terminals.
package untrusted

import (
	"strings"
	"unicode"
)

// Line is a text on one line: blanks are single, and what cannot be seen is left out, such as control characters and
// marks of direction, and bytes that are no UTF-8.
func Line(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case unicode.IsControl(c), unicode.Is(unicode.Cf, c):
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, ""))
	return strings.Join(strings.Fields(s), " ")
}

// Cut is the beginning of a text, of so many characters, with an ellipsis where there are more.
func Cut(s string, most int) string {
	for i := range s {
		if most--; most < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
