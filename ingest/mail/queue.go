package mail

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"tallyhouse/ingest/mail/mailbox"
)

// Whose mails have been read for the least time goes first, and senders whom people know before strangers, so that no
// stranger's mails make others' wait, however many they are. A mail that takes long gives its place to the others: such
// mails never hold all handlers (docs/mail.md#whose-turn-it-is).

const (
	// mostQueued is how many mails of a kind, slow or not, are ready to be read. The others stay in the mailbox until there is room.
	mostQueued = 200
	// mostOpened is how many bytes of mails that were read already may wait.
	mostOpened = 8 << 20
	// largeMail and manyRecords make a mail a slow one: handlers hold few of such size, and it takes long to write so many.
	largeMail   = 8 << 20
	manyRecords = 20
	// ahead is how much reading of a sender whom people know goes before that of strangers.
	ahead = 10 * time.Minute
)

// candidate is a mail with what is decided about it so far.
type candidate struct {
	mail     mailbox.Mail
	decision decision
	read     *content // nil until the mail was read
	sender   string
	known    bool // people know the sender
	alone    bool // it is not read together with others
	slow     bool // it takes long
}

// bytes are what a candidate's content takes.
func (c candidate) bytes() int64 {
	if c.read == nil {
		return 0
	}
	n := len(c.read.raw)
	for _, f := range c.read.Files {
		n += len(f.Data)
	}
	return int64(n)
}

// queue are the mails of a session that wait for a handler.
type queue struct {
	spent    *spent
	mostSlow int // handlers that slow mails may hold

	mutex     sync.Mutex // of what follows
	changed   sync.Cond
	waiting   []candidate
	slow      int                    // handlers that slow mails hold
	long      map[mailbox.UID]bool   // mails that turned out to be slow
	postponed map[bool][]mailbox.UID // mails that there was no room for, slow or not
}

func newQueue(s *spent, mostSlow int) *queue {
	q := &queue{spent: s, mostSlow: mostSlow, long: map[mailbox.UID]bool{}, postponed: map[bool][]mailbox.UID{}}
	q.changed.L = &q.mutex
	return q
}

// add takes mails and gives back those for whom there is no room: the ones whose turn would come last.
func (q *queue) add(some []candidate) (postponed []mailbox.UID) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, c := range some {
		c.slow = q.long[c.mail.UID] || c.mail.Size > largeMail
		q.waiting = append(q.waiting, c)
	}
	return q.postpone()
}

// putBack takes a mail that was in hand and turned out to be slow. What was read of it is read again where it takes too much
// room.
func (q *queue) putBack(c candidate) (postponed []mailbox.UID) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	c.slow, q.long[c.mail.UID] = true, true
	if q.opened()+c.bytes() > mostOpened {
		c.read, c.decision.files, c.alone = nil, nil, true
	}
	q.waiting = append(q.waiting, c)
	return q.postpone()
}

// reopen takes mails that were opened.
func (q *queue) reopen(some []candidate) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.waiting = append(q.waiting, some...)
	q.changed.Broadcast()
}

// done forgets a mail.
func (q *queue) done(uid mailbox.UID) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	delete(q.long, uid)
}

// postpone puts those mails off that there is no room for.
func (q *queue) postpone() (postponed []mailbox.UID) {
	q.sort()
	n := map[bool]int{}
	q.waiting = slices.DeleteFunc(q.waiting, func(c candidate) bool {
		n[c.slow]++
		if n[c.slow] > mostQueued {
			postponed = append(postponed, c.mail.UID)
			q.postponed[c.slow] = append(q.postponed[c.slow], c.mail.UID)
		}
		return n[c.slow] > mostQueued
	})
	q.changed.Broadcast()
	return postponed
}

// again gives mails that were postponed and that there is room for now.
func (q *queue) again() []mailbox.UID {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	slow, is := q.room()
	if !is {
		return nil
	}
	n := min(len(q.postponed[slow]), mailbox.Page)
	page := slices.Clone(q.postponed[slow][:n])
	q.postponed[slow] = slices.Delete(q.postponed[slow], 0, n)
	return page
}

// wants reports whether there is room for mails that were postponed.
func (q *queue) wants() bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	_, is := q.room()
	return is
}

// room reports of which mails, slow or not, some are postponed and few are waiting.
func (q *queue) room() (slow, is bool) {
	n := map[bool]int{}
	for _, c := range q.waiting {
		n[c.slow]++
	}
	for _, slow := range []bool{false, true} {
		if len(q.postponed[slow]) > 0 && n[slow] <= mostQueued/2 {
			return slow, true
		}
	}
	return false, false
}

