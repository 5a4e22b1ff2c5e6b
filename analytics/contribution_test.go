package analytics_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// entries are the summands as text, one line for each: the roll, its keys and its amounts.
func entries(c analytics.Contribution) (all []string) {
	for _, s := range c {
		roll := s.Roll.Roll()
		all = append(all, fmt.Sprint(roll.Name, " ", s.Keys[:len(roll.Keys)], " ", s.Amounts[:len(roll.Amounts)]))
	}
	return all
}

func TestBudgetRowsAndTransfersContributeWhileApproved(t *testing.T) {
	row := func(status, node string) []string {
		return entries(analytics.BudgetRowContribution(nil, &events.BudgetRow{
			NodeID: events.Opt[string]{V: node, Ok: node != ""}, Amount: events.Amount{Value: -7, Currency: "CHF"}, Status: status,
		}))
	}
	transfer := func(status, from, to string) []string {
		return entries(analytics.BudgetTransferContribution(nil, &events.BudgetTransfer{
			FromNodeID: events.Opt[string]{V: from, Ok: from != ""}, ToNodeID: events.Opt[string]{V: to, Ok: to != ""},
			Amount: events.Amount{Value: 5, Currency: "EUR"}, Status: status,
		}))
	}
	for name, tc := range map[string]struct {
		got, want []string
	}{
		"an approved row":              {row("approved", "a"), []string{"budget [a CHF] [-7]"}},
		"one without a node":           {row("approved", ""), []string{"budget [ CHF] [-7]"}},
		"a draft":                      {row("draft", "a"), nil},
		"a rejected row":               {row("rejected", "a"), nil},
		"an approved transfer":         {transfer("approved", "a", "b"), []string{"budget_transfers [a EUR] [-5]", "budget_transfers [b EUR] [5]"}},
		"one from the unallocated":     {transfer("approved", "", "b"), []string{"budget_transfers [ EUR] [-5]", "budget_transfers [b EUR] [5]"}},
		"one to the unallocated":       {transfer("approved", "a", ""), []string{"budget_transfers [a EUR] [-5]", "budget_transfers [ EUR] [5]"}},
		"a transfer that is no longer": {transfer("rejected", "a", "b"), nil},
	} {
		if !slices.Equal(tc.got, tc.want) {
			t.Errorf("%s contributes %q, want %q", name, tc.got, tc.want)
		}
	}
}

func TestClaimsContributeWhileOpen(t *testing.T) {
	for name, tc := range map[string]struct {
		value  int64
		status string
		want   []string
	}{
		"half of 333":       {333, "open", []string{"claims [a EUR] [167]"}},
		"a negative amount": {-333, "open", []string{"claims [a EUR] [0]"}},
		"a closed claim":    {333, "closed", nil},
	} {
		claim := &events.Claim{
			NodeID: events.Some("a"), Amount: events.Amount{Value: tc.value, Currency: "EUR"}, ProbabilityBp: events.Decimal{Units: 5000}, Status: tc.status,
		}
		if got := entries(analytics.ClaimContribution(nil, claim)); !slices.Equal(got, tc.want) {
			t.Errorf("%s contributes %q, want %q", name, got, tc.want)
		}
	}
}

