package analytics_test

import (
	"errors"
	"slices"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

func TestLeasesContributeTheMonthsInWhichTheirTermsStayTheSame(t *testing.T) {
	day := calendar.NewDate
	lease := func(change func(l *events.Lease)) *events.Lease {
		l := &events.Lease{Status: "active", Start: day(2026, 2, 15), End: events.Some(day(2026, 12, 31)), Currency: "EUR", MonthlyRent: 100}
		change(l)
		return l
	}
	for name, tc := range map[string]struct {
		lease *events.Lease
		want  []string
	}{
		"one run for equal terms": {lease(func(*events.Lease) {}), []string{"rent [L 2026-12   2026-02] [1 100]"}},
		"an indefinite one ends with the calendar": {
			lease(func(l *events.Lease) { l.End = events.Opt[calendar.Date]{} }), []string{"rent [L 2300-12   2026-02] [1 100]"},
		},
		"a step in a month counts from the next": {
			lease(func(l *events.Lease) { l.Steps = []events.RentStep{{From: day(2026, 5, 15), MonthlyRent: 120}} }),
			[]string{"rent [L 2026-05   2026-02] [1 100]", "rent [L 2026-12   2026-06] [1 120]"},
		},
		"rent-free months have their rent beside them": {
			lease(func(l *events.Lease) { l.RentFree = []events.DateRange{{From: day(2026, 2, 1), To: day(2026, 3, 31)}} }),
			[]string{"rent [L 2026-03  rentFree 2026-02] [1 100]", "rent [L 2026-12   2026-04] [1 100]"},
		},
		"the tenant's next break": {
			lease(func(l *events.Lease) {
				l.Breaks = []events.Break{{Date: day(2026, 6, 30), Party: "tenant", State: "open"}}
			}),
			[]string{"rent [L 2026-06 2026-06-30  2026-02] [1 100]", "rent [L 2026-12   2026-07] [1 100]"},
		},
		"an exercised break ends it": {
			lease(func(l *events.Lease) {
				l.Breaks = []events.Break{{Date: day(2026, 6, 30), Party: "landlord", State: "exercised"}}
			}),
			[]string{"rent [L 2026-06   2026-02] [1 100]"},
		},
		"a draft adds nothing":           {lease(func(l *events.Lease) { l.Status = "draft" }), nil},
		"an ended one has its time":      {lease(func(l *events.Lease) { l.Status = "ended" }), []string{"rent [L 2026-12   2026-02] [1 100]"}},
		"one that ends before it begins": {lease(func(l *events.Lease) { l.End = events.Some(day(2026, 1, 31)) }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := analytics.LeaseContribution(nil, "L", tc.lease)
			if err != nil || !slices.Equal(of(clickhouse.RollRent, got), tc.want) || len(got) != len(tc.want) {
				t.Errorf("contributes %q, %v, want %q", entries(got), err, tc.want)
			}
		})
	}
}

func TestLeasesBeyondTheLimitsAreRefused(t *testing.T) {
	l := &events.Lease{Status: "active", Start: calendar.NewDate(2026, 1, 1)}
	for month := range calendar.Month(300) {
		l.Steps = append(l.Steps, events.RentStep{From: (2026*12 + month).First(), MonthlyRent: events.MaxAmount - int64(month)})
	}
	if _, err := analytics.LeaseContribution(nil, "L", l); !errors.Is(err, analytics.ErrTooMuch) {
		t.Errorf("300 rents of 2^53 are taken: %v", err)
	}
	l.Steps = l.Steps[:250]
	if c, err := analytics.LeaseContribution(nil, "L", l); err != nil || len(c) != 250 {
		t.Errorf("250 rents of 2^53 contribute %d entries, %v", len(c), err)
	}
}

func TestWhatIsFundedAndRequestedOfALoanIsSummedByKind(t *testing.T) {
	for name, tc := range map[string]struct {
		kind, status string
		want         []string
	}{
		"a drawdown":            {"drawdown", "funded", []string{"drawdowns [funded] [7]"}},
		"a requested one":       {"drawdown", "requested", []string{"drawdowns [requested] [7]"}},
		"a planned one":         {"drawdown", "planned", nil},
		"capitalised interest":  {"interest", "funded", []string{"capitalised [funded] [7]"}},
		"a repayment":           {"repayment", "funded", []string{"repayments [funded] [7]"}},
		"a kind nobody knows":   {"fee", "funded", nil},
		"a status nobody knows": {"drawdown", "cancelled", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := analytics.FacilityEntryContribution(nil, &events.FacilityEntry{Kind: tc.kind, Status: tc.status, Value: 7})
			if !slices.Equal(entries(got), tc.want) {
				t.Errorf("contributes %q, want %q", entries(got), tc.want)
			}
		})
	}
}
