package api_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/parquet-go/parquet-go"

	"tallyhouse/api"
	"tallyhouse/api/export"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// exported is an export as a client takes it.
type exported struct {
	status  int
	header  http.Header
	trailer http.Header
	body    []byte
	broken  error // of the transfer
}

func (w *world) export(key, path string) exported {
	w.Helper()
	request, err := http.NewRequest(http.MethodGet, w.url+"/export/v1/"+path, nil)
	w.must(err)
	request.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil { // broken before anything was sent
		return exported{broken: err}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return exported{answer.StatusCode, answer.Header, answer.Trailer, body, err}
}

// whole fails unless it is a whole export of so many records.
func (e exported) whole(t testing.TB, records int) exported {
	t.Helper()
	if e.status != http.StatusOK || e.broken != nil || e.trailer.Get("Tallyhouse-Records") != fmt.Sprint(records) {
		t.Fatalf("got %d, %v, trailer %v\n%.2000s", e.status, e.broken, e.trailer, e.body)
	}
	return e
}

// refused fails unless it is a problem with this suffix.
func (e exported) refused(t testing.TB, status int, suffix string) exported {
	t.Helper()
	var problem struct{ Type, RequestID string }
	if err := json.Unmarshal(e.body, &problem); err != nil || e.status != status || problem.Type != "/problems/"+suffix ||
		problem.RequestID != e.header.Get("X-Request-Id") {
		t.Fatalf("got %d %s\nwant %d %s", e.status, e.body, status, suffix)
	}
	return e
}

// lines are the objects of NDJSON.
func (e exported) lines() []string {
	return strings.Split(strings.TrimSuffix(string(e.body), "\n"), "\n")
}

// exportWorld has three projects with records in them.
func exportWorld(t testing.TB, change ...func(*api.Options)) (w *world, records int) {
	w = structured(t, change...)
	w.project("P2", events.Project{})
	w.project("P3", events.Project{BudgetStructureID: some("S2")})
	w.seen(adminKey, "P1", "P2", "P3")
	var all []record
	for i := range 300 {
		r := record{id: fmt.Sprintf("R%03d", i), project: []string{"P1", "P2", "P3"}[i%3], status: []string{"paid", "setup"}[i%2],
			contractor: []string{"", "K1", "K2"}[i%4%3], captured: fmt.Sprintf(`=1+%d;"x"`, i), currency: "EUR",
			net: some(int64(i - 100)), receivedAt: some(time.Date(2026, 5, 12, 9, 0, 0, i*1000, time.UTC))}
		if i%5 > 0 {
			r.nodes, r.nets = []string{[]string{"i", "k", "y"}[i%3]}, []int64{int64(i - 100)}
			r.recognition = some(calendar.NewDate(2026, 1, 1) + calendar.Date(i))
		}
		all = append(all, r)
	}
	w.records(all...)
	return w, len(all)
}

func TestAnExportHasWhatTheListHas(t *testing.T) {
	w, records := exportWorld(t)
	for _, query := range []string{"", "status=paid", "projectId=P2", "budgetNodeId=t&includeDescendants=true", "accountingCode=datev:0700-00",
		"fields=net,status", "contractorId=K1&source=invoice", "recognitionDateFrom=2026-03-01", "contractorId=nobody"} {
		t.Run(query, func(t *testing.T) {
			// Given the list, page by page
			var want []string
			for cursor := ""; ; {
				r := w.get(adminKey, "/v0/records?limit=200&"+query+cursor).want(t, 200, "")
				var page struct{ Data []json.RawMessage }
				w.must(json.Unmarshal(r.body, &page))
				for _, object := range page.Data {
					want = append(want, string(object))
				}
				if cursor = "&cursor=" + r.cursor(); r.cursor() == "" {
					break
				}
			}
			// When it is exported
			got := w.export(adminKey, "records.ndjson?"+query).whole(t, len(want)).lines()
			// Then each record is what the list shows, byte for byte, and the last line is the end mark
			if last := got[len(got)-1]; !strings.HasPrefix(last, fmt.Sprintf(`{"end":{"records":%d,"cursor":"`, len(want))) {
				t.Errorf("the end mark is %s", last)
			}
			if got = got[:len(got)-1]; !slices.Equal(got, want) {
				t.Errorf("got  %d records %.1000s\nwant %d %.1000s", len(got), got, len(want), want)
			}
		})
	}
	// And the other formats hold the same.
	e := w.export(adminKey, "records.csv").whole(t, records)
	if kind := e.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/csv") {
		t.Errorf("CSV has the type %s", kind)
	}
	table, err := csv.NewReader(bytes.NewReader(e.body)).ReadAll()
	w.must(err)
	if len(table) != records+1 || strings.Join(table[0], " ") != "id projectId systemKind direction basis source status workflowStep "+
		"counterparty.contractorId counterparty.name invoiceNumber recognitionDate dueDate cashDate net.value net.currency tax.value "+
		"tax.currency gross.value gross.currency allocations budgetNode.nodeId budgetNode.code budgetNode.name budgetNode.budgetName "+
		"accountingCodes documents intake.channel intake.status intake.receivedAt" {
		t.Errorf("%d lines, the first is %s", len(table), table[0])
	}
	e = w.export(adminKey, "records.csv?dialect=excel-de&fields=counterparty,net,id&contractorId=K2").whole(t, 75)
	if lines := strings.Split(string(e.body), "\r\n"); lines[0] != "\uFEFFid;counterparty.contractorId;counterparty.name;net;net.currency" ||
		lines[1] != `R002;K2;"'=1+2;""x""";-0,98;EUR` {
		t.Errorf("Excel gets\n%.300s", e.body)
	}
	e = w.export(adminKey, "records.parquet?fields=id,net").whole(t, records)
	file, err := parquet.OpenFile(bytes.NewReader(e.body), int64(len(e.body)))
	w.must(err)
	if said, _ := file.Lookup("tallyhouse.records"); file.NumRows() != int64(records) || said != fmt.Sprint(records) {
		t.Errorf("the file has %d rows and says %s", file.NumRows(), said)
	}
}

