package desk

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/api/access"
	"tallyhouse/api/desk/signin"
	"tallyhouse/api/session"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

// Every answer, whatever it is of, says what a browser may do with it: load what the desk has and nothing else, run no script that
// stands in a page, show it in no frame of others, and take it for nothing else than it is.
func TestEveryAnswerIsGuarded(t *testing.T) {
	d, _, _ := walked(t, &walkedAPI{})
	patterns := []string{"GET /", "GET /nothing", "GET /signin", "GET /signin/start", "GET /signin/callback", "GET /signin/code/no", "GET /healthz",
		"GET /static/nothing", "POST /signout", "OPTIONS /projects"}
	for _, route := range d.screens() {
		patterns = append(patterns, route.pattern)
	}
	for _, pattern := range patterns {
		header := visits(t, d, pattern).Header()
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin"} {
			if header.Get(name) != want {
				t.Errorf("%s has the %s %q", pattern, name, header.Get(name))
			}
		}
		policy := strings.Split(header.Get("Content-Security-Policy"), "; ")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-src 'self'", "form-action 'self'",
			"base-uri 'none'", "frame-ancestors 'none'"} {
			if !slices.Contains(policy, want) {
				t.Errorf("%s has the policy %q, without %s", pattern, policy, want)
			}
		}
	}
}

