package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/analytics"
	"tallyhouse/api"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// budgeted is structured with money on its lines.
func budgeted(t testing.TB, change ...func(*api.Options)) *world {
	t.Helper()
	w := structured(t, change...)
	w.budgetRow("B1", "P1", "t", 1000)
	w.budgetRow("B2", "P1", "i", 600)
	w.budgetRow("B3", "P1", "", 5)
	w.transfer("T1", "P1", "k", "i", 100)
	w.budgetRow("B4", "P1", "k", 100)
	w.contractOf("C1", events.Contract{ProjectID: "P1", Name: some("Shell"), ContractorID: some("K1"),
		StartDate:   some(calendar.NewDate(2026, 1, 7)),
		Allocations: []events.ContractAllocation{{NodeID: "i", Value: 450}},
		Amendments: []events.Amendment{
			{ID: "A2", NodeID: some("i"), Value: 30, Status: "pending"},
			{ID: "A1", NodeID: some("i"), Value: 50, Status: "approved", Date: some(calendar.NewDate(2026, 2, 1)),
				Title: some("More")},
			{ID: "A3", NodeID: some("i"), Value: 1, Status: "draft"},
		}})
	w.contractOf("C2", events.Contract{ProjectID: "P1", Currency: "CHF",
		Allocations: []events.ContractAllocation{{NodeID: "k", Value: 9}}})
	w.contractOf("C3", events.Contract{ProjectID: "P1", Status: "setup"})
	w.booked("R1", invoice("P1", "i", "C1", "setup", 100))
	outside := invoice("P1", "k", "C1", "payment", 20)
	w.booked("R2", outside)
	w.booked("R3", invoice("P1", "x", "", "paid", 50))
	w.booked("R4", invoice("P1", "", "", "approval", 7))
	foreign := invoice("P1", "i", "", "approval", 8)
	foreign.Currency = some("USD")
	w.booked("R5", foreign)
	accrual := invoice("P1", "i", "", "approval", 1000)
	accrual.Source = "accrual"
	w.booked("R6", accrual)
	w.claim("L1", "P1", "k", 1000, 2500)
	w.entry("E1", "P1", "k", some(int64(40)))
	w.entry("E2", "P1", "t", events.Opt[int64]{})
	line := func(id, parent, level, code string, budget, committed, uncommitted int64) events.SnapshotLine {
		return events.SnapshotLine{NodeID: id, ParentID: events.Opt[string]{V: parent, Ok: parent != ""}, Level: level,
			Code: code, Name: "Was " + id, Budget: budget, Committed: committed,
			PendingChanges: 3, Uncommitted: uncommitted, UncommittedDefaulted: true, Invoiced: 2, Paid: 1}
	}
	month := calendar.NewDate(2026, 3, 1).Month()
	w.snapshot("F1", events.ForecastSnapshot{ProjectID: "P1", Month: month, Version: 1, Status: "approved",
		Lines: []events.SnapshotLine{line("s", "t", "subBudget", "2", 80, 70, 10),
			line("t", "", "budget", "1", 100, 70, 30)}})
	w.snapshot("F2", events.ForecastSnapshot{ProjectID: "P1", Month: month + 1, Version: 1, Status: "approved",
		Lines: []events.SnapshotLine{line("t", "", "budget", "1", 100, 75, 30),
			line("s", "t", "subBudget", "2", 80, 75, 10)},
		Explanations: []events.Explanation{{NodeID: "s", Reason: "Steel"}}})
	w.snapshot("F3", events.ForecastSnapshot{ProjectID: "P1", Month: month + 1, Version: 2, Status: "submitted"})
	return w
}

func eur(n int) string { return fmt.Sprintf(`{"value":%d,"currency":"EUR"}`, n) }

