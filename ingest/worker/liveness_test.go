package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// overdue makes it look as if a partition had not completed a step for long.
func (s *state) overdue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.is.Due = time.Now().Add(-time.Second)
}

// overdue makes all partitions look as if they had not completed a step for long.
func (m *member) overdue() {
	m.Worker.mu.Lock()
	defer m.Worker.mu.Unlock()
	for _, w := range m.writers {
		w.state.overdue()
	}
}

// Given a worker that waits for something else, then it is alive: a restart would help nothing.
func TestScenarioWaitingIsAlive(t *testing.T) {
	for name, wait := range map[string]func(a *member){
		"between generations, idle": func(a *member) {
			a.assign()
			a.awaitCondition(Running)
			a.members.pause(0)
		},
		"between generations, with a batch": func(a *member) {
			paused := make(chan struct{})
			a.onStep(StepSend, func() { a.members.pause(0); close(paused) })
			a.assign()
			a.scenario.awaitEvent("the generation ends", paused)
		},
		"between generations, in a recovery": func(a *member) {
			paused := make(chan struct{})
			a.onStep(StepMember, func() { a.members.pause(0); close(paused) })
			a.assign()
			a.scenario.awaitEvent("the generation ends", paused)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			s.send(someRecords(2)...)
			a := s.join("a")
			wait(a)
			for range 2 {
				a.overdue()
				s.await("it is found alive again", func() bool { return a.Alive() == nil })
			}
			if a.Ready() == nil {
				t.Error("it is ready")
			}
		})
	}
}

// Given a writer that makes no progress where nothing bounds what it does, then the worker is not alive.
func TestScenarioAWriterThatIsStuckIsNotAlive(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.send(someRecords(2)...)
	a := s.join("a")
	stuck, over := make(chan struct{}), make(chan struct{})
	a.onStep(StepHeadsUpdate, func() { close(stuck); <-over })
	defer close(over)
	a.assign()
	s.awaitEvent("it gets to where it is stuck", stuck)
	a.overdue()
	if err := a.Alive(); err == nil || !strings.Contains(err.Error(), string(StepHeadsUpdate)) {
		t.Errorf("got %v", err)
	}
}

// Given a batch that waits for a permit to be large while others have them, then its writer is alive.
func TestWaitingForAPermitIsAlive(t *testing.T) {
	t.Parallel()
	c := newCoordinator(coordinator{entity: store.Of(events.Records)})
	for range largeBatches {
		<-c.permits
	}
	w := &writer{coordinator: c, state: newState(scenarioPartition, noObserver)}
	b, err := w.emptyBatch(0)
	if err != nil {
		t.Fatal(err)
	}
	b.bytes = smallBytes + 1
	w.state.overdue()
	got := make(chan error)
	go func() { got <- w.askPermit(t.Context()) }()
	untilDone(t, func() error {
		if time.Now().After(w.state.status().Due) {
			return errors.New("it is not alive")
		}
		return nil
	})
	c.permits <- nil
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// watched is a database that looks whether the worker is alive whenever it is asked something, and then makes it look as
// if nothing had happened for long.
type watched struct {
	Database
	look func(bound time.Duration)
}

func (w *watched) Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error {
	if q.SQL != reachQuery { // nobody waits for its answer
		w.look(q.Limit)
	}
	return w.Database.Rows(ctx, q, each)
}

func (w *watched) Exec(ctx context.Context, st database.Statement) error {
	w.look(st.Limit)
	return w.Database.Exec(ctx, st)
}

func (w *watched) Insert(ctx context.Context, st database.Statement) (uint64, error) {
	w.look(st.Limit)
	return w.Database.Insert(ctx, st)
}

func (w *watched) Scan(ctx context.Context, q database.Query, into proto.Results, each func() error) error {
	w.look(q.Limit)
	return w.Database.Scan(ctx, q, into, func() error {
		err := each()
		w.look(q.Limit)
		return err
	})
}

// Given a server that takes its time for each statement, and for each block of the heads, then the worker is alive until
// the bound of that very statement.
func TestScenarioASlowServerLeavesTheWorkerAlive(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	a := s.writing("a", someRecords(20)...)
	a.crash()
	db, looked := &watched{Database: s.db}, 0
	b := s.joinOn("b", db)
	beat := b.coordinators[scenarioPartition.Topic][0].beat
	db.look = func(bound time.Duration) {
		looked++
		until := time.Unix(0, beat.until.Load())
		for _, is := range b.Status() { // while it inserts, its own
			if is.Condition == Running {
				until = is.Due
			}
		}
		const grace = 5 * time.Second // database.Server waits a little longer than the server works
		if until.Before(time.Now().Add(bound + grace)) {
			t.Errorf("statement %d: it is alive for %s, and the statement may take %s", looked, time.Until(until), bound)
		}
		beat.until.Store(1)
		b.overdue()
	}
	b.assign()
	b.awaitCondition(Running)
	b.onStep(StepSend, func() { b.writerOf(0).limit = maxLimit }) // as after time-outs
	s.send(record(ids(0, 1)[0], 2, nil))
	s.awaitAll(21)
	b.revoke()
	if looked < 10 {
		t.Errorf("it was looked at %d times", looked)
	}
}
