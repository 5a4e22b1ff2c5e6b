package analytics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

func date(text string) calendar.Date {
	d, err := calendar.ParseDate(text)
	if err != nil {
		panic(err) // a test's own text
	}
	return d
}

func month(text string) calendar.Month {
	m, err := calendar.ParseMonth(text)
	if err != nil {
		panic(err) // a test's own text
	}
	return m
}

// plan reads "method start end", where - is no date.
func plan(node, text string) analytics.LinePlan {
	words := strings.Fields(text)
	p := analytics.LinePlan{ID: "plan of " + node, LinePlan: events.LinePlan{ProjectID: "P1", NodeID: node, Method: words[0]}}
	for i, at := range []*events.Opt[calendar.Date]{&p.StartDate, &p.EndDate} {
		if i+1 < len(words) && words[i+1] != "-" {
			*at = events.Some(date(words[i+1]))
		}
	}
	return p
}

// custom is a plan of entered months, "2026-05=300".
func custom(node string, months ...string) analytics.LinePlan {
	p := plan(node, "custom")
	for _, text := range months {
		at, value, _ := strings.Cut(text, "=")
		entered := events.MonthValue{Month: month(at)}
		fmt.Sscan(value, &entered.Value)
		p.CustomMonths = append(p.CustomMonths, entered)
	}
	return p
}

func recurring(p analytics.LinePlan, every int, from, to string) analytics.LinePlan {
	p.Recurring = events.Some(events.Recurrence{EveryMonths: every, From: month(from)})
	if to != "" {
		p.Recurring.V.To = events.Some(month(to))
	}
	return p
}

func paidOn(node, at string, net int64) analytics.CashSum {
	return analytics.CashSum{NodeID: analytics.NodeID(node), Currency: "EUR",
		Paid: []analytics.MonthNet{{Month: month(at), Net: analytics.Int(net)}}}
}

// invoicedOn is an invoice in a status; paid ones need their payment beside it.
func invoicedOn(node string, status analytics.RecordStatus, net int64) analytics.RecordSum {
	return analytics.RecordSum{NodeID: analytics.NodeID(node), Currency: "EUR", Status: status, Source: "invoice",
		Net: analytics.Int(net), Gross: analytics.Int(net), Count: 1}
}

func recognized(node string, months ...string) (sums []analytics.RecognizedSum) {
	for _, m := range months {
		sums = append(sums, analytics.RecognizedSum{NodeID: analytics.NodeID(node), Month: month(m), Count: 1})
	}
	return sums
}

// row writes a line's cash flow: the months that are not 0, "undated 5", "gap 3" and the flags.
func row(c *analytics.ProjectCashflow, n *analytics.CashflowNode) string {
	var words []string
	for m := month("2020-01"); m <= month("2040-12"); m++ {
		actual, forecast := c.In(n, m)
		if !actual.IsZero() {
			words = append(words, fmt.Sprintf("%s paid %s", m, actual))
		}
		if !forecast.IsZero() {
			words = append(words, fmt.Sprintf("%s %s", m, forecast))
		}
	}
	if !n.Undated.IsZero() {
		words = append(words, "undated "+n.Undated.String())
	}
	if !n.Gap.IsZero() {
		words = append(words, "gap "+n.Gap.String())
	}
	return strings.Join(append(words, n.Flags.AppendNames(nil)...), ", ")
}

func rows(c analytics.ProjectCashflow) map[string]string {
	all := map[string]string{}
	for i := range c.Nodes {
		all[string(c.Nodes[i].Node.ID)] = row(&c, &c.Nodes[i])
	}
	return all
}

