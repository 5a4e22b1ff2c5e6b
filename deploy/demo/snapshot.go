package demo

import (
	"fmt"
	"time"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// commit adds for each node what the contract, after so many transitions, has agreed there and what awaits approval. It
// adds nothing while the contract doesn't count in the budget (docs/calculations.md#what-is-booked).
func (c *contract) commit(transitions int, add func(node int, approved, pending int64)) {
	status, amendments := c.state(transitions)
	if status != "signed" && status != "completed" || c.currency != currency {
		return
	}
	for _, l := range c.lines {
		add(l.node, l.base, 0)
	}
	for i, status := range amendments {
		a := &c.amendments[i]
		switch {
		case a.line < 0:
		case status == "approved":
			add(c.lines[a.line].node, a.value, 0)
		case status == "pending":
			add(c.lines[a.line].node, 0, max(0, a.value))
		}
	}
}

// frozen is the budget at the end of the k-th frozen month, a line for each node. Parents are the sums of their
// children.
func (p *project) frozen(k int) []events.SnapshotLine {
	end := int64((p.sums.from+calendar.Month(k)).Last()+1) * day
	lines := make([]events.SnapshotLine, len(p.nodes))
	entered := make([]bool, len(p.nodes))
	for _, b := range p.bookings {
		if b.status == "approved" && b.at < end && b.node >= 0 {
			lines[b.node].Budget += b.amount
		}
	}
	for _, t := range p.transfers {
		if t.status == "approved" && t.at < end {
			lines[t.from].Budget -= t.amount
			lines[t.to].Budget += t.amount
		}
	}
	for i := range p.contracts {
		c := &p.contracts[i]
		transitions := 0
		for transitions < len(c.transitions) && c.transitions[transitions].at < end {
			transitions++
		}
		c.commit(transitions, func(node int, approved, pending int64) {
			lines[node].Committed += approved
			lines[node].PendingChanges += pending
		})
	}
	for _, c := range p.claims {
		if c.at < end && (c.closed == 0 || c.closed >= end) {
			lines[c.node].PendingChanges += expected(c.amount, c.bp)
		}
	}
	for _, leaf := range p.leaves {
		l, sum := &lines[leaf], p.sums.until(leaf, k)
		l.Invoiced, l.Paid = sum.invoiced, sum.paid
		l.Uncommitted = max(0, l.Budget-l.Committed)
	}
	for _, e := range p.entries {
		if e.at < end && (e.withdrawn == 0 || e.withdrawn >= end) {
			lines[e.node].Uncommitted, entered[e.node] = e.amount, true
		}
	}
	for n := len(lines) - 1; n >= 0; n-- { // children come after their parents
		l, nd := &lines[n], p.nodes[n]
		l.NodeID, l.ParentID, l.Level, l.Code, l.Name = nd.id, nd.data.ParentID, nd.data.Level, nd.data.Code, nd.data.Name
		l.UncommittedDefaulted = !entered[n]
		if nd.parent < 0 {
			continue
		}
		up := &lines[nd.parent]
		up.Budget += l.Budget
		up.Committed += l.Committed
		up.PendingChanges += l.PendingChanges
		up.Uncommitted += l.Uncommitted
		up.Invoiced += l.Invoiced
		up.Paid += l.Paid
		entered[nd.parent] = entered[nd.parent] || entered[n]
	}
	return lines
}

// expected is a claim's amount times its probability, rounded half away from zero; no claim here is negative.
func expected(amount int64, bp events.Decimal) int64 {
	whole := int64(10_000)
	for range bp.Scale {
		whole *= 10
	}
	return amount/whole*bp.Units + (amount%whole*bp.Units+whole/2)/whole
}

// addSnapshots freezes the last months of a project. Some are rejected and submitted again; the newest awaits its
// approval.
func (w *world) addSnapshots(p *project) {
	var d dice
	d.take(w.Seed, ofSnapshot, int64(p.number))
	for k := range snapshotMonths {
		month := p.sums.from + calendar.Month(k)
		if month < calendar.Date(p.begin/day).Month() {
			continue
		}
		submitted := int64(month.Last()+1)*day + d.between(1, 4)*day + 9*3600
		decided := submitted + d.between(1, 6)*day
		version := int64(1)
		explained := oneOf(&d, p.leaves)
		reason := oneOf(&d, explanations)
		add := func(status string, entity, at int64) {
			version, submitted, decided := version, submitted, decided
			w.schedule.add(change{
				topic: events.ForecastSnapshots, id: fmt.Sprintf("fs-%04d-%s-%d", p.number+1, month, version),
				version: entity, at: at,
				data: func() any {
					s := &events.ForecastSnapshot{
						ProjectID: p.id, Month: month, Version: version, Status: status,
						SubmittedAt: events.Some(time.Unix(submitted, 0).UTC()), Lines: p.frozen(k),
						Explanations: []events.Explanation{{NodeID: p.nodes[explained].id, Reason: reason}},
					}
					if status != "submitted" {
						s.DecidedAt = events.Some(time.Unix(decided, 0).UTC())
					}
					return s
				},
			})
		}
		if submitted >= w.end {
			continue
		}
		add("submitted", 1, submitted)
		if decided >= w.end || k == snapshotMonths-1 {
			continue
		}
		if d.in10000(1000) {
			add("rejected", 2, decided)
			version, submitted = 2, decided+day
			if decided = submitted + 2*day; decided >= w.end {
				continue
			}
			add("submitted", 1, submitted)
		}
		add("approved", 2, decided)
	}
}
