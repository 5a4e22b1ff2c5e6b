package reader

import (
	"container/list"
	"sync"

	"tallyhouse/analytics"
)

// maxCachedNodes bounds the structures that are kept, counted in nodes: some 100 MB.
const maxCachedNodes = 200_000

// structureCache keeps structures that belong to one state of the table of budget nodes. The least recently used go first.
type structureCache struct {
	limit int

	mu    sync.Mutex
	state string // positions; with another state nothing of what is kept counts
	nodes int
	byKey map[structureKey]*list.Element
	used  *list.List // of *cachedStructure, the most recently used in front
}

type structureKey struct {
	tenant  string
	project ProjectRef
}

type cachedStructure struct {
	key       structureKey
	structure *analytics.Structure
	nodes     int
}

func newStructureCache(limit int) *structureCache {
	return &structureCache{limit: limit, byKey: make(map[structureKey]*list.Element), used: list.New()}
}

// get returns what is kept for this state, and the projects for which nothing is.
func (c *structureCache) get(state, tenant string, projects []ProjectRef) (found map[string]*analytics.Structure, missing []ProjectRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enter(state)
	found = make(map[string]*analytics.Structure, len(projects))
	for _, p := range projects {
		e, ok := c.byKey[structureKey{tenant, p}]
		if !ok {
			missing = append(missing, p)
			continue
		}
		c.used.MoveToFront(e)
		found[p.ID] = e.Value.(*cachedStructure).structure
	}
	return found, missing
}

// put keeps a structure, unless it is too large.
func (c *structureCache) put(state, tenant string, project ProjectRef, structure *analytics.Structure, nodes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enter(state)
	key := structureKey{tenant, project}
	if _, ok := c.byKey[key]; ok || nodes > c.limit {
		return
	}
	c.byKey[key] = c.used.PushFront(&cachedStructure{key, structure, nodes})
	for c.nodes += nodes; c.nodes > c.limit; {
		last := c.used.Remove(c.used.Back()).(*cachedStructure)
		delete(c.byKey, last.key)
		c.nodes -= last.nodes
	}
}

// enter drops everything when the state is another.
func (c *structureCache) enter(state string) {
	if c.state == state {
		return
	}
	c.state, c.nodes = state, 0
	clear(c.byKey)
	c.used.Init()
}
