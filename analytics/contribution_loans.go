package analytics

import (
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// FacilityEntryContribution appends to c what a movement of a loan adds to the sums of its facility: what is funded and
// what is requested, each kind in a roll of its own. Planned movements, and kinds that nobody knows, add nothing
// (docs/architecture.md#what-is-stored).
func FacilityEntryContribution(c Contribution, e *events.FacilityEntry) Contribution {
	if e.Status != "funded" && e.Status != "requested" {
		return c
	}
	switch keys := (rollKeys{e.Status}); e.Kind {
	case "drawdown":
		return c.add(clickhouse.RollDrawdowns, keys, e.Value)
	case "interest":
		return c.add(clickhouse.RollCapitalised, keys, e.Value)
	case "repayment":
		return c.add(clickhouse.RollRepayments, keys, e.Value)
	}
	return c
}
