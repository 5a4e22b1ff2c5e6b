package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"tallyhouse/api"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// structured has a project P1 on structure S1: top line t with sub-lines s (its item i) and k, an inactive line x below
// s, and y of another structure.
func structured(t testing.TB, change ...func(*api.Options)) *world {
	t.Helper()
	w := newWorld(t, change...)
	w.user("U-admin", adminKey, "admin")
	w.project("P1", events.Project{BudgetStructureID: events.Some("S1")})
	s1 := events.Some("S1")
	code := func(system, code string) events.AccountingCode {
		return events.AccountingCode{System: system, Code: code}
	}
	w.node("t", events.BudgetNode{StructureID: s1, Level: "budget", Code: "1", Name: "Construction", Active: true,
		Description:     events.Some("All works"),
		AccountingCodes: []events.AccountingCode{code("datev", "0700-00"), code("yardi", "1-TOP")}})
	w.node("s", events.BudgetNode{StructureID: s1, ParentID: events.Some("t"), Level: "subBudget", Code: "01-0001",
		Name: "Shell", Active: true, AccountingCodes: []events.AccountingCode{code("yardi", "1-SHELL")}})
	w.node("i", events.BudgetNode{StructureID: s1, ParentID: events.Some("s"), Level: "costItem", Code: "01-0001-01",
		Name: "Concrete", Active: true})
	w.node("x", events.BudgetNode{StructureID: s1, ParentID: events.Some("s"), Level: "costItem", Code: "01-0001-02",
		Name: "Bricks"})
	w.node("k", events.BudgetNode{StructureID: s1, ParentID: events.Some("t"), Level: "subBudget", Code: "01-0002",
		Name: "Roof", Active: true, AccountingCodes: []events.AccountingCode{code("sap", "47:11")}})
	w.node("y", events.BudgetNode{StructureID: events.Some("S2"), Level: "budget", Code: "9", Name: "Foreign",
		Active: true})
	w.contractor("K1", events.Some("Bau GmbH"))
	w.contractor("K2", events.Opt[string]{})
	w.seen(adminKey, "P1")
	return w
}

func some[T any](v T) events.Opt[T] { return events.Some(v) }

func TestARecordIsShownInFull(t *testing.T) {
	// Given a split invoice that has been paid
	w := structured(t)
	w.records(record{
		id: "R1", project: "P1", direction: "in", status: "paid", workflowStep: "Paid", contractor: "K1",
		captured: "Baue GmbH", invoiceNumber: "RE-1",
		recognition: some(calendar.NewDate(2026, 3, 2)), due: some(calendar.NewDate(2026, 4, 1)),
		cash:     some(calendar.NewDate(2026, 4, 1)),
		currency: "EUR", net: some(int64(100001)), tax: some(int64(20000)), gross: some(int64(120002)),
		nodes: []string{"i", "k"}, nets: []int64{33333, 66668},
		documents: `[{"name":"RE \"1\".pdf","kind":"original"},{"name":"ok.pdf","kind":"approved"}]`, channel: "email",
		intake:     "completed",
		receivedAt: some(time.Date(2026, 3, 1, 10, 15, 0, 250000000, time.UTC)),
	})
	// When
	got := w.get(adminKey, "/v0/records/R1").want(t, http.StatusOK, "")
	// Then
	want := `{"id":"R1","projectId":"P1","systemKind":"cost","direction":"in","basis":"actual","source":"invoice","status":"paid","workflowStep":"Paid",` +
		`"counterparty":{"contractorId":"K1","name":"Bau GmbH"},"invoiceNumber":"RE-1","recognitionDate":"2026-03-02","dueDate":"2026-04-01","cashDate":"2026-04-01",` +
		`"net":{"value":100001,"currency":"EUR"},"tax":{"value":20000,"currency":"EUR"},"gross":{"value":120002,"currency":"EUR"},` +
		`"allocations":[{"budgetNode":{"nodeId":"i","code":"01-0001-01","name":"Concrete","budgetName":"Construction"},"net":{"value":33333,"currency":"EUR"}},` +
		`{"budgetNode":{"nodeId":"k","code":"01-0002","name":"Roof","budgetName":"Construction"},"net":{"value":66668,"currency":"EUR"}}],"budgetNode":null,` +
		`"accountingCodes":[{"system":"yardi","code":"1-SHELL","name":null,"taxKey":null,"inherited":true},{"system":"datev","code":"0700-00","name":null,"taxKey":null,"inherited":true},` +
		`{"system":"yardi","code":"1-TOP","name":null,"taxKey":null,"inherited":true},{"system":"sap","code":"47:11","name":null,"taxKey":null,"inherited":false}],` +
		`"documents":[{"name":"RE \"1\".pdf","kind":"original"},{"name":"ok.pdf","kind":"approved"}],` +
		`"intake":{"channel":"email","status":"completed","receivedAt":"2026-03-01T10:15:00.25Z"}}`
	if string(got.body) != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
	// And the list shows the same.
	if list := w.get(adminKey,
		"/v0/records"); string(list.body) != `{"data":[`+want+`],"page":{"nextCursor":null,"limit":50}}` {
		t.Errorf("list %s", list.body)
	}
	// And each member that is asked for alone is as in the whole.
	var whole map[string]json.RawMessage
	w.must(json.Unmarshal(got.body, &whole))
	for name, value := range whole {
		one := `{"id":"R1","` + name + `":` + string(value) + `}`
		if name == "id" {
			one = `{"id":"R1"}`
		}
		if list := w.get(adminKey,
			"/v0/records?fields="+name); string(list.body) != `{"data":[`+one+`],"page":{"nextCursor":null,"limit":50}}` {
			t.Errorf("%s alone: %s", name, list.body)
		}
	}
}

