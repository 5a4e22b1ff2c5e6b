package reader

import (
	"container/list"
	"sync"
)

// stateCache keeps values that were made from one state of a table, named by its positions. With another state nothing
// of what is kept counts: so a value is never older than the state that its user has just read. The least recently used
// go first.
type stateCache[K comparable, V any] struct {
	limit int // of all sizes together

	mu    sync.Mutex
	state string
	size  int
	byKey map[K]*list.Element
	used  *list.List // of *cached[K, V], the most recently used in front
}

type cached[K comparable, V any] struct {
	key   K
	value V
	size  int
}

func newStateCache[K comparable, V any](limit int) *stateCache[K, V] {
	return &stateCache[K, V]{limit: limit, byKey: make(map[K]*list.Element), used: list.New()}
}

// get returns the value that is kept for the key in this state.
func (c *stateCache[K, V]) get(state string, key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enter(state)
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	c.used.MoveToFront(e)
	return e.Value.(*cached[K, V]).value, true
}

// put keeps a value, unless it is larger than all that may be kept.
func (c *stateCache[K, V]) put(state string, key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enter(state)
	if _, ok := c.byKey[key]; ok || size > c.limit {
		return
	}
	c.byKey[key] = c.used.PushFront(&cached[K, V]{key, value, size})
	for c.size += size; c.size > c.limit; {
		last := c.used.Remove(c.used.Back()).(*cached[K, V])
		delete(c.byKey, last.key)
		c.size -= last.size
	}
}

// enter drops everything when the state is another.
func (c *stateCache[K, V]) enter(state string) {
	if c.state == state {
		return
	}
	c.state, c.size = state, 0
	clear(c.byKey)
	c.used.Init()
}
