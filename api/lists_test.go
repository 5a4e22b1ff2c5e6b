package api_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/api"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// walk follows a list to its end and returns the ids in their order.
func (w *world) walk(key, path string, limit func() int, between func()) []string {
	w.Helper()
	var ids []string
	cursor := ""
	for range 1000 {
		query := fmt.Sprintf("limit=%d", limit())
		if cursor != "" {
			query += "&cursor=" + cursor
		}
		page := w.get(key, path+query).want(w, http.StatusOK, "")
		ids = append(ids, page.items("id")...)
		if cursor = page.cursor(); cursor == "" {
			return ids
		}
		between()
	}
	w.Fatal("the list has no end")
	return nil
}

const walks = 5

func TestAWalkMeetsWhatStaysExactlyOnce(t *testing.T) {
	w := structured(t)
	w.project("P2", events.Project{})
	w.project("P3", events.Project{})
	w.seen(adminKey, "P1", "P2", "P3")
	projects := []string{"P1", "P2", "P3"}
	// Given records that stay, with ids in which prefixes, cases and alphabets meet
	var stay []string
	for i := range 60 {
		id := fmt.Sprintf("%c%s%d", "aAzZ0äÿ"[i%4], strings.Repeat("x", i%3), i)
		stay = append(stay, id)
		w.records(record{id: id, project: projects[i%3], status: "paid"})
	}
	slices.Sort(stay)
	version := int64(1)
	for range walks {
		seed := rand.Uint64()
		t.Logf("walk with the seed %d", seed)
		draw := rand.New(rand.NewPCG(seed, 0))
		// When others come, go, change and move between the pages of a walk
		between := func() {
			var rows []record
			for range draw.IntN(4) {
				version++
				id := fmt.Sprintf("%c%d-%d", rune('0'+draw.IntN('z'-'0')), draw.IntN(10), version/7)
				r := record{id: id, project: projects[draw.IntN(3)], version: version, status: "paid"}
				switch draw.IntN(3) {
				case 0:
					r.deleted = true
				case 1: // it no longer matches
					r.status = "setup"
				}
				rows = append(rows, r)
			}
			// What stays may move between the projects all the same.
			version++
			moving, to := stay[draw.IntN(len(stay))], projects[draw.IntN(3)]
			for _, project := range projects {
				rows = append(rows, record{id: moving, project: project, version: version, status: "paid", deleted: project != to})
			}
			w.records(rows...)
		}
		ids := w.walk(adminKey, "/v0/records?status=paid&fields=id&", func() int { return 1 + draw.IntN(40) }, between)
		// Then each of them is met once, in the order of their bytes
		if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
			t.Fatalf("not in order, or twice: %q", ids)
		}
		for _, id := range stay {
			if _, found := slices.BinarySearch(ids, id); !found {
				t.Fatalf("%q is missing in %q", id, ids)
			}
		}
	}
}

func TestACursorBelongsToItsQueryAndItsCaller(t *testing.T) {
	// Given a cursor
	w := adminWorld(t)
	w.user("U2", guestKey, "admin")
	w.known(guestKey)
	w.key("U-admin", strangerKey, func(*events.Key) {})
	w.known(strangerKey)
	for i := range 5 {
		w.records(record{id: fmt.Sprint("R", i), project: "P1", status: "paid"})
	}
	path := "/v0/records?status=paid,setup&source=invoice&limit=2"
	first := w.get(adminKey, path).want(t, 200, "")
	cursor := first.cursor()

	for name, c := range map[string]struct {
		key, path string
		status    int
	}{
		"the same query":               {adminKey, path, 200},
		"the filters in another order": {adminKey, "/v0/records?source=invoice&status=setup,paid,paid&limit=2", 200},
		"another limit, fields, count": {adminKey,
			"/v0/records?source=invoice&status=setup,paid&limit=200&fields=net&count=true", 200},
		"another filter":                {adminKey, "/v0/records?source=invoice&status=paid", 400},
		"one filter less":               {adminKey, "/v0/records?status=paid,setup", 400},
		"one filter more":               {adminKey, path + "&projectId=P1", 400},
		"another user":                  {guestKey, path, 400},
		"another key of the same owner": {strangerKey, path, 400},
	} {
		t.Run(name, func(t *testing.T) {
			suffix := map[int]string{400: "invalid-cursor"}[c.status]
			r := w.get(c.key, c.path+"&cursor="+cursor).want(t, c.status, suffix)
			if ids := r.items("id"); c.status == 200 && (len(ids) == 0 || ids[0] != "R2") {
				t.Errorf("goes on with %v", ids)
			}
		})
	}
	for _, bad := range []string{"x", cursor + "A", cursor[1:], strings.ToUpper(cursor), url.QueryEscape("=" + cursor),
		strings.Repeat("A", 600)} {
		w.get(adminKey, path+"&cursor="+bad).want(t, 400, "invalid-cursor")
	}
	// And the same page has the same cursor and tag, on every instance, and after a restart.
	_, w.url = w.start()
	again := w.get(adminKey, path)
	if again.cursor() != cursor || again.header.Get("ETag") != first.header.Get("ETag") {
		t.Errorf("cursor %s, then %s", cursor, again.cursor())
	}
	w.get(adminKey, path+"&cursor="+cursor).want(t, 200, "")
}

