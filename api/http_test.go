package api_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/api"
	"tallyhouse/api/pages"
	"tallyhouse/api/problem"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

// adminWorld has one project, P1, and the key of an admin.
func adminWorld(t testing.TB, change ...func(*api.Options)) *world {
	t.Helper()
	w := newWorld(t, change...)
	w.user("U-admin", adminKey, "admin")
	w.project("P1", events.Project{})
	w.seen(adminKey, "P1")
	return w
}

// seen waits until the key sees these projects and no others.
func (w *world) seen(key string, projects ...string) {
	w.Helper()
	w.eventually(knownWithin, "the key sees "+strings.Join(projects, ", "), func() bool {
		r := w.get(key, "/v0/projects")
		return r.status == http.StatusOK && strings.Join(r.items("id"), ", ") == strings.Join(projects, ", ")
	})
}

func TestEveryResponseSaysWhichRequestItAnswers(t *testing.T) {
	w := adminWorld(t)
	seen := make(map[string]bool)
	for _, path := range []string{"/v0/projects", "/v0/projects/none", "/v0/none", "/none", "/healthz", "/readyz",
		"/openapi.json", "/problems/not-found", "/v0/records?x=1"} {
		// When the client brings an id of its own
		r := w.do(http.MethodGet, adminKey, path, http.Header{"X-Request-Id": {"mine"}})
		// Then the response has a fresh one, the same as in a problem document
		id := r.header.Get("X-Request-Id")
		if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(id) || seen[id] {
			t.Errorf("%s: x-request-id %q", path, id)
		}
		seen[id] = true
		if said, ok := r.json["requestId"]; ok && said != id {
			t.Errorf("%s: requestId %v, but x-request-id %s", path, said, id)
		}
		if link := r.header.Get("Link"); link != `</v0/feedback>; rel="feedback"` {
			t.Errorf("%s: Link %q", path, link)
		}
		if r.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: no nosniff", path)
		}
		// And no cache gives it to another request.
		if cache := r.header.Get("Cache-Control"); !strings.HasSuffix(cache, "no-cache") {
			t.Errorf("%s: Cache-Control %q", path, cache)
		}
	}
	// And the client's id stands in the log beside it.
	if !strings.Contains(w.log.String(), "clientRequest=mine") {
		t.Error("the client's id isn't logged")
	}
}

func TestPathsAreExactAndMethodsAreFew(t *testing.T) {
	w := adminWorld(t)
	for _, path := range []string{
		"/v0", "/v0/", "/v0/projects/", "/v0//projects", "//v0/projects", "/v0/Projects", "/V0/projects", "/v0/projects/P1/",
		"/v0/projects/P1/none",
		"/v0/records/", "/v0/records/R/x", "/v0/projects/%zz", "/v0/projects/%ff", "/none", "/problems/none", "/problems/",
		"/healthz/",
	} {
		request, err := http.NewRequest(http.MethodGet, w.url, nil)
		w.must(err)
		request.URL.Opaque = path // as it is
		request.Header.Set("Authorization", "Bearer "+adminKey)
		if r := w.roundTrip(request); r.status != http.StatusNotFound && r.status != http.StatusBadRequest ||
			r.status == http.StatusBadRequest && path != "/v0/projects/%zz" {
			t.Errorf("GET %s: %d %s", path, r.status, r.body)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodHead,
		http.MethodOptions, "FANCY"} {
		r := w.do(method, adminKey, "/v0/projects", nil)
		if r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "GET" {
			t.Errorf("%s /v0/projects: %d, Allow %q", method, r.status, r.header.Get("Allow"))
		}
		if r := w.do(method, adminKey, "/v0/none", nil); r.status != http.StatusNotFound {
			t.Errorf("%s /v0/none: %d", method, r.status)
		}
	}
	if r := w.do(http.MethodHead, "", "/healthz", nil); r.status != http.StatusOK || len(r.body) > 0 {
		t.Errorf("HEAD /healthz: %d %q", r.status, r.body)
	}
	if r := w.do(http.MethodPost, "", "/healthz", nil); r.status != http.StatusMethodNotAllowed ||
		r.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /healthz: %d, Allow %q", r.status, r.header.Get("Allow"))
	}
}

