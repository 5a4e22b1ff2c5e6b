package analytics

import (
	"errors"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// RecordStatus is where a record stands in its approval (docs/calculations.md#status).
type RecordStatus string

// The statuses of a record.
const (
	Setup           RecordStatus = "setup"
	ApprovalPending RecordStatus = "approvalPending"
	PaymentPending  RecordStatus = "paymentPending"
	Paid            RecordStatus = "paid"
	Rejected        RecordStatus = "rejected"
)

// sourceAccrual marks cost booked before its invoice exists.
const sourceAccrual = "accrual"

// StatusOf collapses the upstream step into the status (docs/calculations.md#status). A
// step that the events do not know has no status and counts nowhere.
func StatusOf(stepKind string) RecordStatus {
	switch stepKind {
	case "setup":
		return Setup
	case "approval":
		return ApprovalPending
	case "payment":
		return PaymentPending
	case "paid":
		return Paid
	case "rejected":
		return Rejected
	}
	return ""
}

// CashDate returns the day a paid record was paid: as delivered, else the Vienna
// date of the payment instant (docs/calculations.md#payment-date). Other records have none.
func CashDate(r *events.Record) events.Opt[calendar.Date] {
	switch {
	case StatusOf(r.StepKind) != Paid:
		return events.Opt[calendar.Date]{}
	case r.CashDate.Ok:
		return r.CashDate
	case r.PaidAt.Ok:
		return events.Some(calendar.ViennaDate(r.PaidAt.V))
	}
	return events.Opt[calendar.Date]{}
}

// Gross returns the delivered gross, else net plus tax, a missing tax being 0
// (docs/calculations.md#gross); none while the document has not been read. Net plus tax
// may be beyond MaxAmount, never beyond 64 bits.
func Gross(r *events.Record) events.Opt[int64] {
	if r.Gross.Ok || !r.Net.Ok {
		return r.Gross
	}
	return events.Some(r.Net.V + r.Tax.Or(0))
}

// SplitGross spreads a record's gross over its allocations in proportion to
// their nets (docs/calculations.md#gross): by LargestRemainder, or all on the first
// allocation when the nets sum to 0. Nets of mixed signs can make a share that
// 64 bits do not hold: ErrOutOfRange. Without nets there are no shares.
func SplitGross(gross int64, nets []int64) ([]int64, error) {
	switch len(nets) {
	case 0:
		return nil, nil
	case 1:
		return []int64{gross}, nil
	}
	shares, err := LargestRemainder(gross, nets)
	if errors.Is(err, ErrNoWeights) {
		shares = make([]int64, len(nets))
		shares[0] = gross
		return shares, nil
	}
	return shares, err
}

// NodeRef shows the budget line that an amount is booked on (docs/calculations.md#allocations). All its
// members are null where nothing, or no line of the project, is coded.
type NodeRef struct {
	NodeID     events.Opt[string]
	Code       events.Opt[string]
	Name       events.Opt[string]
	BudgetName events.Opt[string] // name of the top-level ancestor
}

// Allocation is one share of a record as the API shows it.
type Allocation struct {
	BudgetNode NodeRef
	Net        events.Opt[int64]
}

// Allocations returns where the record is booked, at least one entry: a record
// without coding has one that carries its whole net (docs/calculations.md#allocations). Inactive
// lines are shown as coded.
func (s *Structure) Allocations(r *events.Record) []Allocation {
	if len(r.Allocations) == 0 {
		return []Allocation{{Net: r.Net}}
	}
	shown := make([]Allocation, len(r.Allocations))
	for i, a := range r.Allocations {
		shown[i] = Allocation{BudgetNode: s.ref(NodeID(a.NodeID.V)), Net: a.Net}
	}
	return shown
}

// SoleNode is the record's budgetNode: the line of its only allocation, none for
// a split record (docs/calculations.md#allocations).
func SoleNode(allocations []Allocation) events.Opt[NodeRef] {
	if len(allocations) != 1 {
		return events.Opt[NodeRef]{}
	}
	return events.Some(allocations[0].BudgetNode)
}

func (s *Structure) ref(id NodeID) NodeRef {
	node, ok := s.Find(id)
	if !ok {
		return NodeRef{}
	}
	return NodeRef{
		NodeID:     events.Some(string(node.ID)),
		Code:       events.Some(node.Code),
		Name:       events.Some(node.Name),
		BudgetName: s.BudgetName(id),
	}
}
