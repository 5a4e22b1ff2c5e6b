package api_test

import (
	"bytes"
	"errors"
	"net/http"
	"testing"

	"tallyhouse/api/access"
	"tallyhouse/api/session"
	"tallyhouse/schemas/events"
)

// Given people who have signed in at another part of the process, then the API answers each as it would answer their session token:
// what they may see at that moment, and nothing once they are inactive.
func TestPeopleWhoHaveSignedInAreAnsweredAsTheirTokens(t *testing.T) {
	w := newWorld(t)
	w.project("p1", events.Project{})
	w.project("p2", events.Project{})
	w.user("admin", adminKey, "admin")
	w.send(events.Users, tenant, "guest", &events.User{Name: "guest", Active: true})
	w.member("guest", events.Scope{ProjectID: events.Some("p2")}, "guest")
	w.key("guest", guestKey, func(*events.Key) {})
	w.known(adminKey)
	w.known(guestKey)
	ask := func(of, user, target string) (int, []byte) {
		return w.server.Ask(t.Context(), session.User{Tenant: of, ID: user}, target)
	}

	for user, key := range map[string]string{"admin": adminKey, "guest": guestKey} {
		for _, target := range []string{"/v0/projects", "/v0/projects/p1", "/v0/projects/p2", "/v0/projects/p2/budget", "/v0/nothing"} {
			status, body := ask(tenant, user, target)
			want := w.get(key, target)
			if status != want.status || status == http.StatusOK && !bytes.Equal(body, want.body) {
				t.Errorf("%s is answered %s with %d %s, their key with %d %s", user, target, status, body, want.status, want.body)
			}
		}
	}
	for _, stranger := range []session.User{{Tenant: "other", ID: "admin"}, {Tenant: tenant, ID: "nobody"}, {}} {
		if status, body := ask(stranger.Tenant, stranger.ID, "/v0/projects"); status != http.StatusUnauthorized {
			t.Errorf("%v is answered with %d %s", stranger, status, body)
		}
	}
	w.send(events.Users, tenant, "guest", &events.User{Name: "guest"})
	w.eventually(knownWithin, "the inactive user is nobody", func() bool {
		status, _ := ask(tenant, "guest", "/v0/projects")
		_, err := w.server.Caller(session.User{Tenant: tenant, ID: "guest"})
		return status == http.StatusUnauthorized && errors.Is(err, access.ErrCredentials)
	})
}
