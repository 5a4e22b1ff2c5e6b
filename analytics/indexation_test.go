package analytics

import (
	"math/big"
	"testing"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// monthly are terms that adjust the rent every month, by the index that published so many values since 1900.
func monthly(published int) (*indexer, events.Opt[events.Indexation]) {
	values := make([]events.IndexValue, published)
	for i := range values {
		values[i] = events.IndexValue{Series: "s", Month: calendar.MinMonth + calendar.Month(i),
			Value: events.Decimal{Units: int64(1000 + i%7*100 + i), Scale: 1}}
	}
	return newIndexer(NewIndexes(values)), events.Some(events.Indexation{Type: indexationCPI, Series: "s", BaseMonth: calendar.MinMonth,
		EveryMonths: 1, ShareBp: events.Decimal{Units: 7_500}, CapBp: events.Some(events.Decimal{Units: 900})})
}

// In whatever order factors are asked for, and whether or not there is room to keep them, each is the product of all its
// adjustments.
func TestAFactorIsTheProductOfItsAdjustments(t *testing.T) {
	for name, room := range map[string]int{"kept": maxFactors, "not kept": 0} {
		indexer, terms := monthly(40)
		indexer.room = room
		a := indexer.of(terms)
		for _, n := range []int{5, 3, 6, len(a.cpi), 20, 5} {
			want := new(big.Rat).SetInt64(1)
			for i := range a.cpi[:n] {
				part, whole := a.change(&a.cpi[i])
				want.Mul(want, new(big.Rat).SetFrac(part.Add(part, whole), whole))
			}
			got := a.factor(n)
			if new(big.Rat).SetFrac(got.num, got.den).Cmp(want) != 0 {
				t.Errorf("%s: the factor of %d adjustments is not their product", name, n)
			}
		}
		if (len(a.factors) > 0) != (room > 0) || indexer.room < 0 {
			t.Errorf("%s: %d factors are kept, %d bytes are left", name, len(a.factors), indexer.room)
		}
	}
}

// A roll asks for the factors of twelve months of each lease: none may begin at the first adjustment again.
func TestAFactorGoesOnFromTheOneBefore(t *testing.T) {
	indexer, terms := monthly(1500)
	a := indexer.of(terms)
	n := len(a.cpi) - 100
	a.factor(n)
	asked := testing.AllocsPerRun(50, func() {
		n++
		a.factor(n)
	})
	if asked > 100 {
		t.Errorf("one more of %d adjustments takes %v allocations", n, asked)
	}
}
