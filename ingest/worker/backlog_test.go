package worker

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/kafka/kafkatest"
	kafkalog "tallyhouse/schemas/kafka"
)

// What lies behind a position is counted from the moment at which the log was first seen to reach beyond it, however the
// position moves, and whether or not the log grows meanwhile.
func TestABacklogKnowsWhatIsBehindAndSinceWhen(t *testing.T) {
	p := kafkalog.Partition{Topic: "ledger.records", Number: 3}
	mine := []kafkalog.Partition{p}
	b := newBacklog()
	start := time.Date(2026, time.May, 12, 9, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	expect := func(when string, position uint64, second int, offsets uint64, age time.Duration, known bool) {
		t.Helper()
		o, a, k := b.behind(p, position, at(second))
		if o != offsets || a != age || k != known {
			t.Errorf("%s: %d offsets for %s, known %t; want %d for %s, %t", when, o, a, k, offsets, age, known)
		}
	}
	expect("before the log was asked", 0, 0, 0, 0, false)
	b.see(mine, logsEnd(p, 100), at(0))
	expect("at the end", 100, 0, 0, 0, true)
	b.see(mine, logsEnd(p, 150), at(10))
	b.see(mine, logsEnd(p, 180), at(20))
	expect("standing still", 100, 30, 80, 20*time.Second, true)
	b.see(mine, nil, at(40)) // Kafka is away
	expect("while Kafka is away", 100, 50, 80, 40*time.Second, true)
	expect("half way", 150, 50, 30, 30*time.Second, true)
	expect("caught up", 180, 50, 0, 0, true)
	b.see(mine, logsEnd(p, 181), at(60))
	expect("one more", 180, 63, 1, 3*time.Second, true)
	b.see(nil, nil, at(70))
	expect("after another worker took it", 180, 70, 0, 0, false)
}

// However long a position stands still beside a growing log, memory is bounded, and the age is that of the first end.
func TestABacklogIsBoundedAndNeverTooYoung(t *testing.T) {
	p := kafkalog.Partition{Topic: "ledger.records", Number: 0}
	b := newBacklog()
	start := time.Date(2026, time.May, 12, 9, 0, 0, 0, time.UTC)
	const hours = 24
	var now time.Time
	for i := range hours * 720 {
		now = start.Add(time.Duration(i) * backlogEvery)
		b.see([]kafkalog.Partition{p}, logsEnd(p, uint64(i+1)), now)
	}
	if n := len(b.ends[p]); n > mostEnds {
		t.Errorf("%d ends are kept", n)
	}
	if offsets, age, _ := b.behind(p, 0, now); offsets != hours*720 || age != now.Sub(start) {
		t.Errorf("%d offsets for %s, want %d for %s", offsets, age, hours*720, now.Sub(start))
	}
	const half = hours * 360
	if _, age, _ := b.behind(p, half, now); age < now.Sub(start)/2 {
		t.Errorf("the message in the middle seems %s old", age)
	}
}

// logsEnd is a log whose messages are all committed.
func logsEnd(p kafkalog.Partition, at uint64) map[kafkalog.Partition]kafkalog.End {
	return map[kafkalog.Partition]kafkalog.End{p: {Committed: at, Log: at}}
}

// Given a transaction that somebody began and doesn't end, and messages behind it, then these count as lag, however far the position is in
// what is committed, and a metric says what holds them back; once the transaction is over neither does.
func TestAnOpenTransactionIsSeen(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(3)
	a := s.writing("a", m[0])
	open := s.sender(kgo.TransactionalID(t.Name()), kgo.TransactionTimeout(time.Minute))
	if err := open.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	s.sendBy(open, m[1])
	s.send(m[2])
	look := func() (lag, uncommitted uint64) {
		partitions := []kafkalog.Partition{scenarioPartition}
		a.backlog.see(partitions, kafkalog.Ends(t.Context(), a.admin, partitions), time.Now())
		lag, _, _ = a.backlog.behind(scenarioPartition, s.at(0).State, time.Now())
		return lag, a.backlog.uncommitted(scenarioPartition)
	}
	if lag, uncommitted := look(); lag != 2 || uncommitted != 2 {
		t.Errorf("lag %d, of that uncommitted %d; both messages wait for the end of the transaction", lag, uncommitted)
	}
	s.model.take(m[1])
	kafkatest.EndTransaction(t, open, kgo.TryCommit)
	s.awaitAll(4)
	if lag, uncommitted := look(); lag != 0 || uncommitted != 0 {
		t.Errorf("when it is over: lag %d, uncommitted %d", lag, uncommitted)
	}
	s.check(s.model)
}
