package reader

import (
	"container/list"
	"sync"
)

// stateCache keeps values that were made from a state of something, named by a text. In another state what is kept does
// not count: so a value is never older than the state that its user has just read. The least recently used go first.
type stateCache[K comparable, V any] struct {
	limit int // of all sizes together

	mu    sync.Mutex
	size  int
	byKey map[K]*list.Element
	used  *list.List // of *cached[K, V], the most recently used in front
}

type cached[K comparable, V any] struct {
	key   K
	state string
	value V
	size  int
}

func newStateCache[K comparable, V any](limit int) *stateCache[K, V] {
	return &stateCache[K, V]{limit: limit, byKey: make(map[K]*list.Element), used: list.New()}
}

// get returns the value that is kept for the key, if it is of this state.
func (c *stateCache[K, V]) get(state string, key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok || e.Value.(*cached[K, V]).state != state {
		return value, false
	}
	c.used.MoveToFront(e)
	return e.Value.(*cached[K, V]).value, true
}

// latest returns the value that is kept for the key, of whatever state: it may no longer be right.
func (c *stateCache[K, V]) latest(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	return e.Value.(*cached[K, V]).value, true
}

// put keeps a value in place of the one before, unless it is larger than all that may be kept.
func (c *stateCache[K, V]) put(state string, key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.drop(e)
	}
	if size > c.limit {
		return
	}
	c.byKey[key] = c.used.PushFront(&cached[K, V]{key, state, value, size})
	for c.size += size; c.size > c.limit; {
		c.drop(c.used.Back())
	}
}

func (c *stateCache[K, V]) drop(e *list.Element) {
	gone := c.used.Remove(e).(*cached[K, V])
	delete(c.byKey, gone.key)
	c.size -= gone.size
}
