package worker

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/schemas/events"
)

// sender is a producer of franz-go, which knows transactions and sends to the partition that a record says.
func (s *scenario) sender(o ...kgo.Opt) *kgo.Client {
	s.t.Helper()
	o = append(o, kgo.SeedBrokers(s.cluster.Addrs...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchMaxBytes(17<<20), kgo.BrokerMaxWriteBytes(64<<20))
	client, err := kgo.NewClient(o...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(client.Close)
	return client
}

// sendBy sends messages by a producer, in one batch, and waits until Kafka has them.
func (s *scenario) sendBy(client *kgo.Client, messages ...message) {
	s.t.Helper()
	var all []*kgo.Record
	for _, m := range messages {
		all = append(all, &kgo.Record{Topic: string(m.topic), Partition: int32(max(m.partition, 0)), Key: []byte(m.key), Value: m.value})
	}
	if err := client.ProduceSync(context.Background(), all...).FirstErr(); err != nil {
		s.t.Fatal(err)
	}
}

// end is where the committed part of partition 0's log ends.
func (s *scenario) end() uint64 { return uint64(s.ends()[scenarioPartition]) }

func TestOnlyCommittedMessagesCount(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(7)
	transaction := func(id string, end kgo.TransactionEndTry, messages ...message) {
		t.Helper()
		client := s.sender(kgo.TransactionalID(id))
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		s.sendBy(client, messages...)
		kafkatest.EndTransaction(t, client, end)
	}
	a := s.join("a")
	a.assign()

	transaction("first", kgo.TryCommit, m[0])
	transaction("second", kgo.TryAbort, m[1])
	s.sendBy(s.sender(), m[2])
	s.model.take(m[0], m[2])
	s.await("the position has passed the markers", func() bool { return s.reached(0, 5) })
	s.check(s.model)

	open := s.sender(kgo.TransactionalID("third"))
	if err := open.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	s.sendBy(open, m[3])
	s.sendBy(s.sender(), m[4])
	later := message{topic: events.Records, partition: 1, key: "demo/" + ids(1, 1)[0], value: record(ids(1, 1)[0], 1, nil).value}
	a.assign(0, 1)
	s.send(later)
	s.await("what comes later elsewhere is written", func() bool { return s.reached(1, 1) })
	if end := s.end(); end != 5 || s.at(0).State != 5 {
		t.Fatalf("behind the open transaction: the position is %d, the committed part of the log ends at %d", s.at(0).State, end)
	}
	s.check(s.model)
	kafkatest.EndTransaction(t, open, kgo.TryCommit)
	s.model.take(m[3], m[4])
	s.await("what waited behind it is written", func() bool { return s.reached(0, 8) })
	s.check(s.model)

	t.Run("a writer that comes later reads the same", func(t *testing.T) {
		transaction("fourth", kgo.TryAbort, m[5])
		transaction("fifth", kgo.TryCommit, m[6])
		s.model.take(m[6])
		b := s.join("b")
		b.assign()
		s.awaitAll(s.end())
		s.check(s.model)
	})
	t.Run("a log that ends in a marker is read to its end", func(t *testing.T) {
		transaction("sixth", kgo.TryAbort, m[5])
		s.awaitAll(s.end())
		s.check(s.model)
	})
	s.checkDeadLetters(nil) // a marker is no message
}

// Batches that hold nothing but what was aborted are passed however long they are.
func TestALongAbortedTransactionIsPassed(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	client := s.sender(kgo.TransactionalID("long"))
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	all := someRecords(300)
	for i := 0; i < len(all); i += 50 {
		s.sendBy(client, all[i:i+50]...)
	}
	kafkatest.EndTransaction(t, client, kgo.TryAbort)
	a := s.join("a")
	a.assign()
	s.awaitAll(301)
	s.check(s.model)
}

// Given batches in each compression, in each a message that is refused and one of another partition's key, when all are
// read, then what was sent on is what they had: the memory that they were unpacked into is used again.
func TestEveryCompressionIsRead(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	all, elsewhere, refused := someRecords(50), ids(1, 5), map[string]int{}
	for i, codec := range []kgo.CompressionCodec{
		kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression(),
	} {
		wrong, astray := record(ids(0, 1)[0], 1, nil), record(elsewhere[i], 1, nil)
		wrong.value = fmt.Appendf(nil, "this is no event, in compression %d", i)
		refused[string(wrong.value)] = 1
		astray.partition = 0
		s.sendBy(s.sender(kgo.ProducerBatchCompression(codec)), append([]message{wrong, astray}, all[10*i:10*i+10]...)...)
		s.model.take(astray)
	}
	s.model.take(all...)
	a := s.join("a")
	a.assign(0, 1)
	s.await("all are written", func() bool { return s.reached(0, 60) && s.reached(1, 5) })
	s.check(s.model)
	s.checkDeadLetters(refused)
}

// longerThanSegment is well above segment.ms: the segment that is written to isn't compacted.
const longerThanSegment = 5 * time.Millisecond

// Compaction keeps the last message of a key. What it took leaves holes, which the position passes.
func TestACompactedTopic(t *testing.T) {
	t.Parallel()
	s := newCleanedScenario(t,
		kafka.ConfigEntry{ConfigName: "cleanup.policy", ConfigValue: "compact"}, kafka.ConfigEntry{ConfigName: "segment.ms", ConfigValue: "1"},
		kafka.ConfigEntry{ConfigName: "min.cleanable.dirty.ratio", ConfigValue: "0.01"})
	client := s.sender()
	first, second, gone, newest := ids(0, 4)[0], ids(0, 4)[1], ids(0, 4)[2], ids(0, 4)[3]
	last := []message{
		record(first, 3, nil), record(second, 2, nil), event(events.Records, gone, 2, nil),
		{topic: events.Records, key: "demo/" + gone}, record(newest, 1, nil),
	}
	for _, m := range append([]message{record(first, 1, nil), record(second, 1, nil), record(first, 2, nil), record(gone, 1, nil)}, last...) {
		s.sendBy(client, m) // a batch each
		time.Sleep(longerThanSegment)
	}
	a := s.join("a")
	s.awaitOffsets(4, 5, 7, 8)
	a.assign()
	s.awaitAll(9)
	// Of the deleted one its null value alone is left, which says nothing to who never knew it.
	s.model.take(last[0], last[1], last[4])
	s.check(s.model)
	s.checkDeadLetters(map[string]int{"": 1})

	t.Run("under a worker that reads it", func(t *testing.T) {
		for v := 4; v < 10; v++ {
			s.sendBy(client, record(first, v, map[string]any{"net": v, "allocations": []any{}}))
			time.Sleep(longerThanSegment)
		}
		s.model.take(record(first, 9, map[string]any{"net": 9, "allocations": []any{}}))
		s.awaitAll(15)
		s.awaitOffsets(5, 7, 8, 13, 14) // the last batch is never compacted
		s.check(s.model)
	})
}

// The log begins behind the position: what lies between is lost to this database. It is recorded and crossed, and the
// partition goes on.
func TestALogThatBeginsBehindThePosition(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(6)
	a := s.writing("a", m[:2]...)
	a.crash()
	s.produce(m[2:4]...) // never read
	s.deleteRecords(0, 4)
	s.send(m[4:]...)
	b := s.join("b")
	b.assign()
	s.awaitAll(6)
	s.check(s.model)
	if n := b.counter("gaps_total"); n != 1 {
		t.Errorf("%v gaps counted", n)
	}
	s.checkGap(2, 4)

	t.Run("under a worker that stands before it", func(t *testing.T) {
		held := make(chan struct{})
		lost := b.db.loseBatch(func() { <-held })
		s.produce(record("R-lost", 1, nil), record(ids(0, 8)[6], 1, nil))
		s.deleteRecords(0, int64(s.end()))
		close(held)
		after := record(ids(0, 8)[7], 1, nil)
		s.send(after)
		s.awaitEvent("the batch is lost", lost.sent)
		s.awaitAll(s.end())
		s.check(s.model)
	})
	t.Run("a log that begins late is no gap for who comes first", func(t *testing.T) {
		s := newScenario(t)
		s.produce(m[:2]...)
		s.deleteRecords(0, 2)
		s.send(m[2:]...)
		a := s.join("a")
		a.assign()
		s.awaitAll(6)
		s.check(s.model)
		if n := a.counter("gaps_total"); n != 0 {
			t.Errorf("%v gaps counted", n)
		}
	})
}

// The position lies beyond the log's end: this is another log.
func TestALogThatEndsBeforeThePosition(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	a := s.writing("a", someRecords(3)...)
	a.crash()
	s.exec("INSERT INTO records SELECT * REPLACE (toUInt64(9) AS row_version, toUInt64(3) AS batch_first, arraySlice(delta, 1, 1) AS delta)" +
		" FROM records WHERE tenant = '' ORDER BY row_version DESC LIMIT 1") // as if a batch had brought it there
	if !s.reached(0, 9) {
		t.Fatalf("the tables are at %+v", s.at(0))
	}
	b := s.join("b")
	b.assign()
	b.awaitRefusal("at offset 9", "ends at 3", "another log")
}

// A null value has no version: it can't delete. After a delete it is what compaction needs and is dropped, else it is
// refused.
func TestNullValues(t *testing.T) {
	null := func(id string, partition int) message {
		return message{topic: events.Records, partition: partition, key: "demo/" + id}
	}
	id := ids(0, 1)[0]
	deleted := event(events.Records, id, 2, nil)
	tests := []struct {
		name    string
		before  []message // written before
		then    []message // in one batch
		refused int
	}{
		{"of what was never there", nil, []message{null(id, 0)}, 1},
		{"of what lives", []message{record(id, 1, nil)}, []message{null(id, 0)}, 1},
		{"of what was deleted", []message{record(id, 1, nil), deleted}, []message{null(id, 0)}, 0},
		{"of what was deleted and lives again", []message{deleted, record(id, 3, nil)}, []message{null(id, 0)}, 1},
		{"right after a version", nil, []message{record(id, 1, nil), null(id, 0)}, 1},
		{"right after a delete", []message{record(id, 1, nil)}, []message{deleted, null(id, 0)}, 0},
		{"between a delete and a new version", nil, []message{deleted, null(id, 0), record(id, 3, nil)}, 0},
		{"twice", []message{record(id, 1, nil)}, []message{null(id, 0), null(id, 0)}, 2},
		{"in a wrong partition", []message{deleted}, []message{null(id, 1)}, 1},
		{"with an empty key", nil, []message{{topic: events.Records, partition: 0}}, 1},
		{"an empty value is no null", nil, []message{{topic: events.Records, partition: 0, key: "demo/" + id, value: []byte{}}}, 1},
	}
	t.Parallel()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			s.send(test.before...)
			a := s.join("a")
			a.assign(0, 1, 2)
			s.awaitAll(uint64(len(test.before)))
			s.send(test.then...)
			s.await("all is passed", func() bool {
				for tp, end := range s.ends() {
					if tp.Topic == scenarioPartition.Topic && !s.reached(tp.Number, uint64(end)) {
						return false
					}
				}
				return true
			})
			s.check(s.model)
			refused := map[string]int{}
			if test.refused > 0 {
				refused[""] = test.refused
			}
			s.checkDeadLetters(refused)
		})
	}
}

