package worker

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// failures counts the batches of the member that failed.
func (m *member) failures() func() int {
	var mu sync.Mutex
	n := 0
	m.db.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
		written, err := next(st)
		if isBatch(st) && err != nil {
			mu.Lock()
			n++
			mu.Unlock()
		}
		return written, err
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// raises counts the fences that the member asks for.
func (m *member) raises() func() int {
	var mu sync.Mutex
	n := 0
	m.db.onExec(func(st database.Statement, next execFunc) error {
		if isRaise(st) {
			mu.Lock()
			n++
			mu.Unlock()
		}
		return next(st)
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// Given a table that takes no inserts for now, when a batch fails again and again, then its writer tries less and less
// often, by the one policy; each attempt has one fence, and old ones are cleared away; dead letters and re-routed messages
// are sent once; and the partition goes on once the table does.
func TestScenarioInsertsThatFailAtOnce(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(3)
	a := s.writing("a", m[:2]...)
	s.exec("INSERT INTO fences (topic, partition, epoch, owner, held, since)" + // of earlier doubts
		" SELECT 'ledger.records', 0, 0, concat('before:', toString(number)), false, now64(3) FROM numbers(30)")
	failed, fences, pauses := a.failures(), a.raises(), a.pauseByHand()
	s.exec("ALTER TABLE records MODIFY SETTING parts_to_throw_insert = 1") // there is one
	astray := record(ids(1, 1)[0], 1, nil)
	astray.partition = 0
	s.send(m[2], astray, message{topic: events.Records, partition: 0, key: "demo/" + ids(0, 4)[3], value: []byte("no JSON")})

	want := []time.Duration{0, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000, 10_000} // ms
	for i, wanted := range want {
		if got := pauses.next(); got != wanted*time.Millisecond {
			t.Errorf("after doubt %d it pauses for %s, want %s", i+1, got, wanted*time.Millisecond)
		}
		if failed() != i+1 || fences() != i {
			t.Errorf("%d batches failed and %d fences were put up until pause %d", failed(), fences(), i+1)
		}
		if is := a.statusOf(0); is.Condition != Waiting || !strings.Contains(is.Reason, "Too many parts") {
			t.Errorf("it is %s: %s", is.Condition, is.Reason)
		}
		if i < len(want)-1 {
			pauses.end()
		}
	}
	if err := a.Alive(); err != nil {
		t.Error(err)
	}
	if n := s.count("SELECT count() FROM fences"); n > uint64(len(want)) {
		t.Errorf("%d fences lie about", n)
	}
	s.exec("ALTER TABLE records RESET SETTING parts_to_throw_insert")
	pauses.end()
	s.awaitAll(5)
	a.assign(0, 1)
	s.await("what was re-routed is written", func() bool { return s.reached(1, 1) })
	s.check(s.model)
	letters := 0
	err := kafka.Read(t.Context(), s.cluster, string(events.DeadLetters), func(*kgo.Record) error { letters++; return nil })
	if rerouted := s.ends()[kafkalog.Partition{Topic: scenarioPartition.Topic, Number: 1}]; err != nil || letters != 1 || rerouted != 1 {
		t.Errorf("%d dead letters, %d re-routed messages, %v", letters, rerouted, err)
	}
}

// Given a database that another installation wrote, or another release, when a worker comes to it, then it refuses, says
// why and what to do, and looks again now and then without a further fence; and it goes on when that is put right.
func TestScenarioADatabaseOfAnother(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(8)
	a := s.writing("a", m[0])
	fences, pauses := a.raises(), a.pauseByHand()
	formula := store.Of(events.Records).Formula
	for i, tc := range []struct {
		name   string
		change func(*position.Stream)
		says   []string
	}{
		{"server", func(n *position.Stream) { n.Server = "elsewhere" }, []string{"server elsewhere", "tallyhouse adopt"}},
		{"Kafka cluster", func(n *position.Stream) { n.ClusterID = "elsewhere" }, []string{"cluster elsewhere", "belong together"}},
		{"older schema", func(n *position.Stream) { n.Schema-- },
			[]string{fmt.Sprintf("version %d of the schema", clickhouse.Version-1), "tallyhouse migrate"}},
		{"newer schema", func(n *position.Stream) { n.Schema++ },
			[]string{fmt.Sprintf("version %d of the schema", clickhouse.Version+1), "newer binary"}},
		{"formula", func(n *position.Stream) { n.Formula = "former" }, []string{"formula former", "formula " + formula, "tallyhouse migrate"}},
		{"shard", func(n *position.Stream) { n.Shard, n.Shards = 1, 2 }, []string{"shard 1 of 2", "shard 0 of 1", "order"}},
		{"number of shards", func(n *position.Stream) { n.Shards = 2 }, []string{"shard 0 of 2", "shard 0 of 1"}},
	} {
		at := uint64(i + 1)
		was := s.stream(tc.change)
		s.send(m[at])
		pauses.next()
		for a.statusOf(0).Condition != Refused { // the work under the hold took its fence
			pauses.end()
			pauses.next()
		}
		a.awaitRefusal(tc.says...)
		before, fence := fences(), s.fenceOf(0)
		for range 4 {
			pauses.end()
			if pause := pauses.next(); pause != inconsistentWait {
				t.Errorf("%s: it looks again after %s", tc.name, pause)
			}
		}
		if fences() != before || s.fenceOf(0) != fence {
			t.Errorf("%s: it put up %d further fences", tc.name, fences()-before)
		}
		a.awaitRefusal(tc.says...)
		if now := s.at(0).State; now != at {
			t.Errorf("%s: it wrote up to %d all the same", tc.name, now)
		}
		s.stream(func(n *position.Stream) {
			revision := n.Revision
			*n = was
			n.Revision = revision
		})
		pauses.end()
		s.awaitAll(at + 1)
	}
	s.check(s.model)
}

// Given a statement of a writer that got lost on its way, whichever it is, when its writer has recovered, then another
// fence counts than that statement's: arriving late, it writes nothing.
func TestScenarioStatementsThatArriveLate(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(5)
	a := s.join("a")
	into := func(table string) func(database.Statement) bool {
		return func(st database.Statement) bool { return strings.Contains(st.SQL, "INSERT INTO "+table+" ") }
	}
	late := func(what string, lost *delayed) {
		t.Helper()
		if owner := s.fenceOf(0).Owner; lost.st.Params["owner"] == "" || owner == lost.st.Params["owner"] {
			t.Errorf("%s was sent under the fence of %q, and %q counts", what, lost.st.Params["owner"], owner)
		}
		if written, err := lost.deliver(); err != nil || written > 0 {
			t.Errorf("%s, arriving late, wrote %d rows: %v", what, written, err)
		}
	}
	s.send(m[0])
	registering := a.db.lose(into("streams"), nil)
	a.assign()
	s.awaitAll(1)
	late("what the database is to know of the topic", registering)

	batch := a.db.loseBatch(nil)
	s.send(m[1])
	s.awaitAll(2)
	late("a batch", batch)

	mending := a.db.lose(into("sums"), nil)
	torn := a.db.failure()
	s.exec("INSERT INTO bomb VALUES ('records')")
	s.send(m[2])
	s.awaitEvent("the insert fails", torn)
	s.exec("TRUNCATE TABLE bomb")
	s.awaitAll(3)
	late("what mends a view", mending)

	a.revoke()
	s.await("the writer has ended", func() bool { return a.hasEnded(0) })
	s.produce(m[3:]...)
	s.deleteRecords(0, 5)
	gap := a.db.lose(into("gaps"), nil)
	a.assign()
	s.awaitAll(5)
	late("the note of a gap", gap)
	if n := s.count("SELECT count() FROM gaps"); n != 1 {
		t.Errorf("the gap is noted %d times", n)
	}
	s.check(s.model)
}

// Given more entities than the memory for heads has room for, then their partition tries less and less often, says why, and
// puts up no further fences; the others of its topic are written; and a worker with more memory goes on.
func TestScenarioHeadsThatDoNotFit(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.heads.Limit = 100 << 10 // of which the index takes a part
	var allocations []any
	for i := range 10 {
		allocations = append(allocations, map[string]any{"nodeId": fmt.Sprint("n", i), "net": 100})
	}
	var many []message
	for _, id := range ids(0, 600) {
		many = append(many, record(id, 1, map[string]any{"net": 1000, "tax": nil, "gross": nil, "allocations": allocations}))
	}
	s.send(many...)
	a := s.join("a")
	fences, pauses := a.raises(), a.pauseByHand()
	a.assign(0, 1)
	s.send(record(ids(1, 1)[0], 1, nil))
	s.awaitTroubles(pauses, fences, latest.ErrFull.Error())
	s.await("the other partition is written", func() bool { return s.reached(1, 1) && a.statusOf(1).Condition == Running })
	a.crash()
	s.heads.Limit = 0
	b := s.join("b")
	b.assign(0, 1)
	s.send(versions(5, 2)...)
	s.awaitAll(uint64(len(many) + 5))
	s.check(s.model)
}

// Given a row whose head nobody can compute, which nobody but a hand in the tables can have written, then the same: the
// reason names it, and the partition goes on once it is gone.
func TestScenarioAHeadThatCannotBeComputed(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.writing("a", someRecords(3)...).crash()
	s.exec("INSERT INTO records SELECT * REPLACE ('damaged' AS id, ['n1'] AS allocation_node, [toInt64(exp2(62))] AS allocation_net)" +
		" FROM records WHERE tenant != '' LIMIT 1")
	s.send(versions(3, 2)...)
	b := s.join("b")
	fences, pauses := b.raises(), b.pauseByHand()
	b.assign()
	s.awaitTroubles(pauses, fences, `what "damaged" of tenant "demo" contributes`)
	s.exec("ALTER TABLE records DELETE WHERE id = 'damaged' SETTINGS mutations_sync = 1")
	pauses.end()
	s.awaitAll(6)
	s.check(s.model)
}

// awaitTroubles follows a member through pauses that the scenario ends until it gives the reason, and then through some more: it
// waits, longer each time, under one fence. The last pause lasts.
func (s *scenario) awaitTroubles(p *pauses, fences func() int, reason string) {
	s.t.Helper()
	gives := func() bool {
		is := p.member.statusOf(0)
		return is.Condition == Waiting && strings.Contains(is.Reason, reason)
	}
	last := p.next()
	for range 8 { // its fence is another one after a batch that it sent
		p.end()
		if last = p.next(); gives() {
			break
		}
	}
	for range 3 {
		before := fences()
		p.end()
		next := p.next()
		if !gives() || next <= last || fences() > before {
			s.t.Errorf("%s gives the reason %q, pauses for %s after %s, and put up %d fences", p.member.name, p.member.statusOf(0).Reason,
				next, last, fences()-before)
		}
		last = next
	}
}

// Given partitions that recover together, then what older writers still have under way is ended in each of them before its position is
// read.
func TestScenarioWhatRunsIsEndedInEveryPartition(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	for p := range int32(testPartitions) {
		s.send(record(ids(p, 1)[0], 1, nil))
	}
	a := s.join("a")
	var mu sync.Mutex
	ended := map[string]bool{}
	a.db.onRows(func(q database.Query, each rowFunc, next queryFunc) error {
		mu.Lock()
		defer mu.Unlock()
		for p := range int32(testPartitions) {
			prefix, key := fence.PartitionPrefix(s.db, scenarioPartition.Topic, p), "'"+clickhouse.PositionProject(p)+"'"
			switch {
			case strings.Contains(q.SQL, "count() FROM system.processes") && strings.Contains(q.Params["prefixes"], "'"+prefix+"'"):
				ended[prefix] = true
			case strings.Contains(q.SQL, "argMax(batch_first") && strings.Contains(q.Params["keys"], key) && !ended[prefix]:
				t.Errorf("the position of partition %d is read, and its inserts may run", p)
			}
		}
		return next(q, each)
	})
	a.assign(0, 1, 2)
	s.await("all are written", func() bool { return s.reached(0, 1) && s.reached(1, 1) && s.reached(2, 1) })
	s.check(s.model)
}

// Given an insert, or one into the history, that failed, then the next one has memory of its own: the connection may still read the other's.
func TestScenarioWhatFailedMayStillBeRead(t *testing.T) {
	t.Parallel()
	id := ""
	for n := 0; id == ""; n++ {
		if mail := fmt.Sprint("mail-", n); kafka.Partition([]byte("demo/"+mail), testPartitions) == 0 {
			id = mail
		}
	}
	for _, into := range []string{"INSERT INTO records", "INSERT INTO history"} {
		t.Run(into, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			a := s.join("a")
			var memory []proto.ColInput
			a.db.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
				if !strings.HasPrefix(strings.TrimSpace(st.SQL), into) || st.Batch == nil {
					return next(st)
				}
				if memory = append(memory, st.Batch[0].Data); len(memory) == 1 {
					return 0, errLostOnTheWay
				}
				return next(st)
			})
			s.send(record(id, 1, map[string]any{"intake": map[string]any{"channel": "email", "status": "queued"}}))
			a.assign()
			s.awaitAll(1)
			if len(memory) != 2 || memory[0] == memory[1] {
				t.Errorf("%d inserts, in the same memory: %v", len(memory), len(memory) == 2)
			}
			s.check(s.model)
		})
	}
}
