package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/template"

	"tallyhouse/schemas/events"
)

//go:embed testdata/kafka_engine.sql
var kafkaEngineSQL string

// kafkaEngine takes the same log in as ClickHouse does by itself.
func (s *system) kafkaEngine(out io.Writer, changes int) {
	const columnsOfRecords = `SELECT arrayStringConcat(groupArray(concat(name, ' ', type)), ', ')
FROM (SELECT name, type FROM system.columns WHERE database = 'tallyhouse' AND table = 'records' ORDER BY position)`
	var columns string
	if err := s.conn.QueryRow(context.Background(), columnsOfRecords).Scan(&columns); err != nil {
		s.b.Fatal(err)
	}
	var statements strings.Builder
	err := template.Must(template.New("").Parse(kafkaEngineSQL)).Execute(&statements, map[string]any{
		"Broker": s.broker.Addr(), "Topic": events.Records, "Consumers": runtime.NumCPU(), "Columns": columns,
	})
	if err != nil {
		s.b.Fatal(err)
	}
	m := s.measure()
	for statement := range strings.SplitSeq(strings.TrimSpace(statements.String()), ";\n\n") {
		if err := s.conn.Exec(context.Background(), strings.TrimSuffix(statement, ";")); err != nil {
			s.b.Fatal(err)
		}
	}
	var counted int64
	s.await(func() bool {
		const count = "SELECT sum(changes) FROM plain.sums"
		if err := s.conn.QueryRow(context.Background(), count).Scan(&counted); err != nil {
			s.b.Fatal(err)
		}
		return counted >= int64(changes)
	})
	taken := m.taken()
	var read uint64
	const readMessages = "SELECT sum(num_messages_read) FROM system.kafka_consumers WHERE database = 'plain'"
	if err := s.conn.QueryRow(context.Background(), readMessages).Scan(&read); err != nil {
		s.b.Fatal(err)
	}
	if err := s.conn.Exec(context.Background(), "DROP TABLE plain.stream_records SYNC"); err != nil { // ends the consumers
		s.b.Fatal(err)
	}
	s.settle()
	fmt.Fprintf(out, "Kafka engine\t%s\n", taken.per(changes))
	fmt.Fprintf(out, "\twith merges settled\tengine %.1f µs\n", micros(m.taken().engine, changes))
	fmt.Fprintf(out, "\t%d messages read, %d counted\n", read, counted)
}
