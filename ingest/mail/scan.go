package mail

import (
	"context"
	"slices"
	"strings"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
)

// Small mails are read together, up to so many bytes at a time: most that isn't an invoice is small.
const (
	smallMail  = 512 << 10
	smallMails = 8 << 20
)

// scan decides about all mails that are open, marks those that give no record, and has the others handled. Those that
// failed before come after the open ones, when intake addresses have changed since.
func (s *session) scan(ctx context.Context) error {
	again, fingerprint, err := s.changedAddresses(ctx)
	if err != nil {
		return err
	}
	from := s.next
	if again {
		from = 1
	}
	all, err := s.box.List(ctx, from)
	if err != nil {
		return err
	}
	var open, before []mailbox.UID
	for _, l := range all {
		switch {
		case l.State.Open():
			open = append(open, l.UID)
		case again && l.State.Mark() == mailbox.Failed && !l.State.SetAside():
			before = append(before, l.UID)
		}
	}
	for page := range slices.Chunk(slices.Concat(open, before), mailbox.Page) {
		if err := s.scanPage(ctx, page); err != nil {
			return err
		}
	}
	if n := len(all); n > 0 {
		s.next = max(s.next, all[n-1].UID+1)
	}
	if again {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.watch.addresses, s.looked = fingerprint, true
	}
	return nil
}

func (s *session) scanPage(ctx context.Context, page []mailbox.UID) error {
	mails, err := s.box.Mails(ctx, page)
	if err != nil {
		return err
	}
	mails = slices.DeleteFunc(mails, func(m mailbox.Mail) bool { return s.isBusy(m.UID) || s.failures.deferred(m.UID) || s.foreign(m) })
	var decisions []decision
	err = s.retry(ctx, "clickhouse", func() (err error) {
		decisions, err = s.decide(ctx, s.watch.box, mails)
		return err
	})
	if err != nil {
		return err
	}
	var done batch // of the page
	var small, large []candidate
	size := int64(0)
	for i, m := range mails {
		d := decisions[i]
		if d.mark == mailbox.Done && !s.withinQuota(m) {
			d = quarantined(reasonQuota, "its sender has sent more mails within an hour than are allowed").of(d.projects)
		}
		switch c := (candidate{mail: m, decision: d}); {
		case d.mark != mailbox.Done:
			done.add(c)
		case m.Size <= smallMail && size+m.Size <= smallMails && s.tried(m) == 0:
			size += m.Size
			small = append(small, c)
		default:
			large = append(large, c)
		}
	}
	if small, err = s.readSmall(ctx, small); err != nil {
		return err
	}
	var todo []candidate
	for _, c := range small {
		if c.decision.mark == mailbox.Done {
			todo = append(todo, c)
		} else {
			done.add(c)
		}
	}
	if err := s.finishBatch(ctx, done); err != nil {
		return err
	}
	for _, c := range append(todo, large...) {
		s.start(ctx, c)
	}
	return nil
}

// candidate is a mail with what is decided about it so far.
type candidate struct {
	mail     mailbox.Mail
	decision decision
	read     *content // nil until the mail was read
}

// content is what was read of a mail.
type content struct {
	identity string // of the mail, for the ids of its records
	raw      []byte
	err      error // one of package message
	message.Mail
}

// readSmall reads mails together, in one sandboxed process. Where that fails, they are left to be read one by one;
// those that are gone are left out.
func (s *session) readSmall(ctx context.Context, small []candidate) ([]candidate, error) {
	if len(small) == 0 {
		return nil, nil
	}
	mails := make([]mailbox.Mail, len(small))
	for i, c := range small {
		mails[i] = c.mail
	}
	bodies, err := s.fetchSmall(ctx, mails)
	if err != nil {
		return nil, err
	}
	var there []candidate
	var raws [][]byte
	var of []int // the candidate of each
	for _, c := range small {
		raw, ok := bodies[c.mail.UID]
		if !ok {
			continue
		}
		there = append(there, c)
		if raw != nil {
			raws, of = append(raws, raw), append(of, len(there)-1)
		}
	}
	if len(raws) == 0 {
		return there, nil
	}
	read, err := s.readMails(ctx, raws)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		s.log.Warn("mails could not be read together, so they are read one by one", "mails", len(raws), "error", err)
		return there, nil
	}
	for i, r := range read {
		c := &there[of[i]]
		c.read = &content{identity: mailIdentity(r.Mail.MessageID, raws[i]), raw: raws[i], err: r.Err, Mail: r.Mail}
		c.decision = c.decision.opened(r.Mail, r.Err)
	}
	return there, nil
}

// withinQuota counts a mail of its sender, unless an operator released it.
func (s *session) withinQuota(m mailbox.Mail) bool {
	if m.State.Released() || s.tried(m) > 0 {
		return true
	}
	from := message.ReadHeader(m.Header).Addresses("From")
	return s.quota.use(strings.ToLower(strings.Join(from[:min(len(from), 5)], ",")), m.UID, m.Arrived, s.watch.box.Senders.PerHour)
}

// foreign reports whether another worker reads the mail, as far as its claim was renewed of late.
func (s *session) foreign(m mailbox.Mail) bool {
	if !s.box.ClaimedByOther(m.State) || s.overdue(m) {
		return false
	}
	s.lookAgain(s.timings.claims / 4)
	return true
}
