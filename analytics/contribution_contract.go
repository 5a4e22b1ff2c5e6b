package analytics

import (
	"fmt"
	"slices"
	"strings"

	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// ContractContribution appends to c what a contract adds to the sums: its lines, each with its place among them, 00001
// and on, because shares of what is coded outside go by it (docs/calculations.md#contracts); and the increases of its
// pending amendments. Contracts of every status contribute: which of them count is asked of the sums.
func ContractContribution(c Contribution, id ContractID, data *events.Contract) (Contribution, error) {
	contract := Contract{ID: id, Contract: *data}
	if err := contract.withinLimits(); err != nil {
		return c, err
	}
	for i, line := range contract.Lines() {
		// Within the limits, so 64 bits hold them.
		base, _ := line.Base.Int64()
		committed, _ := line.Committed.Int64()
		keys := rollKeys{string(id), string(line.NodeID), data.Currency, data.Status, fmt.Sprintf("%05d", i+1)}
		c = c.add(clickhouse.RollContracts, keys, 1, base, committed)
	}
	for i := range data.Amendments {
		if increase := pendingIncrease(&data.Amendments[i]); !increase.IsZero() {
			pending, _ := increase.Int64()
			keys := rollKeys{string(id), data.Amendments[i].NodeID.V, data.Currency, data.Status, ""}
			c = c.add(clickhouse.RollContracts, keys, 0, 0, 0, pending)
		}
	}
	return c, nil
}

// withinLimits bounds what is booked on the contract, draft amendments too: they
// may be approved.
func (c *Contract) withinLimits() error {
	booked := len(c.Allocations) + len(c.Amendments)
	if booked > MaxContribution {
		return fmt.Errorf("data.allocations and data.amendments have %d entries, at most %d are taken: %w", booked, MaxContribution, ErrTooMuch)
	}
	amounts := make([]int64, 0, booked)
	for _, a := range c.Allocations {
		amounts = append(amounts, a.Value)
	}
	for _, a := range c.Amendments {
		amounts = append(amounts, a.Value)
	}
	if !withinLimit(amounts) {
		return fmt.Errorf("the absolute amounts of data.allocations and data.amendments reach 2^61: %w", ErrTooMuch)
	}
	return nil
}

// ContractSum is what the sums hold of a contract under one key: one of its
// lines, or what is pending on a node.
type ContractSum struct {
	ContractID ContractID
	Line       string // as contributed: a contract's lines sort by it
	NodeID     NodeID // empty for amendments that name no node
	Currency   string // of the contract
	Status     string // of the contract
	Base       Int128
	Committed  Int128
	Pending    Int128
}

// ContractsOf puts contracts together from their sums, which may come in any
// order. They are what Budget needs: the same lines in the same order and the
// same pending changes, not the single amendments. It fails with ErrOutOfRange
// for a sum that no contract can have contributed.
func ContractsOf(sums []ContractSum) ([]Contract, error) {
	groups, _ := grouped([][]ContractSum{sums}, func(s *ContractSum) (ContractID, bool) { return s.ContractID, true })
	contracts := make([]Contract, len(groups))
	for i, of := range groups {
		// What the lines take of what is coded outside goes by their order.
		slices.SortFunc(of, func(a, b *ContractSum) int { return strings.Compare(a.Line, b.Line) })
		c := &contracts[i]
		c.ID, c.Currency, c.Status = of[0].ContractID, of[0].Currency, of[0].Status
		c.Allocations = make([]events.ContractAllocation, 0, len(of))
		for _, sum := range of {
			if err := c.take(sum); err != nil {
				return nil, fmt.Errorf("put contract %q together: %w", c.ID, err)
			}
		}
	}
	return contracts, nil
}

func (c *Contract) take(sum *ContractSum) error {
	base, hasBase := sum.Base.Int64()
	approved, hasApproved := sum.Committed.Sub(sum.Base).Int64()
	pending, hasPending := sum.Pending.Int64()
	if !hasBase || !hasApproved || !hasPending {
		return ErrOutOfRange
	}
	node := events.Opt[string]{V: string(sum.NodeID), Ok: sum.NodeID != ""}
	amend := func(status string, value int64) {
		c.Amendments = append(c.Amendments, events.Amendment{ID: sum.Line, NodeID: node, Value: value, Status: status})
	}
	if sum.Line == "" {
		amend(amendmentPending, pending)
		return nil
	}
	c.Allocations = append(c.Allocations, events.ContractAllocation{NodeID: string(sum.NodeID), Value: base})
	if approved != 0 {
		amend(amendmentApproved, approved)
	}
	return nil
}