func TestABudgetIsShownInFull(t *testing.T) {
	// Given
	w := budgeted(t)
	// When
	got := w.get(adminKey, "/v0/projects/P1/budget?level=subBudget").want(t, http.StatusOK, "")
	// Then: the money of the inactive x is in s; what k entered comes on top of what the budget of t leaves.
	node := func(head string, budget, invoiced, paid int, byStatus [4]int, committed, open, over, pending, uncommitted int,
		defaulted bool, codes string) string {
		eac := committed + pending + uncommitted
		return `{` + head + `,"budget":` + eur(budget) + `,"invoiced":` + eur(invoiced) + `,"paid":` + eur(paid) +
			`,"invoicedByStatus":{"setup":` + eur(byStatus[0]) + `,"approvalPending":` + eur(byStatus[1]) +
			`,"paymentPending":` + eur(byStatus[2]) + `,"paid":` + eur(byStatus[3]) +
			`},"invoicedGross":` + eur(invoiced) + `,"paidGross":` + eur(paid) + `,"committed":` + eur(committed) +
			`,"openCommitment":` + eur(open) + `,"overInvoiced":` + eur(over) +
			`,"pendingChanges":` + eur(pending) + `,"uncommitted":` + eur(uncommitted) +
			fmt.Sprintf(`,"uncommittedDefaulted":%t`, defaulted) +
			`,"eac":` + eur(eac) + `,"variance":` + eur(budget-eac) + `,"costToComplete":` + eur(eac-invoiced) +
			`,"accountingCodes":[` + codes + `]}`
	}
	code := func(system, code string, inherited bool) string {
		return fmt.Sprintf(`{"system":"%s","code":"%s","name":null,"taxKey":null,"inherited":%t}`, system, code, inherited)
	}
	want := `{"projectId":"P1","currency":"EUR","structureId":"S1","nodes":[` +
		node(`"nodeId":"t","level":"budget","code":"1","name":"Construction","description":"All works","parentId":null,"projectSpecific":false`,
			1700, 170, 50, [4]int{100, 0, 20, 50}, 500, 380, 0, 280, 1200, false, code("yardi", "1-TOP", false)+","+code("datev",
				"0700-00", false)) + `,` +
		node(`"nodeId":"s","level":"subBudget","code":"01-0001","name":"Shell","parentId":"t","projectSpecific":false`,
			700, 150, 50, [4]int{100, 0, 0, 50}, 500, 380, 0, 30, 200, true, code("yardi", "1-SHELL", false)+","+code("datev",
				"0700-00", true)) + `,` +
		node(`"nodeId":"k","level":"subBudget","code":"01-0002","name":"Roof","parentId":"t","projectSpecific":false`,
			0, 20, 0, [4]int{0, 0, 20, 0}, 0, 0, 0, 250, 40, false, code("yardi", "1-TOP", true)+","+code("datev", "0700-00",
				true)+","+code("sap", "47:11", false)) +
		`],"unallocated":` + eur(7) + `,"unallocatedBudget":` + eur(5) +
		`,"excluded":[{"currency":"USD","value":8,"count":1}],"excludedCommitted":[{"currency":"CHF","value":9,"count":1}]}`
	if string(got.body) != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
}

