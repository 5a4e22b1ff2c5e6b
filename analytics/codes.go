package analytics

import (
	"cmp"
	"slices"

	"tallyhouse/schemas/events"
)

// codeOrder ranks the known accounting systems; the others follow by name.
var codeOrder = []string{"yardi", "datev", "sap", "bmd", "other"}

// Codes returns a node's effective accounting codes, one per system in the order
// of the systems: its own, else that of the nearest ancestor that has one, marked
// as inherited (docs/calculations.md#accounting-codes). Inactive nodes give and take codes as well.
func (s *Structure) Codes(id NodeID) []events.AccountingCode {
	var codes []events.AccountingCode
	for _, i := range slices.Backward(s.wayUp(id)) {
		codes = inherit(s.nodes[i].AccountingCodes, codes)
	}
	return codes
}

// RecordCodes returns a record's accounting codes: as certified when it was
// approved, else the effective codes of each line it is booked on, in allocation
// order and each exactly equal one once (docs/calculations.md#codes-of-a-record).
func (s *Structure) RecordCodes(r *events.Record) []events.AccountingCode {
	if r.CertifiedCodes.Ok {
		return r.CertifiedCodes.V
	}
	var codes []events.AccountingCode
	for _, a := range r.Allocations {
		for _, code := range s.Codes(NodeID(a.NodeID.V)) {
			if !slices.Contains(codes, code) {
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
	codes := make([]events.AccountingCode, 0, len(own)+len(above))
	for _, code := range own {
		if !hasSystem(codes, code.System) {
			code.Inherited = false
			codes = append(codes, code)
		}
	}
	for _, code := range above {
		if !hasSystem(codes, code.System) {
			code.Inherited = true
			codes = append(codes, code)
		}
	}
	slices.SortFunc(codes, func(a, b events.AccountingCode) int {
		return cmp.Or(cmp.Compare(systemRank(a.System), systemRank(b.System)), cmp.Compare(a.System, b.System))
	})
	return codes
}

func hasSystem(codes []events.AccountingCode, system string) bool {
	return slices.ContainsFunc(codes, func(c events.AccountingCode) bool { return c.System == system })
}

func systemRank(system string) int {
	if at := slices.Index(codeOrder, system); at >= 0 {
		return at
	}
	return len(codeOrder)
}