// A version that is taken, with other content: the first counts, the others are counted.
func TestConflictsAreCountedAndTheFirstWins(t *testing.T) {
	t.Parallel()
	id := ids(0, 1)[0]
	s := newScenario(t)
	other := func(net int) message { return record(id, 2, map[string]any{"net": net, "allocations": []any{}}) }
	a := s.join("a")
	a.assign()
	s.sendBy(s.sender(), record(id, 1, nil), other(1), other(2), other(1)) // in one batch: 2 conflicts, 1 duplicate
	s.model.take(other(1))
	s.awaitAll(4)
	s.check(s.model)
	s.send(other(3), other(1)) // against the heads
	s.awaitAll(6)
	s.check(s.model)
	s.await("all is counted", func() bool { return a.counter("stale_total") >= 2 })
	if conflicts, stale := a.counter("conflicts_total"), a.counter("stale_total"); conflicts != 2 || stale != 2 {
		t.Errorf("%v conflicts, %v stale, want 2 and 2", conflicts, stale)
	}
	a.revoke()
	b := s.join("b") // with heads loaded from the table
	b.assign()
	s.send(other(4), other(1))
	s.awaitAll(8)
	s.check(s.model)
	s.await("all is counted", func() bool { return b.counter("stale_total") == 1 && b.counter("conflicts_total") == 1 })
}

// A value of the largest size is stored; one byte more is a dead letter. Neither stops the partition.
func TestTheLargestMessage(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	padded := func(m message, size int) message {
		m.value = append(m.value, bytes.Repeat([]byte(" "), size-len(m.value))...)
		return m
	}
	of := ids(0, 3)
	largest, beyond := padded(record(of[0], 1, nil), events.MaxMessageBytes), padded(record(of[1], 1, nil), events.MaxMessageBytes+1)
	s.send(largest)
	s.send(beyond)
	s.send(record(of[2], 1, nil))
	a := s.join("a")
	a.assign()
	s.awaitAll(3)
	s.check(s.model)
	s.checkDeadLetters(map[string]int{string(beyond.value): 1})
	if s.model.refused != 1 {
		t.Fatal(fmt.Sprint("the model refused ", s.model.refused))
	}
}