func TestABudgetAsOfAMonthIsAsItWasApproved(t *testing.T) {
	// Given a snapshot, and a structure that has changed since
	w := budgeted(t)
	w.node("s", events.BudgetNode{StructureID: some("S1"), ParentID: some("t"), Level: "costItem", Code: "new",
		Name: "New"})
	// When
	got := w.get(adminKey, "/v0/projects/P1/budget?asOf=2026-03").want(t, http.StatusOK, "")
	// Then
	node := func(head string, budget, committed, uncommitted int) string {
		eac := committed + 3 + uncommitted
		return `{` + head + `,"budget":` + eur(budget) + `,"invoiced":` + eur(2) + `,"paid":` + eur(1) +
			`,"invoicedByStatus":null,"invoicedGross":null,"paidGross":null,"committed":` + eur(committed) +
			`,"openCommitment":null,"overInvoiced":null,"pendingChanges":` + eur(3) + `,"uncommitted":` + eur(uncommitted) +
			`,"uncommittedDefaulted":true,"eac":` + eur(eac) +
			`,"variance":` + eur(budget-eac) + `,"costToComplete":` + eur(eac-2) + `}`
	}
	want := `{"projectId":"P1","currency":"EUR","structureId":"S1","nodes":[` +
		node(`"nodeId":"t","level":"budget","code":"1","name":"Was t","parentId":null`, 100, 70, 30) + `,` +
		node(`"nodeId":"s","level":"subBudget","code":"2","name":"Was s","parentId":"t"`, 80, 70, 10) +
		`],"unallocated":null,"unallocatedBudget":null}`
	if string(got.body) != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
	if top := w.get(adminKey, "/v0/projects/P1/budget?asOf=2026-04&level=budget"); len(top.json["nodes"].([]any)) != 1 {
		t.Errorf("got %s", top.body)
	}
	for _, month := range []string{"2026-02", "2026-05", "1900-01", "2299-12"} {
		w.get(adminKey, "/v0/projects/P1/budget?asOf="+month).want(t, 404, "not-found")
	}
	for _, query := range []string{"asOf=2026-13", "asOf=2026-3", "asOf=2026-03-01", "level=top", "level=Budget",
		"month=2026-03"} {
		w.get(adminKey, "/v0/projects/P1/budget?"+query).want(t, 400, "invalid-query")
	}
}

func TestASnapshotShowsWhatChanged(t *testing.T) {
	w := budgeted(t)
	totals := func(committed, eac int) string {
		return fmt.Sprintf(`"totals":{"budget":100,"committed":%d,"pendingChanges":3,"uncommitted":30,"eac":%d,"variance":%d,"invoiced":2,"paid":1,"costToComplete":%d}`, committed, eac, 100-eac, eac-2)
	}
	april := `{"month":"2026-04","version":1,"status":"approved","official":true,"currency":"EUR","submittedAt":null,"decidedAt":null,` + totals(75, 108)
	if got := w.get(adminKey, "/v0/projects/P1/forecast/snapshots/2026-04"); string(got.body) !=
		april+`,"changesSincePrevious":[{"budgetNodeId":"s","eacBefore":83,"eacAfter":88,"eacDelta":5,"explained":true}]}` {
		t.Errorf("got %s", got.body)
	}
	march := `{"month":"2026-03","version":1,"status":"approved","official":true,"currency":"EUR","submittedAt":null,"decidedAt":null,` + totals(70, 103)
	if got := w.get(adminKey,
		"/v0/projects/P1/forecast/snapshots/2026-03"); string(got.body) != march+`,"changesSincePrevious":[]}` {
		t.Errorf("got %s", got.body)
	}
	submitted := `{"month":"2026-04","version":2,"status":"submitted","official":false,"currency":"EUR","submittedAt":null,"decidedAt":null,` +
		`"totals":{"budget":0,"committed":0,"pendingChanges":0,"uncommitted":0,"eac":0,"variance":0,"invoiced":0,"paid":0,"costToComplete":0}}`
	if got := w.get(adminKey, "/v0/projects/P1/forecast/snapshots"); string(got.body) !=
		`{"data":[`+submitted+`,`+april+`},`+march+`}],"page":{"nextCursor":null,"limit":50}}` {
		t.Errorf("got %s", got.body)
	}
	w.get(adminKey, "/v0/projects/P1/forecast/snapshots/2026-05").want(t, 404, "not-found")
	if r := w.get(adminKey, "/v0/projects/P1/forecast/snapshots/2026-13").want(t, 400,
		"invalid-query"); r.wrong()["month"] == "" {
		t.Errorf("got %s", r.body)
	}
	w.get(adminKey, "/v0/projects/P9/forecast/snapshots/2026-04").want(t, 404, "not-found")
	w.get(adminKey, "/v0/projects/P9/forecast/snapshots").want(t, 404, "not-found")
	w.get(adminKey, "/v0/projects/P9/budget").want(t, 404, "not-found")
}

