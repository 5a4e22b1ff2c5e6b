package analytics_test

import (
	"fmt"
	"strings"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// line is a frozen line whose estimate is all uncommitted.
func line(id, parent, level string, eac int64) events.SnapshotLine {
	return events.SnapshotLine{NodeID: id, ParentID: events.Opt[string]{V: parent, Ok: parent != ""}, Level: level,
		Code: id, Uncommitted: eac}
}

func snapshot(lines ...events.SnapshotLine) *analytics.Snapshot {
	return &analytics.Snapshot{ForecastSnapshot: events.ForecastSnapshot{Lines: lines}}
}

func TestDerivedFiguresOfASnapshotLine(t *testing.T) {
	s := snapshot(events.SnapshotLine{NodeID: "a", Budget: 1000, Committed: 300, PendingChanges: 10, Uncommitted: 700,
		Invoiced: 100, Paid: 50})
	e := s.NodesToLevel("")[0].Estimate
	if got, want := fmt.Sprint(e.EAC(), e.Variance(), e.CostToComplete()), "1010 -10 910"; got != want {
		t.Errorf("eac, variance, cost to complete %s, want %s", got, want)
	}
}

func TestSnapshotTotalsAddTheTopLines(t *testing.T) {
	top := events.SnapshotLine{NodeID: "a", Budget: analytics.MaxAmount, Committed: 1, PendingChanges: 2, Uncommitted: 3,
		Invoiced: 4, Paid: 5}
	other, below := top, top
	other.NodeID, below.NodeID, below.ParentID = "b", "c", events.Some("a")
	totals := snapshot(top, below, other).Totals()
	if got, want := fmt.Sprint(totals), "{18014398509481982 2 4 6 8 10}"; got != want {
		t.Errorf("totals %s, want %s: top lines only, beyond the range of one amount", got, want)
	}
}

func TestTheOfficialSnapshot(t *testing.T) {
	version := func(id string, month calendar.Month, version int64, status string) analytics.Snapshot {
		return analytics.Snapshot{ID: id,
			ForecastSnapshot: events.ForecastSnapshot{Month: month, Version: version, Status: status}}
	}
	all := []analytics.Snapshot{
		version("jan1", 1, 1, "approved"), version("jan2", 1, 2, "approved"), version("jan3", 1, 3, "submitted"),
		version("feb1", 2, 1, "rejected"), version("mar", 3, 1, "approved"), version("mar'", 3, 1, "approved"),
		version("may", 5, 1, "revoked"),
	}
	official := analytics.Official(all)
	var ids []string
	for month := range calendar.Month(6) {
		if s := official[month]; s != nil {
			ids = append(ids, s.ID)
		}
	}
	if got, want := strings.Join(ids, " "), "jan2 mar'"; got != want {
		t.Errorf("official %s, want %s", got, want)
	}
	for month, want := range map[calendar.Month]string{1: "", 2: "jan2", 3: "jan2", 4: "mar'", 9: "mar'"} {
		got := ""
		if p := analytics.Previous(official, month); p != nil {
			got = p.ID
		}
		if got != want {
			t.Errorf("previous of month %d is %q, want %q: months without an official one are skipped", month, got, want)
		}
	}
	if analytics.NewestFirst(&all[2], &all[1]) >= 0 || analytics.NewestFirst(&all[4], &all[2]) >= 0 {
		t.Error("newest first means month, then version, descending")
	}
}

func TestABudgetAsOfAMonthShowsParentsFirstDownToALevel(t *testing.T) {
	s := snapshot(line("c", "b", "costItem", 1), line("z", "", "budget", 1), line("b", "a", "subBudget", 1),
		line("a", "", "budget", 1),
		line("e", "d", "budget", 1), line("d", "a", "zone", 1))
	for level, want := range map[string]string{"": "a b c d e z", "budget": "a z", "subBudget": "a b z",
		"costItem": "a b c z"} {
		var ids []string
		for _, n := range s.NodesToLevel(level) {
			ids = append(ids, n.Line.NodeID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("level %q shows %s, want %s", level, got, want)
		}
	}
}

func TestSnapshotChanges(t *testing.T) {
	previous := snapshot(line("r", "", "budget", 100), line("a", "r", "subBudget", 60), line("b", "r", "subBudget", 40),
		line("zero", "", "budget", 0))
	current := snapshot(line("new", "", "budget", 9), line("a", "r", "subBudget", 70), line("r", "", "budget", 75),
		line("idle", "", "budget", 0))
	current.Explanations = []events.Explanation{{NodeID: "a", Reason: " \t"}, {NodeID: "a", Reason: "beams"},
		{NodeID: "r", Reason: " "}, {NodeID: "b", Reason: "dropped"}}

	var listed []string
	for _, c := range current.ChangesSince(previous) {
		before := "null"
		if c.HasBefore {
			before = c.Before.String()
		}
		listed = append(listed, fmt.Sprintf("%s %s>%s %s %v", c.NodeID, before, c.After, c.Delta(), c.Explained))
	}
	want := "new null>9 9 false, a 60>70 10 true, r 0>5 5 false, b 40>0 -40 true"
	if got := strings.Join(listed, ", "); got != want {
		t.Errorf("changes %s, want %s: this snapshot's lines in its order, then those that are gone", got, want)
	}
	if got := current.ChangesSince(nil); len(got) != 0 {
		t.Errorf("without a previous snapshot there are %d changes, want none", len(got))
	}
}
