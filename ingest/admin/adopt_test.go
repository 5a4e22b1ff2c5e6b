package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// adoption has the ledger's topic with a log that holds everything.
func adoption(l *ingesttest.Ledger) admin.Adoption {
	log := admin.Log{Identity: identity(l.Partitions)}
	for p := range l.Partitions {
		log.Ranges = append(log.Ranges, kafkalog.Range{Start: 0, End: int64(l.Next(int32(p)))})
	}
	return admin.Adoption{Logs: map[events.Topic]admin.Log{l.Entity.Topic: log}}
}

// Given a database that was copied to another server, whose sums lack a correction that no position shows, when it is
// adopted, then it is this server's, with another life, and its sums are right.
func TestAMovedDatabaseIsAdopted(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 51)
	here := stream(t, l).Server
	restream(t, l, func(s *position.Stream) { s.Server = "where it came from" })
	before := stream(t, l)
	l.Exec("%s", wrongSum)
	_, err := admin.Rebuild(t.Context(), l.DB, []*store.Entity{l.Entity}, options())
	mustSay(t, err, "where it came from", "tallyhouse adopt")
	all, err := admin.Adopt(t.Context(), l.DB, adoption(l), options())
	if err != nil {
		t.Fatal(err)
	}
	corrected := uint64(0)
	for _, one := range all {
		corrected += one.Corrected
	}
	if corrected != 1 {
		t.Errorf("%+v", all)
	}
	if after := stream(t, l); after.Server != here || after.Life == before.Life || after.Work != "" || after.TopicID != before.TopicID {
		t.Fatalf("%+v", after)
	}
	writersGoOn(t, l, r)
}

// Given a backup that was restored in its place, the state table older than the sums, when it is adopted, then the
// sums are those of the table, and writers go on from where it is.
func TestABackupRestoredInItsPlaceIsAdopted(t *testing.T) {
	t.Parallel()
	l := ingesttest.New(t, events.Records, partitions)
	r := ingesttest.NewRecords(52)
	l.Write(r.Draw(60, 120)...)
	l.Exec("CREATE TABLE backup AS records")
	l.Exec("INSERT INTO backup SELECT * FROM records")
	restore := l.Snapshot()
	l.Write(r.Draw(60, 120)...)
	for _, s := range []string{
		"DETACH TABLE records_sums", "TRUNCATE TABLE records", "INSERT INTO records SELECT * FROM backup", "ATTACH TABLE records_sums",
	} {
		l.Exec("%s", s)
	}
	restore()
	if _, err := admin.Adopt(t.Context(), l.DB, adoption(l), options()); err != nil {
		t.Fatal(err)
	}
	writersGoOn(t, l, r)
}

// Given topics without sums, then they are adopted, too.
func TestAdoptNotesTheServerOfEveryTopic(t *testing.T) {
	t.Parallel()
	l := ingesttest.New(t, events.Projects, partitions)
	here := stream(t, l).Server
	restream(t, l, func(s *position.Stream) { s.Server = "where it came from" })
	before := stream(t, l)
	if _, err := admin.Adopt(t.Context(), l.DB, adoption(l), options()); err != nil {
		t.Fatal(err)
	}
	if after := stream(t, l); after.Server != here || after.Life == before.Life || after.Work != "" {
		t.Fatalf("%+v", after)
	}
}

