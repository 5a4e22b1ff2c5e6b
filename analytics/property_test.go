package analytics_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// drawLedger makes up a project P1 with everything that can go wrong in it:
// inactive, missing, foreign and circular parents, bookings on unknown nodes,
// foreign currencies, every status, negative and cancelling amounts.
type drawLedger struct {
	t     *rapid.T
	nodes []string
}

func (d *drawLedger) pick(label string, values ...string) string {
	return rapid.SampledFrom(values).Draw(d.t, label)
}

func (d *drawLedger) value() int64 { return rapid.Int64Range(-60, 300).Draw(d.t, "value") }

func (d *drawLedger) node() events.Opt[string] {
	id := rapid.SampledFrom(append([]string{"", "unknown"}, d.nodes...)).Draw(d.t, "node")
	return events.Opt[string]{V: id, Ok: id != ""}
}

func (d *drawLedger) currency() string { return d.pick("currency", "EUR", "EUR", "EUR", "CHF") }

func (d *drawLedger) amount() events.Amount {
	return events.Amount{Value: d.value(), Currency: d.currency()}
}

func (d *drawLedger) project() string { return d.pick("project", "P1", "P1", "P1", "P1", "P2") }

func many[T any](d *drawLedger, prefix string, most int, draw func() *T) map[string]*T {
	all := map[string]*T{}
	for i := range rapid.IntRange(0, most).Draw(d.t, "number of "+prefix) {
		all[fmt.Sprintf("%s%d", prefix, i)] = draw()
	}
	return all
}

func ledgers() *rapid.Generator[*ledger] {
	return rapid.Custom(func(t *rapid.T) *ledger {
		d := &drawLedger{t: t}
		for i := range rapid.IntRange(1, 9).Draw(t, "nodes") {
			d.nodes = append(d.nodes, fmt.Sprintf("n%d", i))
		}
		l := &ledger{
			projects: map[string]*events.Project{
				"P1": {Currency: "EUR", BudgetStructureID: events.Some("S1")},
				"P2": {Currency: "EUR", BudgetStructureID: events.Some("S1")},
			},
			nodes: map[string]*events.BudgetNode{},
		}
		for i, id := range d.nodes {
			l.nodes[id] = d.budgetNode(i)
		}
		l.rows = many(d, "b", 6, func() *events.BudgetRow {
			return &events.BudgetRow{ProjectID: d.project(), NodeID: d.node(), Amount: d.amount(),
				Status: d.pick("status", "approved", "approved", "draft", "rejected")}
		})
		l.transfers = many(d, "t", 2, func() *events.BudgetTransfer {
			return &events.BudgetTransfer{ProjectID: d.project(), FromNodeID: d.node(), ToNodeID: d.node(), Amount: d.amount(),
				Status: d.pick("status", "approved", "draft")}
		})
		l.entries = many(d, "u", 2, func() *events.UncommittedEntry {
			return &events.UncommittedEntry{ProjectID: d.project(), NodeID: d.node().V,
				Amount: events.Opt[events.Amount]{V: d.amount(), Ok: rapid.Bool().Draw(t, "entered")}}
		})
		l.claims = many(d, "x", 2, func() *events.Claim {
			return &events.Claim{ProjectID: d.project(), NodeID: d.node(), Amount: d.amount(),
				Status:        d.pick("status", "open", "closed"),
				ProbabilityBp: events.Decimal{Units: rapid.Int64Range(0, 10000000).Draw(t, "probability"), Scale: 3}}
		})
		l.contracts = many(d, "C", 3, d.contract)
		l.records = many(d, "R", 6, d.record)
		l.plans = many(d, "p", 8, d.linePlan)
		return l
	})
}

