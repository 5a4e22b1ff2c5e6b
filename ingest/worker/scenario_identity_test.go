package worker

import (
	"context"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// stream changes what the database knows of the topic, as work under a hold does.
func (s *scenario) stream(change func(*position.Stream)) (before position.Stream) {
	s.t.Helper()
	ctx := context.Background()
	h := s.hold("a change of the stream")
	before, ok, err := position.ReadStream(ctx, s.db, scenarioPartition.Topic)
	if err != nil || !ok {
		s.t.Fatal(ok, err)
	}
	now := before
	now.Revision++
	change(&now)
	if err := position.WriteStream(ctx, s.db, scenarioPartition.Topic, h.StatementID(s.db), now, fence.HoldCounts, h.Params()); err != nil {
		s.t.Fatal(err)
	}
	s.release(h)
	return before
}

// awaitRefusal waits until the member refuses to write and compares what it says.
func (m *member) awaitRefusal(words ...string) {
	m.scenario.t.Helper()
	m.awaitCondition(Refused)
	for _, word := range words {
		if reason := m.statusOf(0).Reason; !strings.Contains(reason, word) {
			m.scenario.t.Errorf("%s refuses with %q, which doesn't say %q", m.name, reason, word)
		}
	}
	if m.Ready() == nil {
		m.scenario.t.Errorf("%s refuses and is ready", m.name)
	}
}

// The tables got another content at the same position, as by a restore, and with it another life: heads of the old life
// are worth nothing although they are at the very same position.
func TestScenarioHeadsOfALifeThatEnded(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		id := ids(0, 1)[0]
		s.send(record(id, 1, map[string]any{"net": 1000, "allocations": []any{}}))
		a, b := s.join("a"), s.join("b")
		a.assign()
		s.awaitAll(1)
		a.members.pause(0) // it keeps its heads, and writes nothing
		b.assign()
		b.awaitCondition(Running)
		s.send(record(id, 2, map[string]any{"net": 2000, "allocations": []any{}}))
		s.awaitAll(2)
		b.crash()
		old := s.stream(func(next *position.Stream) { next.Life = position.NewLife() })
		if omitRule {
			a.db.onRows(func(q database.Query, each rowFunc, next queryFunc) error {
				if strings.Contains(q.SQL, "FROM streams") {
					q.SQL = strings.Replace(q.SQL, "formula, life, work", "formula, {old:String}, work", 1)
					q.Params = q.Params.With(database.Params{"old": old.Life})
				}
				return next(q, each)
			})
		}
		a.onStep(StepHeads, func() { a.headsOf(0).position = 2 }) // of that other content
		a.assign()
		s.send(record(id, 3, map[string]any{"net": 4000, "allocations": []any{}}))
		s.awaitAll(3)
		return s.drift(s.model), true
	})
}

// A topic that was made anew begins at 0 again: its offsets mean other messages. Whoever reads already notices it, and
// so does who comes.
func TestScenarioATopicMadeAnew(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	a := s.writing("a", someRecords(3)...)
	s.remakeTopic()
	var other []message
	for _, id := range ids(0, 12)[4:] {
		other = append(other, record(id, 1, nil))
	}
	s.produce(other...)
	b := s.join("b")
	b.assign()
	b.awaitRefusal("made anew", "empty database")
	a.assign() // it takes part again
	a.awaitRefusal("made anew")
	if at := s.at(0).State; at != 3 {
		t.Errorf("the table went on to %d", at)
	}
	s.check(s.model)
}

// The same for a worker that nobody wakes: it reads on in what it takes for its topic, and must not believe what it
// gets.
func TestScenarioATopicMadeAnewUnderAWorker(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	a := s.writing("a", someRecords(3)...)
	s.remakeTopic()
	var other []message
	for _, id := range ids(0, 12)[4:] {
		other = append(other, record(id, 1, nil))
	}
	s.produce(other...)
	a.awaitRefusal("made anew")
	s.check(s.model)
}

