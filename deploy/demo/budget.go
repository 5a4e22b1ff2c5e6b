package demo

import (
	"fmt"

	"tallyhouse/schemas/events"
)

// booking is a booking of budget, approved or not.
type booking struct {
	node    int // -1: on no line
	kind    string
	status  string
	at      int64
	percent int64 // of the leaf's budget
	amount  int64
}

// transfer moves budget between two leaves.
type transfer struct {
	from, to int
	status   string
	at       int64
	percent  int64
	amount   int64
}

// entry is what somebody entered as still to be contracted on a leaf.
type entry struct {
	node      int
	at        int64
	percent   int64 // of what the default would be
	amount    int64
	withdrawn int64 // when; 0: never
}

// claim is an expected claim.
type claim struct {
	node     int
	contract int // position, -1: none
	at       int64
	closed   int64 // when; 0: open
	removed  bool  // deleted after it was closed
	percent  int64 // of what is usual on a leaf
	bp       events.Decimal
	amount   int64
}

// drawBudget draws what was booked on the project's lines and when; the amounts follow from what is invoiced
// (valueBudget).
func (w *world) drawBudget(p *project) {
	var d dice
	d.take(w.Seed, ofBudget, int64(p.number))
	later := func() int64 { return p.begin + 60*day + int64(d.below(int(w.end-p.begin-61*day))) }
	for _, leaf := range p.leaves {
		p.bookings = append(p.bookings, booking{node: leaf, kind: "initial", status: "approved", at: p.begin + 2*day,
			percent: 100})
		if d.in10000(2500) {
			percent := d.between(4, 14)
			if d.in10000(1500) {
				percent = -percent
			}
			p.bookings[len(p.bookings)-1].percent -= percent
			p.bookings = append(p.bookings, booking{node: leaf, kind: "addendum", status: "approved", at: later(),
				percent: percent})
		}
		if d.in10000(700) {
			status := oneOf(&d, []string{"draft", "draft", "rejected"})
			p.bookings = append(p.bookings, booking{node: leaf, kind: "addendum", status: status, at: later(),
				percent: d.between(3, 20)})
		}
		if d.in10000(700) && !p.nodes[leaf].line.retired {
			e := entry{node: leaf, at: later(), percent: d.between(40, 130)}
			if d.in10000(2000) {
				e.withdrawn = e.at + d.between(1, w.end-e.at-1)
			}
			p.entries = append(p.entries, e)
		}
	}
	if d.in10000(5000) { // a reserve that nobody has put on a line yet
		p.bookings = append(p.bookings, booking{node: -1, kind: "addendum", status: "approved", at: later(),
			percent: d.between(20, 60)})
	}
	for range d.between(3, 7) {
		t := transfer{from: oneOf(&d, p.leaves), to: oneOf(&d, p.leaves), at: later(), percent: d.between(2, 7)}
		t.status = oneOf(&d, []string{"approved", "approved", "approved", "draft", "rejected"})
		if t.from != t.to {
			p.transfers = append(p.transfers, t)
		}
	}
	w.drawClaims(p, later)
}

func (w *world) drawClaims(p *project, later func() int64) {
	var d dice
	d.take(w.Seed, ofClaim, int64(p.number))
	chances := []events.Decimal{{Units: 1000}, {Units: 2500}, {Units: 5000}, {Units: 7500}, {Units: 33333, Scale: 1},
		{Units: 10_000}}
	for range d.between(3, 8) {
		c := claim{node: oneOf(&d, p.leaves), contract: -1, at: later(), percent: d.between(3, 30), bp: oneOf(&d, chances)}
		if on := p.contractsOn[c.node]; len(on) > 0 && d.in10000(7000) {
			c.contract = oneOf(&d, on)
		}
		if d.in10000(4500) {
			c.closed = c.at + 1 + int64(d.below(int(w.end-c.at-1)))
			c.removed = d.in10000(1500) && c.closed+day < w.end
		}
		p.claims = append(p.claims, c)
	}
}

