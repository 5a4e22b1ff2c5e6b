package analytics

import (
	"slices"

	"tallyhouse/schemas/events"
)

// Below returns the nodes below a node, inactive ones too, in no particular order. Nodes that go in a circle are below
// each other.
func (s *Structure) Below(id NodeID) []NodeID {
	from, ok := s.index[id]
	if !ok {
		return nil
	}
	return s.upwards(func(i int) (below, known bool) { return s.parent[i] == from, s.parent[i] == from })
}

// WithCode returns the nodes whose effective code in an accounting system is this one
// (docs/calculations.md#accounting-codes), in no particular order.
func (s *Structure) WithCode(system, code string) []NodeID {
	of := func(i int) int {
		return slices.IndexFunc(s.nodes[i].AccountingCodes, func(c events.AccountingCode) bool { return c.System == system })
	}
	return s.upwards(func(i int) (with, known bool) {
		at := of(i)
		return at >= 0 && s.nodes[i].AccountingCodes[at].Code == code, at >= 0
	})
}

// upwards returns the nodes of which ask says yes: it is asked about a node and then about those above it, until it
// knows. What it says of one then holds for all on the way to it, so that it is asked about none twice, however deep the
// tree is. It says no of what it does not know.
func (s *Structure) upwards(ask func(i int) (yes, known bool)) []NodeID {
	var (
		asked = make([]bool, len(s.nodes))
		is    = make([]bool, len(s.nodes))
		way   []int
		found []NodeID
	)
	for i := range s.nodes {
		yes, known := false, false
		way = way[:0]
		for at := i; at >= 0 && !known; at = s.parent[at] {
			if asked[at] { // or the way goes in a circle, of which nothing is known
				yes = is[at]
				break
			}
			asked[at] = true
			way = append(way, at)
			yes, known = ask(at)
		}
		for _, at := range way {
			is[at] = yes
		}
		if yes {
			found = append(found, s.nodes[i].ID)
		}
	}
	return found
}
