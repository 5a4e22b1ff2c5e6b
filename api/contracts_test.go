package api_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

func TestAContractIsShownInFull(t *testing.T) {
	// Given a contract with a record that is booked outside its lines
	w := budgeted(t)
	want := `{"id":"C1","projectId":"P1","name":"Shell","status":"signed","startDate":"2026-01-07","endDate":null,"counterparty":{"id":"K1","name":"Bau GmbH"},` +
		`"committed":` + eur(500) + `,"invoiced":` + eur(120) + `,"paid":` + eur(0) + `,"openCommitment":` + eur(380) +
		`,"overInvoiced":` + eur(0) + `,"pendingChanges":` + eur(30) +
		`,"reclassRecordIds":["R2"],"locked":true,"allocations":[{"budgetNodeId":"i","amount":` + eur(450) + `}],` +
		`"amendments":[{"id":"A1","budgetNodeId":"i","amount":` + eur(50) +
		`,"status":"approved","date":"2026-02-01","title":"More"},` +
		`{"id":"A2","budgetNodeId":"i","amount":` + eur(30) + `,"status":"pending","date":null,"title":null}]}`
	empty := func(id, status, currency, allocated string) string {
		amount := func(n int) string { return fmt.Sprintf(`{"value":%d,"currency":"%s"}`, n, currency) }
		committed, open, over := "null", "null", "null"
		if allocated != "" {
			committed, open, over = amount(9), amount(9), amount(0)
			allocated = `{"budgetNodeId":"k","amount":` + amount(9) + `}`
		}
		return `{"id":"` + id + `","projectId":"P1","name":null,"status":"` + status +
			`","startDate":null,"endDate":null,"counterparty":null,"committed":` + committed +
			`,"invoiced":` + amount(0) + `,"paid":` + amount(0) + `,"openCommitment":` + open + `,"overInvoiced":` + over +
			`,"pendingChanges":` + amount(0) +
			`,"reclassRecordIds":[],"locked":false,"allocations":[` + allocated + `],"amendments":[]}`
	}
	// When it is asked for, alone and in the list
	one := w.get(adminKey, "/v0/contracts/C1").want(t, http.StatusOK, "")
	list := w.get(adminKey, "/v0/contracts?projectId=P1").want(t, http.StatusOK, "")
	// Then
	if string(one.body) != want {
		t.Errorf("got  %s\nwant %s", one.body, want)
	}
	all := `{"data":[` + want + `,` + empty("C2", "signed", "CHF", "k") + `,` + empty("C3", "setup", "EUR", "") +
		`],"page":{"nextCursor":null,"limit":50}}`
	if string(list.body) != all {
		t.Errorf("got  %s\nwant %s", list.body, all)
	}
	w.get(adminKey, "/v0/contracts/none").want(t, 404, "not-found")
	w.get(adminKey, "/v0/contracts?projectId=P9").want(t, 404, "not-found")
	for _, query := range []string{"status=signed", "projectId=", "count=true", "fields=id", "limit=0", "limit=201"} {
		w.get(adminKey, "/v0/contracts?"+query).want(t, 400, "invalid-query")
	}
}

