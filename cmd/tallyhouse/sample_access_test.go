package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sampleProjects are the projects of the sample, sampleRoles the roles of its people in them; "" is none.
var (
	sampleProjects = []string{"pr-0001", "pr-0002", "pr-0003", "pr-0004", "pr-0005", "pr-0006"}
	sampleRoles    = map[string][]string{
		"ada":  {"admin", "admin", "admin", "admin", "admin", "admin"},
		"dora": {"user", "user", "user", "user", "user", "user"},
		"ben":  {"user", "guest", "user", "", "user", ""},
		"cleo": {"user", "", "user", "", "", ""},
		"gus":  {"guest", "guest", "", "", "", ""},
		"nora": {"", "", "", "", "", ""},
	}
)

// grants are field groups that somebody has on something; nil: it does not exist for them.
type grants map[string]bool

func everything() grants {
	return grants{"core": true, "amounts": true, "budget": true, "payment": true, "documents": true, "accounting": true, "tax": true,
		"financial": true}
}

// and is what both give.
func (g grants) and(other grants) grants {
	if g == nil || other == nil {
		return nil
	}
	both := make(grants)
	for group := range g {
		both[group] = g[group] && other[group]
	}
	return both
}

func (g grants) has(groups []string) bool {
	return !slices.ContainsFunc(groups, func(group string) bool { return !g[group] })
}

// drawnInTheNight is how much more is tried in the night, 0 by day.
func drawnInTheNight() int {
	n, err := strconv.Atoi(os.Getenv("RAPID_CHECKS"))
	if err != nil || n <= 100 {
		return 0
	}
	return n / 10
}

// drawnKeys are a key without ceilings of everybody, and some with drawn ones.
func drawnKeys() (all []sampleKey) {
	drawn := max(8, drawnInTheNight())
	people := slices.Sorted(maps.Keys(sampleRoles))
	for _, owner := range people {
		all = append(all, sampleKey{owner: owner, financial: true})
	}
	for range drawn {
		k := sampleKey{owner: people[rand.IntN(len(people))], financial: rand.IntN(4) > 0}
		if rand.IntN(4) > 0 {
			k.groups = new([]string)
			for _, group := range slices.Sorted(maps.Keys(everything())) {
				if rand.IntN(3) > 0 {
					*k.groups = append(*k.groups, group)
				}
			}
		}
		if rand.IntN(3) == 0 {
			k.projects = make([]string, 0)
			for _, project := range sampleProjects {
				if rand.IntN(2) == 0 {
					k.projects = append(k.projects, project)
				}
			}
		}
		all = append(all, k)
	}
	for i := range all {
		all[i].key = fmt.Sprintf("pk_test_drawn%d_of-the-sample", i)
	}
	return all
}

func (k sampleKey) String() string {
	groups := "all groups"
	if k.groups != nil {
		groups = fmt.Sprint(*k.groups)
	}
	return fmt.Sprintf("%s with %s, projects %v, financial %v", k.owner, groups, k.projects, k.financial)
}

// on is what the key gives on something that belongs to these projects: all of them must be there for it. It says the
// rules of roles and ceilings anew.
func (k sampleKey) on(projects ...string) grants {
	all := everything()
	for _, project := range projects {
		n := slices.Index(sampleProjects, project)
		if n < 0 || sampleRoles[k.owner][n] == "" || k.projects != nil && !slices.Contains(k.projects, project) {
			return nil
		}
		for group := range all {
			all[group] = all[group] && (group == "core" || sampleRoles[k.owner][n] != "guest" &&
				(k.groups == nil || slices.Contains(*k.groups, group)) && (group != "financial" || k.financial))
		}
	}
	return all
}

// spanned is what the key gives in the project, or, if that does not exist for it, in every project that does.
func (k sampleKey) spanned(project string) grants {
	if there := k.on(project); there != nil {
		return there
	}
	all := everything()
	for _, p := range sampleProjects {
		if there := k.on(p); there != nil {
			all = all.and(there)
		}
	}
	return all
}

// accessCase is a request. What it names belongs to the projects; without any it lists what belongs to all of them.
type accessCase struct {
	target   string
	projects []string
	needs    []string // groups without which it doesn't exist
	filters  []string // groups of its filters
}

