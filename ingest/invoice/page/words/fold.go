package words

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold maps each character of s to one byte: lower case, without accents, Greek
// and Cyrillic letters as Latin ones, odd spaces plain, what else is not ASCII "~".
// Offsets in the result are therefore offsets in []rune(s), so labels found in it
// lead back to the original, and patterns need to know the letters a to z alone.
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
	case 'đ', 'Đ', 'ð', 'Ð':
		return 'd'
	case 'þ', 'Þ':
		return 't'
	case 'ħ', 'Ħ':
		return 'h'
	case 'ı':
		return 'i'
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
	case '№':
		return '#'
	}
	if letter := latin(unicode.ToLower(r)); letter != 0 {
		return letter
	}
	d := []rune(norm.NFD.String(string(r)))
	if len(d) == 0 {
		return '~'
	}
	if d[0] < 128 {
		return byte(unicode.ToLower(d[0]))
	}
	if letter := latin(unicode.ToLower(d[0])); letter != 0 {
		return letter
	}
	return '~'
}

// The Latin letter for each small one of Greek and Cyrillic without accents, in their order. Greek ones are mostly those of its
// keyboard, so that no two are the same; Cyrillic ones are those of the Slavic words that are written in Latin letters without their
// accents: "сума" is "suma" in Slovenian, too, and "фактура" is "faktura".
const (
	// αβγδεζηθικλμνξοπρςστυφχψω
	greekInLatin = "abgdezhuiklmnjoprsstyfxcv"
	// абвгдежзийклмнопрстуфхцчшщъыьэюя, then ѐёђѓєѕіїјљњћќѝўџ and ґ
	cyrillicInLatin = "abvgdezzijklmnoprstufhccswyyxeuq" + "eedgeziijlnckiudg"
)

// latin is the Latin letter for a small one of Greek or Cyrillic; 0 for others.
func latin(r rune) byte {
	switch {
	case r >= 'α' && r <= 'ω':
		return greekInLatin[r-'α']
	case r >= 'а' && r <= 'я':
		return cyrillicInLatin[r-'а']
	case r >= 'ѐ' && r <= 'џ':
		return cyrillicInLatin['я'-'а'+1+r-'ѐ']
	case r == 'ґ':
		return cyrillicInLatin[len(cyrillicInLatin)-1]
	}
	return 0
}
