package ratelimit

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"time"
)

// Memory counts in the memory of this process. It holds at most Policy.Events instants of each key, no key whose events
// have all left the window, and no more keys than it was made for: beyond them it forgets the key that has been quiet
// for longest.
type Memory struct {
	policy  Policy
	maxKeys int
	clock   func() time.Time
	began   time.Time

	mu     sync.Mutex
	keys   map[string]*list.Element
	recent *list.List // of *accepted; the one that had its last event first is in front
}

// accepted are the events of one key, ascending, by the time since the store was made.
type accepted struct {
	key string
	at  []time.Duration
}

// NewMemory makes a store of this many keys at most. The clock is the machine's, but for tests.
func NewMemory(policy Policy, maxKeys int, clock func() time.Time) *Memory {
	return &Memory{policy: policy, maxKeys: maxKeys, clock: clock, began: clock(),
		keys: make(map[string]*list.Element), recent: list.New()}
}

// Take asks for one event of the key. It never fails.
func (m *Memory) Take(_ context.Context, key string) (Decision, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock().Sub(m.began)
	left := now - m.policy.Window // what happened up to here has left the window
	m.forget(left)

	element, known := m.keys[key]
	if !known {
		if m.recent.Len() >= m.maxKeys {
			m.remove(m.recent.Front())
		}
		element = m.recent.PushBack(&accepted{key: key})
		m.keys[key] = element
	}
	of := element.Value.(*accepted)
	first := slices.IndexFunc(of.at, func(at time.Duration) bool { return at > left })
	if first > 0 {
		of.at = slices.Delete(of.at, 0, first)
	}
	if len(of.at) >= m.policy.Events {
		return Decision{Next: of.at[0] - left}, nil
	}
	of.add(now, m.policy.Events)
	m.recent.MoveToBack(element)
	return Decision{Accepted: true, Remaining: m.policy.Events - len(of.at), Next: of.at[0] - left}, nil
}

// forget removes the keys whose last event has left the window: they are in front.
func (m *Memory) forget(left time.Duration) {
	for e := m.recent.Front(); e != nil; e = m.recent.Front() {
		of := e.Value.(*accepted)
		if of.at[len(of.at)-1] > left {
			return
		}
		m.remove(e)
	}
}

func (m *Memory) remove(e *list.Element) {
	delete(m.keys, e.Value.(*accepted).key)
	m.recent.Remove(e)
}

// add keeps an instant. Room grows with what is used, and never beyond the most that can be.
func (a *accepted) add(at time.Duration, most int) {
	if len(a.at) == cap(a.at) {
		larger := make([]time.Duration, len(a.at), min(most, max(4, 2*cap(a.at))))
		copy(larger, a.at)
		a.at = larger
	}
	a.at = append(a.at, at)
}
