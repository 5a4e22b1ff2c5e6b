package clickhousetest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Valve is a proxy before a server that a test can shut.
type Valve struct {
	listener net.Listener
	mu       sync.Mutex
	shut     bool
	conns    map[net.Conn]bool
}

// NewValve returns an open valve before a server, closed at the end of the test.
func NewValve(t testing.TB, server string) *Valve {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := &Valve{listener: listener, conns: map[net.Conn]bool{}}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			if v.admit(client) {
				go pass(client, server)
			} else {
				client.Close()
			}
		}
	}()
	t.Cleanup(func() { listener.Close(); v.Turn(true) })
	return v
}

// Addr is where clients connect to.
func (v *Valve) Addr() string { return v.listener.Addr().String() }

// Turn opens or shuts the valve. A shut one ends all connections and takes no new ones.
func (v *Valve) Turn(shut bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shut = shut
	if shut {
		for c := range v.conns {
			c.Close()
		}
		clear(v.conns)
	}
}

func (v *Valve) admit(client net.Conn) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.conns[client] = true
	return !v.shut
}

func pass(client net.Conn, addr string) {
	defer client.Close()
	server, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(client, server)
		client.Close()
	}()
	_, _ = io.Copy(server, client)
}
