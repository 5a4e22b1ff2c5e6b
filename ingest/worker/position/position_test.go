package position_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/events/eventstest"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

func read(t *testing.T, l *ingesttest.Ledger, p int32) position.Positions {
	t.Helper()
	at, err := position.Read(t.Context(), l.DB, l.Entity, []int32{p})
	if err != nil {
		t.Fatal(err)
	}
	return at[p]
}

func claim(t *testing.T, l *ingesttest.Ledger) *fence.Claim {
	t.Helper()
	c, held, err := fence.Put(t.Context(), l.DB, string(l.Entity.Topic), []int32{0, 1}, "writer")
	if err != nil || len(held) > 0 {
		t.Fatal(held, err)
	}
	return c
}

func server(t *testing.T, l *ingesttest.Ledger) string {
	t.Helper()
	id, err := position.ServerUUID(t.Context(), l.DB)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func mend(t *testing.T, l *ingesttest.Ledger, at position.Positions, server string, c *fence.Claim) error {
	t.Helper()
	return position.Mend(t.Context(), l.DB, l.Entity, fence.WriterID(l.DB, c.Topic, 0), 0, at, server, fence.Counts, c.Params(0))
}

// behind brings changes in while the view is away, as a kill between an insert's two parts leaves them.
func behind(l *ingesttest.Ledger, changes ...events.Event) {
	l.Exec("DETACH TABLE %s", clickhouse.Trigger(l.Entity.Table))
	l.Write(changes...)
	l.Exec("ATTACH TABLE %s", clickhouse.Trigger(l.Entity.Table))
}

func TestAPartitionWithoutRowsStandsAtZero(t *testing.T) {
	l := ingesttest.New(t, events.Records, 2)
	if at := read(t, l, 1); at.State != 0 || at.First != 0 || !at.Level() || at.Missed() || at.Inconsistency() != "" {
		t.Fatalf("%+v, %s", at, at.Inconsistency())
	}
}

func TestAPartitionStandsWhereItsBatchesEnd(t *testing.T) {
	for _, topic := range []events.Topic{events.Records, events.Users} {
		l := ingesttest.New(t, topic, 1)
		for i := range 3 {
			first := l.Next(0)
			if written, err := l.Try(0, change(t, topic, i)); err != nil || written == 0 {
				t.Fatal(written, err)
			}
			at := read(t, l, 0)
			if at.State != l.Next(0) || at.First != first || !at.Level() || at.Contributes && at.Seen() != at.State {
				t.Fatalf("%s: %+v behind a batch from %d to %d", topic, at, first, l.Next(0))
			}
		}
	}
}

// change is a small event of the topic.
func change(t *testing.T, topic events.Topic, i int) events.Event {
	t.Helper()
	m := eventstest.New(topic, "t", fmt.Sprint("id", i), 1)
	e, err := events.Decode(topic, m.Key(), m.Value())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Given two partitions whose last batch is in the table and not in the sums, when they are read, then both are seen to lack it; and
// when it is mended, then that counts once, under a fence that counts, on this server.
func TestATornInsertIsSeenAndMendedOnce(t *testing.T) {
	l := ingesttest.New(t, events.Records, 2)
	r := ingesttest.NewRecords(1)
	l.Write(r.Draw(60, 80)...)
	behind(l, r.Draw(60, 80)...)

	stale := claim(t, l)
	c := claim(t, l)
	for p := range int32(2) {
		if at := read(t, l, p); !at.Missed() || at.Level() || at.Inconsistency() != "" || at.State != l.Next(p) || at.Seen() != at.First {
			t.Fatalf("%+v, %s", at, at.Inconsistency())
		}
	}
	first := read(t, l, 0)
	if err := mend(t, l, first, server(t, l), stale); !errors.Is(err, position.ErrNotWritten) {
		t.Fatalf("one whose fence no longer counts mends: %v", err)
	}
	if err := mend(t, l, first, "another server", c); !errors.Is(err, position.ErrNotWritten) {
		t.Fatalf("it mends on another server: %v", err)
	}
	if err := mend(t, l, first, server(t, l), c); err != nil {
		t.Fatal(err)
	}
	if err := mend(t, l, first, server(t, l), c); !errors.Is(err, position.ErrNotWritten) {
		t.Fatalf("it mends twice: %v", err)
	}
	if at := read(t, l, 0); !at.Level() {
		t.Fatalf("mended, and yet %+v", at)
	}
	l.TryFence() // the other partition, by the routine of a recovery
	if l.Truth(t) == 0 {
		t.Fatal("no sums")
	}
	for p := range int32(2) {
		if at := read(t, l, p); !at.Level() {
			t.Fatalf("partition %d is not level: %+v", p, at)
		}
	}
	// And the batches after it are added as ever.
	l.Write(r.Draw(60, 80)...)
	l.Truth(t)
}

// A merge may sum the view's rows, and the table may drop what a row replaced: a mend finds the position row of the
// last batch.
func TestATornInsertIsMendedAfterMerges(t *testing.T) {
	l := ingesttest.New(t, events.Records, 1)
	r := ingesttest.NewRecords(2)
	for range 3 {
		l.Write(r.Draw(20, 30)...)
	}
	behind(l, r.Draw(20, 30)...)
	l.Exec("OPTIMIZE TABLE records FINAL")
	l.Exec("OPTIMIZE TABLE sums FINAL")
	if at := read(t, l, 0); !at.Missed() {
		t.Fatalf("%+v", at)
	}
	if err := mend(t, l, read(t, l, 0), server(t, l), claim(t, l)); err != nil {
		t.Fatal(err)
	}
	l.Truth(t)
}

// A part that was attached twice would be counted twice.
func TestABatchThatIsThereTwiceIsNotMended(t *testing.T) {
	l := ingesttest.New(t, events.Records, 1)
	r := ingesttest.NewRecords(3)
	l.Write(r.Draw(20, 30)...)
	l.Exec("DETACH TABLE records_sums")
	l.Write(r.Draw(20, 30)...)
	l.Exec("INSERT INTO records SELECT * FROM records WHERE tenant = '' AND row_version = %d", l.Next(0))
	l.Exec("ATTACH TABLE records_sums")
	if err := mend(t, l, read(t, l, 0), server(t, l), claim(t, l)); err == nil || !strings.Contains(err.Error(), "2 rows") {
		t.Fatal(err)
	}
	if at := read(t, l, 0); !at.Missed() {
		t.Fatalf("refused, and yet %+v", at)
	}
}

// What an older release did: it wrote beside a view that was away, and the next batch was as long.
func TestAnEarlierBatchThatIsMissingIsNotTakenForTheLast(t *testing.T) {
	l := ingesttest.New(t, events.Records, 1)
	r := ingesttest.NewRecords(4)
	l.Write(r.Draw(10, 30)...)
	behind(l, r.Draw(10, 30)...)
	l.Write(r.Draw(10, 30)...)
	at := read(t, l, 0)
	if at.Seen() != at.First {
		t.Fatalf("the batches are not of one length: %+v", at)
	}
	if at.Missed() || at.Level() || at.Inconsistency() == "" {
		t.Fatalf("missed the last one alone: %v, level: %v, %q", at.Missed(), at.Level(), at.Inconsistency())
	}
}

// stands is how far a partition has come whose batches end at the offsets, of which some have not reached the view.
func stands(ends []uint64, missing map[int]bool) position.Positions {
	at := position.Positions{Contributes: true, View: new(big.Int), Squares: new(big.Int)}
	for i, next := range ends {
		at.First, at.State = at.State, next
		if missing[i] {
			continue
		}
		first, next := new(big.Int).SetUint64(at.First), new(big.Int).SetUint64(at.State)
		at.View.Add(at.View, new(big.Int).Sub(next, first))
		at.Squares.Add(at.Squares, next.Sub(next.Mul(next, next), first.Mul(first, first)))
	}
	return at
}

// Given any batches of which any have not reached the view, then it is level without a missing one, has missed the last
// with this one alone, and is inconsistent otherwise.
func TestOnlyTheLastBatchCanHaveBeenMissed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.OneOf(rapid.Uint64Range(1, 3), rapid.Uint64Range(1, 50_000), rapid.Just[uint64](1<<59)), 1, 8).Draw(t, "lengths")
		var ends []uint64
		end := uint64(0)
		missing := map[int]bool{}
		for i, n := range lengths {
			end += n
			ends = append(ends, end)
			if rapid.IntRange(0, 2).Draw(t, "missing") == 0 {
				missing[i] = true
			}
		}
		at := stands(ends, missing)
		last := len(missing) == 1 && missing[len(ends)-1]
		if at.Level() != (len(missing) == 0) || at.Missed() != last || (at.Inconsistency() == "") != (last || len(missing) == 0) {
			t.Fatalf("batches that end at %v without %v: level %v, missed the last %v, %q", ends, missing, at.Level(), at.Missed(), at.Inconsistency())
		}
	})
}

