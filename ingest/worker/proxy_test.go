package worker

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// proxy stands between a worker and the engine and does to inserts what networks and stalled processes do: it cuts them
// in the middle, loses both ends, sends the data slowly, or delivers them late, when their sender has long given up.
type proxy struct {
	listener net.Listener
	engine   string
	strength int         // percent of the inserts that something happens to
	calm     atomic.Bool // nothing happens any more
	late     atomic.Int64
	held     atomic.Int64 // inserts still to be delivered, their senders gone

	mu    sync.Mutex
	rnd   *rand.Rand
	conns map[net.Conn]bool
}

func newProxy(t testing.TB, engine string, rnd *rand.Rand, strength int) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x := &proxy{listener: listener, engine: engine, rnd: rnd, strength: strength, conns: map[net.Conn]bool{}}
	go x.serve()
	t.Cleanup(func() { listener.Close(); x.cut() })
	return x
}

func (x *proxy) addr() string { return x.listener.Addr().String() }

func (x *proxy) n(n int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rnd.IntN(n)
}

func (x *proxy) upTo(d time.Duration) time.Duration { return time.Duration(x.n(int(d))) }

// cut ends all connections, as the death of the process behind them does.
func (x *proxy) cut() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for c := range x.conns {
		c.Close()
	}
}

func (x *proxy) serve() {
	for {
		client, err := x.listener.Accept()
		if err != nil {
			return
		}
		x.mu.Lock()
		x.conns[client] = true
		x.mu.Unlock()
		go func() {
			x.pass(client)
			client.Close()
			x.mu.Lock()
			delete(x.conns, client)
			x.mu.Unlock()
		}()
	}
}

func (x *proxy) pass(client net.Conn) {
	server, err := net.Dial("tcp", x.engine)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(client, server)
		client.Close()
		_, _ = io.Copy(io.Discard, server) // the client has gone; what it asked for goes on
	}()
	buf := make([]byte, 64<<10)
	slow := false
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if slow {
			time.Sleep(x.upTo(300 * time.Millisecond))
		}
		if !x.calm.Load() && bytes.Contains(buf[:n], []byte("INSERT INTO")) && x.n(100) < x.strength {
			switch kind := x.n(10); {
			case kind < 1: // half of it arrives
				_, _ = server.Write(buf[:x.n(n)])
				return
			case kind < 3: // both ends lose the connection, somewhere in the middle
				_, _ = server.Write(buf[:n])
				_ = client.SetReadDeadline(time.Now().Add(x.upTo(25 * time.Millisecond)))
				_, _ = io.Copy(server, client)
				return
			case kind < 6: // the sender gives up; the insert comes all the same, at once or seconds later
				x.deliverLate(client, server, buf[:n], kind < 5)
				return
			default:
				slow = true
			}
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (x *proxy) deliverLate(client, server net.Conn, begun []byte, much bool) {
	_ = client.SetReadDeadline(time.Now().Add(5*time.Millisecond + x.upTo(60*time.Millisecond)))
	rest, _ := io.ReadAll(client)
	x.late.Add(1)
	x.held.Add(1)
	client.Close()
	if much {
		time.Sleep(x.upTo(1800 * time.Millisecond))
	}
	_, _ = server.Write(append(bytes.Clone(begun), rest...))
	time.Sleep(200 * time.Millisecond)
	x.held.Add(-1)
	time.Sleep(2 * time.Second)
}