func TestContractsContributeTheirLinesInOrderAndWhatIsPending(t *testing.T) {
	january := calendar.NewDate(2026, 1, 1)
	for name, tc := range map[string]struct {
		contract *analytics.Contract
		want     []string
	}{
		"base lines, one of them twice and one of 0": {
			contractOf([]events.ContractAllocation{onNode("b", 10), onNode("a", 0), onNode("b", 5)}),
			[]string{"contracts [C b EUR signed 00001] [1 15 15 0]", "contracts [C a EUR signed 00002] [1 0 0 0]"},
		},
		"approved amendments on a line and beside": {
			contractOf([]events.ContractAllocation{onNode("a", 10)}, amendment("2", "", -3, "approved", 0), amendment("1", "z", 4, "approved", january), amendment("3", "a", 2, "approved", 0)),
			[]string{"contracts [C a EUR signed 00001] [1 10 12 0]", "contracts [C z EUR signed 00002] [1 0 4 0]", "contracts [C  EUR signed 00003] [1 0 -3 0]"},
		},
		"pending increases, on nodes or on none": {
			contractOf([]events.ContractAllocation{onNode("a", 10)}, amendment("1", "a", 4, "pending", 0), amendment("2", "", 5, "pending", 0), amendment("3", "a", -6, "pending", 0)),
			[]string{"contracts [C a EUR signed 00001] [1 10 10 0]", "contracts [C a EUR signed ] [0 0 0 4]", "contracts [C  EUR signed ] [0 0 0 5]"},
		},
		"no line without a base": {contractOf(nil, amendment("1", "a", 4, "approved", 0), amendment("2", "a", 5, "pending", 0)), []string{"contracts [C a EUR signed ] [0 0 0 5]"}},
		"nothing of drafts":      {contractOf(nil, amendment("1", "a", 4, "draft", 0), amendment("2", "a", 5, "rejected", 0), amendment("3", "a", 5, "else", 0)), nil},
	} {
		got, err := analytics.ContractContribution(nil, "C", &tc.contract.Contract)
		if err != nil || !slices.Equal(entries(got), tc.want) {
			t.Errorf("%s: %q, %v, want %q", name, entries(got), err, tc.want)
		}
	}
}

