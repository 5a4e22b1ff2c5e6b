package analytics_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
)

func TestLargestRemainder(t *testing.T) {
	for name, tc := range map[string]struct {
		total   int64
		weights []int64
		want    []int64
	}{
		"ties go to the earlier position":   {100, []int64{1, 1, 1}, []int64{34, 33, 33}},
		"a credit note mirrors the invoice": {-100, []int64{1, 1, 1}, []int64{-34, -33, -33}},
		"the largest fraction before the tie": {140001, []int64{600000, 300000, 100000, 200000},
			[]int64{70001, 35000, 11667, 23333}},
		"nothing to share":                          {0, []int64{3, 4}, []int64{0, 0}},
		"a zero weight gets nothing":                {10, []int64{0, 3, 0}, []int64{0, 10, 0}},
		"one share takes all":                       {-7, []int64{3}, []int64{-7}},
		"mixed signs floor towards minus infinity":  {10, []int64{5, -2}, []int64{17, -7}},
		"mixed signs of a negative total mirror":    {-10, []int64{5, -2}, []int64{-17, 7}},
		"negative weights are ratios like positive": {10, []int64{-1, -2}, []int64{3, 7}},
		"a product beyond 64 bits": {9007199254740991, []int64{9007199254740991, 9007199254740990},
			[]int64{4503599627370496, 4503599627370495}},
		"the smallest total": {math.MinInt64, []int64{1, 1},
			[]int64{math.MinInt64 / 2, math.MinInt64 / 2}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := analytics.LargestRemainder(tc.total, tc.weights)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("LargestRemainder(%d, %v) = %v, want %v", tc.total, tc.weights, got, tc.want)
			}
		})
	}
}

func TestLargestRemainderRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		total   int64
		weights []int64
		want    error
	}{
		"weights that cancel":           {5, []int64{2, -2}, analytics.ErrNoWeights},
		"no weights":                    {5, nil, analytics.ErrNoWeights},
		"a share that 64 bits lose":     {math.MaxInt64, []int64{1000, -999}, analytics.ErrOutOfRange},
		"a share below the lower bound": {math.MinInt64, []int64{3, -2}, analytics.ErrOutOfRange},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := analytics.LargestRemainder(tc.total, tc.weights); !errors.Is(err, tc.want) {
				t.Errorf("LargestRemainder(%d, %v) = %v, %v, want error %v", tc.total, tc.weights, got, err, tc.want)
			}
		})
	}
}

// The naive rule works unit by unit with rationals: shares start at their floor
// and each missing unit goes to whoever is furthest below its exact share.
func naiveShares(total int64, weights []int64) []*big.Int {
	sum := new(big.Rat)
	for _, w := range weights {
		sum.Add(sum, new(big.Rat).SetInt64(w))
	}
	magnitude := new(big.Rat).SetInt(new(big.Int).Abs(big.NewInt(total)))
	exact := make([]*big.Rat, len(weights))
	shares := make([]*big.Int, len(weights))
	left := new(big.Int).Set(magnitude.Num())
	for i, w := range weights {
		exact[i] = new(big.Rat).Mul(magnitude, new(big.Rat).Quo(new(big.Rat).SetInt64(w), sum))
		shares[i] = floorOf(exact[i])
		left.Sub(left, shares[i])
	}
	for ; left.Sign() > 0; left.Sub(left, big.NewInt(1)) {
		best, bestLack := -1, new(big.Rat)
		for i := range weights {
			lack := new(big.Rat).Sub(exact[i], new(big.Rat).SetInt(shares[i]))
			if best < 0 || lack.Cmp(bestLack) > 0 {
				best, bestLack = i, lack
			}
		}
		shares[best].Add(shares[best], big.NewInt(1))
	}
	if total < 0 {
		for _, s := range shares {
			s.Neg(s)
		}
	}
	return shares
}

func floorOf(r *big.Rat) *big.Int {
	q, m := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if m.Sign() < 0 {
		q.Sub(q, big.NewInt(1))
	}
	return q
}

func amounts() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64Range(-20, 20),
		rapid.Int64Range(-analytics.MaxAmount, analytics.MaxAmount),
	)
}

func TestSharesAddUpAndMirror(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := amounts().Draw(t, "total")
		weights := rapid.OneOf( // those without a negative one are shared in another way
			rapid.SliceOfN(amounts(), 1, 12),
			rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, analytics.MaxAmount)), 1, 12),
		).Draw(t, "weights")
		sum := int64(0)
		for _, w := range weights {
			sum += w
		}
		shares, err := analytics.LargestRemainder(total, weights)
		if sum == 0 {
			if !errors.Is(err, analytics.ErrNoWeights) {
				t.Fatalf("weights that cancel: %v, %v", shares, err)
			}
			return
		}
		naive := naiveShares(total, weights)
		if err != nil {
			if !slices.ContainsFunc(naive, func(s *big.Int) bool { return !s.IsInt64() }) {
				t.Fatalf("all shares fit 64 bits, yet: %v", err)
			}
			return
		}
		mirrored, err := analytics.LargestRemainder(-total, weights)
		if err != nil {
			t.Fatal(err)
		}
		added := new(big.Int)
		for i := range shares {
			added.Add(added, big.NewInt(shares[i]))
			if shares[i] != -mirrored[i] {
				t.Fatalf("share %d of %d is %d, of %d it is %d", i, total, shares[i], -total, mirrored[i])
			}
			if naive[i].Cmp(big.NewInt(shares[i])) != 0 {
				t.Fatalf("share %d = %d, naively %s", i, shares[i], naive[i])
			}
		}
		if added.Cmp(big.NewInt(total)) != 0 {
			t.Fatalf("shares add up to %s, not %d", added, total)
		}
	})
}

