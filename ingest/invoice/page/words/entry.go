package words

import (
	"fmt"
	"strings"
)

const (
	gap       = `\b[a-z ,:']{0,70}?\b` // …: some words between
	joint     = `(?: ?\(\d+\))?[ -]*`  // ~: spaces, hyphens, a code in brackets, or nothing
	dayNumber = `(\d{1,3})`            // N
)

// What may stand before an entry.
const (
	partOfWord = "*" // the rest of a longer word
	noWord     = "=" // anything, also behind the entry: where words begin and end does not matter
	anyPlace   = "?" // as the entry says; where the match begins and ends does not matter
)

// expand makes a regular expression over folded text of an entry. after is "*"
// where the entry may begin a longer word.
func expand(entry, before, after string) (string, error) {
	runes := []rune(entry)
	if before == partOfWord && runes[0] != '*' && runes[0] != '^' {
		runes = append([]rune{'*'}, runes...)
	}
	if after == partOfWord && runes[len(runes)-1] != '*' && runes[len(runes)-1] != '$' {
		runes = append(runes, '*')
	}
	var out strings.Builder
	last := len(runes) - 1
	if isWord(runes[0]) && before != noWord {
		out.WriteString(`\b`)
	}
	for i := 0; i < len(runes); i++ {
		c := runes[i]
		// A full stop that may be missing stands behind the word's end.
		if c == '.' && i == last-1 && runes[last] == '?' && i > 0 && isWord(runes[i-1]) && before != noWord {
			out.WriteString(`\b`)
		}
		switch {
		case c == '*' && (i == 0 || i == last) && (before == anyPlace || before == noWord):
		case c == '*' && i == 0:
			out.WriteString(`\b[a-z-]*`)
		case c == '*':
			out.WriteString(`\w*`)
		case c == '…':
			out.WriteString(gap)
		case c == '~':
			out.WriteString(joint)
		case c == 'N':
			out.WriteString(dayNumber)
		case c == ' ' && (i < last && runes[i+1] == 'N' || i > 0 && runes[i-1] == 'N'):
			out.WriteString(` ?`)
		case c == '(':
			out.WriteString(`(?:`)
		case strings.ContainsRune(`|)?^$`, c):
			out.WriteRune(c)
		case c == '\\' && i < last:
			i++
			out.WriteString(`\` + string(runes[i]))
		case c >= 'A' && c <= 'Z':
			return out.String(), fmt.Errorf("capital %q: entries are written in small letters", c)
		case c == '[' || c == ']':
			return out.String(), fmt.Errorf("%q: one of several letters is written (a|b)", c)
		case strings.ContainsRune(`.+{}`, c):
			out.WriteString(`\` + string(c))
		default:
			folded := foldRune(c)
			if folded == '~' {
				return out.String(), fmt.Errorf("character %q has no counterpart from a to z", c)
			}
			if strings.ContainsRune("äöü", c) { // where a printer has none: "Faellig"
				out.WriteString(`(?:` + string(folded) + `e?)`)
				continue
			}
			out.WriteByte(folded)
		}
	}
	// "s?" at the end is part of the word, ".?" stands behind it.
	end := runes[last]
	if end == '?' && last > 0 {
		end = runes[last-1]
	}
	if isWord(end) && before != noWord {
		out.WriteString(`\b`)
	}
	return out.String(), nil
}

// isWord reports whether an entry's character begins or ends a word.
func isWord(c rune) bool {
	if c > 127 {
		c = rune(foldRune(c)) // "№" is no letter
	}
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == 'N' || c == '(' || c == ')'
}
