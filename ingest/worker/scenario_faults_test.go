package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// Given a gap that was crossed, when the group rebalances, then it is not crossed again, whether or not anything came
// since: a view that sank to where the gap begins would be mended from there.
func TestScenarioAGapIsCrossedOnce(t *testing.T) {
	for name, since := range map[string]int{"idle": 0, "busy": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			m := someRecords(8)
			a := s.writing("a", m[:2]...)
			a.crash()
			s.produce(m[2:4]...) // never read
			s.deleteRecords(0, 4)
			b := s.join("b")
			b.assign()
			s.awaitAll(4)
			s.send(m[4 : 4+since]...)
			s.awaitAll(uint64(4 + since))
			for range 2 {
				recovered := b.counter("recoveries_total")
				b.assign() // the next generation
				s.await("it recovers in it", func() bool { return b.counter("recoveries_total") > recovered && b.statusOf(0).Condition == Running })
			}
			s.send(m[6:]...)
			s.awaitAll(uint64(6 + since))
			s.check(s.model)
			if n := s.count("SELECT count() FROM gaps"); n != 1 || b.counter("gaps_total") != 1 {
				t.Errorf("it is noted %d times, counted %v times", n, b.counter("gaps_total"))
			}
		})
	}
}

// Given batches that take more memory than the server has, then they are cut smaller until they fit.
func TestScenarioBatchesThatNeedTooMuchMemory(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	const fits = 150
	s.intercept = func(d *interceptor) {
		d.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
			if isBatch(st) {
				st.SQL += fmt.Sprintf(" AND (SELECT throwIf(count() > %d, 'too much', toInt16(241)) FROM batch) = 0"+
					" SETTINGS allow_custom_error_code_in_throwif = 1", fits)
			}
			return next(st)
		})
	}
	const n = 4 * fits
	s.send(someRecords(n)...)
	a := s.join("a")
	a.assign()
	s.awaitAll(n)
	s.check(s.model)
}

// What a batch's failure does to the next ones.
func TestAdapt(t *testing.T) {
	exception := func(code proto.Error) error { return fmt.Errorf("insert: %w", &ch.Exception{Code: code}) }
	for name, tc := range map[string]struct {
		err        error
		rows, most int // of the batch that failed; that the next one may have
		limit      time.Duration
	}{
		"a lack of memory":              {exception(proto.ErrMemoryLimitExceeded), 30_000, 15_000, minLimit},
		"of a batch that was not full":  {exception(proto.ErrMemoryLimitExceeded), 1000, 500, minLimit},
		"of a small one":                {exception(proto.ErrMemoryLimitExceeded), 120, minRows, minLimit},
		"a time-out of the server":      {exception(proto.ErrTimeoutExceeded), 50_000, 25_000, 2 * minLimit},
		"a server that doesn't answer":  {context.DeadlineExceeded, 50_000, 25_000, 2 * minLimit},
		"too many parts":                {exception(proto.ErrTooManyParts), 50_000, maxRows, minLimit},
		"a connection that was lost":    {errLostOnTheWay, 50_000, maxRows, minLimit},
		"somebody else put up a fence":  {position.ErrNotWritten, 50_000, maxRows, minLimit},
		"a batch of the position alone": {exception(proto.ErrMemoryLimitExceeded), 1, minRows, minLimit},
	} {
		w := &writer{rows: maxRows, limit: minLimit}
		w.adapt(tc.err, tc.rows)
		if w.rows != tc.most || w.limit != tc.limit {
			t.Errorf("%s: at most %d rows, %s; want %d, %s", name, w.rows, w.limit, tc.most, tc.limit)
		}
	}
	w := &writer{rows: maxRows, limit: minLimit}
	for range 20 {
		w.adapt(context.DeadlineExceeded, maxRows)
	}
	if w.rows != minRows || w.limit != maxLimit {
		t.Errorf("after many time-outs: %d rows, %s", w.rows, w.limit)
	}
}

