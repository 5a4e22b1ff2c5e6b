package analytics

import (
	"cmp"
	"slices"

	"tallyhouse/schemas/events"
)

// codeOrder ranks the known accounting systems; the others follow by name.
var codeOrder = []string{"yardi", "datev", "sap", "bmd", "other"}

// Codes finds the effective accounting codes of nodes (docs/calculations.md#accounting-codes). It remembers what it finds,
// so that many nodes cost no more than the tree has nodes. It serves one goroutine.
type Codes struct {
	structure *Structure
	known     map[int]knownCodes // by position of the node
}

// knownCodes are the codes of a node that was passed on the way up. Until the way has come to its end they are not found.
type knownCodes struct {
	codes []events.AccountingCode
	found bool
}

// Codes returns what finds the codes of the structure's nodes.
func (s *Structure) Codes() *Codes { return &Codes{structure: s, known: make(map[int]knownCodes)} }

// Of returns a node's effective codes, one per system in the order of the systems: its own, else that of the nearest
// ancestor that has one, marked as inherited. Inactive nodes give and take codes as well. Nodes may share the slice.
func (c *Codes) Of(id NodeID) []events.AccountingCode {
	at, ok := c.structure.index[id]
	if !ok {
		return nil
	}
	var (
		codes []events.AccountingCode
		way   []int
	)
	for ; at >= 0; at = c.structure.parent[at] {
		if known, passed := c.known[at]; passed {
			codes = known.codes
			if !known.found { // the way goes in a circle
				codes = c.around(at)
			}
			break
		}
		c.known[at] = knownCodes{}
		way = append(way, at)
	}
	for _, at := range slices.Backward(way) {
		codes = inherit(c.structure.nodes[at].AccountingCodes, codes)
		c.known[at] = knownCodes{codes: codes, found: true}
	}
	return codes
}

// around returns the codes of a node in a circle: those of the whole circle, the nearest first.
func (c *Codes) around(at int) (codes []events.AccountingCode) {
	circle := []int{at}
	for i := c.structure.parent[at]; i != at; i = c.structure.parent[i] {
		circle = append(circle, i)
	}
	for _, i := range slices.Backward(circle) {
		codes = inherit(c.structure.nodes[i].AccountingCodes, codes)
	}
	return codes
}

// OfRecord returns a record's accounting codes: as certified when it was approved, else the effective codes of each line
// it is booked on, in allocation order and each exactly equal one once (docs/calculations.md#codes-of-a-record).
func (c *Codes) OfRecord(r *events.Record) []events.AccountingCode {
	switch {
	case r.CertifiedCodes.Ok:
		return r.CertifiedCodes.V
	case len(r.Allocations) == 1:
		return c.Of(NodeID(r.Allocations[0].NodeID.V))
	}
	var codes []events.AccountingCode
	listed := make(map[events.AccountingCode]bool)
	for _, a := range r.Allocations {
		for _, code := range c.Of(NodeID(a.NodeID.V)) {
			if !listed[code] {
				listed[code] = true
				codes = append(codes, code)
			}
		}
	}
	return codes
}

// inherit completes a node's own codes by those of its parent. It returns the
// parent's slice itself where nothing changes: most lines have no codes.
func inherit(own, above []events.AccountingCode) []events.AccountingCode {
	if len(own) == 0 && !slices.ContainsFunc(above, func(c events.AccountingCode) bool { return !c.Inherited }) {
		return above
	}
	codes := slices.Concat(own, above)
	for i := range codes {
		codes[i].Inherited = i >= len(own)
	}
	slices.SortStableFunc(codes, func(a, b events.AccountingCode) int {
		return cmp.Or(cmp.Compare(systemRank(a.System), systemRank(b.System)), cmp.Compare(a.System, b.System))
	})
	// Of each system the first one counts.
	return slices.CompactFunc(codes, func(a, b events.AccountingCode) bool { return a.System == b.System })
}

func systemRank(system string) int {
	if at := slices.Index(codeOrder, system); at >= 0 {
		return at
	}
	return len(codeOrder)
}
