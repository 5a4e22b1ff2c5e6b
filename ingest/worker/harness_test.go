package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/sethvargo/go-retry"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse/schematest"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

func TestMain(m *testing.M) {
	if os.Getenv(workerChild) != "" {
		runWorkerChild()
		return
	}
	clickhousetest.Main(m)
}

// world is a database, a broker and whatever workers a test starts, all real. The scenarios build on it, see
// scenario_harness_test.go.
type world struct {
	t       testing.TB
	dir     string
	cluster kafka.Cluster
	db      *database.Server
	addr    string
	name    string
	log     *slog.Logger
	about   func() string // says what those for whom the test waits are about; may be nil
}

const testPartitions = 3

func newWorld(t testing.TB) *world {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	broker := kafkatest.Start(t)
	return joinWorld(t, addr, name, broker.Addr())
}

// joinWorld is a world around an engine and a broker that the test has.
func joinWorld(t testing.TB, clickhouseAddr, name, kafkaAddr string) *world {
	t.Helper()
	return joinWorldWith(t, clickhouseAddr, name, kafkaAddr, func(s string) []string { return []string{s} })
}

// joinWorldWith is joinWorld with other statements instead of those that make the tables.
func joinWorldWith(t testing.TB, clickhouseAddr, name, kafkaAddr string, instead func(string) []string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), addr: clickhouseAddr, name: name, log: testLog(t)}
	var err error
	if w.cluster, err = kafka.Connect(kafka.Access{Addrs: []string{kafkaAddr}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.cluster.Close)
	if _, err = kafka.Ensure(t.Context(), w.cluster, kafka.TopicSpec{Partitions: testPartitions}); err != nil {
		t.Fatal(err)
	}
	if w.db, err = database.Open(database.Options{Addr: clickhouseAddr, Database: name, User: "default"}, 4); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close() })
	w.makeTables(instead)
	return w
}

func (w *world) makeTables(instead func(string) []string) {
	w.t.Helper()
	schematest.Make(w.t, func(statement string) error {
		for _, sql := range instead(statement) {
			untilDone(w.t, func() error { return w.db.Exec(context.Background(), database.Statement{SQL: sql}) })
		}
		return nil
	})
}

