package analytics

import (
	"cmp"
	"strings"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Snapshot is a month-end forecast with its entity's id.
type Snapshot struct {
	ID string
	events.ForecastSnapshot
}

const snapshotApproved = "approved"

// NewestFirst orders snapshots as they are listed: month, then version, then id,
// all descending (docs/calculations.md#month-end-snapshots).
func NewestFirst(a, b *Snapshot) int {
	return cmp.Or(
		cmp.Compare(b.Month, a.Month),
		cmp.Compare(b.Version, a.Version),
		cmp.Compare(b.ID, a.ID),
	)
}

// Official returns the snapshot that counts for each month: the approved one with
// the highest version (docs/calculations.md#official-version), of equal versions the greatest id.
func Official(snapshots []Snapshot) map[calendar.Month]*Snapshot {
	official := make(map[calendar.Month]*Snapshot)
	for i := range snapshots {
		s := &snapshots[i]
		if s.Status != snapshotApproved {
			continue
		}
		if other, ok := official[s.Month]; !ok || NewestFirst(s, other) < 0 {
			official[s.Month] = s
		}
	}
	return official
}

// Previous returns the official snapshot of the latest month before this one that
// has any (docs/calculations.md#changes), nil when there is none.
func Previous(official map[calendar.Month]*Snapshot, month calendar.Month) *Snapshot {
	var previous *Snapshot
	for m, s := range official {
		if m < month && (previous == nil || m > previous.Month) {
			previous = s
		}
	}
	return previous
}

// Totals adds up the snapshot's top lines (docs/calculations.md#totals).
func (s *Snapshot) Totals() Estimate {
	var t Estimate
	for i := range s.Lines {
		if s.Lines[i].ParentID.Ok {
			continue
		}
		line := frozen(&s.Lines[i])
		t.Budget = t.Budget.Add(line.Budget)
		t.Committed = t.Committed.Add(line.Committed)
		t.PendingChanges = t.PendingChanges.Add(line.PendingChanges)
		t.Uncommitted = t.Uncommitted.Add(line.Uncommitted)
		t.Invoiced = t.Invoiced.Add(line.Invoiced)
		t.Paid = t.Paid.Add(line.Paid)
	}
	return t
}

// SnapshotNode is a budget node as a snapshot froze it.
type SnapshotNode struct {
	Line *events.SnapshotLine
	Estimate
}

// NodesToLevel returns the budget as of the snapshot: its lines depth first, those
// at or above the deepest level whose ancestors are shown; empty shows all
// (docs/calculations.md#as-a-budget).
func (s *Snapshot) NodesToLevel(deepest string) []SnapshotNode {
	at := make(map[string]int, len(s.Lines))
	for i := range s.Lines {
		at[s.Lines[i].NodeID] = i
	}
	parent := make([]int, len(s.Lines))
	for i := range s.Lines {
		parent[i] = parentLine(at, s.Lines[i].ParentID)
	}
	order := depthFirst(parent, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(s.Lines[a].Code, s.Lines[b].Code),
			cmp.Compare(s.Lines[a].NodeID, s.Lines[b].NodeID),
		)
	})
	position := make([]int, len(s.Lines))
	for p, i := range order {
		position[i] = p
	}
	shown := toLevel(order, deepest, func(i *int) (level string, above int) {
		if above = parent[*i]; above >= 0 {
			above = position[above]
		}
		return s.Lines[*i].Level, above
	})
	nodes := make([]SnapshotNode, len(shown))
	for n, i := range shown {
		nodes[n] = SnapshotNode{Line: &s.Lines[i], Estimate: frozen(&s.Lines[i])}
	}
	return nodes
}

func parentLine(at map[string]int, id events.Opt[string]) int {
	if !id.Ok {
		return top
	}
	if i, ok := at[id.V]; ok {
		return i
	}
	return absent
}

func frozen(l *events.SnapshotLine) Estimate {
	return Estimate{
		Budget:         Int(l.Budget),
		Committed:      Int(l.Committed),
		PendingChanges: Int(l.PendingChanges),
		Uncommitted:    Int(l.Uncommitted),
		Invoiced:       Int(l.Invoiced),
		Paid:           Int(l.Paid),
	}
}

// EACChange is how far a line's own estimate at completion moved since the
// previous official snapshot (docs/calculations.md#changes).
type EACChange struct {
	NodeID    NodeID
	Before    Int128
	HasBefore bool // false: the line was not in the previous snapshot
	After     Int128
	Explained bool // a reason was given for exactly this line
}

// Delta is After less Before. The deltas of a list add up to the change of the
// total estimate.
func (c *EACChange) Delta() Int128 { return c.After.Sub(c.Before) }

// ChangesSince lists the lines whose own estimate differs from the previous
// official snapshot, nil where there is none (docs/calculations.md#changes): those of s in its
// order, then those that it no longer has in the order of previous.
func (s *Snapshot) ChangesSince(previous *Snapshot) []EACChange {
	if previous == nil {
		return nil
	}
	before, after, explained := previous.ownEACs(), s.ownEACs(), s.explained()
	var changes []EACChange
	list := func(id string) {
		was, had := before[id]
		c := EACChange{NodeID: NodeID(id), Before: was, HasBefore: had, After: after[id], Explained: explained[id]}
		if !c.Delta().IsZero() {
			changes = append(changes, c)
		}
	}
	for i := range s.Lines {
		list(s.Lines[i].NodeID)
	}
	for i := range previous.Lines {
		if _, kept := after[previous.Lines[i].NodeID]; !kept {
			list(previous.Lines[i].NodeID)
		}
	}
	return changes
}

// ownEACs returns the estimate of each line less those of its children, so that a
// line that only rolls up has 0.
func (s *Snapshot) ownEACs() map[string]Int128 {
	own := make(map[string]Int128, len(s.Lines))
	for i := range s.Lines {
		l := &s.Lines[i]
		line := frozen(l)
		own[l.NodeID] = own[l.NodeID].Add(line.EAC())
		if l.ParentID.Ok {
			own[l.ParentID.V] = own[l.ParentID.V].Sub(line.EAC())
		}
	}
	return own
}

func (s *Snapshot) explained() map[string]bool {
	given := make(map[string]bool, len(s.Explanations))
	for _, e := range s.Explanations {
		given[e.NodeID] = given[e.NodeID] || strings.TrimSpace(e.Reason) != ""
	}
	return given
}
