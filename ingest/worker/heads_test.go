package worker

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/ingest/worker/delta"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/clickhouse"
)

// drawnSummand draws summands of an entity with this id.
func drawnSummand(id string) *rapid.Generator[analytics.Summand] {
	return rapid.Custom(func(t *rapid.T) analytics.Summand {
		s := analytics.Summand{Roll: rapid.SampledFrom(clickhouse.Rolls()).Draw(t, "roll")}
		for i := range s.Roll.Roll().Keys {
			s.Keys[i] = rapid.SampledFrom([]string{"", "a", "b", id}).Draw(t, "key")
		}
		for i := range s.Roll.Roll().Amounts {
			s.Amounts[i] = rapid.SampledFrom([]int64{-1, 0, 1, 1 << 40}).Draw(t, "amount")
		}
		return s
	})
}

// Given two states of an entity, then the summands in which they differ take the sums from one to the other just as all
// of them do; and where the states begin or end alike nothing is summed.
func TestSummandsThatDifferSumUpLikeAll(t *testing.T) {
	h, err := newHeads(latest.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	const id = "R1"
	drawn := drawnSummand(id)
	rapid.Check(t, func(t *rapid.T) {
		numbered := func(c analytics.Contribution) []summand {
			all, err := h.numbered(nil, id, c)
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		some := rapid.SliceOfN(drawn, 0, 3)
		begin, end := some.Draw(t, "begin"), some.Draw(t, "end")
		state := func(name string) []summand {
			return numbered(append(append(append(analytics.Contribution{}, begin...), some.Draw(t, name)...), end...))
		}
		now, was := state("now"), state("was")
		type sums map[delta.Key][clickhouse.MaxRollAmounts]int64
		difference := func(now, was []summand) sums {
			of := sums{}
			add := func(all []summand, sign int64) {
				for i := range all {
					key := all[i].sumKey(1, 1, 0)
					amounts := of[key]
					for j := range amounts {
						amounts[j] += sign * all[i].amounts[j]
					}
					if of[key] = amounts; amounts == [clickhouse.MaxRollAmounts]int64{} {
						delete(of, key)
					}
				}
			}
			add(now, 1)
			add(was, -1)
			return of
		}
		restOfNow, restOfWas := differing(now, was)
		if got, want := difference(restOfNow, restOfWas), difference(now, was); !maps.Equal(got, want) {
			t.Fatalf("what differs sums up to %v, all to %v", got, want)
		}
		if len(restOfNow) > 0 && len(restOfWas) > 0 && restOfNow[0] == restOfWas[0] {
			t.Fatal("both still begin with the same summand")
		}
		if most := len(now) - len(begin) - len(end); len(restOfNow) > most {
			t.Fatalf("%d summands are left of %d, though %d are the same", len(restOfNow), len(now), len(begin)+len(end))
		}
	})
}
