package analytics_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Where there is no room for all months of all lines, what is listed is the same.
func TestWhatACashflowListsDoesNotDependOnTheRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, today := ledgers().Draw(t, "ledger"), todays(t)
		in := l.cashflowInput("P1")
		end := func(name string) (m events.Opt[calendar.Month]) {
			if rapid.Bool().Draw(t, name) {
				m = events.Some(calendar.NewDate(2027, 1, 1).Month() + calendar.Month(rapid.IntRange(0, 40).Draw(t, "of "+name)))
			}
			return m
		}
		in.From, in.To = end("from"), end("to")
		want := decoded(t, shownCashflow(new(analytics.Cashflow(in, today)), "P1", "EUR", ""))
		got := decoded(t, shownCashflow(new(analytics.CashflowWithin(in, today, 0)), "P1", "EUR", ""))
		if d := differences(want, got, "$", ""); len(d) > 0 {
			t.Fatalf("%v\n%s", d, show(l))
		}
	})
}

// Dates at both ends of the calendar do not make a cash flow large: a typo on every line is no reason to run out of
// memory.
func TestOnlyListedMonthsAreKeptWhereDatesAreFarApart(t *testing.T) {
	// Given 1,000 lines with plans over all 400 years of the calendar, and payments at both ends of it
	const lines, first = 1000, "1900-01"
	nodes := []analytics.Node{}
	in := analytics.CashflowInput{BudgetInput: analytics.BudgetInput{Currency: "EUR"}}
	for i := range lines {
		id := fmt.Sprintf("n%04d", i)
		above := "-"
		if i%10 != 0 {
			above = fmt.Sprintf("n%04d", i-i%10)
		}
		nodes = append(nodes, tree(id+" "+above)...)
		in.Budget = append(in.Budget, budgetOn(id, 10_000_000))
		in.Plans = append(in.Plans, plan(id, "linearMonths 1900-01-01 2299-12-31"))
		in.Cash = append(in.Cash, paidOn(id, first, 7), paidOn(id, "2299-12", 3))
	}
	in.Structure = structureOf(nodes)
	today := date("2026-05-12")
	some := func(text string) (m events.Opt[calendar.Month]) {
		if text != "" {
			m = events.Some(month(text))
		}
		return m
	}
	for name, tc := range map[string]struct{ from, to, first, last string }{
		"nothing asked for":  {"", "", "2001-05", "2051-04"},
		"the first month":    {first, first, first, first},
		"the last month":     {"2299-12", "2299-12", "2299-12", "2299-12"},
		"a part":             {"2026-01", "2026-12", "2026-01", "2026-12"},
		"more than is shown": {first, "", first, "2299-12"},
	} {
		// When it is computed
		in.From, in.To = some(tc.from), some(tc.to)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := analytics.Cashflow(in, today)
		runtime.ReadMemStats(&after)
		// Then months of 600 at most are kept, not of 4,800
		const most = 40 << 20
		if took := after.TotalAlloc - before.TotalAlloc; took > most {
			t.Errorf("%s: %d MB for %d lines", name, took>>20, lines)
		}
		if got := fmt.Sprint(c.First, " ", c.Last); got != tc.first+" "+tc.last {
			t.Errorf("%s: %s are listed, want %s to %s", name, got, tc.first, tc.last)
		}
		// And each has what a branch of 10 lines pays in it.
		share := analytics.Int(0)
		i := slices.IndexFunc(c.Nodes, func(n analytics.CashflowNode) bool { return n.Node.ID == "n0010" })
		for m := c.First; m <= min(c.Last, c.First+analytics.MaxCashflowMonths-1); m++ {
			actual, forecast := c.In(&c.Nodes[i], m)
			switch {
			case m.String() == first && actual != analytics.Int(70),
				m.String() != first && !actual.IsZero(),
				m < c.AsOf && !forecast.IsZero(), m >= c.AsOf && forecast.Sub(analytics.Int(10*3043)).Sign() < 0:
				t.Fatalf("%s: %s and %s in %s", name, actual, forecast, m)
			}
			share = share.Add(forecast)
		}
		if c.Last < c.AsOf && !share.IsZero() {
			t.Errorf("%s: %s is forecast", name, share)
		}
	}
}
