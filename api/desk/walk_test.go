package desk

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/api/access"
	"tallyhouse/api/desk/confirmation"
	"tallyhouse/api/desk/signin"
	"tallyhouse/api/problem"
	"tallyhouse/api/serving"
	"tallyhouse/api/session"
	"tallyhouse/schemas/calendar"
)

// walkedAPI admits nobody unless it is told to, or panics when it is asked who somebody is.
type walkedAPI struct {
	admits, panics bool
	admitted       []bool // whether it was for a file
}

func (a *walkedAPI) Caller(session.User) (*access.Caller, error) {
	if a.panics {
		panic("a defect")
	}
	return &access.Caller{}, nil
}

func (a *walkedAPI) Admit(ctx context.Context, _ session.User, holdsFile bool) (context.Context, func(), error) {
	a.admitted = append(a.admitted, holdsFile)
	if a.admits {
		return ctx, func() {}, nil
	}
	return nil, nil, &problem.Error{Kind: problem.TooManyRequests, RetryAfter: 1500 * time.Millisecond}
}

func (a *walkedAPI) As(ctx context.Context, person session.User) context.Context {
	return context.WithValue(ctx, asKey{}, person)
}

// asKey is of the person whose turn what is read waits for.
type asKey struct{}

func (a *walkedAPI) Ask(context.Context, session.User, string) (int, []byte) { panic("it was asked") }
func (a *walkedAPI) Today() calendar.Date                                    { panic("it was asked for the day") }

