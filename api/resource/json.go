package resource

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// AppendInt writes a whole number behind b.
func AppendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// AppendBool writes true or false behind b.
func AppendBool(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

// AppendInstant writes an instant in UTC behind b (spec section 2.1), with as many decimals as it has.
func AppendInstant(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, "2006-01-02T15:04:05.999999999Z07:00")
	return append(b, '"')
}

const hexDigits = "0123456789abcdef"

// plain are the bytes that stand for themselves in a JSON string.
var plain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// AppendString writes s as a JSON string behind b. What is not UTF-8 becomes the replacement character; the two line separators that
// JavaScript takes for line ends are escaped.
func AppendString(b []byte, s string) []byte {
	for i := range len(s) {
		if !plain[s[i]] {
			return appendEscaped(b, s, i)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// appendEscaped is AppendString for a string that is plain up to i only.
func appendEscaped(b []byte, s string, i int) []byte {
	b = append(b, '"')
	start := 0
	for i < len(s) {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			b = appendControl(b, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, s[start:i]...)
			b = append(b, `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			b = append(b, s[start:i]...)
			b = append(b, `\u202`...)
			b = append(b, hexDigits[r&0xF])
			start = i + size
		}
		i += size
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// appendControl escapes a quote, a backslash or a control character.
func appendControl(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
}

// maxAmount bounds every amount (spec section 2.1).
const maxAmount = 1<<53 - 1

func inRange(value int64) bool { return value >= -maxAmount && value <= maxAmount }
