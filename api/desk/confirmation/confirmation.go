// Package confirmation lets people correct and confirm what was read of mailed invoices (docs/desk.md#correcting-an-invoice).
//
// A confirmation is the next version of two things: of the reading, which says who stands for which values, and then of the record. Several
// people may confirm at once, and of several messages with one version the tables keep the first: so a confirmation counts when the
// tables show its reading, and only then the record is sent. The record follows from the reading alone. So it never matters who sends
// it or how often, and what was broken off in between is finished by whoever confirms next.
package confirmation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

// Bounds of what a confirmation waits for.
const (
	publishLimit = 10 * time.Second // of a message, until Kafka has it
	shownLimit   = 10 * time.Second // of a version, until the tables show it
	look         = 50 * time.Millisecond
)

// Tables are what is stored (reader.Reader).
type Tables interface {
	Reading(ctx context.Context, tenant, id string, projects []string) (reader.InboxLine, error)
	MailedRecord(ctx context.Context, tenant, project, id string) (reader.MailedRecord, error)
}

// Publisher sends events.
type Publisher interface {
	// Publish returns when all replicas have the event under its key. What fails may have been stored all the same.
	Publish(ctx context.Context, topic events.Topic, key, event []byte) error
}

// Why nothing can be confirmed.
var (
	// ErrTakenOver says that the record is the application's, or gone.
	ErrTakenOver = errors.New("the application has taken the record over")
	// ErrUnread says that the record is still being read.
	ErrUnread = errors.New("the record is not read yet")
	// ErrNoVersion says that no version below the application's is left.
	ErrNoVersion = errors.New("the record was corrected too often")
	// ErrAway says that Kafka did not take the confirmation in time. It may have been stored all the same: confirming again is harmless.
	ErrAway = errors.New("the confirmation could not be sent")
	// ErrPending says that the confirmation was sent, and that the tables do not show it yet. Confirming again finishes it.
	ErrPending = errors.New("the confirmation was sent and is not stored yet")
)

// OvertakenError says that another version counts: somebody else has confirmed, or the mail was read again.
type OvertakenError struct{ Newest State }

func (e *OvertakenError) Error() string {
	return fmt.Sprintf("version %d counts, confirmed by %q", e.Newest.Line.Version, e.Newest.Line.Reading.ConfirmedBy.V)
}

// State is a reading with its record, as the tables show them.
type State struct {
	Line   reader.InboxLine
	Record reader.MailedRecord
}

// Check says why nothing can be confirmed of it, nil when something can.
func (s *State) Check() error {
	switch {
	case s.Record.Gone || s.Record.Version >= analytics.ApplicationsOwn:
		return ErrTakenOver
	case s.Record.Status != events.ReadingCompleted && s.Record.Status != events.ReadingFailed:
		return ErrUnread
	case s.next() >= analytics.ApplicationsOwn && !s.Unfinished():
		return ErrNoVersion
	}
	return nil
}

// Unfinished reports whether somebody's confirmation has not reached the record.
func (s *State) Unfinished() bool {
	return s.Line.Reading.ConfirmedBy.Ok && s.Line.Version > s.Record.Version
}

// Values are the ones that count: the reading's, and the contractor that the record has.
func (s *State) Values() analytics.InvoiceValues {
	v := analytics.ValuesOf(&s.Line.Reading)
	if !s.Line.Reading.ConfirmedBy.Ok {
		v.Contractor = s.Record.Values.Contractor
	}
	return v
}

func (s *State) next() int64 { return max(s.Line.Version, s.Record.Version) + 1 }

// Service confirms. Its methods may be called from several goroutines.
type Service struct {
	tables    Tables
	publisher Publisher
	clock     func() time.Time
}

// New makes a service.
func New(tables Tables, publisher Publisher, clock func() time.Time) *Service {
	return &Service{tables, publisher, clock}
}

// StateOf looks up the record of a reading. A record that isn't stored yet is one that is not read.
func StateOf(ctx context.Context, tables Tables, tenant string, l reader.InboxLine) (State, error) {
	record, err := tables.MailedRecord(ctx, tenant, l.ProjectID, l.ID)
	if err != nil && !errors.Is(err, reader.ErrNotFound) {
		return State{}, err
	}
	return State{l, record}, nil
}