func TestUnitsGoToTheLargestOfManyFractionsThatAreClose(t *testing.T) {
	// Given weights of which many leave nearly the same, and some the same
	weights := make([]int64, 200)
	for i := range weights {
		weights[i] = int64(i * i * 7919 % 5003)
	}
	// When totals are shared
	for total := int64(1); total < 200; total++ {
		shares, err := analytics.LargestRemainder(total, weights)
		if err != nil {
			t.Fatal(err)
		}
		// Then each share is the naive one
		for i, naive := range naiveShares(total, weights) {
			if naive.Cmp(big.NewInt(shares[i])) != 0 {
				t.Fatalf("share %d of %d = %d, naively %s", i, total, shares[i], naive)
			}
		}
	}
}

func TestHalfAway(t *testing.T) {
	for _, tc := range []struct{ numerator, denominator, want int64 }{
		{25, 10, 3}, {-25, 10, -3}, {24, 10, 2}, {-24, 10, -2}, {26, 10, 3}, {-26, 10, -3},
		{5, 10, 1}, {-5, 10, -1}, {4, 10, 0}, {0, 7, 0}, {1, 3, 0}, {2, 3, 1}, {-2, 3, -1}, {7, 1, 7},
	} {
		if got := analytics.HalfAway(big.NewInt(tc.numerator),
			big.NewInt(tc.denominator)); got.Cmp(big.NewInt(tc.want)) != 0 {
			t.Errorf("HalfAway(%d/%d) = %s, want %d", tc.numerator, tc.denominator, got, tc.want)
		}
	}
}

func TestInt128AgreesWithBigIntegers(t *testing.T) {
	wide := rapid.Custom(func(t *rapid.T) analytics.Int128 {
		hi := rapid.Int64Range(-1<<62, 1<<62-1).Draw(t, "hi")
		if rapid.Bool().Draw(t, "small") {
			return analytics.Int(hi)
		}
		return analytics.NewInt128(hi, rapid.Uint64().Draw(t, "lo"))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := wide.Draw(t, "a"), wide.Draw(t, "b")
		if got, want := a.Add(b).Big(), new(big.Int).Add(a.Big(), b.Big()); got.Cmp(want) != 0 {
			t.Fatalf("%s + %s = %s, want %s", a, b, got, want)
		}
		if got, want := a.Sub(b).Big(), new(big.Int).Sub(a.Big(), b.Big()); got.Cmp(want) != 0 {
			t.Fatalf("%s - %s = %s, want %s", a, b, got, want)
		}
		if got, want := a.Sign(), a.Big().Sign(); got != want {
			t.Fatalf("sign of %s = %d, want %d", a, got, want)
		}
		back, err := analytics.Int128FromBig(a.Big())
		if err != nil || back != a {
			t.Fatalf("%s came back as %s, %v", a, back, err)
		}
		v, fits := a.Int64()
		if fits != a.Big().IsInt64() || fits && v != a.Big().Int64() {
			t.Fatalf("%s in 64 bits = %d, %v", a, v, fits)
		}
	})
}

// JSON is read to the digit; what is no whole number of 128 bits is refused, and null changes nothing.
func TestInt128ReadsJSON(t *testing.T) {
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 127), big.NewInt(1)).String()
	for _, text := range []string{"0", "-1", "9223372036854775808", "-9223372036854775809", most, "-" + most} {
		var n analytics.Int128
		if err := json.Unmarshal([]byte(text), &n); err != nil || n.String() != text {
			t.Errorf("%s is read as %s: %v", text, n, err)
		}
	}
	for _, text := range []string{"1.5", "1e3", `"1"`, "true", most + "0", strings.Repeat("9", 1000)} {
		n := analytics.Int(7)
		if err := json.Unmarshal([]byte(text), &n); err == nil || n != analytics.Int(7) {
			t.Errorf("%.50s is read as %s", text, n)
		}
	}
	n := analytics.Int(7)
	if err := json.Unmarshal([]byte("null"), &n); err != nil || n != analytics.Int(7) {
		t.Errorf("null is read as %s: %v", n, err)
	}
}

func TestInt128FromBigRefusesWhatItCannotHold(t *testing.T) {
	if _, err := analytics.Int128FromBig(new(big.Int).Lsh(big.NewInt(1), 127)); !errors.Is(err, analytics.ErrOutOfRange) {
		t.Errorf("error %v, want ErrOutOfRange", err)
	}
}

func TestAmountsBeyondTheRangeAreErrors(t *testing.T) {
	const limit = int64(9007199254740991)
	for _, v := range []int64{0, 1, -1, limit, -limit} {
		if got, err := analytics.Int(v).Amount(); err != nil || got != v {
			t.Errorf("Amount of %d = %d, %v", v, got, err)
		}
	}
	for _, v := range []analytics.Int128{
		analytics.Int(limit + 1), analytics.Int(-limit - 1), analytics.Int(math.MaxInt64), analytics.Int(math.MinInt64),
		analytics.NewInt128(1, 0), analytics.NewInt128(-1, 0),
	} {
		if got, err := v.Amount(); !errors.Is(err, analytics.ErrOutOfRange) {
			t.Errorf("Amount of %s = %d, %v, want ErrOutOfRange", v, got, err)
		}
	}
}