// Every doubt that repeats waits longer, up to a bound, until there is progress.
func TestDoubtsBackOff(t *testing.T) {
	var d doubt
	now := time.Now()
	waits := func(n int, err error) (all []time.Duration) {
		for range n {
			all = append(all, d.pause(err, now))
		}
		return all
	}
	failed := errors.New("too many parts")
	want := "[0s 100ms 200ms 400ms 800ms 1.6s 3.2s 6.4s 10s 10s]"
	if got := fmt.Sprint(waits(10, failed)); got != want {
		t.Errorf("waits %s, want %s", got, want)
	}
	if got := waits(100, failed)[99]; got != maxWait {
		t.Errorf("after many doubts it waits %s", got)
	}
	d.progressed()
	if got := fmt.Sprint(waits(2, failed)); got != "[0s 100ms]" {
		t.Errorf("after progress it waits %s", got)
	}
	d.progressed()
	w := &writer{doubt: d}
	for range 4 { // in good standing, and outbid again and again
		w.lostFence(now)
	}
	d = w.doubt
	if got := d.pause(failed, now); got != 2*time.Second {
		t.Errorf("outbid four times it waits %s", got)
	}
	if got := d.pause(failed, now.Add(2*time.Minute)); got != minWait {
		t.Errorf("long after it was outbid it waits %s", got)
	}
	for err, want := range map[error]time.Duration{
		&fence.Held{}: heldWait, &position.Inconsistent{}: inconsistentWait, position.Refuse("no"): inconsistentWait,
	} {
		if got := d.pause(err, now); got != want {
			t.Errorf("%T waits %s, want %s", err, got, want)
		}
	}
}

// Given a view that misses an earlier batch, as long as the last one, when a worker comes, then it doesn't take it for a
// view that misses the last one: mended by that, the last one would count twice and the earlier one never.
func TestScenarioAViewThatMissesAnEarlierBatch(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		if omitRule {
			s.intercept = func(d *interceptor) {
				d.onRows(func(q database.Query, each rowFunc, next queryFunc) error {
					if readsView(q) { // squares that fit whatever lengths add up to
						q.SQL = "SELECT project, toString(sum(position)), toString(sum(position) * sum(position)) FROM sums" +
							" WHERE tenant = '' AND project IN {keys:Array(String)} GROUP BY project"
					}
					return next(q, each)
				})
			}
		}
		a := s.join("a")
		a.assign()
		for i, m := range someRecords(4) {
			if i == 2 {
				s.exec("DETACH TABLE " + clickhouse.Trigger("records"))
			}
			s.send(m)
			s.awaitTable(uint64(i + 1))
			if i == 2 {
				s.exec("ATTACH TABLE " + clickhouse.Trigger("records"))
			}
		}
		s.await("the worker has noticed its last batch", func() bool { return a.statusOf(0).Position == 4 })
		b := s.join("b")
		b.assign()
		if b.awaitCondition(Running, Stopped) == Stopped {
			return nil, true
		}
		return s.drift(s.model), true
	})
}

// Given tables that a power loss tore, then the partition stops and says what helps, and so it does where the server put
// parts aside as broken, which positions need not show: sums can be computed anew, rows of a state table can't.
func TestScenarioTornTables(t *testing.T) {
	const rebuild, restore = "run `tallyhouse rebuild`", "run `tallyhouse adopt`; or ingest the log into an empty database: run `tallyhouse migrate`"
	for name, tc := range map[string]struct {
		tear func(*scenario) []string // parts
		says string
	}{
		"the sums are lost": {func(s *scenario) []string { s.exec("TRUNCATE TABLE sums"); return nil }, rebuild},
		"parts of the state table are broken": {func(s *scenario) []string {
			return []string{s.breakPart("records"), s.breakPart("records")}
		}, restore},
		"parts of the sums are broken": {func(s *scenario) []string {
			return []string{s.breakPart("sums"), s.breakPart("sums")}
		}, rebuild},
		"parts of both are broken": {func(s *scenario) []string {
			s.breakPart("sums")
			return []string{s.breakPart("records")}
		}, restore},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			s.exec("SYSTEM STOP MERGES records")
			s.exec("SYSTEM STOP MERGES sums")
			a := s.join("a")
			a.assign()
			for i, m := range someRecords(3) { // three batches
				s.send(m)
				s.awaitAll(uint64(i + 1))
			}
			parts := tc.tear(s)
			a.crash()
			b := s.join("b")
			b.assign()
			b.awaitCondition(Stopped, Running)
			is := b.statusOf(0)
			for _, text := range append(parts, tc.says) {
				if is.Condition != Stopped || !strings.Contains(is.Reason, text) {
					t.Errorf("it is %s: %s; that doesn't say %q", is.Condition, is.Reason, text)
				}
			}
			if tc.says == restore && strings.Contains(is.Reason, rebuild) {
				t.Errorf("it advises a rebuild, which helps nobody: %s", is.Reason)
			}
			if b.Ready() == nil {
				t.Error("it is ready")
			}
		})
	}
}

