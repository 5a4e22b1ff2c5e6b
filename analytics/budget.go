package analytics

import (
	"cmp"
	"slices"

	"tallyhouse/schemas/events"
)

// BudgetInput is everything that the budget of one project is computed from: its
// structure and small state, and the sums of the views. No records.
type BudgetInput struct {
	Currency  string // of the project
	Structure *Structure
	Budget    []BudgetSum
	Records   [][]RecordSum // in any number of lists
	Claims    []ClaimSum
	Contracts []Contract // of this project
	Entries   []UncommittedEntry
}

// ProjectBudget is a project's budget in its currency (docs/calculations.md#budget).
type ProjectBudget struct {
	Nodes             []BudgetNode // effective nodes, depth first
	Unallocated       Int128
	UnallocatedBudget Int128
	Excluded          []Excluded // by currency
	ExcludedCommitted []Excluded // by currency
}

// BudgetNode is an effective node with its figures.
type BudgetNode struct {
	Node            *Node
	AccountingCodes []events.AccountingCode // effective ones; lines may share the slice
	Figures
	parent int // position in Nodes
}

// Excluded is what a foreign currency keeps out of all totals. Count is the
// number of records or contracts.
type Excluded struct {
	Currency string
	Value    Int128
	Count    int64
}

// Estimate holds the figures that an estimate at completion rests on. Those of a
// month-end snapshot are frozen; the rest derives from them.
type Estimate struct {
	Budget         Int128
	Committed      Int128
	PendingChanges Int128
	Uncommitted    Int128
	Invoiced       Int128
	Paid           Int128
}

// EAC is the estimate at completion (docs/calculations.md#where-it-leads).
func (e *Estimate) EAC() Int128 { return e.Committed.Add(e.PendingChanges).Add(e.Uncommitted) }

// Variance is what the budget leaves beside the estimate; negative is an overrun.
func (e *Estimate) Variance() Int128 { return e.Budget.Sub(e.EAC()) }

// CostToComplete is the estimate less what is invoiced; negative when more is
// invoiced than estimated.
func (e *Estimate) CostToComplete() Int128 { return e.EAC().Sub(e.Invoiced) }

// InvoicedByStatus splits Invoiced; its members add up to it.
type InvoicedByStatus struct {
	Setup           Int128
	ApprovalPending Int128
	PaymentPending  Int128
	Paid            Int128
}

// Figures are the amounts of a budget node with all below it (docs/calculations.md#budget).
type Figures struct {
	Estimate
	InvoicedByStatus     InvoicedByStatus
	InvoicedGross        Int128
	PaidGross            Int128
	OpenCommitment       Int128
	OverInvoiced         Int128
	UncommittedDefaulted bool
}

// Budget computes the budget of a project (docs/calculations.md#budget).
func Budget(in BudgetInput) ProjectBudget {
	linked, finder := linkedRecords(in), newLineFinder(in.Structure)
	return budgetOf(in, func(c *Contract, lines []ContractLine) []Int128 {
		return finder.invoicedOnLines(lines, linked(c.ID))
	})
}

// budgetOf is Budget with what is invoiced on the lines of a contract; nil leaves out what is open of commitments and what is
// invoiced beyond them, on which no other figure rests.
func budgetOf(in BudgetInput, invoiced func(c *Contract, lines []ContractLine) []Int128) ProjectBudget {
	var b ProjectBudget
	b.Nodes = make([]BudgetNode, len(in.Structure.lines))
	for i, line := range in.Structure.lines {
		var above []events.AccountingCode
		if line.parent >= 0 {
			above = b.Nodes[line.parent].AccountingCodes
		}
		b.Nodes[i] = BudgetNode{Node: line.node, AccountingCodes: inherit(line.node.AccountingCodes, above),
			parent: line.parent}
	}
	b.bookBudget(in)
	b.bookRecords(in)
	b.bookContracts(in, invoiced)
	b.bookClaims(in)
	b.rollUp(in)
	return b
}

func (b *ProjectBudget) bookBudget(in BudgetInput) {
	for _, sum := range in.Budget {
		if sum.Currency != in.Currency {
			continue
		}
		own := &b.UnallocatedBudget
		if at := in.Structure.seatOf(sum.NodeID); at != noSeat {
			own = &b.Nodes[at].Budget
		}
		*own = own.Add(sum.Amount)
	}
}

