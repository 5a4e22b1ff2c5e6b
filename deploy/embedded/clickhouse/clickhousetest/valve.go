package clickhousetest

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// Valve is a proxy before a server that a test can shut, or have fall silent.
type Valve struct {
	listener net.Listener

	mu      sync.Mutex
	server  string
	shut    bool
	silence bool
	from    []byte            // where a connection falls silent; nil for nowhere
	silent  map[net.Conn]bool // by client: whether its connection is
}

// NewValve returns an open valve before a server, closed at the end of the test.
func NewValve(t testing.TB, server string) *Valve {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := &Valve{listener: listener, server: server, silent: map[net.Conn]bool{}}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go v.serve(client)
		}
	}()
	t.Cleanup(func() { listener.Close(); v.Turn(true) })
	return v
}

// Addr is where clients connect to.
func (v *Valve) Addr() string { return v.listener.Addr().String() }

// Turn opens or shuts the valve. A shut one ends all connections and takes no new ones; new ones through an open one are
// not silent.
func (v *Valve) Turn(shut bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shut, v.silence = shut, false
	if shut {
		for client := range v.silent {
			client.Close()
		}
	}
}

// Silence has nothing pass any more, in neither direction, while no connection ends: as where a server hangs, or a
// network loses everything.
func (v *Valve) Silence() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.silence = true
}

// SilenceFrom silences each connection as soon as its client says a text in one piece, which the server doesn't hear.
func (v *Valve) SilenceFrom(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.from = []byte(text)
}

// serve passes on what a client and the server say, until one of them ends the connection.
func (v *Valve) serve(client net.Conn) {
	defer client.Close()
	to, ok := v.admit(client)
	if !ok {
		return
	}
	defer v.forget(client)
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		pass(server, client, func([]byte) bool { return v.drops(client, nil) })
		client.Close()
	}()
	pass(client, server, func(said []byte) bool { return v.drops(client, said) })
}

func (v *Valve) admit(client net.Conn) (server string, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.shut {
		v.silent[client] = false
	}
	return v.server, !v.shut
}

// before puts the valve before another server.
func (v *Valve) before(server string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.server = server
}

func (v *Valve) forget(client net.Conn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.silent, client)
}

// drops reports whether a connection is silent, from what its client just said on.
func (v *Valve) drops(client net.Conn, said []byte) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.silence || v.from != nil && bytes.Contains(said, v.from) {
		v.silent[client] = true
	}
	return v.silent[client]
}

func pass(from, to net.Conn, drops func(said []byte) bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if drops(buffer[:n]) {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
