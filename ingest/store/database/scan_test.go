package database

import (
	"errors"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
)

// Given a result of many blocks, when what takes them in fails at the second, then it isn't asked again, its error comes back,
// and the server has ended the statement as one that was read whole.
func TestAScanWhoseReaderFailsIsReadToItsEnd(t *testing.T) {
	engine := clickhousetest.Start(t)
	if err := engine.RestartWithQueryLog(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Addr: engine.Addr(), Database: "default", User: "default"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	full := errors.New("no room for it")
	blocks := 0
	var numbers proto.ColUInt64
	scan := Query{SQL: "SELECT number FROM numbers(3000000) SETTINGS max_block_size = 1000, log_queries = 1, log_comment = 'scan'"}
	err = s.Scan(t.Context(), scan, proto.Results{{Name: "number", Data: &numbers}}, func() error {
		if blocks++; blocks == 2 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || blocks != 2 {
		t.Fatalf("%v after %d blocks", err, blocks)
	}
	var ended string
	var rows uint64
	of := Query{SQL: "SELECT toString(type), result_rows FROM system.query_log WHERE log_comment = 'scan' AND type != 'QueryStart'"}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // one that is broken off ends late
		if err := s.Exec(t.Context(), Statement{SQL: "SYSTEM FLUSH LOGS"}); err != nil {
			t.Fatal(err)
		}
		if err = s.Row(t.Context(), of, &ended, &rows); err == nil || time.Now().After(deadline) {
			break
		}
	}
	if err != nil || ended != "QueryFinish" || rows != 3_000_000 {
		t.Errorf("the server says %s after %d rows, %v", ended, rows, err)
	}
}
