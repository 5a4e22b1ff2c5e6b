package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tallyhouse/api"
	"tallyhouse/reader"
)

const (
	ever = time.Hour // longer than any test waits
	soon = 200 * time.Millisecond
)

// served is an instance of the API that listens as it does in production.
type served struct {
	server *api.Server
	addr   string
	stop   context.CancelFunc
	ended  chan error // what Run returned
}

// serve lets an instance listen, until the test ends. Prepare comes before that.
func (w *world) serve(prepare func(*api.Server), change ...func(*api.Options)) *served {
	w.Helper()
	server, err := api.New(w.options(change...))
	w.must(err)
	prepare(server)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	ctx, stop := context.WithCancel(context.Background())
	s := &served{server, listener.Addr().String(), stop, make(chan error, 1)}
	gone := make(chan struct{})
	go func() { s.ended <- server.Run(ctx, listener); close(gone) }()
	w.Cleanup(func() { stop(); <-gone })
	w.eventually(readyWithin, "the API is ready", func() bool { return server.Ready() == nil })
	w.url = "http://" + s.addr
	return s
}

// sendRaw opens a connection and sends this on it.
func (w *world) sendRaw(s *served, text string) net.Conn {
	w.Helper()
	conn, err := net.Dial("tcp", s.addr)
	w.must(err)
	w.Cleanup(func() { conn.Close() })
	w.must(conn.(*net.TCPConn).SetReadBuffer(64 << 10)) // the kernel doesn't read a response for the client
	_, err = io.WriteString(conn, text)
	w.must(err)
	w.must(conn.SetReadDeadline(time.Now().Add(time.Minute))) // of a hung test
	return conn
}

// request is one of this key, as it goes over the wire, without its end.
func request(path, key string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer " + key + "\r\n"
}

// large is a world with records that make a page of about 8 MB.
func large(t testing.TB) *world {
	w := named(t, 500_000)
	var rows []record
	for i := range 8 {
		rows = append(rows, record{id: fmt.Sprint("R", i), project: "P1", nodes: []string{"n"}, nets: []int64{1}})
	}
	w.records(rows...)
	return w
}

const largePage = "/v0/records?fields=allocations"

func TestConnectionsThatSayNothingEnd(t *testing.T) {
	w := adminWorld(t)
	tests := []struct {
		name, sent string
		prepare    func(*api.Server)
		answered   bool // once, before the connection ends
	}{
		{"nothing", "", func(s *api.Server) { s.Wait(soon, ever, ever, ever, ever) }, false},
		{"half a header", request("/v0/projects", adminKey), func(s *api.Server) { s.Wait(soon, ever, ever, ever, ever) }, false},
		{"no body where one was announced", request("/v0/projects", adminKey) + "Content-Length: 10\r\n\r\n",
			func(s *api.Server) { s.Wait(ever, soon, ever, ever, ever) }, true},
		{"no next request", request("/v0/projects", adminKey) + "\r\n",
			func(s *api.Server) { s.Wait(ever, ever, ever, soon, ever) }, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			// Given a client that sends so much and no more
			conn := w.sendRaw(w.serve(test.prepare), test.sent)
			// Then the connection ends.
			got, err := io.ReadAll(conn)
			if err != nil {
				t.Fatalf("the connection doesn't end: %v, %s", err, got)
			}
			if answered := strings.Contains(string(got), "200 OK"); answered != test.answered {
				t.Errorf("answered %t: %s", answered, got)
			}
		})
	}
}

func TestOptionsOfTheWholeServerAreAnsweredLikeEveryRequest(t *testing.T) {
	w := adminWorld(t)
	conn := w.sendRaw(w.serve(func(*api.Server) {}), "OPTIONS * HTTP/1.1\r\nHost: api\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	w.must(err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound || answer.Header.Get("X-Request-Id") == "" || answer.Header.Get("Link") == "" {
		t.Errorf("%d %v", answer.StatusCode, answer.Header)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	w := adminWorld(t)
	s := w.serve(func(*api.Server) {})
	for size, want := range map[int]int{20_000: http.StatusOK, 100_000: http.StatusRequestHeaderFieldsTooLarge} {
		conn, err := net.Dial("tcp", s.addr)
		w.must(err)
		defer conn.Close()
		go func() { // the answer may come before all of it was sent
			_, _ = io.WriteString(conn, request("/v0/projects", adminKey)+"X-Large: "+strings.Repeat("x", size)+"\r\n\r\n")
		}()
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || answer.StatusCode != want {
			t.Errorf("%d bytes of headers: %v, %v", size, answer, err)
		}
	}
}

func TestClientsThatReadNothing(t *testing.T) {
	// Given a server that gives clients a while to read, and connections of one key that read nothing
	w := large(t)
	w.user("U-quiet", guestKey, "guest")
	w.known(guestKey)
	const clients, body, share = 12, 8_000_000, 64 << 20
	s := w.serve(func(s *api.Server) { s.Wait(ever, ever, 10*time.Second, ever, ever) })
	before := runtime.NumGoroutine()
	conns := make([]net.Conn, clients)
	for i := range conns {
		conns[i] = w.sendRaw(s, request(largePage, adminKey)+"\r\n")
	}
	// Then as many as its share has room for are answered at a time, and others meanwhile
	sending := func() int {
		_, bytes := s.server.Working()
		return bytes
	}
	w.eventually(time.Minute, "its share is used", func() bool { return sending() >= share })
	for range 20 {
		w.get(guestKey, "/v0/records?fields=id").want(t, 200, "")
		if bytes := sending(); bytes > share+4*(body+1<<20) {
			t.Fatalf("%d bytes are being sent", bytes)
		}
	}
	// And in the end all of them are cut off, and leave nothing behind.
	w.eventually(time.Minute, "nothing is being sent", func() bool {
		requests, bytes := s.server.Working()
		return requests == 0 && bytes == 0
	})
	for _, conn := range conns {
		conn.Close()
	}
	w.eventually(time.Minute, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before+5 })
	if strings.Contains(w.log.String(), "status=500") {
		t.Errorf("the log has faults: %s", w.log.tail())
	}
}

