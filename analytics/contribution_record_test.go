package analytics_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// of keeps the entries of one roll.
func of(roll clickhouse.RollID, c analytics.Contribution) []string {
	return entries(slices.DeleteFunc(slices.Clone(c), func(s analytics.Summand) bool { return s.Roll != roll }))
}

func codedOn(node string, net int64) events.RecordAllocation {
	return events.RecordAllocation{NodeID: events.Opt[string]{V: node, Ok: node != ""}, Net: events.Some(net)}
}

// paidInvoice is a record that stands in every roll, whose net of 100 and gross of 120 lie on one node.
func paidInvoice() *events.Record {
	return &events.Record{
		ProjectID: "P", Source: "invoice", StepKind: "paid", ContractorID: events.Some("K"), ContractID: events.Some("C"), Currency: events.Some("EUR"),
		RecognitionDate: events.Some(calendar.NewDate(2026, 1, 31)), CashDate: events.Some(calendar.NewDate(2026, 3, 1)),
		Net: events.Some[int64](100), Tax: events.Some[int64](20), Allocations: []events.RecordAllocation{codedOn("a", 100)},
	}
}

func TestRecordsContribute(t *testing.T) {
	const (
		lines, payments, recognized = clickhouse.RollLines, clickhouse.RollPayments, clickhouse.RollRecognized
		references, links, none     = clickhouse.RollReferences, clickhouse.RollLinks, ""
	)
	type rolls map[clickhouse.RollID][]string
	for name, tc := range map[string]struct {
		change func(r *events.Record)
		want   rolls
	}{
		"all of it": {func(*events.Record) {}, rolls{
			lines: {"lines [C a EUR paid] [1 1 100 120]"}, payments: {"payments [a EUR 2026-03] [100]"}, recognized: {"recognized [a 2026-01] [1]"},
			references: {"references [K] [1]"}, links: {"links [C a EUR R] [1]"},
		}},
		"one that is not paid: no cash": {func(r *events.Record) { r.StepKind = "payment" }, rolls{
			lines: {"lines [C a EUR paymentPending] [1 1 100 120]"}, recognized: {"recognized [a 2026-01] [1]"},
			references: {"references [K] [1]"}, links: {"links [C a EUR R] [1]"},
		}},
		"a rejected one: its contractor alone":               {func(r *events.Record) { r.StepKind = "rejected" }, rolls{references: {"references [K] [1]"}}},
		"an accrual: where it is recognized, and contractor": {func(r *events.Record) { r.Source = "accrual" }, rolls{recognized: {"recognized [a 2026-01] [1]"}, references: {"references [K] [1]"}}},
		"no contractor, contract or dates": {func(r *events.Record) {
			r.ContractorID, r.ContractID, r.RecognitionDate, r.CashDate = events.Opt[string]{}, events.Opt[string]{}, events.Opt[calendar.Date]{}, events.Opt[calendar.Date]{}
		}, rolls{lines: {"lines [ a EUR paid] [1 1 100 120]"}}},
		"no net: counted without a currency": {func(r *events.Record) {
			r.Net, r.Tax, r.Gross, r.Allocations = events.Opt[int64]{}, events.Opt[int64]{}, events.Some[int64](7), []events.RecordAllocation{{NodeID: events.Some("a")}}
		}, rolls{lines: {"lines [C a  paid] [1 1 0 0]"}, recognized: {"recognized [a 2026-01] [1]"}, references: {"references [K] [1]"}}},
		"no allocation: its whole net on no node": {func(r *events.Record) { r.Allocations = nil }, rolls{
			lines: {"lines [C  EUR paid] [1 1 100 120]"}, payments: {"payments [ EUR 2026-03] [100]"}, references: {"references [K] [1]"},
		}},
		"a gross as delivered": {func(r *events.Record) { r.Gross = events.Some[int64](119) }, rolls{
			lines: {"lines [C a EUR paid] [1 1 100 119]"}, payments: {"payments [a EUR 2026-03] [100]"}, recognized: {"recognized [a 2026-01] [1]"},
			references: {"references [K] [1]"}, links: {"links [C a EUR R] [1]"},
		}},
		"several allocations: counted on the first, gross by net": {func(r *events.Record) {
			r.Allocations = []events.RecordAllocation{codedOn("a", 50), codedOn("b", 25), codedOn("", 25), codedOn("a", 0)}
		}, rolls{
			lines:    {"lines [C a EUR paid] [1 1 50 60]", "lines [C b EUR paid] [0 1 25 30]", "lines [C  EUR paid] [0 1 25 30]", "lines [C a EUR paid] [0 1 0 0]"},
			payments: {"payments [a EUR 2026-03] [50]", "payments [b EUR 2026-03] [25]", "payments [ EUR 2026-03] [25]", "payments [a EUR 2026-03] [0]"},
			// Each allocation that names a node.
			recognized: {"recognized [a 2026-01] [1]", "recognized [b 2026-01] [1]", "recognized [a 2026-01] [1]"}, references: {"references [K] [1]"},
			links: {"links [C a EUR R] [1]", "links [C b EUR R] [1]", "links [C a EUR R] [1]"},
		}},
		"a step that nobody knows: nothing counts": {func(r *events.Record) { r.StepKind = none }, rolls{
			recognized: {"recognized [a 2026-01] [1]"}, references: {"references [K] [1]"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := paidInvoice()
			tc.change(r)
			got, err := analytics.RecordContribution(nil, "R", r)
			if err != nil {
				t.Fatal(err)
			}
			for _, roll := range clickhouse.Rolls() {
				if got := of(roll, got); !slices.Equal(got, tc.want[roll]) {
					t.Errorf("contributes %q to %s, want %q", got, roll.Roll().Name, tc.want[roll])
				}
			}
		})
	}
}

func TestAContributionIsAppended(t *testing.T) {
	c, err := analytics.RecordContribution(nil, "R", paidInvoice())
	if err != nil {
		t.Fatal(err)
	}
	twice, err := analytics.RecordContribution(slices.Clone(c), "R", paidInvoice())
	if err != nil || !slices.Equal(entries(twice), slices.Concat(entries(c), entries(c))) {
		t.Fatalf("%q, %v", entries(twice), err)
	}
}

func TestRecordsBeyondTheLimitsAreRefused(t *testing.T) {
	const largest = analytics.MaxAmount
	many := func(nets ...int64) *events.Record {
		r := paidInvoice()
		r.Tax, r.Net, r.Allocations = events.Opt[int64]{}, events.Some[int64](0), nil
		for _, net := range nets {
			r.Net.V += net
			r.Allocations = append(r.Allocations, codedOn("a", net))
		}
		return r
	}
	with := func(r *events.Record, gross int64) *events.Record {
		r.Gross = events.Some(gross)
		return r
	}
	turn := func(n int, value int64) []int64 {
		all := make([]int64, n)
		for i := range all {
			all[i] = value - 2*value*int64(i%2)
		}
		return all
	}
	for name, tc := range map[string]struct {
		record  *events.Record
		refused bool
	}{
		"as many allocations as are taken":       {many(turn(analytics.MaxContribution, 1)...), false},
		"one more":                               {many(turn(analytics.MaxContribution+1, 1)...), true},
		"nets below 2^61":                        {many(turn(256, largest)...), false},
		"nets beyond 2^61, though they cancel":   {many(turn(258, largest)...), true},
		"a gross whose shares go beyond 2^61":    {with(many(1000, -999), largest), true},
		"a gross whose shares go beyond 64 bits": {with(many(largest, 1-largest), largest), true},
		"a gross on one allocation":              {with(many(largest), -largest), false},
	} {
		_, err := analytics.RecordContribution(nil, "R", tc.record)
		if errors.Is(err, analytics.ErrTooMuch) != tc.refused || err != nil && !tc.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What one entity may contribute leaves room: the worst amount that a batch of one can have stays within 64 bits.
func TestTheLimitOfAnEntityFitsTwiceIntoABatch(t *testing.T) {
	if before, after := uint64(analytics.MaxContributed-1), uint64(analytics.MaxContributed-1); before+after >= math.MaxInt64/2+1 {
		t.Error(fmt.Sprint(before+after, " is beyond 2^62"))
	}
}
