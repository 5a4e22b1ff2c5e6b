package analytics_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// The cash flow once more, in the plainest way: payments from the single records, funding by recursion, days counted
// one after another, curves with fractions.

func civil(d calendar.Date) time.Time { return d.Time() }

func monthText(t time.Time) string { return t.Format("2006-01") }

func nextMonth(month string) string {
	t, _ := time.Parse("2006-01", month)
	return monthText(t.AddDate(0, 1, 0))
}

type naiveCash struct {
	naive
	asOf        string
	own, totals figures
	months      figures // own money by line and month
	undated     figures
	gap         figures
	flags       map[string]map[string]bool
}

func (n naive) cashflow(today calendar.Date) *naiveCash {
	c := &naiveCash{naive: n, asOf: monthText(civil(today)), own: n.own(), months: figures{}, undated: figures{}, gap: figures{},
		flags: map[string]map[string]bool{}}
	c.totals = n.totals(c.own)
	later := map[string]*big.Int{}
	for _, r := range n.records {
		if r.ProjectID != n.project || !counting(r) || r.StepKind != "paid" || r.Currency.V != n.currency() {
			continue
		}
		allocations := r.Allocations
		if len(allocations) == 0 {
			allocations = []events.RecordAllocation{{Net: r.Net}}
		}
		for _, a := range allocations {
			at, month, net := n.seat(a.NodeID.V), monthText(civil(r.CashDate.V)), big.NewInt(a.Net.V)
			if month >= c.asOf {
				later[at] = plus(net, positive0(later[at]))
			}
			if month < c.asOf || !c.custom(at) {
				c.months.add(at, month, net)
			}
		}
	}
	for _, id := range n.order() {
		c.flags[id] = map[string]bool{}
		c.phase(id, positive0(later[id]))
	}
	return c
}

// positive0 is v, or 0 where there is none.
func positive0(v *big.Int) *big.Int {
	if v == nil {
		return new(big.Int)
	}
	return v
}

func (c *naiveCash) planOf(id string) *events.LinePlan {
	greatest := ""
	for p, plan := range c.plans {
		if plan.ProjectID == c.project && plan.NodeID == id && p > greatest {
			greatest = p
		}
	}
	return c.plans[greatest]
}

func (c *naiveCash) custom(id string) bool {
	plan := c.planOf(id)
	return plan != nil && c.effective(id) && plan.Method == "custom"
}

func (c *naiveCash) eac(id string) *big.Int {
	u, _, _ := c.uncommitted(id, c.own, c.totals)
	return plus(plus(c.totals.get(id, "committed"), c.totals.get(id, "pendingChanges")), u)
}

// funding is what a line and all below it have to fund, and what of it the line itself has to.
func (c *naiveCash) funding(id string) (all, own *big.Int) {
	below := new(big.Int)
	for _, child := range c.children(id) {
		f, _ := c.funding(child)
		below = plus(below, f)
	}
	desk := plus(below, positive(minus(c.own.get(id, "invoiced"), c.own.get(id, "status paid"))))
	all = minus(c.eac(id), c.totals.get(id, "status paid"))
	if desk.Cmp(all) > 0 {
		all = desk
	}
	return all, minus(all, below)
}

func (c *naiveCash) phase(id string, later *big.Int) {
	plan := c.planOf(id)
	_, own := c.funding(id)
	if c.totals.get(id, "invoiced").Cmp(c.eac(id)) > 0 {
		c.flags[id]["overInvoicedVsEac"] = true
	}
	if c.missing(id, plan) {
		c.flags[id]["recurringMissing"] = true
	}
	switch {
	case plan != nil && plan.Method == "custom":
		gap := plus(own, later)
		for _, m := range plan.CustomMonths {
			if month := monthText(civil(m.Month.First())); month >= c.asOf {
				c.months.add(id, month, big.NewInt(m.Value))
				gap = minus(gap, big.NewInt(m.Value))
			}
		}
		c.gap.add(id, "", gap)
		c.flags[id]["customGap"] = gap.Sign() != 0
	case plan == nil || !plan.StartDate.Ok || !plan.EndDate.Ok || plan.EndDate.V < plan.StartDate.V:
		c.undated.add(id, "", own)
		c.flags[id]["undated"] = own.Sign() != 0
	case monthText(civil(plan.EndDate.V)) < c.asOf:
		c.months.add(id, c.asOf, own)
		c.flags[id]["overdue"] = own.Sign() != 0
	default:
		months, weights := c.weights(plan)
		for i, share := range naiveShares(own.Int64(), weights) {
			c.months.add(id, months[i], share)
		}
	}
}