func TestIdsInPathsAreOpaque(t *testing.T) {
	// Given ids with everything that has a meaning in URLs, SQL or JSON
	w := adminWorld(t)
	for _, id := range []string{"a/b", "50%", "%2F", "a b", "ä€😀", `q"uo\te'`, "semi;colon?x=1#y", "..", ".",
		"tab\tline\nend", "+", "NULL", `\N`, "{tenant:String}", strings.Repeat("😀", 200)} {
		w.records(record{id: id, project: "P1", invoiceNumber: id, nodes: []string{id}, nets: []int64{0}})
		// When it is asked for by its id, and found by a filter
		one := w.get(adminKey, "/v0/records/"+url.PathEscape(id))
		byNumber := w.get(adminKey, "/v0/records?"+url.Values{"invoiceNumber": {id}}.Encode())
		byNode := w.get(adminKey, "/v0/records?"+url.Values{"budgetNodeId": {id}, "includeDescendants": {"true"}}.Encode())
		// Then it is found, each time
		if one.json["id"] != id {
			t.Errorf("by id %q: %d %s", id, one.status, one.body)
		}
		for _, r := range []response{byNumber, byNode} {
			if found := r.items("id"); len(found) != 1 || found[0] != id {
				t.Errorf("by filter %q: %d %s", id, r.status, r.body)
			}
		}
	}
}

func TestOrderOfChecks(t *testing.T) {
	w := adminWorld(t)
	w.user("U-guest", guestKey, "guest")
	for i := range 31 {
		w.project(string(rune('a'+i%26))+string(rune('a'+i/26)), events.Project{})
	}
	w.eventually(knownWithin, "all projects are known",
		func() bool { return len(w.get(guestKey, "/v0/projects").items("id")) == 32 })

	everything := "?limit=0&cashDateFrom=2026-01-01&cursor=x"
	filter := "?cashDateFrom=2026-01-01&cursor=x"
	for _, step := range []struct {
		name, method, key, path string
		status                  int
		suffix                  string
	}{
		{"authentication goes before the path", "GET", "", "/v0/none" + everything, 401, "authentication-required"},
		{"and before the method", "POST", "", "/v0/records" + everything, 401, "authentication-required"},
		{"a wrong token too", "GET", "pk_test_x_y", "/v0/none" + everything, 401, "invalid-credentials"},
		{"the path goes before the query", "GET", guestKey, "/v0/none" + everything, 404, "not-found"},
		{"the method goes before the query", "POST", guestKey, "/v0/records" + everything, 405, "method-not-allowed"},
		{"the query goes before the permission of filters", "GET", guestKey, "/v0/records" + everything, 400,
			"invalid-query"},
		{"the permission goes before the number of projects", "GET", guestKey, "/v0/records" + filter, 400,
			"filter-not-allowed"},
		{"and before the look-up", "GET", guestKey, "/v0/records" + filter + "&projectId=none", 400, "filter-not-allowed"},
		{"the number of projects goes before the cursor", "GET", adminKey, "/v0/records" + filter, 400, "too-many-projects"},
		{"the cursor goes before the look-up", "GET", adminKey, "/v0/records" + filter + "&projectId=none", 400,
			"invalid-cursor"},
		{"the look-up goes last", "GET", adminKey, "/v0/records?projectId=none", 404, "not-found"},
	} {
		t.Run(step.name, func(t *testing.T) {
			r := w.do(step.method, step.key, step.path, nil).want(t, step.status, step.suffix)
			if (r.header.Get("WWW-Authenticate") != "") != (step.status == 401) {
				t.Errorf("WWW-Authenticate %q with %d", r.header.Get("WWW-Authenticate"), step.status)
			}
		})
	}
}

