package analytics

import (
	"math/big"

	"tallyhouse/schemas/events"
)

// The sums below are what the rolls hold for one project. Rows may come
// in any order, and several with one key add up.

// RecordSum is what the records under one key add up to, in one currency.
type RecordSum struct {
	NodeID     NodeID     // as coded; empty where nothing is coded
	ContractID ContractID // empty where no contract is linked
	Currency   string     // empty for records without a net, which add nothing but their count
	Status     RecordStatus
	Source     string // "" where sums hold records that count alone
	Net        Int128
	Gross      Int128
	Count      int64 // records whose first allocation is in this sum
}

// counts reports whether these records count in any figure: they are no accruals and not rejected
// (docs/calculations.md#linked-invoices).
func (r *RecordSum) counts() bool { return counts(r.Status, r.Source) }

func counts(status RecordStatus, source string) bool {
	switch status {
	case Setup, ApprovalPending, PaymentPending, Paid:
		return source != sourceAccrual
	}
	return false
}

// BudgetSum is the approved budget booked on one node in one currency, signed:
// approved budget rows, less transfers away from it, plus transfers to it.
type BudgetSum struct {
	NodeID   NodeID // empty for the side of a row or transfer that names no node
	Currency string
	Amount   Int128
}

// ClaimSum is what the claims on one node in one currency add to the pending
// changes: the sum of their ClaimPending.
type ClaimSum struct {
	NodeID   NodeID
	Currency string
	Pending  Int128
}

const claimOpen = "open"

// ClaimPending is what a claim adds to the pending changes of its node: while it
// is open, its amount times its probability, rounded for this claim alone; a
// negative claim adds nothing (docs/calculations.md#where-it-leads).
func ClaimPending(c *events.Claim) int64 {
	if c.Status != claimOpen || c.Amount.Value <= 0 {
		return 0
	}
	expected := new(big.Int).Mul(big.NewInt(c.Amount.Value), big.NewInt(c.ProbabilityBp.Units))
	whole := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.ProbabilityBp.Scale)), nil)
	whole.Mul(whole, big.NewInt(10000))
	return HalfAway(expected, whole).Int64() // at most the amount: the probability ends at 10000
}

// UncommittedEntry is what a person entered as still to be contracted on a node.
type UncommittedEntry struct {
	ID     string
	NodeID NodeID
	Amount events.Opt[events.Amount] // none: withdrawn
}