// valueBudget sets the amounts: most leaves have more budget than they need, some less, those without invoices about
// what is usual.
func (w *world) valueBudget(p *project) {
	var d dice
	d.take(w.Seed, ofBudget, -int64(p.number)-1)
	usual := p.usual()
	committed := p.committed()
	budget := make([]int64, len(p.nodes))
	for _, leaf := range p.leaves {
		need := max(p.sums.all(leaf).invoiced, committed[leaf])
		switch n := d.below(100); {
		case need <= 0:
			need = d.percentOf(usual, 10, 80)
		case n < 78:
			need = d.percentOf(need, 103, 128)
		case n < 89:
			need = d.percentOf(need, 82, 98)
		default:
			need = d.percentOf(need, 140, 200)
		}
		budget[leaf] = rounded(need, 1_000_00)
	}
	initial := make(map[int]*booking, len(p.leaves))
	for i := range p.bookings {
		b := &p.bookings[i]
		if b.node < 0 {
			b.amount = rounded(usual/100*b.percent, 1_000_00)
			continue
		}
		b.amount = budget[b.node] / 100 * b.percent
		if b.kind == "initial" {
			initial[b.node] = b
		}
	}
	for i := range p.transfers {
		t := &p.transfers[i]
		t.amount = max(1_00, min(budget[t.from]/100*t.percent, initial[t.to].amount/2))
		if t.status == "approved" { // what is moved was planned where it came from
			initial[t.from].amount += t.amount
			initial[t.to].amount -= t.amount
		}
	}
	for i := range p.entries {
		e := &p.entries[i]
		e.amount = max(0, budget[e.node]-committed[e.node]) / 100 * e.percent
	}
	for i := range p.claims {
		p.claims[i].amount = rounded(usual/100*p.claims[i].percent, 100_00)
	}
}

// committed is what contracts in the project currency commit on each node in the end.
func (p *project) committed() []int64 {
	sum := make([]int64, len(p.nodes))
	for i := range p.contracts {
		p.contracts[i].commit(len(p.contracts[i].transitions), func(node int, approved, _ int64) { sum[node] += approved })
	}
	return sum
}

func (w *world) addBudget(p *project) {
	nodeID := func(n int) events.Opt[string] {
		if n < 0 {
			return events.Opt[string]{}
		}
		return events.Some(p.nodes[n].id)
	}
	for i := range p.bookings {
		b := &p.bookings[i]
		id := fmt.Sprintf("br-%04d-%03d", p.number+1, i+1)
		made := func(status string) func() any {
			return func() any {
				return &events.BudgetRow{ProjectID: p.id, Kind: b.kind, NodeID: nodeID(b.node),
					Amount: events.Amount{Value: b.amount, Currency: currency}, Status: status}
			}
		}
		if b.kind == "addendum" && b.status != "draft" { // was a draft for a week
			w.schedule.add(change{topic: events.BudgetRows, id: id, version: 1, at: b.at - 7*day, data: made("draft")})
			w.schedule.add(change{topic: events.BudgetRows, id: id, version: 2, at: b.at, data: made(b.status)})
			continue
		}
		w.schedule.add(change{topic: events.BudgetRows, id: id, version: 1, at: b.at, data: made(b.status)})
	}
	for i := range p.transfers {
		t := &p.transfers[i]
		id := fmt.Sprintf("bt-%04d-%03d", p.number+1, i+1)
		w.schedule.add(change{topic: events.BudgetTransfers, id: id, version: 1, at: t.at, data: func() any {
			return &events.BudgetTransfer{
				ProjectID: p.id, FromNodeID: nodeID(t.from), ToNodeID: nodeID(t.to),
				Amount: events.Amount{Value: t.amount, Currency: currency}, Status: t.status,
			}
		}})
	}
	for i := range p.entries {
		e := &p.entries[i]
		id := fmt.Sprintf("ue-%04d-%03d", p.number+1, i+1)
		entered := events.UncommittedEntry{ProjectID: p.id, NodeID: p.nodes[e.node].id}
		w.schedule.add(change{topic: events.UncommittedEntries, id: id, version: 1, at: e.at, data: func() any {
			with := entered
			with.Amount = events.Some(events.Amount{Value: e.amount, Currency: currency})
			return &with
		}})
		if e.withdrawn > 0 {
			w.schedule.add(change{topic: events.UncommittedEntries, id: id, version: 2, at: e.withdrawn,
				data: func() any { return &entered }})
		}
	}
}

func (w *world) addClaims(p *project) {
	for i := range p.claims {
		c := &p.claims[i]
		id := fmt.Sprintf("cl-%04d-%03d", p.number+1, i+1)
		made := func(status string) func() any {
			return func() any {
				data := &events.Claim{
					ProjectID: p.id, NodeID: events.Some(p.nodes[c.node].id),
					Amount: events.Amount{Value: c.amount, Currency: currency}, ProbabilityBp: c.bp, Status: status,
				}
				if c.contract >= 0 {
					data.ContractID = events.Some(p.contracts[c.contract].id)
				}
				return data
			}
		}
		w.schedule.add(change{topic: events.Claims, id: id, version: 1, at: c.at, data: made("open")})
		if c.closed > 0 {
			w.schedule.add(change{topic: events.Claims, id: id, version: 2, at: c.closed, data: made("closed")})
		}
		if c.removed {
			w.schedule.add(change{topic: events.Claims, id: id, version: 3, at: c.closed + day})
		}
	}
}
