package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tallyhouse/api"
	"tallyhouse/api/apitest"
	"tallyhouse/api/ratelimit"
	"tallyhouse/schemas/events"
)

// bearer sends each request of a client with a token.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// agent is a client with a key, connected to the API's tools.
func (w *world) agent(key string) *mcp.ClientSession {
	w.Helper()
	session, err := w.connect(key)
	w.must(err)
	w.Cleanup(func() { session.Close() })
	return session
}

func (w *world) connect(key string) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	return client.Connect(context.Background(), &mcp.StreamableClientTransport{
		Endpoint: w.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{key}}, MaxRetries: -1,
	}, nil)
}

// called is a tool's answer: its text, which is the structured content too.
func (w *world) called(session *mcp.ClientSession, tool string, arguments map[string]any) (text string, failed bool) {
	w.Helper()
	result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	w.must(err)
	text = result.Content[0].(*mcp.TextContent).Text
	var same any
	w.must(json.Unmarshal([]byte(text), &same))
	if len(result.Content) != 1 || !reflect.DeepEqual(result.StructuredContent, same) {
		w.Errorf("%s: the structured content is %v, the text %s", tool, result.StructuredContent, text)
	}
	return text, result.IsError
}

// requested is the answer of the API to the request that a tool makes of its arguments.
func (w *world) requested(key string, o apitest.Operation, arguments map[string]any) response {
	w.Helper()
	path, query := o.Path, url.Values{}
	for name, value := range arguments {
		text := fmt.Sprint(value)
		if list, ok := value.([]string); ok {
			text = strings.Join(list, ",")
		}
		if place := "{" + name + "}"; strings.Contains(path, place) {
			path = strings.ReplaceAll(path, place, url.PathEscape(text))
		} else {
			query.Set(name, text)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return w.get(key, path)
}

func (w *world) reading() map[string]apitest.Operation {
	all := make(map[string]apitest.Operation)
	for _, o := range w.contract.Operations() {
		if o.Method == http.MethodGet {
			all[o.ID] = o
		}
	}
	return all
}

func TestToolsAndTheDocumentsReadsAreInBijection(t *testing.T) {
	// Given
	w := adminWorld(t)
	reads := w.reading()
	// When an agent lists the tools
	listed, err := w.agent(adminKey).ListTools(context.Background(), nil)
	w.must(err)
	// Then each is an operation that reads, with its parameters, and says so
	for _, tool := range listed.Tools {
		o, ok := reads[tool.Name]
		if !ok {
			t.Errorf("there is a tool %s", tool.Name)
			continue
		}
		delete(reads, tool.Name)
		var schema struct {
			Type                 string
			Properties           map[string]apitest.Schema
			Required             []string
			AdditionalProperties *bool
		}
		text, err := json.Marshal(tool.InputSchema)
		w.must(err)
		w.must(json.Unmarshal(text, &schema))
		if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties || tool.Description == "" ||
			!tool.Annotations.ReadOnlyHint {
			t.Errorf("%s: %s, %q, %+v", tool.Name, text, tool.Description, tool.Annotations)
		}
		for _, p := range o.Parameters {
			if p.In == "header" || p.Name == "" {
				continue
			}
			if got, ok := schema.Properties[p.Name]; !ok || !reflect.DeepEqual(got, p.Schema) ||
				(p.In == "path") != slices.Contains(schema.Required, p.Name) {
				t.Errorf("%s: the argument %s is %+v, the parameter %+v", tool.Name, p.Name, got, p.Schema)
			}
			delete(schema.Properties, p.Name)
		}
		if len(schema.Properties) > 0 {
			t.Errorf("%s takes more than the operation: %v", tool.Name, schema.Properties)
		}
	}
	if len(reads) > 0 {
		t.Errorf("these are no tools: %v", reads)
	}
}

func TestToolsAnswerWhatTheAPIAnswers(t *testing.T) {
	// Given records of two tenants, and callers of one
	w := adminWorld(t)
	w.user("U-guest", guestKey, "guest")
	w.known(guestKey)
	w.send(events.Users, "other", "U", &events.User{Name: "U", Active: true})
	w.send(events.Memberships, "other", "M", &events.Membership{UserID: "U", Scope: events.Scope{Tenant: true}, Role: "admin"})
	w.keyOf("other", "U", strangerKey, func(*events.Key) {})
	w.known(strangerKey)
	for _, id := range []string{"R1", "R2", "R/3 ä%"} {
		w.records(record{id: id, project: "P1"})
	}
	reads := w.reading()
	for key, name := range map[string]string{adminKey: "admin", guestKey: "guest", strangerKey: "another tenant"} {
		session := w.agent(key)
		for _, c := range []struct {
			tool      string
			arguments map[string]any
		}{
			{"listProjects", nil}, {"getProject", map[string]any{"projectId": "P1"}},
			{"getProject", map[string]any{"projectId": "none"}}, {"getProject", map[string]any{"projectId": ".."}},
			{"listRecords", nil}, {"listRecords", map[string]any{"limit": 1, "count": true}},
			{"listRecords", map[string]any{"projectId": "P1", "fields": []string{"net", "invoiceNumber"}, "status": []string{"paid", "setup"}}},
			{"listRecords", map[string]any{"limit": 500, "state": "paid", "fields": []string{}, "cursor": "abc"}},
			{"listRecords", map[string]any{"cashDateFrom": "2026-01-01"}}, {"listRecords", map[string]any{"cursor": "abc"}},
			{"getRecord", map[string]any{"recordId": "R/3 ä%"}}, {"getRecord", map[string]any{"recordId": ""}},
			{"getProjectBudget", map[string]any{"projectId": "P1"}}, {"getCashflow", map[string]any{"projectId": "P1", "from": "2026-01"}},
			{"listContracts", nil}, {"getContract", map[string]any{"contractId": "none"}}, {"listContractors", nil},
			{"listForecastSnapshots", map[string]any{"projectId": "P1"}},
			{"getForecastSnapshot", map[string]any{"projectId": "P1", "month": "2026-13"}},
			{"listUnits", map[string]any{"projectId": "P1"}}, {"getRentRoll", map[string]any{"projectId": "P1"}},
			{"listFacilities", map[string]any{"projectId": "P1"}}, {"getFacilitySchedule", map[string]any{"facilityId": "none"}},
			{"listFacilityDrawdowns", map[string]any{"facilityId": "none"}},
		} {
			// When it calls a tool, and makes the request itself
			text, failed := w.called(session, c.tool, c.arguments)
			want := w.requested(key, reads[c.tool], c.arguments)
			// Then the answers are the same, problems as errors of the tool
			if got := withoutID(text); got != withoutID(string(want.body)) || failed != (want.status != http.StatusOK) {
				t.Errorf("%s: %s of %v (error: %v)\n%s\nbut the API: %d\n%s", name, c.tool, c.arguments, failed, text, want.status, want.body)
			}
		}
	}
	if text, _ := w.called(w.agent(strangerKey), "listRecords", nil); strings.Contains(text, "R1") {
		t.Errorf("another tenant sees %s", text)
	}
}

// withoutID is a problem document without what names its request.
func withoutID(document string) string {
	var d map[string]any
	if json.Unmarshal([]byte(document), &d) != nil || d["requestId"] == nil {
		return document
	}
	before, rest, _ := strings.Cut(document, `"requestId":"`)
	_, after, _ := strings.Cut(rest, `"`)
	if errors, ok := d["errors"].([]any); ok { // the order of arguments is not the agent's to say
		slices.SortFunc(errors, func(a, b any) int {
			return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
		})
		text, _ := json.Marshal(errors)
		after, _, _ = strings.Cut(after, `"errors"`)
		after += string(text)
	}
	return before + after
}

func TestToolsTakeArgumentsOfTheirTypesAlone(t *testing.T) {
	w := adminWorld(t)
	w.records(record{id: "R1", project: "P1"})
	session := w.agent(adminKey)
	for _, c := range []struct {
		tool, arguments, name, reason string
	}{
		{"listRecords", `{"limit":"20"}`, "limit", "must be of the type"},
		{"listRecords", `{"limit":20.0}`, "limit", "must be a whole number"},
		{"listRecords", `{"invoiceNumber":4711}`, "invoiceNumber", "must be of the type"},
		{"listRecords", `{"count":"true"}`, "count", "must be of the type"},
		{"listRecords", `{"status":"paid"}`, "status", "must be of the type"},
		{"listRecords", `{"status":["paid,setup"]}`, "status", "must be of the type"},
		{"listRecords", `{"status":[1]}`, "status", "must be of the type"},
		{"listRecords", `{"projectId":null}`, "projectId", "must be of the type"},
		{"listRecords", `{"projectId":{"a":"b"}}`, "projectId", "must be of the type"},
		{"listRecords", `{"limit":1,"limit":2}`, "limit", "more than once"},
		{"listRecords", `{"limitt":1}`, "limitt", "is not a parameter"},
		{"listRecords", `{"limitt":{}}`, "limitt", "is not an argument"},
		{"getProject", `{}`, "projectId", "is required"},
		{"getProject", `{"projectId":1}`, "projectId", "must be of the type"},
		{"getProject", `{"projectId":"P1","projectId":"P2"}`, "projectId", "is not a parameter"},
		{"getProject", `{"projectId":"P1","limit":1}`, "limit", "is not a parameter"},
		{"getProject", `[]`, "", "no object"},
	} {
		t.Run(c.tool+" "+c.arguments, func(t *testing.T) {
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.arguments)})
			if err != nil {
				t.Fatal(err)
			}
			problem, _ := result.StructuredContent.(map[string]any)
			r := response{json: problem}
			if reason, ok := r.wrong()[c.name]; !result.IsError || problem["type"] != "/problems/invalid-query" || !ok ||
				!strings.Contains(reason, c.reason) {
				t.Errorf("%v", result.StructuredContent)
			}
			if err := w.contract.Validate("Error", problem); err != nil {
				t.Error(err)
			}
		})
	}
}