// A form counts with the token of its session and from a page of the desk; otherwise nothing of it is looked at.
func TestFormsOfOthersAreRefused(t *testing.T) {
	a := &walkedAPI{}
	d, _, _ := walked(t, a)
	signed := httptest.NewRecorder()
	if err := d.cookies.Begin(signed, session.User{Tenant: "demo", ID: "ada"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, route := range append(d.screens(), route{pattern: "POST " + signOutPath}) {
		method, path, _ := strings.Cut(strings.ReplaceAll(route.pattern, "{id}", "1"), " ")
		if method != http.MethodPost {
			continue
		}
		send := func(token func(signin.Session) string, site string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(method, path, nil)
			r.Header.Set("Cookie", signed.Header().Get("Set-Cookie"))
			s, _ := d.cookies.Read(r, time.Now())
			r.Header.Set("X-CSRF-Token", token(s))
			r.Header.Set("Sec-Fetch-Site", site)
			out := httptest.NewRecorder()
			d.Handler().ServeHTTP(out, r)
			return out
		}
		own := func(s signin.Session) string { return s.Token }
		for name, answer := range map[string]*httptest.ResponseRecorder{
			"without a token": send(func(signin.Session) string { return "" }, "same-origin"),
			"with another's":  send(func(s signin.Session) string { return s.Token + "x" }, "same-origin"),
			"of another site": send(own, "cross-site"), "of a neighbour's site": send(own, "same-site"),
		} {
			if answer.Code != http.StatusForbidden || len(answer.Result().Cookies()) > 0 {
				t.Errorf("%s %s is answered with %d", path, name, answer.Code)
			}
		}
		if len(a.admitted) > 0 {
			t.Errorf("%s is looked at", path)
			a.admitted = nil
		}
		if answer := send(own, "same-origin"); answer.Code == http.StatusForbidden {
			t.Errorf("the desk's own form to %s is refused", path)
		}
		a.admitted = nil
	}
}

// Given an address that the desk has, when it is asked for by a method that it doesn't take, then that is said, with those that it takes,
// to whoever asks; an address that it doesn't have is looked for by people who have signed in alone. Other sites are refused before.
func TestAPageSaysWhichMethodsItTakes(t *testing.T) {
	d, _, _ := walked(t, &walkedAPI{})
	for pattern, allow := range map[string]string{
		"POST /projects": "GET, HEAD", "DELETE /projects/1/budget": "GET, HEAD", "OPTIONS /projects": "GET, HEAD", "POST /healthz": "GET, HEAD",
		"POST /": "GET, HEAD", "PUT /static/nothing": "GET, HEAD", "POST /signin": "GET, HEAD", "GET /signout": "POST", "HEAD /signout": "POST",
		"GET /inbox/1/confirmation": "POST", "PUT /inbox/1/confirmation": "POST", "POST /signin/code/no": "GET", "HEAD /signin/callback": "GET",
	} {
		method, path, _ := strings.Cut(pattern, " ")
		stranger := httptest.NewRecorder()
		d.Handler().ServeHTTP(stranger, httptest.NewRequest(method, path, nil))
		for who, answer := range map[string]*httptest.ResponseRecorder{"who has signed in": visits(t, d, pattern), "a stranger": stranger} {
			if answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != allow {
				t.Errorf("%s is answered to %s with %d, Allow %q, want %q", pattern, who, answer.Code, answer.Header().Get("Allow"), allow)
			}
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if answer := visits(t, d, method+" /nothing"); answer.Code != http.StatusNotFound {
			t.Errorf("%s of nothing is answered with %d", method, answer.Code)
		}
	}
	foreign := httptest.NewRequest(http.MethodPost, "/projects", nil)
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	answer := httptest.NewRecorder()
	if d.Handler().ServeHTTP(answer, foreign); answer.Code != http.StatusForbidden {
		t.Errorf("another site's request is answered with %d", answer.Code)
	}
}

// callerAPI admits a person who may see what a store says.
type callerAPI struct {
	walkedAPI
	caller *access.Caller
}

func (a *callerAPI) Caller(session.User) (*access.Caller, error) { return a.caller, nil }

// callerOf is a person of a company of two projects, with one membership; without a role they have none.
func callerOf(t *testing.T, scope events.Scope, role string) *access.Caller {
	t.Helper()
	store := access.NewStore()
	put := func(topic events.Topic, id string, data any) {
		store.Apply(topic, events.Event{Envelope: events.Envelope{ID: id, TenantID: "demo", Version: 1, Op: events.Upsert}, Data: data})
	}
	put(events.Projects, "1", &events.Project{Name: "One"})
	put(events.Projects, "2", &events.Project{Name: "Two"})
	put(events.Users, "ada", &events.User{Active: true})
	if role != "" {
		put(events.Memberships, "m", &events.Membership{UserID: "ada", Scope: scope, Role: role})
	}
	caller, err := store.CallerByUser("demo", "ada")
	if err != nil {
		t.Fatal(err)
	}
	return caller
}

type anyInbox = Inbox // which has a method of its own name

// projectsInbox notes the projects that it is asked for. It has no mails, and no senders whom people allow.
type projectsInbox struct {
	anyInbox
	asked    [][]string
	requests int // looks at what people asked for
}

func (i *projectsInbox) Reading(_ context.Context, _, _ string, projects []string) (reader.InboxLine, error) {
	i.asked = append(i.asked, projects)
	return reader.InboxLine{}, reader.ErrNotFound
}

func (i *projectsInbox) AllowedSenders(context.Context, string, int) ([]reader.IntakeRequest, error) {
	return nil, nil
}

func (i *projectsInbox) IntakeRequests(context.Context, string, []string, []string) (map[string]reader.IntakeRequest, error) {
	i.requests++
	return nil, nil
}

// Mails are looked for in the projects of which somebody sees everything, and nowhere else; what belongs to the whole company is its
// administrators'.
func TestWhoSeesWhichMails(t *testing.T) {
	everywhere, ofOne := events.Scope{Tenant: true}, events.Scope{ProjectID: events.Some("1")}
	for _, c := range []struct {
		name     string
		scope    events.Scope
		role     string
		projects []string
		senders  bool
	}{
		{"an administrator", everywhere, "admin", []string{"1", "2", ""}, true},
		{"a user of all projects", everywhere, "user", []string{"1", "2"}, false},
		{"an administrator of a project", ofOne, "admin", []string{"1"}, false},
		{"a guest", everywhere, "guest", nil, false},
	} {
		inbox := &projectsInbox{}
		d, _, _ := walked(t, &walkedAPI{})
		d.api, d.inbox = &callerAPI{walkedAPI: walkedAPI{admits: true}, caller: callerOf(t, c.scope, c.role)}, inbox
		for _, pattern := range []string{"GET /inbox/{id}", "GET /inbox/{id}/mail", "GET /inbox/{id}/documents/{number}",
			"POST /inbox/{id}/confirmation", "POST /inbox/{id}/retry", "POST /inbox/{id}/release", "POST /inbox/{id}/allow"} {
			inbox.asked = nil
			if answer := visits(t, d, pattern); answer.Code != http.StatusNotFound {
				t.Errorf("%s: %s is answered with %d", c.name, pattern, answer.Code)
			}
			if len(inbox.asked) != 1 || !slices.Equal(inbox.asked[0], c.projects) {
				t.Errorf("%s: %s looks in %q, want %q", c.name, pattern, inbox.asked, c.projects)
			}
		}
		want := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[c.senders]
		if answer := visits(t, d, "GET /inbox/senders"); answer.Code != want {
			t.Errorf("%s: the senders are answered with %d, want %d", c.name, answer.Code, want)
		}
		inbox.requests = 0
		if visits(t, d, "POST /inbox/senders/disallow"); (inbox.requests > 0) != c.senders {
			t.Errorf("%s: who is to be taken back is looked up: %v", c.name, inbox.requests > 0)
		}
	}
}

// Who may see no mails doesn't learn by following the inbox when some come.
func TestWhoSeesNoMailsFollowsNone(t *testing.T) {
	d, _, _ := walked(t, &walkedAPI{admits: true})
	d.api = &callerAPI{walkedAPI: walkedAPI{admits: true}, caller: callerOf(t, events.Scope{}, "")}
	if answer := visits(t, d, "GET /inbox/events"); answer.Code != http.StatusNotFound {
		t.Errorf("it is answered with %d", answer.Code)
	}
}

// A sender is allowed for good by administrators alone, and not where the mailbox's own server says that it is somebody else.
func TestWhoMayAllowASender(t *testing.T) {
	mail := func(from, reason, verdict string) reader.InboxLine {
		l := reader.InboxLine{State: "quarantined"}
		l.Reading.Reason, l.Reading.Mail.From = events.Some(reason), events.Some(from)
		if verdict != "" {
			l.Reading.Mail.Verdict, l.Reading.Mail.VerdictBy = events.Some(verdict), events.Some("mx")
		}
		return l
	}
	for name, c := range map[string]struct {
		role string
		line reader.InboxLine
		want string
	}{
		"by an administrator": {"admin", mail("Boss@B.example", "sender-not-allowed", ""), "boss@b.example"},
		"vouched for":         {"admin", mail("boss@b.example", "sender-not-allowed", "pass"), "boss@b.example"},
		"by a user":           {"user", mail("boss@b.example", "sender-not-allowed", ""), ""},
		"not vouched for":     {"admin", mail("boss@b.example", "sender-not-allowed", "none"), ""},
		"too many mails":      {"admin", mail("boss@b.example", "too-many-mails", ""), ""},
		"two senders":         {"admin", mail("boss@b.example, x@evil.example", "sender-not-allowed", ""), ""},
	} {
		v := &visit{desk: &Desk{}, lang: english(t), caller: callerOf(t, events.Scope{Tenant: true}, c.role)}
		if got, _ := v.allowable(c.line); got != c.want {
			t.Errorf("%s: %q can be allowed, want %q", name, got, c.want)
		}
	}
}
