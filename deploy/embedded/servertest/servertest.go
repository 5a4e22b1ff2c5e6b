// Package servertest gives tests servers of anything: what they say is up to the test.
package servertest

import (
	"net"
	"testing"
)

// Start starts a server at 127.0.0.1 and returns its address, host:port. serve gets each connection in a goroutine of its own; it may
// close it, which the end of the test does anyway.
func Start(t testing.TB, serve func(net.Conn)) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return On(t, listener, serve)
}

// On is Start with a listener that the test has, as one with TLS, which ends with it.
func On(t testing.TB, listener net.Listener, serve func(net.Conn)) (addr string) {
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			go serve(conn)
		}
	}()
	return listener.Addr().String()
}
