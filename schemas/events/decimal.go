package events

import (
	"fmt"
	"strconv"
)

// ParseDecimal reads a decimal number of at most MaxDecimals digits, like -12.5: no plus, no leading zeros, no
// exponent. Trailing zeros after the point are dropped, so that equal numbers are equal values.
func ParseDecimal(s string) (Decimal, error) {
	v, ok := parseDecimal(s, MaxDecimals)
	if !ok {
		return v, fmt.Errorf("%s is not a decimal number of at most %d digits, like -12.5", quoted(s), MaxDecimals)
	}
	return v, nil
}

// parseDecimal takes at most so many decimal places, as written.
func parseDecimal(s string, places int) (v Decimal, ok bool) {
	digits := s
	negative := s != "" && s[0] == '-'
	if negative {
		digits = s[1:]
	}
	point := len(digits)
	count := 0
	for i := range len(digits) {
		switch c := digits[i]; {
		case c >= '0' && c <= '9':
			if count++; count > MaxDecimals {
				return Decimal{}, false
			}
			v.Units = v.Units*10 + int64(c-'0')
		case c == '.' && point == len(digits):
			point = i
		default:
			return Decimal{}, false
		}
	}
	fraction := max(len(digits)-point-1, 0)
	if point == 0 || point == len(digits)-1 || point > 1 && digits[0] == '0' || fraction > places {
		return Decimal{}, false
	}
	for v.Scale = uint8(fraction); v.Scale > 0 && v.Units%10 == 0; v.Scale-- {
		v.Units /= 10
	}
	if negative {
		v.Units = -v.Units
	}
	return v, true
}

// less reports whether the number is below a whole one; n*10^Scale must fit into 64 bits where Scale is at most 3.
func (d Decimal) less(n int64) bool {
	whole, rest := d.Units, int64(0)
	for range d.Scale {
		rest = rest | whole%10
		whole /= 10
	}
	return whole < n || whole == n && d.Units < 0 && rest != 0
}

// String writes the number as ParseDecimal reads it.
func (d Decimal) String() string { return string(d.Append(nil)) }

// Append appends the number to b.
func (d Decimal) Append(b []byte) []byte {
	if d.Scale == 0 {
		return strconv.AppendInt(b, d.Units, 10)
	}
	var space [24]byte
	digits := strconv.AppendInt(space[:0], d.Units, 10)
	if digits[0] == '-' {
		b = append(b, '-')
		digits = digits[1:]
	}
	point := len(digits) - int(d.Scale)
	if point <= 0 {
		b = append(b, '0', '.')
		for ; point < 0; point++ {
			b = append(b, '0')
		}
		return append(b, digits...)
	}
	return append(append(append(b, digits[:point]...), '.'), digits[point:]...)
}
