package mail

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"tallyhouse/ingest/mail/mailbox"
)

// watch watches one mailbox, over as many connections as it takes.
type watch struct {
	*Intake
	box  mailbox.Options
	send *sender
	name string
	log  *slog.Logger

	validity  uint32    // UIDVALIDITY of the connection before
	addresses uint64    // fingerprint of the intake addresses when failed mails were last looked at
	looked    bool      // whether they were
	patience  patience  // with mails that break connections
	started   time.Time // of the connection
}

// timings are how long the intake waits for what.
type timings struct {
	backOffFirst, backOffMost time.Duration
	// A connection that held so long was no failed try.
	steady time.Duration
	// All mails without a mark are looked at again within these: somebody may have taken a mark away.
	refreshLeast, refreshMost time.Duration
	// A changed intake address brings failed mails in within this.
	addresses time.Duration
	// Claims of other workers count so long, from when they were first seen here: longer than most mails take.
	claims time.Duration
	// A mail at which connections break is left alone for so long.
	deferral time.Duration
}

func usualTimings() timings {
	return timings{
		backOffFirst: 500 * time.Millisecond, backOffMost: time.Minute, steady: time.Minute, refreshLeast: 5 * time.Minute, refreshMost: 9 * time.Minute,
		addresses: 30 * time.Second, claims: 2 * time.Minute, deferral: 15 * time.Minute,
	}
}

// run connects again and again until the context ends.
func (w *watch) run(ctx context.Context) error {
	wait := w.timings.backOffFirst
	for {
		w.started = time.Now()
		err := w.session(ctx)
		w.metrics.connected.WithLabelValues(w.name).Set(0)
		if ctx.Err() != nil {
			return nil
		}
		w.metrics.lost.WithLabelValues(w.name).Inc()
		if time.Since(w.started) > w.timings.steady {
			wait = w.timings.backOffFirst
		}
		pause := wait/2 + rand.N(wait)
		w.log.Warn("the mailbox is connected again after a fault", "in", pause.Round(time.Millisecond), "error", err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
		wait = min(2*wait, w.timings.backOffMost)
	}
}

// session is what lasts as long as one connection.
type session struct {
	*watch
	box  *mailbox.Session
	work *errgroup.Group // the loop, and the mails that are being handled
	next mailbox.UID     // mails before it were looked at
	// since is when another worker's claim on a mail was first seen.
	since map[mailbox.UID]time.Time

	fetching sync.Mutex // one body at a time, so that it's known whose the fault is
	broken   bool       // by a fetch; under fetching

	mutex sync.Mutex // of what follows
	busy  map[mailbox.UID]bool
	again time.Time // when all mails are looked at again
}

// session connects, and takes mails in until the connection breaks or the context ends. Mails that are being handled then are cut short: they have no mark,
// so they come again.
func (w *watch) session(ctx context.Context) error {
	box, err := mailbox.Open(ctx, w.box)
	if err != nil {
		return err
	}
	defer box.Close()
	w.metrics.connects.WithLabelValues(w.name).Inc()
	w.metrics.connected.WithLabelValues(w.name).Set(1)
	w.log.Info("watching a mailbox", "tenant", w.box.Tenant, "uidvalidity", box.UIDValidity)
	if w.validity != 0 && w.validity != box.UIDValidity {
		w.metrics.validity.WithLabelValues(w.name).Inc()
		w.log.Warn("the server gave all mails new UIDs; those without a mark are read again, and become no second record", "before", w.validity, "now", box.UIDValidity)
		w.patience.clear()
	}
	w.validity = box.UIDValidity
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(w.options.Parallel + 2) // and the two below
	s := &session{watch: w, box: box, work: work, busy: map[mailbox.UID]bool{}, since: map[mailbox.UID]time.Time{}, next: 1}
	work.Go(func() error { return s.loop(ctx) })
	work.Go(func() error { return s.followAddresses(ctx) })
	return work.Wait()
}

func (s *session) loop(ctx context.Context) error {
	for {
		if s.due() {
			s.next = 1
		}
		if err := s.scan(ctx); err != nil {
			return err
		}
		// IDLE, too, is renewed as often: routers forget connections after ten minutes.
		if err := s.box.Wait(ctx, s.untilDue()); err != nil {
			return err
		}
	}
}

// due tells whether all mails are to be looked at again, and sets the next time.
func (s *session) due() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if time.Now().Before(s.again) {
		return false
	}
	s.again = time.Now().Add(s.timings.refreshLeast + rand.N(s.timings.refreshMost-s.timings.refreshLeast))
	return true
}

