package access

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/schemas/events"
)

// knows is a store of one tenant with a user and projects, and a key whose terms and owner are changed.
func knows(change func(k *events.Key, u *events.User)) *Store {
	s := NewStore()
	k, u := &events.Key{OwnerUserID: "u", Environment: "test", Prefix: "p", SecretSHA256: hash("secret"), Financial: true},
		&events.User{Name: "U", Active: true}
	if change != nil {
		change(k, u)
	}
	for _, c := range []changed{
		upsert(events.Projects, "t", "1", 1, &events.Project{Name: "One", WorkspaceID: events.Some("w")}),
		upsert(events.Projects, "t", "2", 1, &events.Project{Name: "Two"}),
		upsert(events.Projects, "other", "3", 1, &events.Project{Name: "Three"}),
		upsert(events.Users, "t", "u", 1, u), upsert(events.Users, "other", "u", 1, &events.User{Active: true}),
		upsert(events.Memberships, "t", "m", 1, &events.Membership{UserID: "u", Scope: events.Scope{Tenant: true}, Role: "admin"}),
		upsert(events.Keys, "t", "k", 1, k),
	} {
		s.Apply(c.topic, c.event)
	}
	return s
}

// A key works where all of its terms hold, and looks like one that doesn't exist where any doesn't.
func TestAKeyWorksByItsTerms(t *testing.T) {
	now := time.Date(2026, 5, 12, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		change func(k *events.Key, u *events.User)
		token  string
		works  bool
	}{
		"as it is":              {nil, "pk_test_p_secret", true},
		"expires later":         {func(k *events.Key, _ *events.User) { k.ExpiresAt = events.Some(now.Add(time.Second)) }, "pk_test_p_secret", true},
		"expires now":           {func(k *events.Key, _ *events.User) { k.ExpiresAt = events.Some(now) }, "pk_test_p_secret", false},
		"is revoked":            {func(k *events.Key, _ *events.User) { k.RevokedAt = events.Some(now.Add(-time.Second)) }, "pk_test_p_secret", false},
		"is to be revoked":      {func(k *events.Key, _ *events.User) { k.RevokedAt = events.Some(now.Add(time.Hour)) }, "pk_test_p_secret", false},
		"is of the other world": {func(k *events.Key, _ *events.User) { k.Environment = "live" }, "pk_test_p_secret", false},
		"says the other world":  {func(k *events.Key, _ *events.User) { k.Environment = "live" }, "pk_live_p_secret", false},
		"has an inactive owner": {func(_ *events.Key, u *events.User) { u.Active = false }, "pk_test_p_secret", false},
		"has an unknown owner":  {func(k *events.Key, _ *events.User) { k.OwnerUserID = "nobody" }, "pk_test_p_secret", false},
		"with another secret":   {nil, "pk_test_p_secrets", false},
		"with another prefix":   {nil, "pk_test_q_secret", false},
		"with its hash":         {nil, "pk_test_p_" + hash("secret"), false},
		"has its hash in capitals": {
			func(k *events.Key, _ *events.User) { k.SecretSHA256 = strings.ToUpper(hash("secret")) }, "pk_test_p_secret", true,
		},
		"with a longer secret": {func(k *events.Key, _ *events.User) { k.SecretSHA256 = hash("a_b_c") }, "pk_test_p_a_b_c", true},
	} {
		caller, err := knows(c.change).CallerByKey(c.token, "test", now)
		switch {
		case c.works && (err != nil || caller.Tenant() != "t" || caller.Principal() != "key:k"):
			t.Errorf("a key that %s gives %v, %v", name, caller, err)
		case !c.works && !errors.Is(err, ErrCredentials):
			t.Errorf("a key that %s works", name)
		}
	}
}

// A key's ceilings take from what its owner may see; core stays, and nothing is added. An administrator of the tenant with any ceiling
// is none.
func TestAKeysCeilingsTake(t *testing.T) {
	projects := func(ids ...string) events.Opt[[]string] { return events.Some(ids) }
	for name, c := range map[string]struct {
		change      func(k *events.Key, u *events.User)
		sees        []string
		groups      Groups
		administers bool
	}{
		"none":                 {nil, []string{"1", "2"}, All, true},
		"of projects":          {func(k *events.Key, _ *events.User) { k.ProjectIDs = projects("2", "3", "gone") }, []string{"2"}, All, false},
		"of no projects":       {func(k *events.Key, _ *events.User) { k.ProjectIDs = projects() }, nil, None, false},
		"of the flag":          {func(k *events.Key, _ *events.User) { k.Financial = false }, []string{"1", "2"}, All &^ Financial, false},
		"of groups":            {func(k *events.Key, _ *events.User) { k.Groups = projects("amounts", "bank") }, []string{"1", "2"}, Core | Amounts, false},
		"of no groups":         {func(k *events.Key, _ *events.User) { k.Groups = projects() }, []string{"1", "2"}, Core, false},
		"of groups, not flag":  {func(k *events.Key, _ *events.User) { k.Groups, k.Financial = projects("financial"), false }, []string{"1", "2"}, Core, false},
		"of groups, with flag": {func(k *events.Key, _ *events.User) { k.Groups = projects("financial") }, []string{"1", "2"}, Core | Financial, false},
	} {
		caller, err := knows(c.change).CallerByKey("pk_test_p_secret", "test", time.Now())
		if err != nil {
			t.Fatal(name, err)
		}
		var sees []string
		for _, p := range caller.Projects() {
			sees = append(sees, p.ID)
			if p.Groups != c.groups {
				t.Errorf("ceiling %s: project %s gives %v, want %v", name, p.ID, p.Groups.Names(), c.groups.Names())
			}
		}
		if !slices.Equal(sees, c.sees) || caller.Administers() != c.administers {
			t.Errorf("ceiling %s: it sees %v and administers %v", name, sees, caller.Administers())
		}
		fresh, err := knows(c.change).CallerByKey("pk_test_p_secret", "test", time.Now()) // that hasn't listed them
		if err != nil {
			t.Fatal(name, err)
		}
		for _, id := range []string{"1", "2", "3", "gone"} {
			if _, ok := fresh.Project(id); ok != slices.Contains(c.sees, id) {
				t.Errorf("ceiling %s: project %s is seen: %v", name, id, ok)
			}
		}
	}
}

