package mail

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"tallyhouse/ingest/mail/mailbox"
)

// maxSenders bounds the senders of whom something is remembered.
const maxSenders = 10_000

// heard remembers something of each sender. Of more than maxSenders it forgets the one who has been silent for longest: anybody can
// write any number of addresses, and must not make it forget who sends meanwhile.
type heard[V any] struct {
	of     map[string]*list.Element
	recent *list.List // of *remembered[V]; who has been silent for longest is in front
}

type remembered[V any] struct {
	sender string
	what   V
}

// from gives what is remembered of a sender who is heard now.
func (h *heard[V]) from(sender string) *V {
	if h.of == nil {
		h.of, h.recent = map[string]*list.Element{}, list.New()
	}
	element, known := h.of[sender]
	if !known {
		if h.recent.Len() >= maxSenders {
			first := h.recent.Front()
			delete(h.of, first.Value.(*remembered[V]).sender)
			h.recent.Remove(first)
		}
		element = h.recent.PushBack(&remembered[V]{sender: sender})
		h.of[sender] = element
	}
	h.recent.MoveToBack(element)
	return &element.Value.(*remembered[V]).what
}

// look gives what is remembered of a sender; he isn't heard.
func (h *heard[V]) look(sender string) (what V) {
	if element, known := h.of[sender]; known {
		what = element.Value.(*remembered[V]).what
	}
	return what
}

// quota counts the mails of each sender by their arrival.
type quota struct {
	mutex sync.Mutex
	sent  heard[mailsOf]
}

// mailsOf are the mails that count for a sender, as far as they are remembered.
type mailsOf struct {
	mails  []counted // ascending
	behind time.Time // arrival of the one of them that was looked at last and came long before the newest
}

type counted struct {
	uid     mailbox.UID
	arrived time.Time
}

// nearby is how long before or after another one those arrived that are remembered for it. An hour would do if mails were looked at
// in the very order of their arrival.
const nearby = 2 * time.Hour

// use counts a mail, once, unless an hour would have more of its sender then than may be; most 0: any number. New mails are looked at
// between those that have waited for long, so what is near the newest is remembered, and what is near the last of the others: six
// times as many as may be in an hour at most.
func (q *quota) use(sender string, uid mailbox.UID, arrived time.Time, most int) bool {
	if most == 0 {
		return true
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	s := q.sent.from(sender)
	s.forget(arrived)
	if slices.ContainsFunc(s.mails, func(c counted) bool { return c.uid == uid }) {
		return true
	}
	at, _ := slices.BinarySearchFunc(s.mails, arrived, func(c counted, t time.Time) int { return c.arrived.Compare(t) })
	with := slices.Insert(slices.Clone(s.mails), at, counted{uid, arrived})
	for first := max(0, at-most); first <= at && len(with)-first > most; first++ {
		if with[first+most].arrived.Sub(with[first].arrived) < time.Hour {
			return false
		}
	}
	s.mails = with
	return true
}

// forget drops what a mail of that arrival needs no more.
func (s *mailsOf) forget(arrived time.Time) {
	if len(s.mails) == 0 {
		return
	}
	newest, other := s.mails[len(s.mails)-1].arrived, arrived
	if arrived.After(newest) {
		newest, other = arrived, newest
	}
	if newest.Sub(other) >= time.Hour {
		s.behind = other
	}
	s.mails = slices.DeleteFunc(s.mails, func(c counted) bool {
		return newest.Sub(c.arrived) >= nearby && s.behind.Sub(c.arrived).Abs() >= nearby
	})
}

// clear forgets all: the UIDs mean other mails now.
func (q *quota) clear() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.sent = heard[mailsOf]{}
}
