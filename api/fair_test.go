package api_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/api"
	"tallyhouse/api/ratelimit"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/schemas/events"
)

// Whatever a tenant asks for, and by whatever door: its statements wait for their turn.
func TestTheStatementsOfEveryOperationWaitForTheirTurn(t *testing.T) {
	// Given a project on a structure, and one request at a time
	var w *world
	sent, outside := atomic.Int64{}, atomic.Value{}
	w = structured(t, rewritten(func(sql string) string {
		sent.Add(1)
		if w != nil && w.server != nil {
			if _, _, _, running := w.server.MayRun(); running == 0 {
				outside.Store(sql)
			}
		}
		return sql
	}))
	w.records(record{id: "R1", project: "P1"})
	session := w.agent(adminKey)
	asked := map[string]func(){
		"export": func() { w.export(adminKey, "records.ndjson") },
		"changes": func() {
			cursor := w.export(adminKey, "records.ndjson").trailer.Get("Tallyhouse-Cursor")
			w.export(adminKey, "changes.ndjson?cursor="+cursor)
		},
		"count": func() { w.get(adminKey, "/v0/records?count=true") },
		"tool":  func() { w.called(session, "listRecords", nil) },
	}
	for id, o := range w.reading() {
		if id == "listProjects" || id == "getProject" { // from the access store
			continue
		}
		path := o.Path
		for _, segment := range strings.Split(o.Path, "/") {
			if name, ok := strings.CutPrefix(segment, "{"); ok {
				value := map[string]string{"projectId}": "P1", "month}": "2026-01"}[name]
				if value == "" {
					value = "X1"
				}
				path = strings.ReplaceAll(path, segment, value)
			}
		}
		asked[id] = func() { w.get(adminKey, path) }
	}
	for name, ask := range asked {
		// When it is asked for
		sent.Store(0)
		outside.Store("")
		ask()
		// Then it sends statements, none of them before its turn.
		if sent.Load() == 0 {
			t.Errorf("%s sends no statement", name)
		}
		if sql := outside.Load(); sql != "" {
			t.Errorf("%s sends a statement that didn't wait for its turn: %s", name, sql)
		}
	}
}

func TestTheDatabaseSaysHowManyStatementsRun(t *testing.T) {
	// Given a server that takes seven threads for a statement
	w := adminWorld(t)
	wide, err := clickhouse.Open(&clickhouse.Options{Addr: []string{clickhousetest.Engine(t).Addr()},
		Auth: clickhouse.Auth{Database: w.database}, Settings: clickhouse.Settings{"max_threads": 7}})
	w.must(err)
	defer wide.Close()
	// When an API runs on it, then as many statements of a key may run, one more of a tenant, and two more in all.
	server, _ := w.start(func(o *api.Options) { o.ClickHouse, o.Control = wide, wide })
	w.eventually(readyWithin, "the API knows the database's threads", func() bool {
		all, tenant, principal, _ := server.MayRun()
		return all == 9 && tenant == 8 && principal == 7
	})
}

func TestRefusalsAreHeldBack(t *testing.T) {
	// Given an instance that may answer one request of a key in an hour, and one that has
	w := adminWorld(t)
	server, url := w.start(func(o *api.Options) { o.RateLimit = ratelimit.Policy{Events: 1, Window: time.Hour} })
	server.HoldRefused(time.Hour)
	w.url = url
	w.send(events.Users, tenant, "U-guest", &events.User{Name: "U", Active: true})
	w.key("U-guest", guestKey, func(*events.Key) {})
	w.get(adminKey, "/v0/projects").want(t, http.StatusOK, "")
	// When it asks again and again: directly, as an agent by a tool, and with anything else
	var leave []func()
	for _, request := range [][3]string{
		{http.MethodGet, "/v0/projects", ""},
		{http.MethodGet, "/export/v1/records.ndjson", ""},
		{http.MethodPost, "/mcp", recordMessage},
		{http.MethodPost, "/mcp", pingMessage},
	} {
		left := w.leaving(request[0], request[1], request[2])
		defer left()
		leave = append(leave, left)
		// Then the refusal is held back
		w.eventually(time.Minute, "it is held back", func() bool { return server.Held() == len(leave) })
	}
	// And others are answered meanwhile, and nothing is held for who has left.
	w.eventually(knownWithin, "another key is answered", func() bool { return w.get(guestKey, "/v0/projects").status == 200 })
	for _, left := range leave {
		left()
	}
	w.eventually(time.Minute, "nothing is held back", func() bool { return server.Held() == 0 })
}

// leaving sends a request that nobody waits for, and returns how its client leaves.
func (w *world) leaving(method, path, body string) (leave func()) {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	w.must(err)
	request.Header = http.Header{"Authorization": {"Bearer " + adminKey}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}}
	left := make(chan struct{})
	go func() {
		defer close(left)
		if answer, err := http.DefaultClient.Do(request); err == nil {
			answer.Body.Close()
		}
	}()
	return sync.OnceFunc(func() { cancel(); <-left })
}
