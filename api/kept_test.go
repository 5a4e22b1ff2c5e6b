package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tallyhouse/api"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// countedConn counts the statements that ask for rows.
type countedConn struct {
	reader.Conn
	statements *atomic.Int64
}

func (c countedConn) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.statements.Add(1)
	return c.Conn.Query(ctx, query, args...)
}

// keptPaths are the calls whose answers are kept.
var keptPaths = []string{"/v0/projects/P1/budget", "/v0/projects/P1/budget?level=budget", "/v0/projects/P1/cashflow"}

func TestAnAnswerIsKeptForAsLongAsNothingChanges(t *testing.T) {
	w := budgeted(t)
	var statements atomic.Int64
	_, w.url = w.start(func(o *api.Options) { o.ClickHouse, o.Control = countedConn{w.db, &statements}, w.db })
	w.known(adminKey)
	for _, path := range keptPaths {
		// Given an answer
		first := w.get(adminKey, path).want(t, 200, "")
		// When it is asked for again
		before := statements.Load()
		again := w.get(adminKey, path).want(t, 200, "")
		notModified := w.do(http.MethodGet, adminKey, path, http.Header{"If-None-Match": {first.header.Get("ETag")}})
		// Then one statement each finds that nothing has changed
		if got := statements.Load() - before; got != 2 {
			t.Errorf("%s: %d statements for two answers", path, got)
		}
		if string(again.body) != string(first.body) || again.header.Get("ETag") != first.header.Get("ETag") || notModified.status != 304 {
			t.Errorf("%s: another answer, or %d", path, notModified.status)
		}
	}
}

func TestEveryChangeMakesANewAnswerAtOnce(t *testing.T) {
	w := budgeted(t)
	seen := make(map[string]string)
	for _, path := range keptPaths {
		seen[path] = string(w.get(adminKey, path).want(t, 200, "").body)
	}
	for _, change := range []struct {
		name string
		make func()
	}{
		{"an invoice", func() { w.booked("R1", invoice("P1", "i", "C1", "paid", 333)) }},
		{"a budget row", func() { w.budgetRow("B9", "P1", "i", 1234) }},
		{"a transfer", func() { w.transfer("T9", "P1", "", "t", 77) }},
		{"a contract", func() {
			w.contractOf("C9", events.Contract{ProjectID: "P1", Allocations: []events.ContractAllocation{{NodeID: "i", Value: 99999}}})
		}},
		{"a claim", func() { w.claim("L9", "P1", "i", 4000, 5000) }},
		{"an entered value", func() { w.entry("E1", "P1", "k", some(int64(4711))) }},
		{"a line", func() {
			w.node("t", events.BudgetNode{StructureID: some("S1"), Level: "budget", Code: "1", Name: "Renamed", Active: true})
		}},
	} {
		// When something changes
		change.make()
		// Then each answer shows it.
		for _, path := range keptPaths {
			now := string(w.get(adminKey, path).want(t, 200, "").body)
			if now == seen[path] {
				t.Errorf("after %s: %s answers as before", change.name, path)
			}
			seen[path] = now
		}
	}
	// And a plan changes the cash flow
	w.plan("PL9", events.LinePlan{NodeID: "i", Method: "linearDays", StartDate: some(calendar.NewDate(2026, 1, 1)),
		EndDate: some(calendar.NewDate(2099, 12, 31))})
	if now := string(w.get(adminKey, keptPaths[2]).want(t, 200, "").body); now == seen[keptPaths[2]] {
		t.Error("after a plan: the cash flow is as before")
	}
}

// dropping is a connection that forgets what is kept behind each statement by part: the answer that would have been sent once more is gone
// when that is found out.
type dropping struct {
	reader.Conn
	forget func()
}

func (d *dropping) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	rows, err := d.Conn.Query(ctx, query, args...)
	if d.forget != nil && strings.Contains(query, "{known:Array(String)}") {
		d.forget()
	}
	return rows, err
}

// Given answers about a project, when another project's change comes, then they are the same, whether they are still kept or not; and when
// their own does, then they are others.
func TestAnAnswerOutlivesTheChangesOfOtherProjects(t *testing.T) {
	w := budgeted(t)
	w.project("P2", events.Project{BudgetStructureID: some("S1")})
	conn := &dropping{Conn: w.db}
	server, url := w.start(func(o *api.Options) { o.ClickHouse, o.Control = conn, w.db })
	w.url = url
	w.known(adminKey)
	seen := make(map[string]response)
	for _, path := range keptPaths {
		seen[path] = w.get(adminKey, path).want(t, 200, "")
	}
	for i, forget := range []func(){nil, server.ForgetKept, nil} {
		conn.forget = forget
		w.booked(fmt.Sprint("other", i), invoice("P2", "i", "", "paid", 5))
		for _, path := range keptPaths {
			now := w.get(adminKey, path).want(t, 200, "")
			if string(now.body) != string(seen[path].body) || now.header.Get("ETag") != seen[path].header.Get("ETag") {
				t.Errorf("%d: after another project's change %s answers %s, before %s", i, path, now.body, seen[path].body)
			}
		}
	}
	w.booked("own", invoice("P1", "i", "", "paid", 5))
	for _, path := range keptPaths {
		if now := w.get(adminKey, path).want(t, 200, ""); string(now.body) == string(seen[path].body) {
			t.Errorf("after the project's own change %s answers as before", path)
		}
	}
}

