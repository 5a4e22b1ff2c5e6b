package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/api"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/schemas/events"
)

// readsFilling makes the rows of BenchmarkReads.
const readsFilling = "testdata/reads_bench.sql"

const (
	readsParts    = 12
	readsProjects = 500
	readsSpanned  = 30 // projects that its caller may see
	largeProject  = "P000"
	// ifNoneMatch marks a request that sends the entity tag of the answer before.
	ifNoneMatch = "unchanged "
	// madeAnew marks one that meets no answer that is kept, and beside one before which a record of another project has come in.
	madeAnew = "anew "
	beside   = "beside "
)

// BenchmarkReads measures what each read costs on data as time makes it: 500 projects in a tenant, 30 of them the
// caller's, one of these with 94,000 records and 2,000 lines; records that came in and were paid later, under ids that
// follow neither project nor time; 12 parts of every table, as merges leave them; the binary's own settings, without compression.
// It reports CPU of the engine, as its query log has it, and of this process, both in ms, and the rows that were read.
// What is called bare is the statement alone, sent by the bare client; beside it is what takes turns with it, by the clock.
func BenchmarkReads(b *testing.B) {
	w := newReadsWorld(b)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	for _, read := range []struct{ name, path string }{
		{"records/of 30 projects", "/v0/records"},
		{"records/of a project", "/v0/records?projectId=" + largeProject},
		{"records/of a project, 200", "/v0/records?limit=200&projectId=" + largeProject},
		{"contracts/page of 50", "/v0/contracts"},
		{"contracts/page of 50 of a project", "/v0/contracts?projectId=" + largeProject},
		{"contracts/one", "/v0/contracts/P000-c-017"},
		{"contracts/another", "/v0/contracts/P007-c-003"},
		{"contractors/page of 50", "/v0/contractors"},
		{"budget/2000 lines, made anew", madeAnew + "/v0/projects/P000/budget"},
		{"budget/2000 lines, unchanged", ifNoneMatch + "/v0/projects/P000/budget"},
		{"budget/2000 lines, beside a stream", beside + "/v0/projects/P000/budget"},
		{"budget/top lines, made anew", madeAnew + "/v0/projects/P000/budget?level=budget"},
		{"cashflow/2000 lines, 120 months, made anew", madeAnew + "/v0/projects/P000/cashflow"},
		{"cashflow/2000 lines, 120 months, beside a stream", beside + "/v0/projects/P000/cashflow"},
		{"cashflow/2000 lines, 120 months, unchanged", ifNoneMatch + "/v0/projects/P000/cashflow"},
		{"rentroll/5000 leases, 2006-05", "/v0/projects/P000/rent-roll?asOf=2006-05"},
		{"rentroll/5000 leases, 2026-05", "/v0/projects/P000/rent-roll?asOf=2026-05"},
		{"rentroll/5000 leases, 2150-05", "/v0/projects/P000/rent-roll?asOf=2150-05"},
		{"schedule/30 years, 1000 entries", "/v0/facilities/F000/schedule"},
		{"drawdowns/page of 50", "/v0/facilities/F000/drawdowns"},
		{"facilities/of a project", "/v0/projects/P000/facilities"},
		{"facilities/of 30 projects", "/v0/projects/P029/facilities"},
		{"project", "/v0/projects/" + largeProject},
		{"snapshots/list", "/v0/projects/P000/forecast/snapshots"},
		{"snapshots/one", "/v0/projects/P000/forecast/snapshots/2026-03"},
		{"units/page of 50", "/v0/projects/P000/units"},
	} {
		b.Run(read.name, func(b *testing.B) {
			path, streamed := strings.CutPrefix(read.path, beside)
			before := func() {}
			if streamed {
				before = w.streamed(b)
			}
			w.measure(b, before, w.read(path))
		})
	}
	bare := func(name string, parameters ...any) {
		b.Run("bare/"+name, func(b *testing.B) { w.measure(b, func() {}, w.statement(w.written(name), parameters...)) })
	}
	page := []any{clickhouse.Named("project0", largeProject), clickhouse.Named("after", ""), clickhouse.Named("limit", 201)}
	bare("records_page", page...)
	bare("parts", clickhouse.Named("tables", []string{"migrations", "sums", "streams", "budget_nodes", "uncommitted_entries", "line_plans"}))
	bare("budget", clickhouse.Named("rolls", []string{"budget", "claims", "contracts", "transfers"}))
	b.Run("beside/page of 200", func(b *testing.B) {
		compare(b, w.statement(w.written("records_page"), page...), w.read("/v0/records?limit=200&projectId="+largeProject))
	})
}