// Given a broken part of a table that puts nothing into the sums, then what is said of it is the same, whatever the server was about when it
// found it.
func TestABrokenPartOfATableWithoutSums(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	for _, how := range []string{"broken-on-start", "broken", "broken-from-backup"} {
		s.exec("INSERT INTO users (tenant, id, row_version) VALUES ('demo', 'U1', 1)")
		part := s.breakPartAs("users", how)
		is, err := brokenParts(t.Context(), s.db, store.Of(events.Users))
		if err != nil || is == nil || !strings.Contains(is.Error(), "run `tallyhouse adopt`") {
			t.Fatal(how, is, err)
		}
		_, advice, _ := strings.Cut(is.Error(), "drop what is left of the parts: ")
		if !strings.Contains(advice, part) {
			t.Errorf("%s is not named by %q", part, advice)
		}
		s.exec(advice)
		if is, err := brokenParts(t.Context(), s.db, store.Of(events.Users)); is != nil || err != nil {
			t.Error(is, err)
		}
	}
}

// breakPart takes a part out of a table, as the server does with one that it can't read when it starts.
func (s *scenario) breakPart(table string) (part string) {
	s.t.Helper()
	return s.breakPartAs(table, "broken-on-start")
}

// breakPartAs is breakPart for what the server calls such a part.
func (s *scenario) breakPartAs(table, how string) (part string) {
	s.t.Helper()
	names := s.texts("SELECT name FROM system.parts WHERE database = currentDatabase() AND table = '" + table + "' AND active ORDER BY name")
	if len(names) == 0 {
		s.t.Fatal(table, " has no part")
	}
	s.exec("ALTER TABLE " + table + " DETACH PART '" + names[0] + "'")
	paths := s.texts("SELECT path FROM system.detached_parts WHERE database = currentDatabase() AND table = '" + table +
		"' AND name = '" + names[0] + "'")
	part = how + "_" + names[0]
	if err := os.Rename(paths[0], filepath.Join(filepath.Dir(filepath.Clean(paths[0])), part)); err != nil {
		s.t.Fatal(err)
	}
	return part
}

// Given replicated tables of which a part is still to be checked, or whose replica has lost its Keeper, when a worker comes, then it
// waits before it reads how far they are, says so, and goes on once that is over. (The embedded engine has no replicas: a
// table stands for what it says of them.)
func TestScenarioAReplicaThatChecksItsParts(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.exec("CREATE TABLE said_of_replicas (database String, table String, is_readonly UInt8, parts_to_check UInt32) ENGINE = Memory")
	s.intercept = func(d *interceptor) {
		d.onRows(func(q database.Query, each rowFunc, next queryFunc) error {
			q.SQL = strings.Replace(q.SQL, "system.replicas", "said_of_replicas", 1)
			return next(q, each)
		})
	}
	for i, tc := range []struct{ table, said, reason string }{
		{"sums", "0, 1", "sums has 1 parts that its replica still has to check"},
		{"records", "0, 2", "records has 2 parts"},
		{"records", "1, 0", "records is read-only: its replica has lost its Keeper"},
	} {
		s.exec("INSERT INTO said_of_replicas SELECT currentDatabase(), '" + tc.table + "', " + tc.said)
		s.send(record(ids(0, 3)[i], 1, nil))
		a := s.join(fmt.Sprint("member ", i))
		a.assign()
		s.await("the worker waits", func() bool {
			return a.statusOf(0).Condition == Waiting && strings.Contains(a.statusOf(0).Reason, tc.reason)
		})
		s.exec("TRUNCATE TABLE said_of_replicas")
		s.awaitAll(uint64(i + 1))
		a.crash()
	}
	s.check(s.model)
}

