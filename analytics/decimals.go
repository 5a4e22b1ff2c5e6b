package analytics

import (
	"math/big"

	"tallyhouse/schemas/events"
)

// maxScale is the most decimals that a decimal has: one of its digits stands before the point.
const maxScale = events.MaxDecimals - 1

// decimalSum adds up decimals exactly.
type decimalSum [maxScale + 1]Int128 // by their number of decimals

func (s *decimalSum) add(d events.Decimal) { s[d.Scale] = s[d.Scale].Add(Int(d.Units)) }

// big is the sum in parts of sumWhole.
func (s *decimalSum) big() *big.Int {
	sum := new(big.Int)
	for _, units := range s {
		sum.Mul(sum, big.NewInt(10)).Add(sum, units.Big())
	}
	return sum
}

func sumWhole() *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(maxScale), nil) }

// hundredths is num / den with two decimals, halves away from zero; none where a decimal does not hold it. den is above
// 0.
func hundredths(num, den *big.Int) events.Opt[events.Decimal] {
	units := HalfAway(new(big.Int).Mul(num, big.NewInt(100)), den)
	if !units.IsInt64() {
		return events.Opt[events.Decimal]{}
	}
	return events.Some(trimmed(events.Decimal{Units: units.Int64(), Scale: 2}))
}

// trimmed drops the zeros at the end of the decimals.
func trimmed(d events.Decimal) events.Decimal {
	for ; d.Scale > 0 && d.Units%10 == 0; d.Scale-- {
		d.Units /= 10
	}
	return d
}
