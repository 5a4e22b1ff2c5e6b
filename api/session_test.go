package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"tallyhouse/api"
	"tallyhouse/api/session/sessiontest"
	"tallyhouse/schemas/events"
)

// signedIn lets the requests of the world go to one more instance, which takes the tokens of an issuer.
func (w *world) signedIn(change ...func(*api.Options)) *sessiontest.Issuer {
	w.Helper()
	issuer := sessiontest.New(w, sessiontest.NewKey(w, "1", jose.ES256))
	_, w.url = w.start(append([]func(*api.Options){func(o *api.Options) { o.Issuer = issuer.Trust() }}, change...)...)
	return issuer
}

func TestASessionTokenGivesWhatItsUserMaySee(t *testing.T) {
	// Given users of one tenant, and of another one, and records of two projects
	w := adminWorld(t)
	w.project("P2", events.Project{})
	w.send(events.Users, tenant, "U-guest", &events.User{Name: "Guest", Active: true})
	w.member("U-guest", events.Scope{ProjectID: some("P2")}, "guest")
	w.send(events.Users, tenant, "U-left", &events.User{Name: "Left"})
	w.send(events.Users, "other", "U-admin", &events.User{Name: "Namesake", Active: true})
	w.records(record{id: "R1", project: "P1", currency: "EUR", net: some(int64(1))},
		record{id: "R2", project: "P2", currency: "EUR", net: some(int64(2))})
	w.seen(adminKey, "P1", "P2")
	issuer := w.signedIn()
	bearer := func(user string) string { return issuer.Token(tenant, user) }

	// Then an admin sees what the admin's key sees, the financial group included
	for _, path := range []string{"/v0/projects", "/v0/records", "/v0/records/R1", "/v0/projects/P1/facilities"} {
		byKey, byToken := w.get(adminKey, path).want(t, 200, ""), w.get(bearer("U-admin"), path).want(t, 200, "")
		if string(byKey.body) != string(byToken.body) {
			t.Errorf("%s: %s by key, %s by token", path, byKey.body, byToken.body)
		}
	}
	// And a guest the guest's projects and groups
	w.get(bearer("U-guest"), "/v0/records/R1").want(t, 404, "not-found")
	if r := w.get(bearer("U-guest"), "/v0/records/R2").want(t, 200, ""); r.json["net"] != nil || r.json["id"] != "R2" {
		t.Errorf("got %s", r.body)
	}
	// And a namesake in another tenant nothing of this one
	if r := w.get(issuer.Token("other", "U-admin"), "/v0/projects").want(t, 200, ""); len(r.items("id")) != 0 {
		t.Errorf("got %s", r.body)
	}
	// And nobody anything who isn't an active user, or whose token isn't in order, and all of them look alike.
	wrong := map[string]string{
		"an inactive user":  bearer("U-left"),
		"an unknown user":   bearer("U-none"),
		"an unknown tenant": issuer.Token("none", "U-admin"),
		"an expired token": sessiontest.Sign(t, issuer.First(),
			issuer.Claims(tenant, "U-admin", map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), nil),
		"a stranger's": sessiontest.Sign(t, sessiontest.NewKey(t, "1", jose.ES256), issuer.Claims(tenant, "U-admin", nil), nil),
		"no token":     "eyJ.eyJ.x",
		"a wrong key":  "pk_test_admin_wrong",
	}
	var body string
	for name, token := range wrong {
		r := w.get(token, "/v0/projects").want(t, 401, "invalid-credentials")
		if challenge := r.header.Get("WWW-Authenticate"); challenge != `Bearer realm="tallyhouse", error="invalid_token"` {
			t.Errorf("%s: WWW-Authenticate %q", name, challenge)
		}
		this := strings.ReplaceAll(string(r.body), r.header.Get("X-Request-Id"), "")
		if body != "" && this != body {
			t.Errorf("%s: %s differs from %s", name, this, body)
		}
		body = this
	}
	if log := w.log.String(); strings.Contains(log, "eyJ") {
		t.Error("a token stands in the log")
	}
	// And a user who is set inactive is out with the same token.
	token := bearer("U-guest")
	w.send(events.Users, tenant, "U-guest", &events.User{Name: "Guest"})
	w.eventually(knownWithin, "the guest is out", func() bool { return w.get(token, "/v0/projects").status == 401 })
}