// readsWorld is an API of its own beside that of its world, on connections whose statements are logged.
type readsWorld struct {
	*world
	logged  clickhouse.Conn
	handler http.Handler
}

func newReadsWorld(b *testing.B) *readsWorld {
	b.Helper()
	if err := clickhousetest.Engine(b).RestartWithQueryLog(); err != nil {
		b.Fatal(err)
	}
	w := &readsWorld{world: newWorld(b)}
	w.user("U", adminKey, "admin")
	var spanned []string
	for i := range readsProjects {
		id := fmt.Sprintf("P%03d", i)
		w.send(events.Projects, tenant, id, &events.Project{Name: "Project " + id, Currency: "EUR", BudgetStructureID: some("S1")})
		if i < readsSpanned {
			spanned = append(spanned, id)
		}
	}
	w.key("U", adminKey, func(k *events.Key) { k.ProjectIDs = some(spanned) })
	w.fill()
	var err error
	w.logged, err = clickhouse.Open(&clickhouse.Options{
		Addr: []string{clickhousetest.Engine(b).Addr()}, Auth: clickhouse.Auth{Database: w.database}, MaxOpenConns: 48,
		MaxIdleConns: 48, Settings: clickhouse.Settings{"log_queries": 1, "log_comment": w.database},
	})
	w.must(err)
	b.Cleanup(func() { w.logged.Close() })
	w.server, w.url = w.start(func(o *api.Options) {
		o.ClickHouse, o.Control, o.Log = w.logged, w.db, nil
		o.Clock = func() time.Time { return time.Date(2026, 5, 12, 9, 0, 0, 0, time.UTC) }
	})
	w.handler = w.server.Handler()
	w.eventually(knownWithin, "the key sees its projects", func() bool {
		var projects struct{ Data []any }
		return json.Unmarshal(w.get(adminKey, "/v0/projects").body, &projects) == nil && len(projects.Data) == readsSpanned
	})
	return w
}

// fill runs the statements of readsFilling: those behind "-- each part" once for every part.
func (w *readsWorld) fill() {
	w.Helper()
	text, err := os.ReadFile(readsFilling)
	w.must(err)
	db := w.patient()
	run := func(statements string, part int) {
		for statement := range strings.SplitSeq(statements, ";\n") {
			if statement = strings.TrimSpace(statement); statement == "" {
				continue
			}
			statement = strings.NewReplacer("{tenant}", "'"+tenant+"'", "{part}", fmt.Sprint(part)).Replace(statement)
			if err := db.Exec(context.Background(), statement); err != nil {
				w.Fatalf("%s\n%s", err, statement)
			}
		}
	}
	once, each, found := strings.Cut(string(text), "-- each part\n")
	if !found {
		w.Fatal("nothing is done for each part")
	}
	run(once, 0)
	for part := range readsParts {
		run(each, part)
	}
}

// read sends a request to the API's handler, without a network between.
func (w *readsWorld) read(path string) func() {
	path, conditional := strings.CutPrefix(path, ifNoneMatch)
	path, anew := strings.CutPrefix(path, madeAnew)
	tag := ""
	return func() {
		if anew {
			w.server.ForgetKept()
		}
		request := httptest.NewRequest(http.MethodGet, path, nil)
		request.Header.Set("Authorization", "Bearer "+adminKey)
		if tag != "" {
			request.Header.Set("If-None-Match", tag)
		}
		answer := &discarding{header: make(http.Header)}
		w.handler.ServeHTTP(answer, request)
		if want := map[bool]int{false: http.StatusOK, true: http.StatusNotModified}[tag != ""]; answer.status != want {
			w.Fatalf("%s: %d instead of %d: %s", path, answer.status, want, answer.head)
		}
		if conditional {
			tag = answer.header.Get("ETag")
		}
	}
}

