package worker

import (
	"context"
	"fmt"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/heads"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
)

// Given an insert whose table is written and whose view failed, when the partition recovers, then the view gets that batch, once.
func TestATornInsertIsMended(t *testing.T) {
	t.Parallel()
	for _, view := range []string{"record_sums", "record_months"} {
		t.Run(view, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			s.send(someRecords(3)...)
			a, b := s.join("a"), s.join("b")
			a.assign()
			s.awaitAll(3)
			s.exec("INSERT INTO bomb VALUES ('" + view + "')")
			failed := a.db.failure()
			a.onStep(StepInserted, a.revoke) // it is not the one that mends
			for _, id := range ids(0, 2) {
				s.send(record(id, 2, map[string]any{"projectId": "P2", "net": 77, "allocations": []any{}}))
			}
			<-failed
			if at := s.at(0); at.State <= 3 || at.Views[view] != 3 {
				t.Fatalf("nothing is torn: %+v", at)
			}
			s.exec("TRUNCATE TABLE bomb")
			b.assign()
			s.awaitAll(5)
			s.check(s.model)
			if b.counter("views_mended_total") == 0 {
				t.Error("no view was mended")
			}
		})
	}
}

// One insert makes one part in the state table and one in each target, whatever its size: a part more is a half that no position shows.
func TestAnInsertMakesOnePartInEachTable(t *testing.T) {
	tests := []struct {
		name                string
		rows, contributions int // each, before and after
		keys                int // of contributions, all different
	}{
		{"a position row alone", 0, 0, 0},
		{"a few rows", 3, 1, 3},
		{"most rows, each with a key of its own", maxRows, maxContributions / maxRows / 2, maxContributions / 2},
		{"most contributions in one row", maxContributions / 2 / 10_000, 10_000, 50_000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newScenario(t)
			e := store.Of(events.Records)
			tables := []string{e.Table}
			for _, v := range e.Views() {
				tables = append(tables, v.Name)
			}
			for _, table := range tables {
				s.exec("SYSTEM STOP MERGES " + table)
			}
			claim, _, err := fence.Put(t.Context(), s.db, scenarioPartition.topic, []int32{0})
			if err != nil {
				t.Fatal(err)
			}
			server, err := position.ServerUUID(t.Context(), s.db)
			if err != nil {
				t.Fatal(err)
			}
			b := largest(e, test.rows, test.contributions, test.keys)
			block := e.NewBlock()
			b.fill(block, scenarioPartition)
			if want := test.rows + 1; block.Rows() != want {
				t.Fatalf("the batch has %d rows, want %d", block.Rows(), want)
			}
			written, err := s.db.Insert(t.Context(), database.Statement{
				ID: fence.WriterID(s.db, scenarioPartition.topic, 0), SQL: e.Insert(insertCondition(e)), Batch: block.Batch(), Limit: 4 * time.Minute,
				Params: claim.Params(0).With(database.Params{"first": "0", "key": store.PositionKey(0), "server": server}),
			})
			if err != nil || written == 0 {
				t.Fatal(written, err)
			}
			for _, table := range tables {
				if parts := s.parts(table); parts != 1 {
					t.Errorf("%s has %d parts after one insert of %d rows and %d contributions", table, parts, block.Rows(), b.contributions)
				}
			}
			if at := s.at(0); !s.reached(0, b.next) {
				t.Errorf("table and views are at %+v, want %d", at, b.next)
			}
		})
	}
}

// largest is a batch as large as asked for.
func largest(e *store.Entity, rows, each, keys int) *batch {
	b := newBatch(0, len(e.Shape.Sums))
	b.next = uint64(rows) + 1
	key := 0
	contributions := func() (c analytics.Contributions) {
		for range each {
			for i := range e.Shape.Keys {
				text := "k"
				if i == 0 {
					text = fmt.Sprint("key ", key%max(1, keys))
				}
				c.Keys = append(c.Keys, text)
			}
			for range e.Shape.Sums {
				c.Sums = append(c.Sums, 1)
			}
			key++
		}
		return c
	}
	for i := range rows {
		c := &change{
			event:  events.Event{Envelope: events.Envelope{TenantID: "demo", ID: fmt.Sprint("R", i), Version: 2, Op: events.Upsert, At: time.Now()}, Data: &events.Record{ProjectID: "P"}},
			offset: uint64(i), project: "P", contributions: contributions(), existed: true, before: heads.Head{Project: "P", Contributions: contributions()},
		}
		b.changes[c.event.Key()] = c
		b.contributions += 2 * each
	}
	return b
}

// parts counts the active parts of a table.
func (s *scenario) parts(table string) (n uint64) {
	s.t.Helper()
	err := s.db.Rows(context.Background(), database.Query{
		SQL: "SELECT count() FROM system.parts WHERE active AND database = currentDatabase() AND table = {table:String}", Params: database.Params{"table": table},
	}, func(scan func(...any) error) error { return scan(&n) })
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