// Given an insert that reaches another server than the one whose fences were read, then it writes nothing.
func TestScenarioAnInsertOnAnotherServer(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		arrived, written := make(chan struct{}), uint64(0)
		var once sync.Once
		s.intercept = func(d *interceptor) {
			d.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
				if isBatch(st) {
					once.Do(func() { // the address now leads to a server with the same tables and fences
						st.Params = st.Params.With(database.Params{"server": "another"})
						var err error
						if written, err = next(st); err != nil {
							s.t.Error(err)
						}
						close(arrived)
					})
				}
				return next(st)
			})
			if omitRule {
				replaced(position.SameServer, "1")(d)
			}
		}
		s.send(someRecords(2)...)
		a := s.join("a")
		a.assign()
		s.awaitEvent("the insert arrives on the other server", arrived)
		if written > 0 {
			return []string{fmt.Sprint("it wrote ", written)}, true
		}
		s.awaitAll(2)
		return s.drift(s.model), true
	})
}

// Given databases that are the shards of one installation, when a worker gets their addresses in another order, or one
// more, then it refuses: it would ingest everything anew into the wrong ones.
func TestScenarioShardsInAnotherOrder(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	other := newScenarioOn(t, s.addr, anotherDatabase(t), s.cluster.Addrs[0])
	third := newScenarioOn(t, s.addr, anotherDatabase(t), s.cluster.Addrs[0])
	records := []*store.Entity{store.Of(events.Records)}
	for p := range int32(testPartitions) {
		s.send(record(ids(p, 1)[0], 1, nil))
	}
	a := s.joinOn("a", s.db, other.db)
	a.assign(0, 1, 2)
	s.await("each shard has its partitions", func() bool { return s.reached(0, 1) && other.reached(1, 1) && s.reached(2, 1) })
	a.crash()
	for name, shards := range map[string][]Database{"swapped": {other.db, s.db}, "one more": {s.db, other.db, third.db}, "one less": {s.db},
		"one in front": {third.db, s.db, other.db}} {
		b := s.joinOn(name, shards...)
		b.assign(0, 1, 2)
		for p := range int32(testPartitions) { // a third shard has never seen the topic; it is given partition 2
			s.await(name+" is refused", func() bool { return b.statusOf(p).Condition == Refused })
		}
		b.crash()
	}
	for i, shard := range []*scenario{s, other} {
		for _, found := range shard.verifyShard(records, i, 2) {
			t.Errorf("shard %d: %s", i, found)
		}
	}
	if n := s.count("SELECT count() FROM records") + other.count("SELECT count() FROM records"); n != 6 {
		t.Errorf("%d rows, want each record and each position once", n)
	}
	if rows, streams := third.count("SELECT count() FROM records"), third.count("SELECT count() FROM streams"); rows+streams != 0 {
		t.Errorf("the third database has %d rows of records and %d of streams", rows, streams)
	}
}

