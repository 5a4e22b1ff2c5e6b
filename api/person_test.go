package api_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"tallyhouse/api"
	"tallyhouse/api/access"
	"tallyhouse/api/desk"
	"tallyhouse/api/desk/signin"
	"tallyhouse/api/problem"
	"tallyhouse/api/session"
	"tallyhouse/schemas/calendar"
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

// Whatever a page of the desk reads beside what it asks the API for, its statements wait for their turn, too.
func TestWhatPagesReadWaitsForItsTurn(t *testing.T) {
	// Given a desk on an API, and a person who has signed in there
	w := budgeted(t)
	w.lease("L1", events.Lease{ProjectID: "P1", Category: "main", Status: "active", Start: calendar.NewDate(2020, 1, 1), Currency: "EUR", MonthlyRent: 1})
	var sent atomic.Int64
	var outside atomic.Value
	read := desk.OpenReader(&rewriting{w.db, func(sql string) string {
		sent.Add(1)
		if _, _, _, running := w.server.MayRun(); running == 0 {
			outside.Store(sql)
		}
		return sql
	}}, w.db, 10*time.Second, w.server.Turn)
	codes := signin.NewCodes(session.User{Tenant: tenant, ID: "U-admin"}, func(string) {})
	server := httptest.NewUnstartedServer(nil)
	url := "http://" + server.Listener.Addr().String()
	of, err := desk.New(desk.Options{API: w.server, Sources: read, Inbox: read, URL: url, Codes: codes})
	w.must(err)
	server.Config.Handler = of.Handler()
	server.Start()
	defer server.Close()
	jar, err := cookiejar.New(nil)
	w.must(err)
	browser := &http.Client{Jar: jar, Timeout: time.Minute}
	open := func(path string) {
		t.Helper()
		answer, err := browser.Get(url + path)
		w.must(err)
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s is answered with %s", path, answer.Status)
		}
	}
	open(desk.CodePath + codes.Code())
	for _, path := range []string{"/inbox", "/inbox?q=nothing", "/projects/P1/lines/i", "/projects/P1/outside", "/projects/P1/outside?currency=USD",
		"/projects/P1/contracts/C1", "/projects/P1/rent-roll/sources", "/projects/P1/leases/L1"} {
		// When they open a page
		sent.Store(0)
		outside.Store("")
		open(path)
		// Then it sends statements, none of them before its turn.
		if sent.Load() == 0 {
			t.Errorf("%s reads nothing beside what it asks the API for", path)
		}
		if sql := outside.Load(); sql != "" {
			t.Errorf("%s sends a statement that didn't wait for its turn: %s", path, sql)
		}
	}
}

// Given a person whose statements fill the database, then so many more of them wait, and the next one is refused at once; others are not.
func TestOnlySoManyStatementsOfAPersonWait(t *testing.T) {
	w := adminWorld(t)
	_, _, most, _ := w.server.MayRun()
	ctx, leave := context.WithCancel(w.server.As(t.Context(), session.User{Tenant: tenant, ID: "noisy"}))
	defer leave()
	for range most {
		done, err := w.server.Turn(ctx)
		w.must(err)
		defer done()
	}
	refused := make(chan error)
	for range 200 {
		go func() {
			if _, err := w.server.Turn(ctx); ctx.Err() == nil {
				refused <- err
			}
		}()
	}
	for range 200 - 64 {
		if p, ok := errors.AsType[*problem.Error](<-refused); !ok || p.Kind != problem.TooManyRequests {
			t.Fatal("one is let in, or refused for another reason")
		}
	}
	done, err := w.server.Turn(w.server.As(t.Context(), session.User{Tenant: tenant, ID: "quiet"}))
	w.must(err)
	done()
}

// Given a person with five requests, when they open pages, then each is counted, and what a page asks for only beyond the first question;
// a sixth is refused before anything is asked.
func TestPagesCountInTheRateLimit(t *testing.T) {
	w := adminWorld(t)
	server, _ := w.start(func(o *api.Options) { o.RateLimit = fiveAnHour })
	person := session.User{Tenant: tenant, ID: "U-admin"}
	visit := func() (context.Context, error) {
		ctx, leave, err := server.Admit(t.Context(), person, false)
		if err == nil {
			defer leave()
		}
		return ctx, err
	}
	first, err := visit() // 1
	w.must(err)
	for range 2 { // 1 more
		if status, body := server.Ask(first, person, "/v0/projects"); status != http.StatusOK {
			t.Fatalf("it is answered with %d %s", status, body)
		}
	}
	for range 3 { // 5 in all
		_, err = visit()
		w.must(err)
	}
	if status, _ := server.Ask(first, person, "/v0/projects"); status != http.StatusTooManyRequests {
		t.Errorf("a sixth question is answered with %d", status)
	}
	_, err = visit()
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Kind != problem.TooManyRequests || p.RetryAfter <= 0 {
		t.Errorf("a sixth page: %v", err)
	}
	if _, _, err := server.Admit(t.Context(), session.User{Tenant: tenant, ID: "nobody"}, false); !errors.Is(err, access.ErrCredentials) {
		t.Errorf("nobody is admitted: %v", err)
	}
}

// Given a person with as many pages and files open as one may have at a time, then the next one waits until one is sent, and another
// person's doesn't.
func TestOnlySoManyPagesAndFilesOfAPersonAreMade(t *testing.T) {
	w := adminWorld(t)
	w.user("U-other", guestKey, "admin")
	w.known(guestKey)
	noisy, quiet := session.User{Tenant: tenant, ID: "U-admin"}, session.User{Tenant: tenant, ID: "U-other"}
	for holdsFile, most := range map[bool]int{false: 16, true: 2} {
		var leaving []func()
		for range most {
			_, leave, err := w.server.Admit(t.Context(), noisy, holdsFile)
			w.must(err)
			leaving = append(leaving, leave)
		}
		soon, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, _, err := w.server.Admit(soon, noisy, holdsFile); !errors.As(err, new(*problem.Error)) {
			t.Errorf("file %t: one more than %d: %v", holdsFile, most, err)
		}
		stop()
		_, leave, err := w.server.Admit(t.Context(), quiet, holdsFile)
		w.must(err)
		leave()
		next := make(chan error)
		go func() {
			_, leave, err := w.server.Admit(t.Context(), noisy, holdsFile)
			if err == nil {
				leave()
			}
			next <- err
		}()
		leaving[0]()
		w.must(<-next)
		for _, leave := range leaving {
			leave() // also a second time
		}
	}
}
