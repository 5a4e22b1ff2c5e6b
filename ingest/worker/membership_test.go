package worker

import (
	"context"
	"testing"
	"time"

	kafkalog "tallyhouse/schemas/kafka"
)

// Given a generation that ended while the worker was still beginning it, when whoever ends it is late and the next one
// has begun, then the next one stays: else its partitions would wait for yet another generation, which doesn't come.
func TestTheEndOfAGenerationDoesNotEndTheNext(t *testing.T) {
	tp := kafkalog.Partition{Topic: "ledger.records"}
	m := newMembership()
	m.begin(6, []kafkalog.Partition{tp}, 1)
	m.begin(7, []kafkalog.Partition{tp}, 1)
	m.end(6, time.Minute)
	if m.rebalancing() {
		t.Fatal("the worker is in no generation, want generation 7")
	}
	generation, err := m.current(context.Background(), tp, func() {})
	if err != nil || generation != 7 {
		t.Errorf("generation %d, %v; want 7", generation, err)
	}
}

// Given a generation, when it ends, then the worker is in none, and no insert that was begun is in flight.
func TestTheEndOfAGenerationWaitsForItsInserts(t *testing.T) {
	tp := kafkalog.Partition{Topic: "ledger.records"}
	m := newMembership()
	m.begin(6, []kafkalog.Partition{tp}, 1)
	done, err := m.beginInsert(context.Background(), tp, 6, func() {})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { m.end(6, time.Minute); close(ended) }()
	for !m.rebalancing() {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-ended:
		t.Error("it ended beside an insert")
	default:
	}
	done()
	<-ended
}