func accessCases() []accessCase {
	all := []accessCase{
		{target: "/v0/projects"},
		{target: "/v0/contracts?limit=200"},
		{target: "/v0/records?limit=200"},
		{target: "/v0/facilities/fa-bridge/schedule?to=2023-01-01", projects: sampleProjects[:2], needs: []string{"financial"}},
	}
	for n, p := range sampleProjects {
		add := func(c accessCase, target string) {
			c.target, c.projects = strings.NewReplacer("{p}", p, "{n}", fmt.Sprintf("%04d", n+1)).Replace(target), sampleProjects[n:n+1]
			all = append(all, c)
		}
		for _, target := range []string{
			"/v0/projects/{p}", "/v0/projects/{p}/budget", "/v0/projects/{p}/units?limit=200", "/v0/projects/{p}/rent-roll?asOf=2026-10",
			"/v0/projects/{p}/cashflow?from=2026-06&to=2027-01&level=subBudget", "/v0/projects/{p}/forecast/snapshots?limit=3",
			"/v0/projects/{p}/facilities", "/v0/contracts/co-{n}-001", "/v0/contracts?projectId={p}",
			"/v0/records?projectId={p}", "/v0/records?status=paid&fields=net,cashDate,documents&limit=20&projectId={p}",
		} {
			add(accessCase{}, target)
		}
		add(accessCase{needs: []string{"amounts"}}, "/v0/projects/{p}/forecast/snapshots/2026-08")
		add(accessCase{needs: []string{"financial"}}, "/v0/facilities/fa-{n}/schedule?to=2023-01-01")
		add(accessCase{needs: []string{"financial"}}, "/v0/facilities/fa-{n}/drawdowns?limit=5")
		add(accessCase{filters: []string{"amounts"}}, "/v0/projects/{p}/budget?asOf=2026-08")
		add(accessCase{filters: []string{"payment"}}, "/v0/records?limit=20&hasCashDate=true&projectId={p}")
		add(accessCase{filters: []string{"accounting"}}, "/v0/records?limit=20&accountingCode=datev:0730&projectId={p}")
		add(accessCase{filters: []string{"budget"}}, "/v0/records?limit=20&budgetNodeId=nd-r-037&projectId={p}")
	}
	return all
}

// namingNothing is the request with ids of what does not exist.
func (c accessCase) namingNothing() string {
	return regexp.MustCompile(`\b(pr-\d+|co-[\d-]+|fa-\w+)\b`).ReplaceAllString(c.target, "none")
}

// Given people of all roles, and keys with drawn ceilings, when they ask what the admin asks, then each answer is the
// admin's without what the caller may not see, and nothing else; what is hidden answers as what does not exist.
func (s *sampleAPI) showsEverybodyTheirPart(t *testing.T, keys []sampleKey) {
	var document described
	if err := json.Unmarshal(s.document, &document); err != nil {
		t.Fatal(err)
	}
	shown, hidden, refused := 0, 0, 0
	for _, c := range accessCases() {
		admin := s.ask(t, sampleAdmin, c.target)
		if admin.status != http.StatusOK {
			t.Fatalf("the admin asks for %s: %d %s", c.target, admin.status, admin.body)
		}
		for _, k := range keys {
			got := s.ask(t, k.key, c.target)
			there := k.on(c.projects...)
			switch {
			case len(c.filters) > 0 && !k.spanned(c.projects[0]).has(c.filters):
				refused++
				got.wantProblem(t, k, c.target, http.StatusBadRequest, "filter-not-allowed")
			case there == nil || !there.has(c.needs):
				hidden++
				got.wantProblem(t, k, c.target, http.StatusNotFound, "not-found")
				if absent := s.ask(t, k.key, c.namingNothing()); got.withoutIDs() != absent.withoutIDs() {
					t.Errorf("%s: %s, hidden, answers\n%s\nbut what does not exist\n%s", k, c.target, got.withoutIDs(), absent.withoutIDs())
				}
			default:
				shown++
				want := document.response(s.operation(t, c.target)).cut(document, numbers(t, admin.body), k, there)
				if have := numbers(t, got.body); got.status != http.StatusOK || !sameList(have, want) {
					text, _ := json.Marshal(want)
					t.Errorf("%s: %s answers %d\n%.3000s\nwant\n%.3000s", k, c.target, got.status, got.body, text)
				}
			}
		}
	}
	if shown < 300 || hidden < 100 || refused < 20 {
		t.Errorf("%d answers were shown, %d hidden, %d refused: too few to tell", shown, hidden, refused)
	}
}

