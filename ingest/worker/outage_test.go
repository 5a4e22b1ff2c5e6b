package worker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/store/database"
	kafkalog "tallyhouse/schemas/kafka"
)

// startBehindValve starts a worker whose server a test can take away.
func (w *world) startBehindValve(name string) (*worker, *clickhousetest.Valve) {
	w.t.Helper()
	valve := clickhousetest.NewValve(w.t, w.addr)
	through, err := database.Open(database.Options{Addr: valve.Addr(), Database: w.name, User: "default"}, 4)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = through.Close() })
	return w.startOn(name, through), valve
}

// ClickHouse goes away under load and comes back: the worker says so, keeps little in memory, and goes on by itself.
func TestTheWorkerWaitsForClickHouse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModel()
	a, valve := w.startBehindValve("a")
	first := record("R-first", 1, nil)
	w.produce(first)
	m.take(first)
	w.awaitAllWritten()
	w.await("the worker is ready", func() bool { return a.Ready() == nil })

	valve.Turn(true)
	const messages = 20_000 // of more than a buffer keeps
	for i := 0; i < messages; i += 1000 {
		var some []message
		for j := range 1000 {
			some = append(some, record(fmt.Sprint("R", i+j), 1, map[string]any{"comment": strings.Repeat("x", 600)}))
		}
		w.produce(some...)
		m.take(some...)
	}
	w.await("the worker says that it waits", func() bool { return a.Ready() != nil && strings.Contains(a.Ready().Error(), string(Waiting)) })
	if err := a.Alive(); err != nil {
		t.Errorf("waiting is alive: %v", err)
	}
	a.source.mu.Lock()
	for tp, f := range a.source.buffers {
		f.mu.Lock()
		if f.bytes > bufferBytes+4*fetchBytes {
			t.Errorf("%s keeps %d bytes", tp, f.bytes)
		}
		f.mu.Unlock()
	}
	a.source.mu.Unlock()
	w.await("the lag counts all that came meanwhile", func() bool { return lagOf(a.Worker) >= messages })

	valve.Turn(false)
	w.awaitAllWritten()
	w.await("the worker is ready again", func() bool { return a.Ready() == nil })
	w.await("nothing lags", func() bool { return lagOf(a.Worker) == 0 })
	w.check(m)
}

// Given a worker to which nothing comes, then it is not ready while its server says nothing, and alive.
func TestAnIdleWorkerIsNotReadyWithoutItsServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, valve := w.startBehindValve("a")
	w.await("the worker is ready", func() bool { return a.Ready() == nil })

	valve.Silence()
	w.await("it is not", func() bool { return a.Ready() != nil && strings.Contains(a.Ready().Error(), "shard 0 does not answer") })
	if err := a.Alive(); err != nil {
		t.Errorf("waiting is alive: %v", err)
	}

	valve.Turn(true)
	valve.Turn(false)
	w.await("the worker is ready again", func() bool { return a.Ready() == nil })
}

// lagOf is the worker's lag in offsets, as its metrics show it.
func lagOf(w *Worker) (all uint64) {
	for _, s := range w.Status() {
		offsets, _, _ := w.backlog.behind(kafkalog.Partition{Topic: s.Topic, Number: s.Partition}, s.Position, time.Now())
		all += offsets
	}
	return all
}

// The same when the server dies and is started again by its supervisor, which takes all fences down.
func TestTheWorkerOutlivesAServerThatIsRestarted(t *testing.T) {
	t.Parallel()
	engine := clickhousetest.Start(t)
	w := joinWorld(t, engine.Addr(), "default", kafkatest.Start(t).Addr())
	m := newModel()
	w.start("a")
	for i := range 60 {
		some := []message{
			record(fmt.Sprint("R", i%20), i+1, map[string]any{"net": i, "allocations": []any{}}),
			record(fmt.Sprint("O", i), 1, nil),
		}
		w.produce(some...)
		m.take(some...)
		if i%20 == 10 {
			engine.Kill()
		}
		time.Sleep(20 * time.Millisecond)
	}
	w.awaitAllWritten()
	w.check(m)
}

// Kafka goes away under load and comes back.
func TestTheWorkerWaitsForKafka(t *testing.T) {
	t.Parallel()
	addr, name := clickhousetest.Database(t)
	dir := t.TempDir()
	broker := kafkatest.StartIn(t, dir, "127.0.0.1:0")
	kafkaAddr := broker.Addr()
	w := joinWorld(t, addr, name, kafkaAddr)
	m := newModel()
	a := w.start("a", quickGroup)
	send := func(from int) {
		for i := from; i < from+200; i += 20 {
			var some []message
			for j := range 20 {
				some = append(some, record(fmt.Sprint("R", i+j), 1, nil))
			}
			untilDone(t, func() error { return produce(w.cluster, some) }) // sent twice does no harm
			m.take(some...)
		}
	}
	send(0)
	w.awaitAllWritten()
	w.await("the worker is ready", func() bool { return a.Ready() == nil })
	send(200) // some of it is in flight
	if err := broker.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.await("the worker says that it waits", func() bool { return a.Ready() != nil })
	if err := a.Alive(); err != nil {
		t.Errorf("waiting is alive: %v", err)
	}
	kafkatest.StartIn(t, dir, kafkaAddr)
	send(400)
	w.awaitAllWritten()
	w.await("the worker is ready again", func() bool { return a.Ready() == nil })
	w.check(m)
}

// A worker that is told to end under load finishes what is in flight, commits its offsets, leaves the group, and loses
// nothing.
func TestDrainingUnderLoadLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModel()
	a := w.start("a", quickGroup)
	w.produce(record("R-first", 1, nil))
	m.take(record("R-first", 1, nil))
	w.awaitAllWritten()
	all := make(chan []message)
	go func() {
		defer close(all)
		for i := range 100 {
			var some []message
			for j := range 20 {
				some = append(some, record(fmt.Sprint("R", j), 2+i, map[string]any{"net": i, "allocations": []any{}}),
					record(fmt.Sprint("O", i, "-", j), 1, nil))
			}
			if err := produce(w.cluster, some); err != nil {
				t.Error(err)
			}
			all <- some
		}
	}()
	n := 0
	for some := range all {
		m.take(some...)
		if n++; n == 30 {
			a.end()
		}
	}
	if members := w.members(); members != 0 {
		t.Errorf("the group still has %d members", members)
	}
	if w.behind() == "" {
		t.Error("it had everything before it ended: the test tests nothing")
	}
	w.start("b", quickGroup)
	w.awaitAllWritten()
	w.check(m)
}

// members counts the members of the consumer group.
func (w *world) members() int {
	w.t.Helper()
	return len(w.group().Members)
}

// group is what the cluster says of the consumer group.
func (w *world) group() kmsg.DescribeGroupsResponseGroup {
	w.t.Helper()
	client, err := newAdminClient(w.cluster)
	if err != nil {
		w.t.Fatal(err)
	}
	defer client.Close()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{"tallyhouse"}
	r, err := req.RequestWith(ctx, client)
	if err != nil || len(r.Groups) != 1 {
		w.t.Fatal(r, err)
	}
	return r.Groups[0]
}