func TestAnExportShowsWhatTheCallerMaySeeEverywhere(t *testing.T) {
	// Given a caller who is a guest of one project and a user of the other
	w, _ := exportWorld(t)
	w.user("U2", guestKey, "")
	w.member("U2", events.Scope{ProjectID: some("P1")}, "user")
	w.member("U2", events.Scope{ProjectID: some("P2")}, "guest")
	w.seen(guestKey, "P1", "P2")
	// When everything is exported, then the columns are those of a guest, in both
	e := w.export(guestKey, "records.ndjson").whole(t, 200)
	for _, hidden := range []string{`"net"`, `"dueDate"`, `"documents"`, `"allocations"`, `"accountingCodes"`, `"P3"`} {
		if bytes.Contains(e.body, []byte(hidden)) {
			t.Errorf("%s is shown: %.500s", hidden, e.body)
		}
	}
	// And naming a column that is hidden anywhere is refused, whether or not there is a record
	w.export(guestKey, "records.csv?fields=id,net").refused(t, 400, "filter-not-allowed")
	w.export(guestKey, "records.csv?fields=net&contractorId=nobody").refused(t, 400, "filter-not-allowed")
	w.export(guestKey, "records.csv?hasCashDate=true").refused(t, 400, "filter-not-allowed")
	// And in the project where it is not hidden it is shown.
	e = w.export(guestKey, "records.ndjson?projectId=P1&fields=id,net").whole(t, 100)
	if !strings.HasPrefix(e.lines()[0], `{"id":"R000","net":{"value":-100,"currency":"EUR"}}`) {
		t.Errorf("got %.300s", e.body)
	}
}

func TestWhatIsNoExportIsRefused(t *testing.T) {
	w, _ := exportWorld(t)
	w.export("", "records.csv").refused(t, 401, "authentication-required")
	w.export("pk_test_nobody_x", "records.csv").refused(t, 401, "invalid-credentials")
	w.export(adminKey, "records.xls").refused(t, 404, "not-found")
	w.export(adminKey, "records.csv?projectId=P9").refused(t, 404, "not-found")
	for _, query := range []string{"limit=7", "count=true", "cursor=x", "dialect=excel", "fields=nte", "status=", "includeDescendants=true"} {
		w.export(adminKey, "records.csv?"+query).refused(t, 400, "invalid-query")
	}
	w.export(adminKey, "records.ndjson?dialect=excel-de").refused(t, 400, "invalid-query")
	r := w.do(http.MethodPost, adminKey, "/export/v1/records.csv", nil).want(t, 405, "method-not-allowed")
	if r.header.Get("Allow") != "GET" {
		t.Errorf("Allow %q", r.header.Get("Allow"))
	}
}

// stepping is a connection that runs a function before statements that hold a text, and may refuse them.
type stepping struct {
	reader.Conn
	mu     sync.Mutex
	text   string
	before func() error
}

func (s *stepping) set(text string, before func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.before = text, before
}