func (a asked) wantProblem(t *testing.T, k sampleKey, target string, status int, suffix string) {
	t.Helper()
	if a.status != status || !bytes.Contains(a.body, []byte(`"/problems/`+suffix+`"`)) {
		t.Errorf("%s: %s answers %d %.1000s\nwant %d %s", k, target, a.status, a.body, status, suffix)
	}
}

// withoutIDs is the answer without what names the request.
func (a asked) withoutIDs() string {
	header := a.header.Clone()
	id := header.Get("X-Request-Id")
	header.Del("X-Request-Id")
	header.Del("Date")
	var b strings.Builder
	_ = header.Write(&b) // to memory
	return fmt.Sprintf("%d\n%s\n%s", a.status, b.String(), bytes.ReplaceAll(a.body, []byte(id), []byte("id")))
}

// operation is the path in the document that describes the target.
func (s *sampleAPI) operation(t *testing.T, target string) string {
	path, _, _ := strings.Cut(target, "?")
	for _, o := range s.contract.Operations() {
		if regexp.MustCompile("^" + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(o.Path, "[^/]+") + "$").MatchString(path) {
			return o.Path
		}
	}
	t.Fatalf("the document does not describe %s", target)
	return ""
}

// described is a part of the OpenAPI document.
type described map[string]any

// at goes down by names.
func (d described) at(names ...string) described {
	for _, name := range names {
		d, _ = d[name].(map[string]any)
	}
	return d
}

func (d described) response(path string) described {
	return d.at("paths", path, "get", "responses", "200", "content", "application/json", "schema")
}

// cut is a value of the schema without the members that need groups which the key doesn't give on the object, and, in
// lists, without the objects that don't exist for it.
func (d described) cut(document described, value any, k sampleKey, granted grants) any {
	if ref, ok := d["$ref"].(string); ok {
		d = document.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	if options := sliceOf(d["anyOf"]); options != nil && value != nil {
		return described(options[0].(map[string]any)).cut(document, value, k, granted)
	}
	switch value := value.(type) {
	case map[string]any:
		left := make(map[string]any)
		for name, of := range value {
			member := d.at("properties", name)
			var needs []string
			for _, group := range sliceOf(member["x-field-group"]) {
				needs = append(needs, group.(string))
			}
			if granted.has(needs) {
				left[name] = member.cut(document, of, k, granted)
			}
			if name == "budgetNodeId" && value["amount"] != nil && value["title"] != nil && !granted["budget"] {
				left[name] = nil // of amendments: the one value that changes
			}
		}
		return left
	case []any:
		left := make([]any, 0)
		for _, item := range value {
			of := granted
			if object, ok := item.(map[string]any); ok {
				of = k.onObject(object, granted)
			}
			if of != nil {
				left = append(left, d.at("items").cut(document, item, k, of))
			}
		}
		return left
	}
	return value
}

// onObject is what the key gives on an object of a list.
func (k sampleKey) onObject(object map[string]any, granted grants) grants {
	if _, ok := object["inboundEmail"]; ok {
		return k.on(object["id"].(string))
	}
	if project, ok := object["projectId"].(string); ok {
		return k.on(project)
	}
	if _, ok := object["lender"]; ok {
		var projects []string
		for _, p := range sliceOf(object["projectIds"]) {
			projects = append(projects, p.(string))
		}
		if of := k.on(projects...); of.has([]string{"financial"}) {
			return of
		}
		return nil
	}
	if _, ok := object["official"]; ok && !granted["amounts"] {
		return nil // an empty object would tell that there is a snapshot
	}
	return granted
}

// sameList reports whether an answer is the expected one. Cursors are the caller's own; and where the admin's page ends
// before the list does, the caller's may go on.
func sameList(have, want any) bool {
	got, _ := have.(map[string]any)
	expected, _ := want.(map[string]any)
	page, _ := expected["page"].(map[string]any)
	if page == nil {
		return reflect.DeepEqual(have, want)
	}
	items, wanted := sliceOf(got["data"]), sliceOf(expected["data"])
	if page["nextCursor"] != nil && len(items) > len(wanted) {
		items = items[:len(wanted)]
	}
	return len(got) == len(expected) && slices.EqualFunc(items, wanted, func(a, b any) bool { return reflect.DeepEqual(a, b) })
}

func sliceOf(value any) []any {
	list, _ := value.([]any)
	return list
}

// numbers reads JSON with numbers as they are written.
func numbers(t *testing.T, text []byte) (value any) {
	t.Helper()
	reading := json.NewDecoder(bytes.NewReader(text))
	reading.UseNumber()
	if err := reading.Decode(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}
