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

// entries are contributions as text, one line for each.
func entries(s analytics.Shape, c analytics.Contributions) (all []string) {
	k, n := len(s.Keys), len(s.Sums)
	for i := range len(c.Sums) / n {
		all = append(all, fmt.Sprint(c.Keys[i*k:(i+1)*k], c.Sums[i*n:(i+1)*n]))
	}
	return all
}

func TestBudgetRowsAndTransfersContributeWhileApproved(t *testing.T) {
	row := func(status, node string) analytics.Contributions {
		return analytics.BudgetRowContributions(&events.BudgetRow{
			NodeID: events.Opt[string]{V: node, Ok: node != ""}, Amount: events.Amount{Value: -7, Currency: "CHF"},
			Status: status,
		})
	}
	transfer := func(status, from, to string) analytics.Contributions {
		return analytics.BudgetTransferContributions(&events.BudgetTransfer{
			FromNodeID: events.Opt[string]{V: from, Ok: from != ""}, ToNodeID: events.Opt[string]{V: to, Ok: to != ""},
			Amount: events.Amount{Value: 5, Currency: "EUR"}, Status: status,
		})
	}
	for name, tc := range map[string]struct {
		got, want []string
	}{
		"an approved row": {entries(analytics.BudgetRowShape(), row("approved", "a")),
			[]string{"[a CHF] [-7 1]"}},
		"one without a node": {entries(analytics.BudgetRowShape(), row("approved", "")), []string{"[ CHF] [-7 1]"}},
		"a draft":            {entries(analytics.BudgetRowShape(), row("draft", "a")), nil},
		"a rejected row":     {entries(analytics.BudgetRowShape(), row("rejected", "a")), nil},
		"an approved transfer": {entries(analytics.BudgetTransferShape(), transfer("approved", "a", "b")),
			[]string{"[a EUR] [-5 1]", "[b EUR] [5 1]"}},
		"one from the unallocated": {entries(analytics.BudgetTransferShape(), transfer("approved", "", "b")),
			[]string{"[ EUR] [-5 1]", "[b EUR] [5 1]"}},
		"a transfer that is no longer": {entries(analytics.BudgetTransferShape(), transfer("rejected", "a", "b")), nil},
	} {
		if !slices.Equal(tc.got, tc.want) {
			t.Errorf("%s contributes %q, want %q", name, tc.got, tc.want)
		}
	}
}

func TestClaimsContributeWhileOpen(t *testing.T) {
	claim := &events.Claim{
		NodeID: events.Some("a"), Amount: events.Amount{Value: 333, Currency: "EUR"},
		ProbabilityBp: events.Decimal{Units: 5000}, Status: "open",
	}
	if got := entries(analytics.ClaimShape(), analytics.ClaimContributions(claim)); !slices.Equal(got,
		[]string{"[a EUR] [167 1]"}) {
		t.Errorf("half of 333 contributes %q", got)
	}
	claim.Status = "closed"
	if got := entries(analytics.ClaimShape(), analytics.ClaimContributions(claim)); got != nil {
		t.Errorf("a closed claim contributes %q", got)
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
			[]string{"[C 00001 b EUR signed] [15 15 0 1]", "[C 00002 a EUR signed] [0 0 0 1]"},
		},
		"approved amendments on a line and beside": {
			contractOf([]events.ContractAllocation{onNode("a", 10)}, amendment("2", "", -3, "approved", 0),
				amendment("1", "z", 4, "approved", january), amendment("3", "a", 2, "approved", 0)),
			[]string{"[C 00001 a EUR signed] [10 12 0 1]", "[C 00002 z EUR signed] [0 4 0 1]",
				"[C 00003  EUR signed] [0 -3 0 1]"},
		},
		"pending increases, on nodes or on none": {
			contractOf([]events.ContractAllocation{onNode("a", 10)}, amendment("1", "a", 4, "pending", 0),
				amendment("2", "", 5, "pending", 0), amendment("3", "a", -6, "pending", 0)),
			[]string{"[C 00001 a EUR signed] [10 10 0 1]", "[C  a EUR signed] [0 0 4 0]", "[C   EUR signed] [0 0 5 0]"},
		},
		"no line without a base": {contractOf(nil, amendment("1", "a", 4, "approved", 0),
			amendment("2", "a", 5, "pending", 0)), []string{"[C  a EUR signed] [0 0 5 0]"}},
		"nothing of drafts": {contractOf(nil, amendment("1", "a", 4, "draft", 0), amendment("2", "a", 5, "rejected", 0),
			amendment("3", "a", 5, "else", 0)), nil},
	} {
		got, err := analytics.ContractContributions("C", &tc.contract.Contract)
		if err != nil || !slices.Equal(entries(analytics.ContractShape(), got), tc.want) {
			t.Errorf("%s: %q, %v, want %q", name, entries(analytics.ContractShape(), got), err, tc.want)
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
		"as many entries as are taken": {many(analytics.MaxContributions, 1), false},
		"one more":                     {many(analytics.MaxContributions+1, 1), true},
		"below 2^61":                   {many(256, largest), false},
		"beyond 2^61, though it nets":  {many(258, largest), true},
	} {
		_, err := analytics.ContractContributions("C", tc.contract)
		if errors.Is(err, analytics.ErrTooMuch) != tc.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A budget must be the same whether it is computed from the contracts themselves or from what the view holds of them.
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
			in.Records = append(in.Records, analytics.RecordSum{
				NodeID: analytics.NodeID(node.Draw(t, "coded")), ContractID: c.ID, Currency: "EUR", Status: analytics.Setup,
				Source: "invoice",
				Net:    analytics.Int(value.Draw(t, "net")), Count: 1,
			})
			sums = append(sums, viewed(t, c)...)
		}
		fromSums := in
		var err error
		if fromSums.Contracts, err = analytics.ContractsOf(sums); err != nil {
			t.Fatal(err)
		}
		if got, want := analytics.Budget(fromSums), analytics.Budget(in); !reflect.DeepEqual(got, want) {
			t.Fatalf("from the sums\n%+v\nfrom the contracts\n%+v", got, want)
		}
	})
}

// viewed are the contract's contributions as the view returns them: equal keys added up, in the order of the key.
func viewed(t *rapid.T, c analytics.Contract) []analytics.ContractSum {
	contributions, err := analytics.ContractContributions(c.ID, &c.Contract)
	if err != nil {
		t.Fatal(err)
	}
	byKey := map[[5]string]analytics.ContractSum{}
	for i := range len(contributions.Sums) / 4 {
		key, sums := [5]string(contributions.Keys[i*5:i*5+5]), contributions.Sums[i*4:i*4+4]
		sum := byKey[key]
		byKey[key] = analytics.ContractSum{
			ContractID: analytics.ContractID(key[0]), Line: key[1], NodeID: analytics.NodeID(key[2]), Currency: key[3],
			Status: key[4],
			Base:   sum.Base.Add(analytics.Int(sums[0])), Committed: sum.Committed.Add(analytics.Int(sums[1])),
			Pending: sum.Pending.Add(analytics.Int(sums[2])),
		}
	}
	var keys [][5]string
	for key := range byKey {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [5]string) int { return slices.Compare(a[:], b[:]) })
	var sums []analytics.ContractSum
	for _, key := range keys {
		sums = append(sums, byKey[key])
	}
	return sums
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