// message sends an agent's message, as a program would that knows nothing of the protocol's library.
func (w *world) message(key, body string, header http.Header) response {
	w.Helper()
	request, err := http.NewRequest(http.MethodPost, w.url+"/mcp", strings.NewReader(body))
	w.must(err)
	request.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	return w.roundTrip(request)
}

const (
	pingMessage   = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	recordMessage = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getRecord","arguments":{"recordId":"R1"}}}`
)

func TestMessagesOfAgentsAreCheckedAsRequestsAre(t *testing.T) {
	w := adminWorld(t, func(o *api.Options) { o.CORSOrigins = []string{"https://app.example"} })
	w.records(record{id: "R1", project: "P1"})
	t.Run("each needs a token, whatever session it names", func(t *testing.T) {
		session := http.Header{"Mcp-Session-Id": {"of-somebody"}}
		w.message("", recordMessage, session).want(t, 401, "authentication-required")
		if r := w.message("pk_test_x_y", recordMessage, session).want(t, 401, "invalid-credentials"); r.header.Get("WWW-Authenticate") == "" {
			t.Error("WWW-Authenticate is missing")
		}
		if r := w.message(adminKey, recordMessage, session).want(t, 200, ""); r.header.Get("Mcp-Session-Id") != "" {
			t.Error("there is a session")
		}
		if _, err := w.connect("pk_test_x_y"); err == nil {
			t.Error("a client connects with a wrong key")
		}
	})
	t.Run("pages of foreign origins are refused", func(t *testing.T) {
		for origin, status := range map[string]int{"https://evil.example": 403, w.url: 403, "null": 403, "https://app.example": 200} {
			if r := w.message(adminKey, pingMessage, http.Header{"Origin": {origin}}); r.status != status {
				t.Errorf("%s: %d %s", origin, r.status, r.body)
			}
		}
	})
	t.Run("one message at a time, of a bounded size", func(t *testing.T) {
		for _, body := range []string{"[" + recordMessage + "," + recordMessage + "]", "", "x", strings.Repeat(" ", 64<<10) + pingMessage} {
			w.message(adminKey, body, nil).want(t, 400, "invalid-body")
		}
	})
	t.Run("what is no message of the protocol is refused without the words of a library", func(t *testing.T) {
		for _, body := range []string{`{`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":[1],"method":"ping"}`,
			`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"none"}`, `{"jsonrpc":"2.0","method":"tools/list"}`} {
			r := w.message(adminKey, body, nil).want(t, 400, "invalid-body")
			if strings.Contains(string(r.body), "interface") || r.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s: %s %s", body, r.header.Get("Content-Type"), r.body)
			}
		}
		for name, value := range map[string]string{"Content-Type": "text/plain", "Accept": "text/html", "Mcp-Protocol-Version": "1999-01-01"} {
			w.message(adminKey, pingMessage, http.Header{name: {value}}).want(t, 400, "invalid-body")
		}
	})
	t.Run("nothing is kept between messages", func(t *testing.T) {
		for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
			r := w.do(method, adminKey, "/mcp", http.Header{"Accept": {"text/event-stream"}}).want(t, 405, "method-not-allowed")
			if r.header.Get("Allow") != "POST" {
				t.Errorf("Allow %q", r.header.Get("Allow"))
			}
		}
		for _, method := range []string{"subscriptions/listen", "logging/setLevel", "resources/list", "none"} {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"level":"info"}}`, method)
			if r := w.message(adminKey, body, nil); r.status == 200 && !strings.Contains(string(r.body), `"error":{`) {
				t.Errorf("%s: %d %s", method, r.status, r.body)
			}
		}
		w.message(adminKey, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":`+
			`{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
			http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"}}).want(t, 404, "")
	})
	t.Run("what asks for nothing is answered without a body", func(t *testing.T) {
		r := w.message(adminKey, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil).want(t, 202, "")
		if _, typed := r.header["Content-Type"]; typed || len(r.body) > 0 {
			t.Errorf("%q of the type %q", r.body, r.header["Content-Type"])
		}
	})
	t.Run("what writes or exports is no tool", func(t *testing.T) {
		for _, tool := range []string{"sendFeedback", "exportRecords", "exportChanges", "none"} {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, tool)
			if r := w.message(adminKey, body, nil).want(t, 200, ""); r.json["error"] == nil {
				t.Errorf("%s: %s", tool, r.body)
			}
		}
	})
	t.Run("a key that was revoked gives nothing more", func(t *testing.T) {
		w.user("U-guest", guestKey, "guest")
		w.known(guestKey)
		session := w.agent(guestKey)
		w.send(events.Keys, tenant, "key-guest", nil)
		w.eventually(knownWithin, "the key gives no access", func() bool {
			_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "listProjects"})
			return err != nil
		})
	})
}

func TestMessagesOfAgentsCountAsRequests(t *testing.T) {
	// Given a limit of three requests
	w := adminWorld(t, func(o *api.Options) { o.RateLimit = ratelimit.Policy{Events: 3, Window: time.Hour} })
	w.eventually(knownWithin, "the key is known", func() bool { return w.server.Ready() == nil })
	w.records(record{id: "R1", project: "P1"})
	w.user("U-agent", guestKey, "admin")
	w.eventually(knownWithin, "the key gives access", func() bool { return w.message(guestKey, "x", nil).status != 401 })
	// When two messages follow the one that made it known, then each counts once, a tool's request not besides
	w.message(guestKey, pingMessage, nil).want(t, 200, "")
	if r := w.message(guestKey, recordMessage, nil).want(t, 200, ""); !strings.Contains(r.header.Get("RateLimit"), "r=0") {
		t.Errorf("RateLimit %q", r.header.Get("RateLimit"))
	}
	// And further ones are refused: a tool's by the problem that the API answers, all else by an error that has it
	direct := w.get(guestKey, "/v0/records/R1").want(t, 429, "too-many-requests")
	called := w.message(guestKey, recordMessage, nil).want(t, 200, "")
	result := called.json["result"].(map[string]any)
	wait := result["_meta"].(map[string]any)["tallyhouse/retryAfterSeconds"].(float64)
	text := result["content"].([]any)[0].(map[string]any)["text"].(string)
	if result["isError"] != true || withoutID(text) != withoutID(string(direct.body)) || wait < 3000 || wait > 3600 {
		t.Errorf("the tool's error is %s, the API's %s", called.body, direct.body)
	}
	pinged := w.message(guestKey, pingMessage, nil).want(t, 200, "")
	if problem, _ := pinged.json["error"].(map[string]any)["data"].(map[string]any); problem["type"] != "/problems/too-many-requests" {
		t.Errorf("a ping is answered by %s", pinged.body)
	}
	w.message(guestKey, "[]", nil).want(t, 429, "too-many-requests")
}

func TestAToolsAnswerIsBounded(t *testing.T) {
	// Given a record that is larger than a tool's answer may be
	w := adminWorld(t)
	w.records(record{id: "R1", project: "P1", invoiceNumber: strings.Repeat("x", 5<<20)})
	w.get(adminKey, "/v0/records/R1").want(t, 200, "")
	// When a tool asks for it
	text, failed := w.called(w.agent(adminKey), "getRecord", map[string]any{"recordId": "R1"})
	// Then it says what to do, and the rest of the list can be read
	if !failed || !strings.Contains(text, "ask for less") {
		t.Errorf("%.300s", text)
	}
	if text, failed := w.called(w.agent(adminKey), "listRecords", map[string]any{"fields": []string{"status"}}); failed {
		t.Error(text)
	}
	// And nothing of it is still counted.
	w.eventually(knownWithin, "all bodies were sent", func() bool { _, bytes := w.server.Working(); return bytes == 0 })
}

func TestTheRequestOfAToolIsLoggedBesideItsMessage(t *testing.T) {
	w := adminWorld(t)
	r := w.message(adminKey, recordMessage, nil)
	id := r.header.Get("X-Request-Id")
	if log := w.log.String(); !strings.Contains(log, "clientRequest="+id) || strings.Contains(log, "s3cret") {
		t.Errorf("the log does not name the message %s beside the tool's request\n%s", id, w.log.tail())
	}
}

func TestMessagesWaitForTheirTurn(t *testing.T) {
	// Given an agent whose message is being worked on, which is all that one of its key may have
	reached, leave := make(chan struct{}), make(chan struct{})
	connection := &switched{}
	w := adminWorld(t, func(o *api.Options) { connection.Conn, o.ClickHouse, o.Requests = o.ClickHouse, connection, 4 })
	connection.broken.Store(&failing{func() { reached <- struct{}{}; <-leave }})
	answers := make(chan response, 2)
	for range 2 {
		go func() { answers <- w.message(adminKey, recordMessage, nil) }()
	}
	<-reached
	// Then the other waits, and is answered after it
	w.eventually(knownWithin, "the other waits", func() bool { running, waiting := w.server.Messages(); return running == 1 && waiting == 1 })
	leave <- struct{}{}
	<-reached
	leave <- struct{}{}
	for range 2 {
		(<-answers).want(t, 200, "")
	}
}
