package admin_test

import (
	"strings"
	"testing"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// identity is the test's topic, as the cluster has it.
func identity(partitions int) kafkalog.Identity {
	return kafkalog.Identity{Cluster: ingesttest.Cluster, Topic: ingesttest.TopicID, Partitions: partitions}
}

func TestResizeWritesTheNumberAndANewLife(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 41)
	restream(t, l, func(s *position.Stream) { s.Begins = []uint64{7, 8} })
	before := stream(t, l)
	r, err := admin.Resize(t.Context(), l.DB, l.Entity, identity(5), options())
	if err != nil || r != (admin.Resized{From: 2, To: 5}) {
		t.Fatal(r, err)
	}
	after := stream(t, l)
	if after.Partitions != 5 || after.Life == before.Life || after.Work != "" || after.Began(1) != 8 || after.Began(2) != 0 {
		t.Fatalf("%+v", after)
	}
	again, err := admin.Resize(t.Context(), l.DB, l.Entity, identity(5), options())
	if err != nil || again.From != again.To || stream(t, l).Revision != after.Revision {
		t.Fatal(again, err)
	}
	nobodyHolds(t, l)
}

func TestResizeRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		from, to int
		shards   int
		change   func(*kafkalog.Identity)
		given    func(*admin.Options)
		says     []string
	}{
		{name: "numbers between which entities move to other shards", from: 3, to: 6, shards: 2,
			says: []string{"from 3 partitions to 6", "multiples of 2"}},
		{name: "a new number that is no multiple of the shards", from: 4, to: 7, shards: 2, says: []string{"multiples of 2"}},
		{name: "fewer partitions", from: 4, to: 2, shards: 1, says: []string{"another topic"}},
		{name: "shards in another order", from: 4, to: 8, shards: 2, given: func(o *admin.Options) { o.Shard = 1 },
			says: []string{"written as shard 0 of 2", "given as shard 1 of 2", "in the order in which they always were"}},
		{name: "one shard more", from: 6, to: 12, shards: 2, given: func(o *admin.Options) { o.Shards = 3 },
			says: []string{"written as shard 0 of 2", "given as shard 0 of 3"}},
		{name: "another topic", from: 2, to: 4, shards: 1, says: []string{"made anew"},
			change: func(id *kafkalog.Identity) { id.Topic = "another" }},
		{name: "another cluster", from: 2, to: 4, shards: 1, says: []string{"not of another"},
			change: func(id *kafkalog.Identity) { id.Cluster = "another" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := ingesttest.New(t, events.Records, test.from)
			restream(t, l, func(s *position.Stream) { s.Shards = uint32(test.shards) })
			log := identity(test.to)
			if test.change != nil {
				test.change(&log)
			}
			o := options()
			o.Shards = test.shards
			if test.given != nil {
				test.given(&o)
			}
			before := stream(t, l)
			_, err := admin.Resize(t.Context(), l.DB, l.Entity, log, o)
			mustSay(t, err, test.says...)
			if after := stream(t, l); after.Revision != before.Revision {
				t.Fatalf("%+v", after)
			}
			nobodyHolds(t, l)
		})
	}
}

func TestResizeBesideShards(t *testing.T) {
	t.Parallel()
	l := ingesttest.New(t, events.Records, 4)
	restream(t, l, func(s *position.Stream) { s.Shards = 2 })
	o := options()
	o.Shards = 2
	if r, err := admin.Resize(t.Context(), l.DB, l.Entity, identity(6), o); err != nil || r.To != 6 {
		t.Fatal(r, err)
	}
}

func TestResizeOfAnInconsistentViewIsRefused(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 42)
	l.Exec("%s", behindPosition)
	_, err := admin.Resize(t.Context(), l.DB, l.Entity, identity(4), options())
	mustSay(t, err, "inconsistent", "tallyhouse rebuild")
	if s := stream(t, l); s.Partitions != 2 {
		t.Fatalf("%+v", s)
	}
}

// Given other work in progress, then a resize says so, also where there is nothing to resize: writers wait for that.
func TestResizeBesideOtherWork(t *testing.T) {
	t.Parallel()
	l := ingesttest.New(t, events.Records, 2)
	restream(t, l, func(s *position.Stream) { s.Work, s.Worker = "`tallyhouse rebuild`", "somebody" })
	_, err := admin.Resize(t.Context(), l.DB, l.Entity, identity(2), options())
	mustSay(t, err, "`tallyhouse rebuild`", "in progress")
}

// Given a resize, then partitions that are new are held, too, while it is written down.
func TestResizeHoldsTheNewPartitions(t *testing.T) {
	t.Parallel()
	l := ingesttest.New(t, events.Records, 2)
	db := &interceptor{Server: l.DB}
	var kept map[int32]*fence.Held
	db.onInsert = func(st database.Statement, next insert) (_ uint64, err error) {
		if strings.Contains(st.SQL, "INSERT INTO streams") {
			if _, kept, err = fence.Put(t.Context(), l.DB, string(events.Records), []int32{0, 1, 2, 3}, "a writer"); err != nil {
				t.Error(err)
			}
		}
		return next(st)
	}
	if _, err := admin.Resize(t.Context(), db, l.Entity, identity(4), options()); err != nil || len(kept) != 4 {
		t.Errorf("held are %v, %v", kept, err)
	}
	nobodyHolds(t, l)
}