func (s *session) untilDue() time.Duration {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return time.Until(s.again)
}

// lookAgain has all mails looked at again after a while.
func (s *session) lookAgain(after time.Duration) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if at := time.Now().Add(after); at.Before(s.again) {
		s.again = at
		time.AfterFunc(after, s.box.Nudge)
	}
}

// scan starts the handling of all mails that are there for it.
func (s *session) scan(ctx context.Context) error {
	failedToo, fingerprint, err := s.changedAddresses(ctx)
	if err != nil {
		return err
	}
	from := s.next
	if failedToo {
		from = 1
	}
	found, err := s.box.Unhandled(ctx, from, failedToo)
	if err != nil {
		return err
	}
	for len(found) > 0 {
		page := found[:min(len(found), mailbox.Page)]
		found = found[len(page):]
		mails, err := s.box.Mails(ctx, page)
		if err != nil {
			return err
		}
		for _, m := range mails {
			if err := s.start(ctx, m); err != nil {
				return err
			}
		}
		s.next = max(s.next, page[len(page)-1]+1)
	}
	if failedToo {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.watch.addresses, s.looked = fingerprint, true
	}
	return nil
}

// followAddresses wakes the loop when intake addresses change.
func (s *session) followAddresses(ctx context.Context) error {
	tick := time.NewTicker(s.timings.addresses)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if changed, _, err := s.changedAddresses(ctx); err != nil {
			return err
		} else if changed {
			s.box.Nudge()
		}
	}
}

// changedAddresses tells whether intake addresses changed since failed mails were last looked at, which is so at the start: then they get another chance.
func (s *session) changedAddresses(ctx context.Context) (changed bool, fingerprint uint64, err error) {
	err = s.patiently(ctx, "clickhouse", func() (err error) {
		fingerprint, err = s.books.addresses(ctx, s.watch.box.Tenant)
		return err
	})
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return !s.looked || fingerprint != s.watch.addresses, fingerprint, err
}

// start has a mail handled as soon as one of the handlers is free, unless it can't be or isn't this worker's.
func (s *session) start(ctx context.Context, m mailbox.Mail) error {
	if s.isBusy(m.UID) {
		return nil
	}
	if s.patience.deferred(m.UID) {
		return nil
	}
	overrule := false
	if s.box.ClaimedByOther(m) {
		if overrule = s.overdue(m.UID); !overrule {
			s.lookAgain(s.timings.claims / 4)
			return nil
		}
	}
	var v verdict
	err := s.patiently(ctx, "clickhouse", func() (err error) {
		v, err = s.route(ctx, s.watch.box.Tenant, m)
		return err
	})
	if err != nil {
		return err
	}
	if v.mark != mailbox.Done {
		return s.refuse(ctx, m, v)
	}
	s.setBusy(m.UID, true)
	s.work.Go(func() error { // waits for a free one: only so many mails are in memory
		defer s.setBusy(m.UID, false)
		return s.take(ctx, m, v, overrule)
	})
	return nil
}

// take fetches a mail, handles and marks it.
func (s *session) take(ctx context.Context, m mailbox.Mail, v verdict, overrule bool) error {
	began := time.Now()
	mine, err := s.box.Claim(ctx, m.UID, overrule)
	if errors.Is(err, mailbox.ErrGone) {
		return s.gone(m)
	}
	if err != nil {
		return err
	}
	if !mine {
		s.lookAgain(time.Second + rand.N(3*time.Second))
		return nil
	}
	s.observe(stepClaimed)
	raw, err := s.fetch(ctx, m)
	switch {
	case errors.Is(err, mailbox.ErrGone):
		return s.gone(m)
	case errors.Is(err, mailbox.ErrTooLarge):
		return s.finish(ctx, m, outcome{verdict: failed("%s", err)}, began)
	case err != nil:
		return err
	}
	s.observe(stepFetched)
	out, err := s.handle(ctx, m, v, raw)
	if errors.Is(err, errUnfit) {
		out.verdict = failed("%s", err)
	} else if err != nil {
		return err
	}
	return s.finish(ctx, m, out, began)
}
