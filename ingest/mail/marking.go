package mail

import (
	"context"
	"slices"
	"time"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/schemas/events"
)

// batch are mails that are decided without being handled.
type batch struct {
	all   []candidate
	stays []candidate // those that have failed before and are marked already
}

// add takes a mail.
func (b *batch) add(c candidate) {
	if c.decision.mark == mailbox.Failed && c.mail.State.Mark() == mailbox.Failed {
		b.stays = append(b.stays, c)
		return
	}
	b.all = append(b.all, c)
}

// finishBatch marks mails that give no record, all of a mark in one command.
func (s *session) finishBatch(ctx context.Context, b batch) error {
	began := time.Now()
	if err := s.tell(ctx, slices.Concat(b.all, b.stays)); err != nil {
		return err
	}
	var owed []events.Event
	for _, c := range b.all {
		owed = append(owed, s.owed(c.mail, outcome{decision: c.decision})...)
	}
	if err := s.owe(ctx, owed); err != nil {
		return err
	}
	for _, mark := range []mailbox.Mark{mailbox.Ignored, mailbox.Failed, mailbox.Quarantined} {
		some := slices.DeleteFunc(slices.Clone(b.all), func(c candidate) bool { return c.decision.mark != mark })
		if len(some) == 0 {
			continue
		}
		marked, err := s.markAll(ctx, mark, some)
		if err != nil {
			return err
		}
		s.observe(stepMarked)
		var untidy []mailbox.UID
		for _, c := range marked {
			s.unmarked.forget(c.mail.UID)
			if c.mail.State.Mark() != mailbox.Unmarked || c.mail.State.Claims() != "" || c.mail.State.Attempts() > 0 {
				untidy = append(untidy, c.mail.UID)
			}
			s.report(c.mail, outcome{decision: c.decision}, began)
		}
		if err := s.box.Tidy(ctx, mark, untidy...); err != nil {
			return err
		}
	}
	return nil
}

// markAll marks mails in one command. Where the server refuses that, it is asked for each of them: the others are marked, and those that
// are not are left for later.
func (s *session) markAll(ctx context.Context, mark mailbox.Mark, some []candidate) (marked []candidate, err error) {
	uids := make([]mailbox.UID, len(some))
	for i, c := range some {
		uids[i] = c.mail.UID
	}
	switch err := s.box.Mark(ctx, mark, uids...); {
	case !mailbox.Refused(err):
		return some, err
	case len(some) == 1:
		return nil, s.notMarked(some[0].mail, err)
	}
	for i := range some {
		one, err := s.markAll(ctx, mark, some[i:i+1])
		if err != nil {
			return nil, err
		}
		marked = append(marked, one...)
	}
	return marked, nil
}

// finish marks a mail, once Kafka has all that it gives.
func (s *session) finish(ctx context.Context, m mailbox.Mail, out outcome, began time.Time) error {
	if err := s.tell(ctx, []candidate{{mail: m, decision: out.decision}}); err != nil {
		return err
	}
	again := out.mark == mailbox.Failed && m.State.Mark() == mailbox.Failed
	if !again {
		if err := s.owe(ctx, s.owed(m, out)); err != nil {
			return err
		}
	}
	if err := s.box.Mark(ctx, out.mark, m.UID); err != nil {
		return s.notMarked(m, err)
	}
	s.unmarked.forget(m.UID)
	s.attempts.set(m.UID, 0) // released, it has as many again
	s.cut.set(m.UID, 0)
	s.observe(stepMarked)
	if !again {
		s.report(m, out, began)
	}
	return s.box.Tidy(ctx, out.mark, m.UID)
}

// notMarked leaves a mail for later whose mark or claim the server refuses, as it does where the folder of done mails is full: the
// others come in meanwhile. It comes again, and becomes no second record.
func (s *session) notMarked(m mailbox.Mail, err error) error {
	if !mailbox.Refused(err) {
		return err
	}
	pause := s.timings.attempts
	if s.unmarked.add(m.UID, s.timings.deferral) {
		pause = s.timings.deferral
	} else {
		s.lookAgain(pause)
	}
	s.log.Warn("the server refuses to mark a mail, or to move it; it is left for later", "uid", m.UID, "pause", pause, "error", err)
	s.showDeferred()
	return nil
}

var outcomes = map[mailbox.Mark]string{
	mailbox.Done: "done", mailbox.Ignored: "ignored", mailbox.Failed: "failed", mailbox.Quarantined: "quarantined",
}

// report counts and logs what became of a mail.
func (s *session) report(m mailbox.Mail, out outcome, began time.Time) {
	s.metrics.mails.WithLabelValues(s.name, outcomes[out.mark]).Inc()
	h := message.ReadHeader(m.Header)
	attributes := []any{"outcome", outcomes[out.mark], "uid", m.UID, "uidvalidity", s.box.UIDValidity, "messageId", h.MessageID(),
		"arrived", m.Arrived, "size", m.Size, "took", time.Since(began).Round(time.Millisecond)}
	switch {
	case out.reason != "":
		attributes = append(attributes, "reason", out.reason)
	case out.warning != "":
		attributes = append(attributes, "warning", out.warning)
	}
	if out.mark == mailbox.Done {
		attributes = append(attributes, "projects", out.projects, "records", out.records)
	}
	s.log.Info("mail", attributes...)
}

// gone notes a mail that somebody removed between being listed and being read.
func (s *session) gone(m mailbox.Mail) error {
	s.log.Info("mail", "outcome", "gone", "uid", m.UID, "uidvalidity", s.box.UIDValidity, "reason", mailbox.ErrGone.Error())
	return nil
}

// seen is another worker's claim, and since when it is as it is.
type seen struct {
	claims string
	since  time.Time
}

// overdue reports whether another worker's claim has not been renewed for so long that the worker must be dead.
func (s *session) overdue(m mailbox.Mail) bool {
	claims := m.State.Claims()
	before, known := s.since[m.UID]
	if !known || before.claims != claims {
		s.since[m.UID] = seen{claims, time.Now()}
		return false
	}
	return time.Since(before.since) >= s.timings.claims
}

func (s *session) isBusy(uid mailbox.UID) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.busy[uid]
}

// free says that mails are neither queued nor in hand.
func (s *session) free(uids ...mailbox.UID) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, uid := range uids {
		delete(s.busy, uid)
	}
}
