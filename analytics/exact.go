// Package analytics computes every derived figure of the API from plain sums
// and small state: exact integers in, exact integers out, no I/O and no clock.
package analytics

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// ErrNoWeights reports shares asked for over weights that sum to 0. The rule
// that needs the shares says what happens then.
var ErrNoWeights = errors.New("analytics: the weights of the shares sum to 0")

// LargestRemainder cuts total into one share per weight, in proportion to the
// weights, so that the shares add up to total (docs/calculations.md#spreading). Units lost by
// rounding down go to the largest fractions, ties to the earlier position; the
// shares of -total mirror those of total. Weights may have mixed signs; then
// single shares may exceed total, and ErrOutOfRange says that one needs more
// than 64 bits. ErrNoWeights: the weights sum to 0.
func LargestRemainder(total int64, weights []int64) ([]int64, error) {
	wide := make([]Int128, len(weights))
	for i, w := range weights {
		wide[i] = Int(w)
	}
	shares, err := largestRemainder(Int(total), wide)
	if err != nil {
		return nil, fmt.Errorf("share %d over %d weights: %w", total, len(weights), err)
	}
	narrow := make([]int64, len(shares))
	for i, share := range shares {
		v, ok := share.Int64()
		if !ok {
			return nil, fmt.Errorf("share %d over %d weights: share %d is %s: %w", total, len(weights), i, share, ErrOutOfRange)
		}
		narrow[i] = v
	}
	return narrow, nil
}

// largestRemainder is LargestRemainder on sums. Without negative weights its
// only error is ErrNoWeights, for then no share exceeds total.
func largestRemainder(total Int128, weights []Int128) ([]Int128, error) {
	if plain, ok := plainWeights(weights); ok {
		return new(splitter).split(total, plain, make([]Int128, 0, len(weights))), nil
	}
	return bigRemainder(total, weights)
}

// plainWeights returns weights that a splitter takes, as most are: none is negative, and they add up to more than 0 and to
// less than 2^63.
func plainWeights(weights []Int128) (plain []uint64, ok bool) {
	plain = make([]uint64, len(weights))
	var sum uint64
	for i, w := range weights {
		v, fits := w.Int64()
		if !fits || v < 0 || sum > math.MaxInt64-uint64(v) {
			return nil, false
		}
		plain[i] = uint64(v)
		sum += plain[i]
	}
	return plain, sum > 0
}

// bigRemainder is largestRemainder for any weights.
func bigRemainder(total Int128, weights []Int128) ([]Int128, error) {
	var sum Int128
	for _, w := range weights {
		sum = sum.Add(w)
	}
	if sum.IsZero() {
		return nil, ErrNoWeights
	}
	var (
		divisor   = new(big.Int).Abs(sum.Big())
		magnitude = new(big.Int).Abs(total.Big())
		missing   = new(big.Int).Set(magnitude)
		floors    = make([]*big.Int, len(weights))
		fractions = make([]*big.Int, len(weights))
	)
	for i, w := range weights {
		if sum.Sign() < 0 {
			w = w.Neg()
		}
		product := w.Big()
		product.Mul(product, magnitude)
		// Euclidean division by a positive number is the floor for either sign.
		floors[i], fractions[i] = product.DivMod(product, divisor, new(big.Int))
		missing.Sub(missing, floors[i])
	}
	for _, i := range byFraction(fractions)[:missing.Int64()] {
		floors[i].Add(floors[i], big.NewInt(1))
	}
	shares := make([]Int128, len(weights))
	for i, floor := range floors {
		if total.Sign() < 0 {
			floor.Neg(floor)
		}
		share, err := Int128FromBig(floor)
		if err != nil {
			return nil, err
		}
		shares[i] = share
	}
	return shares, nil
}

// byFraction returns the positions ordered by descending fraction, ties to the
// lower position. All fractions have the same divisor.
func byFraction(fractions []*big.Int) []int {
	positions := make([]int, len(fractions))
	for i := range positions {
		positions[i] = i
	}
	slices.SortStableFunc(positions, func(a, b int) int {
		return fractions[b].Cmp(fractions[a])
	})
	return positions
}

// HalfAway returns numerator / denominator rounded to the nearest integer,
// halves away from zero (docs/calculations.md#rounding). The denominator is positive.
func HalfAway(numerator, denominator *big.Int) *big.Int {
	rounded := new(big.Int).Abs(numerator)
	rounded.Lsh(rounded, 1).Add(rounded, denominator)
	rounded.Quo(rounded, new(big.Int).Lsh(denominator, 1))
	if numerator.Sign() < 0 {
		rounded.Neg(rounded)
	}
	return rounded
}