func TestTokensAreTakenFromOneHeaderOnly(t *testing.T) {
	w := adminWorld(t)
	for name, c := range map[string]struct {
		header []string
		query  string
		status int
		suffix string
	}{
		"as usual":                {[]string{"Bearer " + adminKey}, "", 200, ""},
		"lower case":              {[]string{"bearer " + adminKey}, "", 200, ""},
		"two headers":             {[]string{"Bearer " + adminKey, "Bearer " + adminKey}, "", 401, "invalid-credentials"},
		"none":                    {nil, "", 401, "authentication-required"},
		"empty":                   {[]string{""}, "", 401, "authentication-required"},
		"another scheme":          {[]string{"Basic " + adminKey}, "", 401, "invalid-credentials"},
		"no scheme":               {[]string{adminKey}, "", 401, "invalid-credentials"},
		"no token":                {[]string{"Bearer "}, "", 401, "authentication-required"},
		"no token, twice":         {[]string{"Bearer", "Bearer"}, "", 401, "invalid-credentials"},
		"in the query":            {nil, "?access_token=" + adminKey, 401, "authentication-required"},
		"another secret":          {[]string{"Bearer " + adminKey + "x"}, "", 401, "invalid-credentials"},
		"another environment":     {[]string{"Bearer pk_live_admin_s3cret_with_underscores"}, "", 401, "invalid-credentials"},
		"another prefix":          {[]string{"Bearer pk_test_other_s3cret_with_underscores"}, "", 401, "invalid-credentials"},
		"something else entirely": {[]string{"Bearer eyJhbGciOiJub25lIn0.e30."}, "", 401, "invalid-credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequest(http.MethodGet, w.url+"/v0/projects"+c.query, nil)
			w.must(err)
			request.Header["Authorization"] = c.header
			w.roundTrip(request).want(t, c.status, c.suffix)
		})
	}
	if log := w.log.String(); strings.Contains(log, "s3cret") {
		t.Error("a secret stands in the log")
	}
}

func TestUnchangedDataAreNotSentAgain(t *testing.T) {
	// Given
	w := adminWorld(t)
	w.records(record{id: "R1", project: "P1"})
	first := w.get(adminKey, "/v0/records").want(t, 200, "")
	tag := first.header.Get("ETag")
	if !strings.HasPrefix(tag, `W/"`) || first.header.Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("headers %v", first.header)
	}
	if vary := strings.Join(first.header.Values("Vary"), ", "); !strings.Contains(vary, "Authorization") ||
		!strings.Contains(vary, "Accept-Encoding") {
		t.Errorf("Vary %q", vary)
	}
	for _, header := range []string{tag, strings.TrimPrefix(tag, "W/"), `"other", ` + tag, "*"} {
		// When it is asked for again
		r := w.do(http.MethodGet, adminKey, "/v0/records", http.Header{"If-None-Match": {header}})
		// Then nothing is sent
		if r.status != http.StatusNotModified || len(r.body) > 0 || r.header.Get("ETag") != tag ||
			r.header.Get("X-Request-Id") == "" {
			t.Errorf("If-None-Match %s: %d %q %v", header, r.status, r.body, r.header)
		}
	}
	// And the log doesn't say that it was.
	if log := w.log.String(); !strings.Contains(log, "status=304 bytes=0 ") || strings.Count(log, "status=304 bytes=0 ") != strings.Count(log, "status=304") {
		t.Errorf("the log says of bodies that weren't sent: %s", log)
	}
	// And when it has changed, it is.
	w.records(record{id: "R2", project: "P1"})
	if r := w.do(http.MethodGet, adminKey, "/v0/records", http.Header{"If-None-Match": {tag}}); r.status != 200 ||
		r.header.Get("ETag") == tag {
		t.Errorf("after a change: %d, ETag %s", r.status, r.header.Get("ETag"))
	}
}

func TestLargeAnswersAreCompressed(t *testing.T) {
	w := adminWorld(t)
	for i := range 10 {
		w.records(record{id: strings.Repeat("r", i+1), project: "P1"})
	}
	plain := w.get(adminKey, "/v0/records").want(t, 200, "")
	decode := map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	}
	for encoding, open := range decode {
		r := w.do(http.MethodGet, adminKey, "/v0/records", http.Header{"Accept-Encoding": {encoding}})
		if r.header.Get("Content-Encoding") != encoding || len(r.body) >= len(plain.body) ||
			r.header.Get("ETag") != plain.header.Get("ETag") {
			t.Fatalf("%s: %d bytes, %v", encoding, len(r.body), r.header)
		}
		reading, err := open(strings.NewReader(string(r.body)))
		w.must(err)
		if text, err := io.ReadAll(reading); err != nil || string(text) != string(plain.body) {
			t.Errorf("%s: %v, %s", encoding, err, text)
		}
		if r := w.do(http.MethodGet, adminKey, "/v0/projects/P1",
			http.Header{"Accept-Encoding": {encoding}}); r.header.Get("Content-Encoding") != "" {
			t.Error("a small answer is compressed")
		}
	}
}

