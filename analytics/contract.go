package analytics

import (
	"cmp"
	"slices"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// ContractID identifies a contract. The empty id means that none is linked.
type ContractID string

// Contract is a contract with its id.
type Contract struct {
	ID ContractID
	events.Contract
}

// The amendment statuses that rules name.
const (
	amendmentDraft    = "draft"
	amendmentPending  = "pending"
	amendmentApproved = "approved"
)

// Counts reports whether the contract counts in the budget: signed and completed
// ones do (docs/calculations.md#lines-of-a-contract).
func (c *Contract) Counts() bool { return c.Status == "signed" || c.Status == "completed" }

// ContractFigures are the computed members of a contract, in its currency.
type ContractFigures struct {
	// Allocated is false while the contract has no base allocation; Committed,
	// OpenCommitment and OverInvoiced are null then.
	Allocated      bool
	Committed      Int128
	Invoiced       Int128
	Paid           Int128
	OpenCommitment Int128
	OverInvoiced   Int128
	PendingChanges Int128
	Locked         bool
}

// Figures computes the contract's members from the sums of the records that are
// linked to it in its own project (docs/calculations.md#linked-invoices).
func (c *Contract) Figures(linked []RecordSum) ContractFigures {
	var f ContractFigures
	lines := c.Lines()
	f.Allocated = len(lines) > 0
	f.Committed = committed(lines)
	for i := range c.Amendments {
		f.Locked = f.Locked || c.Amendments[i].Status == amendmentApproved
		f.PendingChanges = f.PendingChanges.Add(pendingIncrease(&c.Amendments[i]))
	}
	for i := range linked {
		r := &linked[i]
		if !r.counts() {
			continue
		}
		f.Locked = f.Locked || r.Count > 0
		if r.Currency != c.Currency {
			continue
		}
		f.Invoiced = f.Invoiced.Add(r.Net)
		if r.Status == Paid {
			f.Paid = f.Paid.Add(r.Net)
		}
	}
	if f.Allocated {
		rest := f.Committed.Sub(f.Invoiced)
		f.OpenCommitment, f.OverInvoiced = rest.OrZero(), rest.Neg().OrZero()
	}
	return f
}

// pendingIncrease is what an amendment adds to the pending changes. Reductions
// that await approval are not anticipated.
func pendingIncrease(a *events.Amendment) Int128 {
	if a.Status != amendmentPending {
		return Int128{}
	}
	return Int(a.Value).OrZero()
}

// ListedAmendments returns the amendments that the API shows, all but drafts, in
// amendment order: by date, undated last, then by id (docs/calculations.md#contracts).
func (c *Contract) ListedAmendments() []events.Amendment {
	return c.amendments(func(status string) bool { return status != amendmentDraft })
}

func (c *Contract) amendments(keep func(status string) bool) []events.Amendment {
	var kept []events.Amendment
	for _, a := range c.Amendments {
		if keep(a.Status) {
			kept = append(kept, a)
		}
	}
	slices.SortFunc(kept, func(a, b events.Amendment) int {
		return cmp.Or(
			cmp.Compare(a.Date.Or(undated), b.Date.Or(undated)),
			cmp.Compare(a.ID, b.ID),
		)
	})
	return kept
}

// undated sorts after every date.
const undated = calendar.MaxDate + 1
