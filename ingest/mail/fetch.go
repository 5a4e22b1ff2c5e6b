package mail

import (
	"context"
	"errors"
	"slices"
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
	s.showDeferred()
	return raw, err
}

// fetchHeaders reads what is to be known of mails before their bodies. One at which the connection breaks, or of which the server
// tells nothing, again and again, is left for later: whose the fault is shows when they are asked for one by one.
func (s *session) fetchHeaders(ctx context.Context, page []mailbox.UID) ([]mailbox.Mail, error) {
	page = slices.DeleteFunc(slices.Clone(page), s.untold.deferred)
	if len(page) == 0 {
		return nil, nil
	}
	if !s.untold.anySuspect(page) {
		mails, err := s.box.Mails(ctx, page)
		if err != nil && ctx.Err() == nil {
			s.untold.suspect(page)
		}
		return mails, err
	}
	var all []mailbox.Mail
	for _, uid := range page {
		mails, err := s.box.Mails(ctx, []mailbox.UID{uid})
		if err == nil {
			s.untold.forget(uid)
			all = append(all, mails...)
			continue
		}
		if ctx.Err() == nil && s.untold.add(uid, s.timings.deferral) {
			s.log.Warn("the server gave no header of a mail each time it was asked; it is left for later",
				"uid", uid, "pause", s.timings.deferral, "error", err)
			s.showDeferred()
		}
		return nil, err
	}
	return all, nil
}

// showDeferred counts the mails that are left for later.
func (s *session) showDeferred() {
	s.metrics.deferred.WithLabelValues(s.name).Set(float64(s.failures.waiting() + s.untold.waiting() + s.unmarked.waiting()))
}

// fetchSmall reads the bodies of several mails at once; those that are gone are missing, those that are larger than
// told nil. After a connection broke at them they are read one by one, so that the guilty one is found.
func (s *session) fetchSmall(ctx context.Context, mails []mailbox.Mail) (map[mailbox.UID][]byte, error) {
	bodies := map[mailbox.UID][]byte{}
	uids := make([]mailbox.UID, len(mails))
	for i, m := range mails {
		uids[i] = m.UID
	}
	if !s.failures.anySuspect(uids) {
		s.fetching.Lock()
		defer s.fetching.Unlock()
		if s.broken {
			return nil, errBroken
		}
		bodies, err := s.box.Bodies(ctx, mails, smallMail)
		if err != nil && ctx.Err() == nil {
			s.broken = true
			s.failures.suspect(uids)
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

// fetchFailures counts how often something failed with a mail, such as the connections that broke while it was fetched.
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
func (f *fetchFailures) suspect(uids []mailbox.UID) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, uid := range uids {
		f.get(uid)
	}
}

func (f *fetchFailures) anySuspect(uids []mailbox.UID) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, uid := range uids {
		if f.of[uid] != nil {
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