func TestBasePathGoesInFront(t *testing.T) {
	w := newWorld(t, func(o *api.Options) { o.BasePath = "/ledger" })
	w.user("U", adminKey, "admin")
	w.eventually(knownWithin, "the key is known",
		func() bool { return w.get(adminKey, "/ledger/v0/projects").status == 200 })

	if link := w.get(adminKey, "/ledger/v0/projects").header.Get("Link"); link != `</ledger/v0/feedback>; rel="feedback"` {
		t.Errorf("Link %q", link)
	}
	for _, path := range []string{"/v0/projects", "/ledgerv0/projects", "/ledger//"} {
		w.get(adminKey, path).want(t, 404, "not-found")
	}
	for _, path := range []string{"/problems/not-found", "/ledger/problems/not-found", "/healthz", "/ledger/readyz",
		"/ledger/openapi.json"} {
		w.get("", path).want(t, 200, "")
	}
}

func TestPagesOfOtherOriginsMayCallOnlyWhenAllowed(t *testing.T) {
	preflight := http.Header{"Origin": {"https://app.example"}, "Access-Control-Request-Method": {"GET"},
		"Access-Control-Request-Headers": {"authorization"}}

	t.Run("off", func(t *testing.T) {
		w := adminWorld(t)
		w.do(http.MethodOptions, "", "/v0/projects", preflight).want(t, 401, "authentication-required")
		if r := w.do(http.MethodGet, adminKey, "/v0/projects", preflight); r.header.Get("Access-Control-Allow-Origin") != "" {
			t.Error("an origin is allowed")
		}
	})
	t.Run("on", func(t *testing.T) {
		w := adminWorld(t, func(o *api.Options) { o.CORSOrigins = []string{"https://app.example"} })
		r := w.do(http.MethodOptions, "", "/v0/projects", preflight)
		if r.status != http.StatusNoContent || r.header.Get("Access-Control-Allow-Origin") != "https://app.example" ||
			!strings.Contains(r.header.Get("Access-Control-Allow-Headers"), "Authorization") ||
			r.header.Get("Link") != `</v0/feedback>; rel="feedback"` || r.header.Get("X-Request-Id") == "" {
			t.Errorf("preflight: %d %v", r.status, r.header)
		}
		if r := w.do(http.MethodGet, adminKey, "/v0/projects",
			preflight); r.header.Get("Access-Control-Allow-Origin") != "https://app.example" {
			t.Error("the origin isn't allowed")
		}
		other := http.Header{"Origin": {"https://evil.example"}, "Access-Control-Request-Method": {"GET"}}
		if r := w.do(http.MethodOptions, "", "/v0/projects", other); r.status != 401 ||
			r.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("another origin: %d %v", r.status, r.header)
		}
	})
}

func TestEveryProblemIsExplained(t *testing.T) {
	w := newWorld(t)
	for _, kind := range problem.Kinds() {
		for accept, want := range map[string]string{
			"": "application/json", "*/*": "application/json", "application/json": "application/json",
			"text/html,application/xhtml+xml;q=0.9,*/*;q=0.8": "text/html; charset=utf-8",
			"text/markdown":                        "text/markdown; charset=utf-8",
			"text/html;q=0.1, text/markdown;q=0.5": "text/markdown; charset=utf-8", "image/png": "application/json",
			"text/html;Q=0.1, text/markdown;q=0.5": "text/markdown; charset=utf-8",
			"image/png\ntext/html":                 "text/html; charset=utf-8", // in two lines
		} {
			r := w.do(http.MethodGet, "", kind.Type(), http.Header{"Accept": strings.Split(accept, "\n")})
			if r.status != 200 || r.header.Get("Content-Type") != want || !strings.Contains(string(r.body), kind.Title) ||
				!strings.Contains(string(r.body), kind.Type()) {
				t.Errorf("%s as %q: %d %s %s", kind.Type(), accept, r.status, r.header.Get("Content-Type"), r.body)
			}
			// And it says what it means, where it comes from and what to do, in whole sentences.
			for _, text := range append([]string{kind.Meaning, kind.Remedy}, kind.Causes...) {
				plain := strings.NewReplacer("<code>", "`", "</code>", "`").Replace(html.UnescapeString(string(r.body)))
				if len(text) < 20 || !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "`") || want != "application/json" &&
					!strings.Contains(plain, text) {
					t.Errorf("%s as %s does not explain %q", kind.Type(), want, text)
				}
			}
			if causes, _ := r.json["causes"].([]any); want == "application/json" && (len(causes) == 0 || len(causes) != len(kind.Causes) ||
				r.json["meaning"] != kind.Meaning || r.json["remedy"] != kind.Remedy) {
				t.Errorf("%s: %s", kind.Type(), r.body)
			}
			// And it shows one.
			request, _ := kind.Example()
			shown := html.UnescapeString(string(r.body))
			if example, ok := r.json["example"].(map[string]any); ok {
				shown = example["request"].(string) + shown
			}
			if request == "" || !strings.Contains(shown, request) || !strings.Contains(shown, `"requestId"`) {
				t.Errorf("%s as %s shows no example", kind.Type(), want)
			}
		}
	}
	w.get("", "/problems/none").want(t, 404, "not-found")
}