// Confirmation is what somebody confirms.
type Confirmation struct {
	Tenant, Project, ID string
	By                  string // the user's id
	Version             int64  // of the reading that they saw
	Values              analytics.InvoiceValues
}

// Confirm returns when the tables have the values as those of the record. Errors are those of this package, or ones of the tables.
// What already counts, whoever confirmed it, is confirmed.
func (s *Service) Confirm(ctx context.Context, c Confirmation) error {
	now, err := s.state(ctx, c)
	if err != nil {
		return err
	}
	if err := now.Check(); err != nil {
		return err
	}
	if now.Unfinished() {
		if now, err = s.finish(ctx, c, now); err != nil {
			return err
		}
	}
	if now.Line.Reading.ConfirmedBy.Ok && now.Values() == c.Values {
		return nil
	}
	if now.Line.Version != c.Version {
		return &OvertakenError{now}
	}
	if err := now.Check(); err != nil {
		return err
	}
	version, next := now.next(), analytics.Confirm(&now.Line.Reading, c.Values, c.By)
	e := events.Event{Data: next, Envelope: events.Envelope{ID: c.ID, TenantID: c.Tenant, Version: version, Op: events.Upsert,
		At: s.clock().UTC().Truncate(time.Microsecond)}}
	record := events.Event{Data: analytics.RecordOf(next, now.Record.Received), Envelope: e.Envelope}
	if _, err := events.Encode(events.Records, record); err != nil { // before anything is sent
		return fmt.Errorf("the record breaks the rules of events: %w", err)
	}
	if err := s.publish(ctx, events.Readings, e); err != nil {
		return err
	}
	now, err = s.await(ctx, c, func(s State) bool { return s.Line.Version >= version })
	if err != nil {
		return err
	}
	if now.Line.Version != version || now.Line.Reading.ConfirmedBy != events.Some(c.By) || now.Values() != c.Values {
		return &OvertakenError{now}
	}
	_, err = s.finish(ctx, c, now)
	return err
}

// finish sends the record that a confirmed reading stands for, and waits until it is stored.
func (s *Service) finish(ctx context.Context, c Confirmation, now State) (State, error) {
	record := analytics.RecordOf(&now.Line.Reading, now.Record.Received)
	version, values := now.Line.Version, analytics.ValuesOf(&now.Line.Reading)
	err := s.publish(ctx, events.Records, events.Event{
		Envelope: events.Envelope{ID: c.ID, TenantID: c.Tenant, Version: version, Op: events.Upsert, At: now.Line.At},
		Data:     record,
	})
	if err != nil {
		return now, err
	}
	now, err = s.await(ctx, c, func(s State) bool { return s.Record.Version >= version })
	switch {
	case err != nil:
		return now, err
	case now.Record.Gone || now.Record.Version >= analytics.ApplicationsOwn:
		return now, ErrTakenOver
	case now.Record.Version == version && now.Record.Values != values.Recorded():
		return now, &OvertakenError{now}
	}
	return now, nil
}

func (s *Service) publish(ctx context.Context, topic events.Topic, e events.Event) error {
	value, err := events.Encode(topic, e)
	if err != nil {
		return fmt.Errorf("write a message for %s: %w", topic, err)
	}
	ctx, stop := context.WithTimeout(ctx, publishLimit)
	defer stop()
	if err := s.publisher.Publish(ctx, topic, []byte(e.Key()), value); err != nil {
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	return nil
}

func (s *Service) state(ctx context.Context, c Confirmation) (State, error) {
	l, err := s.tables.Reading(ctx, c.Tenant, c.ID, []string{c.Project})
	if err != nil {
		return State{}, err
	}
	return StateOf(ctx, s.tables, c.Tenant, l)
}

// await waits until the tables show something, for so long.
func (s *Service) await(ctx context.Context, c Confirmation, shown func(State) bool) (State, error) {
	ctx, stop := context.WithTimeout(ctx, shownLimit)
	defer stop()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		now, err := s.state(ctx, c)
		switch {
		case err == nil && shown(now):
			return now, nil
		case err != nil && ctx.Err() == nil:
			return State{}, fmt.Errorf("%w: %w", ErrPending, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return State{}, ErrPending
		}
	}
}