// emptied reports whether no mail is postponed.
func (q *queue) emptied() bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return len(q.postponed[false])+len(q.postponed[true]) == 0
}

// all gives the mails that are postponed.
func (q *queue) all() map[mailbox.UID]bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	all := map[mailbox.UID]bool{}
	for _, uid := range slices.Concat(q.postponed[false], q.postponed[true]) {
		all[uid] = true
	}
	return all
}

// take waits until a handler may begin with a mail, and gives it; or small ones that are to be opened together.
func (q *queue) take(ctx context.Context) ([]candidate, error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	stop := context.AfterFunc(ctx, func() {
		q.mutex.Lock()
		defer q.mutex.Unlock()
		q.changed.Broadcast()
	})
	defer stop()
	for ctx.Err() == nil {
		q.sort()
		if i := slices.IndexFunc(q.waiting, func(c candidate) bool { return !c.slow || q.slow < q.mostSlow }); i >= 0 {
			return q.begin(i), nil
		}
		q.changed.Wait()
	}
	return nil, ctx.Err()
}

// begin takes a mail out, and with a small one all that are to be opened with it: all of
// strangers, or all of senders whom people know.
func (q *queue) begin(i int) (taken []candidate) {
	first := q.waiting[i]
	if !first.opensWithOthers() || q.opened() > mostOpened {
		if first.slow {
			q.slow++
		}
		first.alone = true
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return []candidate{first}
	}
	size := int64(0)
	q.waiting = slices.DeleteFunc(q.waiting, func(c candidate) bool {
		goes := c.opensWithOthers() && c.known == first.known && len(taken) < mailbox.Page && size+c.mail.Size <= smallMails
		if goes {
			size += c.mail.Size
			taken = append(taken, c)
		}
		return goes
	})
	return taken
}

func (c candidate) opensWithOthers() bool {
	return c.read == nil && !c.alone && c.mail.Size <= smallMail
}

// turnSlow has a mail in hand go on as one that takes long, if there may be another one.
func (q *queue) turnSlow() bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.slow >= q.mostSlow {
		return false
	}
	q.slow++
	return true
}

// endSlow says that a handler holds a slow mail no more.
func (q *queue) endSlow() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.slow--
	q.changed.Broadcast()
}

func (q *queue) opened() (n int64) {
	for _, c := range q.waiting {
		n += c.bytes()
	}
	return n
}

// sort puts the mails in the order of their turns.
func (q *queue) sort() {
	before := q.spent.all(q.waiting)
	slices.SortStableFunc(q.waiting, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(before[a.mail.UID], before[b.mail.UID]), cmp.Compare(a.mail.UID, b.mail.UID))
	})
}

// turn is a mail's time with a handler.
type turn struct {
	queue  *queue
	sender string
	slow   bool
	took   time.Duration // to read what was read of it
}

// errLater says that a mail takes long and waits until fewer of those are in hand.
var errLater = errors.New("it takes long, and waits for its turn")

// spend counts time that the mail was read for.
func (t *turn) spend(d time.Duration) {
	t.took += d
	t.queue.spent.add(t.sender, d)
}

// longer has the mail go on though it takes long; errLater says that it can't now.
func (t *turn) longer() error {
	if !t.slow && !t.queue.turnSlow() {
		return errLater
	}
	t.slow = true
	return nil
}

// end gives the handler back.
func (t *turn) end() {
	if t.slow {
		t.queue.endSlow()
	}
}

// spent is for how long each sender's mails were read within the last half hour to hour.
type spent struct {
	mutex       sync.Mutex
	began       time.Time // of now, half an hour at most after before
	now, before heard[time.Duration]
}

const halfSpent = 30 * time.Minute

func (s *spent) add(sender string, d time.Duration) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.forget()
	*s.now.from(sender) += d
}

// forget drops what was longer ago.
func (s *spent) forget() {
	switch age := time.Since(s.began); {
	case age > 2*halfSpent:
		s.began, s.before, s.now = time.Now(), heard[time.Duration]{}, heard[time.Duration]{}
	case age > halfSpent:
		s.began, s.before, s.now = s.began.Add(halfSpent), s.now, heard[time.Duration]{}
	}
}

// all gives, by UID, what goes before the turn of mails: the time of their senders.
func (s *spent) all(some []candidate) map[mailbox.UID]time.Duration {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.forget()
	of := make(map[mailbox.UID]time.Duration, len(some))
	for _, c := range some {
		d := s.now.look(c.sender) + s.before.look(c.sender)
		if c.known {
			d -= ahead
		}
		of[c.mail.UID] = d
	}
	return of
}