func (b *ProjectBudget) bookRecords(in BudgetInput) {
	excluded := map[string]Excluded{}
	seats := seatFinder{structure: in.Structure, at: noSeat}
	for _, list := range in.Records {
		for i := range list {
			r := &list[i]
			if !r.counts() || r.Currency == "" {
				continue
			}
			if r.Currency != in.Currency {
				exclude(excluded, r.Currency, r.Net, r.Count)
				continue
			}
			if at := seats.find(r.NodeID); at != noSeat {
				b.Nodes[at].bookRecords(r)
			} else {
				b.Unallocated = b.Unallocated.Add(r.Net)
			}
		}
	}
	b.Excluded = byCurrency(excluded)
}

func (f *Figures) bookRecords(r *RecordSum) {
	f.Invoiced = f.Invoiced.Add(r.Net)
	f.InvoicedGross = f.InvoicedGross.Add(r.Gross)
	s := &f.InvoicedByStatus
	switch r.Status {
	case Setup:
		s.Setup = s.Setup.Add(r.Net)
	case ApprovalPending:
		s.ApprovalPending = s.ApprovalPending.Add(r.Net)
	case PaymentPending:
		s.PaymentPending = s.PaymentPending.Add(r.Net)
	case Paid:
		s.Paid = s.Paid.Add(r.Net)
		f.Paid = f.Paid.Add(r.Net)
		f.PaidGross = f.PaidGross.Add(r.Gross)
	}
}

func (b *ProjectBudget) bookContracts(in BudgetInput, invoiced func(c *Contract, lines []ContractLine) []Int128) {
	excluded := map[string]Excluded{}
	for i := range in.Contracts {
		c := &in.Contracts[i]
		if !c.Counts() {
			continue
		}
		lines := c.Lines()
		if c.Currency != in.Currency {
			if len(lines) > 0 {
				exclude(excluded, c.Currency, committed(lines), 1)
			}
			continue
		}
		in.Structure.booked(lines, c.Amendments, func(at int, committed, pending Int128) {
			own := &b.Nodes[at]
			own.Committed, own.PendingChanges = own.Committed.Add(committed), own.PendingChanges.Add(pending)
		})
		if invoiced != nil {
			b.bookOpen(in.Structure, lines, invoiced(c, lines))
		}
	}
	b.ExcludedCommitted = byCurrency(excluded)
}

// booked calls each for what a contract that counts puts on seats: what its lines commit, and increases that await approval. What has no
// seat is visible on the contract only.
func (s *Structure) booked(lines []ContractLine, amendments []events.Amendment, each func(at int, committed, pending Int128)) {
	for _, line := range lines {
		if at := s.seatOf(line.NodeID); at != noSeat {
			each(at, line.Committed, Int128{})
		}
	}
	for i := range amendments {
		increase := pendingIncrease(&amendments[i])
		if at := s.seatOf(NodeID(amendments[i].NodeID.V)); at != noSeat && !increase.IsZero() {
			each(at, Int128{}, increase)
		}
	}
}

// ContractsOn returns the contracts of a project in a currency that are in what is committed and pending on an effective line, or below
// it: those that Budget books there. There are none of a line that isn't effective.
func (s *Structure) ContractsOn(line NodeID, currency string, contracts []Contract) (on []ContractID) {
	first, last := s.span(line)
	for i := range contracts {
		c, here := &contracts[i], false
		if !c.Counts() || c.Currency != currency {
			continue
		}
		s.booked(c.Lines(), c.Amendments, func(at int, _, _ Int128) { here = here || first <= at && at <= last })
		if here {
			on = append(on, c.ID)
		}
	}
	return on
}

// linkedRecords returns what finds the sums that count on the lines of a contract.
func linkedRecords(in BudgetInput) (of func(id ContractID) []*RecordSum) {
	groups, places := grouped(in.Records, func(r *RecordSum) (id ContractID, linked bool) {
		return r.ContractID, r.ContractID != "" && r.counts() && r.Currency == in.Currency
	})
	return func(id ContractID) []*RecordSum {
		if at, some := places[id]; some {
			return groups[at]
		}
		return nil
	}
}

// bookOpen places what of a contract is open or invoiced beyond it on its lines. Lines do not net each other.
func (b *ProjectBudget) bookOpen(s *Structure, lines []ContractLine, invoiced []Int128) {
	for i, line := range lines {
		if at := s.seatOf(line.NodeID); at != noSeat {
			own, rest := &b.Nodes[at], line.Committed.Sub(invoiced[i])
			own.OpenCommitment = own.OpenCommitment.Add(rest.OrZero())
			own.OverInvoiced = own.OverInvoiced.Add(rest.Neg().OrZero())
		}
	}
}

