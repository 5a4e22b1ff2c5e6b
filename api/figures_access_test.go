package api_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"tallyhouse/schemas/events"
)

// figureGroups are the groups that members need, by the resource that they are of: the test's own copy of spec sections
// 2.4 to 2.9. What is not listed is core.
var figureGroups = map[string]map[string][]string{
	"budget": {
		"structureId": {"budget"}, "nodes": {"budget"}, "unallocated": {"amounts", "budget"},
		"unallocatedBudget": {"amounts", "budget"},
		"excluded":          {"amounts"}, "excludedCommitted": {"amounts", "budget"},
	},
	"nodes": { // seen with budget alone
		"budget": {"amounts"}, "invoiced": {"amounts"}, "paid": {"amounts"}, "invoicedByStatus": {"amounts"},
		"invoicedGross": {"amounts"}, "paidGross": {"amounts"},
		"committed": {"amounts"}, "openCommitment": {"amounts"}, "overInvoiced": {"amounts"}, "pendingChanges": {"amounts"},
		"uncommitted":          {"amounts"},
		"uncommittedDefaulted": {"amounts"}, "eac": {"amounts"}, "variance": {"amounts"}, "costToComplete": {"amounts"},
		"accountingCodes": {"accounting"},
	},
	"contract": {
		"counterparty": {"amounts"}, "committed": {"amounts"}, "invoiced": {"amounts"}, "paid": {"amounts"},
		"openCommitment": {"amounts"}, "overInvoiced": {"amounts"},
		"pendingChanges": {"amounts"}, "reclassRecordIds": {"amounts"}, "locked": {"amounts"}, "allocations": {"budget"},
		"amendments": {"amounts"},
	},
	"allocations": {"amount": {"amounts"}},
	"contractor":  {"taxId": {"tax"}, "registrationNumber": {"tax"}},
}

// visible takes from what an admin sees what a caller with these groups may not see. The one value that changes is an
// amendment's line, null for who may not see lines.
func visible(resource string, admin map[string]any, groups []string) map[string]any {
	left := make(map[string]any)
	for name, value := range admin {
		if slices.ContainsFunc(figureGroups[resource][name], func(g string) bool { return !slices.Contains(groups, g) }) {
			continue
		}
		if list, ok := value.([]any); ok && (name == "nodes" || name == "allocations" || name == "amendments") {
			shown := make([]any, len(list))
			for i, element := range list {
				object := visible(name, element.(map[string]any), groups)
				if name == "amendments" && !slices.Contains(groups, "budget") {
					object["budgetNodeId"] = nil
				}
				shown[i] = object
			}
			value = shown
		}
		left[name] = value
	}
	return left
}

