package api_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tallyhouse/api"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

// gated is a connection whose counts wait until the gate opens.
type gated struct {
	reader.Conn
	gate chan struct{}
}

func (g *gated) Query(ctx context.Context, q string, args ...any) (driver.Rows, error) {
	if strings.HasPrefix(q, "SELECT count()") {
		<-g.gate
	}
	return g.Conn.Query(ctx, q, args...)
}

func TestOneKeyStopsNobodyElse(t *testing.T) {
	// Given a key that asks for 80 counts at once, none of which gets anywhere
	slow := &gated{gate: make(chan struct{})}
	w := adminWorld(t, func(o *api.Options) { o.Control, slow.Conn = o.ClickHouse, o.ClickHouse; o.ClickHouse = slow })
	w.send(events.Users, tenant, "U-quiet", &events.User{Name: "U", Active: true})
	w.member("U-quiet", events.Scope{Tenant: true}, "user")
	w.key("U-quiet", guestKey, func(*events.Key) {})
	w.known(guestKey)
	w.records(record{id: "R1", project: "P1"})
	const many = 80
	answers := make(chan response, many)
	var asking sync.WaitGroup
	for range many {
		asking.Go(func() { answers <- w.get(adminKey, "/v0/records?count=true") })
	}
	// Then what is more than may wait is refused, with a time to come back
	for range many - 4 - 64 {
		if r := (<-answers).want(t, http.StatusTooManyRequests, "too-many-requests"); r.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
		}
	}
	// And another key is answered meanwhile, and the API is ready
	for range 20 {
		w.get(guestKey, "/v0/records").want(t, 200, "")
		w.get(guestKey, "/v0/projects/P1/budget").want(t, 200, "")
		w.get("", "/readyz").want(t, 200, "")
	}
	// And the others are answered when they can be, or told to come back.
	close(slow.gate)
	asking.Wait()
	for range 4 + 64 {
		if r := <-answers; r.status != 200 && r.status != http.StatusTooManyRequests {
			t.Errorf("got %d %s", r.status, r.body)
		}
	}
}

func TestRequestsOfClientsThatLeftEnd(t *testing.T) {
	// Given a request whose count gets nowhere
	slow := &gated{gate: make(chan struct{})}
	w := adminWorld(t, func(o *api.Options) { o.Control, slow.Conn = o.ClickHouse, o.ClickHouse; o.ClickHouse = slow })
	ctx, leave := context.WithCancel(context.Background())
	var asking sync.WaitGroup
	for range 20 { // more than are worked on
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/v0/records?count=true", nil)
		w.must(err)
		request.Header.Set("Authorization", "Bearer "+adminKey)
		asking.Go(func() {
			if answer, err := http.DefaultClient.Do(request); err == nil {
				answer.Body.Close()
			}
		})
	}
	// When the clients leave
	leave()
	asking.Wait()
	close(slow.gate)
	// Then their requests end as such, and others are answered.
	w.eventually(knownWithin, "the key's next request is answered",
		func() bool { return w.get(adminKey, "/v0/records?count=true").status == 200 })
	if strings.Contains(w.log.String(), "status=500") {
		t.Errorf("the log has faults: %s", w.log.tail())
	}
}
