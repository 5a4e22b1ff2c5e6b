package verify_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/admin/verify"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// put writes entities as they are, whatever their topic.
func put(t *testing.T, l *ingesttest.Ledger, topic events.Topic, of map[string]any) {
	t.Helper()
	e := store.Of(topic)
	block := e.NewBlock()
	deltas := ingesttest.Deltas{}
	for id, data := range of {
		contribution, err := e.Contribution(nil, id, data)
		if err != nil {
			t.Fatal(err)
		}
		block.Append(&store.Row{Tenant: "T", Project: e.Project(id, data), ID: id, Version: 1, At: time.Unix(0, 0), Data: data})
		deltas.Add("T", e.Project(id, data), contribution, 1)
	}
	if e.Contributes() { // else there is nothing that a position row would carry
		block.AppendPosition(0, 1, -1, time.Unix(0, 0))
		deltas.AddTo(block)
	}
	block.Sort()
	_, err := l.DB.Insert(t.Context(), database.Statement{
		SQL: e.Insert("1"), Batch: block.Batch(), Params: database.Params{"partition": "0", "first": "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Given entities on two shards, of which some refer to what is on the other one, then no shard is warned about those; of all
// together it is told what refers to nothing, and what is there twice.
func TestShardsAreWarnedAboutTogether(t *testing.T) {
	t.Parallel()
	var where []database.Options
	for _, shard := range clickhousetest.StartCluster(t, "pair", 2) {
		where = append(where, database.Options{Addr: shard.Addr(), Database: "ledger", User: "default"})
	}
	silent := migrate.Options{Target: clickhouse.Target{Cluster: "pair"}, Log: slog.New(slog.DiscardHandler)}
	if _, err := migrate.Up(t.Context(), where, silent); err != nil {
		t.Fatal(err)
	}
	one, other := ingesttest.Open(t, where[0], events.Records, 2), ingesttest.Open(t, where[1], events.Records, 2)
	some := events.Some[string]
	record := func(project string) *events.Record {
		return &events.Record{ProjectID: project, Source: "invoice", Direction: "in", StepKind: "setup", Intake: events.Intake{Channel: "api"}}
	}
	put(t, one, events.Projects, map[string]any{"P": &events.Project{Name: "P", Currency: "EUR", BudgetStructureID: some("S")}})
	put(t, other, events.Records, map[string]any{"good": record("P"), "lost": record("Q")})
	linked := record("P")
	linked.ContractID, linked.ContractorID = some("K"), some("C")
	linked.Allocations = []events.RecordAllocation{{NodeID: some("top")}, {NodeID: some("own")}, {NodeID: some("nowhere")}}
	put(t, one, events.Records, map[string]any{"linked": linked})
	put(t, other, events.Contracts, map[string]any{"K": &events.Contract{ProjectID: "P", Currency: "EUR", ContractorID: some("D")}})
	put(t, other, events.Contractors, map[string]any{"C": &events.Contractor{}})
	put(t, one, events.Contractors, map[string]any{"D": &events.Contractor{}})
	put(t, one, events.Users, map[string]any{"on": &events.User{Name: "x", Active: true}})
	put(t, other, events.Memberships, map[string]any{
		"m1": &events.Membership{UserID: "on", Scope: events.Scope{ProjectID: some("P")}, Role: "user"},
	})
	put(t, one, events.BudgetNodes, map[string]any{"top": &events.BudgetNode{StructureID: some("S"), Level: "budget", Active: true}})
	put(t, other, events.BudgetNodes, map[string]any{
		"own": &events.BudgetNode{ProjectID: some("P"), ParentID: some("top"), Level: "costItem"},
	})
	put(t, one, events.UncommittedEntries, map[string]any{"u1": &events.UncommittedEntry{ProjectID: "P", NodeID: "top"}})
	put(t, other, events.UncommittedEntries, map[string]any{"u2": &events.UncommittedEntry{ProjectID: "P", NodeID: "top"}})

	o := options()
	o.NoHold, o.Shards = true, 2
	for o.Shard = range where {
		l := []*ingesttest.Ledger{one, other}[o.Shard]
		restream(t, l, func(s *position.Stream) { s.Shard, s.Shards = uint32(o.Shard), 2 })
		report, err := verify.Run(t.Context(), l.DB, o)
		if err != nil || len(report.Warnings) != 0 {
			t.Errorf("of shard %d: %+v, %v", o.Shard, report, err)
		}
	}
	all := where[0]
	all.Database = migrate.AllShards(all.Database)
	db, err := database.Open(all, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	report, err := verify.Together(t.Context(), db, o)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, w := range report.Warnings {
		lines = append(lines, w.First...)
	}
	if want := []string{"T P node nowhere: 1, first linked", "T P node top: u1, u2", "T Q: 1"}; !slices.Equal(lines, want) {
		t.Errorf("together: %+v, want %v", report.Warnings, want)
	}
}

func TestWhatMakesNoSenseBesideTheRestIsWarnedAbout(t *testing.T) {
	t.Parallel()
	l := ingesttest.New(t, events.Records, 2)
	some := events.Some[string]
	record := func(project string) *events.Record {
		return &events.Record{ProjectID: project, Source: "invoice", Direction: "in", StepKind: "setup", Intake: events.Intake{Channel: "api"}}
	}
	node := func(structure, parent string) *events.BudgetNode {
		n := &events.BudgetNode{StructureID: some(structure), Level: "budget", Active: true}
		if parent != "" {
			n.ParentID = some(parent)
		}
		return n
	}
	put(t, l, events.Projects, map[string]any{"P": &events.Project{Name: "P", Currency: "EUR", BudgetStructureID: some("S")}})
	put(t, l, events.Records, map[string]any{"good": record("P"), "lost1": record("Q"), "lost2": record("Q")})
	put(t, l, events.BudgetNodes, map[string]any{
		"top": node("S", ""), "below": node("S", "top"), "orphan": node("S", "nobody"), "foreign": node("other", "top"),
		"circle1": node("S", "circle2"), "circle2": node("S", "circle1"), "into": node("S", "circle1"),
		"own":    &events.BudgetNode{ProjectID: some("P"), ParentID: some("top"), Level: "costItem"},
		"misled": &events.BudgetNode{ProjectID: some("Z"), ParentID: some("own"), Level: "costItem"},
	})
	put(t, l, events.BudgetRows, map[string]any{
		"r1": &events.BudgetRow{ProjectID: "P", Kind: "initial", Amount: events.Amount{Value: 1, Currency: "EUR"}, Status: "approved"},
		"r2": &events.BudgetRow{ProjectID: "P", Kind: "initial", Amount: events.Amount{Value: 1, Currency: "USD"}, Status: "approved"},
	})
	put(t, l, events.UncommittedEntries, map[string]any{
		"u1": &events.UncommittedEntry{ProjectID: "P", NodeID: "top"}, "u2": &events.UncommittedEntry{ProjectID: "P", NodeID: "top"},
		"u3": &events.UncommittedEntry{ProjectID: "P", NodeID: "below"},
	})
	put(t, l, events.Users, map[string]any{"on": &events.User{Name: "x", Active: true}, "off": &events.User{Name: "x"}})
	put(t, l, events.Memberships, map[string]any{
		"m1": &events.Membership{UserID: "on", Scope: events.Scope{ProjectID: some("P")}, Role: "user"},
		"m2": &events.Membership{UserID: "off", Scope: events.Scope{Tenant: true}, Role: "user"},
		"m3": &events.Membership{UserID: "on", Scope: events.Scope{ProjectID: some("Q")}, Role: "user"},
	})
	put(t, l, events.LinePlans, map[string]any{
		"p1": &events.LinePlan{ProjectID: "P", NodeID: "top"}, "p2": &events.LinePlan{ProjectID: "P", NodeID: "top"},
		"p3": &events.LinePlan{ProjectID: "P", NodeID: "below"},
	})
	put(t, l, events.Facilities, map[string]any{
		"f1": &events.Facility{ProjectIDs: []string{"P"}}, "f2": &events.Facility{ProjectIDs: []string{"P", "Q"}},
	})
	put(t, l, events.Fixings, map[string]any{
		"x1": &events.Fixing{FacilityID: "f1"}, "x2": &events.Fixing{FacilityID: "f1"}, "x3": &events.Fixing{FacilityID: "f1", PeriodStart: 1},
	})
	put(t, l, events.FacilityEntries, map[string]any{
		"e1": &events.FacilityEntry{FacilityID: "f2"}, "e2": &events.FacilityEntry{FacilityID: "f3"},
		"e3": &events.FacilityEntry{FacilityID: "f3"},
	})
	l.Exec("INSERT INTO gaps SELECT 'ledger.claims', 3, 5, 9, now64(3)")
	if _, err := fence.Take(t.Context(), l.DB, string(events.Users), []int32{1}, "somebody"); err != nil {
		t.Fatal(err)
	}
	restream(t, l, func(s *position.Stream) { s.Work, s.Worker = "some work", "somebody" })
	l.Exec("INSERT INTO sums (tenant, project, keys, amount1) SELECT 'T', 'P', 'of a newer release', 1")

	o := options()
	o.NoHold = true
	report, err := verify.Run(t.Context(), l.DB, o)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{ // the beginning of the warning -> what it lists
		"offsets that the log":            {"ledger.claims partition 3: 5 to 9"},
		"work in progress":                {"ledger.records: some work by somebody"},
		"holds":                           {"access.users partition 1: somebody"},
		"rows of rolls that this":         {"of a newer release: 1"},
		"memberships of users":            {"T m2"},
		"memberships of projects":         {"T m3"},
		"several uncommitted entries":     {"T P node top: u1, u2"},
		"records in projects":             {"T Q: 2"},
		"several plans":                   {"T P node top: p1, p2"},
		"several fixings":                 {"T f1 from 1970-01-01: x1, x2"},
		"facilities of projects":          {"T f2: Q"},
		"facility_entries of facilities":  {"T f3: 2"},
		"budget_nodes in projects":        {"T Z: 1"},
		"budget_rows in another":          {"T r2: USD"},
		"budget nodes whose parent":       {"T foreign", "T misled", "T orphan"},
		"budget nodes that are their own": {"T circle1", "T circle2"},
	}
	for begin, lines := range want {
		found := false
		for _, w := range report.Warnings {
			if !strings.HasPrefix(w.What, begin) {
				continue
			}
			found = true
			got := slices.Clone(w.First)
			slices.Sort(got)
			if int(w.Count) != len(lines) || len(got) != len(lines) {
				t.Errorf("%s: %v, want %v", begin, got, lines)
				continue
			}
			for i := range lines {
				if !strings.HasPrefix(got[i], lines[i]) {
					t.Errorf("%s: %v, want %v", begin, got, lines)
				}
			}
		}
		if !found {
			t.Errorf("no warning %q", begin)
		}
	}
	if len(report.Warnings) != len(want) {
		t.Errorf("%d warnings, want %d: %s", len(report.Warnings), len(want), fmt.Sprintf("%+v", report.Warnings))
	}
}

// Given entities that name nodes, contracts, contractors and units, then it is told which of those are not there for them: their project
// has those of its structure and its own, no others, and none that was deleted. What isn't told is what is named by none, and what is
// said of entities and projects that were deleted.
func TestNamesOfWhatIsNotThereAreWarnedAbout(t *testing.T) {
	t.Parallel()
	l := ingesttest.New(t, events.Records, 2)
	some := events.Some[string]
	money := events.Amount{Value: 1, Currency: "EUR"}
	put(t, l, events.Projects, map[string]any{
		"P": &events.Project{Name: "P", Currency: "EUR", BudgetStructureID: some("S")},
		"Q": &events.Project{Name: "Q", Currency: "EUR", BudgetStructureID: some("other")},
		"N": &events.Project{Name: "N", Currency: "EUR"}, // without a structure
	})
	put(t, l, events.BudgetNodes, map[string]any{
		"shared": &events.BudgetNode{StructureID: some("S"), Level: "budget"}, "others": &events.BudgetNode{StructureID: some("other"), Level: "budget"},
		"own": &events.BudgetNode{ProjectID: some("P"), Level: "budget"}, "ownOfQ": &events.BudgetNode{ProjectID: some("Q"), Level: "budget"},
		"gone": &events.BudgetNode{StructureID: some("S"), Level: "budget"}, "of none": &events.BudgetNode{Level: "budget"},
	})
	record := func(project, contract, contractor string, nodes ...string) *events.Record {
		r := &events.Record{ProjectID: project, Source: "invoice", Direction: "in", StepKind: "setup", Intake: events.Intake{Channel: "api"}}
		if contract != "" {
			r.ContractID = some(contract)
		}
		if contractor != "" {
			r.ContractorID = some(contractor)
		}
		for _, node := range nodes {
			r.Allocations = append(r.Allocations, events.RecordAllocation{NodeID: events.Opt[string]{V: node, Ok: node != ""}})
		}
		return r
	}
	put(t, l, events.Records, map[string]any{
		"r1": record("P", "K", "C", "shared", "own"), "r2": record("P", "", "", "", "nowhere", "nowhere"),
		"r3": record("P", "K of Q", "gone", "others"), "r4": record("Q", "gone", "C", "others", "ownOfQ", "shared"),
		"r5": record("N", "", "", "of none"), "r6": record("lost", "none", "none", "none"), "deleted": record("P", "none", "none", "none"),
		"r7": record("P", "", "", "nowhere", "gone"),
	})
	put(t, l, events.Contracts, map[string]any{
		"K":      &events.Contract{ProjectID: "P", Currency: "EUR", ContractorID: some("C"), Allocations: []events.ContractAllocation{{NodeID: "own"}}},
		"K of Q": &events.Contract{ProjectID: "Q", Currency: "EUR", ContractorID: some("nobody"), Amendments: []events.Amendment{{ID: "a", NodeID: some("own")}}},
		"gone":   &events.Contract{ProjectID: "Q", Currency: "EUR"},
	})
	put(t, l, events.Contractors, map[string]any{"C": &events.Contractor{}, "gone": &events.Contractor{}})
	put(t, l, events.BudgetRows, map[string]any{
		"b1": &events.BudgetRow{ProjectID: "P", NodeID: some("own"), Kind: "initial", Amount: money, Status: "approved"},
		"b2": &events.BudgetRow{ProjectID: "P", NodeID: some("ownOfQ"), Kind: "initial", Amount: money, Status: "approved"},
		"b3": &events.BudgetRow{ProjectID: "P", Kind: "initial", Amount: money, Status: "approved"},
	})
	put(t, l, events.BudgetTransfers, map[string]any{
		"t1": &events.BudgetTransfer{ProjectID: "P", FromNodeID: some("shared"), ToNodeID: some("t-to"), Amount: money, Status: "approved"},
	})
	put(t, l, events.UncommittedEntries, map[string]any{"u1": &events.UncommittedEntry{ProjectID: "P", NodeID: "u-node"}})
	put(t, l, events.Claims, map[string]any{
		"c1": &events.Claim{ProjectID: "P", NodeID: some("c-node"), ContractID: some("c-contract"), Amount: money, Status: "open"},
		"c2": &events.Claim{ProjectID: "P", NodeID: some("own"), ContractID: some("K"), Amount: money, Status: "open"},
	})
	put(t, l, events.LinePlans, map[string]any{"l1": &events.LinePlan{ProjectID: "P", NodeID: "l-node"}})
	put(t, l, events.Units, map[string]any{"U": &events.Unit{ProjectID: "P"}})
	put(t, l, events.Leases, map[string]any{
		"e1": &events.Lease{ProjectID: "P", UnitIDs: []string{"U", "no unit"}}, "e2": &events.Lease{ProjectID: "Q", UnitIDs: []string{"U"}},
	})
	for table, of := range map[string]string{"budget_nodes": "'', 'gone'", "contracts": "'Q', 'gone'", "contractors": "'', 'gone'", "records": "'P', 'deleted'"} {
		l.Exec("INSERT INTO %s (tenant, project, id, row_version, deleted) VALUES ('T', %s, 2, true)", table, of)
	}

	o := options()
	o.NoHold = true
	lines := func() (all []string) {
		report, err := verify.Run(t.Context(), l.DB, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range report.Warnings {
			if table, rest, ok := strings.Cut(w.What, " that name "); ok {
				for _, line := range w.First {
					all = append(all, table+" "+strings.Fields(rest)[0]+" "+line)
				}
				all = append(all, fmt.Sprint(table, " ", strings.Fields(rest)[0], " ", w.Count))
			}
		}
		return all
	}
	want := []string{
		"records budget T N node of none: 1, first r5", "records budget T P node gone: 1, first r7", "records budget T P node nowhere: 2, first r2",
		"records budget T P node others: 1, first r3", "records budget T Q node shared: 1, first r4", "records budget 5",
		"contracts budget T Q node own: 1, first K of Q", "contracts budget 1",
		"budget_rows budget T P node ownOfQ: 1, first b2", "budget_rows budget 1",
		"budget_transfers budget T P node t-to: 1, first t1", "budget_transfers budget 1",
		"uncommitted_entries budget T P node u-node: 1, first u1", "uncommitted_entries budget 1",
		"claims budget T P node c-node: 1, first c1", "claims budget 1",
		"line_plans budget T P node l-node: 1, first l1", "line_plans budget 1",
		"records contracts T P contract K of Q: 1, first r3", "records contracts T Q contract gone: 1, first r4", "records contracts 2",
		"claims contracts T P contract c-contract: 1, first c1", "claims contracts 1",
		"records contractors T P contractor gone: 1, first r3", "records contractors 1",
		"contracts contractors T Q contractor nobody: 1, first K of Q", "contracts contractors 1",
		"leases units T P unit no unit: 1, first e1", "leases units T Q unit U: 1, first e2", "leases units 2",
	}
	if got := lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// And of many of a kind a few are listed, and all are counted.
	l.Exec("INSERT INTO line_plans (tenant, project, id, node_id, row_version) SELECT 'T', 'P', toString(number), toString(number), 1 FROM numbers(500)")
	o.Most = 2
	got := lines()
	for _, line := range []string{"line_plans budget T P node 0: 1, first 0", "line_plans budget T P node 100: 1, first 100", "line_plans budget 501"} {
		if !slices.Contains(got, line) {
			t.Errorf("no line %q in\n%s", line, strings.Join(got, "\n"))
		}
	}
	if slices.Contains(got, "line_plans budget T P node 101: 1, first 101") {
		t.Error("more are listed than were asked for")
	}
}
