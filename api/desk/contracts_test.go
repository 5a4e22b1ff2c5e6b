package desk

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/api/desk/language"
	"tallyhouse/api/session"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

// lineAPI has a project with two lines and two contracts on the first, of which one has a pending amendment on the second.
type lineAPI struct {
	callerAPI
	hidden bool // the budget's amounts
}

func (a *lineAPI) Ask(_ context.Context, _ session.User, target string) (int, []byte) {
	path, _, _ := strings.Cut(target, "?")
	switch {
	case path == "/v0/projects/1":
		return http.StatusOK, []byte(`{"id": "1", "name": "One", "currency": "EUR"}`)
	case path == "/v0/projects/1/budget" && a.hidden:
		return http.StatusOK, []byte(`{"nodes": [{"nodeId": "b", "code": "2", "name": "B"}]}`)
	case path == "/v0/projects/1/budget":
		return http.StatusOK, []byte(`{"currency": "EUR", "excluded": [], "nodes": [{"nodeId": "a", "code": "1", "name": "A"},
			{"nodeId": "b", "code": "2", "name": "B", "pendingChanges": {"value": 10000, "currency": "EUR"}}]}`)
	case path == "/v0/contracts":
		return http.StatusOK, []byte(`{"data": [{"id": "L", "name": "Lift", "status": "signed", "allocations": [{"budgetNodeId": "a"}]},
			{"id": "K", "name": "Shell", "status": "signed", "allocations": [{"budgetNodeId": "a"}],
				"amendments": [{"budgetNodeId": "b", "status": "pending", "amount": {"value": 10000, "currency": "EUR"}}]}], "page": {}}`)
	}
	return http.StatusNotFound, nil
}

// lineSources notes the lines whose contracts it is asked for.
type lineSources struct {
	Sources
	asked []string
}

func (s *lineSources) LineContracts(_ context.Context, q reader.LineRequest) ([]analytics.ContractID, error) {
	s.asked = append(s.asked, q.Tenant+" "+q.Project.ID+" "+q.Line)
	return []analytics.ContractID{"K"}, nil
}

// Given a contract whose amendment awaits approval on another line than its own, when that line's contracts are shown, then it is among
// them, as in the figure that leads there; who sees no amounts of the budget isn't told which are.
func TestContractsOfALineAreThoseOfItsFigures(t *testing.T) {
	for hidden, want := range map[bool]struct{ asked, shown string }{
		false: {"demo 1 b", "Shell"}, true: {"", ""},
	} {
		d, _, _ := walked(t, &walkedAPI{})
		sources := &lineSources{}
		d.api = &lineAPI{callerAPI{walkedAPI: walkedAPI{admits: true}, caller: callerOf(t, events.Scope{Tenant: true}, "user")}, hidden}
		d.sources = sources
		answer := visits(t, d, "GET /projects/1/contracts?line=b")
		var shown []string
		for _, name := range []string{"Lift", "Shell"} {
			if strings.Contains(answer.Body.String(), name) {
				shown = append(shown, name)
			}
		}
		if got := strings.Join(sources.asked, ","); answer.Code != http.StatusOK || got != want.asked || strings.Join(shown, " ") != want.shown {
			t.Errorf("hidden %t: %d, asked for %q, shows %q", hidden, answer.Code, got, shown)
		}
	}
}

// Given a contract without a name, as the API writes it, when contracts are listed, then it is called by its id, which leads to
// its page.
func TestAContractWithoutANameIsCalledByItsID(t *testing.T) {
	languages, err := language.Load()
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{desk: &Desk{log: slog.New(slog.DiscardHandler)}, lang: languages.Of("en")}
	var contracts []contract
	if err := json.Unmarshal([]byte(`[{"id": "C1", "name": null}, {"id": "C2", "name": "Shell"}]`), &contracts); err != nil {
		t.Fatal(err)
	}

	rows := v.contractsTable(&project{ID: "P"}, contracts).Rows

	for i, want := range []cell{{Text: "C1", Link: "/projects/P/contracts/C1"}, {Text: "Shell", Link: "/projects/P/contracts/C2"}} {
		if got := rows[i].Cells[0]; got.Text != want.Text || got.Link != want.Link {
			t.Errorf("contract %d is called %q and leads to %q, want %q and %q", i, got.Text, got.Link, want.Text, want.Link)
		}
	}
}

// Given contracts in another currency, then those are listed as committed there that count, and have something allocated.
func TestContractsInAnotherCurrencyAreThoseThatCount(t *testing.T) {
	for of, want := range map[string]bool{
		`{"status": "signed", "committed": {"value": 5, "currency": "USD"}, "allocations": [{}]}`:    true,
		`{"status": "completed", "committed": {"value": 5, "currency": "USD"}, "allocations": [{}]}`: true,
		`{"status": "setup", "committed": {"value": 5, "currency": "USD"}, "allocations": [{}]}`:     false,
		`{"status": "signed", "committed": {"value": 5, "currency": "EUR"}, "allocations": [{}]}`:    false,
		`{"status": "signed", "committed": null, "invoiced": {"value": 5, "currency": "USD"}}`:       false,
	} {
		var c contract
		if err := json.Unmarshal([]byte(of), &c); err != nil {
			t.Fatal(err)
		}
		if got := c.countsIn("USD"); got != want {
			t.Errorf("%s is listed: %t", of, got)
		}
	}
}
