package reader

import (
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
)

// Given users whose profile cuts results short or hides rows, then a statement returns all rows or fails.
func TestAProfileHidesNothing(t *testing.T) {
	tests := []struct {
		name, profile string
		fails         bool
	}{
		{"limits and filters", "<limit>5</limit><offset>1</offset>" +
			"<additional_table_filters>{'ten': 'i = 3'}</additional_table_filters>" +
			"<additional_result_filter>rowNumberInAllBlocks() = 3</additional_result_filter>", false},
		{"rows to read", "<max_rows_to_read>1</max_rows_to_read><read_overflow_mode>break</read_overflow_mode>", true},
		{"result rows", "<max_result_rows>1</max_result_rows><result_overflow_mode>break</result_overflow_mode>", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			engine := clickhousetest.Start(t)
			conn, err := clickhouse.Open(&clickhouse.Options{Addr: []string{engine.Addr()}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			for _, statement := range []string{"CREATE TABLE ten (i UInt64) ENGINE = MergeTree ORDER BY i", "INSERT INTO ten SELECT number FROM numbers(10)"} {
				if err := conn.Exec(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			r := New(conn, conn, 10*time.Second)
			if err := engine.RestartWith(test.profile); err != nil {
				t.Fatal(err)
			}
			rows := 0
			err = r.each(t.Context(), Query{SQL: "SELECT i FROM ten"}, nil, func(func(...any) error) error { rows++; return nil })
			if test.fails && err == nil || !test.fails && (err != nil || rows != 10) {
				t.Errorf("%d rows of 10, %v", rows, err)
			}
		})
	}
}