func TestContractsBeyondTheLimitsAreRefused(t *testing.T) {
	const largest = analytics.MaxAmount
	many := func(n int, value int64) *events.Contract {
		c := &events.Contract{Currency: "EUR"}
		for i := range n {
			if i%2 == 0 {
				c.Allocations = append(c.Allocations, onNode("a", value))
			} else {
				c.Amendments = append(c.Amendments, amendment(fmt.Sprint(i), "a", -value, "draft", 0))
			}
		}
		return c
	}
	for name, tc := range map[string]struct {
		contract *events.Contract
		refused  bool
	}{
		"as many entries as are taken": {many(analytics.MaxContribution, 1), false},
		"one more":                     {many(analytics.MaxContribution+1, 1), true},
		"below 2^61":                   {many(256, largest), false},
		"beyond 2^61, though it nets":  {many(258, largest), true},
	} {
		_, err := analytics.ContractContribution(nil, "C", tc.contract)
		if errors.Is(err, analytics.ErrTooMuch) != tc.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A budget must be the same whether it is computed from the contracts themselves or from what the sums hold of them.
func TestBudgetIsTheSameFromTheSumsOfContracts(t *testing.T) {
	nodes := []string{"top", "a", "b", "a1", "gone"}
	node := rapid.SampledFrom(nodes)
	value := rapid.OneOf(rapid.Int64Range(-50, 50), rapid.SampledFrom([]int64{analytics.MaxAmount, -analytics.MaxAmount}))
	rapid.Check(t, func(t *rapid.T) {
		structure := structureOf(tree("top -", "a top", "b top", "a1 a!"))
		in := analytics.BudgetInput{Currency: "EUR", Structure: structure}
		var sums []analytics.ContractSum
		for i := range rapid.IntRange(1, 4).Draw(t, "contracts") {
			c := analytics.Contract{ID: analytics.ContractID(fmt.Sprint("C", i))}
			c.Currency = rapid.SampledFrom([]string{"EUR", "EUR", "CHF"}).Draw(t, "currency")
			c.Status = rapid.SampledFrom([]string{"signed", "completed", "setup"}).Draw(t, "status")
			for range rapid.IntRange(0, 4).Draw(t, "allocations") {
				c.Allocations = append(c.Allocations, onNode(node.Draw(t, "node"), value.Draw(t, "value")))
			}
			for j := range rapid.IntRange(0, 6).Draw(t, "amendments") {
				c.Amendments = append(c.Amendments,
					amendment(fmt.Sprint(j), rapid.SampledFrom(append(nodes, "")).Draw(t, "node"), value.Draw(t, "value"),
						rapid.SampledFrom([]string{"approved", "approved", "pending", "draft"}).Draw(t,
							"status"), calendar.Date(rapid.Int32Range(0, 3).Draw(t, "date"))))
			}
			in.Contracts = append(in.Contracts, c)
			in.Records = append(in.Records, []analytics.RecordSum{{
				NodeID: analytics.NodeID(node.Draw(t, "coded")), ContractID: c.ID, Currency: "EUR", Status: analytics.Setup,
				Source: "invoice",
				Net:    analytics.Int(value.Draw(t, "net")), Count: 1,
			}})
			sums = append(sums, summed(t, c)...)
		}
		fromSums := in
		var err error
		if fromSums.Contracts, err = analytics.ContractsOf(rapid.Permutation(sums).Draw(t, "sums")); err != nil {
			t.Fatal(err)
		}
		if got, want := analytics.Budget(fromSums), analytics.Budget(in); !reflect.DeepEqual(got, want) {
			t.Fatalf("from the sums\n%+v\nfrom the contracts\n%+v", got, want)
		}
	})
}

// summed are the contract's contribution as the sums return it: equal keys added up, in the order of the key.
func summed(t *rapid.T, c analytics.Contract) []analytics.ContractSum {
	contribution, err := analytics.ContractContribution(nil, c.ID, &c.Contract)
	if err != nil {
		t.Fatal(err)
	}
	all := contributed{}
	all.add(contribution)
	return all.contracts()
}

// Contracts are the same in whatever order their sums come: their lines lie in the order of their places.
func TestContractsComeTogetherFromSumsInAnyOrder(t *testing.T) {
	line := func(contract analytics.ContractID, place string, node analytics.NodeID, base int64) analytics.ContractSum {
		return analytics.ContractSum{ContractID: contract, Line: place, NodeID: node, Currency: "EUR", Status: "signed",
			Base: analytics.Int(base), Committed: analytics.Int(base)}
	}
	contract := func(id analytics.ContractID, lines ...events.ContractAllocation) analytics.Contract {
		return analytics.Contract{ID: id, Contract: events.Contract{Currency: "EUR", Status: "signed", Allocations: lines}}
	}
	want := map[analytics.ContractID]analytics.Contract{
		"C1": contract("C1", onNode("b", 1), onNode("a", 2), onNode("b", 3)),
		"C2": contract("C2", onNode("a", 4)),
	}
	// Given sums of two contracts among each other, one with a pending change
	pending := analytics.ContractSum{ContractID: "C2", NodeID: "b", Currency: "EUR", Status: "signed", Pending: analytics.Int(5)}
	c2 := want["C2"]
	c2.Amendments = []events.Amendment{{NodeID: events.Some("b"), Value: 5, Status: "pending"}}
	want["C2"] = c2
	sums := []analytics.ContractSum{line("C1", "00003", "b", 3), line("C2", "00001", "a", 4), line("C1", "00001", "b", 1), pending,
		line("C1", "00002", "a", 2)}
	for range len(sums) {
		sums = append(sums[1:], sums[0])
		// When they are put together
		contracts, err := analytics.ContractsOf(sums)
		// Then each contract has its own lines, in their order.
		got := make(map[analytics.ContractID]analytics.Contract)
		for _, c := range contracts {
			got[c.ID] = c
		}
		if err != nil || len(contracts) != len(want) || !reflect.DeepEqual(got, want) {
			t.Errorf("of %+v\ngot %+v: %v", sums, contracts, err)
		}
	}
}

func TestSumsThatNoContractHasAreRefused(t *testing.T) {
	beyond := analytics.NewInt128(1, rand.Uint64())
	for name, sum := range map[string]analytics.ContractSum{
		"base":      {Line: "00001", Base: beyond, Committed: beyond},
		"committed": {Line: "00001", Committed: beyond},
		"pending":   {Pending: beyond},
	} {
		if _, err := analytics.ContractsOf([]analytics.ContractSum{sum}); !errors.Is(err, analytics.ErrOutOfRange) {
			t.Errorf("%s beyond 64 bits: %v", name, err)
		}
	}
}