func (s *stepping) Query(ctx context.Context, q string, args ...any) (driver.Rows, error) {
	s.mu.Lock()
	before := s.before
	if !strings.Contains(q, s.text) {
		before = nil
	}
	s.mu.Unlock()
	if before != nil {
		if err := before(); err != nil {
			return nil, err
		}
	}
	return s.Conn.Query(ctx, q, args...)
}

// A text of the statement that reads a window of a walk, and of no other.
const windowStatement = "\nORDER BY id, project"

// manyPages makes an export of more than one page: records beyond those of exportWorld.
func manyPages(w *world) (records int) {
	w.Helper()
	const more = 9000
	w.must(w.db.Exec(context.Background(), fmt.Sprintf("INSERT INTO records (tenant, project, id, row_version, currency, net) "+
		"SELECT '%s', ['P1', 'P2', 'P3'][number %% 3 + 1], 'X' || number, 1, 'EUR', number FROM numbers(%d)", tenant, more)))
	return more
}

func TestABrokenExportIsNeverTakenForAWholeOne(t *testing.T) {
	steps := &stepping{}
	w, _ := exportWorld(t, func(o *api.Options) { o.Control = o.ClickHouse; steps.Conn, o.ClickHouse = o.ClickHouse, steps })
	manyPages(w)
	for name, fails := range map[string]func() error{
		"the database is away": func() error { return errors.New("acme_internal: away") },
		"a fault":              func() error { panic("acme_internal: fault") },
	} {
		for _, path := range []string{"records.ndjson", "records.csv", "records.parquet", "records.csv?dialect=excel-de"} {
			t.Run(name+" "+path, func(t *testing.T) {
				// Given a database that fails at the second page
				var pages atomic.Int32
				steps.set(windowStatement, func() error {
					if pages.Add(1) < 2 {
						return nil
					}
					return fails()
				})
				// When it is exported
				e := w.export(adminKey, path)
				// Then the transfer is broken, without a trailer and an end mark, and the log says why.
				if e.status >= 400 || e.broken == nil || len(e.trailer.Get("Tallyhouse-Records")) > 0 {
					t.Errorf("got %d, %v, %v", e.status, e.broken, e.trailer)
				}
				if bytes.Contains(e.body, []byte(`{"end"`)) || bytes.HasSuffix(e.body, []byte("PAR1")) || bytes.Contains(e.body, []byte("acme_internal")) {
					t.Errorf("it ends in %q", e.body[max(0, len(e.body)-200):])
				}
				w.eventually(knownWithin, "the log says why", func() bool {
					log := w.log.String()
					return strings.Contains(log, "an export was broken off after") && strings.Contains(log, "acme_internal") &&
						strings.Contains(log, e.header.Get("X-Request-Id"))
				})
			})
		}
	}
	// And when it fails at the first page, the answer is a problem, however often: it leaves its place to others.
	for range 3 {
		for _, fails := range []func() error{func() error { return errors.New("away") }, func() error { panic("fault") }} {
			steps.set(windowStatement, fails)
			w.export(adminKey, "records.csv").refused(t, 500, "internal-error")
		}
	}
	steps.set("", nil)
	w.export(adminKey, "records.csv").whole(t, 9300)
}