// TestEverySetOfGroupsSeesItsPartOfTheFigures goes through all sets of the groups that concern figures.
func TestEverySetOfGroupsSeesItsPartOfTheFigures(t *testing.T) {
	// Given what an admin sees
	w := budgeted(t)
	w.company("K1", events.Contractor{Name: some("Bau GmbH"), TaxID: some("T"), RegistrationNumber: some("FN")})
	const budget, asOf, contract, contracts, contractors = "/v0/projects/P1/budget", "/v0/projects/P1/budget?asOf=2026-03", "/v0/contracts/C1", "/v0/contracts", "/v0/contractors"
	const snapshots, snapshot = "/v0/projects/P1/forecast/snapshots", "/v0/projects/P1/forecast/snapshots/2026-04"
	paths := []string{budget, asOf, contract, contracts, contractors, snapshots, snapshot}
	admin := make(map[string]map[string]any)
	for _, path := range paths {
		admin[path] = w.get(adminKey, path).want(t, 200, "").json
	}
	data := func(path, resource string, groups []string) map[string]any {
		list := maps.Clone(admin[path])
		var shown []any
		for _, item := range list["data"].([]any) {
			shown = append(shown, visible(resource, item.(map[string]any), groups))
		}
		list["data"] = shown
		return list
	}
	check := func(key string, groups []string) {
		t.Helper()
		amounts := slices.Contains(groups, "amounts")
		want := map[string]map[string]any{
			budget:      visible("budget", admin[budget], groups),
			contract:    visible("contract", admin[contract], groups),
			contracts:   data(contracts, "contract", groups),
			contractors: data(contractors, "contractor", groups),
		}
		if amounts {
			want[asOf], want[snapshots], want[snapshot] = visible("budget", admin[asOf],
				groups), admin[snapshots], admin[snapshot]
		} else {
			w.get(key, asOf).want(t, 400, "filter-not-allowed")
			w.get(key, "/v0/projects/P1/budget?asOf=1999-01").want(t, 400, "filter-not-allowed")
			w.get(key, snapshot).want(t, 404, "not-found")
			want[snapshots] = map[string]any{"data": []any{}, "page": admin[snapshots]["page"]}
		}
		for path, expected := range want {
			if got := w.get(key, path).want(t, 200, "").json; !same(got, expected) {
				t.Errorf("%v see of %s\n     %v\nwant %v", groups, path, got, expected)
			}
		}
	}
	// When the caller's key has a ceiling of some groups, then he sees exactly those parts
	concerned := []string{"amounts", "budget", "accounting", "tax"}
	for set := range 1 << len(concerned) {
		var groups []string
		for i, g := range concerned {
			if set&(1<<i) != 0 {
				groups = append(groups, g)
			}
		}
		key := fmt.Sprintf("pk_test_set%d_secret", set)
		w.key("U-admin", key, func(k *events.Key) { k.Groups = some(append([]string{}, groups...)) })
		w.seen(key, "P1")
		check(key, groups)
	}
	// And a guest sees what is core.
	w.user("U-guest", guestKey, "guest")
	w.seen(guestKey, "P1")
	check(guestKey, nil)
	if got := w.get(guestKey, budget); string(got.body) != `{"projectId":"P1","currency":"EUR"}` {
		t.Errorf("a guest's budget: %s", got.body)
	}
	if got := w.get(guestKey,
		contract); string(got.body) != `{"id":"C1","projectId":"P1","name":"Shell","status":"signed","startDate":"2026-01-07","endDate":null}` {
		t.Errorf("a guest's contract: %s", got.body)
	}
	// And a stranger nothing.
	w.user("U-stranger", strangerKey, "")
	w.known(strangerKey)
	for _, path := range []string{budget, asOf, contract, snapshots, snapshot} {
		w.get(strangerKey, path).want(t, 404, "not-found")
	}
	for _, path := range []string{contracts, contractors} {
		if got := w.get(strangerKey, path).want(t, 200,
			""); string(got.body) != `{"data":[],"page":{"nextCursor":null,"limit":50}}` {
			t.Errorf("%s: %s", path, got.body)
		}
	}
}

// TestGroupsAreThoseOfTheObjectsProject: one list may show different parts of its items.
func TestGroupsAreThoseOfTheObjectsProject(t *testing.T) {
	// Given a user of P1 who is a guest of P2
	w := budgeted(t)
	w.project("P2", events.Project{})
	w.user("U2", guestKey, "")
	w.member("U2", events.Scope{ProjectID: some("P1")}, "user")
	w.member("U2", events.Scope{ProjectID: some("P2")}, "guest")
	w.seen(guestKey, "P1", "P2")
	for id, refers := range map[string][]string{"K-both": {"P1", "P2"}, "K-guest": {"P2"}} {
		w.company(id, events.Contractor{TaxID: some("secret " + id)})
		for _, project := range refers {
			w.contractOf(id+project,
				events.Contract{ProjectID: project, ContractorID: some(id),
					Allocations: []events.ContractAllocation{{NodeID: "i", Value: 1}}})
		}
	}
	// When he lists contracts and contractors
	contracts := w.get(guestKey, "/v0/contracts").want(t, 200, "").json["data"].([]any)
	contractors := w.get(guestKey, "/v0/contractors").want(t, 200, "").json["data"].([]any)
	// Then he sees of each what its project grants
	for _, item := range contracts {
		c := item.(map[string]any)
		if _, shown := c["committed"]; shown != (c["projectId"] == "P1") {
			t.Errorf("contract %v", c)
		}
	}
	// And a contractor's tax id when any project that refers to it grants it.
	for _, item := range contractors {
		k := item.(map[string]any)
		if _, shown := k["taxId"]; shown != (k["id"] != "K-guest") {
			t.Errorf("contractor %v", k)
		}
	}
	w.get(guestKey, "/v0/projects/P2/budget?asOf=2026-03").want(t, 400, "filter-not-allowed")
	w.get(guestKey, "/v0/projects/P1/budget?asOf=2026-03").want(t, 200, "")
	if got := w.get(guestKey,
		"/v0/projects/P2/forecast/snapshots"); string(got.body) != `{"data":[],"page":{"nextCursor":null,"limit":50}}` {
		t.Errorf("got %s", got.body)
	}
}