// Given a line with a budget and a plan, when the cash flow is asked for on 12 May 2026, then its money lies where the
// plan puts it.
func TestCashflowPhasing(t *testing.T) {
	for name, tc := range map[string]struct {
		budget int64
		plan   analytics.LinePlan
		want   string
	}{
		"by days, both ends included": {
			100, plan("a", "linearDays 2026-06-16 2026-07-05"), "2026-06 75, 2026-07 25",
		},
		"only the days from this month on": {
			100, plan("a", "linearDays 2026-01-01 2026-06-30"), "2026-05 51, 2026-06 49",
		},
		"the whole current month, not from today": {31, plan("a", "linearDays 2026-05-01 2026-05-31"), "2026-05 31"},
		"one day": {7, plan("a", "linearDays 2026-08-31 2026-08-31"), "2026-08 7"},
		"29 days in a leap year": {89 + 31, plan("a", "linearDays 2028-02-01 2028-05-30"),
			"2028-02 29, 2028-03 31, 2028-04 30, 2028-05 30"},
		"no unit is lost": {
			100, plan("a", "linearMonths 2026-06-30 2026-08-01"), "2026-06 34, 2026-07 33, 2026-08 33",
		},
		"by months it touches": {90, plan("a", "linearMonths 2026-04-30 2026-07-01"), "2026-05 30, 2026-06 30, 2026-07 30"},
		"a curve of four months": {10000, plan("a", "sCurve 2026-06-01 2026-09-30"),
			"2026-06 1517, 2026-07 3483, 2026-08 3483, 2026-09 1517"},
		"what is left of a curve": {120000, plan("a", "sCurve 2026-04-01 2026-07-31"),
			"2026-05 49273, 2026-06 47969, 2026-07 22758"},
		"an end in the last month": {90, plan("a", "linearDays 2026-01-01 2026-04-30"), "2026-05 90, overdue"},
		"an end in this month":     {90, plan("a", "linearDays 2026-01-01 2026-05-01"), "2026-05 90"},
		"no start":                 {90, plan("a", "linearDays - 2026-07-31"), "undated 90, undated"},
		"no end":                   {90, plan("a", "sCurve 2026-07-31 -"), "undated 90, undated"},
		"an end before the start":  {90, plan("a", "linearDays 2026-07-31 2026-07-30"), "undated 90, undated"},
		"no plan":                  {90, plan("elsewhere", "linearDays 2026-07-01 2026-07-30"), "undated 90, undated"},
		"nothing to phase":         {0, plan("a", "linearDays 2026-01-01 2026-04-30"), ""},
		"entered months":           {100, custom("a", "2026-06=60", "2026-05=15", "2026-06=25"), "2026-05 15, 2026-06 85"},
		"too little entered":       {100, custom("a", "2026-06=60"), "2026-06 60, gap 40, customGap"},
		"too much entered":         {100, custom("a", "2026-06=160"), "2026-06 160, gap -60, customGap"},
		"entered for the past":     {100, custom("a", "2026-04=60", "2026-05=100"), "2026-05 100"},
		"nothing entered":          {100, custom("a"), "gap 100, customGap"},
		"amounts of 2^52 over an S-curve": {1 << 52, plan("a", "sCurve 2026-05-01 2026-06-30"),
			"2026-05 2307166979924613, 2026-06 2196432647445883"},
	} {
		t.Run(name, func(t *testing.T) {
			in := analytics.CashflowInput{BudgetInput: analytics.BudgetInput{Currency: "EUR", Structure: structureOf(tree("a -")),
				Budget: []analytics.BudgetSum{budgetOn("a", tc.budget)}}, Plans: []analytics.LinePlan{tc.plan}}
			c := analytics.Cashflow(in, date("2026-05-12"))
			if got := rows(c)["a"]; got != tc.want {
				t.Errorf("%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestOfSeveralPlansTheGreatestIDCounts(t *testing.T) {
	in := analytics.CashflowInput{BudgetInput: analytics.BudgetInput{Currency: "EUR", Structure: structureOf(tree("a -")),
		Budget: []analytics.BudgetSum{budgetOn("a", 9)}}}
	for _, id := range []string{"10", "9", "Z", "1"} {
		p := plan("a", "linearDays 2026-08-01 2026-08-31")
		if id != "Z" {
			p = plan("a", "linearDays 2026-06-01 2026-06-30")
		}
		p.ID = id
		in.Plans = append(in.Plans, p)
	}
	if got := rows(analytics.Cashflow(in, date("2026-05-12")))["a"]; got != "2026-08 9" {
		t.Errorf("%s", got)
	}
}

// The lines are "p" and below it "c1" and "c2"; all money is undated, so that undated is what is to be funded.
func TestFundingToComplete(t *testing.T) {
	paid := analytics.Paid
	for name, tc := range map[string]struct {
		in   analytics.CashflowInput
		want map[string]string
	}{
		"the rest of the estimate": {
			analytics.CashflowInput{BudgetInput: analytics.BudgetInput{Budget: []analytics.BudgetSum{budgetOn("c1", 100)},
				Records: [][]analytics.RecordSum{{invoicedOn("c1", paid, 30), invoicedOn("c1", analytics.PaymentPending, 20)}}},
				Cash: []analytics.CashSum{paidOn("c1", "2026-04", 30)}},
			map[string]string{"c1": "2026-04 paid 30, undated 70, undated", "p": "2026-04 paid 30, undated 70, undated", "c2": ""},
		},
		"at least the invoices on the desk": {
			analytics.CashflowInput{BudgetInput: analytics.BudgetInput{Budget: []analytics.BudgetSum{budgetOn("c1", 100)},
				Records: [][]analytics.RecordSum{{invoicedOn("c1", analytics.Setup, 130)}}}},
			map[string]string{"c1": "undated 130, undated, overInvoicedVsEac", "p": "undated 130, undated, overInvoicedVsEac"},
		},
		"never a negative outflow": {
			analytics.CashflowInput{BudgetInput: analytics.BudgetInput{Budget: []analytics.BudgetSum{budgetOn("c1", 100)},
				Records: [][]analytics.RecordSum{{invoicedOn("c1", paid, 130)}}},
				Cash: []analytics.CashSum{paidOn("c1", "2026-04", 130)}},
			map[string]string{"c1": "2026-04 paid 130, overInvoicedVsEac", "p": "2026-04 paid 130, overInvoicedVsEac"},
		},
		"one line's overpayment does not help another": {
			analytics.CashflowInput{BudgetInput: analytics.BudgetInput{
				Budget:  []analytics.BudgetSum{budgetOn("c1", 100), budgetOn("c2", 50)},
				Records: [][]analytics.RecordSum{{invoicedOn("c1", paid, 130)}}},
				Cash: []analytics.CashSum{paidOn("c1", "2026-04", 130)}},
			map[string]string{"c1": "2026-04 paid 130, overInvoicedVsEac", "c2": "undated 50, undated",
				"p": "2026-04 paid 130, undated 50, undated, overInvoicedVsEac"},
		},
		"a credit note on the desk brings no money in": {
			analytics.CashflowInput{BudgetInput: analytics.BudgetInput{
				Records: [][]analytics.RecordSum{{invoicedOn("c1", paid, 30), invoicedOn("c1", analytics.Setup, -50)}}},
				Cash: []analytics.CashSum{paidOn("c1", "2026-04", 30)}},
			map[string]string{"c1": "2026-04 paid 30", "p": "2026-04 paid 30"},
		},
		"a contract above and its invoice below are one branch": {
			analytics.CashflowInput{BudgetInput: analytics.BudgetInput{Contracts: []analytics.Contract{signed("p", 100)},
				Records: [][]analytics.RecordSum{{invoicedOn("c1", analytics.PaymentPending, 40)}}}},
			map[string]string{"c1": "undated 40, undated, overInvoicedVsEac", "p": "undated 100, undated, overInvoicedVsEac"},
		},
		"money of other currencies and without a line stays out": {
			analytics.CashflowInput{Cash: []analytics.CashSum{paidOn("", "2026-04", 5), paidOn("gone", "2026-04", 5),
				{NodeID: "c1", Currency: "CHF", Paid: []analytics.MonthNet{{Month: month("2026-04"), Net: analytics.Int(5)}}}}},
			map[string]string{"p": "", "c1": "", "c2": ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.Currency, tc.in.Structure = "EUR", structureOf(tree("p -", "c1 p", "c2 p"))
			got := rows(analytics.Cashflow(tc.in, date("2026-05-12")))
			for id, want := range tc.want {
				if got[id] != want {
					t.Errorf("%s: %s\nwant %s", id, got[id], want)
				}
			}
		})
	}
}

// A payment in the current month or later is forecast in its month, beside what is phased; entered months hold it
// already.
func TestPaymentsThatAreNotPast(t *testing.T) {
	for name, tc := range map[string]struct {
		plan analytics.LinePlan
		want string
	}{
		"by days": {
			plan("a", "linearDays 2026-06-01 2026-06-30"), "2026-04 paid 5, 2026-05 20, 2026-06 68, 2026-09 7",
		},
		"without a plan": {plan("b", "linearDays"), "2026-04 paid 5, 2026-05 20, 2026-09 7, undated 68, undated"},
		"entered months": {
			custom("a", "2026-05=30", "2026-06=50"), "2026-04 paid 5, 2026-05 30, 2026-06 50, gap 15, customGap",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := analytics.CashflowInput{
				BudgetInput: analytics.BudgetInput{Currency: "EUR", Structure: structureOf(tree("a -")),
					Budget:  []analytics.BudgetSum{budgetOn("a", 100)},
					Records: [][]analytics.RecordSum{{invoicedOn("a", analytics.Paid, 32)}}},
				Plans: []analytics.LinePlan{tc.plan},
				Cash:  []analytics.CashSum{paidOn("a", "2026-04", 5), paidOn("a", "2026-05", 20), paidOn("a", "2026-09", 7)},
			}
			if got := rows(analytics.Cashflow(in, date("2026-05-31")))["a"]; got != tc.want {
				t.Errorf("%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestRecurringInvoicesThatAreMissing(t *testing.T) {
	const missing = "recurringMissing"
	every := func(months int, from, to string) analytics.LinePlan {
		return recurring(plan("a", "linearDays"), months, from, to)
	}
	for name, tc := range map[string]struct {
		plan analytics.LinePlan
		seen []analytics.RecognizedSum
		want string
	}{
		"every month has one":           {every(1, "2026-03", ""), recognized("a", "2026-03", "2026-04"), ""},
		"one is missing":                {every(1, "2026-02", ""), recognized("a", "2026-02", "2026-04"), missing},
		"the current month may wait":    {every(1, "2026-05", ""), nil, ""},
		"the last month may not":        {every(1, "2026-04", ""), nil, missing},
		"only the months of the rhythm": {every(3, "2025-11", ""), recognized("a", "2025-11", "2026-02"), ""},
		"counted from its first month": {
			every(3, "2025-11", ""), recognized("a", "2025-11", "2026-01", "2026-03"), missing,
		},
		"not after its last month":      {every(1, "2026-01", "2026-02"), recognized("a", "2026-01", "2026-02"), ""},
		"its last month is one of them": {every(1, "2026-01", "2026-02"), recognized("a", "2026-01"), missing},
		"below counts as well":          {every(1, "2026-04", ""), recognized("a1", "2026-04"), ""},
		"below an inactive line too":    {every(1, "2026-04", ""), recognized("a2", "2026-04"), ""},
		"elsewhere does not count":      {every(1, "2026-04", ""), recognized("b", "2026-04"), missing},
		"above does not count":          {every(1, "2026-04", ""), recognized("top", "2026-04"), missing},
		"what was taken back is no record": {every(1, "2026-04", ""),
			[]analytics.RecognizedSum{{NodeID: "a", Month: month("2026-04")}}, missing},
		"a rhythm of years, over a century": {every(1200, "1926-04", ""), recognized("a", "1926-04", "2026-04"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := analytics.CashflowInput{BudgetInput: analytics.BudgetInput{Currency: "EUR",
				Structure: structureOf(tree("top -", "a top", "b top", "a1 a", "a2 a!"))},
				Plans: []analytics.LinePlan{tc.plan}, Recognized: tc.seen}
			got := rows(analytics.Cashflow(in, date("2026-05-01")))
			if got["a"] != tc.want || got["top"] != tc.want || got["b"] != "" {
				t.Errorf("%q, above %q, beside %q, want %q", got["a"], got["top"], got["b"], tc.want)
			}
		})
	}
}

// Records matter on a line that expects them and on all below it, also on nodes that stand for it because they are inactive.
func TestNodesOnWhichRecordsAreExpected(t *testing.T) {
	s := structureOf(tree("a -", "b a", "c b!", "d -", "e gone"))
	for _, tc := range []struct{ lines, want string }{{"a", "a b c"}, {"b", "b c"}, {"c", ""}, {"e", ""}, {"b d", "b c d"}, {"", ""}} {
		plans := []analytics.LinePlan{plan("a", "linearDays")} // this one expects none
		for _, line := range strings.Fields(tc.lines) {
			plans = append(plans, recurring(plan(line, "linearDays"), 1, "2026-01", ""))
		}
		var got []string
		for _, id := range s.ExpectRecords(plans) {
			got = append(got, string(id))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != tc.want {
			t.Errorf("plans of %q expect records on %q, want %q", tc.lines, got, tc.want)
		}
	}
}

// Every flag stands on the line that has it and on all above, in one order.
func TestCashflowFlagsOfAllLinesBelow(t *testing.T) {
	in := analytics.CashflowInput{
		BudgetInput: analytics.BudgetInput{Currency: "EUR",
			Structure: structureOf(tree("p -", "a p", "b p", "c p", "d p", "e p")),
			Budget:    []analytics.BudgetSum{budgetOn("a", 9), budgetOn("b", 9), budgetOn("c", 9)},
			Records:   [][]analytics.RecordSum{{invoicedOn("d", analytics.Paid, 9)}}},
		Plans: []analytics.LinePlan{custom("a", "2026-06=8"), plan("c", "linearDays 2026-01-01 2026-01-31"),
			recurring(plan("e", "linearDays"), 1, "2026-01", "")},
	}
	want := map[string]string{
		"a": "2026-06 8, gap 1, customGap", "b": "undated 9, undated", "c": "2026-05 9, overdue", "d": "overInvoicedVsEac",
		"e": "recurringMissing",
		"p": "2026-05 9, 2026-06 8, undated 9, gap 1, overdue, undated, customGap, overInvoicedVsEac, recurringMissing",
	}
	for id, got := range rows(analytics.Cashflow(in, date("2026-05-01"))) {
		if got != want[id] {
			t.Errorf("%s: %s\nwant %s", id, got, want[id])
		}
	}
}

func TestCashflowMonthsListed(t *testing.T) {
	some := func(text string) events.Opt[calendar.Month] {
		if text == "" {
			return events.Opt[calendar.Month]{}
		}
		return events.Some(month(text))
	}
	payment := []analytics.CashSum{paidOn("a", "2026-02", 5)}
	cancelled := []analytics.CashSum{paidOn("a", "2025-01", 5), paidOn("b", "2025-01", -5)}
	for name, tc := range map[string]struct {
		plans       []analytics.LinePlan
		cash        []analytics.CashSum
		from, to    string
		first, last string
	}{
		"nothing at all: this month": {first: "2026-05", last: "2026-05"},
		"from the first payment":     {cash: payment, first: "2026-02", last: "2026-05"},
		"payments that cancel above": {cash: cancelled, first: "2025-01", last: "2026-05"},
		"to the last forecast": {plans: []analytics.LinePlan{plan("a", "linearDays 2026-04-01 2026-07-01")},
			first: "2026-05", last: "2026-07"},
		"forecasts that cancel above": {plans: []analytics.LinePlan{custom("a", "2026-09=3"), custom("b", "2026-09=-3")},
			first: "2026-05", last: "2026-05"},
		"a payment that is still to come": {cash: []analytics.CashSum{paidOn("a", "2026-08", 5)},
			first: "2026-05", last: "2026-08"},
		"entered months of 0": {plans: []analytics.LinePlan{custom("a", "2026-09=0")}, first: "2026-05", last: "2026-05"},
		"what is asked for, though wider": {cash: payment, from: "2020-01", to: "2030-01",
			first: "2020-01", last: "2030-01"},
		"a lone start":                          {cash: payment, from: "2026-03", first: "2026-03", last: "2026-05"},
		"a lone start behind the end: no month": {cash: payment, from: "2027-03", first: "2027-03", last: "2026-05"},
		"a lone end before the start: no month": {cash: payment, to: "2026-01", first: "2026-02", last: "2026-01"},
	} {
		t.Run(name, func(t *testing.T) {
			in := analytics.CashflowInput{BudgetInput: analytics.BudgetInput{Currency: "EUR",
				Structure: structureOf(tree("top -", "a top", "b top")), Budget: []analytics.BudgetSum{budgetOn("a", 500)}},
				Plans: tc.plans, Cash: tc.cash, From: some(tc.from), To: some(tc.to)}
			for _, room := range []int{0, 1000} { // whether or not all months of all lines are kept
				c := analytics.CashflowWithin(in, date("2026-05-31"), room)
				if c.First.String() != tc.first || c.Last.String() != tc.last {
					t.Errorf("with room for %d: %s to %s, want %s to %s", room, c.First, c.Last, tc.first, tc.last)
				}
			}
		})
	}
}

func TestCashflowLevelsAreTrimmedLikeThoseOfABudget(t *testing.T) {
	nodes := tree("top -", "a top", "a1 a", "b top!", "b1 b")
	nodes[0].Level, nodes[1].Level = "budget", "subBudget"
	in := analytics.CashflowInput{BudgetInput: analytics.BudgetInput{Currency: "EUR", Structure: structureOf(nodes),
		Budget: []analytics.BudgetSum{budgetOn("a1", 3), budgetOn("b1", 4)}}}
	c := analytics.Cashflow(in, date("2026-05-31"))
	for level, want := range map[string][]string{
		"budget": {"top undated 7, undated"}, "subBudget": {"top undated 7, undated", "a undated 3, undated"},
		"": {"top undated 7, undated", "a undated 3, undated", "a1 undated 3, undated"},
	} {
		var got []string
		for _, n := range c.ToLevel(level) {
			got = append(got, string(n.Node.ID)+" "+row(&c, &n))
		}
		if !slices.Equal(got, want) {
			t.Errorf("down to %q: %q, want %q", level, got, want)
		}
	}
}

// Summer time ends between these two instants; the month is that of Vienna's clock.
func TestTheCurrentMonthIsViennas(t *testing.T) {
	for now, want := range map[string]string{
		"2026-03-31T21:59:59Z": "2026-03", "2026-03-31T22:00:00Z": "2026-04",
		"2026-10-31T22:59:59Z": "2026-10", "2026-10-31T23:00:00Z": "2026-11", "2028-02-29T22:59:59Z": "2028-02",
	} {
		in := analytics.CashflowInput{BudgetInput: analytics.BudgetInput{Structure: structureOf(nil)}}
		c := analytics.Cashflow(in, today(t, now))
		if c.AsOf.String() != want {
			t.Errorf("at %s the forecast begins in %s, want %s", now, c.AsOf, want)
		}
	}
}

// What is open of commitments is in no cash flow: it costs the same whether records are linked to contracts or not.
func TestACashFlowLooksForNoLinkedRecords(t *testing.T) {
	nodes, in := largeProject(200)
	in.Structure = structureOf(nodes)
	unlinked := in
	unlinked.Records = [][]analytics.RecordSum{slices.Concat(in.Records...)}
	for i := range unlinked.Records[0] {
		unlinked.Records[0][i].ContractID = ""
	}
	cost := func(in analytics.BudgetInput) float64 {
		return testing.AllocsPerRun(10, func() { analytics.Cashflow(analytics.CashflowInput{BudgetInput: in}, date("2026-05-12")) })
	}
	if with, without := cost(in), cost(unlinked); with > without {
		t.Errorf("%v allocations with links, %v without", with, without)
	}
}