func TestLongIDsFitIntoACursor(t *testing.T) {
	// Given ids of 200 characters that differ at their end alone
	w := adminWorld(t)
	var want []string
	for i := range 7 {
		id := strings.Repeat("😀", 199) + string(rune('a'+i))
		want = append(want, id)
		w.records(record{id: id, project: "P1"})
	}
	// When the list is walked, and what a cursor stands on goes away
	limits, next := []int{1, 2, 1, 3, 1}, 0
	got := w.walk(adminKey, "/v0/records?", func() int { next++; return limits[(next-1)%len(limits)] }, func() {
		if next == 2 {
			w.records(record{id: want[2], project: "P1", version: 2, deleted: true})
		}
	})
	// Then every one is met
	if !slices.Equal(got, want) {
		t.Errorf("got %d ids, want %d", len(got), len(want))
	}
}

func TestCallsAcrossProjectsHaveABound(t *testing.T) {
	w := newWorld(t)
	w.user("U", adminKey, "guest")
	for i := range 30 {
		id := fmt.Sprintf("P%02d", i)
		w.project(id, events.Project{})
		w.records(record{id: "R" + id, project: id})
	}
	w.eventually(knownWithin, "30 projects are known",
		func() bool { return len(w.get(adminKey, "/v0/projects").items("id")) == 30 })
	if got := w.walk(adminKey, "/v0/records?",
		func() int { return 7 }, func() {}); len(got) != 30 || !slices.IsSorted(got) {
		t.Errorf("got %v", got)
	}
	w.project("P30", events.Project{})
	w.eventually(knownWithin, "31 projects are known",
		func() bool { return len(w.get(adminKey, "/v0/projects").items("id")) == 31 })
	w.get(adminKey, "/v0/records").want(t, 400, "too-many-projects")
	w.get(adminKey, "/v0/records?projectId=P30").want(t, 200, "")
}

func TestWhoSeesNothingGetsEmptyLists(t *testing.T) {
	w := adminWorld(t)
	w.user("U2", guestKey, "")
	w.known(guestKey)
	w.records(record{id: "R1", project: "P1"})
	if r := w.get(guestKey, "/v0/projects").want(t, 200, ""); string(r.body) != `{"data":[]}` {
		t.Errorf("projects %s", r.body)
	}
	if r := w.get(guestKey, "/v0/records?count=true&cashDateFrom=2026-01-01").want(t, 200,
		""); string(r.body) != `{"data":[],"page":{"nextCursor":null,"limit":50,"total":0}}` {
		t.Errorf("records %s", r.body)
	}
	w.get(guestKey, "/v0/records/R1").want(t, 404, "not-found")
}

