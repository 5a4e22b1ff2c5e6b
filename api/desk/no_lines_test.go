package desk

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"tallyhouse/api/session"
	"tallyhouse/schemas/events"
)

// noLinesAPI has a project whose budget has no line yet, and 1,234.56 EUR on none. A guest is shown no amounts, or no lines either.
type noLinesAPI struct {
	callerAPI
	guest, noBudget bool
}

func (a *noLinesAPI) Ask(_ context.Context, _ session.User, target string) (int, []byte) {
	path, _, _ := strings.Cut(target, "?")
	switch {
	case path == "/v0/projects/1":
		return http.StatusOK, []byte(`{"id": "1", "name": "One", "currency": "EUR"}`)
	case a.noBudget && (path == "/v0/projects/1/budget" || path == "/v0/projects/1/cashflow"):
		return http.StatusOK, []byte(`{"projectId": "1"}`)
	case path == "/v0/projects/1/budget" && a.guest:
		return http.StatusOK, []byte(`{"projectId": "1", "nodes": []}`)
	case path == "/v0/projects/1/budget":
		return http.StatusOK, []byte(`{"projectId": "1", "currency": "EUR", "nodes": [], "unallocated": {"value": 123456, "currency": "EUR"},
			"unallocatedBudget": {"value": 0, "currency": "EUR"}, "excluded": [{"currency": "CHF", "value": 99, "count": 1}], "excludedCommitted": []}`)
	case path == "/v0/projects/1/cashflow":
		return http.StatusOK, []byte(`{"projectId": "1", "currency": "EUR", "asOf": "2026-05", "nodes": []}`)
	}
	return http.StatusNotFound, nil
}

// Given a project whose budget has no line, when its budget is shown, then with what is on none of them, and nothing is refused; to whom
// amounts are hidden they stay so.
func TestABudgetWithoutLinesIsShown(t *testing.T) {
	const refused = "You may not see these figures"
	for _, c := range []struct {
		name, path      string
		guest, noBudget bool
		shown           string // "" when it is refused
	}{
		{"its budget", "/projects/1/budget", false, false, "1,234.56"},
		{"its cash flow", "/projects/1/cashflow", false, false, "Cash flow"},
		{"its budget for a guest", "/projects/1/budget", true, false, ""},
		{"its budget without the right to it", "/projects/1/budget", false, true, ""},
		{"its cash flow without the right to it", "/projects/1/cashflow", false, true, ""},
	} {
		d, _, _ := walked(t, &walkedAPI{})
		d.api = &noLinesAPI{callerAPI{walkedAPI: walkedAPI{admits: true}, caller: callerOf(t, events.Scope{Tenant: true}, "user")}, c.guest, c.noBudget}
		body := visits(t, d, "GET "+c.path).Body.String()
		if strings.Contains(body, refused) != (c.shown == "") || !strings.Contains(body, c.shown) {
			t.Errorf("%s: %s", c.name, body)
		}
		if c.guest && strings.Contains(body, "0.00") {
			t.Errorf("%s shows amounts: %s", c.name, body)
		}
	}
}
