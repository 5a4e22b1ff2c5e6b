package position_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

func TestAStreamIsRefusedByWhatDiffers(t *testing.T) {
	records := store.Of(events.Records)
	here := position.Installation{Log: kafkalog.Identity{Cluster: "c", Topic: "t", Partitions: 4}, Server: "s", Shard: 1, Shards: 2}
	type checks struct{ identity, server, binary bool } // which of the partial checks refuse, too
	for name, tc := range map[string]struct {
		change func(*position.Stream)
		says   string // "" where it is not refused
		checks checks
	}{
		"all as known":     {func(*position.Stream) {}, "", checks{}},
		"another cluster":  {func(s *position.Stream) { s.ClusterID = "x" }, "connect the two that belong together", checks{identity: true}},
		"a new topic":      {func(s *position.Stream) { s.TopicID = "x" }, "empty database", checks{identity: true}},
		"another server":   {func(s *position.Stream) { s.Server = "x" }, "`tallyhouse adopt`", checks{identity: true, server: true}},
		"another shard":    {func(s *position.Stream) { s.Shard = 0 }, "in the order in which they always were", checks{identity: true, server: true}},
		"fewer shards":     {func(s *position.Stream) { s.Shards = 3 }, "in the order in which they always were", checks{identity: true, server: true}},
		"more partitions":  {func(s *position.Stream) { s.Partitions = 3 }, "`tallyhouse topics resize`", checks{}},
		"an older schema":  {func(s *position.Stream) { s.Schema-- }, "`tallyhouse migrate`", checks{binary: true}},
		"a newer schema":   {func(s *position.Stream) { s.Schema++ }, "newer binary", checks{binary: true}},
		"another formula":  {func(s *position.Stream) { s.Formula = "records-0" }, "`tallyhouse migrate`", checks{binary: true}},
		"work in progress": {func(s *position.Stream) { s.Work, s.Worker = "rebuild", "a host" }, "rebuild on ledger.records is in progress", checks{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := position.NewStream(records, here)
			tc.change(&s)
			refused := func(err error) bool {
				var refusal *position.Refusal
				if err != nil && !errors.As(err, &refusal) {
					t.Errorf("%v is no refusal", err)
				}
				return err != nil
			}
			err := s.Check(records, here)
			if refused(err) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
			got := checks{refused(s.CheckIdentity(records, here)), refused(s.CheckServer(here)), refused(s.CheckBinary(records))}
			if got != tc.checks {
				t.Errorf("the partial checks refuse %+v, want %+v", got, tc.checks)
			}
		})
	}
}

func TestANewStreamIsOfItsInstallation(t *testing.T) {
	users := store.Of(events.Users)
	here := position.Installation{Log: kafkalog.Identity{Cluster: "c", Topic: "t", Partitions: 4}, Server: "s", Shards: 1}
	a, b := position.NewStream(users, here), position.NewStream(users, here)
	if a.Life == "" || a.Life == b.Life || a.Revision != 1 || a.Schema != clickhouse.Version || a.Formula != "" {
		t.Errorf("%+v, %+v", a, b)
	}
}

func TestWhereTheLogOfAPartitionBegan(t *testing.T) {
	s := position.Stream{Begins: []uint64{7, 0}}
	for p, want := range []uint64{7, 0, 0} {
		if got := s.Began(int32(p)); got != want {
			t.Errorf("partition %d began at %d, want %d", p, got, want)
		}
	}
}

// Given a log that began above 0 when the database began to follow it, then that is no gap, and whatever is deleted of it later is one.
func TestWhatIsAGap(t *testing.T) {
	s := position.Stream{Begins: []uint64{7, 0}}
	for _, tc := range []struct {
		partition       int32
		position, begin uint64
		gap             bool
	}{
		{0, 0, 7, false}, {0, 0, 8, true}, {0, 9, 7, false}, {0, 9, 9, false}, {0, 9, 10, true},
		{1, 0, 0, false}, {1, 0, 1, true}, {1, 5, 5, false}, {1, 5, 6, true}, {2, 0, 1, true},
	} {
		if got := s.IsGap(tc.partition, tc.position, tc.begin); got != tc.gap {
			t.Errorf("partition %d at %d, its log from %d on: a gap: %v", tc.partition, tc.position, tc.begin, got)
		}
	}
}

