package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	kafkalog "tallyhouse/schemas/kafka"
)

// membership is what this worker knows of its place in the consumer group: a hint about which partitions it should
// write, no guarantee. Between generations nothing new is inserted, but writers and their heads stay.
type membership struct {
	mu         sync.Mutex
	generation int32 // 0 between generations
	assigned   map[kafkalog.Partition]bool
	share      float64 // of all partitions
	inserting  int
	changed    chan struct{} // closed and replaced with every change
}

var (
	errLost          = errors.New("the partition is no longer this worker's")
	errNewGeneration = errors.New("another generation of the group began")
)

func newMembership() *membership { return &membership{changed: make(chan struct{})} }

// begin enters a generation with its partitions, out of total.
func (m *membership) begin(generation int32, assigned []kafkalog.Partition, total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generation = generation
	m.assigned = map[kafkalog.Partition]bool{}
	for _, tp := range assigned {
		m.assigned[tp] = true
	}
	m.share = float64(len(assigned)) / float64(max(1, total))
	m.notify()
}

// end leaves a generation, unless a newer one has begun: who ends a generation may learn of it late. It returns as pause
// does.
func (m *membership) end(generation int32, timeout time.Duration) {
	m.mu.Lock()
	ended := m.generation == generation
	if ended {
		m.generation = 0
		m.notify()
	}
	m.mu.Unlock()
	if ended {
		m.awaitInserts(timeout)
	}
}

// pause leaves whatever generation there is: no insert begins any more, and it returns when none is in flight, or after
// the timeout.
func (m *membership) pause(timeout time.Duration) {
	m.mu.Lock()
	m.generation = 0
	m.notify()
	m.mu.Unlock()
	m.awaitInserts(timeout)
}

// awaitInserts returns when no insert is in flight, or after the timeout.
func (m *membership) awaitInserts(timeout time.Duration) {
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	for {
		m.mu.Lock()
		idle, changed := m.inserting == 0, m.changed
		m.mu.Unlock()
		if idle {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			return
		}
	}
}

// notify wakes whoever waits; the caller holds the lock.
func (m *membership) notify() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// current waits until the worker is in a generation and returns it, or errLost when the partition isn't this worker's
// there. While it waits it calls alive now and then.
func (m *membership) current(ctx context.Context, tp kafkalog.Partition, alive func()) (int32, error) {
	look := time.NewTicker(poll)
	defer look.Stop()
	for {
		m.mu.Lock()
		generation, assigned, changed := m.generation, m.assigned[tp], m.changed
		m.mu.Unlock()
		switch {
		case generation != 0 && assigned:
			return generation, nil
		case generation != 0:
			return 0, errLost
		}
		select {
		case <-changed:
		case <-look.C:
			alive()
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// changes is closed when the membership changes next.
func (m *membership) changes() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// beginInsert lets an insert begin in the generation that the writer expects; done ends it. It waits between
// generations.
func (m *membership) beginInsert(ctx context.Context, tp kafkalog.Partition, expected int32, alive func()) (done func(), err error) {
	generation, err := m.current(ctx, tp, alive)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if generation != expected || m.generation != expected {
		return nil, errNewGeneration
	}
	m.inserting++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.inserting--
		m.notify()
	}, nil
}

// rebalancing reports whether the worker is in no generation at the moment.
func (m *membership) rebalancing() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.generation == 0
}

// owned lists the partitions of the last generation.
func (m *membership) owned() []kafkalog.Partition {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]kafkalog.Partition, 0, len(m.assigned))
	for tp := range m.assigned {
		all = append(all, tp)
	}
	slices.SortFunc(all, compare)
	return all
}

// portion is this worker's part of all partitions, and so, as the group is even, of what the live members share.
func (m *membership) portion() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.share
}
