package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/deploy/embedded/clickhouse"
	"tallyhouse/deploy/embedded/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
)

// BenchmarkSystem measures the binary as a user runs it: a filled log (half of the changes are updates) through a
// worker of its own process into ClickHouse; a client that walks a project's records, beside the same SQL asked directly;
// and the same log through ClickHouse's own Kafka engine (testdata/kafka_engine.sql). TALLYHOUSE_BENCH_RECORDS sets the
// number of records, each of which makes two changes (1,500,000 unless given); with TALLYHOUSE_BENCH_LOG=one-project the log is the
// easiest one. It prints a table and runs once, whatever -benchtime says.
func BenchmarkSystem(b *testing.B) {
	records := 1_500_000
	if n, err := strconv.Atoi(os.Getenv("TALLYHOUSE_BENCH_RECORDS")); err == nil {
		records = n
	}
	s := newSystem(b)
	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	s.tallyhouse("migrate")
	s.tallyhouse("topics")
	began := time.Now()
	bytes := s.fill(records, os.Getenv("TALLYHOUSE_BENCH_LOG") == "one-project")
	fmt.Fprintf(out, "log filled\t%d changes of %d bytes on average\t%.0f/s\n",
		2*records, bytes/(2*records), float64(2*records)/time.Since(began).Seconds())

	s.ingest(out, 2*records)
	s.walk(out)
	s.kafkaEngine(out, 2*records)
	out.Flush()
	fmt.Print("\n" + table.String())
}

type system struct {
	b      *testing.B
	dir    string
	binary string
	env    []string
	engine *clickhouse.Engine
	broker *kafka.Broker
	db     *database.Server
	conn   driver.Conn
}