func TestAdoptComparesTheLog(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*admin.Adoption, *admin.Log)
		says   []string // nothing: it is adopted
	}{
		{"another cluster", func(_ *admin.Adoption, log *admin.Log) { log.Cluster = "another" }, []string{"not of another"}},
		{"a topic made anew", func(_ *admin.Adoption, log *admin.Log) { log.Topic = "another" }, []string{"made anew"}},
		{"fewer partitions", func(_ *admin.Adoption, log *admin.Log) { log.Ranges = log.Ranges[:1] }, []string{"1 partitions", "another topic"}},
		{"a log that ends before the position", func(_ *admin.Adoption, log *admin.Log) { log.Ranges[1].End-- },
			[]string{"partition 1", "another log"}},
		{"a log that begins behind the position", func(_ *admin.Adoption, log *admin.Log) {
			log.Ranges[1] = kafkalog.Range{Start: log.Ranges[1].End + 9, End: log.Ranges[1].End + 10}
		}, []string{"partition 1", "gone from it", "--accept-gaps"}},
		{"a log that begins behind the position, which is accepted", func(a *admin.Adoption, log *admin.Log) {
			log.Ranges[1] = kafkalog.Range{Start: log.Ranges[1].End + 9, End: log.Ranges[1].End + 10}
			a.AcceptGaps = true
		}, nil},
		{"a log that has lost what is ingested", func(_ *admin.Adoption, log *admin.Log) { log.Ranges[1].Start = log.Ranges[1].End }, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l, r := filled(t, 53)
			restream(t, l, func(s *position.Stream) { s.Server = "where it came from" })
			before := stream(t, l)
			a := adoption(l)
			log := a.Logs[l.Entity.Topic]
			test.change(&a, &log)
			a.Logs[l.Entity.Topic] = log
			_, err := admin.Adopt(t.Context(), l.DB, a, options())
			if test.says == nil {
				if err != nil {
					t.Fatal(err)
				}
				writersGoOn(t, l, r)
				return
			}
			mustSay(t, err, test.says...)
			if after := stream(t, l); after.Revision != before.Revision {
				t.Fatalf("%+v", after)
			}
		})
	}
}

// Given one of two shards, and logs that long have lost what was ingested, when it is adopted, then it asks for its own partition alone:
// of the other shard's it is at 0, which is no gap. A gap in its own is one.
func TestAShardIsAdoptedByItsOwnPartitions(t *testing.T) {
	t.Parallel()
	for mine := range partitions {
		other := 1 - mine
		l := ingesttest.New(t, events.Records, partitions)
		for _, c := range ingesttest.NewRecords(uint64(60+mine)).Draw(60, 120) {
			if kafka.Partition([]byte(c.Key()), partitions) != mine {
				continue
			}
			if _, err := l.Try(int32(mine), c); err != nil {
				t.Fatal(err)
			}
		}
		restream(t, l, func(s *position.Stream) { s.Server, s.Shard, s.Shards = "where it came from", uint32(mine), partitions })
		a, o := adoption(l), options()
		o.Shard, o.Shards = mine, partitions
		ranges := a.Logs[l.Entity.Topic].Ranges
		ranges[other] = kafkalog.Range{Start: 500, End: 1000}
		whole := ranges[mine]
		ranges[mine] = kafkalog.Range{Start: whole.End + 1, End: whole.End + 2}
		_, err := admin.Adopt(t.Context(), l.DB, a, o)
		mustSay(t, err, fmt.Sprintf("partition %d", mine), "--accept-gaps")
		if strings.Contains(err.Error(), fmt.Sprintf("partition %d", other)) {
			t.Errorf("it asks for the other shard's: %v", err)
		}
		ranges[mine] = whole
		if _, err := admin.Adopt(t.Context(), l.DB, a, o); err != nil {
			t.Fatal(err)
		}
		l.Truth(t)
	}
}

// Given several topics of which the last doesn't belong to its table, then nothing is changed of any: who connected the wrong cluster has
// the database as it was.
func TestAdoptChangesNothingWhereAnyTopicIsWrong(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 56)
	in := position.Installation{Log: identity(partitions), Server: stream(t, l).Server, Shards: 1}
	users := position.NewStream(store.Of(events.Users), in)
	users.TopicID = "another"
	id := l.DB.Name() + "/" + string(events.Users) + "/test"
	if err := position.WriteStream(t.Context(), l.DB, string(events.Users), id, users, "1", nil); err != nil {
		t.Fatal(err)
	}
	a := adoption(l)
	a.Logs[events.Users] = a.Logs[l.Entity.Topic]
	before := stream(t, l)
	_, err := admin.Adopt(t.Context(), l.DB, a, options())
	mustSay(t, err, string(events.Users), "made anew")
	if after := stream(t, l); after.Revision != before.Revision {
		t.Errorf("%+v", after)
	}
}

