package words

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold maps each character of s to one byte: lower case, without accents, odd
// spaces plain, what is not ASCII "~". Offsets in the result are therefore
// offsets in []rune(s), so labels found in it lead back to the original.
func Fold(s []rune) string {
	out := make([]byte, len(s))
	for i, r := range s {
		out[i] = foldRune(r)
	}
	return string(out)
}

// foldRune is Fold for one character.
func foldRune(r rune) byte {
	switch {
	case r >= 'A' && r <= 'Z':
		return byte(r) + 32
	case r == 0xA0 || r == 0x202F || r == 0x2009:
		return ' '
	case r < 128:
		return byte(r)
	}
	switch r {
	case 'ß':
		return 's'
	case 'ł', 'Ł':
		return 'l'
	case 'đ', 'Đ':
		return 'd'
	case 'ø', 'Ø', 'œ', 'Œ':
		return 'o'
	case 'æ', 'Æ':
		return 'a'
	case 'º', '°':
		return 'o'
	case '’', '‘', '´', '`':
		return '\''
	case '–', '—', '‐', '‑':
		return '-'
	case '：':
		return ':'
	}
	if d := []rune(norm.NFD.String(string(r))); len(d) > 0 && d[0] < 128 {
		return byte(unicode.ToLower(d[0]))
	}
	return '~'
}
