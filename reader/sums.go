package reader

import (
	"encoding/binary"
	"fmt"
	"strings"

	"tallyhouse/analytics"
)

// sumSize is how many bytes of a row's sums one Int128 takes.
const sumSize = 16

// packed is the expression of several Int128 as one string, the least significant byte first. Thousands of rows of sums
// travel and are scanned several times faster as one string each than as big integers.
func packed(sums ...string) string {
	bytes := make([]string, len(sums))
	for i, s := range sums {
		bytes[i] = "reinterpretAsFixedString(toInt128(" + s + "))"
	}
	return "concat(" + strings.Join(bytes, ", ") + ", '')"
}

// unpack reads as many sums as there are places for them.
func unpack(text string, into ...*analytics.Int128) error {
	if len(text) != len(into)*sumSize {
		return fmt.Errorf("sums of %d bytes, want %d of %d", len(text), len(into), sumSize)
	}
	var b [sumSize]byte
	for i, sum := range into {
		copy(b[:], text[i*sumSize:])
		*sum = analytics.NewInt128(int64(binary.LittleEndian.Uint64(b[8:])), binary.LittleEndian.Uint64(b[:8]))
	}
	return nil
}
