package analytics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

func onNode(node string, value int64) events.ContractAllocation {
	return events.ContractAllocation{NodeID: node, Value: value}
}

func amendment(id, node string, value int64, status string, date calendar.Date) events.Amendment {
	return events.Amendment{
		ID: id, NodeID: events.Opt[string]{V: node, Ok: node != ""}, Value: value, Status: status,
		Date: events.Opt[calendar.Date]{V: date, Ok: date != 0},
	}
}

func contractOf(allocations []events.ContractAllocation, amendments ...events.Amendment) *analytics.Contract {
	return &analytics.Contract{ID: "C",
		Contract: events.Contract{Status: "signed", Currency: "EUR", Allocations: allocations, Amendments: amendments}}
}

func linkedOn(node string, net int64) analytics.RecordSum {
	return analytics.RecordSum{NodeID: analytics.NodeID(node), ContractID: "C", Currency: "EUR", Status: analytics.Setup,
		Source: "invoice", Net: analytics.Int(net), Count: 1}
}

func TestContractLines(t *testing.T) {
	for name, tc := range map[string]struct {
		contract *analytics.Contract
		want     string
	}{
		"base nodes in order, one that repeats adds up": {
			contractOf([]events.ContractAllocation{onNode("b", 10), onNode("a", 20), onNode("b", 5)}), "[{b 15 15} {a 20 20}]",
		},
		"then those of approved amendments in amendment order": {
			contractOf([]events.ContractAllocation{onNode("b", 10)},
				amendment("1", "late", 1, "approved", 0), amendment("3", "y", 3, "approved", 20000),
				amendment("2", "x", 2, "approved", 20000),
				amendment("0", "early", 9, "approved", 19999), amendment("4", "b", -12, "approved", 1),
				amendment("5", "p", 5, "pending", 1)),
			"[{b 10 -2} {early 0 9} {x 0 2} {y 0 3} {late 0 1}]",
		},
		"amendments without a node form one line": {
			contractOf([]events.ContractAllocation{onNode("b", 10)}, amendment("1", "", 1, "approved", 2),
				amendment("2", "c", 2, "approved", 3), amendment("3", "", 4, "approved", 4)),
			"[{b 10 10} { 0 5} {c 0 2}]",
		},
		"without a base allocation there are none": {contractOf(nil, amendment("1", "a", 5, "approved", 0)), "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint(tc.contract.Lines()); got != tc.want {
				t.Errorf("lines %s, want %s", got, tc.want)
			}
		})
	}
}

func TestAmendmentsAreListedByDateUndatedLastThenID(t *testing.T) {
	c := contractOf(nil, amendment("b", "", 1, "pending", 0), amendment("a", "", 1, "parked", 0),
		amendment("d", "", 1, "draft", 1),
		amendment("c", "", 1, "rejected", 20001), amendment("f", "", 1, "approved", 20000), amendment("e", "", 1, "approved",
			20000))
	var ids []string
	for _, a := range c.ListedAmendments() {
		ids = append(ids, a.ID)
	}
	if got, want := strings.Join(ids, " "), "e f c a b"; got != want {
		t.Errorf("amendments %s, want %s", got, want)
	}
}