func TestFieldsNarrowARecord(t *testing.T) {
	w := adminWorld(t)
	w.user("U2", guestKey, "guest")
	w.known(guestKey)
	w.records(record{id: "R1", project: "P1", currency: "EUR", net: some(int64(1))})
	for query, want := range map[string]string{
		"fields=net":               `{"id":"R1","net":{"value":1,"currency":"EUR"}}`,
		"fields=id":                `{"id":"R1"}`,
		"fields=status,net,id":     `{"id":"R1","status":"setup","net":{"value":1,"currency":"EUR"}}`,
		"fields=budgetNode":        `{"id":"R1","budgetNode":{"nodeId":null,"code":null,"name":null,"budgetName":null}}`,
		"fields=accountingCodes":   `{"id":"R1","accountingCodes":[]}`,
		"fields=counterparty":      `{"id":"R1","counterparty":{"contractorId":null,"name":null}}`,
		"fields=gross,dueDate,tax": `{"id":"R1","dueDate":null,"tax":null,"gross":{"value":1,"currency":"EUR"}}`,
	} {
		if r := w.get(adminKey,
			"/v0/records?"+query); string(r.body) != `{"data":[`+want+`],"page":{"nextCursor":null,"limit":50}}` {
			t.Errorf("%s: %s", query, r.body)
		}
	}
	if r := w.get(guestKey, "/v0/records?fields=net,status"); r.items("status")[0] != "setup" ||
		strings.Contains(string(r.body), "net") {
		t.Errorf("a guest: %s", r.body)
	}
	if r := w.get(adminKey, "/v0/records?fields=Net,nte").want(t, 400, "invalid-query"); !strings.Contains(string(r.body),
		`"suggestion":"net"`) {
		t.Errorf("got %s", r.body)
	}
}

func TestRulesBetweenParameters(t *testing.T) {
	w := adminWorld(t)
	for query, name := range map[string]string{
		"recognitionDateFrom=2026-02-02&recognitionDateTo=2026-02-01": "recognitionDateFrom",
		"cashDateFrom=2026-02-02&cashDateTo=2026-02-01":               "cashDateFrom",
		"includeDescendants=true":                                     "includeDescendants",
		"includeDescendants=false":                                    "includeDescendants",
	} {
		if r := w.get(adminKey, "/v0/records?"+query).want(t, 400, "invalid-query"); r.wrong()[name] == "" {
			t.Errorf("%s: %s", query, r.body)
		}
	}
	w.get(adminKey, "/v0/records?cashDateFrom=2026-02-01&cashDateTo=2026-02-01").want(t, 200, "")
	w.get(adminKey, "/v0/records/R1?fields=id").want(t, 400, "invalid-query")
	w.get(adminKey, "/v0/projects?limit=1").want(t, 400, "invalid-query")
}

