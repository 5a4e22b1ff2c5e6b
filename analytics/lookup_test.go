package analytics

import (
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
					want = slices.Contains(s.wayUp(s.nodes[p].ID), at)
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
				want := slices.ContainsFunc(s.Codes(n.ID),
					func(c events.AccountingCode) bool { return c.System == system && c.Code == "1" })
				if slices.Contains(got, n.ID) != want {
					t.Fatalf("%s with %s:1: %v", n.ID, system, !want)
				}
			}
		}
	})
}
