package demo

import (
	"testing"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

func TestBudgetsArePlausible(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		c := readDemo(t, Options{Records: 8_000, Seed: seed}, nil)
		lines, within, over, untouched := 0, 0, 0, 0
		for id := range live[events.Project](c, events.Projects) {
			for _, l := range c.leaves(t, id) {
				lines++
				switch {
				case l.budget <= 0:
					t.Errorf("seed %d, project %s: a line with a budget of %d", seed, id, l.budget)
				case l.budget < max(l.committed, l.invoiced):
					over++
				default:
					within++
				}
				if l.invoiced == 0 && l.committed == 0 {
					untouched++
				}
			}
		}
		t.Logf("seed %d: %d lines, %d within their budget, %d over it, %d untouched", seed, lines, within, over, untouched)
		if within*100 < lines*75 || over*100 < lines*4 || untouched*100 < lines*2 {
			t.Errorf("seed %d: %d lines, %d within their budget, %d over it, %d untouched", seed, lines, within, over, untouched)
		}
		checkContracts(t, c)
	}
}

// checkContracts: contracts in all states, some with more invoiced than agreed, with change orders in all states.
func checkContracts(t *testing.T, c *company) {
	t.Helper()
	invoiced := map[string]int64{}
	for _, r := range live[events.Record](c, events.Records) {
		if r.ContractID.Ok && r.StepKind != "rejected" {
			invoiced[r.ContractID.V] += r.Net.V
		}
	}
	seen := map[string]int{}
	for id, k := range live[events.Contract](c, events.Contracts) {
		seen[k.Status]++
		value := int64(0)
		for _, a := range k.Allocations {
			value += a.Value
		}
		for _, a := range k.Amendments {
			seen["amendment "+a.Status]++
			if a.Status == "approved" {
				value += a.Value
			}
		}
		if k.Status == "signed" && value <= 0 {
			t.Errorf("contract %s is worth %d", id, value)
		}
		switch {
		case k.Status == "signed" && invoiced[id] == 0:
			seen["untouched"]++
		case k.Status == "signed" && invoiced[id] > value:
			seen["exceeded"]++
		}
	}
	for _, state := range []string{"setup", "signed", "completed", "cancelled", "untouched", "exceeded",
		"amendment draft", "amendment pending", "amendment approved", "amendment rejected"} {
		if seen[state] == 0 {
			t.Errorf("no contract %s: %v", state, seen)
		}
	}
}

func TestSnapshotsAddUp(t *testing.T) {
	t.Parallel()
	c := readDemo(t, Options{Records: 10_000}, nil)
	type month struct {
		project string
		month   calendar.Month
	}
	approved := map[month]int{}
	states := map[string]int{}
	for id, s := range live[events.ForecastSnapshot](c, events.ForecastSnapshots) {
		states[s.Status]++
		if s.Status == "approved" {
			approved[month{s.ProjectID, s.Month}]++
		}
		below := map[string]events.SnapshotLine{}
		inner := map[string]bool{}
		for _, l := range s.Lines {
			sum := below[l.ParentID.V]
			sum.Budget += l.Budget
			sum.Committed += l.Committed
			sum.PendingChanges += l.PendingChanges
			sum.Uncommitted += l.Uncommitted
			sum.Invoiced += l.Invoiced
			sum.Paid += l.Paid
			below[l.ParentID.V] = sum
			inner[l.ParentID.V] = true
		}
		for _, l := range s.Lines {
			sum := below[l.NodeID]
			if inner[l.NodeID] && (sum.Budget != l.Budget || sum.Committed != l.Committed ||
				sum.PendingChanges != l.PendingChanges || sum.Uncommitted != l.Uncommitted ||
				sum.Invoiced != l.Invoiced || sum.Paid != l.Paid) {
				t.Fatalf("snapshot %s, line %s: %+v, but the lines below add up to %+v", id, l.NodeID, l, sum)
			}
		}
	}
	for m, n := range approved {
		if n != 1 {
			t.Errorf("%d approved snapshots of %v", n, m)
		}
	}
	if states["submitted"] == 0 || states["approved"] < 50 || states["rejected"] == 0 {
		t.Errorf("snapshots in %v", states)
	}
}

func TestTheLastSnapshotShowsWhatWasBookedUntilThen(t *testing.T) {
	t.Parallel()
	// The data end some weeks after the last snapshot: most lines have had no other budget or contract since.
	c := readDemo(t, Options{Records: 10_000}, nil)
	last := (calendar.NewDate(Now().Year(), int(Now().Month()), 1).Month() - 1).String()
	for id := range live[events.Project](c, events.Projects) {
		frozen := map[string]events.SnapshotLine{}
		for _, s := range live[events.ForecastSnapshot](c, events.ForecastSnapshots) {
			if s.ProjectID == id && s.Month.String() == last {
				for _, l := range s.Lines {
					frozen[l.NodeID] = l
				}
			}
		}
		same, lines := 0, c.leaves(t, id)
		for node, l := range lines {
			if frozen[node].Budget == l.budget && frozen[node].Committed == l.committed {
				same++
			}
			if frozen[node].Invoiced > 2*l.invoiced && l.invoiced > 100_000_00 {
				t.Errorf("project %s, line %s: %d frozen in %s, %d invoiced now", id, node, frozen[node].Invoiced, last,
					l.invoiced)
			}
		}
		if same*100 < len(lines)*80 {
			t.Errorf("project %s: %d of %d lines have the budget and commitments of %s's snapshot", id, same, len(lines), last)
		}
	}
}

func TestTaxNumbersHaveTheirCheckDigits(t *testing.T) {
	for digits, want := range map[string]byte{"1358562": '7'} {
		if got := austrianCheck(digits); got != want {
			t.Errorf("ATU%s: check digit %c, want %c", digits, got, want)
		}
	}
	for digits, want := range map[string]byte{"13669597": '6', "12927339": '8', "14345421": '4'} {
		if got := germanCheck(digits); got != want {
			t.Errorf("DE%s: check digit %c, want %c", digits, got, want)
		}
	}
}
