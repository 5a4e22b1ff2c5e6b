package analytics_test

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// sumKey is the key of a sum within a project.
type sumKey struct {
	roll clickhouse.RollID
	keys [clickhouse.MaxRollKeys]string
}

// contributed are sums, as the table of sums holds them for one project.
type contributed map[sumKey][clickhouse.MaxRollAmounts]analytics.Int128

func (all contributed) add(c analytics.Contribution) {
	for _, s := range c {
		key := sumKey{s.Roll, s.Keys}
		amounts := all[key]
		for i, v := range s.Amounts {
			amounts[i] = amounts[i].Add(analytics.Int(v))
		}
		all[key] = amounts
	}
}

// of are the sums of a roll in the order of their keys, without those that are all 0: the table drops these.
func (all contributed) of(roll clickhouse.RollID, each func(keys [clickhouse.MaxRollKeys]string, amounts [clickhouse.MaxRollAmounts]analytics.Int128)) {
	keys := slices.SortedFunc(maps.Keys(all), func(a, b sumKey) int { return slices.Compare(a.keys[:], b.keys[:]) })
	for _, key := range keys {
		if amounts := all[key]; key.roll == roll && amounts != [clickhouse.MaxRollAmounts]analytics.Int128{} {
			each(key.keys, amounts)
		}
	}
}

func (all contributed) contracts() (sums []analytics.ContractSum) {
	all.of(clickhouse.RollContracts, func(k [clickhouse.MaxRollKeys]string, v [clickhouse.MaxRollAmounts]analytics.Int128) {
		sums = append(sums, analytics.ContractSum{
			ContractID: analytics.ContractID(k[0]), NodeID: analytics.NodeID(k[1]), Currency: k[2], Status: k[3], Line: k[4],
			Base: v[1], Committed: v[2], Pending: v[3],
		})
	})
	slices.SortFunc(sums, func(a, b analytics.ContractSum) int {
		return cmp.Or(cmp.Compare(a.ContractID, b.ContractID), cmp.Compare(a.Line, b.Line))
	})
	return sums
}

func (all contributed) budget() (sums []analytics.BudgetSum) {
	for _, roll := range []clickhouse.RollID{clickhouse.RollBudget, clickhouse.RollTransfers} {
		all.of(roll, func(k [clickhouse.MaxRollKeys]string, v [clickhouse.MaxRollAmounts]analytics.Int128) {
			sums = append(sums, analytics.BudgetSum{NodeID: analytics.NodeID(k[0]), Currency: k[1], Amount: v[0]})
		})
	}
	return sums
}

func (all contributed) claims() (sums []analytics.ClaimSum) {
	all.of(clickhouse.RollClaims, func(k [clickhouse.MaxRollKeys]string, v [clickhouse.MaxRollAmounts]analytics.Int128) {
		sums = append(sums, analytics.ClaimSum{NodeID: analytics.NodeID(k[0]), Currency: k[1], Pending: v[0]})
	})
	return sums
}

func (all contributed) records(t *rapid.T) (sums []analytics.RecordSum) {
	all.of(clickhouse.RollLines, func(k [clickhouse.MaxRollKeys]string, v [clickhouse.MaxRollAmounts]analytics.Int128) {
		count, ok := v[0].Int64()
		if !ok {
			t.Fatalf("%s records", v[0])
		}
		sums = append(sums, analytics.RecordSum{
			ContractID: analytics.ContractID(k[0]), NodeID: analytics.NodeID(k[1]), Currency: k[2], Status: analytics.RecordStatus(k[3]),
			Count: count, Net: v[2], Gross: v[3],
		})
	})
	return sums
}

// contributed adds up what all entities of a project contribute.
func (l *ledger) contributed(t *rapid.T, project string) contributed {
	all := contributed{}
	add := func(c analytics.Contribution, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all.add(c)
	}
	for id, r := range l.records {
		if r.ProjectID == project {
			add(analytics.RecordContribution(nil, id, r))
		}
	}
	for id, c := range l.contracts {
		if c.ProjectID == project {
			add(analytics.ContractContribution(nil, analytics.ContractID(id), c))
		}
	}
	for _, r := range l.rows {
		if r.ProjectID == project {
			all.add(analytics.BudgetRowContribution(nil, r))
		}
	}
	for _, tr := range l.transfers {
		if tr.ProjectID == project {
			all.add(analytics.BudgetTransferContribution(nil, tr))
		}
	}
	for _, c := range l.claims {
		if c.ProjectID == project {
			all.add(analytics.ClaimContribution(nil, c))
		}
	}
	return all
}

