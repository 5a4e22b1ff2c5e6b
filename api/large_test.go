package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tallyhouse/api"
	"tallyhouse/schemas/events"
)

// named is a world whose budget line n has a name of so many bytes: every record on it is shown with that name several
// times, though it is read once.
func named(t testing.TB, bytes int, change ...func(*api.Options)) *world {
	t.Helper()
	w := newWorld(t, change...)
	w.user("U-admin", adminKey, "admin")
	w.project("P1", events.Project{BudgetStructureID: some("S1")})
	w.node("n", events.BudgetNode{StructureID: some("S1"), Level: "budget", Code: "1", Active: true,
		Name: strings.Repeat("x", bytes)})
	w.seen(adminKey, "P1")
	return w
}

func TestPagesAreCutByWhatIsWritten(t *testing.T) {
	// Given records that are small as they are stored and large as they are shown
	var w *world
	large := atomic.Int64{} // shares, while a statement begins
	w = named(t, 1<<20, rewritten(func(sql string) string {
		if strings.Contains(sql, "FROM records") {
			large.Add(int64(w.server.Large()))
		}
		return sql
	}))
	var want []string
	for i := range 12 {
		id := fmt.Sprintf("R%02d", i)
		want = append(want, id)
		w.records(record{id: id, project: "P1", nodes: []string{"n"}, nets: []int64{1}})
	}
	// When the list is walked
	var met []string
	path, pages := "/v0/records?limit=200&fields=allocations", 0
	for cursor := ""; ; pages++ {
		page := w.plain(adminKey, path+cursor).want(t, http.StatusOK, "")
		if size := len(page.body); size > 20<<20+1000 {
			t.Errorf("a page has %d bytes", size)
		}
		met = append(met, page.items("id")...)
		if page.cursor() == "" {
			break
		}
		cursor = "&cursor=" + page.cursor()
	}
	// Then its pages are cut, each record is met once, and no page was made without a large share.
	if large.Load() < int64(pages) {
		t.Errorf("%d large shares for %d pages", large.Load(), pages)
	}
	if !slices.Equal(met, want) || pages < 1 {
		t.Errorf("met %q on %d pages", met, pages+1)
	}
}

// What cannot be cut is not read again only because its body needs a larger share.
func TestAnAnswerWhoseBodyAloneIsLargeIsReadOnce(t *testing.T) {
	// Given a budget whose line has a long name, and lines that are kept since the first answer
	var statements atomic.Int64
	w := named(t, 9<<20, rewritten(func(sql string) string {
		if strings.Contains(sql, "GROUP BY keys") { // the sums of a budget
			statements.Add(1)
		}
		return sql
	}))
	const path = "/v0/projects/P1/budget"
	first := w.plain(adminKey, path).want(t, http.StatusOK, "")
	w.server.ForgetKept()
	statements.Store(0)
	// When it is made anew
	again := w.plain(adminKey, path).want(t, http.StatusOK, "")
	// Then it is whole, from one reading
	if len(again.body) < 9<<20 || string(again.body) != string(first.body) {
		t.Errorf("%d bytes, then %d", len(first.body), len(again.body))
	}
	if n := statements.Load(); n != 1 {
		t.Errorf("it was read %d times", n)
	}
}

func TestWhatIsTooLargeForAnAnswerIsToldApart(t *testing.T) {
	// Given one record beyond what an answer may have, between others
	w := named(t, 4<<20)
	w.records(record{id: "R1", project: "P1"}, record{id: "R3", project: "P1"})
	w.records(record{id: "R2", project: "P1", nodes: slices.Repeat([]string{"n"}, 10), nets: make([]int64, 10)})
	// Then it is refused, and the log says why
	for _, path := range []string{"/v0/records/R2", "/v0/records?limit=1&cursor=" + w.get(adminKey,
		"/v0/records?limit=1&fields=id").cursor()} {
		r := w.get(adminKey, path).want(t, http.StatusInternalServerError, "internal-error")
		if !strings.Contains(string(r.body), "larger than one may be") {
			t.Errorf("the answer doesn't say why: %s", r.body)
		}
		if log := w.log.tail(); !strings.Contains(log, "larger than") || !strings.Contains(log, "principal=acme/key:key-admin") {
			t.Errorf("the log doesn't say what was too large: %s", log)
		}
	}
	// And the list has the others, and all of it without what is too large.
	w.get(adminKey, "/v0/records/R1").want(t, 200, "")
	page := w.plain(adminKey, "/v0/records").want(t, 200, "")
	if ids := page.items("id"); !slices.Equal(ids, []string{"R1"}) || page.cursor() == "" {
		t.Errorf("the first page has %q", ids)
	}
	if ids := w.get(adminKey, "/v0/records?fields=id").items("id"); !slices.Equal(ids, []string{"R1", "R2", "R3"}) {
		t.Errorf("without its allocations: %q", ids)
	}
}

// plain sends a request whose answer is too large to be held against the OpenAPI document in reasonable time.
func (w *world) plain(key, path string) response {
	w.Helper()
	request, err := http.NewRequest(http.MethodGet, w.url+path, nil)
	w.must(err)
	request.Header.Set("Authorization", "Bearer "+key)
	return w.roundTrip(request)
}