func TestAccessIsConfirmedForEveryPage(t *testing.T) {
	for name, lose := range map[string]func(w *world){
		"the key is revoked": func(w *world) { w.key("U2", guestKey, func(k *events.Key) { k.RevokedAt = some(time.Now()) }) },
		"a project is lost":  func(w *world) { w.send(events.Memberships, tenant, "U2-P1", nil) },
		"a column is lost": func(w *world) {
			w.send(events.Memberships, tenant, "U2-P1", &events.Membership{UserID: "U2", Scope: events.Scope{ProjectID: some("P1")}, Role: "guest"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			// Given an export of several pages
			steps := &stepping{}
			w, _ := exportWorld(t, func(o *api.Options) { o.Control = o.ClickHouse; steps.Conn, o.ClickHouse = o.ClickHouse, steps })
			records := manyPages(w)
			w.user("U2", guestKey, "")
			for _, project := range []string{"P1", "P2", "P3"} {
				w.send(events.Memberships, tenant, "U2-"+project,
					&events.Membership{UserID: "U2", Scope: events.Scope{ProjectID: some(project)}, Role: "user"})
			}
			w.seen(guestKey, "P1", "P2", "P3")
			w.export(guestKey, "records.ndjson").whole(t, records+300)
			// When access ends before the first page is sent
			steps.set(windowStatement, sync.OnceValue(func() error {
				steps.set("", nil)
				before := w.get(guestKey, "/v0/records?projectId=P1&limit=1").body
				lose(w)
				w.eventually(knownWithin, "access has ended", func() bool {
					return !bytes.Equal(w.get(guestKey, "/v0/records?projectId=P1&limit=1").body, before)
				})
				return nil
			}))
			// Then no second page follows.
			e := w.export(guestKey, "records.ndjson")
			if e.broken == nil || bytes.Count(e.body, []byte("\n")) > 4096 {
				t.Errorf("got %v and %d lines", e.broken, bytes.Count(e.body, []byte("\n")))
			}
			w.eventually(knownWithin, "the log says why", func() bool {
				return strings.Contains(w.log.String(), "access to what is exported has ended")
			})
		})
	}
}

func TestExportsOfAKeyAreBounded(t *testing.T) {
	// Given two exports of a key that do not get on
	steps := &stepping{}
	w, records := exportWorld(t, func(o *api.Options) { o.Control = o.ClickHouse; steps.Conn, o.ClickHouse = o.ClickHouse, steps })
	w.key("U-admin", strangerKey, func(*events.Key) {})
	w.known(strangerKey)
	waiting, gate := make(chan struct{}, 2), make(chan struct{})
	steps.set(windowStatement, func() error { waiting <- struct{}{}; <-gate; return nil })
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() { w.export(adminKey, "records.ndjson").whole(w, records) })
	}
	<-waiting
	<-waiting
	// When there is a third one, then it is refused; another key's is not, and pages are answered
	steps.set("", nil)
	if e := w.export(adminKey, "records.ndjson").refused(t, 429, "too-many-requests"); e.header.Get("Retry-After") != "5" {
		t.Errorf("Retry-After %q", e.header.Get("Retry-After"))
	}
	w.export(strangerKey, "records.ndjson").whole(t, records)
	w.get(adminKey, "/v0/records").want(t, 200, "")
	// And when they have ended, others may begin.
	close(gate)
	running.Wait()
	w.eventually(knownWithin, "another may begin", func() bool { return w.export(adminKey, "records.csv").status == 200 })
}

func TestWhenTheClientLeavesItsStatementEnds(t *testing.T) {
	for name, pages := range map[string]int64{"of the first page": 0, "of a later page": 1} {
		t.Run(name, func(t *testing.T) {
			// Given an export with a statement that takes for ever
			steps := &stepping{}
			w, records := exportWorld(t, func(o *api.Options) {
				o.Control, o.QueryTimeout = o.ClickHouse, time.Hour // so that nothing but the client's leaving ends it
				steps.Conn, o.ClickHouse = o.ClickHouse, steps
			})
			records += manyPages(w)
			slow := &slowing{Conn: steps.Conn}
			steps.Conn = slow
			slow.quick.Store(pages)
			slow.on.Store(true)
			ctx, leave := context.WithCancel(context.Background())
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/export/v1/records.ndjson", nil)
			w.must(err)
			request.Header.Set("Authorization", "Bearer "+adminKey)
			left := make(chan error)
			go func() {
				answer, err := http.DefaultClient.Do(request)
				if err == nil {
					_, err = io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
				}
				left <- err
			}()
			running := func() bool {
				const processes = `SELECT count() FROM system.processes WHERE query LIKE '%sleepEachRow%'
					AND current_database = currentDatabase() AND query NOT LIKE '%system.processes%'`
				var n uint64
				w.must(w.db.QueryRow(context.Background(), processes).Scan(&n))
				return n > 0
			}
			w.eventually(knownWithin, "the statement runs", running)
			// When the client leaves
			leave()
			if <-left == nil {
				t.Error("it was answered")
			}
			// Then the statement ends, long before its time, and another export may begin.
			w.eventually(knownWithin, "the statement has ended", func() bool { return !running() })
			slow.on.Store(false)
			for range 3 {
				w.eventually(knownWithin, "an export is whole", func() bool {
					return w.export(adminKey, "records.ndjson").trailer.Get("Tallyhouse-Records") == fmt.Sprint(records)
				})
			}
		})
	}
}

// slowing is a connection on which a window of a walk takes for ever, but for the first ones.
type slowing struct {
	reader.Conn
	on    atomic.Bool
	quick atomic.Int64
}

func (s *slowing) Query(ctx context.Context, q string, args ...any) (driver.Rows, error) {
	if s.on.Load() && strings.Contains(q, windowStatement) && s.quick.Add(-1) < 0 {
		q = "SELECT toString(sum(sleepEachRow(1))) FROM numbers(150) SETTINGS max_block_size = 1"
		args = nil
	}
	return s.Conn.Query(ctx, q, args...)
}