// The list has every kind of problem, and leads to the explanation of each, wherever the API is.
func TestTheProblemsAreListed(t *testing.T) {
	w := newWorld(t, func(o *api.Options) { o.BasePath = "/ledger" })
	for accept, link := range map[string]string{"text/html": `<a href="%s">`, "text/markdown": "](%s)", "application/json": `"type":"/%s"`} {
		list := w.do(http.MethodGet, "", "/ledger/problems", http.Header{"Accept": {accept}}).want(t, 200, "")
		if got, _, _ := strings.Cut(list.header.Get("Content-Type"), ";"); got != accept {
			t.Errorf("%s comes as %s", accept, got)
		}
		for _, kind := range problem.Kinds() {
			page := strings.TrimPrefix(kind.Type(), "/")
			if want := fmt.Sprintf(link, page); !strings.Contains(string(list.body), want) || !strings.Contains(string(list.body), kind.Title) {
				t.Errorf("%s has no %s", accept, want)
			}
			w.get("", "/ledger/"+page).want(t, 200, "")
		}
	}
}

// failing is a connection to a database whose statements fail, or worse.
type failing struct{ query func() }

func (f failing) Query(_ context.Context, q string, _ ...any) (driver.Rows, error) {
	if strings.Contains(q, "FROM") {
		f.query()
	}
	return nil, errors.New("code: 60, message: Table acme_internal.records does not exist")
}
func (f failing) Exec(context.Context, string, ...any) error { return errors.New("read-only") }

// switched is a connection that can be exchanged while it is in use.
type switched struct {
	reader.Conn
	broken atomic.Pointer[failing]
}

func (s *switched) Query(ctx context.Context, q string, args ...any) (driver.Rows, error) {
	if broken := s.broken.Load(); broken != nil {
		return broken.Query(ctx, q, args...)
	}
	return s.Conn.Query(ctx, q, args...)
}

func TestFaultsOfTheServiceTellNothing(t *testing.T) {
	for name, fault := range map[string]func(){"an error": func() {

	}, "a panic": func() { panic("acme_internal: index out of range") }} {
		t.Run(name, func(t *testing.T) {
			// Given a database that fails
			connection, registry := &switched{}, prometheus.NewRegistry()
			w := adminWorld(t, func(o *api.Options) { connection.Conn, o.ClickHouse, o.Metrics = o.ClickHouse, connection, registry })
			connection.broken.Store(&failing{fault})
			// When
			r := w.get(adminKey, "/v0/records").want(t, 500, "internal-error")
			// Then the answer names the request, the log the cause
			if strings.Contains(string(r.body), "acme_internal") || !strings.Contains(w.log.String(), "acme_internal") {
				t.Errorf("answer %s\nlog %s", r.body, w.log.tail())
			}
			if id, _ := r.json["requestId"].(string); id == "" || !strings.Contains(w.log.String(), id) {
				t.Errorf("requestId %q isn't logged", id)
			}
			// And a panic is counted.
			if panics := counter(t, registry, "tallyhouse_http_panics_total"); (panics > 0) != (name == "a panic") {
				t.Errorf("%v panics are counted", panics)
			}
		})
	}
}

// brokenLog panics when a request is logged, and writes everything else.
type brokenLog struct{ slog.Handler }

func (l brokenLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "request" {
		panic("the log is broken")
	}
	return l.Handler.Handle(ctx, r)
}