// Given a topic that was made anew and an emptied database, under a worker that goes on, then it reads the new topic; and dead letters
// and messages of other partitions at offsets that it has passed in the old one are sent: they are other messages.
func TestScenarioATopicMadeAnewWithAnEmptiedDatabaseUnderAWorker(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	a := s.writing("a", someRecords(4)...)
	s.remakeTopic()
	for _, table := range []string{"records", "sums", "streams", "fences"} {
		s.exec("TRUNCATE TABLE " + table)
	}
	s.model = newModel()
	astray := record(ids(1, 1)[0], 1, nil)
	astray.partition = 0
	s.send(astray, message{topic: events.Records, partition: 0, key: "demo/" + ids(0, 4)[3], value: []byte("no JSON")}, someRecords(1)[0])
	a.assign(0, 1)
	s.awaitAll(3)
	s.await("what was re-routed is written", func() bool { return s.reached(1, 1) })
	s.check(s.model)
	s.checkDeadLetters(map[string]int{"no JSON": 1})
}

// remakeTopic deletes the topic and makes it again.
func (s *scenario) remakeTopic() {
	s.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	deleted, err := s.cluster.Client().DeleteTopics(ctx, &kafkago.DeleteTopicsRequest{Topics: []string{scenarioPartition.Topic}})
	if err != nil || deleted.Errors[scenarioPartition.Topic] != nil {
		s.t.Fatal(err, deleted)
	}
	kafkatest.AwaitTopic(s.t, s.cluster.Addrs[0], scenarioPartition.Topic, 0)
	untilDone(s.t, func() error { // the client still believes in the old one for a while
		_, err := kafka.Ensure(ctx, s.cluster, kafka.TopicSpec{Partitions: testPartitions})
		return err
	})
	kafkatest.AwaitTopic(s.t, s.cluster.Addrs[0], scenarioPartition.Topic, testPartitions)
}

// Work in progress keeps writers out after its hold is gone, as it is when the server was restarted.
func TestScenarioWorkInProgressOutlastsItsHold(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.writing("a", someRecords(3)...)
	s.stream(func(next *position.Stream) { next.Work, next.Worker = "some work", "somebody" })
	s.send(record(ids(0, 1)[0], 2, nil))
	s.exec("TRUNCATE TABLE fences") // what a restart of the server does
	b := s.join("b")
	b.assign()
	b.awaitRefusal("some work", "somebody", "same command")
	s.stream(func(next *position.Stream) { next.Work, next.Worker = "", "" })
	c := s.join("c")
	c.assign()
	s.awaitAll(4)
	s.check(s.model)
}

// What was read before a recovery never gets into a later batch: it would jump over offsets. A fetch of the older
// attempt comes after the newer attempt has begun; it belongs to the older one's buffer, which nobody reads any more.
func TestScenarioRecordsReadBeforeARecovery(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		s.send(someRecords(6)...)
		var read []*kgo.Record
		err := kafka.Read(t.Context(), s.cluster, scenarioPartition.Topic, func(r *kgo.Record) error {
			if r.Partition == 0 && r.Offset >= 3 {
				read = append(read, r)
			}
			return nil
		})
		if err != nil {
			s.t.Fatal(err)
		}
		a := s.join("a")
		reading := func() *buffer {
			a.source.mu.Lock()
			defer a.source.mu.Unlock()
			return a.source.buffers[scenarioPartition]
		}
		a.db.loseBatch(func() {
			older := reading()
			a.onStep(StepCut, func() {
				var newer *buffer
				s.await("the newer attempt has read everything", func() bool {
					newer = reading()
					if newer == nil || newer == older {
						return false
					}
					newer.mu.Lock()
					defer newer.mu.Unlock()
					return len(newer.records) == 6
				})
				f := older
				if omitRule { // what came for the older attempt comes instead of what the newer one asked for
					f = newer
					_, _ = f.take(1000)
				}
				f.add(read, 6, nil)
			})
		})
		a.assign()
		s.awaitAll(6)
		return s.drift(s.model), true
	})
}

// Many recoveries while much is read: every other insert gets lost.
func TestScenarioManyRecoveriesWhileMuchIsRead(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	a := s.join("a")
	n := 0
	a.db.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
		if n++; isBatch(st) && n%2 == 0 && n < 30 {
			return 0, errLostOnTheWay
		}
		return next(st)
	})
	a.assign()
	all := someRecords(400)
	for len(all) > 0 {
		s.send(all[:20]...)
		all = all[20:]
	}
	s.awaitAll(400)
	s.check(s.model)
}

