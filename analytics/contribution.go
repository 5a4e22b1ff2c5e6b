package analytics

import (
	"errors"
	"fmt"
	"slices"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// Summand is one entry of what an entity puts into the sums: amounts under a key of a roll, within the entity's tenant
// and project.
type Summand struct {
	Roll    clickhouse.RollID
	Keys    [clickhouse.MaxRollKeys]string   // in the order of the roll's Keys
	Amounts [clickhouse.MaxRollAmounts]int64 // in the order of the roll's Amounts
}

// A Contribution is all that one entity puts into the sums, a pure function of the columns that its row stores. Several
// summands may have one key: they add up.
type Contribution []Summand

// Limits of one entity's contribution, so that a batch of them can be summed in 64 bits.
const (
	MaxContribution = 10_000  // entries of the payload that contribute, like allocations
	MaxContributed  = 1 << 61 // absolute amounts of one measure together, exclusive
)

// ErrTooMuch reports an entity that contributes beyond the limits. Its message says which.
var ErrTooMuch = errors.New("contributes more than the sums can hold")

// add appends a summand.
func (c Contribution) add(roll clickhouse.RollID, keys [clickhouse.MaxRollKeys]string, amounts ...int64) Contribution {
	s := Summand{Roll: roll, Keys: keys}
	copy(s.Amounts[:], amounts)
	return append(c, s)
}

type rollKeys = [clickhouse.MaxRollKeys]string

// RecordContribution appends to c what a record adds to the sums of its project (docs/architecture.md#what-is-stored).
// Accruals and rejected records count in no amount. A record whose net is not known counts in no amount either: it has
// the currency "" and sums of 0, and is counted all the same.
func RecordContribution(c Contribution, id string, r *events.Record) (Contribution, error) {
	entries := max(1, len(r.Allocations))
	if entries > MaxContribution {
		return c, fmt.Errorf("data.allocations has %d entries, at most %d are taken: %w", entries, MaxContribution, ErrTooMuch)
	}
	var few [8]int64 // most records have few allocations: no memory is asked for
	var one [1]int64
	nets := appendNets(slices.Grow(few[:0], entries), r)
	gross, currency, err := grossOf(r, nets, &one)
	if err != nil {
		return c, err
	}
	if !withinLimit(nets) || !withinLimit(gross) {
		return c, fmt.Errorf("the absolute amounts of data.allocations reach 2^61: %w", ErrTooMuch)
	}
	var (
		status          = StatusOf(r.StepKind)
		counting        = counts(status, r.Source)
		contract        = r.ContractID.V
		cashMonth       = monthOf(CashDate(r))
		recognizedMonth = monthOf(r.RecognitionDate)
	)
	if r.ContractorID.V != "" {
		c = c.add(clickhouse.RollReferences, rollKeys{r.ContractorID.V}, 1)
	}
	for i := range entries {
		node, first := "", int64(0)
		if i < len(r.Allocations) {
			node = r.Allocations[i].NodeID.V
		}
		if i == 0 {
			first = 1
		}
		if recognizedMonth != "" && node != "" && status != Rejected {
			c = c.add(clickhouse.RollRecognized, rollKeys{node, recognizedMonth}, 1)
		}
		if !counting {
			continue
		}
		c = c.add(clickhouse.RollLines, rollKeys{contract, node, currency, string(status)}, first, 1, nets[i], gross[i])
		if currency == "" {
			continue
		}
		if cashMonth != "" {
			c = c.add(clickhouse.RollPayments, rollKeys{node, currency, cashMonth}, nets[i])
		}
		if contract != "" && node != "" {
			c = c.add(clickhouse.RollLinks, rollKeys{contract, node, currency, id}, 1)
		}
	}
	return c, nil
}

// appendNets appends the net of each allocation, or of the record where it has none.
func appendNets(nets []int64, r *events.Record) []int64 {
	if len(r.Allocations) == 0 {
		return append(nets, r.Net.Or(0))
	}
	for _, a := range r.Allocations {
		nets = append(nets, a.Net.Or(0))
	}
	return nets
}

// grossOf splits a record's gross as its net is split. A record whose net is not known has no currency to count in.
func grossOf(r *events.Record, nets []int64, one *[1]int64) (gross []int64, currency string, err error) {
	if !r.Net.Ok {
		return nets, "", nil
	}
	if len(nets) == 1 { // nothing to split: no memory is asked for
		one[0] = Gross(r).V
		return one[:], r.Currency.V, nil
	}
	if gross, err = SplitGross(Gross(r).V, nets); err != nil {
		return nil, "", fmt.Errorf("data.gross cannot be split over the allocations: %w", ErrTooMuch)
	}
	return gross, r.Currency.V, nil
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

// monthOf is the month as the sums hold it: YYYY-MM, "" when there is none.
func monthOf(d events.Opt[calendar.Date]) string {
	if !d.Ok {
		return ""
	}
	return d.V.Month().String()
}
