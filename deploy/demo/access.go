package demo

import (
	"fmt"

	"tallyhouse/schemas/events"
)

// The people, the same for all options, with ids that are easy to give to `tallyhouse keys create --owner`:
//
//	ada   admin of the whole tenant
//	ben   user of the workspace ws-wien, guest on the second project
//	gus   guest on the first two projects
//	cleo  user on the first and the third project
//	dora  accountant: user of the whole tenant
//	emil  left the company: inactive, his admin membership gives nothing
//	nora  known, but without any membership
var people = []struct{ id, name string }{
	{"ada", "Ada Lindtaler"}, {"ben", "Ben Wagramer"}, {"gus", "Gus Haselgrubner"}, {"cleo", "Cleo Thalhammerl"},
	{"dora", "Dora Ybbstaler"}, {"emil", "Emil Kaltenbrucker"}, {"nora", "Nora Eibensteger"},
}

func (w *world) addAccess() {
	for _, u := range people {
		data := events.User{Name: u.name, Email: events.Some(u.id + "@" + slug(w.Tenant) + ".example"), Active: true}
		w.schedule.add(change{topic: events.Users, id: u.id, version: 1, at: w.start, data: func() any { return &data }})
		if u.id == "emil" {
			left := data
			left.Active = false
			w.schedule.add(change{topic: events.Users, id: u.id, version: 2, at: w.end - 90*day,
				data: func() any { return &left }})
		}
	}
	tenant := events.Scope{Tenant: true}
	w.member("ada", "admin", tenant)
	w.member("dora", "user", tenant)
	w.member("emil", "admin", tenant)
	w.member("ben", "user", events.Scope{WorkspaceID: events.Some("ws-wien")})
	w.member("ben", "guest", w.scopeOf(1))
	w.member("gus", "guest", w.scopeOf(0))
	w.member("gus", "guest", w.scopeOf(1))
	w.member("cleo", "user", w.scopeOf(0))
	w.member("cleo", "user", w.scopeOf(2))
}

// scopeOf is one project, by its position; the list repeats where there are fewer.
func (w *world) scopeOf(n int) events.Scope {
	return events.Scope{ProjectID: events.Some(w.projects[n%len(w.projects)].id)}
}

func (w *world) member(user, role string, scope events.Scope) {
	w.memberships++
	data := events.Membership{UserID: user, Scope: scope, Role: role}
	w.schedule.add(change{
		topic: events.Memberships, id: fmt.Sprintf("mb-%02d", w.memberships), version: 1, at: w.start,
		data: func() any { return &data },
	})
}
