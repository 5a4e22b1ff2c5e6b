package database

import (
	"net"
	"strings"
	"testing"
	"time"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
)

// Given a server that falls silent, then a statement ends a little after its limit: the server would have ended it then.
func TestAStatementEndsWhereTheServerFallsSilent(t *testing.T) {
	t.Parallel()
	addr, name := clickhousetest.Database(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go silence(client, addr)
		}
	}()
	s, err := Open(Options{Addr: listener.Addr().String(), Database: name, User: "default"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for what, run := range map[string]func() error{
		"a query":   func() error { return s.Row(t.Context(), Query{SQL: silent, Limit: time.Second}, new(uint8)) },
		"a command": func() error { return s.Exec(t.Context(), Statement{SQL: silent, Limit: time.Second}) },
		"an insert": func() error {
			_, err := s.Insert(t.Context(), Statement{SQL: silent, Limit: time.Second})
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			go func() { ended <- run() }()
			select {
			case err := <-ended:
				if err == nil || strings.Contains(err.Error(), "EOF") {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Error("it still waits")
			}
		})
	}
}

// silent is a query that never comes through.
const silent = "SELECT 1 AS silent"

// silence passes on what a client says until that is the query.
func silence(client net.Conn, addr string) {
	defer client.Close()
	server, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 64<<10)
	heard := false
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if heard = heard || strings.Contains(string(buf[:n]), silent); !heard {
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
	}
}
