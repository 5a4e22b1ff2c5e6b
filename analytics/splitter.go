package analytics

import (
	"math/bits"
	"slices"
)

// splitter is largestRemainder for many totals over lists of weights that are not negative: where 64 bits hold the total it
// needs no big integers, and it keeps its working memory.
type splitter struct {
	fractions []uint64
	ranked    []uint64
}

// split appends the shares of total to shares. Weights add up to more than 0 and to less than 2^63.
func (s *splitter) split(total Int128, weights []uint64, shares []Int128) []Int128 {
	var sum uint64
	for _, w := range weights {
		sum += w
	}
	narrow, fits := total.Int64()
	switch {
	case !fits:
		return append(shares, s.splitWide(total, weights)...)
	case narrow < 0: // its shares mirror those of -total
		at := len(shares)
		shares = s.split(total.Neg(), weights, shares)
		for i := range shares[at:] {
			shares[at+i] = shares[at+i].Neg()
		}
		return shares
	}
	s.fractions = s.fractions[:0]
	missing := uint64(narrow)
	for _, w := range weights {
		hi, lo := bits.Mul64(uint64(narrow), w)
		floor, fraction := bits.Div64(hi, lo, sum) // a share is at most the total
		s.fractions = append(s.fractions, fraction)
		shares = append(shares, Int128{lo: floor})
		missing -= floor
	}
	if missing == 0 {
		return shares
	}
	least, ties := s.least(missing, sum)
	for i, fraction := range s.fractions {
		share := &shares[len(shares)-len(weights)+i]
		switch {
		case fraction > least:
			share.lo++
		case fraction == least && ties > 0:
			share.lo++
			ties--
		}
	}
	return shares
}

// least finds to which fractions so many missing units go: one to each that is above least, and to the first ties of those that are
// equal to it. All fractions are below sum. Only those are sorted that begin with the same bits as the least.
func (s *splitter) least(missing, sum uint64) (least, ties uint64) {
	const buckets = 128
	var counts [buckets]uint64
	shift := max(0, bits.Len64(sum)-bits.Len64(buckets-1))
	for _, fraction := range s.fractions {
		counts[fraction>>shift%buckets]++
	}
	ties = missing
	bucket := uint64(buckets - 1)
	for ; counts[bucket] < ties; bucket-- {
		ties -= counts[bucket]
	}
	s.ranked = s.ranked[:0]
	for _, fraction := range s.fractions {
		if fraction>>shift == bucket {
			s.ranked = append(s.ranked, fraction)
		}
	}
	slices.Sort(s.ranked)
	least = s.ranked[uint64(len(s.ranked))-ties]
	above, _ := slices.BinarySearch(s.ranked, least+1)
	return least, ties - uint64(len(s.ranked)-above)
}

func (s *splitter) splitWide(total Int128, weights []uint64) []Int128 {
	wide := make([]Int128, len(weights))
	for i, w := range weights {
		wide[i] = Int128{lo: w}
	}
	shares, err := bigRemainder(total, wide)
	if err != nil { // impossible: the weights are not negative and do not sum to 0
		shares = make([]Int128, len(weights))
		shares[0] = total
	}
	return shares
}