func TestWhatNoKillCanLeaveIsInconsistent(t *testing.T) {
	at := func(view, squares int64) position.Positions {
		return position.Positions{State: 10, First: 5, Contributes: true, View: big.NewInt(view), Squares: big.NewInt(squares)}
	}
	for name, tc := range map[string]struct {
		at                   position.Positions
		level, missed, wrong bool
	}{
		"level":                        {at(10, 100), true, false, false},
		"the last batch is missing":    {at(5, 25), false, true, false},
		"more is missing":              {at(3, 9), false, false, true},
		"another as long is missing":   {at(5, 75), false, false, true},
		"the view is ahead":            {at(12, 144), false, false, true},
		"half a batch":                 {at(7, 49), false, false, true},
		"not filled yet":               {at(-1<<62, 0), false, false, true},
		"its positions alone are lost": {at(0, 0), false, false, true},
		"a table without a view":       {position.Positions{State: 10, First: 5, View: new(big.Int), Squares: new(big.Int)}, true, false, false},
	} {
		if tc.at.Level() != tc.level || tc.at.Missed() != tc.missed || (tc.at.Inconsistency() != "") != tc.wrong {
			t.Errorf("%s: level %v, missed %v, %q", name, tc.at.Level(), tc.at.Missed(), tc.at.Inconsistency())
		}
	}
	if seen := at(-1<<62, 0).Seen(); seen != 0 {
		t.Errorf("a view that is being filled is seen at %d", seen)
	}
}

