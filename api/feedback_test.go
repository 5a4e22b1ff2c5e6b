package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/api"
	"tallyhouse/api/feedback/feedbacktest"
)

// post sends feedback.
func (w *world) post(key, body string, header http.Header) response {
	w.Helper()
	request, err := http.NewRequest(http.MethodPost, w.url+"/v0/feedback", strings.NewReader(body))
	w.must(err)
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	for name, values := range header {
		request.Header[name] = values
	}
	return w.roundTrip(request)
}

// feedback lets the requests of the world go to one more instance, which can keep feedback.
func (w *world) feedback(change ...func(*api.Options)) {
	w.Helper()
	sender := feedbacktest.New(w, w.broker)
	_, w.url = w.start(append([]func(*api.Options){func(o *api.Options) { o.Feedback = sender }}, change...)...)
}

const goodFeedback = `{"category":"idea","message":"More of this","endpoint":"GET /v0/records","agent":{"name":"n"}}`

func TestFeedbackIsTakenFromEverybodyTwentyTimesADay(t *testing.T) {
	// Given an admin, and a guest who sees nothing
	w := adminWorld(t)
	w.user("U-guest", guestKey, "")
	w.known(guestKey)
	registry := prometheus.NewRegistry()
	w.feedback(func(o *api.Options) { o.Metrics = registry })
	// When the guest sends feedback, then it is received, twenty times
	seen := map[string]bool{}
	for range 20 {
		r := w.post(guestKey, goodFeedback, nil).want(t, 201, "")
		id, _ := r.json["id"].(string)
		if at, _ := r.json["receivedAt"].(string); id == "" || seen[id] || !strings.HasSuffix(at, "Z") {
			t.Fatalf("%s", r.body)
		}
		seen[id] = true
		if r.header.Get("ETag") != "" || r.header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("ETag %q, Cache-Control %q", r.header.Get("ETag"), r.header.Get("Cache-Control"))
		}
	}
	// And then refused until the first one is a day ago, but not before what is wrong with it was told
	r := w.post(guestKey, goodFeedback, nil).want(t, 429, "too-many-requests")
	if wait, err := strconv.Atoi(r.header.Get("Retry-After")); err != nil || wait < 1 || wait > 86400 {
		t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
	}
	if n := counter(t, registry, "tallyhouse_api_requests_limited_total"); n != 1 {
		t.Errorf("%v refused messages are counted", n)
	}
	w.post(guestKey, `{}`, nil).want(t, 400, "invalid-body")
	// And the admin's is taken.
	w.post(adminKey, goodFeedback, nil).want(t, 201, "")
}

func TestFeedbackIsCheckedInTheOrderOfEveryRequest(t *testing.T) {
	w := adminWorld(t)
	w.feedback()
	gzip := http.Header{"Content-Encoding": {"gzip"}}
	kind := func(values ...string) http.Header { return http.Header{"Content-Type": values} }
	large := `{"category":"idea","message":"m","endpoint":"` + strings.Repeat("x", 64<<10) + `"}`
	for name, c := range map[string]struct {
		key, body string
		header    http.Header
		suffix    string
		status    int
	}{
		"no token":                    {"", goodFeedback, http.Header{"Authorization": nil}, "authentication-required", 401},
		"a wrong token":               {"pk_test_x_y", `{`, nil, "invalid-credentials", 401},
		"no JSON":                     {adminKey, `{`, nil, "invalid-body", 400},
		"empty":                       {adminKey, ``, nil, "invalid-body", 400},
		"another type":                {adminKey, goodFeedback, kind("text/plain"), "invalid-body", 400},
		"no type":                     {adminKey, goodFeedback, kind(), "invalid-body", 400},
		"two types":                   {adminKey, goodFeedback, kind("application/json", "application/json"), "invalid-body", 400},
		"a problem":                   {adminKey, goodFeedback, kind("application/problem+json"), "invalid-body", 400},
		"another charset":             {adminKey, goodFeedback, kind("application/json; charset=latin1"), "invalid-body", 400},
		"compressed":                  {adminKey, goodFeedback, gzip, "invalid-body", 400},
		"too large":                   {adminKey, large, nil, "invalid-body", 400},
		"an unknown member":           {adminKey, `{"category":"idea","message":"m","x":1}`, nil, "invalid-body", 400},
		"the charset of JSON is fine": {adminKey, goodFeedback, kind("Application/JSON; charset=UTF-8"), "", 201},
	} {
		t.Run(name, func(t *testing.T) { w.post(c.key, c.body, c.header).want(t, c.status, c.suffix) })
	}
	// And parameters, other methods and other paths are refused as everywhere.
	for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		r := w.do(method, adminKey, "/v0/feedback?x=1", nil)
		if r.status != 405 || r.header.Get("Allow") != "POST" {
			t.Errorf("%s: %d, Allow %q", method, r.status, r.header.Get("Allow"))
		}
	}
	w.do("POST", adminKey, "/v0/feedback?x=1", nil).want(t, 400, "invalid-query")
	w.do("POST", adminKey, "/v0/feedback/", nil).want(t, 404, "not-found")
	w.do("POST", "", "/v0/feedback", nil).want(t, 401, "authentication-required")
}

func TestASecretInFeedbackIsNeverRepeated(t *testing.T) {
	w := adminWorld(t)
	w.feedback()
	for _, body := range []string{
		`{"category":"bug","message":"my key is ` + adminKey + `"}`,
		`{"category":"bug","message":"m","` + adminKey + `":1}`,
		`{"category":"` + adminKey + `","message":"m"}`,
	} {
		r := w.post(adminKey, body, nil).want(t, 400, "invalid-body")
		if strings.Contains(string(r.body), "s3cret") {
			t.Errorf("%s", r.body)
		}
	}
	if strings.Contains(w.log.String(), "s3cret") {
		t.Error("it stands in the log")
	}
}

func TestFeedbackThatCannotBeKeptIsNotReceived(t *testing.T) {
	// Given a cluster without the topic
	w := adminWorld(t)
	_, w.url = w.start(func(o *api.Options) { o.Feedback = &feedbacktest.Sender{} })
	w.post(adminKey, goodFeedback, nil).want(t, 500, "internal-error")
	// Then everything else works.
	w.get("", "/readyz").want(t, 200, "")
}