// emptied lists the members that are null in one JSON value and not in another of the same shape.
func emptied(at string, before, after any) (all []string) {
	switch after := after.(type) {
	case nil:
		if before != nil {
			return []string{at}
		}
	case map[string]any:
		for name, value := range after {
			of, _ := before.(map[string]any)
			all = append(all, emptied(strings.TrimPrefix(at+"."+name, "."), of[name], value)...)
		}
	case []any:
		for i, value := range after {
			var was any
			if list, _ := before.([]any); i < len(list) {
				was = list[i]
			}
			all = append(all, emptied(fmt.Sprintf("%s[%d]", at, i), was, value)...)
		}
	}
	slices.Sort(all)
	return all
}

func TestFiguresBeyondTheRangeAreNullAndNothingElseIsLost(t *testing.T) {
	// Given a project with figures of every kind
	metrics := prometheus.NewRegistry()
	w := budgeted(t, func(o *api.Options) { o.Metrics = metrics })
	const most = 9007199254740991
	draft := func(allocations ...events.ContractAllocation) {
		w.contractOf("C3", events.Contract{ProjectID: "P1", Status: "setup", Allocations: allocations})
	}
	draft(events.ContractAllocation{NodeID: "i", Value: 1})
	nulls := map[string][]string{
		"/v0/projects/P1/budget?level=budget": {"excludedCommitted[0].value", "excluded[0].value", "nodes[0].budget",
			"nodes[0].eac", "nodes[0].invoiced", "nodes[0].invoicedByStatus", "nodes[0].invoicedGross",
			"nodes[0].uncommitted", "unallocated", "unallocatedBudget"},
		"/v0/contracts":    {"data[0].invoiced", "data[2].committed", "data[2].openCommitment"},
		"/v0/contracts/C1": {"invoiced"}, "/v0/contracts/C3": {"committed", "openCommitment"},
		"/v0/projects/P1/budget?asOf=2026-04":        {"nodes[0].costToComplete", "nodes[0].eac", "nodes[0].variance"},
		"/v0/projects/P1/forecast/snapshots":         {"data[1].totals"},
		"/v0/projects/P1/forecast/snapshots/2026-04": {"changesSincePrevious[0].eacAfter", "changesSincePrevious[0].eacDelta", "totals"},
	}
	before := make(map[string]response)
	for path := range nulls {
		before[path] = w.get(adminKey, path).want(t, http.StatusOK, "")
	}
	// When amounts as large as they may be come on top, one of each kind
	w.budgetRow("B8", "P1", "t", most)
	w.budgetRow("B9", "P1", "", most)
	w.booked("R7", invoice("P1", "i", "C1", "setup", most))
	w.booked("R8", invoice("P1", "", "", "approval", most))
	foreign := invoice("P1", "i", "", "approval", most)
	foreign.Currency = some("USD")
	w.booked("R9", foreign)
	w.contractOf("C4", events.Contract{ProjectID: "P1", Currency: "CHF",
		Allocations: []events.ContractAllocation{{NodeID: "k", Value: most}}})
	draft(events.ContractAllocation{NodeID: "i", Value: most}, events.ContractAllocation{NodeID: "k", Value: 1})
	w.snapshot("F2", events.ForecastSnapshot{ProjectID: "P1", Month: calendar.NewDate(2026, 4, 1).Month(), Version: 1,
		Status: "approved",
		Lines: []events.SnapshotLine{{NodeID: "t", Level: "budget", Code: "1", Name: "T", Committed: most, Uncommitted: most},
			{NodeID: "s", ParentID: some("t"), Level: "subBudget", Code: "2", Name: "S"}}})
	// Then what is beyond the range is null, and nothing else is.
	count := 0
	for path, want := range nulls {
		r := w.get(adminKey, path).want(t, http.StatusOK, "")
		if got := emptied("", before[path].json, r.json); !slices.Equal(got, want) {
			t.Errorf("%s: null are %v, want %v\n%s", path, got, want, r.body)
		}
		count += len(want)
	}
	// And each is counted.
	families, err := metrics.Gather()
	w.must(err)
	counted := 0.0
	for _, family := range families {
		if family.GetName() == "tallyhouse_api_figures_beyond_range_total" {
			for _, series := range family.GetMetric() {
				counted += series.GetCounter().GetValue()
			}
		}
	}
	if counted < float64(count) { // a null object can stand for several
		t.Errorf("%v figures are counted, want at least %d", counted, count)
	}
}