// Given an API of which something beside its operations panics, then that ends no more than a request, and is logged and counted.
func TestAPanicBesideAnOperationEndsOneRequestAlone(t *testing.T) {
	registry := prometheus.NewRegistry()
	w := adminWorld(t)
	_, url := w.start(func(o *api.Options) {
		o.Metrics, o.Log = registry, slog.New(brokenLog{o.Log.Handler()})
	})
	const requests = 3
	for range requests {
		answer, err := http.Get(url + "/healthz")
		if err == nil {
			answer.Body.Close()
		}
	}
	if got := counter(t, registry, "tallyhouse_http_panics_total"); got != requests {
		t.Errorf("%v panics are counted, want %d", got, requests)
	}
	if !strings.Contains(w.log.String(), "panic=\"the log is broken\"") {
		t.Errorf("the log says %s", w.log.tail())
	}
}

func TestPagesForPeopleArePublic(t *testing.T) {
	// Given an API behind another path
	w := newWorld(t, func(o *api.Options) { o.BasePath = "/ledger" })
	for _, base := range []string{"", "/ledger"} {
		for path, kind := range map[string]string{
			"/docs": "text/html; charset=utf-8", "/docs/start.js": "text/javascript; charset=utf-8",
			"/docs/scalar-" + pages.ScalarVersion + ".js": "text/javascript; charset=utf-8", "/changelog": "text/html; charset=utf-8",
			"/problems/not-found": "text/html; charset=utf-8", "/openapi.json": "application/json", "/asyncapi.json": "application/json",
			"/problems": "text/html; charset=utf-8",
		} {
			// When a page is opened by a browser, there and at the root
			r := w.do(http.MethodGet, "", base+path, http.Header{"Accept": {"text/html, */*;q=0.8"}}).want(t, 200, "")
			// Then it comes, and a page lets nothing be loaded that it does not name
			policy := r.header.Get("Content-Security-Policy")
			if r.header.Get("Content-Type") != kind || strings.HasPrefix(kind, "text/html") != strings.HasPrefix(policy, "default-src 'none';") ||
				strings.Contains(policy, "unsafe-eval") || strings.Contains(policy, "script-src") && !strings.Contains(policy, "script-src 'self';") {
				t.Errorf("%s%s: %s, %s", base, path, r.header.Get("Content-Type"), policy)
			}
			// And is not sent again.
			again := w.do(http.MethodGet, "", base+path, http.Header{"Accept": {"text/html, */*;q=0.8"},
				"If-None-Match": {r.header.Get("ETag")}})
			if again.status != http.StatusNotModified {
				t.Errorf("%s%s again: %d", base, path, again.status)
			}
		}
	}
	// The large script is neither compressed for a request nor unpacked: anybody may ask for it.
	const script = "/docs/scalar-" + pages.ScalarVersion + ".js"
	for accept, want := range map[string]string{"zstd": "", "br": "", "zstd, gzip": "gzip", "gzip": "gzip", "br\ngzip": "gzip"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			r := w.do(method, "", script, http.Header{"Accept-Encoding": strings.Split(accept, "\n")})
			if got := r.header.Get("Content-Encoding"); r.status != 200 || got != want {
				t.Errorf("%s for %s: %d, encoding %q", method, accept, r.status, got)
			}
		}
	}
	if log := w.log.String(); !strings.Contains(log, "method=HEAD path="+script+" status=200 bytes=0 ") {
		t.Errorf("the log says of bodies that weren't sent: %s", w.log.tail())
	}
	// And the root, which a browser opens first, leads to the reference.
	for _, path := range []string{"/", "/ledger", "/ledger/"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if r := w.do(method, "", path, nil); r.status != http.StatusFound || r.header.Get("Location") != "/ledger/docs" {
				t.Errorf("%s %s: %d to %q", method, path, r.status, r.header.Get("Location"))
			}
		}
		w.do(http.MethodPost, "", path, nil).want(t, 405, "method-not-allowed")
	}
	// And what isn't there says where the reference is.
	for _, path := range []string{"/docs/", "/docs/none", "/docs/../go.mod", "/docsx", "/changelog/"} {
		r := w.do(http.MethodGet, "", path, nil).want(t, 404, "not-found")
		if want := "There is no such page; /ledger/docs tells of those that there are."; !strings.Contains(string(r.body), want) {
			t.Errorf("%s: %s", path, r.body)
		}
	}
}