// TestFiltersAreTheIntersectionOfTheirConditions draws filters and compares with records kept in memory.
func TestFiltersAreTheIntersectionOfTheirConditions(t *testing.T) {
	w := structured(t)
	w.project("P2", events.Project{BudgetStructureID: some("S2")})
	w.seen(adminKey, "P1", "P2")
	statuses := []string{"setup", "approvalPending", "paymentPending", "paid", "rejected"}
	below := map[string][]string{"t": {"s", "i", "x", "k"}, "s": {"i", "x"}} // in P1
	codes := map[string][]string{                                            // of the lines of P1 and P2
		"P1t": {"datev:0700-00", "yardi:1-TOP"}, "P1s": {"yardi:1-SHELL", "datev:0700-00"},
		"P1i": {"yardi:1-SHELL", "datev:0700-00"}, "P1x": {"yardi:1-SHELL", "datev:0700-00"},
		"P1k": {"sap:47:11", "datev:0700-00", "yardi:1-TOP"},
	}
	day := func(n int) calendar.Date { return calendar.NewDate(2026, 1, 1) + calendar.Date(n) }
	var all []record
	for i := range 150 {
		r := record{
			id: "R" + strconv.Itoa(i), project: []string{"P1", "P2"}[i%7%2], status: statuses[i%5],
			source:  []string{"invoice", "invoice", "accrual"}[i%3],
			channel: []string{"email", "app", "chat", "api", "manual"}[i/2%5], contractor: []string{"", "K1", "K2"}[i/3%3],
			invoiceNumber: []string{"", "1", "01"}[i/4%3],
		}
		if i%6 != 0 {
			r.recognition = some(day(i % 10))
		}
		if r.status == "paid" {
			r.cash = some(day(i / 5 % 10))
		}
		for _, n := range [][]string{{}, {"i"}, {"s", "k"}, {"x"}, {"y"}, {"t"}, {"nowhere", "k"}, {""}}[i%8] {
			r.nodes, r.nets = append(r.nodes, n), append(r.nets, 0)
		}
		if i%11 == 0 {
			r.certified, r.keys = true, [][]string{{}, {"datev:0700-00"}, {"bmd:1"}}[i/11%3]
		}
		all = append(all, r)
	}
	w.records(all...)

	rapid.Check(t, func(t *rapid.T) {
		query := url.Values{}
		var conditions []func(r record) bool
		add := func(name string, values []string, matches func(r record, value string) bool) {
			if !rapid.Bool().Draw(t, name+"?") {
				return
			}
			value := rapid.SampledFrom(values).Draw(t, name)
			query.Set(name, value)
			conditions = append(conditions, func(r record) bool { return matches(r, value) })
		}
		days := []string{day(0).String(), day(4).String(), day(9).String(), day(40).String()}
		date := func(r events.Opt[calendar.Date], holds func(a, b string) bool) func(string) bool {
			return func(v string) bool { return r.Ok && holds(r.V.String(), v) }
		}
		from, to := func(a, b string) bool { return a >= b }, func(a, b string) bool { return a <= b }
		add("projectId", []string{"P1", "P2"}, func(r record, v string) bool { return r.project == v })
		add("status", []string{"paid", "setup,paid", "rejected,approvalPending,paymentPending"},
			func(r record, v string) bool { return slices.Contains(strings.Split(v, ","), r.status) })
		add("invoiceNumber", []string{"1", "01", "none"}, func(r record, v string) bool { return r.invoiceNumber == v })
		add("contractorId", []string{"K1", "K2", "K9"}, func(r record, v string) bool { return r.contractor == v })
		add("channel", []string{"email", "manual"}, func(r record, v string) bool { return r.channel == v })
		add("source", []string{"invoice", "accrual"}, func(r record, v string) bool { return r.source == v })
		add("recognitionDateFrom", days[:2], func(r record, v string) bool { return date(r.recognition, from)(v) })
		add("recognitionDateTo", days[1:], func(r record, v string) bool { return date(r.recognition, to)(v) })
		add("cashDateFrom", days[:2], func(r record, v string) bool { return date(r.cash, from)(v) })
		add("cashDateTo", days[1:], func(r record, v string) bool { return date(r.cash, to)(v) })
		add("hasCashDate", []string{"true", "false"}, func(r record, v string) bool { return r.cash.Ok == (v == "true") })
		descendants := rapid.Bool().Draw(t, "descendants")
		add("budgetNodeId", []string{"t", "s", "i", "k", "y", "nowhere", "none"}, func(r record, v string) bool {
			return slices.ContainsFunc(r.nodes, func(n string) bool {
				return n == v || descendants && r.project == "P1" && slices.Contains(below[v], n)
			})
		})
		if descendants && query.Has("budgetNodeId") {
			query.Set("includeDescendants", "true")
		}
		add("accountingCode", []string{"datev:0700-00", "yardi:1-SHELL", "sap:47:11", "bmd:1", "none:1"},
			func(r record, v string) bool {
				if r.certified {
					return slices.Contains(r.keys, v)
				}
				return slices.ContainsFunc(r.nodes, func(n string) bool { return slices.Contains(codes[r.project+n], v) })
			})

		var want []string
		for _, r := range all {
			if !slices.ContainsFunc(conditions, func(holds func(record) bool) bool { return !holds(r) }) {
				want = append(want, r.id)
			}
		}
		slices.Sort(want)
		query.Set("limit", "200")
		query.Set("count", "true")
		query.Set("fields", "id")
		r := w.get(adminKey, "/v0/records?"+query.Encode())
		if got := r.items("id"); r.status != 200 || !slices.Equal(got, want) {
			t.Fatalf("%s\ngot  %d %v\nwant %v", query.Encode(), r.status, got, want)
		}
		if total := r.json["page"].(map[string]any)["total"]; total != float64(len(want)) {
			t.Fatalf("%s: total %v, want %d", query.Encode(), total, len(want))
		}
	})
}