func newSystem(b *testing.B) *system {
	b.Helper()
	s := &system{b: b, dir: b.TempDir()}
	s.binary = filepath.Join(s.dir, "tallyhouse")
	build := exec.Command("go", "build", "-trimpath", "-o", s.binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as the Makefile builds it
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	ctx := context.Background()
	var err error
	s.engine, err = clickhouse.Start(ctx, clickhouse.Options{
		DataDir: filepath.Join(s.dir, "clickhouse"), Addr: "127.0.0.1:0", Command: []string{s.binary, engineCommand},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.engine.Stop(ctx) })
	s.broker, err = kafka.Start(ctx, kafka.Options{DataDir: filepath.Join(s.dir, "kafka"), Addr: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.broker.Stop(ctx) })
	s.db, err = database.Open(database.Options{Addr: s.engine.Addr(), Database: "tallyhouse", User: "default"}, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.db.Close() })
	s.conn, err = driver.Open(&driver.Options{Addr: []string{s.engine.Addr()}, Auth: driver.Auth{Username: "default"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.conn.Close() })
	ofThis := func(variable string) bool { return strings.HasPrefix(variable, "TALLYHOUSE_BENCH_") } // no command knows them
	s.env = append(slices.DeleteFunc(os.Environ(), ofThis), "TALLYHOUSE_KAFKA="+s.broker.Addr(), "TALLYHOUSE_CLICKHOUSE="+s.engine.Addr())
	return s
}

func (s *system) tallyhouse(args ...string) string {
	s.b.Helper()
	cmd := exec.Command(s.binary, args...)
	cmd.Env = s.env
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		s.b.Fatalf("tallyhouse %v: %v\n%s", args, err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

func (s *system) start(args ...string) *exec.Cmd {
	s.b.Helper()
	log, err := os.Create(filepath.Join(s.dir, args[0]+".log"))
	if err != nil {
		s.b.Fatal(err)
	}
	cmd := exec.Command(s.binary, args...)
	cmd.Env, cmd.Stderr, cmd.Stdout = s.env, log, log
	if err := cmd.Start(); err != nil {
		s.b.Fatal(err)
	}
	s.b.Cleanup(func() {
		stop(cmd)
		log.Close()
	})
	return cmd
}

// stop ends a process in an orderly way, if it still runs.
func stop(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
}

// ingest takes the log in through a worker.
func (s *system) ingest(out io.Writer, changes int) {
	m := s.measure()
	worker := s.start("ingest", "--allow-volatile", "--metrics-addr", free(s.b))
	s.await(func() (done bool) {
		at, err := position.Read(context.Background(), s.db, store.Of(events.Records), []int32{0, 1, 2, 3})
		if err != nil {
			s.b.Fatal(err)
		}
		state, level := uint64(0), true
		for _, p := range at {
			state, level = state+p.State, level && p.Level()
		}
		return state == uint64(changes) && level
	})
	taken, workerCPU := m.taken(), cpuOf(worker.Process.Pid)
	most := peakMemoryOf(worker.Process.Pid)
	stop(worker)
	s.settle()
	fmt.Fprintf(out, "ingest\t%s\n", taken.per(changes))
	fmt.Fprintf(out, "\tworker %.1f µs of CPU a change, at most %d MB\n", micros(workerCPU, changes), most>>20)
	fmt.Fprintf(out, "\twith merges settled\tengine %.1f µs\n", micros(m.taken().engine, changes))
	s.reportDoubts(out)
}

// reportDoubts says what disturbed the worker: on a quiet machine nothing does.
func (s *system) reportDoubts(out io.Writer) {
	log, err := os.ReadFile(filepath.Join(s.dir, "ingest.log"))
	if err != nil {
		s.b.Fatal(err)
	}
	doubts := 0
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) {
			if doubts++; doubts <= 3 {
				fmt.Fprintf(out, "\tlogged\t%.300s\n", strings.TrimSpace(line))
			}
		}
	}
	fmt.Fprintf(out, "\twarnings of the worker\t%d\n", doubts)
}

// walk pages through the records of the largest project as a client does, and compares pages at the start, the middle
// and the end with the bare query.
func (s *system) walk(out io.Writer) {
	key := s.tallyhouse("keys", "create", "--tenant", "bench", "--owner", "U1", "--environment", "test")
	addr := free(s.b)
	defer stop(s.start("api", "--rate-limit", "0", "--api-addr", addr, "--metrics-addr", free(s.b)))
	project := benchProject(0)
	url := "http://" + addr + "/v0/records?limit=200&projectId=" + project
	get := func(cursor string) (next string, took time.Duration) {
		page := url
		if cursor != "" {
			page += "&cursor=" + cursor
		}
		r, _ := http.NewRequest(http.MethodGet, page, nil)
		r.Header.Set("Authorization", "Bearer "+key)
		began := time.Now()
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", 0
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		took = time.Since(began)
		if answer.StatusCode != http.StatusOK {
			return "", 0
		}
		_, after, _ := strings.Cut(string(body[max(0, len(body)-700):]), `"nextCursor":"`)
		next, _, _ = strings.Cut(after, `"`)
		return next, took
	}
	for range 600 {
		if _, took := get(""); took > 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	var all []time.Duration
	began := time.Now()
	for cursor := ""; len(all) == 0 || cursor != ""; {
		next, took := get(cursor)
		all, cursor = append(all, took), next
	}
	fmt.Fprintf(out, "walk\t%d pages of 200\t%.0f records/s\n", len(all), float64(len(all)*200)/time.Since(began).Seconds())
	n := min(100, len(all)/3)
	for _, part := range []struct {
		name string
		from int
	}{{"start", 0}, {"middle", len(all)/2 - n/2}, {"end", len(all) - n}} {
		some := slices.Clone(all[part.from : part.from+n])
		bare := make([]time.Duration, n)
		for i := range bare {
			after := uint64(part.from+i) * (math.MaxUint64 / uint64(len(all)))
			bare[i] = s.barePage(project, fmt.Sprintf("%016x", after))
		}
		p50, p99 := percentiles(some)
		b50, b99 := percentiles(bare)
		fmt.Fprintf(out, "page at the %s\tp50 %.1f ms, p99 %.1f ms\tbare query p50 %.1f ms, p99 %.1f ms, ratio of p50 %.2f\n",
			part.name, ms(p50), ms(p99), ms(b50), ms(b99), ms(p50)/ms(b50))
	}
}

// barePage asks for the same page directly.
func (s *system) barePage(project, after string) time.Duration {
	began := time.Now()
	ctx := driver.Context(context.Background(), driver.WithSettings(driver.Settings{"max_threads": 1, "max_block_size": 1024}),
		driver.WithParameters(driver.Parameters{"project": project, "after": after}))
	rows, err := s.conn.Query(ctx, `
SELECT id, project, direction, source, status, workflow_step, contractor_id, counterparty_name, invoice_number,
    recognition_date, due_date, cash_date, currency, net, tax, gross, allocation_node, allocation_net, certified,
    certified_codes, documents, channel, intake_status, received_at
FROM tallyhouse.records FINAL
WHERE tenant = 'bench' AND project = {project:String} AND NOT deleted AND id > {after:String} ORDER BY id LIMIT 200`)
	if err != nil {
		s.b.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			id, project, direction, source, status, contractor, currency, codes, documents, channel, intake string
			step, name, number                                                                              *string
			recognition, due, cash, received                                                                *time.Time
			net, tax, gross                                                                                 *int64
			nodes                                                                                           []string
			nets                                                                                            []int64
			certified                                                                                       bool
		)
		err := rows.Scan(&id, &project, &direction, &source, &status, &step, &contractor, &name, &number,
			&recognition, &due, &cash, &currency, &net, &tax, &gross, &nodes, &nets, &certified,
			&codes, &documents, &channel, &intake, &received)
		if err != nil {
			s.b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		s.b.Fatal(err)
	}
	return time.Since(began)
}

func percentiles(all []time.Duration) (p50, p99 time.Duration) {
	slices.Sort(all)
	return all[len(all)/2], all[len(all)*99/100]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// free is an address for a server that is about to start. Its port is none of those that systems give to whoever asks for
// any: another test's server or client could be given it before the server has it.
func free(t testing.TB) string {
	t.Helper()
	const first, last, tries = 10_000, 30_000, 100
	for range tries {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(last-first))))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatalf("none of %d ports is free", tries)
	return ""
}