// Given a topic that is another one when its hold is there than it was before, then it isn't adopted.
func TestAdoptComparesTheLogUnderTheHold(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 57)
	changed := false
	db := &interceptor{Server: l.DB}
	db.onExec = func(st database.Statement) error {
		if strings.Contains(st.SQL, "INSERT INTO fences") && !changed {
			changed = true
			restream(t, l, func(s *position.Stream) { s.TopicID = "another" })
		}
		return nil
	}
	_, err := admin.Adopt(t.Context(), db, adoption(l), options())
	mustSay(t, err, "made anew")
	if after := stream(t, l); after.Work != "" || after.TopicID != "another" || !changed {
		t.Errorf("%+v", after)
	}
	nobodyHolds(t, l)
}

// Given a part of the sums that is broken, when the database is adopted, which rebuilds them, then the part is dropped: no writer would
// come to these tables otherwise.
func TestAdoptDropsBrokenPartsOfTheSums(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 58)
	breakPart(t, l, "sums")
	if _, err := admin.Adopt(t.Context(), l.DB, adoption(l), options()); err != nil {
		t.Fatal(err)
	}
	if n := l.Number("SELECT count() FROM system.detached_parts WHERE database = currentDatabase()"); n != 0 {
		t.Errorf("%d parts are left", n)
	}
	writersGoOn(t, l, r)
}

// Given a backup that was made in the middle of a rebuild, and restored on another server, when it is adopted, then that completes the
// rebuild: the rebuild itself refuses another server's database.
func TestABackupFromTheMiddleOfARebuildIsAdopted(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 54)
	restream(t, l, func(s *position.Stream) {
		s.Server, s.Work, s.Worker = "where it came from", "`tallyhouse rebuild`", "somebody"
	})
	l.Exec("%s", wrongSum)
	_, err := admin.Rebuild(t.Context(), l.DB, []*store.Entity{l.Entity}, options())
	mustSay(t, err, "tallyhouse adopt")
	if _, err := admin.Adopt(t.Context(), l.DB, adoption(l), options()); err != nil {
		t.Fatal(err)
	}
	writersGoOn(t, l, r)
}

// Given a backup of an older release, or from the middle of any work, that was restored on another server, when it is migrated and then
// adopted, then it is as it should be: nobody is sent from one command to the other and back.
func TestABackupIsMigratedAndAdopted(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]string{
		"no work": "", "a rebuild": "`tallyhouse rebuild`", "an adoption": "`tallyhouse adopt`", "a migration": "`tallyhouse migrate`",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r := filled(t, 55)
			restream(t, l, func(s *position.Stream) {
				s.Server, s.Work, s.Worker, s.Schema = "where it came from", work, "somebody", s.Schema-1
			})
			if work == "`tallyhouse rebuild`" || work == "`tallyhouse adopt`" {
				l.Exec("%s", wrongSum)
			}
			change, err := admin.BeginSchemaChange(t.Context(), l.DB, options())
			if err != nil {
				t.Fatal(err)
			}
			if err := change.End(t.Context()); err != nil { // the process dies, and another migrates
				t.Fatal(err)
			}
			if _, err := admin.Reform(t.Context(), l.DB, l.Entity, options()); err != nil {
				t.Fatal(err)
			}
			l.Truth(t)
			if after := stream(t, l); after.Server != "where it came from" || after.Work != "" {
				t.Errorf("migrated, it is %+v", after)
			}
			if _, err := admin.Adopt(t.Context(), l.DB, adoption(l), options()); err != nil {
				t.Fatal(err)
			}
			writersGoOn(t, l, r)
		})
	}
}
