package access

import (
	"sync"

	"tallyhouse/schemas/events"
)

// Topics are the topics whose entities decide about access: projects, because a membership may hold for a workspace's
// projects and because nothing is visible before its project exists.
func Topics() []events.Topic {
	return []events.Topic{events.Projects, events.Users, events.Memberships, events.Keys}
}

// Store holds the newest state of every entity that decides about access. Its methods may be called from several
// goroutines.
type Store struct {
	mu sync.RWMutex

	projects    map[entityID]versioned[events.Project]
	users       map[entityID]versioned[events.User]
	memberships map[entityID]versioned[events.Membership]
	keys        map[entityID]versioned[events.Key]

	// What follows is found in the maps above, kept for look-ups.
	tenantProjects  map[string]map[string]struct{}   // tenant -> project ids
	userMemberships map[entityID]map[string]struct{} // user -> membership ids
	prefixes        map[string]map[entityID]struct{} // key prefix -> keys
}

// entityID names an entity: ids are unique within their tenant.
type entityID struct{ tenant, id string }

// versioned is an entity's newest state; data is nil when it was deleted, so that older messages cannot revive it.
type versioned[T any] struct {
	version int64
	data    *T
}

// NewStore returns a store that knows nobody.
func NewStore() *Store {
	return &Store{
		projects:        make(map[entityID]versioned[events.Project]),
		users:           make(map[entityID]versioned[events.User]),
		memberships:     make(map[entityID]versioned[events.Membership]),
		keys:            make(map[entityID]versioned[events.Key]),
		tenantProjects:  make(map[string]map[string]struct{}),
		userMemberships: make(map[entityID]map[string]struct{}),
		prefixes:        make(map[string]map[entityID]struct{}),
	}
}

// Apply takes one change of an entity. Versions decide: what is not newer than what is known changes nothing, so
// changes may come in any order and from any partition. Changes of other topics are ignored.
func (s *Store) Apply(topic events.Topic, e events.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := entityID{e.TenantID, e.ID}
	switch topic {
	case events.Projects:
		if before, after, ok := replace(s.projects, id, e); ok {
			move(s.tenantProjects, id.tenant, id.id, before != nil, after != nil)
		}
	case events.Users:
		replace(s.users, id, e)
	case events.Memberships:
		if before, after, ok := replace(s.memberships, id, e); ok {
			if before != nil {
				move(s.userMemberships, entityID{id.tenant, before.UserID}, id.id, true, false)
			}
			if after != nil {
				move(s.userMemberships, entityID{id.tenant, after.UserID}, id.id, false, true)
			}
		}
	case events.Keys:
		if before, after, ok := replace(s.keys, id, e); ok {
			if before != nil {
				move(s.prefixes, before.Prefix, id, true, false)
			}
			if after != nil {
				move(s.prefixes, after.Prefix, id, false, true)
			}
		}
	}
}

// replace puts the event's state in the place of an older one and returns both; ok is false when it is not newer.
func replace[T any](in map[entityID]versioned[T], id entityID, e events.Event) (before, after *T, ok bool) {
	old := in[id]
	if e.Version <= old.version {
		return nil, nil, false
	}
	after, _ = e.Data.(*T)
	in[id] = versioned[T]{version: e.Version, data: after}
	return old.data, after, true
}

// move keeps an index: the value leaves the set at key, or enters it.
func move[K, V comparable](index map[K]map[V]struct{}, key K, value V, leaves, enters bool) {
	set := index[key]
	switch {
	case enters && set == nil:
		index[key] = map[V]struct{}{value: {}}
	case enters:
		set[value] = struct{}{}
	case leaves:
		if delete(set, value); len(set) == 0 {
			delete(index, key)
		}
	}
}
