package analytics

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/schemas/events"
)

// randomNodes draws nodes whose parents may be missing, inactive or go in circles.
func randomNodes(t *rapid.T) []Node {
	ids := []string{"a", "b", "c", "d", "e", "f", "g"}
	var nodes []Node
	for _, id := range ids {
		n := Node{ID: NodeID(id),
			BudgetNode: events.BudgetNode{StructureID: events.Some("S"), Active: rapid.Bool().Draw(t, "active")}}
		if parent := rapid.SampledFrom(append(ids, "", "missing")).Draw(t, "parent"); parent != "" && parent != id {
			n.ParentID = events.Some(parent)
		}
		for _, system := range []string{"datev", "sap"} {
			if rapid.Bool().Draw(t, "coded") {
				n.AccountingCodes = append(n.AccountingCodes,
					events.AccountingCode{System: system, Code: rapid.SampledFrom([]string{"1", "2"}).Draw(t, "code")})
			}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func TestBelowFindsEveryNodeWhoseWayUpPassesTheNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStructure("P", events.Some("S"), randomNodes(t))
		for at, from := range s.nodes {
			got := s.Below(from.ID)
			for i, n := range s.nodes {
				want := false
				if p := s.parent[i]; p >= 0 {
					want = slices.Contains(s.wayUp(p), at)
				}
				if slices.Contains(got, n.ID) != want {
					t.Fatalf("%s below %s: %v", n.ID, from.ID, !want)
				}
			}
		}
	})
}

func TestWithCodeFindsTheNodesThatShowTheCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStructure("P", events.Some("S"), randomNodes(t))
		for _, system := range []string{"datev", "sap", "bmd"} {
			got := s.WithCode(system, "1")
			for _, n := range s.nodes {
				want := slices.ContainsFunc(s.Codes().Of(n.ID),
					func(c events.AccountingCode) bool { return c.System == system && c.Code == "1" })
				if slices.Contains(got, n.ID) != want {
					t.Fatalf("%s with %s:1: %v", n.ID, system, !want)
				}
			}
		}
	})
}

// wayUp returns the node and its ancestors, inactive ones too, each once.
func (s *Structure) wayUp(i int) (way []int) {
	for ; i >= 0 && !slices.Contains(way, i); i = s.parent[i] {
		way = append(way, i)
	}
	return way
}

func TestCodesAreTheNearestOnTheWayUpWhateverWasAskedBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStructure("P", events.Some("S"), randomNodes(t))
		codes := s.Codes()
		for range rapid.IntRange(1, 10).Draw(t, "questions") {
			at := rapid.IntRange(0, len(s.nodes)-1).Draw(t, "node")
			want := make(map[string]events.AccountingCode) // by system
			for _, i := range s.wayUp(at) {
				for _, code := range s.nodes[i].AccountingCodes {
					if _, nearer := want[code.System]; !nearer {
						code.Inherited = i != at
						want[code.System] = code
					}
				}
			}
			got := codes.Of(s.nodes[at].ID)
			for _, code := range got {
				if want[code.System] != code {
					t.Fatalf("%s shows %+v, want %+v", s.nodes[at].ID, code, want[code.System])
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%s shows %v, want %v", s.nodes[at].ID, got, want)
			}
		}
	})
}

// chain is a structure in which each of so many nodes is below the one before, n0 at the top.
func chain(n int) *Structure {
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{ID: NodeID(fmt.Sprint("n", i)), BudgetNode: events.BudgetNode{StructureID: events.Some("S"), Active: true}}
		if i > 0 {
			nodes[i].ParentID = events.Some(fmt.Sprint("n", i-1))
		}
	}
	return NewStructure("P", events.Some("S"), nodes)
}

// A tenant may send a tree as deep as it has nodes: no question may walk all the way up for every node.
func TestADeepTreeCostsNoMoreThanItHasNodes(t *testing.T) {
	const n = 1000
	s := chain(n)
	for name, knows := range map[string]func(i int) bool{
		"never":      func(int) bool { return false },
		"at the top": func(i int) bool { return s.parent[i] == top },
	} {
		asked := 0
		found := s.upwards(func(i int) (yes, known bool) {
			asked++
			return knows(i), knows(i)
		})
		if want := map[bool]int{true: n}[name == "at the top"]; asked > n || len(found) != want {
			t.Errorf("%s: %d nodes were asked, %d found, want %d", name, asked, len(found), want)
		}
	}
	codes, deepest := s.Codes(), s.nodes[n-1].ID
	codes.Of(deepest)
	if again := testing.AllocsPerRun(10, func() { codes.Of(deepest) }); again > 0 {
		t.Errorf("codes that are known were looked for again, with %v allocations", again)
	}
	if again := testing.AllocsPerRun(10, func() { s.BudgetName(deepest) }); again > 0 {
		t.Errorf("the top of a node was looked for, with %v allocations", again)
	}
}