// A message in another partition than its key's is re-routed, says where from, and is applied once, there.
func TestScenarioRerouting(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	astray := record(ids(0, 1)[0], 1, nil)
	astray.partition = 1
	null := message{topic: events.Records, partition: 2, key: "demo/" + ids(0, 2)[1]}
	s.send(astray, null)
	a := s.join("a")
	a.assign(0, 1, 2)
	s.awaitAll(1)
	s.await("the wrong partitions pass it", func() bool { return s.reached(1, 1) && s.reached(2, 1) })
	s.check(s.model)
	from := ""
	err := kafka.Read(t.Context(), s.cluster, scenarioPartition.Topic, func(r *kgo.Record) error {
		for _, h := range r.Headers {
			if r.Partition == 0 && h.Key == "rerouted-from" {
				from = string(h.Value)
			}
		}
		return nil
	})
	if err != nil || from != "1/0" {
		t.Errorf("sent on from %q, want 1/0: %v", from, err)
	}
	s.checkDeadLetters(map[string]int{"": 1})
	if n := a.counter("rerouted_total"); n != 1 {
		t.Errorf("%v messages counted as sent on", n)
	}
}

// The topic has more partitions than the database knows of: nothing is re-routed, and the worker names the remedy.
func TestScenarioNothingIsSentOnWhileTheNumbersDiffer(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.send(someRecords(2)...)
	a := s.join("a")
	a.assign(0, 1, 2)
	s.awaitAll(2)
	s.addPartitions(testPartitions + 2)
	astray := record(ids(1, 1)[0], 1, nil)
	astray.partition = 0
	s.produce(astray)
	a.awaitRefusal("topics resize", "5 partitions")
	for p, want := range map[int32]uint64{0: 2, 1: 0, 2: 0} {
		if at := s.at(p).State; at != want {
			t.Errorf("partition %d is at %d, want %d", p, at, want)
		}
	}
	if end := s.ends()[kafkalog.Partition{Topic: scenarioPartition.Topic, Number: 1}]; end != 0 {
		t.Errorf("%d messages were sent on", end)
	}
	s.check(s.model)
}

// The group gives a partition that the broker, when asked, doesn't have: its news of a larger topic came from another
// broker. That one waits; the others are written.
func TestScenarioAPartitionThatTheBrokerDoesNotHave(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.send(someRecords(2)...)
	a := s.join("a")
	a.assign(0, testPartitions)
	s.awaitAll(2)
	s.await("the other one waits", func() bool { return a.statusOf(testPartitions).Condition == Waiting })
	s.check(s.model)
}

// addPartitions makes the topic larger.
func (s *scenario) addPartitions(n int) {
	s.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	r, err := s.cluster.Client().CreatePartitions(ctx, &kafkago.CreatePartitionsRequest{
		Topics: []kafkago.TopicPartitionsConfig{{Name: scenarioPartition.Topic, Count: int32(n)}},
	})
	if err != nil || r.Errors[scenarioPartition.Topic] != nil {
		s.t.Fatal(err, r)
	}
	kafkatest.AwaitTopic(s.t, s.cluster.Addrs[0], scenarioPartition.Topic, n)
}

// A row was taken out by hand while a member that keeps its heads lay behind, and the sums were rebuilt: heads of the former life are
// behind as well, and yet what they lack isn't all that changed.
func TestScenarioHeadsOfALifeThatEndedBehind(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := versions(2, 1)
	a := s.writing("a", m[0])
	a.members.pause(0) // it keeps its heads, and writes nothing
	b := s.join("b")
	b.assign()
	b.awaitCondition(Running)
	s.send(m[1])
	s.awaitAll(2)
	b.crash()
	s.exec("ALTER TABLE records DELETE WHERE id = '" + ids(0, 1)[0] + "' SETTINGS mutations_sync = 1")
	r, err := admin.Rebuild(t.Context(), s.db, []*store.Entity{store.Of(events.Records)}, s.adminOptions())
	if err != nil || r[0].Corrected == 0 {
		t.Fatal(r, err)
	}
	a.assign()
	s.send(versions(1, 2)...)
	s.awaitAll(3)
	s.check(s.model)
}

// Given tables that hold data of which nothing says where it came from, then a worker refuses to write beside it.
func TestScenarioTablesOfAnUnknownTopic(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.writing("a", someRecords(2)...).crash()
	s.exec("TRUNCATE TABLE streams")
	s.produce(record(ids(0, 1)[0], 2, nil))
	b := s.join("b")
	b.assign()
	b.awaitRefusal("restore the table streams", "empty database")
	if n := s.count("SELECT count() FROM streams"); n != 0 {
		t.Errorf("%d streams are written down", n)
	}
	if at := s.at(0).State; at != 2 {
		t.Errorf("it wrote up to %d", at)
	}
}
