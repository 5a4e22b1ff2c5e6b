package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
)

var allPartitions = []int32{0, 1, 2}

// hold takes a hold on all partitions; a writer that recovers at the same moment may be quicker, then it tries again.
func (s *scenario) hold(holder string) (h *fence.Hold) {
	s.t.Helper()
	untilDone(s.t, func() (err error) {
		h, err = fence.Take(context.Background(), s.db, scenarioPartition.Topic, allPartitions, holder)
		return err
	})
	return h
}

func (s *scenario) release(h *fence.Hold) {
	s.t.Helper()
	if err := h.Release(context.Background(), s.db); err != nil {
		s.t.Fatal(err)
	}
}

// Somebody replaces a view's content under a hold, by statements that no condition can guard, while messages come. The
// writer waits; without the rule it outbids the hold, and its batches get lost with the old content.
func TestScenarioNoFenceDuringAHold(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		messages := someRecords(6)
		s.send(messages[0])
		a := s.join("a")
		a.assign()
		s.awaitAll(1)
		s.send(messages[1])
		s.awaitAll(2)
		if omitRule {
			ignoreHolds(a.db)
		}
		h := s.hold("a replacement")
		s.exec("CREATE TABLE content AS sums")
		s.exec("INSERT INTO content SELECT * FROM sums")
		for n, m := range messages[2:5] {
			s.send(m)
			s.await("the message is held back, or not", func() bool { return a.statusOf(0).Condition == HeldBack || s.at(0).State == uint64(n)+3 })
		}
		s.exec("TRUNCATE TABLE sums")
		s.exec("INSERT INTO sums SELECT * FROM content")
		s.release(h)
		s.send(messages[5])
		s.await("the writer has come to the end, or stopped", func() bool {
			return a.statusOf(0).Condition == Stopped || s.at(0).State == 6 && a.statusOf(0).Position == 6
		})
		return append(s.drift(s.model), a.refusal()...), true
	})
}

// ignoreHolds neither sees a hold nor refuses to write over one.
func ignoreHolds(d *interceptor) {
	d.onRows(func(q database.Query, each rowFunc, next queryFunc) error {
		if readsFences(q) {
			q.SQL = strings.Replace(q.SQL, "argMax(held, (epoch, owner))", "false", 1)
		}
		return next(q, each)
	})
	d.onExec(func(st database.Statement, next execFunc) error {
		if isRaise(st) {
			st.SQL, _, _ = strings.Cut(st.SQL, "AND (NOT standing.is_held")
		}
		return next(st)
	})
}

// A holder's hold is lost on the way; the holder gives up and takes back what it asked for. Then the hold arrives. On
// top of what was read is nothing any more, so it writes nothing; written blindly it would hold for ever.
func TestScenarioFencesOnlyOnTopOfWhatWasRead(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		messages := someRecords(4)
		a := s.writing("a", messages[:2]...)
		holder := &interceptor{Database: s.db}
		lost := holder.loseRaise()
		if omitRule {
			holder.onExec(func(st database.Statement, next execFunc) error {
				if isRaise(st) {
					st.SQL = strings.Replace(st.SQL, "standing.top = asked.epoch", "1", 1)
				}
				return next(st)
			})
		}
		_, err := fence.Take(context.Background(), holder, scenarioPartition.Topic, allPartitions, "a holder")
		if !errors.Is(err, errLostOnTheWay) {
			s.t.Fatalf("the hold: %v", err)
		}
		if _, err := lost.deliver(); err != nil {
			s.t.Fatal(err)
		}
		s.send(messages[2:]...)
		s.await("the writer goes on, or is held", func() bool {
			return a.statusOf(0).Condition == HeldBack && s.fenceOf(0).Held || a.statusOf(0).Position == 4
		})
		if s.fenceOf(0).Held {
			return a.refusal(), true
		}
		s.awaitAll(4)
		return s.drift(s.model), true
	})
}

// loseRaise loses the next statement that puts up fences.
func (i *interceptor) loseRaise() *delayed {
	l := &delayed{sent: make(chan struct{})}
	var once sync.Once
	i.onExec(func(st database.Statement, next execFunc) error {
		mine := false
		if isRaise(st) {
			once.Do(func() { mine = true })
		}
		if !mine {
			return next(st)
		}
		l.st = st
		l.deliver = func() (uint64, error) { return 0, next(st) }
		close(l.sent)
		return errLostOnTheWay
	})
	return l
}