func (d *drawLedger) budgetNode(i int) *events.BudgetNode {
	n := &events.BudgetNode{
		Level: d.pick("level", "budget", "subBudget", "costItem", "zone"), Code: d.pick("code", "1", "2", "10"),
		Name:   fmt.Sprint("line ", i),
		Active: rapid.IntRange(0, 5).Draw(d.t, "active") > 0,
	}
	switch parent := rapid.IntRange(-2, len(d.nodes)-1).Draw(d.t, "parent"); {
	case parent == -1:
		n.ParentID = events.Some("missing")
	case parent >= 0 && rapid.IntRange(0, 3).Draw(d.t, "any parent") == 0:
		n.ParentID = events.Some(d.nodes[parent]) // may close a circle
	case parent >= 0 && i > 0:
		n.ParentID = events.Some(d.nodes[parent%i])
	}
	switch d.pick("owner", "structure", "structure", "structure", "project", "other project", "other structure") {
	case "project":
		n.ProjectID = events.Some("P1")
	case "other project":
		n.ProjectID = events.Some("P2")
	case "other structure":
		n.StructureID = events.Some("S2")
	default:
		n.StructureID = events.Some("S1")
	}
	for range rapid.IntRange(0, 2).Draw(d.t, "codes") {
		n.AccountingCodes = append(n.AccountingCodes,
			events.AccountingCode{System: d.pick("system", "yardi", "datev", "zeta", "alpha", "sap"),
				Code: d.pick("code", "01", "02")})
	}
	return n
}

func (d *drawLedger) contract() *events.Contract {
	c := &events.Contract{ProjectID: d.project(), Currency: d.currency(),
		Status: d.pick("status", "signed", "signed", "completed", "setup", "cancelled", "onHold")}
	for range rapid.IntRange(0, 3).Draw(d.t, "allocations") {
		if node := d.node(); node.Ok {
			c.Allocations = append(c.Allocations, events.ContractAllocation{NodeID: node.V, Value: d.value()})
		}
	}
	for i := range rapid.IntRange(0, 3).Draw(d.t, "amendments") {
		c.Amendments = append(c.Amendments, events.Amendment{
			ID: fmt.Sprint("A", i), NodeID: d.node(), Value: d.value(),
			Status: d.pick("status", "approved", "approved", "pending", "draft", "rejected", "parked"),
			Date: events.Opt[calendar.Date]{V: calendar.Date(rapid.Int32Range(20000, 20003).Draw(d.t, "date")),
				Ok: rapid.Bool().Draw(d.t, "dated")},
		})
	}
	return c
}

func (d *drawLedger) record() *events.Record {
	r := &events.Record{
		ProjectID: d.project(), Source: d.pick("source", "invoice", "invoice", "invoice", "accrual", "scan"),
		StepKind:   d.pick("step", "setup", "approval", "payment", "paid", "rejected"),
		ContractID: events.Some(d.pick("contract", "C0", "C1", "C2", "gone")),
	}
	if rapid.IntRange(0, 5).Draw(d.t, "linked") == 0 {
		r.ContractID = events.Opt[string]{}
	}
	if rapid.IntRange(0, 3).Draw(d.t, "recognised") > 0 {
		r.RecognitionDate = events.Some(d.day("recognition"))
	}
	if r.StepKind == "paid" {
		r.CashDate = events.Some(d.day("cash"))
	}
	read := rapid.IntRange(0, 6).Draw(d.t, "read") > 0
	net := int64(0)
	for range rapid.IntRange(0, 3).Draw(d.t, "allocations") {
		a := events.RecordAllocation{NodeID: d.node()}
		if read {
			a.Net = events.Some(d.value())
			net += a.Net.V
		}
		r.Allocations = append(r.Allocations, a)
	}
	if !read {
		return r
	}
	if len(r.Allocations) == 0 {
		net = d.value()
	}
	r.Net, r.Currency = events.Some(net), events.Some(d.currency())
	optional := func() events.Opt[int64] {
		return events.Opt[int64]{V: d.value(), Ok: rapid.Bool().Draw(d.t, "given")}
	}
	r.Tax, r.Gross = optional(), optional()
	if !r.Tax.Ok {
		r.Tax.V = 0
	}
	return r
}

// day is in the two years around the days that tests take for today.
func (d *drawLedger) day(label string) calendar.Date {
	return calendar.NewDate(2027, 7, 1) + calendar.Date(rapid.Int32Range(0, 730).Draw(d.t, label))
}

