// Package money knows how many decimals the units of currencies have, and writes minor units as people write amounts.
package money

import (
	"maps"
	"strings"
)

// MostDecimals is the most decimals that a currency has.
const MostDecimals = 4

// usual is how many decimals most currencies have; codes that are none are taken to have as many.
const usual = 2

// unusual are the decimals of all other currencies (ISO 4217). What is customary is no guide: dinars of Serbia are written without
// decimals, and have a hundred minor units.
var unusual = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0, "UYI": 0, "VND": 0,
	"VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"CLF": 4, "UYW": 4,
}

// Decimals is how many decimals the units of a currency have; 2 for codes that are none.
func Decimals(code string) int {
	if n, ok := unusual[code]; ok {
		return n
	}
	return usual
}

// Unusual are the decimals of the currencies that have not two of them.
func Unusual() map[string]int { return maps.Clone(unusual) }

// Form is how numbers are written.
type Form struct {
	Minus string // before negative ones
	Group string // between thousands; "" for none
	Point string // before the decimals
}

// AppendMinor appends minor units, as digits with or without a minus, as whole units with so many decimals.
func (f Form) AppendMinor(b []byte, minor string, decimals int) []byte {
	digits, negative := strings.CutPrefix(minor, "-")
	if short := decimals + 1 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	return f.append(b, digits[:len(digits)-decimals], digits[len(digits)-decimals:], negative)
}

// Number is a decimal number like -1234.5, as JSON has it.
func (f Form) Number(text string) string {
	text, negative := strings.CutPrefix(text, "-")
	whole, decimals, _ := strings.Cut(text, ".")
	return string(f.append(nil, whole, decimals, negative))
}

func (f Form) append(b []byte, whole, decimals string, negative bool) []byte {
	if negative {
		b = append(b, f.Minus...)
	}
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b = append(b, f.Group...)
		}
		b = append(b, whole[i])
	}
	if decimals != "" {
		b = append(append(b, f.Point...), decimals...)
	}
	return b
}