// discarding is a response that is only counted.
type discarding struct {
	header http.Header
	status int
	bytes  int
	head   []byte
}

func (d *discarding) Header() http.Header    { return d.header }
func (d *discarding) WriteHeader(status int) { d.status = status }
func (d *discarding) Write(b []byte) (int, error) {
	if d.status == 0 {
		d.status = http.StatusOK
	}
	if d.head == nil {
		d.head = b[:min(len(b), 200)]
	}
	d.bytes += len(b)
	return len(b), nil
}

// statement sends a statement by the bare client and reads its rows.
func (w *readsWorld) statement(sql string, parameters ...any) func() {
	parameters = append(parameters, clickhouse.Named("tenant", tenant), clickhouse.Named("project", largeProject))
	return func() {
		ctx := clickhouse.Context(context.Background(), clickhouse.WithSettings(clickhouse.Settings{"max_threads": 1, "max_block_size": 1024,
			"log_queries": 1, "log_comment": w.database}))
		rows, err := w.logged.Query(ctx, sql, parameters...)
		w.must(err)
		for rows.Next() {
		}
		w.must(rows.Err())
		w.must(rows.Close())
	}
}

// streamed takes in a record of another project, and takes away the part of sums that the one before made, as a merge would.
func (w *readsWorld) streamed(b *testing.B) func() {
	ctx, next, part := context.Background(), 1, ""
	take := func() {
		if part != "" {
			w.must(w.db.Exec(ctx, "ALTER TABLE sums DROP PART '"+part+"'"))
			part = ""
		}
	}
	b.Cleanup(take)
	return func() {
		take()
		w.must(w.db.Exec(ctx, fmt.Sprintf(`INSERT INTO sums (tenant, project, keys, amount1, amount2)
SELECT '%s', 'P001', 'lines\\0\\0node-200\\0EUR\\0paid\\0', 1, 5 UNION ALL SELECT '', '#records/0', '', %d, 0`, tenant, next)))
		next++
		w.must(w.db.QueryRow(ctx, `SELECT argMax(name, min_block_number) FROM system.parts
WHERE database = currentDatabase() AND table = 'sums' AND active`).Scan(&part))
	}
}

// measure does something again and again, each time behind what comes before it, and reports what that cost.
func (w *readsWorld) measure(b *testing.B, before, do func()) {
	b.Helper()
	for range 2 {
		before()
		do()
	}
	flush := func() { w.must(w.db.Exec(context.Background(), "SYSTEM FLUSH LOGS")) }
	flush()
	time.Sleep(time.Millisecond) // the query log counts microseconds
	began := time.Now()
	var own time.Duration
	for b.Loop() {
		before()
		used := ownCPU(b)
		do()
		own += ownCPU(b) - used
	}
	flush()
	var statements, rows, cpu uint64
	w.must(w.db.QueryRow(context.Background(), `SELECT count(), sum(read_rows), sum(ProfileEvents['OSCPUVirtualTimeMicroseconds'])
FROM system.query_log
WHERE type = 'QueryFinish' AND log_comment = {comment:String} AND event_time_microseconds >= fromUnixTimestamp64Micro({began:Int64})`,
		clickhouse.Named("comment", w.database), clickhouse.Named("began", began.UnixMicro())).Scan(&statements, &rows, &cpu))
	n := float64(b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(cpu)/n/1000, "engine-ms")
	b.ReportMetric(float64(own.Microseconds())/n/1000, "go-ms")
	b.ReportMetric(float64(rows)/n, "rows")
	b.ReportMetric(float64(statements)/n, "statements")
}

// ownCPU is what this process has used.
func ownCPU(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
