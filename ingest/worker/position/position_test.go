package position_test

import (
	"errors"
	"strings"
	"testing"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
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
	c, held, err := fence.Put(t.Context(), l.DB, string(l.Entity.Topic), []int32{0, 1})
	if err != nil || len(held) > 0 {
		t.Fatal(held, err)
	}
	return c
}

func mend(t *testing.T, l *ingesttest.Ledger, v clickhouse.View, at position.Positions, c *fence.Claim) error {
	t.Helper()
	server, err := position.ServerUUID(t.Context(), l.DB)
	if err != nil {
		t.Fatal(err)
	}
	return position.Mend(t.Context(), l.DB, v, fence.WriterID(l.DB, c.Topic, 0), 0, at, server, fence.Counts, c.Params(0))
}

func TestAPartitionWithoutRowsStandsAtZero(t *testing.T) {
	l := ingesttest.New(t, events.Records, 2)
	at := read(t, l, 1)
	if missed, inconsistency := at.Torn(l.Entity.Views()); at.State != 0 || len(missed) > 0 || inconsistency != "" {
		t.Fatalf("%+v, missed %v, %s", at, missed, inconsistency)
	}
}

func TestATornInsertIsSeenAndMendedOnce(t *testing.T) {
	l := ingesttest.New(t, events.Records, 2)
	r := ingesttest.NewRecords(1)
	l.Write(r.Draw(60, 80)...)
	// A kill between the parts: the table has the batch, one view doesn't.
	l.Exec("DETACH TABLE record_months_view")
	l.Write(r.Draw(60, 80)...)
	l.Exec("ATTACH TABLE record_months_view")

	c := claim(t, l)
	for p := range int32(2) {
		at := read(t, l, p)
		missed, inconsistency := at.Torn(l.Entity.Views())
		if inconsistency != "" || len(missed) != 1 || missed[0].Name != "record_months" || at.State != l.Next(p) {
			t.Fatalf("%+v, missed %v, %s", at, missed, inconsistency)
		}
	}
	months, _ := clickhouse.ViewNamed("record_months")
	first := read(t, l, 0)
	stale := *c
	c = claim(t, l)
	if err := mend(t, l, months, first, &stale); !errors.Is(err, position.ErrNotWritten) {
		t.Fatalf("one whose fence no longer counts mends: %v", err)
	}
	if err := mend(t, l, months, first, c); err != nil {
		t.Fatal(err)
	}
	if err := mend(t, l, months, first, c); !errors.Is(err, position.ErrNotWritten) {
		t.Fatalf("it mends twice: %v", err)
	}
	l.TryFence() // the other partition, by the routine of a recovery
	l.Truth(t)
	for p := range int32(2) {
		if missed, inconsistency := read(t, l, p).Torn(l.Entity.Views()); len(missed) > 0 || inconsistency != "" {
			t.Fatalf("partition %d misses %v, %s", p, missed, inconsistency)
		}
	}
}

func TestWhatNoKillCanLeaveIsStrange(t *testing.T) {
	v := clickhouse.View{Name: "v"}
	tests := []struct {
		name          string
		at            position.Positions
		missed        int
		inconsistency bool
	}{
		{"level", position.Positions{State: 10, First: 5, Views: map[string]int64{"v": 10}}, 0, false},
		{"the last batch is missing", position.Positions{State: 10, First: 5, Views: map[string]int64{"v": 5}}, 1, false},
		{"the first batch is missing", position.Positions{State: 10, First: 0, Views: map[string]int64{"v": 0}}, 1, false},
		{"more than the last batch is missing", position.Positions{State: 10, First: 5, Views: map[string]int64{"v": 3}}, 0, true},
		{"the view is ahead", position.Positions{State: 10, First: 5, Views: map[string]int64{"v": 12}}, 0, true},
		{"half a batch", position.Positions{State: 10, First: 5, Views: map[string]int64{"v": 7}}, 0, true},
		{"not filled yet", position.Positions{State: 10, First: 0, Views: map[string]int64{"v": -1 << 62}}, 0, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			missed, inconsistency := test.at.Torn([]clickhouse.View{v})
			if len(missed) != test.missed || (inconsistency != "") != test.inconsistency {
				t.Fatalf("missed %v, %q", missed, inconsistency)
			}
		})
	}
}

func TestAStreamIsRefusedByWhatDiffers(t *testing.T) {
	good := position.Stream{ClusterID: "c", TopicID: "t", Partitions: 4, Server: "s", Formula: store.Formula}
	log := kafkalog.Identity{Cluster: "c", Topic: "t", Partitions: 4}
	tests := []struct {
		name   string
		change func(*position.Stream)
		want   string // "" for none
	}{
		{"all as known", func(*position.Stream) {}, ""},
		{"another cluster", func(s *position.Stream) { s.ClusterID = "x" }, "connect the two that belong together"},
		{"a topic made anew", func(s *position.Stream) { s.TopicID = "x" }, "empty database"},
		{"another server", func(s *position.Stream) { s.Server = "x" }, "connect to that server"},
		{"more partitions", func(s *position.Stream) { s.Partitions = 3 }, "topics resize"},
		{"an older formula", func(s *position.Stream) { s.Formula-- }, "tallyhouse migrate"},
		{"a newer formula", func(s *position.Stream) { s.Formula++ }, "newer binary"},
		{"work in progress", func(s *position.Stream) { s.Work = "a re-statement" }, "a re-statement"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := good
			test.change(&s)
			err := s.Check("ledger.records", log, "s")
			var refusal *position.Refusal
			switch {
			case test.want == "" && err != nil:
				t.Fatal(err)
			case test.want != "" && (!errors.As(err, &refusal) || !strings.Contains(err.Error(), test.want)):
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestTheNewestRevisionOfAStreamCounts(t *testing.T) {
	l := ingesttest.New(t, events.Records, 2)
	s, ok, err := position.ReadStream(t.Context(), l.DB, string(events.Records))
	if err != nil || !ok || s.Partitions != 2 {
		t.Fatal(s, ok, err)
	}
	s.Revision, s.Work, s.Worker = 2, "work", "somebody"
	l.Stream(s)
	now, _, err := position.ReadStream(t.Context(), l.DB, string(events.Records))
	if err != nil || now.Work != "work" || now.Worker != "somebody" || now.Since.IsZero() {
		t.Fatal(now, err)
	}
	if _, ok, err := position.ReadStream(t.Context(), l.DB, string(events.Users)); ok || err != nil {
		t.Fatal("a topic that nobody followed is known", err)
	}
	s.Revision = 3
	if err := position.WriteStream(t.Context(), l.DB, string(events.Records), "test", s, "1 = 0", nil); !errors.Is(err, position.ErrNotWritten) {
		t.Fatal(err)
	}
}
