package mail

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"tallyhouse/ingest/mail/mailbox"
)

// An attempt to read a mail is one that may end its worker: it is counted when the mail's body is in hand, just before the reading, and
// stays counted only when that ended the reader or the worker. What ends with the connection, or because the worker is told to end,
// says nothing about the mail: it isn't counted, whosever mail broke the connection.

// attempts are numbers of attempts to read mails.
type attempts struct {
	mutex sync.Mutex
	of    map[mailbox.UID]int
}

// tried is how often a mail's reading was begun and not ended, as far as its mailbox or this worker knows.
func (s *session) tried(m mailbox.Mail) int {
	n := m.State.Attempts()
	if n > 0 && n == s.cut.count(m.UID) {
		n--
	}
	return max(n, s.attempts.count(m.UID))
}

// beginAttempt counts an attempt to read a mail, and reports whether this worker is still to read it.
func (s *session) beginAttempt(ctx context.Context, m mailbox.Mail, tried int) (mine bool, err error) {
	if !s.box.Keywords() { // which count them otherwise
		s.attempts.set(m.UID, tried)
		return true, nil
	}
	s.cut.set(m.UID, 0)
	mine, err = s.box.Claim(ctx, m.UID, tried, true)
	switch {
	case errors.Is(err, mailbox.ErrGone):
		return false, s.gone(m)
	case ctx.Err() != nil:
		s.cutAttempt(m.UID, tried)
		return false, ctx.Err()
	case err != nil:
		if !mailbox.Refused(err) { // the server may have counted it
			s.cutAttempt(m.UID, tried)
		}
		return false, s.notMarked(m, err)
	}
	return mine, nil
}

// cutAttempt takes back an attempt that ended before the reading did. The connection is of no use any more: the mailbox says so once
// there is another one, at the latest when the worker ends.
func (s *session) cutAttempt(uid mailbox.UID, tried int) {
	if s.box.Keywords() {
		s.cut.set(uid, tried)
	} else {
		s.attempts.set(uid, tried-1)
	}
}

// endAttempts forgets the attempts to read a mail: it was read.
func (s *session) endAttempts(ctx context.Context, uid mailbox.UID) error {
	s.attempts.set(uid, 0)
	s.cut.set(uid, 0)
	return s.box.EndAttempts(ctx, uid)
}

// leaving bounds how long a worker that is told to end takes to take attempts back.
const leaving = 5 * time.Second

// takeBack has the mailbox forget the attempts that the end of this worker cut short, for the next one to count right.
func (w *watch) takeBack(ctx context.Context) {
	cut := w.cut.all()
	if len(cut) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer stop()
	if err := w.takeBackAll(ctx, cut); err != nil {
		w.log.Warn("that a reading was cut short can't be noted in the mailbox, so it counts as an attempt", "error", err)
	}
}

func (w *watch) takeBackAll(ctx context.Context, cut map[mailbox.UID]int) error {
	box, err := mailbox.Open(ctx, w.box)
	if err != nil {
		return err
	}
	defer box.Close()
	if box.UIDValidity != w.validity {
		return nil
	}
	for m, err := range pages(ctx, box, slices.Sorted(maps.Keys(cut))) {
		if err != nil {
			return err
		}
		n := cut[m.UID]
		if m.State.Attempts() != n || box.ClaimedByOther(m.State) { // somebody has gone on with it
			continue
		}
		if err := box.EndAttempts(ctx, m.UID); err != nil {
			return err
		}
		if n > 1 {
			if _, err := box.Claim(ctx, m.UID, n-1, true); err != nil && !errors.Is(err, mailbox.ErrGone) {
				return err
			}
		}
	}
	return nil
}

func (a *attempts) count(uid mailbox.UID) int {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.of[uid]
}

func (a *attempts) all() map[mailbox.UID]int {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return maps.Clone(a.of)
}

func (a *attempts) set(uid mailbox.UID, n int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.of == nil {
		a.of = map[mailbox.UID]int{}
	}
	if a.of[uid] = n; n == 0 {
		delete(a.of, uid)
	}
}

func (a *attempts) clear() {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	clear(a.of)
}