// testLog shows the log of a test that is run with -v, else nothing.
func testLog(t testing.TB) *slog.Logger {
	if !testing.Verbose() {
		return slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("test", t.Name())
}

func (w *world) exec(sql string) {
	w.t.Helper()
	if err := w.db.Exec(context.Background(), database.Statement{SQL: sql}); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

// execWhenUp runs a statement until it succeeds: the server may be dead just now.
func (w *world) execWhenUp(sql string) {
	w.t.Helper()
	untilDone(w.t, func() error { return w.db.Exec(context.Background(), database.Statement{SQL: sql}) })
}

// worker is a worker that runs until it is stopped.
type worker struct {
	*Worker
	t     testing.TB
	name  string
	stop  context.CancelFunc
	done  chan error
	ended sync.Once
}

// start starts a worker.
func (w *world) start(name string, change ...func(*Worker)) *worker {
	w.t.Helper()
	return w.startOn(name, w.db, change...)
}

func (w *world) startOn(name string, db Database, change ...func(*Worker)) *worker {
	w.t.Helper()
	worker, err := newWorker(w, name, db, change...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(worker.end)
	return worker
}

func newWorker(w *world, name string, db Database, change ...func(*Worker)) (*worker, error) {
	inner, err := New(Options{
		Cluster: w.cluster, Servers: []Database{db}, Heads: latest.Options{Dir: w.dir}, Group: "tallyhouse",
		Entities: store.All(), Freshness: 20 * time.Millisecond,
		Log: w.log.With("worker", name), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		return nil, err
	}
	for _, c := range change {
		c(inner)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- inner.Run(ctx); close(done) }()
	return &worker{Worker: inner, t: w.t, name: name, stop: stop, done: done}, nil
}

// end stops a worker and waits until it has drained. A second call does nothing.
func (w *worker) end() {
	w.t.Helper()
	w.ended.Do(func() {
		w.stop()
		select {
		case err := <-w.done:
			if err != nil {
				w.t.Errorf("worker %s: %v", w.name, err)
			}
		case <-time.After(patience):
			w.t.Errorf("worker %s doesn't end", w.name)
		}
	})
}

// message is one Kafka message of a test.
type message struct {
	topic     events.Topic
	partition int // -1: where the key belongs
	key       string
	value     []byte
}

// produce sends messages in order and waits until Kafka has them.
func (w *world) produce(messages ...message) {
	w.t.Helper()
	if err := produce(w.cluster, messages); err != nil {
		w.t.Fatal(err)
	}
}

func produce(cluster kafka.Cluster, messages []message) error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	byTarget := map[string][]message{}
	for _, m := range messages {
		if m.partition < 0 {
			m.partition = kafka.Partition([]byte(m.key), testPartitions)
		}
		id := fmt.Sprint(m.topic, "/", m.partition)
		byTarget[id] = append(byTarget[id], m)
	}
	for _, group := range byTarget {
		if err := produceGroup(ctx, cluster, group); err != nil {
			return err
		}
	}
	return nil
}

// produceGroup sends messages to one partition in one batch. A broker may need a moment to lead a partition that has
// just been made.
func produceGroup(ctx context.Context, cluster kafka.Cluster, group []message) error {
	for {
		var records []kafkago.Record
		for _, m := range group {
			r := kafkago.Record{Key: kafkago.NewBytes([]byte(m.key))}
			if m.value != nil {
				r.Value = kafkago.NewBytes(m.value)
			}
			records = append(records, r)
		}
		r, err := cluster.Client().Produce(ctx, &kafkago.ProduceRequest{
			Topic: string(group[0].topic), Partition: group[0].partition,
			RequiredAcks: kafkago.RequireAll, Records: kafkago.NewRecordReader(records...),
		})
		if err == nil {
			err = r.Error
		}
		if !errors.Is(err, kafkago.NotLeaderForPartition) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ends are the ends of all logs, by topic and partition.
func (w *world) ends() map[kafkalog.Partition]int64 {
	w.t.Helper()
	all := map[kafkalog.Partition]int64{}
	client, err := newAdminClient(w.cluster)
	if err != nil {
		w.t.Fatal(err)
	}
	defer client.Close()
	for _, e := range store.All() {
		ids, err := kafkalog.Identities(context.Background(), client, string(e.Topic))
		if err != nil {
			w.t.Fatal(err)
		}
		ranges, err := kafkalog.Ranges(context.Background(), client, ids)
		if err != nil {
			w.t.Fatal(err)
		}
		for p, r := range ranges[string(e.Topic)] {
			all[kafkalog.Partition{Topic: string(e.Topic), Number: int32(p)}] = r.End
		}
	}
	return all
}

// awaitAllWritten waits until every partition's table and views have reached the log's end.
func (w *world) awaitAllWritten() {
	w.t.Helper()
	w.awaitAllWrittenWithin(time.Minute)
}

func (w *world) awaitAllWrittenWithin(timeout time.Duration) {
	w.t.Helper()
	err := retry.Do(context.Background(), retry.WithMaxDuration(timeout, retry.NewConstant(50*time.Millisecond)), func(context.Context) error {
		if behind := w.behind(); behind != "" {
			return retry.RetryableError(errors.New(behind))
		}
		return nil
	})
	if err != nil {
		w.t.Fatalf("after %s still: %v", timeout, err)
	}
}

// patience bounds the wait for what surely comes, on however busy a machine.
const patience = 90 * time.Second

// await waits until the condition holds, and fails the test after a time that only bounds a hang.
func (w *world) await(what string, is func() bool) {
	w.t.Helper()
	err := try(func() error {
		if !is() {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil {
		w.giveUp(what)
	}
}

// awaitEvent waits until a channel is closed, as await does.
func (w *world) awaitEvent(what string, event <-chan struct{}) {
	w.t.Helper()
	select {
	case <-event:
	case <-time.After(patience):
		w.giveUp(what)
	}
}

func (w *world) giveUp(what string) {
	w.t.Helper()
	if w.about != nil {
		what += ". " + w.about()
	}
	w.t.Fatalf("waited in vain: %s", what)
}

// untilDone does something until it succeeds: a server may be dead just now.
func untilDone(t testing.TB, do func() error) {
	t.Helper()
	if err := try(do); err != nil {
		t.Fatal(err)
	}
}

// try does something until it succeeds, or for too long.
func try(do func() error) error {
	pauses := retry.WithMaxDuration(patience, retry.NewConstant(10*time.Millisecond))
	return retry.Do(context.Background(), pauses, func(context.Context) error { return retry.RetryableError(do()) })
}

// behind lists what has not yet reached the log's end, "" when all has.
func (w *world) behind() string {
	w.t.Helper()
	var all []string
	ends := w.ends() // re-routed messages make logs longer: asked for each time
	for _, e := range store.All() {
		var partitions []int32
		for p := range int32(testPartitions) {
			if ends[kafkalog.Partition{Topic: string(e.Topic), Number: p}] > 0 {
				partitions = append(partitions, p)
			}
		}
		if len(partitions) == 0 {
			continue // nothing was sent
		}
		at, err := position.Read(context.Background(), w.db, e, partitions)
		if err != nil {
			return err.Error()
		}
		for _, p := range partitions {
			end := ends[kafkalog.Partition{Topic: string(e.Topic), Number: p}]
			if at[p].State != uint64(end) {
				all = append(all, fmt.Sprintf("%s/%d at %d of %d", e.Table, p, at[p].State, end))
			}
			if !at[p].Level() {
				all = append(all, fmt.Sprintf("the view of %s/%d at %s of %d", e.Table, p, at[p].View, end))
			}
		}
	}
	// A message that was re-routed meanwhile made a log longer, before its old partition's position passed it.
	if len(all) == 0 && !maps.Equal(ends, w.ends()) {
		return "the logs grow"
	}
	return strings.Join(all, "; ")
}
