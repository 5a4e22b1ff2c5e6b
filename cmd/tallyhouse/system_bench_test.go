package main

import (
	"context"
	"fmt"
	"io"
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
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/clickhouse"
	"tallyhouse/deploy/embedded/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// BenchmarkSystem measures the binary as a user runs it: a filled log (half of the changes are updates) through a
// worker of its own process into ClickHouse, then a client that walks all records, beside the same SQL asked directly.
// TALLYHOUSE_BENCH_RECORDS sets the number of records (1,000,000 unless given). It prints a table and runs once,
// whatever -benchtime says.
func BenchmarkSystem(b *testing.B) {
	records := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("TALLYHOUSE_BENCH_RECORDS")); err == nil {
		records = n
	}
	s := newSystem(b)
	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	s.tallyhouse("migrate")
	s.tallyhouse("topics")
	began := time.Now()
	bytes := s.fill(records)
	fmt.Fprintf(out, "log filled\t%d changes of %d bytes on average\t%.0f/s\n", 2*records, bytes/(2*records), float64(2*records)/time.Since(began).Seconds())

	worker := s.start("ingest", "--allow-volatile", "--metrics-addr", free(b))
	took, most := s.awaitRecords(worker, 2*records)
	fmt.Fprintf(out, "ingest\t%.0f changes/s\tworker at most %d MB\n", float64(2*records)/took.Seconds(), most>>20)
	fmt.Fprintf(out, "\tworker %.1f s of CPU, engine %.1f s\tfor %.1f s\n", cpuOf(worker.Process.Pid), s.engineCPU(), took.Seconds())
	s.reportDoubts(out)
	s.walk(out, records)
	out.Flush()
	b.Log("\n" + table.String())
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
	if s.engine, err = clickhouse.Start(ctx, clickhouse.Options{DataDir: filepath.Join(s.dir, "clickhouse"), Addr: "127.0.0.1:0", Command: []string{s.binary, engineCommand}}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.engine.Stop(ctx) })
	if s.broker, err = kafka.Start(ctx, kafka.Options{DataDir: filepath.Join(s.dir, "kafka"), Addr: "127.0.0.1:0"}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.broker.Stop(ctx) })
	if s.db, err = database.Open(database.Options{Addr: s.engine.Addr(), Database: "tallyhouse", User: "default"}, 1); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.db.Close() })
	s.env = append(os.Environ(), "TALLYHOUSE_KAFKA="+s.broker.Addr(), "TALLYHOUSE_CLICKHOUSE="+s.engine.Addr())
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
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		log.Close()
	})
	return cmd
}

// fill sends every record twice: as it comes in, and, later, as it is paid. It returns the bytes of the values.
func (s *system) fill(records int) (bytes int) {
	client, err := kgo.NewClient(kgo.SeedBrokers(s.broker.Addr()), kgo.MaxBufferedRecords(200_000), kgo.ProducerLinger(5*time.Millisecond), kgo.ProducerBatchMaxBytes(1<<20))
	if err != nil {
		s.b.Fatal(err)
	}
	defer client.Close()
	failed := func(_ *kgo.Record, err error) {
		if err != nil {
			s.b.Error(err)
		}
	}
	send := func(topic events.Topic, e events.Event) {
		value, err := events.Append(nil, topic, e)
		if err != nil {
			s.b.Fatal(err)
		}
		bytes += len(value)
		client.Produce(context.Background(), &kgo.Record{Topic: string(topic), Key: []byte(e.Key()), Value: value}, failed)
	}
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	envelope := func(id string, version int64) events.Envelope {
		return events.Envelope{ID: id, TenantID: "bench", Version: version, Op: events.Upsert, At: at}
	}
	send(events.Projects, events.Event{Envelope: envelope("P1", 1), Data: &events.Project{Name: "Bench", Currency: "EUR", BudgetStructureID: events.Some("S")}})
	send(events.Users, events.Event{Envelope: envelope("U1", 1), Data: &events.User{Name: "Bench", Active: true}})
	send(events.Memberships, events.Event{Envelope: envelope("M1", 1), Data: &events.Membership{UserID: "U1", Scope: events.Scope{Tenant: true}, Role: "admin"}})
	for i := range 200 {
		send(events.BudgetNodes, events.Event{Envelope: envelope(fmt.Sprintf("node-%04d", i), 1), Data: &events.BudgetNode{StructureID: events.Some("S"), Level: "budget", Code: fmt.Sprint(i), Name: fmt.Sprint("Line ", i), Active: true}})
		send(events.Contractors, events.Event{Envelope: envelope(fmt.Sprintf("contractor-%04d", i), 1), Data: &events.Contractor{Name: events.Some(fmt.Sprint("Firm ", i))}})
	}
	for version := range int64(2) {
		for i := range records {
			send(events.Records, events.Event{Envelope: envelope(fmt.Sprintf("record-%08d", i*7919%records), version+1), Data: benchRecord(i*7919%records, version == 1)})
		}
	}
	if err := client.Flush(context.Background()); err != nil {
		s.b.Fatal(err)
	}
	return bytes
}

