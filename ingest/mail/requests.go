package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sethvargo/go-retry"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/events"
)

// What people ask for comes on the topic intake.requests (docs/mail.md#what-people-ask-for). Whoever watches the mailbox
// heeds it and answers by the request's next version. There is no position: at its start a worker reads what was asked for
// of late and does what has no answer. Two that do the same, or one that does it again, give a mail back once more, which
// is read again and becomes no second record.

const (
	// requestsLate is how late messages may be: clocks differ.
	requestsLate = time.Hour
	// newsLasts is how long an answer is a reason to look at the mailbox.
	newsLasts = 10 * time.Minute
	// longestDetail bounds the detail of an answer, in characters.
	longestDetail = 1000
)

// heed does what people ask for about this mailbox, until the context ends. What takes long, to read a record's mail again or
// to look through all that wait for a sender, keeps no other kind waiting.
func (w *watch) heed(ctx context.Context) error {
	work, ctx := errgroup.WithContext(ctx)
	records, senders := w.line(ctx, work), w.line(ctx, work)
	work.Go(func() error {
		return w.retry(ctx, "kafka", func() error {
			since := time.Now().Add(-events.RequestsLast - requestsLate)
			return kafka.Follow(ctx, w.options.Cluster, string(events.Requests), since, func(r *kgo.Record) error {
				return w.heedOne(ctx, r, records, senders)
			})
		})
	})
	_ = work.Wait() // the context has ended
	return nil
}

// mostRequests is how many requests of a kind wait before those behind them aren't looked at either.
const mostRequests = 1000

