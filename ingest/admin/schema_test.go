package admin_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/admin/recompute"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// byOlderFormula is a ledger that a release filled whose formula gives three times as much.
func byOlderFormula(t *testing.T, seed uint64) (*ingesttest.Ledger, *ingesttest.Records) {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	return byOlderFormulaIn(t, database.Options{Addr: addr, Database: name, User: "default"}, seed)
}

// byOlderFormulaIn is byOlderFormula in a database of the test's.
func byOlderFormulaIn(t *testing.T, where database.Options, seed uint64) (*ingesttest.Ledger, *ingesttest.Records) {
	t.Helper()
	l := ingesttest.Open(t, where, events.Records, partitions)
	l.Formula = func(c analytics.Contribution) analytics.Contribution {
		c = slices.Clone(c)
		for i := range c {
			for j := range c[i].Amounts {
				c[i].Amounts[j] *= 3
			}
		}
		return c
	}
	r := ingesttest.NewRecords(seed)
	for range 2 {
		l.Write(r.Draw(80, 120)...)
	}
	restream(t, l, func(s *position.Stream) { s.Formula = "three times as much" })
	return l, r
}

// newerRelease goes on with this binary's formula.
func newerRelease(l *ingesttest.Ledger) { l.Formula = nil }

func TestAnotherFormulaRebuildsTheSums(t *testing.T) {
	t.Parallel()
	l, r := byOlderFormula(t, 61)
	before := stream(t, l)
	rows := l.Number("SELECT count() FROM records")
	got, err := admin.Reform(t.Context(), l.DB, l.Entity, options())
	if err != nil || got.Corrected < 50 {
		t.Fatal(got, err)
	}
	if after := stream(t, l); after.Formula != l.Entity.Formula || after.Life == before.Life || after.Work != "" {
		t.Fatalf("%+v", after)
	}
	if now := l.Number("SELECT count() FROM records"); now != rows {
		t.Errorf("%d rows of the table became %d", rows, now)
	}
	newerRelease(l)
	writersGoOn(t, l, r)
	done := stream(t, l)
	if _, err := admin.Reform(t.Context(), l.DB, l.Entity, options()); err != nil || stream(t, l).Revision != done.Revision {
		t.Fatalf("it was done again: %v", err)
	}
}

// Given an entity that the new formula refuses, then nothing is written, and the release that wrote the sums goes on.
func TestAFormulaThatRefusesARowChangesNothing(t *testing.T) {
	t.Parallel()
	l, r := byOlderFormula(t, 62)
	l.Exec("DETACH TABLE records_sums")
	l.Exec(`INSERT INTO records SELECT * REPLACE ('too much' AS id, 'zz' AS project, toInt64(4000000000000000000) AS net,
		[toInt64(4000000000000000000)] AS allocation_net, ['n'] AS allocation_node, NULL AS gross)
		FROM records FINAL WHERE NOT deleted AND tenant != '' LIMIT 1`)
	l.Exec("ATTACH TABLE records_sums")
	before, rows := stream(t, l), l.Number("SELECT count() FROM sums")
	_, err := admin.Reform(t.Context(), l.DB, l.Entity, options())
	if !errors.Is(err, recompute.ErrRefused) {
		t.Fatal(err)
	}
	mustSay(t, err, "too much", "newer version")
	if after := stream(t, l); after.Revision != before.Revision || after.Work != "" {
		t.Fatalf("%+v", after)
	}
	if now := l.Number("SELECT count() FROM sums"); now != rows {
		t.Fatalf("%d rows, then %d", rows, now)
	}
	nobodyHolds(t, l)
	l.Fence()
	l.Write(r.Draw(10, 120)...)
}