// Given a generation of the group in which a leader of another release assigns a topic that this worker doesn't know, then
// it writes those that it knows.
func TestScenarioATopicThatAnOlderWorkerDoesNotKnow(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.send(someRecords(2)...)
	a := s.join("a") // it knows records alone
	group, err := kafkago.NewConsumerGroup(kafkago.ConsumerGroupConfig{
		ID: "of both releases", Brokers: s.cluster.Addrs, Topics: []string{string(events.Records), string(events.Contracts)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = group.Close() })
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	generation, err := group.Next(ctx)
	if err != nil || len(generation.Assignments) != 2 {
		t.Fatal(generation, err)
	}
	a.beginGeneration(ctx, context.Background(), generation)
	s.awaitAll(2)
	s.check(s.model)
	if all := a.Status(); len(all) != testPartitions {
		t.Errorf("it writes %+v", all)
	}
}

// Given a partition without a leader, then it waits, and the others of its topic are written; it follows when it has one.
func TestScenarioAPartitionWithoutALeader(t *testing.T) {
	t.Parallel()
	addr, name := clickhousetest.Database(t)
	broker := newLeaderless(t, kafkatest.Start(t).Addr())
	s := newScenarioOn(t, addr, name, broker.addr)
	for p := range int32(testPartitions) {
		for _, id := range ids(p, 2) {
			s.send(record(id, 1, nil))
		}
	}
	a := s.join("a")
	a.assign(0, 1, 2) // the topic is known from now on
	s.await("all is written", func() bool { return s.reached(0, 2) && s.reached(1, 2) && s.reached(2, 2) })
	a.crash()
	for p := range int32(testPartitions) {
		s.send(record(ids(p, 1)[0], 2, nil))
	}
	lost := kafkalog.Partition{Topic: scenarioPartition.Topic, Number: 1}
	broker.take(lost, true)
	b := s.join("b")
	b.assign(0, 1, 2)
	s.await("the others are written", func() bool { return s.reached(0, 3) && s.reached(2, 3) })
	s.await("the one without a leader waits", func() bool { return b.statusOf(1).Condition == Waiting })
	if err := b.Alive(); err != nil {
		t.Errorf("waiting is alive: %v", err)
	}
	broker.take(lost, false)
	s.await("it follows", func() bool { return s.reached(1, 3) })
	s.check(s.model)
}

// Given messages in a wrong partition that are as large as their topic takes, so that one more header is too much, then
// they become dead letters, and the partition goes on.
func TestScenarioALargeMessageInAWrongPartition(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	padded := func(m message, size int) message {
		m.partition, m.value = 0, append(m.value, bytes.Repeat([]byte(" "), size-len(m.value))...)
		return m
	}
	of := ids(1, 4)
	const limit = 2 << 20 // of a batch, whose own bytes and the record's are 82
	large, small, huge := padded(record(of[0], 1, nil), limit-90), record(of[1], 1, nil), padded(record(of[2], 1, nil), events.MaxMessageBytes)
	small.partition = 0
	s.send(huge, small)
	// Its headers are as large as the topic takes, and more than a client here sends.
	client, traced := s.sender(), padded(record(of[3], 1, nil), events.MaxMessageBytes)
	traced.value[len(traced.value)-1] = '\n' // another text than the other one's
	r := &kgo.Record{Topic: scenarioPartition.Topic, Key: []byte(traced.key), Value: traced.value,
		Headers: []kgo.RecordHeader{{Key: "trace", Value: make([]byte, kafka.MaxBatchBytes-events.MaxMessageBytes)}}}
	if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	a := s.join("a")
	a.assign(0, 1)
	s.await("what fits is re-routed", func() bool { return s.reached(0, 3) && s.reached(1, 2) })
	s.configure("max.message.bytes", fmt.Sprint(limit))
	next := record(of[1], 2, nil)
	next.partition = 0
	s.produce(large)
	s.send(next)
	s.await("the partition passes it", func() bool { return s.reached(0, 5) && s.reached(1, 3) })
	s.check(s.model)
	s.checkDeadLetters(map[string]int{string(large.value): 1, string(traced.value): 1})
}

// Only another writer's fence makes a member in good standing a loser: neither a hold's release, nor one's own fence that
// seemed to be lost on the way.
func TestScenarioWhoseFenceIsCountedAsLost(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	a := s.join("a")
	a.assign()
	m := someRecords(4)
	next := func(i int) {
		t.Helper()
		s.send(m[i])
		s.awaitAll(uint64(i + 1))
	}
	next(0)
	s.release(s.hold("somebody's work"))
	next(1)
	lost := a.db.loseRaise()
	a.db.loseBatch(nil)
	s.send(m[2])
	s.awaitEvent("the batch is lost", lost.sent)
	if _, err := lost.deliver(); err != nil {
		t.Fatal(err)
	}
	s.awaitAll(3)
	if n := a.counter("fences_lost_total"); n != 0 {
		t.Errorf("%v fences lost to nobody", n)
	}
	b := s.join("b")
	b.assign()
	b.awaitCondition(Running)
	b.crash()
	next(3)
	if n := a.counter("fences_lost_total"); n != 1 {
		t.Errorf("%v fences lost to one other writer", n)
	}
}

// Given a recovery that is about to end, when its writer has to end at that moment, then what was opened for it is closed.
func TestScenarioAFeedForAWriterThatStopped(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.send(someRecords(1)...)
	a := s.join("a")
	stopped := make(chan struct{})
	a.onStep(StepRead, func() {
		go func() {
			a.stopWriters(context.Background(), func(kafkalog.Partition) bool { return true })
			close(stopped)
		}()
		s.await("the writer has to end", func() bool { return len(a.Status()) == 0 })
		time.Sleep(100 * time.Millisecond) // by now it waits for the recovery alone
	})
	a.assign()
	s.awaitEvent("the writer has ended", stopped)
	a.assign(1)
	s.await("another partition has recovered behind it", func() bool { return a.statusOf(1).Condition == Running })
	s.await("what was opened for the first is closed", func() bool {
		a.source.mu.Lock()
		defer a.source.mu.Unlock()
		return len(a.source.buffers) == 1 && len(a.source.queue) == 0
	})
}

// Given two partitions that recover together and wait for the group's next generation, when one of them goes to another
// member, then its writer ends at once: the generation begins only when it has.
func TestScenarioAWriterThatStopsWhileAnotherWaitsForAGeneration(t *testing.T) {
	for _, at := range []Step{StepMember, StepRead} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			a := s.join("a")
			between := make(chan struct{})
			a.onStep(at, func() {
				a.members.pause(0)
				close(between)
			})
			a.assign(0, 1)
			s.awaitEvent("it is between generations", between)
			ended := make(chan struct{})
			go func() {
				a.stopWriters(context.Background(), func(tp kafkalog.Partition) bool { return tp.Number == 1 })
				close(ended)
			}()
			s.awaitEvent("the writer ends, without the next generation", ended)
		})
	}
}