func TestATotalComesBackIntoTheRange(t *testing.T) {
	// Given two lines within the range, whose total is not
	w := structured(t)
	const most = 9007199254740991
	w.budgetRow("B1", "P1", "s", most)
	w.budgetRow("B2", "P1", "k", 1)
	top := func() any {
		r := w.get(adminKey, "/v0/projects/P1/budget?level=budget").want(t, 200, "")
		return r.json["nodes"].([]any)[0].(map[string]any)["budget"]
	}
	if got := top(); got != nil {
		t.Errorf("the total is shown as %v", got)
	}
	// And sums that even 64 bits do not hold
	sums := func(each int64) {
		var c analytics.Contribution
		for range 1030 {
			c = append(c, analytics.Summand{Roll: clickhouse.RollBudget, Keys: [clickhouse.MaxRollKeys]string{"k", "EUR"},
				Amounts: [clickhouse.MaxRollAmounts]int64{each}})
		}
		w.sums("budget_rows", "P1", c, 1)
	}
	sums(most)
	if got := top(); got != nil {
		t.Errorf("the total is shown as %v", got)
	}
	// When the totals come back into the range, they are shown.
	sums(-most)
	w.budgetRow("B2", "P1", "k", -1)
	if got := fmt.Sprint(top()); got != "map[currency:EUR value:9.00719925474099e+15]" {
		t.Errorf("the total is shown as %v", got)
	}
}

func TestADeepStructure(t *testing.T) {
	// Given 20,000 nodes on 12 levels, each with a budget of its own
	w := newWorld(t)
	w.user("U-admin", adminKey, "admin")
	w.project("P1", events.Project{BudgetStructureID: some("S1")})
	w.seen(adminKey, "P1")
	const nodes, levels = 20_000, 12
	parent := func(i int) int { // of a line: 12 deep, whatever the number
		if i%levels == 0 {
			return -1
		}
		return i - 1
	}
	var nodeRows []map[string]any
	budgets := map[string]int64{}
	for i := range nodes {
		var above *string
		if p := parent(i); p >= 0 {
			id := fmt.Sprint("n", p)
			above = &id
		}
		nodeRows = append(nodeRows, map[string]any{"tenant": tenant, "project": "", "id": fmt.Sprint("n", i), "row_version": uint64(1), "structure_id": pointer(some("S1")), "parent_id": above,
			"level": "costItem", "code": fmt.Sprintf("%06d", nodes-i), "name": "N", "active": true, "accounting_codes": "[]"})
		budgets[fmt.Sprint("n", i)] = int64(i)
	}
	w.insert("budget_nodes", nodeRows...)
	w.budgets(budgets)
	// When
	r := w.get(adminKey, "/v0/projects/P1/budget").want(t, 200, "")
	// Then every line is there once behind its parent, with the sum of those below it
	seen := make(map[string]bool)
	for _, item := range r.json["nodes"].([]any) {
		n := item.(map[string]any)
		id := n["nodeId"].(string)
		if above, ok := n["parentId"].(string); ok && !seen[above] {
			t.Fatalf("%s comes before its parent %s", id, above)
		}
		seen[id] = true
		var i, want int
		fmt.Sscanf(id, "n%d", &i)
		for j := i; j < nodes && j/levels == i/levels; j++ {
			want += j
		}
		if got := n["budget"].(map[string]any)["value"].(float64); int(got) != want {
			t.Fatalf("%s has %v, want %d", id, got, want)
		}
	}
	if len(seen) != nodes {
		t.Errorf("%d lines", len(seen))
	}
}