func TestStoppingWaitsForThoseWhoRead(t *testing.T) {
	w := large(t)
	for name, test := range map[string]struct {
		patience time.Duration
		reads    bool
	}{"a slow reader": {ever, true}, "one that reads nothing": {soon, false}} {
		t.Run(name, func(t *testing.T) {
			// Given a response of which the client has read the beginning
			s := w.serve(func(s *api.Server) { s.Wait(ever, ever, ever, ever, test.patience) })
			answer, err := http.ReadResponse(bufio.NewReaderSize(w.sendRaw(s, request(largePage, adminKey)+"\r\n"), 16), nil)
			w.must(err)
			// When the server is to end, then nobody else is let in
			s.stop()
			w.eventually(time.Minute, "it doesn't listen any more", func() bool {
				conn, err := net.Dial("tcp", s.addr)
				if err == nil {
					conn.Close()
				}
				return err != nil
			})
			if !test.reads {
				// And it ends without a client that doesn't read.
				if err := <-s.ended; err == nil || !strings.Contains(err.Error(), "still running") {
					t.Errorf("ended with %v", err)
				}
				return
			}
			// And it ends when the client has all of it.
			select {
			case err := <-s.ended:
				t.Fatalf("it ended before: %v", err)
			default:
			}
			body, err := io.ReadAll(answer.Body)
			if err != nil || int64(len(body)) != answer.ContentLength || len(body) < 4_000_000 {
				t.Errorf("read %d of %d bytes, %v", len(body), answer.ContentLength, err)
			}
			if err := <-s.ended; err != nil {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// rewriting is a connection for requests that sends other statements. It ends none: that is what others are for.
type rewriting struct {
	reader.Conn
	replace func(sql string) string
}

func (r *rewriting) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if strings.HasPrefix(sql, "KILL") {
		return nil, errors.New("no connection is left to end a statement")
	}
	return r.Conn.Query(ctx, r.replace(sql), args...)
}

// rewritten lets the instance's requests send other statements.
func rewritten(replace func(sql string) string) func(*api.Options) {
	return func(o *api.Options) {
		o.Control = o.ClickHouse
		o.ClickHouse = &rewriting{o.ClickHouse, replace}
	}
}

func TestStatementsOfClientsThatLeftAreKilled(t *testing.T) {
	// Given more requests than are worked on at a time, with statements that would run for minutes
	stuck := rewritten(func(sql string) string {
		if strings.HasPrefix(sql, "SELECT count()") {
			// one row at the end: whoever has read the first one needs no more of it
			return "SELECT sum(sleepEachRow(1)) /* stuck */ FROM numbers(150) SETTINGS max_block_size = 1"
		}
		return sql
	})
	// And so much time for each that the engine doesn't end them by its own estimate
	w := adminWorld(t, stuck, func(o *api.Options) { o.QueryTimeout = time.Hour })
	running := func() (n uint64) {
		const processes = "SELECT count() FROM system.processes WHERE query LIKE '%/* stuck */%' AND query NOT LIKE '%processes%' AND current_database = currentDatabase()"
		w.must(w.db.QueryRow(context.Background(), processes).Scan(&n))
		return n
	}
	ctx, leave := context.WithCancel(context.Background())
	gone := make(chan struct{})
	const clients = 12
	for range clients {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/v0/records?count=true", nil)
		w.must(err)
		request.Header.Set("Authorization", "Bearer "+adminKey)
		go func() {
			if answer, err := http.DefaultClient.Do(request); err == nil {
				answer.Body.Close()
			}
			gone <- struct{}{}
		}()
	}
	w.eventually(time.Minute, "two of them run, as many as the database has threads, and the others wait", func() bool {
		requests, _ := w.server.Working()
		return running() == 2 && requests == clients
	})
	// When the clients leave
	leave()
	for range clients {
		<-gone
	}
	// Then their statements end at the engine, and those that waited begin none
	w.eventually(time.Minute, "nothing runs", func() bool {
		requests, _ := w.server.Working()
		return running() == 0 && requests == 0
	})
	// And the log has them as gone, not as faults.
	w.eventually(time.Minute, "all are in the log", func() bool { return strings.Count(w.log.String(), "status=499") == clients })
	if strings.Contains(w.log.String(), "status=500") {
		t.Errorf("the log has faults: %s", w.log.tail())
	}
}
