package database

import (
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
)

// Given connections that were idle when the server ended them all, then one insert at most finds that out; and those that were quiet for
// long aren't tried.
func TestConnectionsThatEndedWhileIdle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		quiet time.Duration
		fail  int
	}{
		{"a moment ago", 0, 1},
		{"for long", maxIdle + time.Second, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			const connections = 4
			s, valve := behindValve(t, connections)
			fill(t, s, connections)
			valve.Turn(true)
			valve.Turn(false)
			for i := range s.writers.idle {
				s.writers.idle[i].since = s.writers.idle[i].since.Add(-test.quiet)
			}

			failures := 0
			for range connections {
				if _, err := s.Insert(t.Context(), Statement{SQL: nothing}); err != nil {
					failures++
				}
			}

			if failures > test.fail {
				t.Errorf("%d inserts failed, want %d", failures, test.fail)
			}
		})
	}
}

// Given an insert that the server refuses, then the other connections are used further on.
func TestARefusedInsertEndsNoOtherConnection(t *testing.T) {
	t.Parallel()
	s, _ := behindValve(t, 2)
	fill(t, s, 2)

	_, err := s.Insert(t.Context(), Statement{SQL: "INSERT INTO missing SELECT 1"})

	if !ch.IsException(err) || len(s.writers.idle) != 1 {
		t.Errorf("%d connections are left beside %v", len(s.writers.idle), err)
	}
}

// nothing is an insert that writes nothing.
const nothing = "INSERT INTO FUNCTION null('x UInt8') SELECT 1"

// behindValve is a server whose connections a test can end.
func behindValve(t *testing.T, inserts int) (*Server, *clickhousetest.Valve) {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	valve := clickhousetest.NewValve(t, addr)
	s, err := Open(Options{Addr: valve.Addr(), Database: name, User: "default"}, inserts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, valve
}

// fill makes so many idle connections.
func fill(t *testing.T, s *Server, connections int) {
	t.Helper()
	var clients []*ch.Client
	for range connections {
		client, err := s.writers.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client)
	}
	for _, client := range clients {
		s.writers.release(client, client.Ping(t.Context()))
	}
	if len(s.writers.idle) != connections {
		t.Fatalf("%d connections are idle", len(s.writers.idle))
	}
}
