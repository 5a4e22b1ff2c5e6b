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
	// The missing units go to all fractions above the least one that gets any, and of those equal to it to the first.
	s.ranked = append(s.ranked[:0], s.fractions...)
	slices.Sort(s.ranked)
	least := s.ranked[uint64(len(s.ranked))-missing]
	above, _ := slices.BinarySearch(s.ranked, least+1)
	ties := missing - uint64(len(s.ranked)-above)
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
