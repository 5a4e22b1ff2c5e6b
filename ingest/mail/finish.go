package mail

import (
	"context"
	"errors"
	"sync"
	"time"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
)

// fetch reads a mail's body. A mail at which the connection breaks again and again is left for later, so that the others come in.
func (s *session) fetch(ctx context.Context, m mailbox.Mail) ([]byte, error) {
	s.fetching.Lock()
	defer s.fetching.Unlock()
	if s.broken {
		return nil, errBroken
	}
	raw, err := s.box.Body(ctx, m, s.options.Limits.Bytes)
	switch {
	case err == nil, errors.Is(err, mailbox.ErrGone), errors.Is(err, mailbox.ErrTooLarge):
		s.patience.forget(m.UID)
	case ctx.Err() == nil:
		s.broken = true
		if s.patience.lose(m.UID, s.timings.deferral) {
			s.log.Warn("the connection broke each time a mail was fetched; it is left for later", "uid", m.UID, "size", m.Size, "for", s.timings.deferral, "error", err)
		}
	}
	s.metrics.deferred.WithLabelValues(s.name).Set(float64(s.patience.waiting()))
	return raw, err
}

var errBroken = errors.New("the connection broke while another mail was fetched")

// refuse marks a mail that can't be handled as it is, once.
func (s *session) refuse(ctx context.Context, m mailbox.Mail, v verdict) error {
	if s.box.FailedBefore(m) {
		return nil
	}
	return s.finish(ctx, m, outcome{verdict: v}, time.Now())
}

// finish marks a mail, once Kafka has all that it gives.
func (s *session) finish(ctx context.Context, m mailbox.Mail, out outcome, began time.Time) error {
	if err := s.box.Mark(ctx, m.UID, out.mark); err != nil {
		return err
	}
	s.observe(stepMarked)
	if out.mark != mailbox.Failed || !s.box.FailedBefore(m) {
		s.tell(m, out, began)
	}
	return s.box.Tidy(ctx, m.UID, out.mark)
}

// tell counts and logs what became of a mail.
func (s *session) tell(m mailbox.Mail, out outcome, began time.Time) {
	name := map[mailbox.Mark]string{mailbox.Done: "done", mailbox.Ignored: "ignored", mailbox.Failed: "failed"}[out.mark]
	s.metrics.mails.WithLabelValues(s.name, name).Inc()
	h, _ := message.ReadHeader(m.Header)
	attributes := []any{"outcome", name, "uid", m.UID, "uidvalidity", s.box.UIDValidity, "message_id", h.MessageID(), "arrived", m.Arrived, "size", m.Size,
		"took", time.Since(began).Round(time.Millisecond)}
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

// gone notes a mail that somebody removed between being seen and being read.
func (s *session) gone(m mailbox.Mail) error {
	s.log.Info("mail", "outcome", "gone", "uid", m.UID, "uidvalidity", s.box.UIDValidity, "reason", mailbox.ErrGone.Error())
	return nil
}

// overdue tells whether another worker's claim has been there for so long that the worker must be dead.
func (s *session) overdue(uid mailbox.UID) bool {
	first, known := s.since[uid]
	if !known {
		s.since[uid] = time.Now()
		return false
	}
	return time.Since(first) >= s.timings.claims
}

func (s *session) isBusy(uid mailbox.UID) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.busy[uid]
}

func (s *session) setBusy(uid mailbox.UID, busy bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if busy {
		s.busy[uid] = true
	} else {
		delete(s.busy, uid)
	}
}

// patience counts the connections that broke while a mail was fetched.
type patience struct {
	mutex sync.Mutex
	lost  map[mailbox.UID]*loss
}

type loss struct {
	times int
	until time.Time // until then the mail is left alone
}

const lossesBorne = 3

// lose counts one more; when it was one too many, the mail is left alone for a while.
func (p *patience) lose(uid mailbox.UID, deferral time.Duration) (deferred bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.lost == nil {
		p.lost = map[mailbox.UID]*loss{}
	}
	l := p.lost[uid]
	if l == nil {
		l = &loss{}
		p.lost[uid] = l
	}
	if l.times++; l.times < lossesBorne {
		return false
	}
	l.until = time.Now().Add(deferral)
	return true
}

func (p *patience) deferred(uid mailbox.UID) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	l := p.lost[uid]
	return l != nil && time.Now().Before(l.until)
}

func (p *patience) forget(uid mailbox.UID) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.lost, uid)
}

// clear forgets all: the UIDs mean other mails now.
func (p *patience) clear() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	clear(p.lost)
}

func (p *patience) waiting() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	n := 0
	for _, l := range p.lost {
		if time.Now().Before(l.until) {
			n++
		}
	}
	return n
}
