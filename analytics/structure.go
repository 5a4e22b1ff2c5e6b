package analytics

import (
	"cmp"
	"slices"

	"tallyhouse/schemas/events"
)

// NodeID identifies a budget node. The empty id means that no node is coded.
type NodeID string

// Node is a budget node with its id.
type Node struct {
	ID NodeID
	events.BudgetNode
}

// ProjectSpecific reports whether the node exists in one project only.
func (n *Node) ProjectSpecific() bool { return n.ProjectID.Ok }

// Structure is the tree of one project's budget nodes (docs/calculations.md#lines). It is
// immutable and safe for concurrent use.
type Structure struct {
	nodes  []*Node
	index  map[NodeID]int
	parent []int
	// lines are the effective nodes, depth first.
	lines []structureLine
	// seats holds, per node, the position in lines where its money counts.
	seats []int
	// tops holds, per node, the position of its top-level ancestor, which may be itself; absent where the way up does not
	// end at one.
	tops []int
}

// structureLine is an effective node and the position of its parent in lines.
type structureLine struct {
	node   *Node
	parent int
}

// In the place of a parent where there is none.
const (
	top    = -1 // a top-level node
	absent = -2 // its parent is missing, deleted or foreign
)

const noSeat = -1

// NewStructure builds the tree of a project out of nodes, which may hold those
// of other projects and structures too: its own are the nodes of its budget
// structure and those that exist only in it. Node ids are unique. The structure
// keeps nodes, which must not change any more.
func NewStructure(projectID string, structureID events.Opt[string], nodes []Node) *Structure {
	s := &Structure{index: make(map[NodeID]int, len(nodes))}
	for i := range nodes {
		if belongs(&nodes[i], projectID, structureID) {
			s.index[nodes[i].ID] = len(s.nodes)
			s.nodes = append(s.nodes, &nodes[i])
		}
	}
	s.parent = make([]int, len(s.nodes))
	for i, n := range s.nodes {
		s.parent[i] = s.parentOf(n)
	}
	s.seat()
	return s
}

func belongs(n *Node, projectID string, structureID events.Opt[string]) bool {
	if n.ProjectID.Ok {
		return n.ProjectID.V == projectID
	}
	return structureID.Ok && n.StructureID == structureID
}

func (s *Structure) parentOf(n *Node) int {
	if !n.ParentID.Ok {
		return top
	}
	if p, ok := s.index[NodeID(n.ParentID.V)]; ok {
		return p
	}
	return absent
}

// seat finds the effective nodes, and for every node the nearest effective one
// from itself upwards and its top-level ancestor. Nodes below a missing parent, or
// in a circle, are never reached from the top and keep neither.
func (s *Structure) seat() {
	s.seats, s.tops = make([]int, len(s.nodes)), make([]int, len(s.nodes))
	for i := range s.seats {
		s.seats[i], s.tops[i] = noSeat, absent
	}
	order := depthFirst(s.parent, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(s.nodes[a].Code, s.nodes[b].Code),
			cmp.Compare(s.nodes[a].ID, s.nodes[b].ID),
		)
	})
	for _, i := range order {
		above := noSeat
		s.tops[i] = i
		if s.parent[i] != top {
			above, s.tops[i] = s.seats[s.parent[i]], s.tops[s.parent[i]]
		}
		if s.nodes[i].Active && s.effective(s.parent[i]) {
			s.seats[i] = len(s.lines)
			s.lines = append(s.lines, structureLine{node: s.nodes[i], parent: above})
		} else {
			s.seats[i] = above
		}
	}
}

// effective reports whether the already seated node i, or the top, is effective.
func (s *Structure) effective(i int) bool {
	return i == top || s.seats[i] != noSeat && s.lines[s.seats[i]].node == s.nodes[i]
}

