package worker

import (
	"testing"
	"time"

	kafkalog "tallyhouse/schemas/kafka"
)

const (
	testFreshness = 50 * time.Millisecond
	testTurn      = time.Second / insertBudget
)

// newTestPace is the pace of a worker that has every partition.
func newTestPace() *pace {
	members := newMembership()
	members.begin(1, []kafkalog.Partition{scenarioPartition}, 1)
	return newPace(testFreshness, members)
}

// Given fewer inserts than the budget has, however many partitions they are of, then none waits for a turn.
func TestABatchLingersNoLongerThanTheFreshnessWithinTheBudget(t *testing.T) {
	p, now := newTestPace(), time.Unix(1_700_000_000, 0)
	for i := range 10 * insertBudget {
		if linger := p.linger(kafkalog.Partition{Topic: "ledger.records", Number: int32(i)}, 0, now); linger != testFreshness {
			t.Fatalf("batch %d lingers %s", i, linger)
		}
		now = now.Add(testTurn + time.Millisecond)
	}
}

// Given more partitions with something to write than the budget has inserts, then each waits for its turn: the last one
// as long as all before it take, but for the turns that were saved.
func TestBatchesBeyondTheBudgetWaitForTheirTurn(t *testing.T) {
	const partitions = 100
	p, now := newTestPace(), time.Unix(1_700_000_000, 0)
	var last time.Duration
	for i := range partitions {
		linger := p.linger(kafkalog.Partition{Topic: "ledger.records", Number: int32(i)}, 0, now)
		if linger < last {
			t.Fatalf("batch %d lingers %s, the one before it %s", i, linger, last)
		}
		last = linger
	}
	if want := (partitions-1)*testTurn - saved; last != want {
		t.Errorf("the last one lingers %s, want %s", last, want)
	}
	if linger := p.linger(kafkalog.Partition{Topic: "ledger.records"}, 1, now); linger != testFreshness {
		t.Errorf("on another server a batch lingers %s", linger)
	}
	if linger := p.linger(kafkalog.Partition{Topic: "access.keys"}, 0, now); linger != testFreshness {
		t.Errorf("a changed right lingers %s", linger)
	}
	idle := now.Add(time.Hour)
	for i := range 2 * insertBudget {
		last = p.linger(kafkalog.Partition{Topic: "ledger.records", Number: int32(i)}, 0, idle)
	}
	if want := (2*insertBudget-1)*testTurn - saved; last != want {
		t.Errorf("after an hour without inserts the last one lingers %s, want %s: turns are not saved that long", last, want)
	}
}

// Given a worker that has a tenth of all partitions, then it takes a tenth of the budget.
func TestMembersShareTheBudget(t *testing.T) {
	p, now := newTestPace(), time.Unix(1_700_000_000, 0)
	p.members.begin(2, []kafkalog.Partition{scenarioPartition}, 10)
	var last time.Duration
	for i := range 11 {
		last = p.linger(kafkalog.Partition{Topic: "ledger.records", Number: int32(i)}, 0, now)
	}
	if want := 100*testTurn - saved; last != want {
		t.Errorf("the eleventh batch lingers %s, want %s", last, want)
	}
}

// Given partitions that begin their batches anew before their turns, as after rebalances, or because the batches are full,
// then each keeps its turn, and another one's wait is one turn for each of them.
func TestTurnsThatWereNotUsedAreKept(t *testing.T) {
	const partitions = 2 * insertBudget
	p, now := newTestPace(), time.Unix(1_700_000_000, 0)
	for range 100 {
		for i := range partitions {
			p.linger(kafkalog.Partition{Topic: "ledger.records", Number: int32(i)}, 0, now)
		}
		now = now.Add(time.Millisecond)
	}
	most := (partitions + 1) * testTurn
	if linger := p.linger(kafkalog.Partition{Topic: "ledger.contracts"}, 0, now); linger > most {
		t.Errorf("another partition's batch lingers %s, longer than %s", linger, most)
	}
}
