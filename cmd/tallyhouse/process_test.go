package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	schema "tallyhouse/schemas/clickhouse"
)

// The test binary is also the engine, the isolated reader, what takes exports, and a desk.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"read", "export", "desk"}, os.Args[1]) {
		os.Exit(run(&shell{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: environmentOf(os.Environ())}, os.Args[1:]))
	}
	clickhousetest.Main(m)
}

// process is worker and API in this process, on an engine and a broker of the test's own.
type process struct {
	testing.TB
	*shell
	servers servers
	worker  *runningWorker
}

const startsWithin = time.Minute

func newProcess(t testing.TB) *process {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	log := slog.New(slog.DiscardHandler)
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	s := &process{TB: t, shell: &shell{out: io.Discard, err: io.Discard, log: log}}
	s.servers = servers{kafka: topicstest.Cluster(t, 2), shards: []database.Options{{Addr: addr, Database: name, User: "default"}}}
	s.ingest(schema.Target{}, "tallyhouse")
	return s
}

// ingest makes the database and starts a worker.
func (s *process) ingest(target schema.Target, group string) {
	s.Helper()
	_, err := migrate.Up(s.Context(), s.servers.shards, migrate.Options{Target: target, Log: s.log})
	s.must(err)
	flags := ingestFlags{group: group, freshness: 20 * time.Millisecond}
	s.worker, err = s.openWorker(s.Context(), flags, s.servers, schema.Target{}, prometheus.NewRegistry())
	s.must(err)
	s.background("worker", s.worker.Run)
	s.Cleanup(s.worker.close)
	s.must(until(s.within(startsWithin), s.worker.Ready))
}

// background runs something until the test is over.
func (s *process) background(what string, run func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	s.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			s.Errorf("%s: %v", what, err)
		}
	})
}

// within is a context that ends after a time that is a bound for a hung test, not an assertion.
func (s *process) within(timeout time.Duration) context.Context {
	ctx, stop := context.WithTimeout(context.Background(), timeout)
	s.Cleanup(stop)
	return ctx
}

func (s *process) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// load brings lines as `tallyhouse load --wait` does.
func (s *process) load(lines string) {
	s.Helper()
	l := &load.Load{Entities: store.All(), Stdin: strings.NewReader(lines), Progress: load.NewProgress(io.Discard, false), Log: s.log}
	defer l.Close()
	found, err := l.Check(s.Context(), []string{"-"})
	s.must(err)
	sent, err := l.Send(s.Context(), s.servers.kafka, found)
	s.must(err)
	s.must(l.Wait(s.Context(), s.worker.shards, sent, load.DefaultStallTimeout))
}

// api starts the API at an instant and returns its address when it is ready.
func (s *process) api(now string, change ...func(*apiFlags)) string {
	s.Helper()
	flags := apiFlags{addr: "127.0.0.1:0", metricsAddr: "127.0.0.1:0", now: now, environment: "test"}
	for _, c := range change {
		c(&flags)
	}
	addr := make(chan string, 1)
	s.background("API", func(ctx context.Context) error {
		return s.runAPI(ctx, flags, s.servers, prometheus.NewRegistry(), func(a string) { addr <- a })
	})
	select {
	case a := <-addr:
		return "http://" + a
	case <-s.within(startsWithin).Done():
		s.Fatal("the API does not get ready")
		return ""
	}
}

// get asks the API. Numbers of the body are as written.
func (s *process) get(url, key string) (status int, body any) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, url, nil)
	s.must(err)
	request.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(request)
	s.must(err)
	defer answer.Body.Close()
	decoder := json.NewDecoder(answer.Body)
	decoder.UseNumber()
	s.must(decoder.Decode(&body))
	return answer.StatusCode, body
}
