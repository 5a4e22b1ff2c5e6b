package analytics

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// MaxAmount is the largest value, of either sign, that the API shows as an
// amount (docs/calculations.md#amounts): the integers that every JSON reader holds exactly.
const MaxAmount = 1<<53 - 1

// ErrOutOfRange reports a sum that no amount can show, or a number that its type can't hold. No figure is wrapped or clamped: the API shows
// it as null, or the object around it.
var ErrOutOfRange = errors.New("analytics: amount beyond ±9007199254740991")

// Int128 is a sum of amounts in minor units, exact where 64 bits would wrap.
// The zero value is 0. It has room for 2^20 shares of the largest size that a
// split record can yield, so additions cannot overflow on real input.
type Int128 struct {
	hi int64
	lo uint64
}

// NewInt128 puts a value together from its two's complement halves, as columnar
// clients deliver them.
func NewInt128(hi int64, lo uint64) Int128 { return Int128{hi: hi, lo: lo} }

// Words returns the two's complement halves that NewInt128 takes.
func (a Int128) Words() (hi int64, lo uint64) { return a.hi, a.lo }

// Int returns v as an Int128.
func Int(v int64) Int128 { return Int128{hi: v >> 63, lo: uint64(v)} }

// Int128FromBig returns v, or ErrOutOfRange when it needs more than 128 bits.
func Int128FromBig(v *big.Int) (Int128, error) {
	if v.BitLen() > 127 {
		return Int128{}, fmt.Errorf("read a sum of %d bits: %w", v.BitLen(), ErrOutOfRange)
	}
	var magnitude [16]byte
	v.FillBytes(magnitude[:])
	var n Int128
	for i, b := range magnitude {
		if i < 8 {
			n.hi = n.hi<<8 | int64(b)
		} else {
			n.lo = n.lo<<8 | uint64(b)
		}
	}
	if v.Sign() < 0 {
		return n.Neg(), nil
	}
	return n, nil
}

// Add returns a + b.
func (a Int128) Add(b Int128) Int128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return Int128{hi: a.hi + b.hi + int64(carry), lo: lo}
}

// Sub returns a - b.
func (a Int128) Sub(b Int128) Int128 {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return Int128{hi: a.hi - b.hi - int64(borrow), lo: lo}
}

// times returns a * n; a * n must fit.
func (a Int128) times(n uint32) Int128 {
	carry, lo := bits.Mul64(a.lo, uint64(n))
	return Int128{hi: a.hi*int64(n) + int64(carry), lo: lo}
}

// Neg returns -a.
func (a Int128) Neg() Int128 { return Int128{}.Sub(a) }

// Sign returns -1, 0 or 1.
func (a Int128) Sign() int {
	switch {
	case a.hi < 0:
		return -1
	case a.hi == 0 && a.lo == 0:
		return 0
	default:
		return 1
	}
}

// IsZero reports whether a is 0.
func (a Int128) IsZero() bool { return a == Int128{} }

// OrZero returns max(0, a).
func (a Int128) OrZero() Int128 {
	if a.hi < 0 {
		return Int128{}
	}
	return a
}

// AtLeast returns max(a, b).
func (a Int128) AtLeast(b Int128) Int128 { return b.Add(a.Sub(b).OrZero()) }

// Int64 returns a and whether 64 bits hold it.
func (a Int128) Int64() (int64, bool) {
	v := int64(a.lo)
	return v, a.hi == v>>63
}

// Big returns a as a new big integer.
func (a Int128) Big() *big.Int {
	v := new(big.Int).Lsh(big.NewInt(a.hi), 64)
	return v.Add(v, new(big.Int).SetUint64(a.lo))
}

// UnmarshalJSON reads a whole number; null leaves a as it is.
func (a *Int128) UnmarshalJSON(text []byte) error {
	const longest = 40 // bytes that 128 bits take
	if string(text) == "null" {
		return nil
	}
	v, ok := new(big.Int), len(text) <= longest
	if ok {
		v, ok = v.SetString(string(text), 10)
	}
	if !ok {
		return fmt.Errorf("analytics: %.*q is no whole number of 128 bits", longest, text)
	}
	n, err := Int128FromBig(v)
	if err == nil {
		*a = n
	}
	return err
}

// Append appends a in decimal digits to b.
func (a Int128) Append(b []byte) []byte {
	if v, ok := a.Int64(); ok {
		return strconv.AppendInt(b, v, 10)
	}
	return a.Big().Append(b, 10)
}

// String returns a in decimal digits.
func (a Int128) String() string { return string(a.Append(nil)) }

// Amount returns a as the API shows it, or ErrOutOfRange.
func (a Int128) Amount() (int64, error) {
	v, ok := a.Int64()
	if !ok || v == math.MinInt64 || v > MaxAmount || v < -MaxAmount {
		return 0, fmt.Errorf("show %s: %w", a, ErrOutOfRange)
	}
	return v, nil
}