// Given a ClickHouse that takes statements and never answers, when the worker is to end, then it does: at the next start
// it recovers.
func TestTheWorkerEndsWhileClickHouseHangs(t *testing.T) {
	for name, hangs := range map[string]func(*interceptor, func()){
		"in an insert": func(i *interceptor, hang func()) {
			i.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
				if isBatch(st) {
					hang()
				}
				return next(st)
			})
		},
		"in a recovery": func(i *interceptor, hang func()) {
			i.onRows(func(q database.Query, each rowFunc, next queryFunc) error {
				hang()
				return next(q, each)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.produce(record("R1", 1, nil))
			db := &interceptor{Database: w.db}
			hanging, over := make(chan struct{}), make(chan struct{})
			var once sync.Once
			hangs(db, func() {
				once.Do(func() { close(hanging) })
				<-over
			})
			a, err := newWorker(w, "a", db, func(w *Worker) {
				w.timings.drain, w.timings.end = 100*time.Millisecond, 100*time.Millisecond
				w.timings.session = 5 * time.Minute // so it leaves the group, or it stays in it
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { close(over) })
			w.awaitEvent("ClickHouse hangs", hanging)
			a.stop()
			select {
			case err := <-a.done:
				if err != nil { // a supervisor would take it for a failure, and there is nothing to be done
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Error("it waits for an answer that never comes")
			}
			w.await("it has left the group", func() bool { return w.members() == 0 })
		})
	}
}

// anotherDatabase makes a further database on the server of the tests.
func anotherDatabase(t *testing.T) string {
	t.Helper()
	_, name := clickhousetest.Database(t)
	return name
}
