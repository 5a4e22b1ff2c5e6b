package database

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
)

func open(t *testing.T) *Server {
	t.Helper()
	s := opened(t, 2)
	if err := s.Exec(t.Context(), Statement{SQL: "CREATE TABLE slept (n UInt8) ENGINE = MergeTree ORDER BY n"}); err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	sleeping = "SELECT sleepEachRow(0.2) FROM numbers(20) SETTINGS max_block_size = 1"
	failing  = "SELECT throwIf(number = 3) FROM numbers(5) SETTINGS max_block_size = 1"
)

// Given a statement of any kind that takes longer than its limit, or fails when a part of its rows has come, then whoever sent it learns
// of that.
func TestAStatementThatDoesNotComeToItsEndFails(t *testing.T) {
	t.Parallel()
	s := open(t)
	for kind, send := range map[string]func(sql string) error{
		"exec": func(sql string) error { return s.Exec(t.Context(), Statement{SQL: sql, Limit: time.Second}) },
		"insert": func(sql string) error {
			_, err := s.Insert(t.Context(), Statement{SQL: "INSERT INTO slept " + sql, Limit: time.Second})
			return err
		},
		"rows": func(sql string) error {
			return s.Rows(t.Context(), Query{SQL: sql, Limit: time.Second}, func(func(...any) error) error { return nil })
		},
		"scan": func(sql string) error {
			var n proto.ColUInt8
			return s.Scan(t.Context(), Query{SQL: sql, Limit: time.Second}, proto.Results{{Data: &n}}, func() error { return nil })
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			err := send(sleeping)
			if err == nil || !strings.Contains(err.Error(), "TIMEOUT_EXCEEDED") && !strings.Contains(err.Error(), "code: 159") {
				t.Errorf("beyond its limit: %v", err)
			}
			if err := send(failing); err == nil {
				t.Error("it failed, and nobody learns of it")
			}
		})
	}
}

// Given an insert whose sender is told to stop, then it comes to its end all the same: cancelled, nobody would know what it wrote. What it
// wrote is told, however often the server reports.
func TestAnInsertIsNeverCancelled(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, stop)
	const blockByBlock = " SETTINGS max_block_size = 1, min_insert_block_size_rows = 1"
	n, err := s.Insert(ctx, Statement{SQL: "INSERT INTO slept SELECT sleepEachRow(0.2) FROM numbers(4)" + blockByBlock})
	if err != nil || n != 4 {
		t.Errorf("%d rows, %v", n, err)
	}
	if _, err := s.Insert(ctx, Statement{SQL: "INSERT INTO slept SELECT 1"}); err == nil {
		t.Error("another one began")
	}
}

func TestARowIsOne(t *testing.T) {
	t.Parallel()
	s := open(t)
	for sql, one := range map[string]bool{"SELECT 7": true, "SELECT arrayJoin([7, 7])": false, "SELECT 7 WHERE 0": false} {
		var n uint8
		if err := s.Row(t.Context(), Query{SQL: sql}, &n); (err == nil) != one {
			t.Errorf("%s: %d, %v", sql, n, err)
		}
	}
}

// A server that doesn't know one of the settings on which a statement depends refuses the statement.
func TestASettingThatTheServerDoesNotKnowIsRefused(t *testing.T) {
	t.Parallel()
	client, err := open(t).writers.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ofTomorrow := settings(map[string]string{"setting_of_tomorrow": "1"}, time.Second)
	err = client.Do(t.Context(), ch.Query{Body: "SELECT 1 WHERE 0", Settings: ofTomorrow})
	if err == nil || !strings.Contains(err.Error(), "setting_of_tomorrow") {
		t.Errorf("refused with %v", err)
	}
}