func TestContractFigures(t *testing.T) {
	paid := linkedOn("a", 100)
	paid.Status = analytics.Paid
	foreign := linkedOn("a", 70)
	foreign.Currency = "CHF"
	rejected := linkedOn("a", 30)
	rejected.Status = analytics.Rejected
	accrual := linkedOn("a", 40)
	accrual.Source = "accrual"
	unread := linkedOn("a", 0)
	unread.Currency = ""
	gone := linkedOn("a", 0)
	gone.Count = 0
	base := []events.ContractAllocation{onNode("a", 500), onNode("b", 100)}
	n := analytics.Int
	for name, tc := range map[string]struct {
		contract *analytics.Contract
		linked   []analytics.RecordSum
		want     analytics.ContractFigures
	}{
		"committed counts for every status": {
			&analytics.Contract{Contract: events.Contract{Status: "cancelled", Currency: "EUR", Allocations: base}}, nil,
			analytics.ContractFigures{Allocated: true, Committed: n(600), OpenCommitment: n(600)},
		},
		"lines net on the whole contract": {
			contractOf(base), []analytics.RecordSum{linkedOn("a", 550), paid},
			analytics.ContractFigures{Allocated: true, Committed: n(600), Invoiced: n(650), Paid: n(100), OverInvoiced: n(50),
				Locked: true},
		},
		"no base allocation, nothing committed": {
			contractOf(nil, amendment("1", "a", 10, "approved", 0)), []analytics.RecordSum{paid},
			analytics.ContractFigures{Invoiced: n(100), Paid: n(100), Locked: true},
		},
		"rejected ones and accruals neither count nor lock": {
			contractOf(base), []analytics.RecordSum{rejected, accrual, gone},
			analytics.ContractFigures{Allocated: true, Committed: n(600), OpenCommitment: n(600)},
		},
		"a record in another currency locks and does not count": {
			contractOf(base), []analytics.RecordSum{foreign},
			analytics.ContractFigures{Allocated: true, Committed: n(600), OpenCommitment: n(600), Locked: true},
		},
		"one that was not read yet locks too": {
			contractOf(base), []analytics.RecordSum{unread},
			analytics.ContractFigures{Allocated: true, Committed: n(600), OpenCommitment: n(600), Locked: true},
		},
		"pending increases only, no reductions, no lock": {
			contractOf(base, amendment("1", "a", 50, "pending", 0), amendment("2", "a", -20, "pending", 0),
				amendment("3", "", 8, "pending", 0), amendment("4", "a", 99, "draft", 0)), nil,
			analytics.ContractFigures{Allocated: true, Committed: n(600), OpenCommitment: n(600), PendingChanges: n(58)},
		},
		"an approved amendment commits and locks": {
			contractOf(base, amendment("1", "", -700, "approved", 0)), nil,
			analytics.ContractFigures{Allocated: true, Committed: n(-100), OverInvoiced: n(100), Locked: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.contract.Figures(tc.linked); got != tc.want {
				t.Errorf("figures %+v, want %+v", got, tc.want)
			}
		})
	}
}

