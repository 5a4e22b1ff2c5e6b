package api_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tallyhouse/api"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
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

func TestARequestHasOneLimitOfTimeForAllItsStatements(t *testing.T) {
	// Given a budget, which takes two statements, the first of which takes as long as the request may
	const limit = time.Second
	slow := atomic.Bool{}
	w := structured(t, func(o *api.Options) { o.QueryTimeout = limit }, rewritten(func(sql string) string {
		if slow.CompareAndSwap(true, false) {
			time.Sleep(limit + limit/10)
		}
		return sql
	}))
	slow.Store(true)
	// Then the second is not sent any more.
	w.get(adminKey, "/v0/projects/P1/budget").faulty(t, "The request took longer than it may.")
	w.eventually(time.Minute, "the next one is answered",
		func() bool { return w.get(adminKey, "/v0/projects/P1/budget").status == 200 })
}

func TestHealthAndAccessWaitForNoRequest(t *testing.T) {
	// Given an instance none of whose requests gets anywhere
	w := adminWorld(t)
	gate := make(chan struct{})
	defer close(gate)
	_, w.url = w.start(rewritten(func(sql string) string { <-gate; return sql }))
	left, leave := context.WithCancel(context.Background())
	defer leave()
	for range 4 {
		request, err := http.NewRequestWithContext(left, http.MethodGet, w.url+"/v0/records", nil)
		w.must(err)
		request.Header.Set("Authorization", "Bearer "+adminKey)
		go func() {
			if answer, err := http.DefaultClient.Do(request); err == nil {
				answer.Body.Close()
			}
		}()
	}
	// Then it became ready, stays so, and hears of new keys.
	w.get("", "/readyz").want(t, 200, "")
	w.user("U2", guestKey, "guest")
	w.known(guestKey)
}

func TestACountDoesNotTakeTheWholeServer(t *testing.T) {
	// Given a server that takes seven threads for a statement unless it is told otherwise
	w := adminWorld(t)
	greedy, err := clickhouse.Open(&clickhouse.Options{Addr: []string{clickhousetest.Engine(t).Addr()},
		Auth: clickhouse.Auth{Database: w.database}, Settings: clickhouse.Settings{"max_threads": 7}})
	w.must(err)
	defer greedy.Close()
	// When a count says how many it has
	_, w.url = w.start(func(o *api.Options) { o.ClickHouse = greedy }, rewritten(func(sql string) string {
		if strings.HasPrefix(sql, "SELECT count()") {
			return "SELECT toUInt64(getSetting('max_threads'))"
		}
		return sql
	}))
	page := w.get(adminKey, "/v0/records?count=true").want(t, 200, "").json["page"].(map[string]any)
	// Then it is two.
	if page["total"] != 2.0 {
		t.Errorf("a count has %v threads", page["total"])
	}
}

// manyClients is how many connections make test opens at once; TALLYHOUSE_CLIENTS says otherwise.
const manyClients = 100

func TestManyClientsAtOnce(t *testing.T) {
	// Given a tenant with many connections that do what they can, and a quiet one
	clients := manyClients
	if text := os.Getenv("TALLYHOUSE_CLIENTS"); text != "" {
		var err error
		if clients, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	w := large(t)
	quietKey := w.otherTenant("quiet")
	s := w.serve(func(*api.Server) {})
	goroutines := runtime.NumGoroutine()
	debug.FreeOSMemory()
	before := memory(t, "VmRSS")
	w.must(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // the peak begins anew

	var asking sync.WaitGroup
	over := make(chan struct{})
	refused := atomic.Int64{}
	for i := range clients {
		conn, err := net.Dial("tcp", s.addr)
		w.must(err)
		asking.Go(func() {
			defer conn.Close()
			say := func(text string) { _, _ = io.WriteString(conn, text) }
			switch i % 5 {
			case 0, 1: // asks again and again
				path := []string{"/v0/records?limit=200&count=true&fields=id", "/v0/projects/P1/budget"}[i%2]
				for from := bufio.NewReader(conn); ; {
					say(request(path, adminKey) + "\r\n")
					answer, err := http.ReadResponse(from, nil)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, answer.Body)
					switch answer.StatusCode {
					case http.StatusOK:
						return
					case http.StatusTooManyRequests:
						refused.Add(1)
					default:
						t.Errorf("%s: %s", path, answer.Status)
						return
					}
				}
			case 2: // leaves at once
				say(request(largePage, adminKey) + "\r\n")
			case 3: // says half of what it wants
				say(request(largePage, adminKey))
				<-over
			case 4: // reads nothing
				say(request(largePage, adminKey) + "\r\n")
				<-over
			}
		})
	}
	// Then the quiet tenant is answered meanwhile
	for range 50 {
		w.get(quietKey, "/v0/records").want(t, 200, "")
		w.get("", "/readyz").want(t, 200, "")
	}
	close(over)
	asking.Wait()
	// And in the end nothing is left of them, nothing was a fault, and memory was bounded, whatever their number.
	w.eventually(time.Minute, "nothing is worked on", func() bool {
		requests, bytes := s.server.Working()
		return requests == 0 && bytes == 0
	})
	http.DefaultClient.CloseIdleConnections()
	w.eventually(time.Minute, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines+5 })
	if strings.Contains(w.log.String(), "status=500") {
		t.Errorf("the log has faults: %s", w.log.tail())
	}
	took := memory(t, "VmHWM") - before
	t.Logf("%d clients, %d times refused, at most %d MB", clients, refused.Load(), took)
	if took > 600 {
		t.Errorf("%d clients took %d MB", clients, took)
	}
}
