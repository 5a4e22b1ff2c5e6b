package agents_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tallyhouse/api/agents"
	"tallyhouse/schemas/jsonschema"
)

// FuzzHandler looks for a message that isn't answered, or that becomes a request of something else than a tool's operation.
func FuzzHandler(f *testing.F) {
	text := &jsonschema.Schema{Type: "string"}
	tools := []agents.Tool{
		{Name: "getThing", Description: "One.", Path: "/v0/things/{thingId}", Arguments: []agents.Argument{
			{Name: "thingId", Schema: text, Required: true}}},
		{Name: "listThings", Description: "All.", Path: "/v0/things", Arguments: []agents.Argument{
			{Name: "status", Schema: &jsonschema.Schema{Type: "array", Items: text}},
			{Name: "limit", Schema: &jsonschema.Schema{Type: "integer"}}}},
	}
	var asked []*http.Request
	handler := agents.Handler(tools, "1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r)
		_, _ = w.Write([]byte(`{}`))
	}))
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{}}}`,
		`{"jsonrpc":"2.0","id":"x","method":"tools/list"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getThing","arguments":{"thingId":"../x?y#{thingId}"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"listThings","arguments":{"status":["a&b"],"limit":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":null}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}`,
	} {
		for _, version := range []string{"", "2025-06-18", "2026-07-28"} {
			f.Add(version, message)
		}
	}
	f.Fuzz(func(t *testing.T, version, message string) {
		if !strings.HasPrefix(message, "{") {
			return // refused before
		}
		// Given a message that another request brought
		asked = nil
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		m := &agents.Message{ID: "1"}
		ctx = agents.With(ctx, m)
		m.Request = httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", nil)
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(message))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if version != "" {
			r.Header.Set("Mcp-Protocol-Version", version)
		}
		answer := httptest.NewRecorder()
		// When it is handled
		handler.ServeHTTP(answer, r)
		// Then it is answered, before its time is over
		if ctx.Err() != nil {
			t.Fatal("there was no answer")
		}
		if strings.HasPrefix(answer.Header().Get("Content-Type"), "application/json") && answer.Body.Len() > 0 &&
			!json.Valid(answer.Body.Bytes()) {
			t.Fatalf("it is answered by %s", answer.Body)
		}
		// And what was asked for lies below the operations
		for _, r := range asked {
			inside, ok := strings.CutPrefix(r.URL.EscapedPath(), "/v0/things")
			if !ok || strings.Contains(strings.TrimPrefix(inside, "/"), "/") || r.Method != http.MethodGet {
				t.Fatalf("%s %s", r.Method, r.URL)
			}
		}
	})
}
