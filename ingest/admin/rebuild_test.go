package admin_test

import (
	"errors"
	"strings"
	"testing"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
)

const partitions = 2

func options() admin.Options {
	return admin.Options{Holder: fence.NewHolder("the test"), Log: ingesttest.Log()}
}

// filled is a ledger with records of several versions.
func filled(t *testing.T, seed uint64) (*ingesttest.Ledger, *ingesttest.Records) {
	l := ingesttest.New(t, events.Records, partitions)
	r := ingesttest.NewRecords(seed)
	for range 3 {
		l.Write(r.Draw(80, 120)...)
	}
	return l, r
}

func mustSay(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Fatalf("got %v, want it to say %q", err, w)
		}
	}
}

func rebuild(t *testing.T, l *ingesttest.Ledger, view string) admin.Rebuilt {
	t.Helper()
	r, err := admin.Rebuild(t.Context(), l.DB, view, options())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRebuildOfARightViewChangesNothing(t *testing.T) {
	l, r := filled(t, 1)
	if n := l.Truth(t); n < 50 {
		t.Fatalf("only %d sums", n)
	}
	rows := l.Number("SELECT count() FROM record_sums")
	if got := rebuild(t, l, "record_sums"); got.Corrected != 0 || got.Ranges < 2 {
		t.Fatalf("%+v", got)
	}
	if now := l.Number("SELECT count() FROM record_sums"); now > rows {
		t.Fatalf("%d rows, then %d", rows, now)
	}
	// The hold is gone: writers go on.
	l.Fence()
	l.Write(r.Draw(50, 120)...)
	l.Truth(t)
}

func TestRebuildCorrectsWhateverIsWrong(t *testing.T) {
	tests := []struct{ name, statement string }{
		{"a sum", "INSERT INTO record_sums SELECT * REPLACE (toInt128(5) AS net, toInt128(0) AS tax, toInt128(0) AS gross, toInt128(0) AS count, toInt128(0) AS allocations) FROM record_sums WHERE tenant != '' LIMIT 1"},
		{"keys that should not be", "INSERT INTO record_sums SELECT * REPLACE ('of nobody' AS project) FROM record_sums WHERE tenant != ''"},
		{"keys of an unknown tenant", "INSERT INTO record_sums SELECT * REPLACE ('stranger' AS tenant) FROM record_sums WHERE tenant != ''"},
		{"sums beyond 64 bits", "INSERT INTO record_sums SELECT * REPLACE (toInt128('40000000000000000000') AS net) FROM record_sums WHERE tenant != '' LIMIT 3"},
		{"everything is lost", "TRUNCATE TABLE record_sums"},
		{"a position is ahead", "INSERT INTO record_sums SELECT * REPLACE (toInt128(100) AS position) FROM record_sums WHERE tenant = '' LIMIT 1"},
	}
	l, r := filled(t, 10)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l.Exec("%s", test.statement)
			if got := rebuild(t, l, "record_sums"); got.Corrected == 0 {
				t.Fatalf("nothing was wrong: %+v", got)
			}
			l.Truth(t)
			if got := rebuild(t, l, "record_sums"); got.Corrected != 0 {
				t.Fatalf("the second time too: %+v", got)
			}
			at, err := position.Read(t.Context(), l.DB, l.Entity, []int32{0, 1})
			if err != nil {
				t.Fatal(err)
			}
			for p, pos := range at {
				if pos.State != l.Next(p) || pos.Views["record_sums"] != int64(l.Next(p)) {
					t.Errorf("partition %d is at %+v, want %d", p, pos, l.Next(p))
				}
			}
			if n := l.Number("SELECT sum(net) FROM record_sums WHERE tenant = ''"); n != 0 {
				t.Errorf("position rows carry amounts: %d", n)
			}
			l.Fence()
			l.Write(r.Draw(50, 120)...)
			l.Truth(t)
		})
	}
}

func TestRebuildOfAnUnknownViewNamesThoseThatAre(t *testing.T) {
	l := ingesttest.New(t, events.Records, partitions)
	_, err := admin.Rebuild(t.Context(), l.DB, "record_sum", options())
	mustSay(t, err, "record_sum", "record_sums", "record_months")
}

func TestRebuildIsKeptOutByAnotherHolder(t *testing.T) {
	l, _ := filled(t, 2)
	if _, err := fence.Take(t.Context(), l.DB, string(events.Records), []int32{1}, "somebody else"); err != nil {
		t.Fatal(err)
	}
	_, err := admin.Rebuild(t.Context(), l.DB, "record_sums", options())
	mustSay(t, err, "somebody else", "partition 1")
	var held *fence.Held
	if !errors.As(err, &held) {
		t.Fatal(err)
	}
	standing, err := fence.Read(t.Context(), l.DB, string(events.Records))
	if err != nil {
		t.Fatal(err)
	}
	for p, s := range standing {
		if s.Held != (p == 1) {
			t.Errorf("partition %d: %+v", p, s)
		}
	}
}