func TestAnExportMayTakeLongerThanARequest(t *testing.T) {
	// Given a server whose requests and answers have little time
	steps := &stepping{}
	w, records := exportWorld(t, func(o *api.Options) { o.Control = o.ClickHouse; steps.Conn, o.ClickHouse = o.ClickHouse, steps })
	records += manyPages(w)
	server := httptest.NewUnstartedServer(w.server.Handler())
	const short = 50 * time.Millisecond
	server.Config.ReadTimeout, server.Config.WriteTimeout = short, short
	server.Start()
	defer server.Close()
	w.url = server.URL
	// When an export takes longer, then it is whole all the same.
	steps.set(windowStatement, func() error { time.Sleep(2 * short); return nil })
	w.export(adminKey, "records.ndjson").whole(t, records)
}

// TestAnExportMeetsWhatStaysExactlyOnce changes, adds, deletes and moves records between the pages.
func TestAnExportMeetsWhatStaysExactlyOnce(t *testing.T) {
	steps := &stepping{}
	w, records := exportWorld(t, func(o *api.Options) { o.Control = o.ClickHouse; steps.Conn, o.ClickHouse = o.ClickHouse, steps })
	more := manyPages(w)
	version := int64(1)
	steps.set(windowStatement, func() error {
		version++
		var rows []record
		for i := range 300 { // each goes to the next project
			for at, project := range []string{"P1", "P2", "P3"} {
				rows = append(rows, record{id: fmt.Sprintf("R%03d", i), project: project, version: version, deleted: at != (i+int(version))%3})
			}
		}
		rows = append(rows, record{id: fmt.Sprint("N", version), project: "P1"}, record{id: fmt.Sprint("X", version), project: "P1", version: version, deleted: true})
		w.records(rows...)
		return nil
	})
	e := w.export(adminKey, "records.ndjson?fields=id")
	seen := make(map[string]int)
	for _, line := range e.lines() {
		seen[line]++
	}
	for i := range records {
		if line := fmt.Sprintf(`{"id":"R%03d"}`, i); seen[line] != 1 {
			t.Errorf("%s is met %d times", line, seen[line])
		}
	}
	for i := 100; i < more; i++ {
		if line := fmt.Sprintf(`{"id":"X%d"}`, i); seen[line] != 1 {
			t.Errorf("%s is met %d times", line, seen[line])
		}
	}
}

func TestADownloadIsWholeOrNotThere(t *testing.T) {
	steps := &stepping{}
	w, records := exportWorld(t, func(o *api.Options) { o.Control = o.ClickHouse; steps.Conn, o.ClickHouse = o.ClickHouse, steps })
	records += manyPages(w)
	dir := t.TempDir()
	for _, format := range []export.Format{export.NDJSON, export.CSV, export.Parquet} {
		// Given a file of an earlier export
		path := filepath.Join(dir, string(format))
		w.must(os.WriteFile(path, []byte("before"), 0o600))
		d := &export.Download{API: w.url, Key: adminKey, Format: format, Query: url.Values{"source": {"invoice"}}}
		if total, ok := d.Total(t.Context()); !ok || total != 300 {
			t.Errorf("the API tells %d records, %v", total, ok)
		}
		d.Query = nil
		// When the next one breaks off, then the file is as before, and nothing lies beside it
		var pages atomic.Int32
		steps.set(windowStatement, func() error {
			if pages.Add(1) > 1 {
				return errors.New("away")
			}
			return nil
		})
		if _, err := d.ToFile(t.Context(), path); err == nil {
			t.Errorf("%s: a broken export is taken", format)
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != "before" {
			t.Errorf("%s: the file is %q, %v", format, kept, err)
		}
		// And when it is whole, it has taken its place.
		steps.set("", nil)
		if n, err := d.ToFile(t.Context(), path); err != nil || n != int64(records) {
			t.Errorf("%s: %d records, %v", format, n, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
		t.Errorf("beside the files lies %v, %v", left, err)
	}
	d := &export.Download{API: w.url, Key: adminKey, Format: export.CSV, Query: url.Values{"status": {"payd"}}}
	if _, err := d.To(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "400 Bad Request: status has the item") {
		t.Errorf("a wrong filter: %v", err)
	}
	d.Query = url.Values{"projectId": {"P99"}}
	if _, err := d.To(t.Context(), io.Discard); err == nil || !strings.HasSuffix(err.Error(), `404 Not Found: the key sees no project "P99"`) {
		t.Errorf("a project that isn't there: %v", err)
	}
}