// open and over of single lines show what the lines have been invoiced.
func TestLinesOfLinkedRecords(t *testing.T) {
	nodes := tree("r -", "a r", "a1 a!", "a2 a1", "b r", "c r", "d r", "out r")
	base := []events.ContractAllocation{onNode("a", 600000), onNode("b", 300000), onNode("c", 100000)}
	withD := amendment("1", "d", 200000, "approved", 0)
	for name, tc := range map[string]struct {
		contract *analytics.Contract
		linked   []analytics.RecordSum
		open     map[string]int64
		over     map[string]int64
	}{
		"the pool goes pro rata, ties to the earlier line": {
			contractOf(base, withD),
			[]analytics.RecordSum{linkedOn("out", 100001), linkedOn("", 50000), linkedOn("r", 20000),
				linkedOn("unknown", -30000)},
			map[string]int64{"a": 529999, "b": 265000, "c": 88333, "d": 176667}, nil,
		},
		"below a line is inside it, inactive nodes included": {
			contractOf(base), []analytics.RecordSum{linkedOn("a2", 700000), linkedOn("b", 1)},
			map[string]int64{"b": 299999, "c": 100000}, map[string]int64{"a": 100000},
		},
		"a line nearer to the coding takes it": {
			contractOf([]events.ContractAllocation{onNode("a", 100), onNode("a2", 100)}),
			[]analytics.RecordSum{linkedOn("a2", 150), linkedOn("a1", 30)},
			map[string]int64{"a": 70}, map[string]int64{"a": 50}, // a2's seat is a; lines do not net
		},
		"a negative line takes no share": {
			contractOf([]events.ContractAllocation{onNode("a", 100), onNode("b", -50)}),
			[]analytics.RecordSum{linkedOn("out", 80)},
			map[string]int64{"a": 20}, map[string]int64{"b": 50},
		},
		"all committed away: pro rata to the base": {
			contractOf([]events.ContractAllocation{onNode("a", 30), onNode("b", 10)}, amendment("1", "a", -30, "approved", 0),
				amendment("2", "b", -10, "approved", 0)),
			[]analytics.RecordSum{linkedOn("out", 100)}, nil, map[string]int64{"a": 75, "b": 25},
		},
		"no base either: all on the first line": {
			contractOf([]events.ContractAllocation{onNode("b", 0), onNode("a", -5)}),
			[]analytics.RecordSum{linkedOn("out", 100)},
			nil, map[string]int64{"b": 100, "a": 5},
		},
		"a line without a seat takes its share along": {
			contractOf([]events.ContractAllocation{onNode("a", 50)}, amendment("1", "", 50, "approved", 0)),
			[]analytics.RecordSum{linkedOn("", 60)},
			map[string]int64{"a": 20}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			budget := analytics.Budget(analytics.BudgetInput{
				Currency: "EUR", Structure: structureOf(nodes), Contracts: []analytics.Contract{*tc.contract}, Records: [][]analytics.RecordSum{tc.linked},
			})
			for _, id := range []string{"a", "b", "c", "d"} {
				n := node(t, budget, id)
				if n.OpenCommitment != analytics.Int(tc.open[id]) || n.OverInvoiced != analytics.Int(tc.over[id]) {
					t.Errorf("%s: open %s, over %s, want %d, %d", id, n.OpenCommitment, n.OverInvoiced, tc.open[id], tc.over[id])
				}
			}
		})
	}
}

func TestRecordsToRecode(t *testing.T) {
	s := structureOf(tree("r -", "a r", "a1 a!", "out r", "x y", "y x"))
	c := contractOf([]events.ContractAllocation{onNode("a", 1), onNode("gone line", 1)},
		amendment("1", "", 1, "approved", 0))
	linked := func(change func(*analytics.RecordSum), nodes ...analytics.NodeID) (all []analytics.RecordSum) {
		for _, id := range nodes {
			sum := linkedOn(string(id), 1)
			change(&sum)
			all = append(all, sum)
		}
		return all
	}
	asIs := func(*analytics.RecordSum) {}
	outside := func(c *analytics.Contract, linked []analytics.RecordSum) (nodes []analytics.NodeID) {
		for _, sum := range s.ToRecode(c, linked) {
			nodes = append(nodes, sum.NodeID)
		}
		return nodes
	}
	all := linked(asIs, "a", "a1", "r", "out", "", "x", "unknown", "gone line")
	if got, want := outside(c, all), []analytics.NodeID{"r", "out", "x", "unknown"}; !slices.Equal(got, want) {
		t.Errorf("outside %v, want %v", got, want)
	}
	for name, change := range map[string]func(*analytics.RecordSum){
		"rejected":               func(r *analytics.RecordSum) { r.Status = analytics.Rejected },
		"an accrual":             func(r *analytics.RecordSum) { r.Source = "accrual" },
		"in another currency":    func(r *analytics.RecordSum) { r.Currency = "CHF" },
		"without any amount yet": func(r *analytics.RecordSum) { r.Currency = "" },
	} {
		if got := outside(c, linked(change, "out")); len(got) != 0 {
			t.Errorf("%s, yet to be re-coded: %v", name, got)
		}
	}
	if got := outside(contractOf(nil), all); len(got) != 0 {
		t.Errorf("a contract without lines has %v outside", got)
	}
	inCircle := contractOf([]events.ContractAllocation{onNode("y", 1)})
	if got := outside(inCircle, linked(asIs, "x", "y")); len(got) != 0 {
		t.Errorf("x is below y, yet outside: %v", got)
	}
}
