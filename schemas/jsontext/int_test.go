package jsontext_test

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/schemas/jsontext"
)

func TestANumberIsItsDecimalDigits(t *testing.T) {
	var numbers []int64
	for power := int64(1); ; power *= 10 {
		numbers = append(numbers, power-1, power, power+1, -power-1, -power, -power+1)
		if power > math.MaxInt64/10 {
			break
		}
	}
	for bit := range 63 {
		numbers = append(numbers, 1<<bit, 1<<bit-1, -1<<bit)
	}
	numbers = append(numbers, math.MaxInt64, math.MaxInt64-1, math.MinInt64, math.MinInt64+1)
	for _, n := range numbers {
		whetherDecimal(t, n)
	}
	rapid.Check(t, func(t *rapid.T) { whetherDecimal(t, rapid.Int64().Draw(t, "number")) })
}

func whetherDecimal(t interface{ Fatalf(string, ...any) }, n int64) {
	if got, want := string(jsontext.AppendInt([]byte("before "), n)), "before "+strconv.FormatInt(n, 10); got != want {
		t.Fatalf("%q instead of %q", got, want)
	}
}
