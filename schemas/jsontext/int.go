package jsontext

import (
	"math/bits"
	"slices"
)

// longestInt is how many bytes a number of 64 bits takes at most, its sign among them.
const longestInt = 20

// AppendInt appends n to b in decimal digits. They are made where they stay: strconv makes them elsewhere and copies them at once, and
// to read what was written digit by digit a moment ago takes longer than to write it. Answers have hundreds of thousands of numbers.
func AppendInt(b []byte, n int64) []byte {
	b = slices.Grow(b, longestInt)
	rest := uint64(n)
	if n < 0 {
		b = append(b, '-')
		rest = -rest
	}
	at := len(b) + digits(rest)
	whole := b[:at]
	for ; rest >= 100; rest /= 100 {
		at -= 2
		pair := pairs[2*(rest%100):]
		whole[at], whole[at+1] = pair[0], pair[1]
	}
	if rest >= 10 {
		at--
		whole[at] = '0' + byte(rest%10)
		rest /= 10
	}
	whole[at-1] = '0' + byte(rest)
	return whole
}

// pairs are the two digits of each number below 100, one after the other.
const pairs = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849" +
	"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

// digits is how many decimal digits a number has.
func digits(n uint64) int {
	const digitsOfBit = 1233 // in 4096
	most := bits.Len64(n) * digitsOfBit >> 12
	if n >= powers[most] {
		most++
	}
	return most
}

// powers are the least numbers with one digit more than their place says; 0 has a digit, too.
var powers = [...]uint64{0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}
