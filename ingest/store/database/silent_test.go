package database

import (
	"strings"
	"testing"
	"time"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
)

// Given a server that falls silent, then a statement ends a little after its limit: the server would have ended it then.
func TestAStatementEndsWhereTheServerFallsSilent(t *testing.T) {
	t.Parallel()
	addr, name := clickhousetest.Database(t)
	valve := clickhousetest.NewValve(t, addr)
	valve.SilenceFrom(silent)
	s, err := Open(Options{Addr: valve.Addr(), Database: name, User: "default"}, 1)
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
