package worker

import (
	"errors"
	"strconv"
	"sync"
	"time"

	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	kafkalog "tallyhouse/schemas/kafka"
)

// Condition says what a partition's writer is doing.
type Condition string

// The conditions of a partition. Only Running is ready; all are alive.
const (
	Recovering Condition = "recovering"
	Running    Condition = "running"
	HeldBack   Condition = "held"    // somebody works on the tables
	Stopped    Condition = "stopped" // the tables are inconsistent: rebuild
	Refused    Condition = "refused" // the database belongs to another topic, server or release
	Waiting    Condition = "waiting" // a server does not answer
)

// Status describes a partition.
type Status struct {
	Topic     string
	Partition int32
	Condition Condition
	Reason    string // of every condition but Running
	Placed    bool   // its position is known: it was running once
	Position  uint64
	Step      Step
	Progress  time.Time // when it last completed a step or a bounded wait
	Due       time.Time // when it is stuck if it doesn't until then
}

// state is a writer's status.
type state struct {
	observe observer
	tp      kafkalog.Partition
	mu      sync.Mutex
	is      Status
}

func newState(tp kafkalog.Partition, observe observer) *state {
	now := time.Now()
	return &state{observe: observe, tp: tp, is: Status{
		Topic: tp.Topic, Partition: tp.Number, Condition: Recovering, Progress: now, Due: now.Add(livenessTimeout),
	}}
}

func (s *state) change(f func(*Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.is)
	s.is.Progress = time.Now()
	s.is.Due = s.is.Progress.Add(livenessTimeout)
}

func (s *state) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.is
}

func (s *state) step(step Step) {
	s.change(func(is *Status) { is.Step = step })
	s.observe(s.tp, step)
}

// within announces a step that may take that long.
func (s *state) within(d time.Duration) {
	s.progress()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.is.Due = s.is.Due.Add(d)
}

func (s *state) progress() { s.change(func(*Status) {}) }

func (s *state) recovering() {
	s.change(func(is *Status) {
		if is.Condition == Running {
			is.Condition = Recovering
		}
	})
}

func (s *state) running(position uint64) {
	s.change(func(is *Status) { is.Condition, is.Reason, is.Placed, is.Position = Running, "", true, position })
}

func (s *state) stored(position uint64) {
	s.change(func(is *Status) { is.Position = position })
}

// waiting records why the partition can't be written.
func (s *state) waiting(err error) {
	var held *fence.Held
	var inconsistent *position.Inconsistent
	var refusal *position.Refusal
	condition := Waiting
	switch {
	case errors.As(err, &held):
		condition = HeldBack
	case errors.As(err, &inconsistent):
		condition = Stopped
	case errors.As(err, &refusal):
		condition = Refused
	}
	s.change(func(is *Status) { is.Condition, is.Reason = condition, err.Error() })
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
