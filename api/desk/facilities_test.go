package desk

import "testing"

// Given entries of each kind and state, then those are in a figure that it is made of, repayments less, as they were before a day.
func TestEntriesOfAFacilitysFigures(t *testing.T) {
	on := func(day string) *string { return &day }
	for _, of := range []struct {
		entry                              facilityEntry
		drawn, drawnBefore, requested, any int // the sign, 0 where it isn't in it
	}{
		{facilityEntry{Kind: "drawdown", Status: "funded", Date: on("2026-03-31")}, 1, 1, 0, 1},
		{facilityEntry{Kind: "interest", Status: "funded", Date: on("2026-03-31")}, 1, 1, 0, 1},
		{facilityEntry{Kind: "repayment", Status: "funded", Date: on("2026-03-31")}, -1, -1, 0, 1},
		{facilityEntry{Kind: "drawdown", Status: "funded", Date: on("2026-04-01")}, 1, 0, 0, 1},
		{facilityEntry{Kind: "drawdown", Status: "requested", Date: on("2026-03-31")}, 0, 0, 1, 1},
		{facilityEntry{Kind: "repayment", Status: "requested", Date: on("2026-03-31")}, 0, 0, 0, 1},
		{facilityEntry{Kind: "drawdown", Status: "planned", Date: on("2026-03-31")}, 0, 0, 0, 1},
		{facilityEntry{Kind: "repayment", Status: "planned", Date: on("2026-03-31")}, 0, 0, 0, 1},
	} {
		signOf := func(figure, until string) int {
			sign, ok := of.entry.counts(figure, until)
			if !ok {
				return 0
			}
			return sign
		}
		got := [4]int{signOf(entriesDrawn, ""), signOf(entriesDrawn, "2026-04-01"), signOf(entriesRequested, ""), signOf(entriesAll, "")}
		if want := [4]int{of.drawn, of.drawnBefore, of.requested, of.any}; got != want {
			t.Errorf("%s, %s on %s is in the figures with %v, want %v", of.entry.Kind, of.entry.Status, *of.entry.Date, got, want)
		}
	}
}
