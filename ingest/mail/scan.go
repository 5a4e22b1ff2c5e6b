package mail

import (
	"context"
	"slices"
	"strings"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/events"
)

// Small mails are read together, up to so many bytes at a time: most that isn't an invoice is small.
const (
	smallMail  = 512 << 10
	smallMails = 8 << 20
)

// lookAround finds the mails that are to be looked at: those that came since, or all of them when that is due. Those that
// failed before come after the open ones, when intake addresses have changed since.
func (s *session) lookAround(ctx context.Context) error {
	again, fingerprint, err := s.changedAddresses(ctx)
	if err != nil {
		return err
	}
	from, all := s.next, s.due() || again
	if all {
		from = 1
	}
	var open, failed []mailbox.UID
	claimed := map[mailbox.UID]seen{}
	err = s.box.List(ctx, from, func(l mailbox.Listed) {
		s.next = max(s.next, l.UID+1)
		if before, known := s.since[l.UID]; known && s.box.ClaimedByOther(l.State) {
			claimed[l.UID] = before
		}
		switch {
		case l.State.Open():
			open = append(open, l.UID)
		case again && l.State.Mark() == mailbox.Failed && !l.State.SetAside():
			failed = append(failed, l.UID)
		}
	})
	if err != nil {
		return err
	}
	slices.Sort(open)
	open = slices.Compact(open)
	if !all {
		if len(open) > 0 {
			s.todo = append(open, s.todo...) // new mails are seen at once, however many others there are
		}
		return nil
	}
	s.since = claimed // of mails that were read or are gone nothing is remembered
	postponed := s.queue.all()
	s.todo = slices.DeleteFunc(open, func(uid mailbox.UID) bool { return postponed[uid] })
	if again {
		slices.Sort(failed)
		s.failed = failed
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.looking, s.lookingFor = true, fingerprint
	}
	return nil
}

// scan decides about the next page of mails, marks those that give no record and queues the others. It reports whether
// there was one: no mail waits for the reading of another one before its header is looked at.
func (s *session) scan(ctx context.Context) (bool, error) {
	var page []mailbox.UID
	for _, from := range []*[]mailbox.UID{&s.todo, &s.failed} {
		if n := min(len(*from), mailbox.Page); len(page) == 0 {
			page, *from = slices.Clone((*from)[:n]), (*from)[n:]
		}
	}
	if len(page) == 0 {
		page = s.queue.again()
	}
	if len(page) > 0 {
		if err := s.scanPage(ctx, page); err != nil {
			return false, err
		}
	}
	if s.looking && len(s.todo)+len(s.failed) == 0 && s.queue.emptied() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.looking, s.watch.addresses, s.looked = false, s.lookingFor, true
	}
	return len(page) > 0, nil
}

func (s *session) scanPage(ctx context.Context, page []mailbox.UID) error {
	mails, err := s.fetchHeaders(ctx, page)
	if err != nil {
		return err
	}
	mails = slices.DeleteFunc(mails, func(m mailbox.Mail) bool {
		return s.isBusy(m.UID) || s.failures.deferred(m.UID) || s.unmarked.deferred(m.UID) || s.foreign(m)
	})
	decisions, err := s.decide(ctx, s.watch.box, mails, s.retry)
	if err != nil {
		return err
	}
	hopeless, err := s.failedByBody(ctx, mails, decisions)
	if err != nil {
		return err
	}
	var done batch // of the page
	var todo []candidate
	for i, m := range mails {
		d := decisions[i]
		if hopeless[m.UID] {
			continue
		}
		if d.mark == mailbox.Done && !s.withinQuota(m) {
			d = quarantined(reasonQuota, "its sender has sent more mails within an hour than are allowed").of(d.projects)
		}
		if c := (candidate{mail: m, decision: d, sender: senderOf(m), alone: s.tried(m) > 0}); d.mark == mailbox.Done {
			todo = append(todo, c)
		} else {
			done.add(c)
		}
	}
	if err := s.finishBatch(ctx, done); err != nil {
		return err
	}
	if err := s.introduce(ctx, todo); err != nil {
		return err
	}
	s.mutex.Lock()
	for _, c := range todo {
		s.busy[c.mail.UID] = true
	}
	s.mutex.Unlock()
	s.free(s.queue.add(todo)...)
	if slices.ContainsFunc(todo, func(c candidate) bool { return c.known }) {
		s.observe(stepKnown)
	}
	return nil
}

// bodyReasons are those that no change of an address takes away.
var bodyReasons = []string{reasonTooLarge, reasonBroken, reasonNeverEnded, reasonRefused}

// failedByBody are the mails that were marked as failed because of what is in them, by what was told of them: to fetch and read them again
// gives the same. In a project that they were not told of below, they are new.
func (s *session) failedByBody(ctx context.Context, mails []mailbox.Mail, decisions []decision) (map[mailbox.UID]bool, error) {
	tenant := s.watch.box.Tenant
	var projects, ids []string
	of := map[mailbox.UID][]string{} // ids
	for i, m := range mails {
		if m.State.Mark() != mailbox.Failed || decisions[i].mark != mailbox.Done {
			continue
		}
		for _, project := range decisions[i].projects {
			id := unrecorded(tenant, project, m.Header)
			projects, ids, of[m.UID] = append(projects, project), append(ids, id), append(of[m.UID], id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(projects)
	var known map[string]told
	err := s.retry(ctx, "clickhouse", func() (err error) {
		known, err = s.directory.told(ctx, tenant, slices.Compact(projects), ids)
		return err
	})
	hopeless := map[mailbox.UID]bool{}
	for uid, ids := range of {
		hopeless[uid] = !slices.ContainsFunc(ids, func(id string) bool {
			return known[id].status != events.ReadingWithoutRecord || !slices.Contains(bodyReasons, known[id].reason)
		})
	}
	return hopeless, err
}

// introduce finds out whose senders people know.
func (s *session) introduce(ctx context.Context, some []candidate) error {
	var senders []string
	for _, c := range some {
		senders = append(senders, c.sender)
	}
	if len(senders) == 0 {
		return nil
	}
	slices.Sort(senders)
	var known map[string]bool
	err := s.retry(ctx, "clickhouse", func() (err error) {
		known, err = s.directory.knownSenders(ctx, s.watch.box.Tenant, slices.Compact(senders))
		return err
	})
	for i := range some {
		// Where not everybody may send, somebody has allowed whoever does.
		some[i].known = len(s.watch.box.Senders.Allowed) > 0 || some[i].mail.State.Released() || known[some[i].sender]
	}
	return err
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

// senderOf is who a mail says that it is from.
func senderOf(m mailbox.Mail) string {
	from := message.ReadHeader(m.Header).Addresses("From")
	return strings.ToLower(untrusted.Cut(untrusted.Line(strings.Join(from[:min(len(from), maxFrom)], ", ")), longestHeader))
}

// withinQuota counts a mail of its sender, unless an operator released it.
func (s *session) withinQuota(m mailbox.Mail) bool {
	if m.State.Released() || s.tried(m) > 0 {
		return true
	}
	return s.quota.use(senderOf(m), m.UID, m.Arrived, s.watch.box.Senders.PerHour)
}

// foreign reports whether another worker reads the mail, as far as its claim was renewed of late.
func (s *session) foreign(m mailbox.Mail) bool {
	if !s.box.ClaimedByOther(m.State) || s.overdue(m) {
		return false
	}
	s.lookAgain(s.timings.claims / 4)
	return true
}
