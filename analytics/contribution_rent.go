package analytics

import (
	"fmt"

	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// rentFreeRun is the status of runs of months without rent.
const rentFreeRun = "rentFree"

// LeaseContribution appends to c what a lease adds to the sums of its project: the runs of months in which it is in force
// and its terms stay the same, without any index (docs/calculations.md#segments-of-a-lease). Leases of a status that no
// rule names, and drafts, add nothing.
func LeaseContribution(c Contribution, id string, l *events.Lease) (Contribution, error) {
	if l.Status != leaseSigned && l.Status != leaseActive && l.Status != leaseEnded {
		return c, nil
	}
	runs := rentSegments(l)
	rents := make([]int64, len(runs))
	for i, s := range runs {
		rents[i] = s.Rent
	}
	if !withinLimit(rents) {
		return c, fmt.Errorf("the absolute rents of data.monthlyRent and data.steps reach 2^61: %w", ErrTooMuch)
	}
	for _, s := range runs {
		status, leave := "", ""
		if s.RentFree {
			status = rentFreeRun
		}
		if s.FirstBreak.Ok {
			leave = s.FirstBreak.V.String()
		}
		c = c.add(clickhouse.RollRent, rollKeys{id, s.To.String(), leave, status, s.From.String()}, 1, s.Rent)
	}
	return c, nil
}