// A writer's fence is being put up, computed before the hold, written after it. The hold's epoch is so far ahead that
// it counts all the same; without the jump the writer's outranks it, and the holder never gets through.
func TestScenarioHoldJumpsAhead(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		messages := someRecords(3)
		s.send(messages[:2]...)
		a, b := s.join("a"), s.join("b")
		a.assign()
		s.awaitAll(2)
		a.revoke()
		slow := b.db.slowRaise(s)
		b.assign()
		slow.begun()
		holder := &interceptor{Database: s.db}
		if omitRule {
			holder.onExec(func(st database.Statement, next execFunc) error {
				if isRaise(st) {
					st.Params = st.Params.With(database.Params{"step": "1"})
				}
				return next(st)
			})
		}
		overlapped := false
		holder.onExec(func(st database.Statement, next execFunc) error {
			err := next(st)
			overlapped = overlapped || isRaise(st) && slow.runs()
			return err
		})
		h, err := fence.Take(context.Background(), holder, scenarioPartition.Topic, allPartitions, "!") // sorts before every writer's
		if err != nil {
			if !errors.Is(err, fence.ErrLostRace) {
				s.t.Fatal(err)
			}
			return []string{err.Error()}, overlapped
		}
		s.release(h)
		s.send(messages[2])
		s.awaitAll(3)
		return s.drift(s.model), overlapped
	})
}

// slowRaise makes the next fence slow: it takes its time between reading what stands and writing.
func (i *interceptor) slowRaise(s *scenario) *slow {
	l := &slow{scenario: s, sent: make(chan struct{})}
	var once sync.Once
	i.onExec(func(st database.Statement, next execFunc) error {
		if isRaise(st) {
			once.Do(func() {
				l.id = st.ID
				st.SQL += fmt.Sprintf(" AND sleep(%.1f) = 0", slowTime.Seconds())
				close(l.sent)
			})
		}
		return next(st)
	})
	return l
}

// Of a fence for many partitions those are got that nobody holds. The held one waits, says by whom, and goes on when it
// is free.
func TestScenarioAFenceForManyPartitionsWithSomeHeld(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	h, err := fence.Take(t.Context(), s.db, scenarioPartition.Topic, []int32{1}, "somebody")
	if err != nil {
		t.Fatal(err)
	}
	for p := range int32(testPartitions) {
		for _, id := range ids(p, 3) {
			s.send(record(id, 1, nil))
		}
	}
	a := s.join("a")
	a.assign(0, 1, 2)
	s.awaitAll(3)
	s.await("the other free partition is written", func() bool { return s.reached(2, 3) })
	s.await("the held one says so", func() bool { return a.statusOf(1).Condition == HeldBack })
	if is := a.statusOf(1); !strings.Contains(is.Reason, "somebody") {
		t.Errorf("it doesn't say who holds it: %q", is.Reason)
	}
	if ready := a.Ready(); ready == nil {
		t.Error("a worker with a held partition is ready")
	}
	if err := a.Alive(); err != nil {
		t.Errorf("waiting is alive: %v", err)
	}
	if at := s.at(1).State; at != 0 {
		t.Errorf("the held partition was written: it is at %d", at)
	}
	s.release(h)
	s.await("the held one goes on", func() bool { return s.reached(1, 3) && a.statusOf(1).Condition == Running })
	s.check(s.model)
}

// A hold whose holder died is taken over by release; the writers go on by themselves.
func TestScenarioAHoldWhoseHolderDied(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	messages := someRecords(4)
	a := s.writing("a", messages[:2]...)
	s.hold("a rebuild that died")
	s.send(messages[2:]...)
	a.awaitCondition(HeldBack)
	broken, err := fence.Break(t.Context(), s.db, scenarioPartition.Topic, "release")
	if err != nil || len(broken) != len(allPartitions) || fence.Holder(broken[0].Owner) != "a rebuild that died" {
		t.Fatalf("released %v: %v", broken, err)
	}
	s.awaitAll(4)
	s.check(s.model)
}
