package mail

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sethvargo/go-retry"
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

	validity  uint32        // UIDVALIDITY of the connection before
	addresses uint64        // fingerprint of the intake addresses when failed mails were last looked at
	looked    bool          // whether they were
	failures  fetchFailures // of bodies
	untold    fetchFailures // of headers
	unmarked  fetchFailures // of marks that the server refused
	attempts  attempts      // where the mailbox takes no keywords
	cut       attempts      // which the mailbox counts though they ended before the reading did
	quota     quota
	letters   quota // answers, of each who gets them
	spent     spent

	mutex   sync.Mutex // of current
	current *session   // nil while there is no connection
}

// look has all mails looked at, as soon as there is a connection.
func (w *watch) look() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.current != nil {
		w.current.lookAgain(0)
	}
}

func (w *watch) setCurrent(s *session) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.current = s
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
	// Claims of other workers count so long after they were made or renewed, which is seen here.
	claims time.Duration
	// A mail at which connections break is left alone for so long.
	deferral time.Duration
	// A mail whose reading ended without a result is read again after this.
	attempts time.Duration
	// One try to send to Kafka takes so long at most.
	sending time.Duration
	// What people ask for is tried for so long.
	requests time.Duration
	// A mail takes long once its reading has taken this; its files together are read for no longer than that.
	slow, mail time.Duration
	// So often it is looked for records that were announced so long ago and whose mail is gone.
	unread, unreadFor time.Duration
}

func usualTimings() timings {
	return timings{
		backOffFirst: 500 * time.Millisecond, backOffMost: time.Minute, steady: time.Minute,
		refreshLeast: 5 * time.Minute, refreshMost: 9 * time.Minute,
		addresses: 30 * time.Second, claims: 2 * time.Minute, deferral: 15 * time.Minute,
		attempts: 20 * time.Second, sending: 30 * time.Second, requests: 10 * time.Minute,
		slow: 10 * time.Second, mail: 10 * time.Minute,
		unread: 5 * time.Minute, unreadFor: 30 * time.Minute,
	}
}

// run connects again and again until the context ends.
func (w *watch) run(ctx context.Context) error {
	pauses := w.pauses()
	var lasted, throttled time.Duration
	next := retry.BackoffFunc(func() (time.Duration, bool) {
		if lasted > w.timings.steady {
			pauses = w.pauses()
		}
		pause, stop := pauses.Next()
		return max(pause, throttled), stop
	})
	_ = retry.Do(ctx, next, func(ctx context.Context) error {
		began := time.Now()
		err := w.session(ctx)
		lasted = time.Since(began)
		throttled, _ = mailbox.Throttled(err)
		w.metrics.connected.WithLabelValues(w.name).Set(0)
		if ctx.Err() == nil {
			w.metrics.lost.WithLabelValues(w.name).Inc()
			w.log.Warn("the connection to the mailbox ended by a fault; another is made", "error", err, "throttled", throttled)
		}
		return retry.RetryableError(err)
	})
	w.takeBack(ctx)
	return nil // the context has ended
}

// pauses are those between connections.
func (w *watch) pauses() retry.Backoff {
	return retry.WithJitterPercent(50, retry.WithCappedDuration(w.timings.backOffMost, retry.NewExponential(w.timings.backOffFirst)))
}

// session is what lasts as long as one connection.
type session struct {
	*watch
	box *mailbox.Session
	// What is to be looked at: open mails, and those that failed before.
	todo, failed []mailbox.UID
	next         mailbox.UID // mails before it were listed
	queue        *queue
	// since is when another worker's claim on a mail was first seen as it is; whenever all mails are looked at, those without one go.
	since map[mailbox.UID]seen

	fetching sync.Mutex // one body at a time, so that it's known whose the fault is
	broken   bool       // by a fetch; under fetching

	mutex sync.Mutex // of what follows
	busy  map[mailbox.UID]bool
	again time.Time // when all mails are looked at again
	// lookingFor are the intake addresses, as a fingerprint, that failed mails are being looked at for.
	looking    bool
	lookingFor uint64
}

// session connects, and takes mails in until the connection breaks or the context ends. Mails that are being handled
// then are cut short: they have no mark, so they come again.
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
		w.log.Warn("the server gave all mails new UIDs; those without a mark are read again, and become no second record",
			"from", w.validity, "to", box.UIDValidity)
		w.failures.clear()
		w.untold.clear()
		w.unmarked.clear()
		w.attempts.clear()
		w.cut.clear()
		w.quota.clear()
		w.letters.clear()
	}
	w.validity = box.UIDValidity
	work, ctx := errgroup.WithContext(ctx)
	s := &session{watch: w, box: box, busy: map[mailbox.UID]bool{}, since: map[mailbox.UID]seen{}, next: 1,
		queue: newQueue(&w.spent, max(1, w.options.Parallel-1))}
	w.setCurrent(s)
	defer w.setCurrent(nil)
	work.Go(func() error { return s.loop(ctx) })
	work.Go(func() error { return s.followAddresses(ctx) })
	for range w.options.Parallel {
		work.Go(func() error { return s.serve(ctx) })
	}
	return work.Wait()
}

func (s *session) loop(ctx context.Context) error {
	for {
		if err := s.lookAround(ctx); err != nil {
			return err
		}
		more, err := s.scan(ctx)
		if err != nil {
			return err
		}
		if more {
			continue
		}
		// IDLE, too, is renewed as often: routers forget connections after ten minutes.
		if err := s.box.Wait(ctx, s.untilDue()); err != nil {
			return err
		}
	}
}

// serve handles mails, one after the other, as it is their turn.
func (s *session) serve(ctx context.Context) error {
	for {
		some, err := s.queue.take(ctx)
		if err != nil {
			return err
		}
		if s.queue.wants() {
			s.box.Nudge()
		}
		if some[0].opensWithOthers() {
			err = s.open(ctx, some)
		} else {
			err = s.serveOne(ctx, some[0])
		}
		if err != nil {
			return err
		}
	}
}

// due reports whether all mails are to be looked at again, and sets the next time.
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

// changedAddresses reports whether intake addresses changed since failed mails were last looked at, which is so at the
// start: then they get another chance.
func (s *session) changedAddresses(ctx context.Context) (changed bool, fingerprint uint64, err error) {
	err = s.retry(ctx, "clickhouse", func() (err error) {
		fingerprint, err = s.directory.fingerprint(ctx, s.watch.box.Tenant)
		return err
	})
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.looking {
		return fingerprint != s.lookingFor, fingerprint, err
	}
	return !s.looked || fingerprint != s.watch.addresses, fingerprint, err
}
