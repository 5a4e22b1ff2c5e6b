// Package jsontext writes JSON strings for everything that writes JSON without encoding/json: change events and answers
// of the API.
package jsontext

import "unicode/utf8"

// AppendString appends s to b as a JSON string. It escapes what JSON demands and nothing else: the quote, the backslash
// and the control characters, a newline as \n and the others as \u00XX. Bytes that are not UTF-8 become U+FFFD.
//
// The output must not change: the content hashes of stored entities are computed from it (events.Event.ContentHash).
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	done := 0 // s[:done] is written
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case verbatim[c]:
			i++
		case c < utf8.RuneSelf:
			b = appendEscaped(append(b, s[done:i]...), c)
			i++
			done = i
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[done:i]...), "\uFFFD"...)
				done = i + 1
			}
			i += size
		}
	}
	return append(append(b, s[done:]...), '"')
}

// verbatim marks the ASCII characters that stand for themselves in a JSON string.
var verbatim = func() (marks [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		marks[c] = c != '"' && c != '\\'
	}
	return marks
}()

func appendEscaped(b []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
}
