package worker

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/clickhouse"
)

// drawnSummands are those of any entity: keys and amounts come again, or never.
func drawnSummands(most int) *rapid.Generator[[]summand] {
	key := rapid.OneOf(rapid.SampledFrom([]uint32{0, 1, 2, own, own - 1}), rapid.Uint32())
	amount := rapid.OneOf(rapid.SampledFrom([]int64{0, 1, -1, 2, math.MaxInt64, math.MinInt64}), rapid.Int64())
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) summand {
		s := summand{roll: rapid.SampledFrom(clickhouse.Rolls()).Draw(t, "roll")}
		for i := range s.roll.Roll().Keys {
			s.keys[i] = key.Draw(t, "key")
		}
		for i := range s.roll.Roll().Amounts {
			s.amounts[i] = amount.Draw(t, "amount")
		}
		return s
	}), 0, most)
}

// Given contributions of any length, whose shapes are known, new, too long or too many, then each that was packed is
// unpacked as it was, whatever was packed after it.
func TestAPackedContributionIsUnpackedAsItWas(t *testing.T) {
	full := func() (s shapes) {
		for i := range mostShapes {
			var c []summand
			for n := i; n > 0; n /= 5 { // another shape for each number
				roll := []clickhouse.RollID{clickhouse.RollLines, clickhouse.RollPayments, clickhouse.RollRent, clickhouse.RollLinks, clickhouse.RollClaims}[n%5]
				c = append(c, summand{roll: roll})
			}
			s.pack(nil, append(c, summand{roll: clickhouse.RollBudget}))
		}
		return s
	}()
	if len(full.all) != mostShapes {
		t.Fatalf("%d shapes are known", len(full.all))
	}
	for name, s := range map[string]*shapes{"room for shapes": {}, "no room for more": &full} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				all := rapid.SliceOfN(drawnSummands(rapid.SampledFrom([]int{1, 5, 40}).Draw(t, "most")), 1, 5).Draw(t, "contributions")
				var packed [][]byte
				for _, c := range all {
					packed = append(packed, s.pack(nil, c))
				}
				for i, c := range all {
					if got := s.unpack(nil, packed[i]); !slices.Equal(got, c) {
						t.Fatalf("%+v is unpacked as %+v", c, got)
					}
				}
				if len(s.all) > mostShapes || len(s.all) != len(s.numbers) {
					t.Fatalf("%d shapes have %d numbers, at most %d may", len(s.all), len(s.numbers), mostShapes)
				}
				if slices.ContainsFunc(s.all, func(shape string) bool { return len(shape) > longestShape }) {
					t.Fatal("a shape that is too long is kept")
				}
			})
		})
	}
}

// A record's contribution is hardly longer than what tells it apart: two texts of its own beside those of its project,
// a month, net and gross; being paid adds a month.
func TestAContributionHasEachValueOnce(t *testing.T) {
	h, err := newHeads(latest.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	for i := range 1000 { // the numbers of the record's texts have two bytes
		if _, err := h.texts.NumberString(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	const net, gross = 500_000, 600_000 // three bytes each
	approved := analytics.Contribution{
		{Roll: clickhouse.RollReferences, Keys: [clickhouse.MaxRollKeys]string{"contractor"}, Amounts: [clickhouse.MaxRollAmounts]int64{1}},
		{Roll: clickhouse.RollRecognized, Keys: [clickhouse.MaxRollKeys]string{"node", "2026-01"}, Amounts: [clickhouse.MaxRollAmounts]int64{1}},
		{Roll: clickhouse.RollLines, Keys: [clickhouse.MaxRollKeys]string{"contract", "node", "EUR", "approvalPending"},
			Amounts: [clickhouse.MaxRollAmounts]int64{1, 1, net, gross}},
		{Roll: clickhouse.RollLinks, Keys: [clickhouse.MaxRollKeys]string{"contract", "node", "EUR", "R1"}, Amounts: [clickhouse.MaxRollAmounts]int64{1}},
	}
	paid := append(slices.Clone(approved), analytics.Summand{
		Roll: clickhouse.RollPayments, Keys: [clickhouse.MaxRollKeys]string{"node", "EUR", "2026-02"}, Amounts: [clickhouse.MaxRollAmounts]int64{net},
	})
	const shape, text, amount = 1, 2, 3
	for _, state := range []struct {
		name string
		c    analytics.Contribution
		want int
	}{
		{"approved", approved, shape + 6*text + 2*amount},
		{"paid", paid, shape + 7*text + 2*amount},
	} {
		summands, err := h.numbered(nil, "R1", state.c)
		if err != nil {
			t.Fatal(err)
		}
		if packed := h.shapes.pack(nil, summands); len(packed) != state.want {
			t.Errorf("%s: %d bytes, want %d", state.name, len(packed), state.want)
		}
	}
}

// Heads that are forgotten leave no shapes behind.
func TestShapesAreForgottenWithTheHeads(t *testing.T) {
	h, err := newHeads(latest.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	h.shapes.pack(nil, []summand{{roll: clickhouse.RollClaims}})
	h.forget()
	if len(h.shapes.all) != 0 || len(h.shapes.numbers) != 0 {
		t.Errorf("%d shapes are left", len(h.shapes.all))
	}
}