// inLists are sums as parts of a table hold them: in several lists, some split into what one part adds and another takes back.
func inLists(t *rapid.T, sums []analytics.RecordSum) [][]analytics.RecordSum {
	lists := make([][]analytics.RecordSum, rapid.IntRange(1, 4).Draw(t, "lists"))
	list := rapid.IntRange(0, len(lists)-1)
	put := func(s analytics.RecordSum) {
		at := list.Draw(t, "list")
		lists[at] = append(lists[at], s)
	}
	for _, sum := range sums {
		other := sum
		other.Net, other.Gross, other.Count = analytics.Int(rapid.Int64().Draw(t, "net")), analytics.Int(rapid.Int64().Draw(t, "gross")), rapid.Int64Range(-9, 9).Draw(t, "count")
		sum.Net, sum.Gross, sum.Count = sum.Net.Sub(other.Net), sum.Gross.Sub(other.Gross), sum.Count-other.Count
		put(sum)
		put(other)
	}
	return lists
}

// Given any project, when its budget is computed from what its entities contribute, then it is that of the entities.
func TestBudgetIsTheSameFromContributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ledgers().Draw(t, "ledger")
		all := l.contributed(t, "P1")
		want := l.budgetInput("P1")
		in := want
		in.Records, in.Budget, in.Claims = inLists(t, all.records(t)), all.budget(), all.claims()
		var err error
		if in.Contracts, err = analytics.ContractsOf(all.contracts()); err != nil {
			t.Fatal(err)
		}
		if got, want := analytics.Budget(in), analytics.Budget(want); !reflect.DeepEqual(got, want) {
			t.Fatalf("from contributions\n%+v\nfrom the entities\n%+v\n%s", got, want, show(l))
		}
	})
}

// The figures of a contract and its list of records to be coded anew come from the lines and links of its records.
func TestContractsAreTheSameFromContributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ledgers().Draw(t, "ledger")
		structure := l.structure("P1")
		all := l.contributed(t, "P1")
		for id, c := range l.contracts {
			if c.ProjectID != "P1" {
				continue
			}
			contract := l.contract(id)
			linked := slices.DeleteFunc(all.records(t), func(r analytics.RecordSum) bool { return r.ContractID != contract.ID })
			if got, want := contract.Figures(linked), contract.Figures(l.linked(id)); got != want {
				t.Fatalf("%s has %+v from contributions, %+v from its records\n%s", id, got, want, show(l))
			}
			got := map[string]bool{}
			all.of(clickhouse.RollLinks, func(k [clickhouse.MaxRollKeys]string, _ [clickhouse.MaxRollAmounts]analytics.Int128) {
				on := analytics.RecordSum{ContractID: contract.ID, NodeID: analytics.NodeID(k[1]), Currency: k[2], Status: analytics.Setup}
				if k[0] == id && len(structure.ToRecode(contract, []analytics.RecordSum{on})) > 0 {
					got[k[3]] = true
				}
			})
			want := map[string]bool{}
			for record := range l.records {
				one := &ledger{records: map[string]*events.Record{record: l.records[record]}}
				outside := slices.DeleteFunc(one.sums("P1"), func(s analytics.RecordSum) bool { return s.ContractID != contract.ID })
				if len(structure.ToRecode(contract, outside)) > 0 {
					want[record] = true
				}
			}
			if !maps.Equal(got, want) {
				t.Fatalf("%s has %v to be coded anew by its links, %v by its records\n%s", id, got, want, show(l))
			}
		}
	})
}

// A summand fills the keys and amounts of its roll and nothing behind them.
func TestSummandsFillTheirRollAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for key, amounts := range ledgers().Draw(t, "ledger").contributed(t, "P1") {
			roll := key.roll.Roll()
			if slices.ContainsFunc(key.keys[len(roll.Keys):], func(k string) bool { return k != "" }) ||
				slices.ContainsFunc(amounts[len(roll.Amounts):], func(v analytics.Int128) bool { return !v.IsZero() }) {
				t.Fatalf("%s has keys %q and amounts %v", roll.Name, key.keys, amounts)
			}
		}
	})
}

// Given any project, then the contracts on a line alone put as much on it as all of them do.
func TestContractsOnALineMakeItsFigures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ledgers().Draw(t, "ledger")
		in := l.budgetInput("P1")
		want, all := analytics.Budget(in), in.Contracts
		for i, n := range want.Nodes {
			on := in.Structure.ContractsOn(n.Node.ID, in.Currency, all)
			in.Contracts = nil
			for _, c := range all {
				if slices.Contains(on, c.ID) {
					in.Contracts = append(in.Contracts, c)
				}
			}
			got := analytics.Budget(in).Nodes[i]
			if got.Committed != n.Committed || got.PendingChanges != n.PendingChanges {
				t.Fatalf("%v make %s and %s on %s, all make %s and %s\n%s", on, got.Committed, got.PendingChanges, n.Node.ID, n.Committed,
					n.PendingChanges, show(l))
			}
		}
	})
}
