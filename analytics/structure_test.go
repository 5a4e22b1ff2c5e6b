package analytics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// tree builds nodes of structure S1 out of lines "id parent"; "-" is no parent
// and a trailing "!" makes the node inactive. Codes are the ids.
func tree(lines ...string) []analytics.Node {
	var nodes []analytics.Node
	for _, line := range lines {
		text, inactive := strings.CutSuffix(line, "!")
		id, parent, _ := strings.Cut(text, " ")
		n := analytics.Node{ID: analytics.NodeID(id), BudgetNode: events.BudgetNode{
			StructureID: events.Some("S1"), Code: id, Name: "name of " + id, Level: "costItem", Active: !inactive,
		}}
		if parent != "-" {
			n.ParentID = events.Some(parent)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func structureOf(nodes []analytics.Node) *analytics.Structure {
	return analytics.NewStructure("P1", events.Some("S1"), nodes)
}

// returned lists the ids of a budget's nodes in order.
func returned(nodes []analytics.BudgetNode) string {
	var ids []string
	for _, n := range nodes {
		ids = append(ids, string(n.Node.ID))
	}
	return strings.Join(ids, " ")
}

func emptyBudget(s *analytics.Structure) analytics.ProjectBudget {
	return analytics.Budget(analytics.BudgetInput{Currency: "EUR", Structure: s})
}

func TestEffectiveNodes(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes []analytics.Node
		want  string
	}{
		"an inactive node hides what is below it":   {tree("a -", "b a!", "c b", "d a"), "a d"},
		"a missing parent makes it not effective":   {tree("a -", "b gone", "c b"), "a"},
		"a circle is not effective, nor below it":   {tree("a -", "b c", "c b", "d c"), "a"},
		"a node that is its own parent":             {tree("a a"), ""},
		"depth first, whatever the order delivered": {tree("c b", "e -", "b a", "d a", "a -"), "a b c d e"},
	} {
		t.Run(name, func(t *testing.T) {
			budget := emptyBudget(structureOf(tc.nodes))
			if got := returned(budget.Nodes); got != tc.want {
				t.Errorf("nodes %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSiblingsGoByCodeThenIDInByteOrder(t *testing.T) {
	nodes := tree("x -", "b -", "Z -", "ä -", "a -")
	nodes[0].Code, nodes[1].Code = "10", "9"
	for i := 2; i < 5; i++ {
		nodes[i].Code = "10"
	}
	budget := emptyBudget(structureOf(nodes))
	if got, want := returned(budget.Nodes), "Z a x ä b"; got != want {
		t.Errorf("order %q, want %q", got, want)
	}
}

func TestNodesOfAProject(t *testing.T) {
	nodes := tree("shared -", "mine shared", "theirs shared", "foreign -", "below theirs", "nobody -")
	nodes[1].ProjectID = events.Some("P1")
	nodes[2].ProjectID = events.Some("P2")
	nodes[3].StructureID = events.Some("S2")
	nodes[5].StructureID = events.Opt[string]{}

	budget := emptyBudget(structureOf(nodes))
	if got, want := returned(budget.Nodes), "shared mine"; got != want {
		t.Fatalf("nodes %q, want %q: those of the structure and its own, not those below foreign parents", got, want)
	}
	if budget.Nodes[0].Node.ProjectSpecific() || !budget.Nodes[1].Node.ProjectSpecific() {
		t.Error("only a node with a project of its own is project specific")
	}
	without := analytics.NewStructure("P1", events.Opt[string]{}, nodes)
	if got := returned(emptyBudget(without).Nodes); got != "" {
		t.Errorf("a project without a structure shows %q; its own node has a foreign parent there", got)
	}
}

func TestSeatOfABooking(t *testing.T) {
	s := structureOf(tree("a -", "b a!", "c b", "d c!", "lost gone", "below lost", "x y", "y x", "off -!", "under off"))
	for id, want := range map[analytics.NodeID]analytics.NodeID{
		"a": "a", "b": "a", "c": "a", "d": "a",
		"lost": "", "below": "", "x": "", "off": "", "under": "", "unknown": "", "": "",
	} {
		if got, ok := s.Seat(id); got != want || ok != (want != "") {
			t.Errorf("seat of %q is %q, %v, want %q", id, got, ok, want)
		}
	}
}

func TestLevelShowsANodeWithItsAncestorsOnly(t *testing.T) {
	nodes := tree("a -", "b a", "c b", "d a", "e d", "f -", "g f")
	for i, level := range []string{"budget", "subBudget", "costItem", "zone", "subBudget", "subBudget", "budget"} {
		nodes[i].Level = level
	}
	budget := emptyBudget(structureOf(nodes))
	for level, want := range map[string]string{
		"budget": "a", "subBudget": "a b f g", "costItem": "a b c f g", "": "a b c d e f g",
	} {
		if got := returned(budget.ToLevel(level)); got != want {
			t.Errorf("level %q shows %q, want %q", level, got, want)
		}
	}
}

func TestAmountsDoNotChangeWithTheLevel(t *testing.T) {
	nodes := tree("a -", "b a")
	nodes[0].Level = "budget"
	budget := analytics.Budget(analytics.BudgetInput{
		Currency: "EUR", Structure: structureOf(nodes),
		Budget: []analytics.BudgetSum{{NodeID: "b", Currency: "EUR", Amount: analytics.Int(70)}},
	})
	shown := budget.ToLevel("budget")
	if len(shown) != 1 || shown[0].Budget != analytics.Int(70) {
		t.Errorf("the top line alone shows %v, want the 70 of the line below", shown)
	}
}

func TestADeepAndWideStructureIsWalkedOnce(t *testing.T) {
	// A chain as deep as the structure is large, a circle of the same size, and
	// bookings everywhere: anything but a linear walk would not end in time.
	const size = 20000
	chain, circle := []string{"n0 -"}, []string{}
	for i := 1; i < size; i++ {
		chain = append(chain, fmt.Sprintf("n%d n%d", i, i-1))
		circle = append(circle, fmt.Sprintf("c%d c%d", i, i%(size-1)+1))
	}
	contract := analytics.Contract{ID: "C", Contract: events.Contract{Status: "signed", Currency: "EUR",
		Allocations: []events.ContractAllocation{{NodeID: "n0", Value: 100}}}}
	in := analytics.BudgetInput{Currency: "EUR", Structure: structureOf(tree(slices.Concat(chain, circle)...)),
		Contracts: []analytics.Contract{contract}}
	for i := range size {
		for _, prefix := range []string{"n", "c"} {
			in.Records = append(in.Records, []analytics.RecordSum{
				{NodeID: analytics.NodeID(fmt.Sprint(prefix, i)), ContractID: "C", Currency: "EUR",
					Status: analytics.Setup, Net: analytics.Int(1)}})
		}
	}
	budget := analytics.Budget(in)
	if got := budget.Nodes[0].Invoiced; got != analytics.Int(size) {
		t.Errorf("invoiced on the top %s, want %d", got, size)
	}
	if got := budget.Nodes[0].OverInvoiced; got != analytics.Int(2*size-100) {
		t.Errorf("over-invoiced %s, want all 40,000 less the 100 committed", got)
	}
}

func TestTheBudgetNameOfARecord(t *testing.T) {
	s := structureOf(tree("a -!", "b a", "c b", "lost gone", "x y", "y x"))
	for id, want := range map[analytics.NodeID]string{"a": "name of a", "c": "name of a", "lost": "", "x": "",
		"unknown": ""} {
		if got := s.BudgetName(id); got.V != want || got.Ok != (want != "") {
			t.Errorf("budget name of %s is %+v, want %q", id, got, want)
		}
	}
}

func TestEffectiveCodes(t *testing.T) {
	code := func(system, code string, inherited bool) events.AccountingCode {
		return events.AccountingCode{System: system, Code: code, Inherited: inherited}
	}
	nodes := tree("top -", "middle top!", "leaf middle", "bare leaf", "lost gone", "x y", "y x")
	nodes[0].AccountingCodes = []events.AccountingCode{code("zeta", "z", false), code("other", "o", false),
		code("datev", "d", false), code("yardi", "y", false), code("datev", "second", false)}
	nodes[1].AccountingCodes = []events.AccountingCode{code("alpha", "a", false), code("bmd", "b", false)}
	nodes[2].AccountingCodes = []events.AccountingCode{code("yardi", "y2", false), code("sap", "s", false)}
	nodes[5].AccountingCodes = []events.AccountingCode{code("sap", "x", false)}
	nodes[6].AccountingCodes = []events.AccountingCode{code("bmd", "y", false)}
	codes := structureOf(nodes).Codes()
	for id, want := range map[analytics.NodeID][]events.AccountingCode{
		"top": {code("yardi", "y", false), code("datev", "d", false), code("other", "o", false), code("zeta", "z", false)},
		"leaf": {code("yardi", "y2", false), code("datev", "d", true), code("sap", "s", false), code("bmd", "b", true),
			code("other", "o", true),
			code("alpha", "a", true), code("zeta", "z", true)},
		"bare": {code("yardi", "y2", true), code("datev", "d", true), code("sap", "s", true), code("bmd", "b", true),
			code("other", "o", true),
			code("alpha", "a", true), code("zeta", "z", true)},
		"lost":    nil,
		"x":       {code("sap", "x", false), code("bmd", "y", true)},
		"unknown": nil,
	} {
		if got := codes.Of(id); !slices.Equal(got, want) {
			t.Errorf("codes of %s: %v, want %v", id, got, want)
		}
	}
}

// Given a tree with inactive nodes, then the nodes that a line is made of are those whose seat it is, and those of the lines below it.
func TestNodesOfALine(t *testing.T) {
	s := structureOf(tree("a -", "b a", "c b!", "d c", "e a!", "f -", "g f", "h gone", "i h"))
	for line, want := range map[analytics.NodeID]string{
		"a": "[a e] [b c d]", "b": "[b c d] []", "f": "[f] [g]", "g": "[g] []", "c": "[] []", "h": "[] []", "none": "[] []",
	} {
		itself, below := s.Seated(line)
		if got := fmt.Sprint(itself, " ", below); got != want {
			t.Errorf("%s is made of %s, want %s", line, got, want)
		}
	}
	if got, want := fmt.Sprint(s.AllSeated()), "[a b c d e f g]"; got != want {
		t.Errorf("%s have a seat, want %s", got, want)
	}
}