// weights walks through the days of the plan; only those from asOf on count.
func (c *naiveCash) weights(plan *events.LinePlan) (months []string, weights []int64) {
	total := int64(plan.EndDate.V-plan.StartDate.V) + 1
	curve := func(days int64) *big.Rat { // 3x^2 - 2x^3, times the third power of the days
		x := big.NewRat(days, total)
		square := new(big.Rat).Mul(x, x)
		y := new(big.Rat).Sub(new(big.Rat).Mul(big.NewRat(3, 1), square),
			new(big.Rat).Mul(big.NewRat(2, 1), new(big.Rat).Mul(square, x)))
		return y.Mul(y, big.NewRat(total*total*total, 1))
	}
	exact := map[string]*big.Rat{}
	for day := int64(0); day < total; day++ {
		month := monthText(civil(plan.StartDate.V).AddDate(0, 0, int(day)))
		if month < c.asOf {
			continue
		}
		if exact[month] == nil {
			exact[month] = new(big.Rat)
			months = append(months, month)
		}
		switch plan.Method {
		case "linearMonths":
			exact[month].SetInt64(1)
		case "sCurve":
			exact[month].Add(exact[month], new(big.Rat).Sub(curve(day+1), curve(day)))
		default:
			exact[month].Add(exact[month], big.NewRat(1, 1))
		}
	}
	for _, month := range months {
		weights = append(weights, exact[month].Num().Int64())
	}
	return months, weights
}

func (c *naiveCash) missing(id string, plan *events.LinePlan) bool {
	if plan == nil || !plan.Recurring.Ok {
		return false
	}
	due := monthText(civil(plan.Recurring.V.From.First()))
	for ; due < c.asOf; due = addMonths(due, plan.Recurring.V.EveryMonths) {
		if to := plan.Recurring.V.To; to.Ok && due > monthText(civil(to.V.First())) {
			return false
		}
		if !c.recognised(id, due) {
			return true
		}
	}
	return false
}

func addMonths(month string, n int) string {
	for range n {
		month = nextMonth(month)
	}
	return month
}

func (c *naiveCash) recognised(id, month string) bool {
	for _, r := range c.records {
		if r.ProjectID != c.project || r.StepKind == "rejected" || !r.RecognitionDate.Ok ||
			monthText(civil(r.RecognitionDate.V)) != month {
			continue
		}
		if slices.ContainsFunc(r.Allocations, func(a events.RecordAllocation) bool {
			path, _ := c.path(a.NodeID.V)
			seat := c.seat(a.NodeID.V)
			return seat != "" && slices.Contains(path, id)
		}) {
			return true
		}
	}
	return false
}

// inBranch adds up what a line and all below it have.
func (c *naiveCash) inBranch(id string, of figures, name string) *big.Int {
	sum := of.get(id, name)
	for _, child := range c.children(id) {
		sum = plus(sum, c.inBranch(child, of, name))
	}
	return sum
}

func (c *naiveCash) flagsOf(id string) map[string]bool {
	all := maps.Clone(c.flags[id])
	for _, child := range c.children(id) {
		for name, set := range c.flagsOf(child) {
			all[name] = all[name] || set
		}
	}
	return all
}

func (c *naiveCash) answer(level string) any {
	months := c.listed()
	number := func(v *big.Int) any { return json.Number(v.String()) }
	nodes := []any{}
	for _, id := range c.order() {
		if !c.shown(id, level) {
			continue
		}
		shown := []any{}
		for _, month := range months {
			actual, forecast := new(big.Int), c.inBranch(id, c.months, month)
			if month < c.asOf {
				actual, forecast = forecast, actual
			}
			shown = append(shown, object{"month": month, "actual": number(actual), "forecast": number(forecast)})
		}
		flags := []string{}
		for name, set := range c.flagsOf(id) {
			if set {
				flags = append(flags, name)
			}
		}
		sort.Strings(flags)
		nodes = append(nodes, object{"nodeId": id, "months": shown, "flags": flags,
			"undated": number(c.inBranch(id, c.undated, "")), "gap": number(c.inBranch(id, c.gap, ""))})
	}
	return object{"asOf": c.asOf, "nodes": nodes}
}

