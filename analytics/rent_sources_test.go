package analytics_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// What each lease puts into a rent roll adds up to its figures, whatever the leases; and the months of a lease to what it puts in.
func TestSourcesOfARentRollAddUpToIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, today := rentals().Draw(t, "ledger"), todays(t)
		m := month("2027-06") + calendar.Month(rapid.Int32Range(0, 30).Draw(t, "month"))
		in := l.rentRollInput("P1")
		roll, sources := analytics.RentRoll(in, m, today), analytics.RentSources(in, m, today)

		var passing, other, forward, weights, toExpiry, toBreak big.Int
		var inForce []string
		for i := range sources {
			s := &sources[i]
			months := new(big.Int)
			for _, rent := range analytics.LeaseRents(s.Lease, in.Indexes, m) {
				months.Add(months, rent.Payable.Big())
			}
			if s.InForce {
				inForce = append(inForce, s.ID)
			}
			if !s.InTotals {
				if !s.Forward.IsZero() || s.DaysToExpiry.Ok {
					t.Fatalf("%s is in another currency and puts in %+v", s.ID, s)
				}
				continue
			}
			if months.Cmp(s.Forward.Big()) != 0 {
				t.Fatalf("the months of %s come to %s, the lease to %s", s.ID, months, s.Forward.Big())
			}
			passing.Add(&passing, s.PassingAnnual.Big())
			if s.Category == "other" {
				other.Add(&other, s.PassingAnnual.Big())
			}
			forward.Add(&forward, s.Forward.Big())
			if s.DaysToExpiry.Ok {
				weight := s.Contracted.Big()
				weights.Add(&weights, weight)
				toExpiry.Add(&toExpiry, new(big.Int).Mul(weight, big.NewInt(s.DaysToExpiry.V)))
				toBreak.Add(&toBreak, new(big.Int).Mul(weight, big.NewInt(s.DaysToBreak.V)))
			}
		}
		for name, pair := range map[string][2]*big.Int{
			"rent a year":   {&passing, roll.PassingRentAnnual.Big()},
			"current use":   {&other, roll.PassingRentOtherAnnual.Big()},
			"twelve months": {&forward, roll.ForwardRent12m.Big()},
		} {
			if pair[0].Cmp(pair[1]) != 0 {
				t.Fatalf("%s: the leases come to %s, the rent roll to %s", name, pair[0], pair[1])
			}
		}
		var listed []string
		for _, lease := range roll.Leases {
			listed = append(listed, lease.ID)
		}
		if !slices.Equal(inForce, listed) {
			t.Fatalf("%v are in force, the rent roll lists %v", inForce, listed)
		}
		for name, pair := range map[string]struct {
			days *big.Int
			want events.Opt[events.Decimal]
		}{"to expiry": {&toExpiry, roll.WAULTToExpiryYears}, "to break": {&toBreak, roll.WAULTToBreakYears}} {
			if weights.Sign() == 0 || !pair.want.Ok {
				continue
			}
			years := new(big.Rat).SetFrac(pair.days, &weights)
			hundredths := away(years.Mul(years, big.NewRat(10_000, 36_525)))
			if want := away(new(big.Rat).Mul(rat(pair.want.V), big.NewRat(100, 1))); hundredths.Cmp(want) != 0 {
				t.Fatalf("%s: the leases come to %s hundredths of a year, the rent roll to %s", name, hundredths, want)
			}
		}
	})
}

// Given a lease with a step, rent-free time and indexation that begins within a month, then each month tells what it pays and why.
func TestRentsOfALease(t *testing.T) {
	lease := let("active 2026-01-16 2026-05-10 1000", step("2026-03-01", 2000), free("2026-02-01", "2026-02-28"), fixed("1000 2026-04-01 12"))
	one := analytics.NewLease("L1", lease)
	got := analytics.LeaseRents(&one, nil, month("2026-01"))
	want := []struct {
		month               string
		base                int64
		free                bool
		contracted, payable int64
	}{
		{"2026-01", 1000, false, 1000, 516}, // 16 of 31 days
		{"2026-02", 1000, true, 1000, 0},
		{"2026-03", 2000, false, 2000, 2000},
		{"2026-04", 2000, false, 2200, 2200},
		{"2026-05", 2000, false, 2200, 710}, // 10 of 31 days
	}
	if len(got) != len(want) {
		t.Fatalf("there are %d months, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.Month != month(w.month) || g.Base != w.base || g.RentFree != w.free || g.Contracted != analytics.Int(w.contracted) ||
			g.Payable != analytics.Int(w.payable) {
			t.Errorf("the rent of %s is %+v, want %+v", w.month, g, w)
		}
	}
}
