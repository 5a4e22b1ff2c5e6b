package mail

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/sandbox"
)

// outcome is what became of a mail, for its mark and its log line.
type outcome struct {
	decision
	records []string            // ids, each with its status
	became  map[string][]string // ids of records, by project
}

// add notes a record that the mail became.
func (o *outcome) add(project, id, status string) {
	o.records = append(o.records, id+" "+status)
	if o.became == nil {
		o.became = map[string][]string{}
	}
	o.became[project] = append(o.became[project], id)
}

// open reads small mails together, marks those that give no record and queues the others again.
func (s *session) open(ctx context.Context, some []candidate) error {
	began := time.Now()
	read, err := s.readSmall(ctx, some)
	if err != nil {
		return err
	}
	each := time.Since(began) / time.Duration(len(some))
	gone := map[mailbox.UID]bool{}
	for _, c := range some {
		gone[c.mail.UID] = true
		s.spent.add(c.sender, each)
	}
	var done batch
	var todo []candidate
	for _, c := range read {
		if c.decision.mark != mailbox.Done {
			done.add(c)
			continue
		}
		c.alone = true
		todo = append(todo, c)
		delete(gone, c.mail.UID)
	}
	if err := s.finishBatch(ctx, done); err != nil {
		return err
	}
	s.free(slices.Collect(maps.Keys(gone))...)
	s.queue.reopen(todo)
	return nil
}

// serveOne handles a mail, or puts it back when it takes so long that others go first.
func (s *session) serveOne(ctx context.Context, c candidate) error {
	t := &turn{queue: s.queue, sender: c.sender, slow: c.slow}
	defer t.end()
	err := s.handle(ctx, &c, t)
	if !errors.Is(err, errLater) {
		s.queue.done(c.mail.UID)
		s.free(c.mail.UID)
		return err
	}
	s.log.Info("a mail takes long, so others go first", "uid", c.mail.UID, "took", t.took.Round(time.Millisecond))
	s.metrics.slow.WithLabelValues(s.name).Inc()
	if err := s.box.Withdraw(ctx, c.mail.UID); err != nil {
		return err
	}
	s.free(s.queue.putBack(c)...)
	return nil
}

// handle claims a mail, makes its records and marks it.
func (s *session) handle(ctx context.Context, c *candidate, t *turn) error {
	began := time.Now()
	m := c.mail
	tried := 0
	if c.read == nil {
		tried = s.tried(m) + 1
	}
	if tried > mailbox.MaxAttempts { // a worker died in the last one
		return s.finish(ctx, m, outcome{decision: failed(reasonNeverEnded, "%s", reasonSetAside).of(c.decision.projects)}, began)
	}
	mine, err := s.box.Claim(ctx, m.UID, 0, s.box.ClaimedByOther(m.State))
	switch {
	case errors.Is(err, mailbox.ErrGone):
		return s.gone(m)
	case err != nil:
		return s.notMarked(m, err)
	case !mine:
		s.lookAgain(time.Second + rand.N(3*time.Second))
		return nil
	}
	s.observe(stepClaimed)
	defer s.renewClaim(ctx, m.UID)()
	if c.read == nil {
		if c.read, err = s.readAlone(ctx, c, tried, t); err != nil || c.read == nil {
			return err
		}
		c.decision = c.decision.opened(c.read.Mail, c.read.err)
	}
	s.observe(stepFetched)
	out := outcome{decision: c.decision}
	if out.mark == mailbox.Done {
		err = s.process(ctx, m, c.read, &out, t)
	}
	if errors.Is(err, errUnfit) {
		out.decision = failed(reasonRefused, "%s", err).of(c.decision.projects)
	} else if err != nil {
		return err
	}
	return s.finish(ctx, m, out, began)
}

// reasonSetAside is that of mails that are not read again by themselves.
var reasonSetAside = fmt.Sprintf("reading it was begun %d times and never ended; tallyhouse mail release has it tried again",
	mailbox.MaxAttempts)

// readAlone reads a mail in a sandboxed process of its own. Nothing read and no error say that the mail is left as it
// is, to be tried again, or finished.
func (s *session) readAlone(ctx context.Context, c *candidate, tried int, t *turn) (*content, error) {
	m := c.mail
	raw, err := s.fetchBody(ctx, m)
	switch {
	case errors.Is(err, mailbox.ErrGone):
		return nil, s.gone(m)
	case errors.Is(err, mailbox.ErrTooLarge):
		return &content{err: err}, s.endAttempts(ctx, m.UID)
	case err != nil:
		return nil, err
	}
	if mine, err := s.beginAttempt(ctx, m, tried); err != nil || !mine {
		return nil, err
	}
	s.observe(stepTried)
	began := time.Now()
	read, err := s.readMails(ctx, [][]byte{raw})
	t.spend(time.Since(began))
	switch {
	case ctx.Err() != nil:
		s.cutAttempt(m.UID, tried)
		return nil, ctx.Err()
	case err != nil && tried < mailbox.MaxAttempts:
		s.log.Warn("a mail could not be read and is tried again", "uid", m.UID, "size", m.Size, "tries", tried, "error", err)
		s.lookAgain(s.timings.attempts * time.Duration(tried))
		return nil, s.box.Withdraw(ctx, m.UID)
	case err != nil:
		d := failed(reasonNeverEnded, "%s: %s", reasonSetAside, err).of(c.decision.projects)
		return nil, s.finish(ctx, m, outcome{decision: d}, time.Now())
	}
	if err := s.endAttempts(ctx, m.UID); err != nil {
		return nil, err
	}
	return &content{identity: mailIdentity(read[0].Mail.MessageID, raw), raw: raw, err: read[0].Err, Mail: read[0].Mail}, nil
}

// readMails reads mails in one sandboxed process. Its error says that they, and not the installation, are at fault, or
// is the context's.
func (in *Intake) readMails(ctx context.Context, raws [][]byte) (read []message.Result, err error) {
	waited := in.retry(ctx, "reader", func() error {
		read, err = message.ReadAllSandboxed(ctx, raws, in.options.Limits.Limits, in.options.Reader.Sandbox)
		if errors.Is(err, sandbox.ErrStart) {
			return err
		}
		return nil
	})
	return read, errors.Join(err, waited)
}

// renewClaim shows other workers, until it is ended, that this one is alive.
func (s *session) renewClaim(ctx context.Context, uid mailbox.UID) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		// Others look four times within the life of a claim: between two looks it changes once at most.
		tick := time.NewTicker(s.timings.claims / 3)
		defer tick.Stop()
		for beat := true; ; beat = !beat {
			select {
			case <-tick.C:
				if s.box.Renew(context.WithoutCancel(ctx), uid, beat) != nil {
					return // the connection broke, which others notice as well
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		renewing.Wait()
	}
}

// errUnfit says that a mail gives a record that the ledger doesn't take, whatever is tried.
var errUnfit = errors.New("the record breaks the rules of events")