func TestFiguresOfARecord(t *testing.T) {
	w := structured(t)
	for name, c := range map[string]struct {
		record record
		member string
		want   string
	}{
		"gross is net and tax when it isn't delivered": {record{currency: "EUR", net: some(int64(5000)),
			tax: some(int64(1000))}, "gross", `{"value":6000,"currency":"EUR"}`},
		"gross is net without a tax": {record{currency: "EUR", net: some(int64(-5000))}, "gross",
			`{"value":-5000,"currency":"EUR"}`},
		"no amounts until the document is read": {record{}, "gross", `null`},
		"an amount at the end of the range": {record{currency: "EUR", net: some(int64(9007199254740991))},
			"net", `{"value":9007199254740991,"currency":"EUR"}`},
		"a record without coding has one allocation": {record{currency: "EUR", net: some(int64(7))}, "allocations",
			`[{"budgetNode":{"nodeId":null,"code":null,"name":null,"budgetName":null},"net":{"value":7,"currency":"EUR"}}]`},
		"a line of another structure is unknown": {record{nodes: []string{"y"}, nets: []int64{0}}, "budgetNode",
			`{"nodeId":null,"code":null,"name":null,"budgetName":null}`},
		"an allocation has no net before the record has": {record{nodes: []string{"i"}, nets: []int64{0}}, "allocations",
			`[{"budgetNode":{"nodeId":"i","code":"01-0001-01","name":"Concrete","budgetName":"Construction"},"net":null}]`},
		"an inactive line is shown as coded": {record{nodes: []string{"x"}, nets: []int64{0}}, "budgetNode",
			`{"nodeId":"x","code":"01-0001-02","name":"Bricks","budgetName":"Construction"}`},
		"no budgetNode when split": {record{nodes: []string{"x", "i"}, nets: []int64{0, 0}},
			"budgetNode", `null`},
		"certified codes count": {record{nodes: []string{"i"}, nets: []int64{0}, certified: true,
			codes: `[{"system":"bmd","code":"7","name":"N","taxKey":"V20","inherited":true},{"system":"x","code":"007"}]`},
			"accountingCodes", `[{"system":"bmd","code":"7","name":"N","taxKey":"V20","inherited":true},{"system":"x","code":"007","name":null,"taxKey":null,"inherited":false}]`},
		"certified without codes stays empty": {record{nodes: []string{"i"}, nets: []int64{0}, certified: true},
			"accountingCodes", `[]`},
		"no codes without a line": {record{}, "accountingCodes", `[]`},
		"the captured name when there is no contractor": {record{captured: "Max"}, "counterparty",
			`{"contractorId":null,"name":"Max"}`},
		"the captured name when the contractor has none": {record{contractor: "K2", captured: "Max"}, "counterparty",
			`{"contractorId":"K2","name":"Max"}`},
		"the captured name when the contractor is unknown": {record{contractor: "K3", captured: "Max"}, "counterparty",
			`{"contractorId":"K3","name":"Max"}`},
		"no name at all": {record{contractor: "K3"}, "counterparty",
			`{"contractorId":"K3","name":null}`},
		"an enumeration may grow": {record{source: "bankMatched"}, "source", `"bankMatched"`},
		"an old instant": {record{receivedAt: some(time.Date(1950, 1, 1, 0, 0, 0, 0,
			time.UTC))}, "intake", `{"channel":"manual","status":null,"receivedAt":"1950-01-01T00:00:00Z"}`},
		"the last day of the calendar": {record{recognition: some(calendar.MaxDate)}, "recognitionDate",
			`"2299-12-31"`},
		"the first day of the calendar": {record{due: some(calendar.MinDate)}, "dueDate", `"1900-01-01"`},
	} {
		t.Run(name, func(t *testing.T) {
			c.record.id, c.record.project = name, "P1"
			w.records(c.record)
			r := w.get(adminKey, "/v0/records/"+name)
			var members map[string]json.RawMessage
			w.must(json.Unmarshal(r.body, &members))
			if got := string(members[c.member]); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAnAmountBeyondTheRangeIsNullAndNothingElseIsLost(t *testing.T) {
	// Given a record whose net and tax fit, and whose gross does not, beside another one
	w := structured(t)
	w.records(record{id: "R1", project: "P1", currency: "EUR", net: some(int64(9007199254740991)), tax: some(int64(1))},
		record{id: "R2", project: "P1", currency: "EUR", net: some(int64(7))})
	// When they are asked for, then the gross is null
	one := w.get(adminKey, "/v0/records/R1").want(t, http.StatusOK, "")
	if net := one.json["net"].(map[string]any)["value"]; net != 9007199254740991.0 || one.json["gross"] != nil {
		t.Errorf("got %s", one.body)
	}
	if got, want := string(w.get(adminKey, "/v0/records?fields=gross").body),
		`{"data":[{"id":"R1","gross":null},{"id":"R2","gross":{"value":7,"currency":"EUR"}}],"page":{"nextCursor":null,"limit":50}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// And the log says which one.
	for _, part := range []string{"beyond the range of amounts", "first=gross", "value=9007199254740992",
		"request=" + one.header.Get("X-Request-Id")} {
		if !strings.Contains(w.log.String(), part) {
			t.Errorf("the log lacks %s: %s", part, w.log.tail())
		}
	}
}

func TestChangesShowAtOnce(t *testing.T) {
	// Given a record whose line and contractor have been shown
	w := structured(t)
	w.records(record{id: "R1", project: "P1", contractor: "K1", nodes: []string{"i"}, nets: []int64{0}})
	w.get(adminKey, "/v0/records/R1").want(t, http.StatusOK, "")
	// When they change
	w.node("i", events.BudgetNode{StructureID: some("S1"), ParentID: some("k"), Level: "costItem", Code: "new",
		Name: "New", Active: true})
	w.contractor("K1", some("New GmbH"))
	// Then the next answer knows
	r := w.get(adminKey, "/v0/records/R1")
	node := r.json["budgetNode"].(map[string]any)
	codes := r.json["accountingCodes"].([]any)
	if node["code"] != "new" || r.json["counterparty"].(map[string]any)["name"] != "New GmbH" || len(codes) != 3 {
		t.Errorf("got %s", r.body)
	}
}

func TestWhatIsGoneDoesNotExist(t *testing.T) {
	w := structured(t)
	w.project("P2", events.Project{})
	w.seen(adminKey, "P1", "P2")
	w.records(record{id: "gone", project: "P1"}, record{id: "moved", project: "P1"}, record{id: "homeless", project: "P9"},
		record{id: "stays", project: "P1"})
	unknown := w.get(adminKey, "/v0/records/never").want(t, 404, "not-found")

	// When one is deleted, one moves to another project
	w.records(record{id: "gone", project: "P1", version: 2, deleted: true},
		record{id: "moved", project: "P1", version: 2, deleted: true}, record{id: "moved", project: "P2", version: 2})
	// Then
	for _, id := range []string{"gone", "homeless"} {
		r := w.get(adminKey, "/v0/records/"+id).want(t, 404, "not-found")
		if !sameProblem(r, unknown) {
			t.Errorf("a 404 tells more: %s, %s", r.body, unknown.body)
		}
	}
	if r := w.get(adminKey, "/v0/records/moved"); r.json["projectId"] != "P2" {
		t.Errorf("moved: %s", r.body)
	}
	list := w.get(adminKey, "/v0/records?count=true")
	if got := list.items("id"); len(got) != 2 || got[0] != "moved" || got[1] != "stays" ||
		list.json["page"].(map[string]any)["total"] != 2.0 {
		t.Errorf("list %s", list.body)
	}
	// And when the project is deleted, so are its records.
	w.send(events.Projects, tenant, "P1", nil)
	w.seen(adminKey, "P2")
	w.get(adminKey, "/v0/records/stays").want(t, 404, "not-found")
	w.get(adminKey, "/v0/records?projectId=P1").want(t, 404, "not-found")
	w.get(adminKey, "/v0/projects/P1").want(t, 404, "not-found")
}

// sameProblem compares problem documents but for the request's id.
func sameProblem(a, b response) bool {
	delete(a.json, "requestId")
	delete(b.json, "requestId")
	x, _ := json.Marshal(a.json)
	y, _ := json.Marshal(b.json)
	return string(x) == string(y) && a.status == b.status
}
