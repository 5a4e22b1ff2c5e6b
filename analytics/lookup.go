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
	var below []NodeID
	for i := range s.nodes {
		if s.walk(s.parent[i], func(above int) bool { return above == from }) >= 0 {
			below = append(below, s.nodes[i].ID)
		}
	}
	return below
}

// WithCode returns the nodes whose effective code in an accounting system is this one
// (docs/calculations.md#accounting-codes), in no particular order.
func (s *Structure) WithCode(system, code string) []NodeID {
	of := func(i int) int {
		return slices.IndexFunc(s.nodes[i].AccountingCodes, func(c events.AccountingCode) bool { return c.System == system })
	}
	var with []NodeID
	for i := range s.nodes {
		at := s.walk(i, func(above int) bool { return of(above) >= 0 })
		if at >= 0 && s.nodes[at].AccountingCodes[of(at)].Code == code {
			with = append(with, s.nodes[i].ID)
		}
	}
	return with
}

// walk goes upwards from position i until it finds what it looks for, and returns where; -1 when the way ends or goes
// in a circle.
func (s *Structure) walk(i int, found func(i int) bool) int {
	for range s.nodes {
		if i < 0 || found(i) {
			return max(i, noSeat) // top and absent are no positions
		}
		i = s.parent[i]
	}
	return noSeat
}
