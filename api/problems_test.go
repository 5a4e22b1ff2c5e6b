package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"tallyhouse/api"
	"tallyhouse/api/problem"
	"tallyhouse/api/ratelimit"
	"tallyhouse/schemas/events"
)

// sendBody sends a request with a body of JSON; "" for none.
func (w *world) sendBody(method, key, target, body string) response {
	w.Helper()
	request, err := http.NewRequest(method, w.url+target, strings.NewReader(body))
	w.must(err)
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	return w.roundTrip(request)
}

// TestExamplesOfProblemsAreAnswers makes the request of each example where it leads to the problem, and compares.
func TestExamplesOfProblemsAreAnswers(t *testing.T) {
	// Given an admin of 31 projects with a key for all and one for P1, a guest, and a database that can be made to fail
	const oneKey = "pk_test_one_s3cret"
	connection := &switched{}
	w := adminWorld(t, func(o *api.Options) { connection.Conn, o.ClickHouse = o.ClickHouse, connection })
	w.key("U-admin", oneKey, func(k *events.Key) { k.ProjectIDs = some([]string{"P1"}) })
	w.user("U-guest", guestKey, "guest")
	for i := range 30 {
		w.project(string(rune('a'+i)), events.Project{})
	}
	w.eventually(knownWithin, "all projects are known", func() bool { return len(w.get(adminKey, "/v0/projects").items("id")) == 31 })
	w.seen(oneKey, "P1")
	w.known(guestKey)
	keys := map[*problem.Kind]string{problem.AuthenticationRequired: "", problem.InvalidCredentials: "pk_test_one_wrong",
		problem.FilterNotAllowed: guestKey, problem.TooManyProjects: adminKey}
	for _, kind := range problem.Kinds() {
		t.Run(kind.Suffix, func(t *testing.T) {
			request, document := kind.Example()
			method, target, _ := strings.Cut(request, " ")
			target, body, _ := strings.Cut(target, " ")
			key, ok := keys[kind]
			if !ok {
				key = oneKey
			}
			switch kind {
			case problem.TooManyRequests:
				defer func(before string) { w.url = before }(w.url)
				_, w.url = w.start(func(o *api.Options) { o.RateLimit = ratelimit.Policy{Events: 300, Window: time.Minute} })
				for range 300 {
					w.get(key, "/v0/none").want(t, http.StatusNotFound, "")
				}
			case problem.InternalError: // the last of them
				connection.broken.Store(&failing{func() {}})
			}
			// When the request is made
			r := w.sendBody(method, key, target, body).want(t, kind.Status, kind.Suffix)
			// Then the answer is the example, but for its id.
			id, _ := r.json["requestId"].(string)
			if got := strings.ReplaceAll(string(r.body), id, problem.ExampleID); got != string(document) {
				t.Errorf("answered %s\nthe example says %s", got, document)
			}
		})
	}
}