func TestRecordsToRecode(t *testing.T) {
	// Given a contract on s, of which i and the inactive x are below
	w := structured(t)
	w.contractOf("C1", events.Contract{ProjectID: "P1",
		Allocations: []events.ContractAllocation{{NodeID: "s", Value: 1000}}})
	w.contractOf("C2", events.Contract{ProjectID: "P1",
		Allocations: []events.ContractAllocation{{NodeID: "k", Value: 1000}}})
	book := func(id, contract, node, step string, change func(*events.Record)) {
		r := invoice("P1", node, contract, step, 10)
		change(&r)
		w.booked(id, r)
	}
	asIs := func(*events.Record) {}
	book("b-inside", "C1", "s", "setup", asIs)
	book("b-below", "C1", "i", "setup", asIs)
	book("b-inactive", "C1", "x", "setup", asIs)
	book("b-uncoded", "C1", "", "setup", asIs)
	book("b-rejected", "C1", "k", "rejected", asIs)
	book("b-accrual", "C1", "k", "setup", func(r *events.Record) { r.Source = "accrual" })
	book("b-currency", "C1", "k", "setup", func(r *events.Record) { r.Currency = some("CHF") })
	book("b-other", "C2", "k", "setup", asIs)
	book("z-outside", "C1", "k", "paid", asIs)
	book("a-above", "C1", "t", "setup", asIs)
	book("m-unknown", "C1", "nowhere", "approval", asIs)
	book("c-nothing", "C1", "k", "setup",
		func(r *events.Record) { r.Net, r.Allocations[0].Net = some(int64(0)), some(int64(0)) })
	book("n-split", "C1", "s", "setup", func(r *events.Record) {
		r.Net, r.Allocations = some(int64(0)), append(r.Allocations,
			events.RecordAllocation{NodeID: some("k"), Net: some(int64(-10))})
	})
	book("b-gone", "C1", "k", "setup", asIs)
	w.gone("records", "b-gone")
	book("b-relinked", "C1", "k", "setup", asIs)
	book("b-relinked", "C2", "k", "setup", asIs)
	book("b-recoded", "C1", "k", "setup", asIs)
	book("b-recoded", "C1", "s", "setup", asIs)
	book("b-unread", "C1", "k", "setup",
		func(r *events.Record) { r.Net, r.Allocations[0].Net = events.Opt[int64]{}, events.Opt[int64]{} })
	// Then those that are coded elsewhere are told, in order
	want := []any{"a-above", "c-nothing", "m-unknown", "n-split", "z-outside"}
	if got := w.get(adminKey, "/v0/contracts/C1").json["reclassRecordIds"]; !same(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, item := range w.get(adminKey, "/v0/contracts").json["data"].([]any) {
		c := item.(map[string]any)
		if c["id"] == "C1" && !same(c["reclassRecordIds"], want) || c["id"] == "C2" && !same(c["reclassRecordIds"], []any{}) {
			t.Errorf("%s: %v", c["id"], c["reclassRecordIds"])
		}
	}
}

func TestAContractMovesWithItsFigures(t *testing.T) {
	// Given a contract with a record in P1
	w := budgeted(t)
	w.project("P2", events.Project{BudgetStructureID: some("S1")})
	w.seen(adminKey, "P1", "P2")
	committed := func(project string) float64 {
		nodes := w.get(adminKey, "/v0/projects/"+project+"/budget?level=budget").want(t, 200, "").json["nodes"].([]any)
		return nodes[0].(map[string]any)["committed"].(map[string]any)["value"].(float64)
	}
	if got := committed("P1"); got != 500 {
		t.Fatalf("committed %v", got)
	}
	// When it moves to P2, and its record stays
	w.contractOf("C1", events.Contract{ProjectID: "P2",
		Allocations: []events.ContractAllocation{{NodeID: "i", Value: 300}}})
	// Then it counts there, without what is linked to it elsewhere
	if p1, p2 := committed("P1"), committed("P2"); p1 != 0 || p2 != 300 {
		t.Errorf("committed %v and %v", p1, p2)
	}
	c := w.get(adminKey, "/v0/contracts/C1").want(t, 200, "").json
	if c["projectId"] != "P2" || c["locked"] != false || c["invoiced"].(map[string]any)["value"] != 0.0 ||
		!same(c["reclassRecordIds"], []any{}) {
		t.Errorf("got %v", c)
	}
	if ids := w.get(adminKey, "/v0/contracts?projectId=P1").items("id"); !slices.Equal(ids, []string{"C2", "C3"}) {
		t.Errorf("left behind: %v", ids)
	}
	if ids := w.get(adminKey, "/v0/contracts").items("id"); !slices.Equal(ids, []string{"C1", "C2", "C3"}) {
		t.Errorf("all: %v", ids)
	}
	// And when the record follows, it counts again.
	w.booked("R1", invoice("P2", "i", "C1", "paid", 100))
	c = w.get(adminKey, "/v0/contracts/C1").json
	if c["locked"] != true || c["paid"].(map[string]any)["value"] != 100.0 {
		t.Errorf("got %v", c)
	}
	// And when it goes, so do its figures; when its project is not known, it does not exist.
	w.gone("contracts", "C1")
	w.get(adminKey, "/v0/contracts/C1").want(t, 404, "not-found")
	if p2 := committed("P2"); p2 != 0 {
		t.Errorf("committed %v", p2)
	}
	w.contractOf("C9", events.Contract{ProjectID: "P9",
		Allocations: []events.ContractAllocation{{NodeID: "i", Value: 300}}})
	w.get(adminKey, "/v0/contracts/C9").want(t, 404, "not-found")
	if ids := w.get(adminKey, "/v0/contracts").items("id"); slices.Contains(ids, "C9") {
		t.Errorf("all: %v", ids)
	}
}

func TestAWithdrawnAmendmentLeavesNothing(t *testing.T) {
	w := structured(t)
	contract := func(amendments ...events.Amendment) events.Contract {
		return events.Contract{ProjectID: "P1", Allocations: []events.ContractAllocation{{NodeID: "i", Value: 100}},
			Amendments: amendments}
	}
	w.contractOf("C1", contract(
		events.Amendment{ID: "A1", NodeID: some("k"), Value: 7, Status: "approved"}, events.Amendment{ID: "A2",
			NodeID: some("k"), Value: 9, Status: "pending"}))
	w.contractOf("C1", contract())
	nodes := w.get(adminKey, "/v0/projects/P1/budget").want(t, 200, "").json["nodes"].([]any)
	for _, item := range nodes {
		n := item.(map[string]any)
		want := map[string]float64{"t": 100, "s": 100, "i": 100}[n["nodeId"].(string)]
		if n["committed"].(map[string]any)["value"] != want || n["pendingChanges"].(map[string]any)["value"] != 0.0 {
			t.Errorf("%s: %v, %v", n["nodeId"], n["committed"], n["pendingChanges"])
		}
	}
	if c := w.get(adminKey, "/v0/contracts/C1").json; c["locked"] != false || !same(c["amendments"], []any{}) {
		t.Errorf("got %v", c)
	}
}

func TestContractorsAreThoseThatProjectsReferTo(t *testing.T) {
	// Given contractors that a record, a contract, both, something of a hidden project, or nothing refers to
	w := structured(t)
	w.project("P2", events.Project{})
	w.seen(adminKey, "P1", "P2")
	w.key("U-admin", strangerKey, func(k *events.Key) { k.ProjectIDs = some([]string{"P1"}) })
	w.seen(strangerKey, "P1")
	for _, id := range []string{"a-record", "b-contract", "c-both", "d-hidden", "e-nobody", "f-moved", "g-gone"} {
		w.company(id, events.Contractor{Name: some("Company " + id), City: some("Graz"), Country: some("AT"),
			TaxID: some("T" + id), RegistrationNumber: some("FN " + id)})
	}
	refer := func(record, project, contractor string) {
		r := invoice(project, "", "", "rejected", 1)
		r.ContractorID = some(contractor)
		w.booked(record, r)
	}
	refer("R1", "P1", "a-record")
	refer("R2", "P1", "c-both")
	refer("R3", "P2", "d-hidden")
	refer("R4", "P1", "f-moved")
	refer("R4", "P2", "f-moved")
	refer("R5", "P1", "g-gone")
	w.gone("records", "R5")
	refer("R6", "P1", "h-unknown")
	w.contractOf("C1", events.Contract{ProjectID: "P1", ContractorID: some("b-contract"), Status: "cancelled"})
	w.contractOf("C2", events.Contract{ProjectID: "P1", ContractorID: some("c-both")})
	// Then
	if got, want := w.get(adminKey, "/v0/contractors").items("id"), []string{"a-record", "b-contract", "c-both",
		"d-hidden", "f-moved"}; !slices.Equal(got, want) {
		t.Errorf("of both projects %v, want %v", got, want)
	}
	r := w.get(strangerKey, "/v0/contractors").want(t, 200, "")
	if got, want := r.items("id"), []string{"a-record", "b-contract", "c-both"}; !slices.Equal(got, want) {
		t.Errorf("of P1 %v, want %v", got, want)
	}
	if first := `{"data":[{"id":"a-record","name":"Company a-record","city":"Graz","country":"AT","taxId":"Ta-record","registrationNumber":"FN a-record"},`; !strings.HasPrefix(string(r.body), first) {
		t.Errorf("got %s", r.body)
	}
}

// TestWalksMeetEverythingOnce walks the other lists, with ids that do not fit into a cursor among them.
func TestWalksMeetEverythingOnce(t *testing.T) {
	w := structured(t)
	w.project("P2", events.Project{})
	w.seen(adminKey, "P1", "P2")
	long := strings.Repeat("😀", 199)
	var ids []string
	for i := range 11 {
		ids = append(ids, fmt.Sprint("c", i), long+string(rune('a'+i)))
	}
	slices.Sort(ids)
	month := calendar.NewDate(2026, 1, 1).Month()
	var newest []analytics.Snapshot
	for i, id := range ids {
		project := []string{"P1", "P2"}[i%2]
		w.company(id, events.Contractor{Name: some(fmt.Sprint(i))})
		w.contractOf(id, events.Contract{ProjectID: project, ContractorID: some(id), Name: some(fmt.Sprint(i))})
		s := events.ForecastSnapshot{ProjectID: "P1", Month: month + calendar.Month(i/7), Version: int64(1 + i%7/3),
			Status: "submitted"}
		w.snapshot(id, s)
		newest = append(newest, analytics.Snapshot{ID: id, ForecastSnapshot: s})
	}
	draw := rand.New(rand.NewPCG(1, 2))
	limit := func() int { return 1 + draw.IntN(4) }
	for _, path := range []string{"/v0/contracts?", "/v0/contractors?"} {
		got := w.walk(adminKey, path, limit, func() {
			// What comes in meanwhile, before the place of the walk, changes nothing.
			w.contractOf("0-new", events.Contract{ProjectID: "P1"})
		})
		if !slices.Equal(got, ids) {
			t.Errorf("%s: got %d items %.200q, want %d", path, len(got), got, len(ids))
		}
	}
	if got := w.walk(adminKey, "/v0/contracts?projectId=P2&", limit, func() {}); len(got) != 11 {
		t.Errorf("P2: %d", len(got))
	}
	// Snapshots show no id: their months and versions come in order, as many as there are of each.
	slices.SortFunc(newest, func(a, b analytics.Snapshot) int { return analytics.NewestFirst(&a, &b) })
	var got, want []string
	for _, s := range newest {
		want = append(want, fmt.Sprintf("%s/%d", s.Month, s.Version))
	}
	cursor := ""
	for range 100 {
		page := w.get(adminKey, fmt.Sprintf("/v0/projects/P1/forecast/snapshots?limit=%d%s", limit(), cursor)).want(t, 200,
			"")
		for _, item := range page.json["data"].([]any) {
			s := item.(map[string]any)
			got = append(got, fmt.Sprintf("%s/%v", s["month"], s["version"]))
		}
		if page.cursor() == "" {
			break
		}
		cursor = "&cursor=" + page.cursor()
		w.get(adminKey, "/v0/contracts?"+cursor[1:]).want(t, 400, "invalid-cursor")
		w.get(adminKey, "/v0/projects/P2/forecast/snapshots?"+cursor[1:]).want(t, 400, "invalid-cursor")
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
