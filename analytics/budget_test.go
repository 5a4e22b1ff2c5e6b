package analytics_test

import (
	"errors"
	"fmt"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

func budgetOn(node string, value int64) analytics.BudgetSum {
	return analytics.BudgetSum{NodeID: analytics.NodeID(node), Currency: "EUR", Amount: analytics.Int(value)}
}

func signed(node string, value int64) analytics.Contract {
	return analytics.Contract{ID: analytics.ContractID("on " + node), Contract: events.Contract{
		Status: "signed", Currency: "EUR", Allocations: []events.ContractAllocation{{NodeID: node, Value: value}},
	}}
}

func entered(node string, value int64) analytics.UncommittedEntry {
	return analytics.UncommittedEntry{ID: "entry on " + node, NodeID: analytics.NodeID(node),
		Amount: events.Some(events.Amount{Value: value, Currency: "EUR"})}
}

func node(t *testing.T, b analytics.ProjectBudget, id string) analytics.BudgetNode {
	t.Helper()
	for _, n := range b.Nodes {
		if n.Node.ID == analytics.NodeID(id) {
			return n
		}
	}
	t.Fatalf("no node %s", id)
	return analytics.BudgetNode{}
}

// The rows are those of the worked example and of the rules in words, amounts in
// whole thousands.
func TestUncommitted(t *testing.T) {
	family := tree("p -", "c1 p", "c2 p")
	type line struct{ uncommitted, eac, variance int64 }
	for name, tc := range map[string]struct {
		in        analytics.BudgetInput
		want      map[string]line
		defaulted map[string]bool
	}{
		"budget on the parent pays for what a child commits": {
			analytics.BudgetInput{Budget: []analytics.BudgetSum{budgetOn("p", 1000)},
				Contracts: []analytics.Contract{signed("c1", 600)}},
			map[string]line{"p": {400, 1000, 0}, "c1": {0, 600, -600}}, map[string]bool{"p": true, "c1": true},
		},
		"a contract on the parent uses up defaults only": {
			analytics.BudgetInput{Budget: []analytics.BudgetSum{budgetOn("c1", 300), budgetOn("c2", 400)},
				Contracts: []analytics.Contract{signed("p", 500)}, Entries: []analytics.UncommittedEntry{entered("c2", 50)}},
			map[string]line{"p": {50, 550, 150}, "c1": {300, 300, 0}, "c2": {50, 50, 350}},
			map[string]bool{"p": false, "c1": true, "c2": false},
		},
		"a contract on the parent leaves the rest of the defaults": {
			analytics.BudgetInput{Budget: []analytics.BudgetSum{budgetOn("c1", 300), budgetOn("c2", 400)},
				Contracts: []analytics.Contract{signed("p", 500)}},
			map[string]line{"p": {200, 700, 0}, "c1": {300, 300, 0}, "c2": {400, 400, 0}}, map[string]bool{"p": true},
		},
		"an entered value stands for all below": {
			analytics.BudgetInput{Budget: []analytics.BudgetSum{budgetOn("c1", 400), budgetOn("c2", 600)},
				Contracts: []analytics.Contract{signed("c1", 300)}, Entries: []analytics.UncommittedEntry{entered("p", 650)}},
			map[string]line{"p": {650, 950, 50}, "c1": {100, 400, 0}, "c2": {600, 600, 0}},
			map[string]bool{"p": false, "c1": true},
		},
		"one child's overrun is not covered by another's rest": {
			analytics.BudgetInput{Budget: []analytics.BudgetSum{budgetOn("c1", 100), budgetOn("c2", 500)},
				Contracts: []analytics.Contract{signed("c1", 250)}},
			map[string]line{"p": {500, 750, -150}, "c1": {0, 250, -150}, "c2": {500, 500, 0}}, map[string]bool{"p": true},
		},
		"an entry of 0 is an entry": {
			analytics.BudgetInput{Budget: []analytics.BudgetSum{budgetOn("c1", 120)},
				Entries: []analytics.UncommittedEntry{entered("c1", 0)}},
			map[string]line{"p": {0, 0, 120}, "c1": {0, 0, 120}}, map[string]bool{"p": false, "c1": false, "c2": true},
		},
		"a negative budget line has default 0": {
			analytics.BudgetInput{Budget: []analytics.BudgetSum{budgetOn("c1", -70)}},
			map[string]line{"p": {0, 0, -70}, "c1": {0, 0, -70}}, map[string]bool{"p": true},
		},
		"an entry of a child beyond its budget takes from the parent's": {
			analytics.BudgetInput{Budget: []analytics.BudgetSum{budgetOn("p", 100), budgetOn("c1", 50)},
				Entries: []analytics.UncommittedEntry{entered("c1", 90)}},
			map[string]line{"p": {150, 150, 0}, "c1": {90, 90, -40}}, map[string]bool{"p": false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.Currency, tc.in.Structure = "EUR", structureOf(family)
			budget := analytics.Budget(tc.in)
			for id, want := range tc.want {
				n := node(t, budget, id)
				got := [3]string{n.Uncommitted.String(), n.EAC().String(), n.Variance().String()}
				if want := [3]string{fmt.Sprint(want.uncommitted), fmt.Sprint(want.eac), fmt.Sprint(want.variance)}; got != want {
					t.Errorf("%s: uncommitted, eac, variance %v, want %v", id, got, want)
				}
			}
			for id, want := range tc.defaulted {
				if got := node(t, budget, id).UncommittedDefaulted; got != want {
					t.Errorf("%s: defaulted %v, want %v", id, got, want)
				}
			}
		})
	}
}

func TestWhichUncommittedEntryCounts(t *testing.T) {
	foreign, withdrawn := entered("a", 1), entered("a", 2)
	foreign.Amount.V.Currency = "CHF"
	withdrawn.Amount = events.Opt[events.Amount]{}
	older, newer := entered("a", 30), entered("a", 40)
	foreign.ID, withdrawn.ID, older.ID, newer.ID = "z", "y", "u10", "u9"
	for name, tc := range map[string]struct {
		entries []analytics.UncommittedEntry
		want    int64
	}{
		"the byte-wise greatest id counts":       {[]analytics.UncommittedEntry{newer, older}, 40},
		"in whatever order they come":            {[]analytics.UncommittedEntry{older, newer}, 40},
		"one in a foreign currency never counts": {[]analytics.UncommittedEntry{foreign, older}, 30},
		"a withdrawn one is none":                {[]analytics.UncommittedEntry{withdrawn, older}, 30},
		"without any, the default":               {[]analytics.UncommittedEntry{withdrawn, foreign}, 500},
		"entries on other nodes are ignored": {[]analytics.UncommittedEntry{entered("off", 7), entered("unknown", 8)},
			500},
	} {
		t.Run(name, func(t *testing.T) {
			budget := analytics.Budget(analytics.BudgetInput{
				Currency: "EUR", Structure: structureOf(tree("a -", "off a!")), Budget: []analytics.BudgetSum{budgetOn("a", 500)},
				Entries: tc.entries,
			})
			if got := node(t, budget, "a").Uncommitted; got != analytics.Int(tc.want) {
				t.Errorf("uncommitted %s, want %d", got, tc.want)
			}
		})
	}
}

func TestATransferWithOneSideWithoutASeatMovesUnallocatedBudget(t *testing.T) {
	budget := analytics.Budget(analytics.BudgetInput{
		Currency: "EUR", Structure: structureOf(tree("a -")),
		Budget: []analytics.BudgetSum{budgetOn("a", 100), budgetOn("unknown", -30), budgetOn("a", 30),
			{NodeID: "a", Currency: "CHF", Amount: analytics.Int(9)}},
	})
	if got := node(t, budget, "a").Budget; got != analytics.Int(130) {
		t.Errorf("budget %s, want 130", got)
	}
	if budget.UnallocatedBudget != analytics.Int(-30) {
		t.Errorf("unallocated budget %s, want -30", budget.UnallocatedBudget)
	}
}

func TestClaimsAreRoundedOneByOne(t *testing.T) {
	claim := func(value, units int64, scale uint8, status string) *events.Claim {
		return &events.Claim{Amount: events.Amount{Value: value}, ProbabilityBp: events.Decimal{Units: units, Scale: scale},
			Status: status}
	}
	for _, tc := range []struct {
		claim *events.Claim
		want  int64
	}{
		{claim(33333, 2500, 0, "open"), 8333},
		{claim(101, 5000, 0, "open"), 51},
		{claim(1000, 333333, 3, "open"), 33},
		{claim(1000, 10000, 0, "open"), 1000},
		{claim(-1000, 10000, 0, "open"), 0},
		{claim(1000, 10000, 0, "closed"), 0},
		{claim(9007199254740991, 9999999, 3, "open"), 9007198354021066},
	} {
		if got := analytics.ClaimPending(tc.claim); got != tc.want {
			t.Errorf("ClaimPending(%+v) = %d, want %d", tc.claim, got, tc.want)
		}
	}
}

func TestExcludedRecords(t *testing.T) {
	record := func(currency string, net int64, status analytics.RecordStatus, source string) analytics.RecordSum {
		return analytics.RecordSum{NodeID: "a", Currency: currency, Status: status, Source: source, Net: analytics.Int(net),
			Count: 1}
	}
	gone := record("DKK", 0, analytics.Setup, "invoice")
	gone.Count = 0
	budget := analytics.Budget(analytics.BudgetInput{
		Currency: "EUR", Structure: structureOf(tree("a -")),
		Records: [][]analytics.RecordSum{{
			record("USD", 5, analytics.Paid, "invoice"), record("CHF", 50, analytics.Setup, "invoice"),
			record("CHF", -50, analytics.Paid, "invoice"),
			record("CHF", 9, analytics.Rejected, "invoice"), record("GBP", 9, analytics.Setup, "accrual"),
			record("EUR", 1, analytics.Setup, "invoice"),
			record("", 0, analytics.Setup, "invoice"), gone,
		}},
	})
	if got, want := fmt.Sprint(budget.Excluded), "[{CHF 0 2} {USD 5 1}]"; got != want {
		t.Errorf("excluded %s, want %s: no rejected ones, no accruals, none that were not read; CHF stays though it cancels",
			got, want)
	}
	if got := node(t, budget, "a").Invoiced; got != analytics.Int(1) {
		t.Errorf("invoiced %s, want the one in project currency", got)
	}
}

func TestExcludedCommitted(t *testing.T) {
	contract := func(currency, status string, values ...int64) analytics.Contract {
		c := analytics.Contract{Contract: events.Contract{Status: status, Currency: currency,
			Amendments: []events.Amendment{{ID: "A", Value: 3, Status: "approved"},
				{ID: "B", NodeID: events.Some("a"), Value: 1000, Status: "pending"}}}}
		for _, v := range values {
			c.Allocations = append(c.Allocations, events.ContractAllocation{NodeID: "a", Value: v})
		}
		return c
	}
	budget := analytics.Budget(analytics.BudgetInput{
		Currency: "EUR", Structure: structureOf(tree("a -")),
		Contracts: []analytics.Contract{
			contract("USD", "signed", 10), contract("CHF", "completed", 20, 30), contract("CHF", "signed", -60),
			contract("CHF", "setup", 7), contract("CHF", "cancelled", 7), contract("CHF", "onHold", 7),
			contract("GBP", "signed"),
		},
	})
	if got, want := fmt.Sprint(budget.ExcludedCommitted), "[{CHF -4 2} {USD 13 1}]"; got != want {
		t.Errorf("excluded committed %s, want %s", got, want)
	}
	a := node(t, budget, "a")
	if !a.Committed.IsZero() || !a.PendingChanges.IsZero() {
		t.Errorf("committed %s, pending %s: foreign contracts must not count", a.Committed, a.PendingChanges)
	}
}

func TestTotalsBeyondTheRangeAreErrorsNotWraps(t *testing.T) {
	in := analytics.BudgetInput{Currency: "EUR", Structure: structureOf(tree("a -", "b a"))}
	for range 3000 { // beyond 64 bits
		in.Budget = append(in.Budget, budgetOn("b", analytics.MaxAmount))
	}
	budget := analytics.Budget(in)
	a := node(t, budget, "a")
	if got, want := a.Budget.String(), "27021597764222973000"; got != want {
		t.Errorf("budget %s, want %s", got, want)
	}
	if value, err := a.Budget.Amount(); !errors.Is(err, analytics.ErrOutOfRange) {
		t.Errorf("amount %d, %v, want ErrOutOfRange", value, err)
	}
	if !a.Variance().IsZero() {
		t.Errorf("variance %s, want 0: differences stay exact", a.Variance())
	}
}

// Given a contract on one line with amendments on others, then it is on the lines where it commits something or where an increase awaits
// approval, and on those above; on an inactive line it is on the one above, too. What adds nothing to a line isn't on it.
func TestContractsOnALine(t *testing.T) {
	s := structureOf(tree("top -", "a top", "b top", "c top", "d top", "e top", "off a!"))
	k := *contractOf([]events.ContractAllocation{onNode("a", 100)},
		amendment("1", "b", 10000, "pending", 0), amendment("2", "c", 5, "approved", 0), amendment("3", "d", -7, "pending", 0),
		amendment("4", "d", 7, "draft", 0), amendment("5", "e", 7, "rejected", 0))
	of := func(id analytics.ContractID, change func(c *analytics.Contract)) analytics.Contract {
		c := *contractOf([]events.ContractAllocation{onNode("d", 1)})
		c.ID = id
		change(&c)
		return c
	}
	contracts := []analytics.Contract{k,
		of("inactive", func(c *analytics.Contract) { c.Allocations[0].NodeID = "off" }),
		of("setup", func(c *analytics.Contract) { c.Status = "setup" }),
		of("foreign", func(c *analytics.Contract) { c.Currency = "CHF" }),
		of("gone", func(c *analytics.Contract) { c.Allocations[0].NodeID = "gone" })}
	for line, want := range map[analytics.NodeID]string{"top": "[C inactive]", "a": "[C inactive]", "b": "[C]", "c": "[C]", "d": "[]", "e": "[]",
		"off": "[]", "gone": "[]"} {
		if got := fmt.Sprint(s.ContractsOn(line, "EUR", contracts)); got != want {
			t.Errorf("on %s are %s, want %s", line, got, want)
		}
	}
}