func (d *drawLedger) linePlan() *events.LinePlan {
	p := &events.LinePlan{ProjectID: d.project(), NodeID: rapid.SampledFrom(d.nodes).Draw(d.t, "planned"),
		Method: d.pick("method", "linearDays", "linearMonths", "sCurve", "custom")}
	optional := func(label string) events.Opt[calendar.Date] {
		return events.Opt[calendar.Date]{V: d.day(label), Ok: rapid.IntRange(0, 7).Draw(d.t, label+" given") > 0}
	}
	p.StartDate, p.EndDate = optional("start"), optional("end")
	if p.EndDate.Ok && rapid.IntRange(0, 7).Draw(d.t, "in order") > 0 {
		p.EndDate.V = max(p.StartDate.V, p.EndDate.V)
	}
	for range rapid.IntRange(0, 3).Draw(d.t, "custom months") {
		p.CustomMonths = append(p.CustomMonths, events.MonthValue{Month: d.day("month").Month(), Value: d.value()})
	}
	if rapid.IntRange(0, 2).Draw(d.t, "recurring") == 0 {
		p.Recurring = events.Some(events.Recurrence{EveryMonths: rapid.IntRange(1, 5).Draw(d.t, "every"), From: d.day("from").Month()})
		if rapid.Bool().Draw(d.t, "ends") {
			p.Recurring.V.To = events.Some(d.day("to").Month())
		}
	}
	return p
}

// show renders a ledger for a failed property.
func show(l *ledger) string {
	var b strings.Builder
	for _, part := range []any{l.nodes, l.rows, l.transfers, l.entries, l.records, l.contracts, l.claims, l.plans} {
		encoded, _ := json.Marshal(part)
		fmt.Fprintf(&b, "%s\n", encoded)
	}
	return b.String()
}

func decoded(t *rapid.T, answer any) any {
	encoded, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var back any
	decoder := json.NewDecoder(strings.NewReader(string(encoded)))
	decoder.UseNumber()
	if err := decoder.Decode(&back); err != nil {
		t.Fatal(err)
	}
	return back
}

func TestBudgetAgreesWithTheNaiveRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ledgers().Draw(t, "ledger")
		level := rapid.SampledFrom([]string{"", "budget", "subBudget", "costItem"}).Draw(t, "level")
		want := decoded(t, naive{l, "P1"}.budget(level))
		got := decoded(t, answerBudget(l, map[string]string{"projectId": "P1"}, map[string]string{"level": level}))
		if d := differences(want, got, "$", ""); len(d) > 0 {
			t.Fatalf("%s\n%s", strings.Join(d, "\n"), show(l))
		}
		if want, got := ids(want), ids(got); want != got {
			t.Fatalf("order %s, want %s\n%s", got, want, show(l))
		}
	})
}

func ids(budget any) string {
	var ids []string
	for _, n := range budget.(map[string]any)["nodes"].([]any) {
		ids = append(ids, fmt.Sprint(n.(map[string]any)["nodeId"]))
	}
	return strings.Join(ids, " ")
}

func TestContractsAgreeWithTheNaiveRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ledgers().Draw(t, "ledger")
		for id, c := range l.contracts {
			want := decoded(t, naive{l, c.ProjectID}.contract(id))
			got := decoded(t, answerContract(l, map[string]string{"contractId": id}, nil))
			if d := differences(want, got, "$", ""); len(d) > 0 {
				t.Fatalf("%s: %s\n%s", id, strings.Join(d, "\n"), show(l))
			}
			if want, got := amendmentIDs(want), amendmentIDs(got); want != got {
				t.Fatalf("%s: amendments %s, want %s", id, got, want)
			}
		}
	})
}

func amendmentIDs(contract any) string {
	var ids []string
	for _, a := range contract.(map[string]any)["amendments"].([]any) {
		ids = append(ids, fmt.Sprint(a.(map[string]any)["id"]))
	}
	return strings.Join(ids, " ")
}

func TestInvoicedIsTheSumOfItsStatuses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, n := range analytics.Budget(ledgers().Draw(t, "ledger").budgetInput("P1")).Nodes {
			s := n.InvoicedByStatus
			if sum := s.Setup.Add(s.ApprovalPending).Add(s.PaymentPending).Add(s.Paid); sum != n.Invoiced {
				t.Fatalf("%s: statuses add up to %s, invoiced is %s", n.Node.ID, sum, n.Invoiced)
			}
			if s.Paid != n.Paid {
				t.Fatalf("%s: paid %s, by status %s", n.Node.ID, n.Paid, s.Paid)
			}
		}
	})
}

