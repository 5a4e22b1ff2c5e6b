package analytics

import (
	"errors"
	"fmt"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Shape names the members of an entity's contributions: what they are keyed by and what they sum.
type Shape struct {
	Keys []string
	Sums []string
}

// Contributions are the summands that one entity puts into the roll-up views, entry by entry: entry i has the keys
// Keys[i*k:(i+1)*k] and the sums Sums[i*s:(i+1)*s], in the order of its Shape. Flat, because a stream makes millions of
// them.
type Contributions struct {
	Keys []string
	Sums []int64
}

// Limits of one entity's contributions, so that a batch of them can be summed in 64 bits.
const (
	MaxContributions = 10_000
	MaxContributed   = 1 << 61 // absolute amounts of one measure together, exclusive
)

// ErrTooMuch reports an entity that contributes beyond the limits. Its message says which.
var ErrTooMuch = errors.New("contributes more than the views can hold")

// RecordShape is the shape of a record's contributions. Each entry is an allocation; tax and count are on the first.
func RecordShape() Shape {
	return Shape{
		Keys: []string{"node", "contract", "contractor", "currency", "status", "source", "direction", "cash_month",
			"recognition_month"},
		Sums: []string{"net", "tax", "gross", "count", "allocations"},
	}
}

// RecordContributions are what a record adds to the views: one entry per allocation, one for a record without any. A
// record whose net is not known counts in no amount, so it has no currency there and sums of 0; it is counted all the
// same.
func RecordContributions(r *events.Record) (Contributions, error) {
	entries := max(1, len(r.Allocations))
	if entries > MaxContributions {
		return Contributions{}, fmt.Errorf("data.allocations has %d entries, at most %d are taken: %w", entries,
			MaxContributions, ErrTooMuch)
	}
	nets := make([]int64, entries)
	nets[0] = r.Net.Or(0)
	for i, a := range r.Allocations {
		nets[i] = a.Net.Or(0)
	}
	gross, tax, currency := nets, int64(0), ""
	if r.Net.Ok {
		var err error
		if gross, err = SplitGross(Gross(r).V, nets); err != nil {
			return Contributions{}, fmt.Errorf("data.gross cannot be split over the allocations: %w", ErrTooMuch)
		}
		tax, currency = r.Tax.Or(0), r.Currency.V
	}
	if !withinLimit(nets) || !withinLimit(gross) {
		return Contributions{}, fmt.Errorf("the absolute amounts of data.allocations reach 2^61: %w", ErrTooMuch)
	}
	var (
		status      = string(StatusOf(r.StepKind))
		cashMonth   = monthOf(CashDate(r))
		recognition = monthOf(r.RecognitionDate)
		c           = Contributions{Keys: make([]string, 0, entries*9), Sums: make([]int64, 0, entries*5)}
	)
	for i := range entries {
		node, first := "", int64(0)
		if i < len(r.Allocations) {
			node = r.Allocations[i].NodeID.V
		}
		if i == 0 {
			first = 1
		}
		c.Keys = append(c.Keys, node, r.ContractID.V, r.ContractorID.V, currency, status, r.Source, r.Direction, cashMonth,
			recognition)
		c.Sums = append(c.Sums, nets[i], tax*first, gross[i], first, 1)
	}
	return c, nil
}

func withinLimit(amounts []int64) bool {
	left := int64(MaxContributed - 1)
	for _, v := range amounts {
		if v < 0 {
			v = -v
		}
		if v < 0 || v > left {
			return false
		}
		left -= v
	}
	return true
}

// monthOf is the month as the views hold it: YYYY-MM, "" when there is none.
func monthOf(d events.Opt[calendar.Date]) string {
	if !d.Ok {
		return ""
	}
	return d.V.Month().String()
}