func (b *ProjectBudget) bookClaims(in BudgetInput) {
	for _, claim := range in.Claims {
		if at := in.Structure.seatOf(claim.NodeID); at != noSeat && claim.Currency == in.Currency {
			own := &b.Nodes[at]
			own.PendingChanges = own.PendingChanges.Add(claim.Pending)
		}
	}
}

// rollUp turns own amounts into totals, children before parents, and works out
// what is still to be contracted on the way.
func (b *ProjectBudget) rollUp(in BudgetInput) {
	entries := enteredValues(in)
	needs := make([]childNeeds, len(b.Nodes))
	// Own amounts are lost once the children are added: what is free comes first.
	free := make([]Int128, len(b.Nodes))
	for i := range b.Nodes {
		free[i] = b.Nodes[i].Budget.Sub(b.Nodes[i].Committed)
	}
	for i := len(b.Nodes) - 1; i >= 0; i-- {
		n := &b.Nodes[i]
		u := uncommittedOf(entries[i], free[i], needs[i])
		n.Uncommitted, n.UncommittedDefaulted = u.total, !u.touched
		if n.parent >= 0 {
			b.Nodes[n.parent].addChild(&n.Figures)
			needs[n.parent].add(u, n.Budget, n.Committed)
		}
	}
}

// addChild adds the summed figures of a child; Uncommitted is not one of them.
func (f *Figures) addChild(c *Figures) {
	f.Budget = f.Budget.Add(c.Budget)
	f.Committed = f.Committed.Add(c.Committed)
	f.PendingChanges = f.PendingChanges.Add(c.PendingChanges)
	f.Invoiced = f.Invoiced.Add(c.Invoiced)
	f.Paid = f.Paid.Add(c.Paid)
	f.InvoicedByStatus.Setup = f.InvoicedByStatus.Setup.Add(c.InvoicedByStatus.Setup)
	f.InvoicedByStatus.ApprovalPending = f.InvoicedByStatus.ApprovalPending.Add(c.InvoicedByStatus.ApprovalPending)
	f.InvoicedByStatus.PaymentPending = f.InvoicedByStatus.PaymentPending.Add(c.InvoicedByStatus.PaymentPending)
	f.InvoicedByStatus.Paid = f.InvoicedByStatus.Paid.Add(c.InvoicedByStatus.Paid)
	f.InvoicedGross = f.InvoicedGross.Add(c.InvoicedGross)
	f.PaidGross = f.PaidGross.Add(c.PaidGross)
	f.OpenCommitment = f.OpenCommitment.Add(c.OpenCommitment)
	f.OverInvoiced = f.OverInvoiced.Add(c.OverInvoiced)
}

// enteredValues returns the value entered per line, nil where there is none.
// Withdrawn entries and those in a foreign currency are none; of several on one
// node the greatest id counts.
func enteredValues(in BudgetInput) []*Int128 {
	values := make([]*Int128, len(in.Structure.lines))
	ids := make(map[int]string, len(in.Entries))
	for _, e := range in.Entries {
		if !e.Amount.Ok || e.Amount.V.Currency != in.Currency {
			continue
		}
		at := in.Structure.effectiveAt(e.NodeID)
		if at == noSeat || values[at] != nil && ids[at] > e.ID {
			continue
		}
		value := Int(e.Amount.V.Value)
		values[at], ids[at] = &value, e.ID
	}
	return values
}

// ToLevel returns the nodes that a response down to the deepest level shows:
// those at or above it whose ancestors are shown. Amounts stay the same. Empty
// shows all.
func (b *ProjectBudget) ToLevel(deepest string) []BudgetNode {
	return toLevel(b.Nodes, deepest, func(n *BudgetNode) (string, int) { return n.Node.Level, n.parent })
}

func exclude(excluded map[string]Excluded, currency string, value Int128, count int64) {
	e := excluded[currency]
	excluded[currency] = Excluded{Currency: currency, Value: e.Value.Add(value), Count: e.Count + count}
}

// byCurrency lists what is excluded. A currency stays while it has a count, also
// when its values cancel; a sum whose records are all gone does not.
func byCurrency(excluded map[string]Excluded) []Excluded {
	listed := make([]Excluded, 0, len(excluded))
	for _, e := range excluded {
		if e.Count != 0 {
			listed = append(listed, e)
		}
	}
	slices.SortFunc(listed, func(a, b Excluded) int { return cmp.Compare(a.Currency, b.Currency) })
	return listed
}