// walked is a desk with everything that a desk can have. What it reads of besides the API is nil: whatever is read of it panics.
func walked(t *testing.T, a *walkedAPI) (d *Desk, log *bytes.Buffer, metrics *prometheus.Registry) {
	t.Helper()
	type (
		anyInbox    = Inbox // which has a method of its own name
		noInbox     struct{ anyInbox }
		noSources   struct{ Sources }
		noOriginals struct{ Originals }
		noPublisher struct{ confirmation.Publisher }
	)
	log, metrics = &bytes.Buffer{}, prometheus.NewRegistry()
	d, err := New(Options{API: a, Sources: noSources{}, Inbox: noInbox{}, Originals: noOriginals{}, Publisher: noPublisher{}, URL: "http://localhost",
		Codes: signin.NewCodes(session.User{Tenant: "demo", ID: "ada"}, func(string) {}), Log: slog.New(slog.NewTextHandler(log, nil)), Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}
	return d, log, metrics
}

// visits sends a request for a route of somebody who has signed in.
func visits(t *testing.T, d *Desk, pattern string) *httptest.ResponseRecorder {
	t.Helper()
	return sends(t, d, pattern, nil)
}

func sends(t *testing.T, d *Desk, pattern string, body io.Reader) *httptest.ResponseRecorder {
	t.Helper()
	method, path, _ := strings.Cut(pattern, " ")
	w := httptest.NewRecorder()
	if err := d.cookies.Begin(w, session.User{Tenant: "demo", ID: "ada"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(method, regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(path, "1"), body)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", w.Header().Get("Set-Cookie"))
	s, ok := d.cookies.Read(r, time.Now())
	if !ok {
		t.Fatal("nobody has signed in")
	}
	r.Header.Set("X-Csrf-Token", s.Token)
	out := httptest.NewRecorder()
	d.Handler().ServeHTTP(out, r)
	return out
}

// Given a person who has used up their rate limit, whatever they open at the desk is refused and reads nothing; what doesn't count reads
// nothing either. What holds a file waits among files.
func TestEveryScreenIsWithinTheRateLimit(t *testing.T) {
	free := map[string]bool{"POST /inbox/{id}/check": true}
	files := map[string]bool{"GET /inbox/{id}/mail": true, "GET /inbox/{id}/documents/{number}": true}
	a := &walkedAPI{}
	d, log, _ := walked(t, a)
	for _, route := range d.screens() {
		a.admitted = nil
		answer := visits(t, d, route.pattern)
		if free[route.pattern] {
			if answer.Code != http.StatusOK || len(a.admitted) != 0 {
				t.Errorf("%s is free, and answered with %d", route.pattern, answer.Code)
			}
			continue
		}
		if answer.Code != http.StatusTooManyRequests || answer.Header().Get("Retry-After") != "2" ||
			!strings.Contains(answer.Body.String(), "Too many requests") {
			t.Errorf("%s is answered with %d, Retry-After %q", route.pattern, answer.Code, answer.Header().Get("Retry-After"))
		}
		if len(a.admitted) != 1 || a.admitted[0] != files[route.pattern] {
			t.Errorf("%s is admitted as %v", route.pattern, a.admitted)
		}
	}
	if log.Len() > 0 {
		t.Errorf("the log says %s", log)
	}
}

// Given a defect, whatever is opened at the desk says that something is wrong, by a page that names the request; that is logged and
// counted, and the desk goes on.
func TestAPanicIsAnsweredByAPage(t *testing.T) {
	d, log, metrics := walked(t, &walkedAPI{panics: true})
	panics := 0
	for _, pattern := range []string{"POST /signout", "GET /nothing", "GET /signin/code/" + d.codes.Code()} {
		panics += brokenBy(t, d, log, pattern)
	}
	for _, route := range d.screens() {
		panics += brokenBy(t, d, log, route.pattern)
	}
	families, err := metrics.Gather()
	if err != nil || len(families) != 1 || int(families[0].GetMetric()[0].GetCounter().GetValue()) != panics {
		t.Errorf("%d panics are counted as %v: %v", panics, families, err)
	}
	if answer := visits(t, d, "GET /healthz"); answer.Code != http.StatusOK {
		t.Errorf("health is answered with %d", answer.Code)
	}
}

// brokenBy opens a page that a panic breaks, and returns how many there were.
func brokenBy(t *testing.T, d *Desk, log *bytes.Buffer, pattern string) int {
	t.Helper()
	log.Reset()
	answer := visits(t, d, pattern)
	id, body := answer.Header().Get(serving.RequestID), answer.Body.String()
	if answer.Code != http.StatusInternalServerError || !strings.Contains(body, "Something is not working") || !strings.Contains(body, id) ||
		answer.Header().Get("Content-Security-Policy") == "" || answer.Header().Get("Cache-Control") != "private, no-store" {
		t.Errorf("%s is answered with %d %s", pattern, answer.Code, body)
	}
	if n := strings.Count(log.String(), `msg="panic while answering" server=desk request=`+id); id == "" || n != 1 {
		t.Errorf("after %s the log tells of %d panics: %s", pattern, n, log)
	}
	return 1
}

// endless is a form that never ends, and counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	e.read += len(b)
	return len(b), nil
}

// Given a form without an end, whatever it is sent to reads no more than a form may have; nor does what brings no token.
func TestNoFormIsReadWithoutEnd(t *testing.T) {
	const buffered = 64 << 10
	d, _, _ := walked(t, &walkedAPI{admits: true})
	forms := 0
	for _, route := range append(d.screens(), route{pattern: "POST /signout"}, route{pattern: "POST /nothing"}) {
		if !strings.HasPrefix(route.pattern, "POST ") {
			continue
		}
		forms++
		body := &endless{}
		answer := sends(t, d, route.pattern, body)
		if body.read > maxForm+buffered {
			t.Errorf("%s reads %d bytes and answers with %d", route.pattern, body.read, answer.Code)
		}
		body = &endless{}
		r := httptest.NewRequest(http.MethodPost, strings.NewReplacer("POST ", "", "{id}", "1").Replace(route.pattern), body)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		d.Handler().ServeHTTP(httptest.NewRecorder(), r)
		if body.read > 0 {
			t.Errorf("%s reads %d bytes of somebody who has not signed in", route.pattern, body.read)
		}
	}
	if forms < 8 {
		t.Errorf("%d forms were sent", forms)
	}
}

// Where what writes pages is broken itself, a line of text says that something is wrong.
func TestAPanicOfWhatWritesPagesIsAnswered(t *testing.T) {
	d, _, _ := walked(t, &walkedAPI{})
	d.templates = nil
	if answer := visits(t, d, "GET /projects"); answer.Code != http.StatusInternalServerError || !strings.Contains(answer.Body.String(), "Internal Server Error") {
		t.Errorf("it is answered with %d %s", answer.Code, answer.Body)
	}
}