// create is the statement of the migration that makes the view.
func create(t *testing.T) string {
	t.Helper()
	steps, err := clickhouse.Migrations(clickhouse.Target{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range steps {
		for _, s := range m.Statements {
			if strings.HasPrefix(s, "CREATE MATERIALIZED VIEW IF NOT EXISTS records_sums ") {
				return s
			}
		}
	}
	t.Fatal("no statement creates the view of records")
	return ""
}

// withoutView is a ledger whose table never had a view. One batch is in each partition: without a mark, the view
// would pass for one that missed the last batch.
func withoutView(t *testing.T, seed uint64) (*ingesttest.Ledger, *ingesttest.Records) {
	t.Helper()
	l, r := ingesttest.New(t, events.Records, partitions), ingesttest.NewRecords(seed)
	l.Write(r.Draw(80, 120)...)
	l.Exec("DROP TABLE records_sums")
	l.Exec("TRUNCATE TABLE sums")
	restream(t, l, func(s *position.Stream) { s.Schema-- })
	return l, r
}

func beginChange(t *testing.T, l *ingesttest.Ledger) *admin.SchemaChange {
	t.Helper()
	c, err := admin.BeginSchemaChange(t.Context(), l.DB, options())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Given a table with rows, when it gets its view, then its writers are out from before the view exists until it is
// filled, and nobody takes the view for one that missed a batch. It may be given up after every step.
func TestAViewIsAddedToATableWithRows(t *testing.T) {
	t.Parallel()
	for given := range 4 { // up after so many steps, the first time
		l, r := withoutView(t, 63+uint64(given))
		before := stream(t, l)
		for try := range 2 {
			c := beginChange(t, l)
			for i, step := range []func() error{
				func() error { return c.BeforeView(t.Context(), l.Entity) },
				func() error { return l.DB.Exec(t.Context(), database.Statement{SQL: create(t)}) },
				func() error { return c.Check(t.Context()) },
			} {
				if try == 0 && i == given {
					break
				}
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.End(t.Context()); err != nil {
				t.Fatal(err)
			}
			s := stream(t, l)
			if s.Work != "`tallyhouse migrate`" || s.Life == before.Life {
				t.Fatalf("given up after %d steps, the stream says %+v", given, s)
			}
			err := s.Check(l.Entity, position.Installation{Log: identity(partitions), Server: s.Server, Shards: 1})
			mustSay(t, err, "in progress", "`tallyhouse migrate`")
			for p, at := range positions(t, l) {
				if given > 0 && (at.Level() || at.Missed()) {
					t.Errorf("given up after %d steps, partition %d is at %+v", given, p, at)
				}
			}
		}
		if _, err := admin.Reform(t.Context(), l.DB, l.Entity, options()); err != nil {
			t.Fatal(err)
		}
		if s := stream(t, l); s.Work != "" || s.Schema != clickhouse.Version || s.Formula != l.Entity.Formula {
			t.Fatalf("%+v", s)
		}
		writersGoOn(t, l, r)
	}
}

// Given a database that an older release follows, when its schema changes, then the writers of every topic lose their
// fences, the number of the schema is noted, and sums that are right are left alone.
func TestAChangeOfTheSchemaHoldsEveryTopic(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 67)
	users := stream(t, l)
	users.Formula = ""
	if err := position.WriteStream(t.Context(), l.DB, string(events.Users), l.Where.Database, users, "1", nil); err != nil {
		t.Fatal(err)
	}
	restream(t, l, func(s *position.Stream) { s.Schema-- })
	topics := []string{string(events.Records), string(events.Users)}
	c := beginChange(t, l)
	for _, topic := range topics {
		_, held, err := fence.Put(t.Context(), l.DB, topic, []int32{0, 1}, "a writer")
		if err != nil || len(held) != 2 {
			t.Errorf("%s: held are %v, %v", topic, held, err)
		}
	}
	if err := c.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := fence.Break(t.Context(), l.DB, topics[1], "the test"); err != nil {
		t.Fatal(err)
	}
	var lost *fence.Lost
	if err := c.Check(t.Context()); !errors.As(err, &lost) || lost.Topic != topics[1] {
		t.Fatal(err)
	}
	if err := c.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	nobodyHolds(t, l)
	if s := stream(t, l); s.Work != "`tallyhouse migrate`" || s.Life == users.Life {
		t.Errorf("a writer of the release before may go on: %+v", s)
	}
	got, err := admin.Reform(t.Context(), l.DB, l.Entity, options())
	if err != nil || got.Slices != 0 {
		t.Fatal(got, err)
	}
	if s := stream(t, l); s.Work != "" || s.Schema != clickhouse.Version {
		t.Fatalf("%+v", s)
	}
	writersGoOn(t, l, r)
}

// Given one topic that somebody else holds, then a change of the schema does not begin, and nobody else is kept out.
func TestAChangeOfTheSchemaHoldsAllOrNone(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 68)
	if err := position.WriteStream(t.Context(), l.DB, string(events.Users), l.Where.Database, stream(t, l), "1", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := fence.Take(t.Context(), l.DB, string(events.Users), []int32{0}, "somebody else"); err != nil {
		t.Fatal(err)
	}
	_, err := admin.BeginSchemaChange(t.Context(), l.DB, options())
	mustSay(t, err, "somebody else", string(events.Users))
	if s := stream(t, l); s.Work != "" {
		t.Fatalf("%+v", s)
	}
	nobodyHolds(t, l)
	writersGoOn(t, l, r)
}

func TestADatabaseIsReadableWhenItsSumsAreCompleteAndByThisFormula(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*position.Stream)
		says   string // "" for nothing
	}{
		{"as it is", func(*position.Stream) {}, ""},
		{"another formula", func(s *position.Stream) { s.Formula = "another" },
			"records was written by another release: run `tallyhouse migrate`"},
		{"an older schema", func(s *position.Stream) { s.Schema-- }, "tallyhouse migrate"},
		{"a newer schema, which only adds", func(s *position.Stream) { s.Schema++ }, ""},
		{"work in progress", func(s *position.Stream) { s.Work = "`tallyhouse rebuild`" },
			"`tallyhouse rebuild` on ledger.records is in progress"},
		{"one of two shards", func(s *position.Stream) { s.Shards = 2 }, "shard 0 of 2, and is given as shard 0 of 1"},
		{"another shard", func(s *position.Stream) { s.Shard = 1 }, "shard 1 of 1, and is given as shard 0 of 1"},
	}
	l := ingesttest.New(t, events.Records, partitions)
	good := stream(t, l)
	foreign := good
	foreign.Formula = "of a table that another release has"
	if err := position.WriteStream(t.Context(), l.DB, "ledger.others", l.Where.Database, foreign, "1", nil); err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			restream(t, l, func(s *position.Stream) {
				revision := s.Revision
				*s = good
				s.Revision = revision
				test.change(s)
			})
			err := admin.Readable(t.Context(), l.DB, 0, 1)
			if test.says != "" {
				mustSay(t, err, test.says)
			} else if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// asked notes how long a database may take for each question.
type asked struct {
	admin.Database
	limits []time.Duration
}

func (a *asked) Rows(ctx context.Context, q database.Query, each func(func(...any) error) error) error {
	a.limits = append(a.limits, q.Limit)
	return a.Database.Rows(ctx, q, each)
}

// A database that hangs is soon found to be away: whoever asks whether it is readable gives it 5 s. That a query ends at its limit
// where the server is silent is a test of ingest/store/database.
func TestADatabaseSaysSoonWhetherItIsReadable(t *testing.T) {
	t.Parallel()
	l := ingesttest.New(t, events.Records, partitions)
	db := &asked{Database: l.DB}
	if err := admin.Readable(t.Context(), db, 0, 1); err != nil {
		t.Fatal(err)
	}
	if len(db.limits) != 1 || db.limits[0] != 5*time.Second {
		t.Errorf("it may take %v", db.limits)
	}
}

// Given a rebuild that died under the release before, when the next one migrates, then that completes it, also where neither schema nor
// formula ask for it: rebuild refuses tables of an older schema.
func TestAMigrationCompletesARebuild(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 66)
	restream(t, l, func(s *position.Stream) { s.Work, s.Worker, s.Schema = "`tallyhouse rebuild`", "somebody", s.Schema-1 })
	l.Exec("%s", wrongSum)
	got, err := admin.Reform(t.Context(), l.DB, l.Entity, options())
	if err != nil || got.Corrected != 1 {
		t.Fatal(got, err)
	}
	writersGoOn(t, l, r)
}

// Given tables of a newer release, when an older one migrates, then it refuses: it would write down a schema that isn't there.
func TestANewerDatabaseIsNotMigrated(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 27)
	restream(t, l, func(s *position.Stream) { s.Schema++ })
	before := stream(t, l)
	_, err := admin.BeginSchemaChange(t.Context(), l.DB, options())
	mustSay(t, err, "newer binary")
	_, err = admin.Reform(t.Context(), l.DB, l.Entity, options())
	mustSay(t, err, "newer binary")
	if after := stream(t, l); after.Revision != before.Revision {
		t.Errorf("%+v", after)
	}
	nobodyHolds(t, l)
}

// Given tables that lack nothing but the note of their schema, or of the end of a migration, then that is all that changes.
func TestTheEndOfAMigrationIsNoted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*position.Stream){
		"an older schema": func(s *position.Stream) { s.Schema-- },
		"a migration":     func(s *position.Stream) { s.Work, s.Worker = "`tallyhouse migrate`", "somebody" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r := filled(t, 28)
			restream(t, l, change)
			before := stream(t, l)
			if done, err := admin.Reform(t.Context(), l.DB, l.Entity, options()); err != nil || done.Slices != 0 {
				t.Fatal(done, err)
			}
			if after := stream(t, l); after.Schema != clickhouse.Version || after.Life != before.Life || after.Work != "" {
				t.Errorf("%+v", after)
			}
			writersGoOn(t, l, r)
		})
	}
}