func (c *naiveCash) listed() []string {
	first, last := c.asOf, c.asOf
	for _, id := range c.order() {
		for month := range c.months[id] {
			if month < first && c.inBranch(id, c.months, month).Sign() != 0 {
				first = month
			}
		}
		if c.nodes[id].ParentID.Ok {
			continue
		}
		for month := c.asOf; month < "2032"; month = nextMonth(month) {
			if month > last && c.inBranch(id, c.months, month).Sign() != 0 {
				last = month
			}
		}
	}
	var months []string
	for month := first; month <= last; month = nextMonth(month) {
		months = append(months, month)
	}
	return months
}

func todays(t *rapid.T) calendar.Date {
	return calendar.NewDate(2028, 1, 1) + calendar.Date(rapid.Int32Range(0, 400).Draw(t, "today"))
}

func TestCashflowAgreesWithTheNaiveRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, today := ledgers().Draw(t, "ledger"), todays(t)
		level := rapid.SampledFrom([]string{"", "budget", "subBudget", "costItem"}).Draw(t, "level")
		want := decoded(t, naive{l, "P1"}.cashflow(today).answer(level))
		c := analytics.Cashflow(l.cashflowInput("P1"), today)
		got := decoded(t, shownCashflow(&c, "P1", "EUR", level))
		if d := differences(want, got, "$", ""); len(d) > 0 {
			t.Fatalf("on %s: %s\n%s", today, strings.Join(d, "\n"), show(l))
		}
	})
}

func TestCashflowParentsAreTheirOwnAndTheirChildrenInEveryMonth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, today := ledgers().Draw(t, "ledger"), todays(t)
		c := analytics.Cashflow(l.cashflowInput("P1"), today)
		own := naive{l, "P1"}.cashflow(today)
		for m := calendar.NewDate(2027, 1, 1).Month(); m <= calendar.NewDate(2030, 1, 1).Month(); m++ {
			below := map[string]analytics.Int128{}
			money := func(n *analytics.CashflowNode) analytics.Int128 {
				actual, forecast := c.In(n, m)
				if m < c.AsOf && !forecast.IsZero() || m >= c.AsOf && !actual.IsZero() {
					t.Fatalf("%s has %s and %s in %s", n.Node.ID, actual, forecast, m)
				}
				return actual.Add(forecast)
			}
			for i := range c.Nodes {
				n := &c.Nodes[i]
				below[n.Node.ParentID.V] = below[n.Node.ParentID.V].Add(money(n))
			}
			for i := range c.Nodes {
				n := &c.Nodes[i]
				id := string(n.Node.ID)
				if want := below[id].Add(wide(own.months.get(id, m.String()))); money(n) != want {
					t.Fatalf("%s in %s: %s, own and children %s\n%s", id, m, money(n), want, show(l))
				}
			}
		}
	})
}

// Forecast, undated and gap of each line are its funding; with what is paid they are all of its money.
func TestNothingOfTheFundingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, today := ledgers().Draw(t, "ledger"), todays(t)
		c := analytics.Cashflow(l.cashflowInput("P1"), today)
		n := naive{l, "P1"}.cashflow(today)
		for i := range c.Nodes {
			node := &c.Nodes[i]
			id := string(node.Node.ID)
			sum := node.Undated.Add(node.Gap)
			for m := calendar.NewDate(2027, 1, 1).Month(); m <= calendar.NewDate(2030, 1, 1).Month(); m++ {
				actual, forecast := c.In(node, m)
				sum = sum.Add(actual).Add(forecast)
			}
			funding, own := n.funding(id)
			if want := wide(plus(n.totals.get(id, "status paid"), funding)); sum != want {
				t.Fatalf("%s has %s, paid and to be funded are %s\n%s", id, sum, want, show(l))
			}
			if own.Sign() < 0 {
				t.Fatalf("%s has to phase %s itself", id, own)
			}
		}
	})
}

// The month in which a payment lies never depends on the zone of the machine.
func TestDaysAreNotThoseOfTheMachine(t *testing.T) {
	var seen []string
	for _, zone := range []string{"UTC", "America/Los_Angeles", "Pacific/Kiritimati"} {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2028, 2, 29, 23, 30, 0, 0, time.UTC).In(location)
		seen = append(seen, fmt.Sprint(calendar.ViennaDate(at)))
	}
	if want := []string{"2028-03-01", "2028-03-01", "2028-03-01"}; !slices.Equal(seen, want) {
		t.Errorf("%v, want %v", seen, want)
	}
}