func TestWhenTheDatabaseIsAway(t *testing.T) {
	// Given
	connection := &switched{}
	w := adminWorld(t, func(o *api.Options) { connection.Conn, o.ClickHouse = o.ClickHouse, connection })
	w.get(adminKey, "/v0/records").want(t, 200, "")
	// When the database is away
	connection.broken.Store(&failing{func() {}})
	// Then what needs it is a 500, and who may see what is still known
	w.get(adminKey, "/v0/records").want(t, 500, "internal-error")
	w.get(adminKey, "/v0/projects/P1/budget").want(t, 500, "internal-error")
	w.get(adminKey, "/v0/projects").want(t, 200, "")
	w.get(adminKey, "/v0/records?limit=0").want(t, 400, "invalid-query")
	w.get("", "/healthz").want(t, 200, "")
	w.eventually(knownWithin, "it is not ready", func() bool { return w.get("", "/readyz").status == 503 })
	// And when it is back, all is as before.
	connection.broken.Store(nil)
	w.get(adminKey, "/v0/records").want(t, 200, "")
	w.eventually(knownWithin, "it is ready", func() bool { return w.get("", "/readyz").status == 200 })
}

func TestAProjectThatTheDatabaseDoesNotHaveYetIsShown(t *testing.T) {
	// Given a project that Kafka has, and ClickHouse not yet
	w := newWorld(t)
	w.user("U-admin", adminKey, "admin")
	w.send(events.Projects, tenant, "P1", &events.Project{Name: "New", Currency: "EUR", WorkspaceID: some("W1"),
		BudgetStructureID: some("S1"), InboundEmail: some("p1@in.example")})
	w.seen(adminKey, "P1")
	// When it is asked for, then it is there in full, everywhere
	want := `{"id":"P1","name":"New","workspaceId":"W1","budgetStructureId":"S1","inboundEmail":"p1@in.example"}`
	if got := w.get(adminKey, "/v0/projects/P1").want(t, 200, ""); string(got.body) != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
	if got := w.get(adminKey, "/v0/projects").want(t, 200, ""); string(got.body) != `{"data":[`+want+`]}` {
		t.Errorf("got  %s\nwant %s in the list", got.body, want)
	}
	w.get(adminKey, "/v0/projects/P1/budget").want(t, 200, "")
	w.get(adminKey, "/v0/records?projectId=P1").want(t, 200, "")
	w.get(adminKey, "/v0/contracts?projectId=P1").want(t, 200, "")
	for _, of := range []string{"forecast/snapshots", "cashflow", "units", "rent-roll"} {
		w.get(adminKey, "/v0/projects/P1/"+of).want(t, 200, "")
	}
}

func TestRangesMayEndBeyondTheLedgersCalendar(t *testing.T) {
	// Given records at both ends of the calendar
	w := adminWorld(t)
	for id, day := range map[string]calendar.Date{"first": calendar.MinDate, "last": calendar.MaxDate} {
		w.records(record{id: id, project: "P1", recognition: some(day), cash: some(day), status: "paid"})
	}
	for query, want := range map[string]string{
		"DateFrom=0001-01-01": "first,last", "DateFrom=9999-12-31": "", "DateFrom=1899-12-31": "first,last",
		"DateFrom=2300-01-01": "", "DateTo=0001-01-01": "", "DateTo=1899-12-31": "", "DateTo=9999-12-31": "first,last",
		"DateFrom=2299-12-31": "last", "DateTo=1900-01-01": "first",
	} {
		for _, of := range []string{"recognition", "cash"} {
			// When
			r := w.get(adminKey, "/v0/records?count=true&"+of+query).want(t, 200, "")
			// Then
			if got := strings.Join(r.items("id"), ","); got != want || r.json["page"].(map[string]any)["total"] != float64(len(r.items("id"))) {
				t.Errorf("%s%s: %s", of, query, r.body)
			}
		}
	}
	// And a month that is far away has no snapshot.
	w.get(adminKey, "/v0/projects/P1/budget?asOf=9999-12").want(t, 404, "not-found")
	w.get(adminKey, "/v0/projects/P1/forecast/snapshots/0001-01").want(t, 404, "not-found")
	w.get(adminKey, "/v0/projects?&").want(t, 200, "")
}