// Who has signed in is somebody while the user is known and active, in that tenant.
func TestAUserWhoIsNotActiveIsNobody(t *testing.T) {
	for name, c := range map[string]struct {
		user   any // the user's second version
		tenant string
		known  bool
	}{
		"active":            {&events.User{Active: true}, "t", true},
		"inactive":          {&events.User{}, "t", false},
		"deleted":           {nil, "t", false},
		"of another tenant": {&events.User{Active: true}, "elsewhere", false},
	} {
		s := knows(nil)
		change := upsert(events.Users, "t", "u", 2, c.user)
		s.Apply(change.topic, change.event)
		caller, err := s.CallerByUser(c.tenant, "u")
		switch {
		case c.known && (err != nil || caller.Principal() != "user:u"):
			t.Errorf("a user who is %s: %v, %v", name, caller, err)
		case !c.known && !errors.Is(err, ErrCredentials):
			t.Errorf("a user who is %s is somebody", name)
		}
	}
}

// Given two memberships of one reach, then both count, in whatever order they are found, and each reach lists its projects.
func TestMembershipsAddUp(t *testing.T) {
	for name, c := range map[string]struct {
		scope events.Scope
		sees  []string
	}{
		"a tenant":    {events.Scope{Tenant: true}, []string{"1", "2"}},
		"a workspace": {events.Scope{WorkspaceID: events.Some("w")}, []string{"1"}},
		"a project":   {events.Scope{ProjectID: events.Some("1")}, []string{"1"}},
	} {
		for range 20 { // maps have no order
			s := knows(nil)
			for id, role := range map[string]string{"m": "guest", "n": "admin"} {
				change := upsert(events.Memberships, "t", id, 2, &events.Membership{UserID: "u", Scope: c.scope, Role: role})
				s.Apply(change.topic, change.event)
			}
			caller, err := s.CallerByUser("t", "u")
			if err != nil {
				t.Fatal(err)
			}
			var sees []string
			for _, p := range caller.Projects() {
				sees = append(sees, p.ID)
				if p.Groups != All {
					t.Errorf("guest and admin of %s see of project %s %v", name, p.ID, p.Groups.Names())
				}
			}
			if !slices.Equal(sees, c.sees) || caller.Administers() != c.scope.Tenant {
				t.Errorf("guest and admin of %s see %v and administer: %v", name, sees, caller.Administers())
			}
		}
	}
}

// Given another content of a version that is known, then the first counts.
func TestTheFirstContentOfAVersionCounts(t *testing.T) {
	s := knows(nil)
	change := upsert(events.Users, "t", "u", 1, &events.User{})
	s.Apply(change.topic, change.event)
	if _, err := s.CallerByUser("t", "u"); err != nil {
		t.Error(err)
	}
}

// Who administers is an admin of the whole tenant, and nobody else.
func TestWhoAdministers(t *testing.T) {
	for _, c := range []struct {
		scope events.Scope
		role  string
		want  bool
	}{
		{events.Scope{Tenant: true}, "admin", true}, {events.Scope{Tenant: true}, "user", false}, {events.Scope{Tenant: true}, "owner", false},
		{events.Scope{ProjectID: events.Some("1")}, "admin", false}, {events.Scope{WorkspaceID: events.Some("w")}, "admin", false},
	} {
		s := knows(nil)
		change := upsert(events.Memberships, "t", "m", 2, &events.Membership{UserID: "u", Scope: c.scope, Role: c.role})
		s.Apply(change.topic, change.event)
		caller, err := s.CallerByUser("t", "u")
		if err != nil || caller.Administers() != c.want {
			t.Errorf("a %s of %+v administers: %v, %v", c.role, c.scope, caller.Administers(), err)
		}
	}
}
