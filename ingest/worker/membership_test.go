package worker

import (
	"context"
	"errors"
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

// Given a generation, when it ends, or the worker leaves it because it is to end, then the worker is in none, and no insert that was
// begun is in flight.
func TestTheEndOfAGenerationWaitsForItsInserts(t *testing.T) {
	tp := kafkalog.Partition{Topic: "ledger.records"}
	for name, end := range map[string]func(*membership){
		"it ends":    func(m *membership) { m.end(6, time.Minute) },
		"it is left": func(m *membership) { m.pause(time.Minute) },
	} {
		m := newMembership()
		m.begin(6, []kafkalog.Partition{tp}, 1)
		done, err := m.beginInsert(context.Background(), tp, 6, func() {})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { end(m); close(ended) }()
		for !m.rebalancing() {
			time.Sleep(time.Millisecond)
		}
		select {
		case <-ended:
			t.Errorf("%s beside an insert", name)
		case <-time.After(20 * time.Millisecond):
		}
		done()
		<-ended
	}
}

// An insert begins in the generation that its writer recovered in, and in no other; and not where the partition is another member's.
func TestInWhichGenerationAnInsertBegins(t *testing.T) {
	mine, theirs := kafkalog.Partition{Topic: "ledger.records"}, kafkalog.Partition{Topic: "ledger.records", Number: 1}
	m := newMembership()
	m.begin(6, []kafkalog.Partition{mine}, 2)
	for _, tc := range []struct {
		tp       kafkalog.Partition
		expected int32
		want     error
	}{{mine, 6, nil}, {mine, 5, errNewGeneration}, {theirs, 6, errLost}} {
		done, err := m.beginInsert(t.Context(), tc.tp, tc.expected, func() {})
		if !errors.Is(err, tc.want) {
			t.Errorf("into %s, by a writer of generation %d: %v, want %v", tc.tp, tc.expected, err, tc.want)
		}
		if err == nil {
			done()
		}
	}
	if m.inserting != 0 {
		t.Errorf("%d inserts are in flight", m.inserting)
	}
}
