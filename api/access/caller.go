package access

import (
	"slices"
	"strings"

	"tallyhouse/schemas/events"
)

// Caller is who sent a request and what they may see at that moment. It does not change, and belongs to one request.
type Caller struct {
	tenant    string
	principal string

	store *Store
	// Groups by the reach of a membership; the strongest role wins.
	everywhere  Groups
	administers bool // the whole tenant
	byProject   map[string]Groups
	byWorkspace map[string]Groups

	ceiling  Groups              // of a key; All for a user
	only     map[string]struct{} // a key's projects; nil when it has no such ceiling
	asked    map[string]Project  // what Project has returned, empty where there was none
	projects []Project
	listed   bool
}

// Project is a project that a caller may see.
type Project struct {
	ID     string
	Groups Groups // never empty
	events.Project
}

// caller collects a user's memberships. The store is locked.
func (s *Store) caller(user entityID) *Caller {
	c := &Caller{tenant: user.tenant, store: s, ceiling: All}
	for id := range s.userMemberships[user] {
		m := s.memberships[entityID{user.tenant, id}].data
		groups := groupsOf(m.Role)
		switch {
		case m.Scope.Tenant:
			c.everywhere |= groups
			c.administers = c.administers || m.Role == roleAdmin
		case m.Scope.ProjectID.Ok:
			c.byProject = include(c.byProject, m.Scope.ProjectID.V, groups)
		case m.Scope.WorkspaceID.Ok:
			c.byWorkspace = include(c.byWorkspace, m.Scope.WorkspaceID.V, groups)
		}
	}
	return c
}

func include(in map[string]Groups, at string, groups Groups) map[string]Groups {
	if in == nil {
		in = make(map[string]Groups)
	}
	in[at] |= groups
	return in
}

// limit takes from a caller what their key does not give: core stays, financial must have been granted to the key.
func (c *Caller) limit(k *events.Key) {
	if k.Groups.Ok {
		c.ceiling = groupsNamed(k.Groups.V) | Core
	}
	if !k.Financial {
		c.ceiling &^= Financial
	}
	if k.ProjectIDs.Ok {
		c.only = make(map[string]struct{}, len(k.ProjectIDs.V))
		for _, id := range k.ProjectIDs.V {
			c.only[id] = struct{}{}
		}
	}
}

// Tenant is the tenant whose data the caller may see.
func (c *Caller) Tenant() string { return c.tenant }

// Principal names the key or the user within the tenant, the same for as long as it exists.
func (c *Caller) Principal() string { return c.principal }

// Administers reports whether the caller is an administrator of the whole tenant, without a ceiling of projects or groups.
func (c *Caller) Administers() bool { return c.administers && c.only == nil && c.ceiling == All }

// Project returns what the caller may see of a project, as it is at the first call that asks; false when it does not
// exist for them.
func (c *Caller) Project(id string) (Project, bool) {
	if p, asked := c.asked[id]; asked {
		return p, p.Groups != None
	}
	if c.listed {
		at, found := slices.BinarySearchFunc(c.projects, id,
			func(p Project, id string) int { return strings.Compare(p.ID, id) })
		if !found {
			return Project{}, false
		}
		return c.projects[at], true
	}
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	p, ok := c.project(id)
	if c.asked == nil {
		c.asked = make(map[string]Project)
	}
	c.asked[id] = p
	return p, ok
}

// Projects lists what the caller may see, ascending by id, as it is at the first call.
func (c *Caller) Projects() []Project {
	if c.listed {
		return c.projects
	}
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	for id := range c.candidates() {
		if p, ok := c.project(id); ok {
			c.projects = append(c.projects, p)
		}
	}
	slices.SortFunc(c.projects, func(a, b Project) int { return strings.Compare(a.ID, b.ID) })
	c.listed = true
	return c.projects
}

// candidates is the smallest set that holds all the caller's projects. The store is locked.
func (c *Caller) candidates() map[string]struct{} {
	switch {
	case c.only != nil:
		return c.only
	case c.everywhere == None && len(c.byWorkspace) == 0:
		own := make(map[string]struct{}, len(c.byProject))
		for id := range c.byProject {
			own[id] = struct{}{}
		}
		return own
	}
	return c.store.tenantProjects[c.tenant]
}

// project is Project with the store locked.
func (c *Caller) project(id string) (Project, bool) {
	if _, ok := c.only[id]; c.only != nil && !ok {
		return Project{}, false
	}
	p := c.store.projects[entityID{c.tenant, id}].data
	if p == nil {
		return Project{}, false
	}
	groups := c.everywhere | c.byProject[id]
	if p.WorkspaceID.Ok {
		groups |= c.byWorkspace[p.WorkspaceID.V]
	}
	if groups &= c.ceiling; groups == None {
		return Project{}, false
	}
	return Project{ID: id, Groups: groups, Project: *p}, true
}