// The two conditions of every insert, besides the fence.
func TestConditions(t *testing.T) {
	l := ingesttest.New(t, events.Records, 1)
	l.Write(ingesttest.NewRecords(5).Draw(5, 5)...)
	holds := func(condition string, p database.Params) (ok bool) {
		t.Helper()
		if err := l.DB.Row(t.Context(), database.Query{SQL: "SELECT " + condition, Params: p}, &ok); err != nil {
			t.Fatal(err)
		}
		return ok
	}
	for first, want := range map[uint64]bool{l.Next(0): true, 0: false, l.Next(0) + 1: false} {
		p := database.Params{"key": clickhouse.PositionProject(0), "first": fmt.Sprint(first)}
		if holds(position.StateIs("records"), p) != want {
			t.Errorf("the position is %d, %d is taken for it: %v", l.Next(0), first, !want)
		}
	}
	if !holds(position.StateIs("records"), database.Params{"key": clickhouse.PositionProject(1), "first": "0"}) {
		t.Error("a partition without rows is not at 0")
	}
	for id, want := range map[string]bool{server(t, l): true, "another": false, "": false} {
		if holds(position.SameServer, database.Params{"server": id}) != want {
			t.Errorf("server %q is taken for this one: %v", id, !want)
		}
	}
}

// The leader epoch is the last batch's, and isn't known where that has none.
func TestAPartitionHasTheEpochOfItsLastBatch(t *testing.T) {
	l := ingesttest.New(t, events.Records, 1)
	l.Exec("SYSTEM STOP MERGES records")
	l.Write(ingesttest.NewRecords(6).Draw(5, 5)...)
	for _, epoch := range []int32{7, 3, -1, 4} {
		l.Exec(`INSERT INTO records SELECT * REPLACE (row_version + 2 AS row_version, row_version AS batch_first,
			toUInt32(%d) AS key_hash, arraySlice(delta, 1, 1) AS delta) FROM records WHERE tenant = '' ORDER BY row_version DESC LIMIT 1`,
			clickhouse.StoredEpoch(epoch))
		if at := read(t, l, 0); at.Epoch != epoch || !at.Level() {
			t.Errorf("behind a batch of epoch %d it is %+v", epoch, at)
		}
	}
}
