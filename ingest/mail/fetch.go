package mail

import (
	"context"
	"errors"
	"sync"
	"time"

	"tallyhouse/ingest/mail/mailbox"
)

// fetchBody reads a mail's body. A mail at which the connection breaks again and again is left for later, so that the
// others come in.
func (s *session) fetchBody(ctx context.Context, m mailbox.Mail) ([]byte, error) {
	s.fetching.Lock()
	defer s.fetching.Unlock()
	if s.broken {
		return nil, errBroken
	}
	raw, err := s.box.Body(ctx, m, s.options.Limits.Bytes)
	switch {
	case err == nil, errors.Is(err, mailbox.ErrGone), errors.Is(err, mailbox.ErrTooLarge):
		s.failures.forget(m.UID)
	case ctx.Err() == nil:
		s.brokenBy(err, m)
	}
	s.metrics.deferred.WithLabelValues(s.name).Set(float64(s.failures.waiting()))
	return raw, err
}

// fetchSmall reads the bodies of several mails at once; those that are gone are missing, those that are larger than
// told nil. After a connection broke at them they are read one by one, so that the guilty one is found.
func (s *session) fetchSmall(ctx context.Context, mails []mailbox.Mail) (map[mailbox.UID][]byte, error) {
	bodies := map[mailbox.UID][]byte{}
	if !s.failures.anySuspect(mails) {
		s.fetching.Lock()
		defer s.fetching.Unlock()
		if s.broken {
			return nil, errBroken
		}
		bodies, err := s.box.Bodies(ctx, mails, smallMail)
		if err != nil && ctx.Err() == nil {
			s.broken = true
			s.failures.suspect(mails)
		}
		return bodies, err
	}
	for _, m := range mails {
		raw, err := s.fetchBody(ctx, m)
		switch {
		case errors.Is(err, mailbox.ErrGone):
		case err == nil, errors.Is(err, mailbox.ErrTooLarge):
			bodies[m.UID] = raw
		default:
			return nil, err
		}
	}
	return bodies, nil
}

// brokenBy counts a connection that broke while a mail was fetched.
func (s *session) brokenBy(err error, m mailbox.Mail) {
	s.broken = true
	if s.failures.add(m.UID, s.timings.deferral) {
		s.log.Warn("the connection broke each time a mail was fetched; it is left for later",
			"uid", m.UID, "size", m.Size, "pause", s.timings.deferral, "error", err)
	}
}

var errBroken = errors.New("the connection broke while another mail was fetched")

// fetchFailures counts the connections that broke while a mail was fetched.
type fetchFailures struct {
	mutex sync.Mutex
	of    map[mailbox.UID]*fetchFailure
}

type fetchFailure struct {
	times int       // 0: it was among several
	until time.Time // until then the mail is left alone
}

// maxFetchFailures is how many connections may break at a mail until it is left for later.
const maxFetchFailures = 3

// add counts one more; when it was one too many, the mail is left alone for a while.
func (f *fetchFailures) add(uid mailbox.UID, deferral time.Duration) (deferred bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	one := f.get(uid)
	if one.times++; one.times < maxFetchFailures {
		return false
	}
	one.until = time.Now().Add(deferral)
	return true
}

// suspect notes mails of which one broke a connection.
func (f *fetchFailures) suspect(mails []mailbox.Mail) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, m := range mails {
		f.get(m.UID)
	}
}

func (f *fetchFailures) anySuspect(mails []mailbox.Mail) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, m := range mails {
		if f.of[m.UID] != nil {
			return true
		}
	}
	return false
}

func (f *fetchFailures) get(uid mailbox.UID) *fetchFailure {
	if f.of == nil {
		f.of = map[mailbox.UID]*fetchFailure{}
	}
	if f.of[uid] == nil {
		f.of[uid] = &fetchFailure{}
	}
	return f.of[uid]
}

func (f *fetchFailures) deferred(uid mailbox.UID) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	one := f.of[uid]
	return one != nil && time.Now().Before(one.until)
}

func (f *fetchFailures) forget(uid mailbox.UID) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	delete(f.of, uid)
}

// clear forgets all: the UIDs mean other mails now.
func (f *fetchFailures) clear() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	clear(f.of)
}

func (f *fetchFailures) waiting() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	n := 0
	for _, one := range f.of {
		if time.Now().Before(one.until) {
			n++
		}
	}
	return n
}