// The memory of an answer is used again when another has taken its place, but not while it is being sent.
func TestAnAnswerStaysAsItIsWhileItIsSent(t *testing.T) {
	// Given clients that ask again and again
	w := budgeted(t)
	var told sync.Map // of each path and entity tag, the body
	var clients sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		clients.Go(func() {
			for n := i; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				path := keptPaths[n%len(keptPaths)]
				answer := w.get(adminKey, path)
				body, known := told.LoadOrStore(path+answer.header.Get("ETag"), string(answer.body))
				if answer.status != 200 || known && body != string(answer.body) {
					t.Errorf("%s: %d, or two bodies of one entity tag", path, answer.status)
				}
			}
		})
	}
	// When one change follows another, then every body is the one that its entity tag stands for
	for i := range 20 {
		w.booked(fmt.Sprint("R", i), invoice("P1", "i", "C1", "paid", int64(i)))
	}
	close(stop)
	clients.Wait()
}

func TestAKeptAnswerIsForThoseAloneWhoSeeTheSame(t *testing.T) {
	w := budgeted(t)
	// Given answers that were made for an admin
	all := make(map[string]string)
	for _, path := range keptPaths {
		all[path] = string(w.get(adminKey, path).want(t, 200, "").body)
	}
	// When a guest, and a stranger, ask for the same
	w.user("G", guestKey, "guest")
	w.user("X", strangerKey, "")
	w.known(guestKey)
	w.known(strangerKey)
	for _, path := range keptPaths {
		// Then the guest sees no amount, and for the stranger there is none
		if got := string(w.get(guestKey, path).want(t, 200, "").body); strings.Contains(got, "value") || got == all[path] {
			t.Errorf("a guest gets %s", got)
		}
		w.get(strangerKey, path).want(t, 404, "not-found")
	}
	// When the admin's key loses the group of amounts, then the project
	w.key("U-admin", adminKey, func(k *events.Key) { k.Groups = some([]string{"budget"}) })
	w.eventually(knownWithin, "amounts are hidden", func() bool {
		return !strings.Contains(string(w.get(adminKey, keptPaths[0]).body), "value")
	})
	for _, path := range keptPaths {
		if got := string(w.get(adminKey, path).want(t, 200, "").body); strings.Contains(got, "value") || got == all[path] {
			t.Errorf("without the group %s shows %s", path, got)
		}
	}
	w.key("U-admin", adminKey, func(k *events.Key) { k.ProjectIDs = some([]string{"another"}) })
	w.eventually(knownWithin, "the project is hidden", func() bool { return w.get(adminKey, keptPaths[0]).status == 404 })
	for _, path := range keptPaths {
		w.get(adminKey, path).want(t, 404, "not-found")
	}
}

// Work on the sums changes no position: between its first correction and its last, an answer is of neither.
func TestAnAnswerThatIsMadeDuringARebuildIsNotKept(t *testing.T) {
	w := budgeted(t)
	right := make(map[string]string)
	for _, path := range keptPaths {
		right[path] = string(w.get(adminKey, path).want(t, 200, "").body)
	}
	revision := 0
	stream := func(life, work string) {
		revision++
		w.insert("streams", map[string]any{"topic": string(events.Records), "revision": uint64(revision), "life": life, "work": work})
	}
	stream("first", "")
	// Given sums that are wrong, of which answers were made when a rebuild had begun
	for _, statement := range []string{"CREATE TABLE right_sums AS sums", "INSERT INTO right_sums SELECT * FROM sums WHERE tenant != ''",
		"ALTER TABLE sums DELETE WHERE tenant != '' SETTINGS mutations_sync = 1"} {
		w.must(w.db.Exec(t.Context(), statement))
	}
	stream("second", "`tallyhouse rebuild`")
	for _, path := range keptPaths {
		if got := string(w.get(adminKey, path).want(t, 200, "").body); got == right[path] {
			t.Fatalf("%s: the sums are not wrong", path)
		}
	}
	// When it has corrected them
	w.must(w.db.Exec(t.Context(), "INSERT INTO sums SELECT * FROM right_sums"))
	// Then every answer shows that, and when it is over, too.
	for _, work := range []string{"during", ""} {
		if work == "" {
			stream("second", "")
		}
		for _, path := range keptPaths {
			if got := string(w.get(adminKey, path).want(t, 200, "").body); got != right[path] {
				t.Errorf("%s: of the sums before they were corrected: %s", path, got)
			}
		}
	}
}
