package stream

import (
	"testing"
)

func TestAMessageBecomesARowAndItsSums(t *testing.T) {
	w := newWorld(t)
	m := newModel()
	w.start("a")
	first := []message{
		record("R1", 1, nil),
		record("R2", 1, map[string]any{"allocations": []any{map[string]any{"nodeId": "n1", "net": 3333}, map[string]any{"nodeId": "n2", "net": 6667}}}),
	}
	w.produce(first...)
	m.take(first...)
	w.settled()
	w.check(m)

	t.Run("a newer version replaces it", func(t *testing.T) {
		next := []message{record("R1", 2, map[string]any{"stepKind": "paid", "cashDate": "2026-02-01"}), record("R2", 3, map[string]any{"projectId": "P2"}), record("R2", 2, nil)}
		w.produce(next...)
		m.take(next...)
		w.settled()
		w.check(m)
	})
	t.Run("a delete takes its sums away, and an older version can't revive it", func(t *testing.T) {
		next := []message{event("ledger.records", "R1", 5, nil), record("R1", 4, nil)}
		w.produce(next...)
		m.take(next...)
		w.settled()
		w.check(m)
	})
}