// line does one thing after the other that it is given.
func (w *watch) line(ctx context.Context, work *errgroup.Group) chan<- func() error {
	all := make(chan func() error, mostRequests)
	work.Go(func() error {
		for {
			select {
			case do := <-all:
				if err := do(); err != nil && ctx.Err() == nil {
					w.log.Error("what a person asked for was given up; it is heeded when the worker starts again", "error", err)
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	return all
}

// heedOne does what one message asks for, or has it done in a line. Its error is the context's.
func (w *watch) heedOne(ctx context.Context, r *kgo.Record, records, senders chan<- func() error) error {
	e, err := events.Decode(events.Requests, r.Key, r.Value)
	if err != nil {
		return nil // the worker of the stream makes it a dead letter
	}
	q, ok := e.Data.(*events.Request)
	if !ok || e.TenantID != w.box.Tenant {
		return nil
	}
	var line chan<- func() error
	do := func() error { return w.heedMail(ctx, e, q) }
	switch q.Action {
	case events.RequestAllow:
		line, do = senders, func() error { return w.heedAllowed(ctx, e, q) }
	case events.RequestRetry, events.RequestRelease:
		if q.Mail.Mailbox != w.name {
			return nil
		}
		if q.Answer.Ok {
			if q.Answer.V.Outcome == events.OutcomeGivenBack && time.Since(q.Answer.V.At) < newsLasts {
				w.look()
			}
			return nil
		}
		if strings.HasPrefix(e.ID, unrecordedPrefix) {
			return do()
		}
		line = records
	default:
		return nil // disallow takes effect by being in the table
	}
	select {
	case line <- do:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// heedMail retries or releases a mail, or a record, and answers.
func (w *watch) heedMail(ctx context.Context, e events.Event, q *events.Request) error {
	var newest int64
	err := w.retry(ctx, "clickhouse", func() (err error) {
		newest, err = w.directory.newestRequest(ctx, e.TenantID, q.ProjectID.V, e.ID)
		return err
	})
	if err != nil || newest > e.Version { // it has an answer, or was asked for again
		return err
	}
	answer := events.RequestAnswer{Outcome: events.OutcomeExpired}
	if time.Since(q.RequestedAt) < events.RequestsLast {
		open := false // at an earlier try
		err := w.insist(ctx, time.Second, func() (err error) {
			answer.Outcome, err = w.answer(ctx, e, q)
			if open && answer.Outcome == events.OutcomeNotWaiting {
				answer.Outcome = events.OutcomeGivenBack
			}
			open = open || errors.Is(err, errOpen)
			return err
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errOpen):
		case err != nil:
			answer.Outcome, answer.Detail = events.OutcomeFailed, text(untrusted.Cut(untrusted.Line(err.Error()), longestDetail))
		}
	}
	w.noteHeeded(e, q, answer.Outcome, err)
	err = w.sendAll(ctx, events.Requests, []events.Event{answered(e, q, answer)})
	if errors.Is(err, errUnfit) { // as one with the last version of all: those behind it are heeded
		w.log.Error("what a person asked for can't be answered", "id", e.ID, "version", e.Version, "error", err)
		return nil
	}
	return err
}

// insist tries until it works, for as long as requests are tried.
func (w *watch) insist(ctx context.Context, first time.Duration, try func() error) error {
	pauses := retry.WithMaxDuration(w.timings.requests, retry.WithCappedDuration(time.Minute, retry.NewExponential(first)))
	return retry.Do(ctx, pauses, func(context.Context) error { return retry.RetryableError(try()) })
}

func (w *watch) noteHeeded(e events.Event, q *events.Request, outcome string, err error) {
	w.metrics.requests.WithLabelValues(w.name, q.Action, outcome).Inc()
	w.log.Info("a person asked for something", "action", q.Action, "id", e.ID, "by", q.RequestedBy.V, "outcome", outcome, "error", err)
}

// answered is the next version of a request: the same with its answer.
func answered(e events.Event, q *events.Request, answer events.RequestAnswer) events.Event {
	answer.At = time.Now().UTC().Truncate(time.Microsecond)
	with := *q
	with.Answer = events.Some(answer)
	e.Version++
	e.At, e.Data = answer.At, &with
	return e
}

// outcomesOf are those of errors that no repetition changes.
var outcomesOf = []struct {
	err     error
	outcome string
}{
	{errNoRecord, events.OutcomeNotWaiting}, {errNoMail, events.OutcomeNoMail}, {errNotKept, events.OutcomeNotKept},
	{errTakenOver, events.OutcomeTakenOver}, {errConfirmed, events.OutcomeConfirmed}, {errUnfinished, events.OutcomeUnfinished},
	{errWouldDamage, events.OutcomeWouldDamage},
	{mailbox.ErrGone, events.OutcomeNotWaiting},
}

// answer tries once to do what is asked for. Its error says that it can't be done now.
func (w *watch) answer(ctx context.Context, e events.Event, q *events.Request) (outcome string, err error) {
	if strings.HasPrefix(e.ID, unrecordedPrefix) {
		outcome, err = events.OutcomeGivenBack, w.giveBack(ctx, e, q)
	} else {
		outcome, err = events.OutcomeReadAgain, w.retryRecord(ctx, e.ID)
	}
	for _, known := range outcomesOf {
		if errors.Is(err, known.err) {
			return known.outcome, nil
		}
	}
	return outcome, err
}

// retryRecord is Retry, of a record whose mail is in this mailbox alone.
func (w *watch) retryRecord(ctx context.Context, id string) error {
	own := *w.Intake
	own.options.Mailboxes = []mailbox.Options{w.box}
	ctx, stop := context.WithTimeout(ctx, w.timings.requests+w.timings.mail)
	defer stop()
	_, err := own.Retry(ctx, id)
	return err
}

// giveBack takes the mark off a mail; mailbox.ErrGone says that it waits for nobody.
func (w *watch) giveBack(ctx context.Context, e events.Event, q *events.Request) error {
	box, err := mailbox.Open(ctx, w.box)
	if err != nil {
		return err
	}
	defer box.Close()
	m, err := w.asked(ctx, box, e, q)
	switch {
	case err != nil:
		return err
	case m.State.Mark() == mailbox.Done:
		return mailbox.ErrGone
	case q.Action == events.RequestRelease:
		err := w.release(ctx, box, w.box, m)
		if err == nil && m.State.Open() {
			w.look()
			return errOpen
		}
		return err
	case m.State.Open():
		return nil
	}
	return box.GiveBack(ctx, m.UID)
}

// errOpen says that a mail was released that a worker may be deciding about at this moment, as of one who isn't allowed.
var errOpen = errors.New("nothing is decided about the mail yet")

// asked finds the mail that a request is about. It is known by its header: the server may have given it another UID since.
func (w *watch) asked(ctx context.Context, box *mailbox.Session, e events.Event, q *events.Request) (mailbox.Mail, error) {
	is := func(m mailbox.Mail) bool { return unrecorded(e.TenantID, q.ProjectID.V, m.Header) == e.ID }
	if int64(box.UIDValidity) == q.Mail.UIDValidity {
		mails, err := box.Mails(ctx, []mailbox.UID{mailbox.UID(q.Mail.UID)})
		if err != nil {
			return mailbox.Mail{}, err
		}
		if len(mails) > 0 && is(mails[0]) {
			return mails[0], nil
		}
	}
	var waiting []mailbox.UID
	err := box.List(ctx, 1, func(l mailbox.Listed) {
		if l.State.Mark() != mailbox.Done {
			waiting = append(waiting, l.UID)
		}
	})
	if err != nil {
		return mailbox.Mail{}, err
	}
	for m, err := range pages(ctx, box, waiting) {
		if err != nil || is(m) {
			return m, err
		}
	}
	return mailbox.Mail{}, mailbox.ErrGone
}

// heedAllowed gives the mails back that wait because their sender was not allowed, and now is.
func (w *watch) heedAllowed(ctx context.Context, e events.Event, q *events.Request) error {
	if len(w.box.Senders.Allowed) == 0 || time.Since(q.RequestedAt) > events.RequestsLast {
		return nil
	}
	given := 0
	err := w.insist(ctx, 100*time.Millisecond, func() (err error) {
		newest, err := w.directory.newestRequest(ctx, e.TenantID, "", e.ID)
		switch {
		case err != nil:
			return err
		case newest < e.Version:
			return errNotInTable
		case newest > e.Version: // taken back, or allowed again
			return nil
		}
		given, err = w.giveBackOf(ctx, q)
		return err
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	outcome := events.OutcomeGivenBack
	if err != nil {
		outcome = events.OutcomeFailed
	}
	w.noteHeeded(e, q, outcome, err)
	if given > 0 {
		w.look()
	}
	return nil
}

var errNotInTable = errors.New("the request is not in the table yet")

// giveBackOf gives back the mails of a sender that were there before he was allowed, and tells how many. Those of senders
// who had been allowed before wait for another reason: they are over the limit of an hour.
func (w *watch) giveBackOf(ctx context.Context, q *events.Request) (int, error) {
	with, err := w.allowedSenders(ctx, w.box)
	if err != nil {
		return 0, err
	}
	now, before := w.box.Senders, w.box.Senders
	now.Allowed = with
	before.Allowed = slices.DeleteFunc(slices.Clone(with), func(s string) bool {
		return s == q.Sender && !slices.Contains(w.box.Senders.Allowed, s)
	})
	box, err := mailbox.Open(ctx, w.box)
	if err != nil {
		return 0, err
	}
	defer box.Close()
	uids, err := box.Marked(ctx, mailbox.Quarantined)
	if err != nil {
		return 0, err
	}
	var theirs []mailbox.UID
	for m, err := range pages(ctx, box, uids) {
		if err != nil {
			return 0, err
		}
		h := message.ReadHeader(m.Header)
		if m.Arrived.Before(q.RequestedAt.Add(time.Minute)) && disallowed(h, before) != "" && disallowed(h, now) == "" {
			theirs = append(theirs, m.UID)
		}
	}
	return len(theirs), box.GiveBack(ctx, theirs...)
}

// allowedSenders are those that the mailbox's URL allows, and those that people did; none: everybody may send.
func (in *Intake) allowedSenders(ctx context.Context, o mailbox.Options) ([]string, error) {
	if len(o.Senders.Allowed) == 0 {
		return nil, nil
	}
	more, err := in.directory.allowedSenders(ctx, o.Tenant)
	return slices.Concat(o.Senders.Allowed, more), err
}

// tellReleased has the workers that watch the mailbox look at it: a request that has its answer already.
func (in *Intake) tellReleased(ctx context.Context, o mailbox.Options, validity uint32, m mailbox.Mail) error {
	now := time.Now().UTC().Truncate(time.Microsecond)
	q := &events.Request{Action: events.RequestRelease, RequestedAt: now,
		Mail: events.MailPlace{Mailbox: o.String(), UIDValidity: int64(validity), UID: int64(m.UID)}}
	id := unrecorded(o.Tenant, "", m.Header)
	e := answered(events.Event{Envelope: events.Envelope{ID: id, TenantID: o.Tenant, Version: now.UnixMicro(), Op: events.Upsert}}, q,
		events.RequestAnswer{Outcome: events.OutcomeGivenBack})
	value, err := messageOf(events.Requests, e)
	if err != nil {
		return err
	}
	if _, _, err := kafka.SendBeside(ctx, in.options.Cluster, value, value.Key); err != nil {
		return fmt.Errorf("tell of a released mail: %w", err)
	}
	return nil
}