func TestACursorIsOfTheUserNotOfTheToken(t *testing.T) {
	// Given a first page
	w := adminWorld(t)
	w.records(record{id: "R1", project: "P1"}, record{id: "R2", project: "P1"})
	issuer := w.signedIn()
	first := w.get(issuer.Token(tenant, "U-admin"), "/v0/records?limit=1").want(t, 200, "")
	// When the user comes back with another token, by another key of the issuer
	issuer.Rotate(sessiontest.NewKey(t, "2", jose.EdDSA))
	second := w.get(issuer.Token(tenant, "U-admin"), "/v0/records?limit=1&cursor="+first.cursor()).want(t, 200, "")
	// Then the list goes on
	if ids := second.items("id"); len(ids) != 1 || ids[0] != "R2" {
		t.Errorf("got %v", ids)
	}
	// But not for the user's own key: that is another caller.
	w.get(adminKey, "/v0/records?limit=1&cursor="+first.cursor()).want(t, 400, "invalid-cursor")
}

// Given two tenants that have everything by the same name, a user, a key, a project and its records, then a cursor of one is refused by the
// other as any foreign one, for lists and for changes.
func TestACursorIsOfOneTenant(t *testing.T) {
	w := adminWorld(t)
	w.records(record{id: "R1", project: "P1"}, record{id: "R2", project: "P1"})
	w.send(events.Users, "other", "U-admin", &events.User{Name: "Namesake", Active: true})
	w.send(events.Memberships, "other", "M", &events.Membership{UserID: "U-admin", Scope: events.Scope{Tenant: true}, Role: "admin"})
	w.send(events.Projects, "other", "P1", &events.Project{Name: "P1", Currency: "EUR"})
	secret := sha256.Sum256([]byte("secret"))
	keyOf := func(of, prefix string) string { // its id is the same, too
		w.send(events.Keys, of, "namesake", &events.Key{OwnerUserID: "U-admin", Environment: environment, Prefix: prefix,
			SecretSHA256: hex.EncodeToString(secret[:])})
		key := "pk_" + environment + "_" + prefix + "_secret"
		w.seen(key, "P1")
		return key
	}
	issuer := w.signedIn()
	for name, of := range map[string][2]string{
		"a user's": {issuer.Token(tenant, "U-admin"), issuer.Token("other", "U-admin")},
		"a key's":  {keyOf(tenant, "own"), keyOf("other", "foreign")},
	} {
		t.Run(name, func(t *testing.T) {
			own, foreign := of[0], of[1]
			for _, list := range []string{"/v0/records?limit=1", "/v0/records?projectId=P1&limit=1"} {
				next := list + "&cursor=" + w.get(own, list).want(t, 200, "").cursor()
				w.get(foreign, next).want(t, 400, "invalid-cursor")
				w.get(own, next).want(t, 200, "")
			}
			next := "changes?cursor=" + w.export(own, "records.ndjson").whole(t, 2).trailer.Get("Tallyhouse-Cursor")
			w.export(foreign, next).refused(t, 400, "invalid-cursor")
			w.export(own, next).whole(t, 2) // the test stored no positions, so both are told of again
		})
	}
}

func TestKeysWorkWhileTheIssuerIsAway(t *testing.T) {
	// Given an issuer that was never there
	w := adminWorld(t)
	issuer := sessiontest.New(t, sessiontest.NewKey(t, "1", jose.ES256))
	issuer.Answer(func(answer http.ResponseWriter, _ *http.Request) { http.Error(answer, "", http.StatusBadGateway) })
	_, w.url = w.start(func(o *api.Options) { o.Issuer = issuer.Trust() })
	// Then the API is ready, keys work, and of session tokens nothing can be said
	w.get("", "/readyz").want(t, 200, "")
	w.get(adminKey, "/v0/projects").want(t, 200, "")
	w.get(issuer.Token(tenant, "U-admin"), "/v0/projects").want(t, 500, "internal-error")
	w.get("neither key nor token", "/v0/projects").want(t, 401, "invalid-credentials")
	// And when it comes, they work.
	issuer.Answer(nil)
	w.eventually(readyWithin, "tokens work", func() bool { return w.get(issuer.Token(tenant, "U-admin"), "/v0/projects").status == 200 })
}