func benchRecord(i int, paid bool) *events.Record {
	net := int64(10_000 + i%977*1_000)
	day := calendar.NewDate(2022, 1, 1) + calendar.Date(i%1500)
	r := &events.Record{
		ProjectID: "P1", Source: "invoice", Direction: "out", StepKind: "approval", WorkflowStep: events.Some("Site manager"), ContractorID: events.Some(fmt.Sprintf("contractor-%04d", i%200)),
		InvoiceNumber: events.Some(fmt.Sprint("RE-", i)), RecognitionDate: events.Some(day), DueDate: events.Some(day + 30), Currency: events.Some("EUR"),
		Net: events.Some(net), Tax: events.Some(net / 5), Gross: events.Some(net + net/5), Allocations: []events.RecordAllocation{{NodeID: events.Some(fmt.Sprintf("node-%04d", i%200)), Net: events.Some(net)}},
		Documents: []events.Document{{Name: fmt.Sprint("RE-", i, ".pdf"), Kind: "original"}},
		Intake:    events.Intake{Channel: "email", Status: events.Some("completed"), ReceivedAt: events.Some(day.Time())},
	}
	if i%5 == 0 {
		r.Allocations = []events.RecordAllocation{{NodeID: events.Some("node-0001"), Net: events.Some(net / 3)}, {NodeID: events.Some("node-0002"), Net: events.Some(net - net/3)}}
	}
	if i%3 == 0 {
		r.ContractID = events.Some(fmt.Sprintf("contract-%03d", i%150))
	}
	if paid {
		r.StepKind, r.WorkflowStep, r.CashDate = "paid", events.Some("Paid"), events.Some(day+25)
	}
	return r
}

// awaitRecords waits until the table and its view have all changes and returns how long that took from the first
// position on, and the most memory that the worker had.
func (s *system) awaitRecords(worker *exec.Cmd, changes int) (took time.Duration, most int64) {
	e := store.Of(events.Records)
	var first time.Time
	for deadline := time.Now().Add(time.Hour); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		most = max(most, memoryOf(worker.Process.Pid))
		at, err := position.Read(context.Background(), s.db, e, []int32{0, 1, 2, 3})
		if err != nil {
			continue
		}
		state, behind := uint64(0), false
		for _, p := range at {
			state += p.State
			behind = behind || !p.Level()
		}
		if state > 0 && first.IsZero() {
			first = time.Now()
		}
		if state >= uint64(changes) && !behind {
			return time.Since(first), most
		}
	}
	s.b.Fatal("the worker does not come to the end within an hour")
	return 0, 0
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

// walk pages through all records as a client does and compares pages at the start, the middle and the end with the bare
// query.
func (s *system) walk(out io.Writer, records int) {
	key := s.tallyhouse("keys", "create", "--tenant", "bench", "--owner", "U1", "--environment", "test")
	addr := free(s.b)
	s.start("api", "--api-addr", addr, "--metrics-addr", free(s.b))
	url := "http://" + addr + "/v0/records?limit=200"
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
	pages := records / 200
	var all []time.Duration
	cursor := ""
	began := time.Now()
	for range pages {
		next, took := get(cursor)
		all = append(all, took)
		if cursor = next; cursor == "" {
			break
		}
	}
	fmt.Fprintf(out, "walk\t%d pages of 200\t%.0f records/s\n", len(all), float64(len(all)*200)/time.Since(began).Seconds())
	conn, err := driver.Open(&driver.Options{Addr: []string{s.engine.Addr()}, Auth: driver.Auth{Database: "tallyhouse", Username: "default"}})
	if err != nil {
		s.b.Fatal(err)
	}
	defer conn.Close()
	n := min(100, len(all)/3)
	for _, part := range []struct {
		name string
		from int
	}{{"start", 0}, {"middle", len(all)/2 - n/2}, {"end", len(all) - n}} {
		some := slices.Clone(all[part.from : part.from+n])
		bare := make([]time.Duration, n)
		for i := range bare {
			bare[i] = barePage(s.b, conn, fmt.Sprintf("record-%08d", (part.from+i)*200))
		}
		p50, p99 := percentiles(some)
		b50, b99 := percentiles(bare)
		fmt.Fprintf(out, "page at the %s\tp50 %.1f ms, p99 %.1f ms\tbare query p50 %.1f ms, p99 %.1f ms, ratio of p50 %.2f\n", part.name, ms(p50), ms(p99), ms(b50), ms(b99), ms(p50)/ms(b50))
	}
}

// barePage asks for the same page directly.
func barePage(b *testing.B, conn driver.Conn, after string) time.Duration {
	began := time.Now()
	ctx := driver.Context(context.Background(), driver.WithSettings(driver.Settings{"max_threads": 1, "max_block_size": 1024}),
		driver.WithParameters(driver.Parameters{"after": after}))
	rows, err := conn.Query(ctx, `SELECT id, project, direction, source, status, workflow_step, contractor_id, counterparty_name, invoice_number, recognition_date, due_date, cash_date,
		currency, net, tax, gross, allocation_node, allocation_net, certified, certified_codes, documents, channel, intake_status, received_at
		FROM records FINAL WHERE tenant = 'bench' AND project = 'P1' AND NOT deleted AND id > {after:String} ORDER BY id LIMIT 200`)
	if err != nil {
		b.Fatal(err)
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
		if err := rows.Scan(&id, &project, &direction, &source, &status, &step, &contractor, &name, &number, &recognition, &due, &cash, &currency, &net, &tax, &gross, &nodes, &nets, &certified, &codes, &documents, &channel, &intake, &received); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

func percentiles(all []time.Duration) (p50, p99 time.Duration) {
	slices.Sort(all)
	return all[len(all)/2], all[len(all)*99/100]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// memoryOf is the resident memory of a process, in bytes.
func memoryOf(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	kb, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	n, _ := strconv.ParseInt(kb, 10, 64)
	return n << 10
}

// cpuOf is the CPU time of a process, in seconds.
func cpuOf(pid int) float64 {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

func (s *system) engineCPU() float64 {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	sum := 0.0
	for _, f := range all {
		line, _ := os.ReadFile(f)
		if strings.HasPrefix(string(line), s.binary+"\x00"+engineCommand) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			sum += cpuOf(pid)
		}
	}
	return sum
}

// free is an address where nobody listens.
func free(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