// topTotal adds a figure over the top lines.
func topTotal(b analytics.ProjectBudget, figure func(*analytics.BudgetNode) analytics.Int128) analytics.Int128 {
	var sum analytics.Int128
	for i := range b.Nodes {
		if !b.Nodes[i].Node.ParentID.Ok {
			sum = sum.Add(figure(&b.Nodes[i]))
		}
	}
	return sum
}

func TestNothingOfABudgetIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ledgers().Draw(t, "ledger")
		in := l.budgetInput("P1")
		budget := analytics.Budget(in)
		var booked, net, foreign analytics.Int128
		for _, r := range l.rows {
			if r.ProjectID == "P1" && r.Status == "approved" && r.Amount.Currency == "EUR" {
				booked = booked.Add(analytics.Int(r.Amount.Value)) // transfers cancel
			}
		}
		for _, r := range l.records {
			if r.ProjectID == "P1" && counting(r) && r.Currency.V == "EUR" {
				net = net.Add(analytics.Int(r.Net.V))
			}
			if r.ProjectID == "P1" && counting(r) && r.Currency.V != "EUR" {
				foreign = foreign.Add(analytics.Int(r.Net.V))
			}
		}
		if got := topTotal(budget,
			func(n *analytics.BudgetNode) analytics.Int128 { return n.Budget }).Add(budget.UnallocatedBudget); got != booked {
			t.Fatalf("budget and unallocated budget are %s, booked were %s\n%s", got, booked, show(l))
		}
		if got := topTotal(budget,
			func(n *analytics.BudgetNode) analytics.Int128 { return n.Invoiced }).Add(budget.Unallocated); got != net {
			t.Fatalf("invoiced and unallocated are %s, the records' nets %s\n%s", got, net, show(l))
		}
		var excluded analytics.Int128
		for _, e := range budget.Excluded {
			excluded = excluded.Add(e.Value)
		}
		if excluded != foreign {
			t.Fatalf("excluded %s, foreign nets %s", excluded, foreign)
		}
	})
}

func TestAnEstimateIsThatOfTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ledgers().Draw(t, "ledger")
		in := l.budgetInput("P1")
		in.Claims = append(in.Claims, analytics.ClaimSum{NodeID: "n0", Currency: "EUR", Pending: analytics.Int(7)}) // few have one that counts
		want := topTotal(analytics.Budget(in), func(n *analytics.BudgetNode) analytics.Int128 { return n.EAC() })
		if got := analytics.EstimateAtCompletion(in); got != want {
			t.Fatalf("the estimate is %s, that of the budget's top lines %s\n%s", got, want, show(l))
		}
	})
}

func TestBudgetParentsAreTheirOwnAndTheirChildren(t *testing.T) {
	figures := map[string]func(*analytics.BudgetNode) analytics.Int128{
		"budget":         func(n *analytics.BudgetNode) analytics.Int128 { return n.Budget },
		"invoiced":       func(n *analytics.BudgetNode) analytics.Int128 { return n.Invoiced },
		"invoicedGross":  func(n *analytics.BudgetNode) analytics.Int128 { return n.InvoicedGross },
		"paidGross":      func(n *analytics.BudgetNode) analytics.Int128 { return n.PaidGross },
		"status paid":    func(n *analytics.BudgetNode) analytics.Int128 { return n.Paid },
		"committed":      func(n *analytics.BudgetNode) analytics.Int128 { return n.Committed },
		"openCommitment": func(n *analytics.BudgetNode) analytics.Int128 { return n.OpenCommitment },
		"overInvoiced":   func(n *analytics.BudgetNode) analytics.Int128 { return n.OverInvoiced },
		"pendingChanges": func(n *analytics.BudgetNode) analytics.Int128 { return n.PendingChanges },
	}
	rapid.Check(t, func(t *rapid.T) {
		l := ledgers().Draw(t, "ledger")
		own := naive{l, "P1"}.own()
		budget := analytics.Budget(l.budgetInput("P1"))
		for name, figure := range figures {
			below := map[string]analytics.Int128{}
			for i := range budget.Nodes {
				n := &budget.Nodes[i]
				below[n.Node.ParentID.V] = below[n.Node.ParentID.V].Add(figure(n))
			}
			for i := range budget.Nodes {
				n := &budget.Nodes[i]
				id := string(n.Node.ID)
				if want := below[id].Add(wide(own.get(id, name))); figure(n) != want {
					t.Fatalf("%s of %s is %s, own and children %s\n%s", name, id, figure(n), want, show(l))
				}
			}
		}
	})
}

func TestAnUntouchedLineIsEstimatedAtItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ledgers().Draw(t, "ledger")
		in := l.budgetInput("P1")
		in.Contracts, in.Entries, in.Claims = nil, nil, nil
		for i := range in.Budget {
			if in.Budget[i].Amount.Sign() < 0 {
				in.Budget[i].Amount = in.Budget[i].Amount.Neg()
			}
		}
		for _, n := range analytics.Budget(in).Nodes {
			if n.EAC() != n.Budget || !n.Variance().IsZero() || !n.UncommittedDefaulted {
				t.Fatalf("%s: budget %s, eac %s, defaulted %v\n%s", n.Node.ID, n.Budget, n.EAC(), n.UncommittedDefaulted, show(l))
			}
		}
	})
}

func TestOpenLessOverIsCommittedLessInvoiced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ledgers().Draw(t, "ledger")
		for _, n := range l.nodes {
			n.Active, n.ParentID, n.ProjectID, n.StructureID = true, events.Opt[string]{}, events.Opt[string]{}, events.Some("S1")
		}
		var rest analytics.Int128 // of all counting contracts, whose lines all have a seat
		for id, c := range l.contracts {
			for i := range c.Allocations {
				c.Allocations[i].NodeID = "n0"
			}
			for i := range c.Amendments {
				c.Amendments[i].NodeID = events.Some("n0")
			}
			contract := l.contract(id)
			f := contract.Figures(l.linked(id))
			if !f.Allocated {
				continue
			}
			if f.OpenCommitment.Sub(f.OverInvoiced) != f.Committed.Sub(f.Invoiced) {
				t.Fatalf("%s: open %s, over %s, committed %s, invoiced %s", id, f.OpenCommitment, f.OverInvoiced, f.Committed,
					f.Invoiced)
			}
			if contract.Counts() && c.ProjectID == "P1" && c.Currency == "EUR" {
				rest = rest.Add(f.Committed).Sub(f.Invoiced)
			}
		}
		budget := analytics.Budget(l.budgetInput("P1"))
		open := topTotal(budget, func(n *analytics.BudgetNode) analytics.Int128 { return n.OpenCommitment })
		over := topTotal(budget, func(n *analytics.BudgetNode) analytics.Int128 { return n.OverInvoiced })
		if open.Sub(over) != rest {
			t.Fatalf("lines: open %s less over %s is not %s\n%s", open, over, rest, show(l))
		}
	})
}

func snapshots(label string) *rapid.Generator[*analytics.Snapshot] {
	return rapid.Custom(func(t *rapid.T) *analytics.Snapshot {
		s := &analytics.Snapshot{ID: label}
		value := rapid.Int64Range(-3, 3)
		for _, id := range rapid.Permutation([]string{"a", "b", "c", "d", "e"}).Draw(t,
			"lines")[:rapid.IntRange(0, 5).Draw(t, "number")] {
			line := events.SnapshotLine{NodeID: id, Level: "budget", Committed: value.Draw(t, "committed"),
				PendingChanges: value.Draw(t, "pending"), Uncommitted: value.Draw(t, "uncommitted")}
			if above := rapid.IntRange(0, len(s.Lines)).Draw(t, "parent"); above > 0 {
				line.ParentID = events.Some(s.Lines[above-1].NodeID)
			}
			s.Lines = append(s.Lines, line)
		}
		s.Lines = rapid.Permutation(s.Lines).Draw(t, "order")
		return s
	})
}

func TestSnapshotDeltasAddUpToTheChangeOfTheTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		previous, current := snapshots("previous").Draw(t, "previous"), snapshots("current").Draw(t, "current")
		var deltas analytics.Int128
		for _, c := range current.ChangesSince(previous) {
			if c.Delta().IsZero() {
				t.Fatalf("%s is listed without a change", c.NodeID)
			}
			deltas = deltas.Add(c.Delta())
		}
		before, after := previous.Totals(), current.Totals()
		if want := after.EAC().Sub(before.EAC()); deltas != want {
			t.Fatalf("deltas add up to %s, the total moved by %s", deltas, want)
		}
	})
}