// Given a database that is one of several shards, then the partitions that it keeps are its own; one that is no shard of many keeps all.
func TestAShardKeepsItsOwnPartitions(t *testing.T) {
	for _, tc := range []struct {
		shard, shards uint32
		keeps         []int32
	}{{0, 1, []int32{0, 1, 2, 3, 4, 5}}, {0, 2, []int32{0, 2, 4}}, {1, 2, []int32{1, 3, 5}}, {2, 3, []int32{2, 5}}} {
		var keeps []int32
		for p := range int32(6) {
			if (position.Stream{Shard: tc.shard, Shards: tc.shards}).Keeps(p) {
				keeps = append(keeps, p)
			}
		}
		if !slices.Equal(keeps, tc.keeps) {
			t.Errorf("shard %d of %d keeps %v, want %v", tc.shard, tc.shards, keeps, tc.keeps)
		}
	}
}

func TestTheNewestRevisionOfAStreamCounts(t *testing.T) {
	l := ingesttest.New(t, events.Records, 2)
	s, ok, err := position.ReadStream(t.Context(), l.DB, string(events.Records))
	if err != nil || !ok || s.Partitions != 2 {
		t.Fatal(s, ok, err)
	}
	s.Revision, s.Work, s.Worker, s.Begins, s.Shard, s.Shards = 2, "work", "somebody's", []uint64{3, 1 << 63}, 1, 2
	l.Stream(s)
	now, _, err := position.ReadStream(t.Context(), l.DB, string(events.Records))
	if s.Since = now.Since; err != nil || !reflect.DeepEqual(now, s) || now.Since.IsZero() {
		t.Fatalf("read %+v, %v, wrote %+v", now, err, s)
	}
	if _, ok, err := position.ReadStream(t.Context(), l.DB, string(events.Users)); ok || err != nil {
		t.Fatal("a topic that nobody followed is known", err)
	}
	s.Revision = 3
	if err := position.WriteStream(t.Context(), l.DB, string(events.Records), "test", s, "1 = 0", nil); !errors.Is(err, position.ErrNotWritten) {
		t.Fatal(err)
	}
}

// Given a condition on the server, as every statement of a hold's work has, then it is one on the server that was meant, and not on the one
// that the row names: a database that was moved is migrated before it is adopted.
func TestAStreamIsWrittenOnTheServerThatWasMeant(t *testing.T) {
	l := ingesttest.New(t, events.Records, 1)
	s, _, err := position.ReadStream(t.Context(), l.DB, string(events.Records))
	if err != nil {
		t.Fatal(err)
	}
	here := s.Server
	write := func(row, meant string) error {
		s.Revision, s.Server = s.Revision+1, row
		return position.WriteStream(t.Context(), l.DB, string(events.Records), "test", s, position.SameServer, database.Params{"server": meant})
	}
	if err := write(here, "another"); !errors.Is(err, position.ErrNotWritten) {
		t.Errorf("meant for another server, it is written: %v", err)
	}
	if err := write("another", here); err != nil {
		t.Error(err)
	}
}

// Given streams of one revision, as two that come at one moment write them, then everybody takes the same one for the newest; and an older
// revision is none, whenever it was written.
func TestOfTwoStreamsOfOneRevisionOneCounts(t *testing.T) {
	for _, lives := range [][]string{{"A", "B"}, {"B", "A"}} {
		l := ingesttest.New(t, events.Records, 1)
		s, _, err := position.ReadStream(t.Context(), l.DB, string(events.Records))
		if err != nil {
			t.Fatal(err)
		}
		older := s
		s.Revision = 7
		for _, s.Life = range lives {
			l.Stream(s)
		}
		older.Revision, older.Life = 6, "Z"
		l.Stream(older)
		if now, _, err := position.ReadStream(t.Context(), l.DB, string(events.Records)); err != nil || now.Life != "B" {
			t.Errorf("written in the order %v: it has life %s, %v", lives, now.Life, err)
		}
	}
}
