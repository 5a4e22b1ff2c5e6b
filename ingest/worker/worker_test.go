package worker

import (
	"fmt"
	"sync/atomic"
	"testing"

	kafkalog "tallyhouse/schemas/kafka"
)

func TestAMessageBecomesARowAndItsSums(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModel()
	w.start("a")
	first := []message{
		record("R1", 1, nil),
		record("R2", 1, map[string]any{"allocations": []any{
			map[string]any{"nodeId": "n1", "net": 3333}, map[string]any{"nodeId": "n2", "net": 6667},
		}}),
	}
	w.produce(first...)
	m.take(first...)
	w.awaitAllWritten()
	w.check(m)

	t.Run("a newer version replaces it", func(t *testing.T) {
		next := []message{
			record("R1", 2, map[string]any{"stepKind": "paid", "cashDate": "2026-02-01"}),
			record("R2", 3, map[string]any{"projectId": "P2"}), record("R2", 2, nil),
		}
		w.produce(next...)
		m.take(next...)
		w.awaitAllWritten()
		w.check(m)
	})
	t.Run("a delete takes its sums away, and an older version can't revive it", func(t *testing.T) {
		next := []message{event("ledger.records", "R1", 5, nil), record("R1", 4, nil)}
		w.produce(next...)
		m.take(next...)
		w.awaitAllWritten()
		w.check(m)
	})
}

// Given a batch that is cut when a generation ends, when the next generation gives the partition back, then the batch
// is inserted and nothing that was read for it is jumped over.
func TestABatchThatWaitsForTheNextGenerationIsNotLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModel()
	var ends atomic.Bool // the generation, when the next batch is cut
	cut := make(chan struct{})
	a := w.start("a", func(w *Worker) {
		w.observe = func(_ kafkalog.Partition, s Step) {
			if s == StepSend && ends.CompareAndSwap(true, false) {
				w.members.pause(0)
				close(cut)
			}
		}
	})
	w.produce(record("R0", 1, nil))
	m.take(record("R0", 1, nil))
	w.awaitAllWritten()

	a.members.mu.Lock()
	generation := a.members.generation
	a.members.mu.Unlock()
	ends.Store(true)
	for i := range 30 {
		waiting := record(fmt.Sprint("R", i+1), 1, nil)
		w.produce(waiting)
		m.take(waiting)
	}
	w.awaitEvent("a batch is cut, and the generation ends", cut)
	a.members.begin(generation+1000, a.members.owned(), len(a.members.owned()))
	w.awaitAllWritten()
	w.check(m)
}
