package worker

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// Given an insert whose table is written and whose view failed, when the partition recovers, then the view gets that
// batch, once.
func TestATornInsertIsMended(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.send(someRecords(3)...)
	a, b := s.join("a"), s.join("b")
	a.assign()
	s.awaitAll(3)
	s.await("its first batch is over", func() bool { return a.statusOf(0).Position == 3 })
	s.exec("INSERT INTO bomb VALUES ('records')")
	failed := a.db.failure()
	a.onStep(StepInserted, a.revoke) // it is not the one that mends
	for _, id := range ids(0, 2) {
		s.send(record(id, 2, map[string]any{"projectId": "P2", "net": 77, "allocations": []any{}}))
	}
	s.awaitEvent("the insert fails", failed)
	if at := s.at(0); at.State <= 3 || at.Seen() != 3 {
		t.Fatalf("nothing is torn: %+v", at)
	}
	s.exec("TRUNCATE TABLE bomb")
	b.assign()
	s.awaitAll(5)
	s.check(s.model)
	if b.counter("views_mended_total") == 0 {
		t.Error("no view was mended")
	}
}

// Given a writer that falls asleep as it is about to mend a view, when another one mends it and goes on, then the sleeper,
// awake again, adds nothing.
func TestAMendThatComesLate(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.exec("INSERT INTO bomb VALUES ('records')")
	s.send(someRecords(3)...)
	a, b := s.join("a"), s.join("b")
	asleep, awake, looked := make(chan struct{}), make(chan struct{}), make(chan struct{})
	wake := sync.OnceFunc(func() { close(awake) })
	defer wake()
	a.onStep(StepMend, func() {
		a.onStep(StepMember, func() { close(looked) }) // its next recovery
		close(asleep)
		<-awake
	})
	a.assign()
	s.awaitEvent("it falls asleep before the mend", asleep)
	s.exec("TRUNCATE TABLE bomb")
	b.assign()
	s.awaitAll(3)
	wake()
	s.awaitEvent("it has found that another took over", looked)
	if n := a.counter("views_mended_total"); n != 0 {
		t.Errorf("it mended %v views, too", n)
	}
	a.revoke()
	s.check(s.model)
}

// One insert makes one part in the state table and one in sums, whatever its size: a part more is a half that no
// position shows.
func TestAnInsertMakesOnePartInEachTable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		rows, deltas int
	}{
		{"a position row alone", 0, 0},
		{"a few rows", 3, 3},
		{"most rows and most deltas", maxRows, maxDeltas},
		{"an entity with the most summands", 1, 2 * analytics.MaxContribution},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			e := store.Of(events.Records)
			tables := []string{e.Table, "sums"}
			for _, table := range tables {
				s.exec("SYSTEM STOP MERGES " + table)
			}
			claim, _, err := fence.Put(t.Context(), s.db, scenarioPartition.Topic, []int32{0}, "test")
			if err != nil {
				t.Fatal(err)
			}
			server, err := position.ServerUUID(t.Context(), s.db)
			if err != nil {
				t.Fatal(err)
			}
			next := uint64(test.rows) + 1
			block := e.NewBlock()
			for i := range test.rows {
				block.Append(&store.Row{Tenant: "demo", Project: "P", ID: fmt.Sprint("R", i), Version: 2, At: time.Now(), Data: &events.Record{ProjectID: "P"}, SrcOffset: uint64(i)})
			}
			block.AppendPosition(0, next, -1, time.Now())
			for i := range test.deltas {
				block.AddDelta(clickhouse.RollReferences, []byte("demo"), []byte("P"), [][]byte{[]byte(fmt.Sprint("contractor ", i))}, []int64{1})
			}
			block.Sort()
			if want := test.rows + 1; block.Rows() != want {
				t.Fatalf("the batch has %d rows, want %d", block.Rows(), want)
			}
			written, err := s.db.Insert(t.Context(), database.Statement{
				ID: fence.WriterID(s.db, scenarioPartition.Topic, 0), SQL: e.Insert(insertCondition(e)), Batch: block.Batch(), Limit: 4 * time.Minute,
				Params: claim.Params(0).With(database.Params{"first": "0", "key": clickhouse.PositionProject(0), "server": server}),
			})
			if err != nil || written == 0 {
				t.Fatal(written, err)
			}
			for _, table := range tables {
				if parts := s.parts(table); parts != 1 {
					t.Errorf("%s has %d parts after one insert of %d rows and %d deltas", table, parts, block.Rows(), test.deltas)
				}
			}
			if n := s.count("SELECT count() FROM sums WHERE roll = 'references'"); n != uint64(test.deltas) {
				t.Errorf("sums has %d of %d", n, test.deltas)
			}
			if at := s.at(0); !s.reached(0, next) {
				t.Errorf("table and view are at %+v, want %d", at, next)
			}
		})
	}
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
