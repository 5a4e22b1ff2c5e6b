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

// AppendString writes s as a JSON string behind b. What is not UTF-8 becomes the replacement character; the two line separators that
// JavaScript takes for line ends are escaped.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\b':
				b = append(b, '\\', 'b')
			case '\f':
				b = append(b, '\\', 'f')
			case '\n':
				b = append(b, '\\', 'n')
			case '\r':
				b = append(b, '\\', 'r')
			case '\t':
				b = append(b, '\\', 't')
			default:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
			}
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

// maxAmount bounds every amount (spec section 2.1).
const maxAmount = 1<<53 - 1

func inRange(value int64) bool { return value >= -maxAmount && value <= maxAmount }
