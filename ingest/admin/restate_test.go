package admin_test

import (
	"slices"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// olderFormula knew no tax, counted twice, and put everything on one more entry that is no longer there.
func olderFormula(c analytics.Contributions) analytics.Contributions {
	const keys, sums = 9, 5
	if len(c.Sums) == 0 {
		return c
	}
	old := analytics.Contributions{Keys: slices.Clone(c.Keys), Sums: slices.Clone(c.Sums)}
	for i := 0; i < len(old.Sums); i += sums {
		old.Sums[i+1], old.Sums[i+3] = 0, 2*old.Sums[i+3]
	}
	old.Keys = append(old.Keys, old.Keys[:keys]...)
	old.Keys[len(old.Keys)-keys] = "of no node"
	old.Sums = append(old.Sums, 7, 7, 7, 7, 7)
	return old
}

// byOlderFormula is a ledger whose rows were written by an older release.
func byOlderFormula(t *testing.T, seed uint64) (*ingesttest.Ledger, *ingesttest.Records) {
	l := ingesttest.New(t, events.Records, partitions)
	l.Formula = olderFormula
	r := ingesttest.NewRecords(seed)
	r.Tenants = 4
	for range 2 {
		l.Write(r.Draw(80, 100)...)
	}
	s := stream(t, l)
	s.Revision, s.Formula = s.Revision+1, store.Formula-1
	l.Stream(s)
	return l, r
}

func stream(t *testing.T, l *ingesttest.Ledger) position.Stream {
	t.Helper()
	s, ok, err := position.ReadStream(t.Context(), l.DB, string(l.Entity.Topic))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return s
}

// identity is the topic's as the database was told.
func identity(n int) kafkalog.Identity {
	return kafkalog.Identity{Cluster: ingesttest.Cluster, Topic: ingesttest.TopicID, Partitions: n}
}

// newerRelease writes by this binary's formula from here on.
func newerRelease(l *ingesttest.Ledger) { l.Formula = nil }

func TestRestatedRowsCarryTheNewFormula(t *testing.T) {
	l, r := byOlderFormula(t, 3)
	before := stream(t, l)
	if err := before.Check(string(events.Records), identity(partitions), before.Server); err == nil {
		t.Fatal("a writer of this release would write between rows of the older")
	}
	rows := l.Number("SELECT count() FROM (SELECT * FROM records FINAL) WHERE tenant != '' AND NOT deleted")

	got, err := admin.Restate(t.Context(), l.DB, l.Entity, options())
	if err != nil {
		t.Fatal(err)
	}
	if int64(got.Rows) != rows {
		t.Fatalf("re-stated %d rows of %d", got.Rows, rows)
	}
	for _, v := range got.Views {
		if v.Corrected != 0 {
			t.Errorf("the inserts left %+v to correct", v)
		}
	}
	newerRelease(l)
	l.Truth(t)
	after := stream(t, l)
	if after.Life == before.Life || after.Formula != store.Formula || after.Work != "" {
		t.Fatalf("streams says %+v", after)
	}
	if err := after.Check(string(events.Records), identity(partitions), after.Server); err != nil {
		t.Fatal(err)
	}
	// The next versions take away what was re-stated, not what was written first.
	l.Fence()
	for range 2 {
		l.Write(r.Draw(80, 100)...)
	}
	l.Truth(t)
	if again, err := admin.Restate(t.Context(), l.DB, l.Entity, options()); err != nil || again.Rows != 0 {
		t.Fatalf("a second time: %+v, %v", again, err)
	}
}

func TestARowIsRestatedOnceMoreEachTime(t *testing.T) {
	l, _ := byOlderFormula(t, 4)
	if _, err := admin.Restate(t.Context(), l.DB, l.Entity, options()); err != nil {
		t.Fatal(err)
	}
	if n := l.Number("SELECT countIf(row_version %% 1024 != 1) FROM records FINAL WHERE tenant != '' AND NOT deleted"); n != 0 {
		t.Fatalf("%d rows are not their first re-statement", n)
	}
	if n := l.Number("SELECT countIf(row_version %% 1024 != 0) FROM records FINAL WHERE deleted"); n != 0 {
		t.Fatalf("%d rows were re-stated that contribute nothing", n)
	}
}

func TestAnOlderBinaryDoesNotTouchANewerFormula(t *testing.T) {
	l, _ := filled(t, 5)
	s := stream(t, l)
	s.Revision, s.Formula = s.Revision+1, store.Formula+1
	l.Stream(s)
	_, err := admin.Restate(t.Context(), l.DB, l.Entity, options())
	mustSay(t, err, "newer binary")
}

func TestAResizeKeepsTheDataAndBeginsANewLife(t *testing.T) {
	l, r := filled(t, 6)
	before := stream(t, l)
	got, err := admin.Resize(t.Context(), l.DB, l.Entity, identity(7), options())
	if err != nil || got != (admin.Resized{From: partitions, To: 7}) {
		t.Fatalf("%+v, %v", got, err)
	}
	after := stream(t, l)
	if after.Life == before.Life || after.Partitions != 7 {
		t.Fatalf("streams says %+v", after)
	}
	if err := after.Check(string(events.Records), identity(7), after.Server); err != nil {
		t.Fatal(err)
	}
	if again, err := admin.Resize(t.Context(), l.DB, l.Entity, identity(7), options()); err != nil || again.From != 7 || stream(t, l) != after {
		t.Fatalf("a second time: %+v, %v", again, err)
	}
	// The writers go on from the positions as they were, and the new partitions from none.
	l.Resized(7)
	l.Fence()
	l.Write(r.Draw(100, 120)...)
	l.Truth(t)
}

func TestAResizeIsRefused(t *testing.T) {
	other := identity(7)
	other.Topic = "made anew"
	tests := []struct {
		name string
		log  kafkalog.Identity
		want string
	}{
		{"to another topic", other, "made anew"},
		{"to fewer partitions", identity(1), "fewer than"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, _ := filled(t, 7)
			before := stream(t, l)
			_, err := admin.Resize(t.Context(), l.DB, l.Entity, test.log, options())
			mustSay(t, err, test.want)
			if stream(t, l) != before {
				t.Fatal("it was written down all the same")
			}
			l.Fence() // and nothing is held
		})
	}
}
