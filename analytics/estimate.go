package analytics

// EstimateAtCompletion is the estimate at completion of a project, all of its top lines together
// (docs/calculations.md#where-it-leads). It is what Budget would make of its lines, without their other figures, and takes a
// part of the time.
func EstimateAtCompletion(in BudgetInput) Int128 {
	lines := in.Structure.lines
	e := lineEstimates{structure: in.Structure, budget: make([]Int128, len(lines)), committed: make([]Int128, len(lines))}
	for _, sum := range in.Budget {
		if sum.Currency == in.Currency {
			e.book(e.budget, sum.NodeID, sum.Amount)
		}
	}
	for i := range in.Contracts {
		if c := &in.Contracts[i]; c.Counts() && c.Currency == in.Currency {
			e.bookContract(c)
		}
	}
	for _, claim := range in.Claims {
		if claim.Currency == in.Currency && in.Structure.seatOf(claim.NodeID) != noSeat {
			e.total = e.total.Add(claim.Pending)
		}
	}
	e.addUncommitted(enteredValues(in))
	return e.total
}

// lineEstimates are what an estimate rests on, by line, and the estimate so far.
type lineEstimates struct {
	structure         *Structure
	budget, committed []Int128
	total             Int128
}

// book adds a value to those of the node's line, if it has one, and reports whether it has.
func (e *lineEstimates) book(values []Int128, node NodeID, value Int128) bool {
	at := e.structure.seatOf(node)
	if at == noSeat {
		return false
	}
	values[at] = values[at].Add(value)
	return true
}

func (e *lineEstimates) bookContract(c *Contract) {
	for _, line := range c.Lines() {
		if e.book(e.committed, line.NodeID, line.Committed) {
			e.total = e.total.Add(line.Committed)
		}
	}
	for i := range c.Amendments {
		if a := &c.Amendments[i]; e.structure.seatOf(NodeID(a.NodeID.V)) != noSeat {
			e.total = e.total.Add(pendingIncrease(a))
		}
	}
}

// addUncommitted adds what is still to be contracted, given what was entered, children before parents.
func (e *lineEstimates) addUncommitted(entered []*Int128) {
	needs := make([]childNeeds, len(e.budget))
	// Budgets and commitments of the lines below each line.
	below := make([]struct{ budget, committed Int128 }, len(e.budget))
	for i := len(e.budget) - 1; i >= 0; i-- {
		u := uncommittedOf(entered[i], e.budget[i].Sub(e.committed[i]), needs[i])
		parent := e.structure.lines[i].parent
		if parent < 0 {
			e.total = e.total.Add(u.total)
			continue
		}
		budget, committed := e.budget[i].Add(below[i].budget), e.committed[i].Add(below[i].committed)
		needs[parent].add(u, budget, committed)
		above := &below[parent]
		above.budget, above.committed = above.budget.Add(budget), above.committed.Add(committed)
	}
}
