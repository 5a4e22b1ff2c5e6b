package analytics

import "tallyhouse/schemas/events"

// Budget rows, transfers and claims contribute what BudgetSum and ClaimSum add
// up: amounts on a node, "" where none is named, in their own currency. What
// counts in no figure contributes nothing.

const budgetApproved = "approved"

// BudgetRowShape is the shape of a budget row's contributions.
func BudgetRowShape() Shape {
	return Shape{Keys: []string{"node", "currency"}, Sums: []string{"value", "count"}}
}

// BudgetRowContributions are what a budget row adds to the views while it is
// approved (docs/calculations.md#what-is-booked).
func BudgetRowContributions(r *events.BudgetRow) Contributions {
	if r.Status != budgetApproved {
		return Contributions{}
	}
	return Contributions{Keys: []string{r.NodeID.V, r.Amount.Currency}, Sums: []int64{r.Amount.Value, 1}}
}

// BudgetTransferShape is the shape of a transfer's contributions, one entry for
// each of its sides.
func BudgetTransferShape() Shape {
	return Shape{Keys: []string{"node", "currency"}, Sums: []string{"value", "count"}}
}

// BudgetTransferContributions are what a transfer takes from one node and gives to
// another while it is approved. A side that names no node moves the unallocated
// budget (docs/calculations.md#what-is-booked).
func BudgetTransferContributions(t *events.BudgetTransfer) Contributions {
	if t.Status != budgetApproved {
		return Contributions{}
	}
	return Contributions{
		Keys: []string{t.FromNodeID.V, t.Amount.Currency, t.ToNodeID.V, t.Amount.Currency},
		Sums: []int64{-t.Amount.Value, 1, t.Amount.Value, 1},
	}
}

// ClaimShape is the shape of a claim's contributions.
func ClaimShape() Shape {
	return Shape{Keys: []string{"node", "currency"}, Sums: []string{"pending", "count"}}
}

// ClaimContributions are what a claim adds to the views while it is open.
func ClaimContributions(c *events.Claim) Contributions {
	if c.Status != claimOpen {
		return Contributions{}
	}
	return Contributions{Keys: []string{c.NodeID.V, c.Amount.Currency}, Sums: []int64{ClaimPending(c), 1}}
}