// depthFirst returns the positions that are reached from the top, every parent
// before its children and siblings in the order of compare.
func depthFirst(parent []int, compare func(a, b int) int) []int {
	siblings := make([]int, len(parent))
	for i := range siblings {
		siblings[i] = i
	}
	// Children go on the stack in reverse, so that the first comes off first.
	slices.SortFunc(siblings, func(a, b int) int { return compare(b, a) })
	first := make([]int, len(parent)+1) // first[p] .. first[p+1]: the children of p
	for _, p := range parent {
		if p >= 0 {
			first[p+1]++
		}
	}
	for p := range parent {
		first[p+1] += first[p]
	}
	children := make([]int, first[len(parent)])
	next := slices.Clone(first)
	stack := make([]int, 0, len(parent))
	for _, i := range siblings {
		switch p := parent[i]; {
		case p == top:
			stack = append(stack, i)
		case p >= 0:
			children[next[p]] = i
			next[p]++
		}
	}
	order := make([]int, 0, len(parent))
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], children[first[i]:first[i+1]]...)
		order = append(order, i)
	}
	return order
}

// Find returns the project's node with this id, effective or not.
func (s *Structure) Find(id NodeID) (*Node, bool) {
	i, ok := s.index[id]
	if !ok {
		return nil, false
	}
	return s.nodes[i], true
}

// Seat returns the node on which money booked on id counts: the node itself when
// it is effective, else its nearest effective ancestor. False: it has no seat.
func (s *Structure) Seat(id NodeID) (NodeID, bool) {
	if at := s.seatOf(id); at != noSeat {
		return s.lines[at].node.ID, true
	}
	return "", false
}

func (s *Structure) seatOf(id NodeID) int {
	if i, ok := s.index[id]; ok {
		return s.seats[i]
	}
	return noSeat
}

// Seated returns the nodes whose money counts on an effective line itself, and those whose money counts on a line below it; none of a
// line that isn't effective.
func (s *Structure) Seated(line NodeID) (itself, below []NodeID) {
	first, last := s.span(line)
	if first == noSeat {
		return nil, nil
	}
	for i, at := range s.seats {
		switch {
		case at == first:
			itself = append(itself, s.nodes[i].ID)
		case at > first && at <= last:
			below = append(below, s.nodes[i].ID)
		}
	}
	return itself, below
}

// span returns the positions in lines of an effective line and of the last one below it, noSeat for another.
func (s *Structure) span(line NodeID) (first, last int) {
	if first = s.effectiveAt(line); first == noSeat {
		return noSeat, noSeat
	}
	last = first
	for last+1 < len(s.lines) && s.lines[last+1].parent >= first { // depth first: what is below a line follows it
		last++
	}
	return first, last
}

// AllSeated returns the nodes whose money counts on any line.
func (s *Structure) AllSeated() (nodes []NodeID) {
	for i, at := range s.seats {
		if at != noSeat {
			nodes = append(nodes, s.nodes[i].ID)
		}
	}
	return nodes
}

// effectiveAt returns the position in lines of an effective node.
func (s *Structure) effectiveAt(id NodeID) int {
	if i, ok := s.index[id]; ok && s.effective(i) {
		return s.seats[i]
	}
	return noSeat
}

// BudgetName returns the name of the node's top-level ancestor, inactive or not;
// none where the way up ends at a missing parent or goes in a circle.
func (s *Structure) BudgetName(id NodeID) events.Opt[string] {
	i, ok := s.index[id]
	if !ok || s.tops[i] == absent {
		return events.Opt[string]{}
	}
	return events.Some(s.nodes[s.tops[i]].Name)
}

// depths ranks the levels that the level parameter knows; every other one is
// deeper than all of them.
var depths = map[string]int{"budget": 1, "subBudget": 2, "costItem": 3}

// toLevel returns the nodes that a response down to the deepest level shows: those at or above it whose ancestors are shown
// (docs/calculations.md#lines). Parents, by their positions, come before their children; below 0 there is none. An empty or unknown
// deepest level shows all.
func toLevel[N any](nodes []N, deepest string, place func(n *N) (level string, parent int)) []N {
	limit, limited := depths[deepest]
	if !limited {
		return nodes
	}
	shown, kept := make([]bool, len(nodes)), make([]N, 0, len(nodes))
	for i := range nodes {
		level, parent := place(&nodes[i])
		depth, known := depths[level]
		if shown[i] = known && depth <= limit && (parent < 0 || shown[parent]); shown[i] {
			kept = append(kept, nodes[i])
		}
	}
	return kept
}
