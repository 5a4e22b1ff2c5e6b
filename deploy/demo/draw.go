package demo

import (
	"math/bits"
	"math/rand/v2"
	"sort"
)

// subject says what is being drawn, so that entities of different kinds with the same number draw differently.
type subject uint64

const (
	ofStructure subject = iota + 1
	ofContractor
	ofProject
	ofContract
	ofBudget
	ofClaim
	ofSnapshot
	ofRecord
	ofRecordID
	ofPlan
	ofUnit
	ofIndex
	ofLoan
)

// dice draws what belongs to one entity. The draws depend on the seed, the subject and the entity's number alone, so
// any entity can be drawn at any time, in any order. PCG's numbers are the same in every release of Go, and only
// integers are computed from them.
type dice struct{ pcg rand.PCG }

func (d *dice) take(seed uint64, s subject, number int64) {
	d.pcg.Seed(scatter(seed+uint64(s)<<56), scatter(uint64(number)))
}

// scatter maps numbers one to one so that neighbours differ in all 64 bits (the finalizer of SplitMix64).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below draws from 0..n-1; the bias is under n in 2^64.
func (d *dice) below(n int) int {
	high, _ := bits.Mul64(d.pcg.Uint64(), uint64(n))
	return int(high)
}

// between draws from least..most.
func (d *dice) between(least, most int64) int64 { return least + int64(d.below(int(most-least)+1)) }

// in10000 is true with a probability of so many in ten thousand.
func (d *dice) in10000(times int) bool { return d.below(10_000) < times }

// percentOf is a random share of a value, from least to most per cent.
func (d *dice) percentOf(value, least, most int64) int64 {
	return value / 100 * d.between(least, most)
}

func oneOf[T any](d *dice, list []T) T { return list[d.below(len(list))] }

// weights choose a position by its weight; each element is the sum of the weights up to and including its own.
type weights []uint32

func (w weights) with(weight uint32) weights {
	if len(w) == 0 {
		return weights{weight}
	}
	return append(w, w[len(w)-1]+weight)
}

func (w weights) draw(d *dice) int {
	n := uint32(d.below(int(w[len(w)-1])))
	return sort.Search(len(w), func(i int) bool { return w[i] > n })
}
