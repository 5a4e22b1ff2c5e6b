package analytics

import (
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// Budget rows, transfers and claims contribute what BudgetSum and ClaimSum add up: amounts on a node, "" where none is
// named, in their own currency. What counts in no figure contributes nothing.

const budgetApproved = "approved"

// BudgetRowContribution appends to c what a budget row adds to the sums while it is approved
// (docs/calculations.md#budget).
func BudgetRowContribution(c Contribution, r *events.BudgetRow) Contribution {
	if r.Status != budgetApproved {
		return c
	}
	return c.add(clickhouse.RollBudget, rollKeys{r.NodeID.V, r.Amount.Currency}, r.Amount.Value)
}

// BudgetTransferContribution appends to c what a transfer takes from one node and gives to another while it is
// approved. A side that names no node moves the unallocated budget (docs/calculations.md#budget).
func BudgetTransferContribution(c Contribution, t *events.BudgetTransfer) Contribution {
	if t.Status != budgetApproved {
		return c
	}
	c = c.add(clickhouse.RollTransfers, rollKeys{t.FromNodeID.V, t.Amount.Currency}, -t.Amount.Value)
	return c.add(clickhouse.RollTransfers, rollKeys{t.ToNodeID.V, t.Amount.Currency}, t.Amount.Value)
}

// ClaimContribution appends to c what a claim adds to the sums while it is open.
func ClaimContribution(c Contribution, claim *events.Claim) Contribution {
	if claim.Status != claimOpen {
		return c
	}
	return c.add(clickhouse.RollClaims, rollKeys{claim.NodeID.V, claim.Amount.Currency}, ClaimPending(claim))
}
