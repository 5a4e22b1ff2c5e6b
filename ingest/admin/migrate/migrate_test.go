package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

// quiet are options that log only what goes wrong.
func quiet() migrate.Options {
	return migrate.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
}

// somewhere is a database that need not exist yet.
func somewhere(t *testing.T) database.Options {
	addr, name := clickhousetest.Database(t)
	return database.Options{Addr: addr, Database: name, User: "default"}
}

func open(t *testing.T, o database.Options) *database.Server {
	t.Helper()
	db, err := database.Open(o, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func exec(t *testing.T, db *database.Server, statement string) {
	t.Helper()
	if err := db.Exec(t.Context(), database.Statement{SQL: statement}); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func up(t *testing.T, o database.Options) []string {
	t.Helper()
	taken, err := migrate.Up(t.Context(), []database.Options{o}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

func mustSay(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Fatalf("got %v, want it to say %q", err, w)
		}
	}
}

func TestAMissingDatabaseIsMadeAndTheSecondTimeNothingIsDone(t *testing.T) {
	t.Parallel()
	o := somewhere(t)
	exec(t, open(t, database.Options{Addr: o.Addr, Database: "system", User: "default"}), "DROP DATABASE "+o.Database+" SYNC")
	db := open(t, o)

	mustSay(t, migrate.Check(t.Context(), db), "tallyhouse migrate")
	steps, err := clickhouse.Migrations(clickhouse.Target{})
	if err != nil {
		t.Fatal(err)
	}
	if taken := up(t, o); len(taken) != len(steps) {
		t.Fatalf("took %v, want %d steps", taken, len(steps))
	}
	if err := migrate.Check(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if taken := up(t, o); len(taken) != 0 {
		t.Fatalf("took %v again", taken)
	}
	for _, e := range store.All() {
		var n uint64
		if err := db.Row(t.Context(), database.Query{SQL: "SELECT count() FROM " + e.Table}, &n); err != nil {
			t.Fatal(err)
		}
	}
}

func TestManyAtOnceTakeEachStepOnce(t *testing.T) {
	t.Parallel()
	o := somewhere(t)
	var all []string
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			taken, err := migrate.Up(t.Context(), []database.Options{o}, quiet())
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, taken...)
		})
	}
	wg.Wait()
	steps, err := clickhouse.Migrations(clickhouse.Target{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	if len(all) != len(steps) || len(slices.Compact(all)) != len(steps) {
		t.Fatalf("steps taken, all together: %v", all)
	}
	db := open(t, o)
	var rows, different uint64
	if err := db.Row(t.Context(), database.Query{SQL: "SELECT count(), uniqExact(version) FROM migrations"}, &rows, &different); err != nil {
		t.Fatal(err)
	}
	if rows != different || int(rows) != len(steps) {
		t.Fatalf("%d rows about %d steps", rows, different)
	}
	standing, err := fence.Read(t.Context(), db, "migrations")
	if err != nil || standing[0].Held {
		t.Fatalf("the hold is left behind: %+v, %v", standing, err)
	}
}

func TestADatabaseThatIsNewerIsRefused(t *testing.T) {
	t.Parallel()
	o := somewhere(t)
	up(t, o)
	db := open(t, o)
	exec(t, db, "INSERT INTO migrations SELECT 999, 'from_the_future', 'x', now64(3)")

	_, err := migrate.Up(t.Context(), []database.Options{o}, quiet())
	mustSay(t, err, "0999_from_the_future", "newer release")
	mustSay(t, migrate.Check(t.Context(), db), "newer release")
}

func TestAReleasedStepThatWasEditedIsRefused(t *testing.T) {
	t.Parallel()
	o := somewhere(t)
	up(t, o)
	db := open(t, o)
	exec(t, db, "ALTER TABLE migrations UPDATE name = 'edited' WHERE version = 2 SETTINGS mutations_sync = 2")
	exec(t, db, "INSERT INTO migrations SELECT 2, 'edited', 'other', now64(3)")

	_, err := migrate.Up(t.Context(), []database.Options{o}, quiet())
	mustSay(t, err, "0002_edited was taken in another form", "0002_sums")
	mustSay(t, migrate.Check(t.Context(), db), "another form")
}

func TestADatabaseThatLacksAStepIsOutdatedAndTakesIt(t *testing.T) {
	t.Parallel()
	o := somewhere(t)
	up(t, o)
	db := open(t, o)
	exec(t, db, "ALTER TABLE migrations DELETE WHERE version = 4 SETTINGS mutations_sync = 2")

	err := migrate.Check(t.Context(), db)
	mustSay(t, err, "0004_", "tallyhouse migrate")
	if !errors.Is(err, migrate.ErrOutdated) {
		t.Fatal(err)
	}
	// As after a death between the last statement of a step and its being written down.
	if taken := up(t, o); len(taken) != 1 || !strings.HasPrefix(taken[0], "0004_") {
		t.Fatalf("took %v", taken)
	}
	if err := migrate.Check(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

func TestADeadMigrationIsWaitedForAndNamed(t *testing.T) {
	t.Parallel()
	o := somewhere(t)
	up(t, o)
	db := open(t, o)
	exec(t, db, "ALTER TABLE migrations DELETE WHERE version = 4 SETTINGS mutations_sync = 2")
	if _, err := fence.Take(t.Context(), db, "migrations", []int32{0}, "another migration"); err != nil {
		t.Fatal(err)
	}

	impatient := quiet()
	impatient.Timeout = time.Second
	_, err := migrate.Up(t.Context(), []database.Options{o}, impatient)
	mustSay(t, err, "another migration", "tallyhouse release migrations")

	if _, err := fence.Break(t.Context(), db, "migrations", "the test"); err != nil {
		t.Fatal(err)
	}
	if taken := up(t, o); len(taken) != 1 {
		t.Fatalf("took %v", taken)
	}
}

func TestAMigrationThatLosesItsHoldStops(t *testing.T) {
	t.Parallel()
	o := somewhere(t)
	db := open(t, o)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	watching := quiet()
	watching.Log = slog.New(&onRecord{do: func(r slog.Record) {
		// The moment before a step: as an operator who believes the migration dead.
		if r.Message == "migrating the database" {
			if _, err := fence.Break(ctx, db, "migrations", "the test"); err != nil {
				t.Error(err)
			}
		}
	}})
	_, err := migrate.Up(ctx, []database.Options{o}, watching)
	mustSay(t, err, "no longer counts")
	if taken := up(t, o); len(taken) == 0 {
		t.Fatal("nothing was left to do")
	}
}

// onRecord is a log handler that does something at each record.
type onRecord struct {
	slog.Handler
	do func(slog.Record)
}

func (h *onRecord) Enabled(context.Context, slog.Level) bool { return true }

func (h *onRecord) Handle(_ context.Context, r slog.Record) error { h.do(r); return nil }

func TestTheServerIsCheckedForWhatTheProtocolStandsOn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		target  clickhouse.Target // of the check
		made    clickhouse.Target
		change  string
		want    string // "" for nothing
		advised bool   // the message names the statement that helps
	}{
		{name: "as made", want: ""},
		{name: "as made, durable", target: clickhouse.Target{Durable: true}, made: clickhouse.Target{Durable: true}},
		{name: "made for development, used for more", target: clickhouse.Target{Durable: true}, want: "does not write through", advised: true},
		{name: "a view is gone", change: "DROP TABLE records_sums", want: "records_sums"},
		{name: "a table of another engine", want: "users",
			change: "RENAME TABLE users TO old; CREATE TABLE users AS old ENGINE = MergeTree ORDER BY id"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := somewhere(t)
			with := quiet()
			with.Target = test.made
			if _, err := migrate.Up(t.Context(), []database.Options{o}, with); err != nil {
				t.Fatal(err)
			}
			db := open(t, o)
			for s := range strings.SplitSeq(test.change, ";") {
				if s != "" {
					exec(t, db, s)
				}
			}
			err := migrate.CheckServer(t.Context(), db, test.target)
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			mustSay(t, err, test.want)
			if !test.advised {
				return
			}
			for line := range strings.Lines(err.Error()) {
				_, statement, ok := strings.Cut(strings.TrimSpace(line), ": run ")
				if !ok {
					t.Fatalf("no advice: %s", line)
				}
				exec(t, db, statement)
			}
			if err := migrate.CheckServer(t.Context(), db, test.target); err != nil {
				t.Fatalf("after what was advised: %v", err)
			}
		})
	}
}

func TestReplicatedStatements(t *testing.T) {
	steps, err := clickhouse.Migrations(clickhouse.Target{Cluster: "c", Replicated: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range steps {
		for _, s := range m.Statements {
			if !strings.Contains(s, "ON CLUSTER `c`") {
				t.Errorf("runs on one server only: %s", s)
			}
			if strings.Contains(s, "MergeTree(") && !strings.Contains(s, "= Replicated") {
				t.Errorf("has no replicas: %s", fmt.Sprintf("%.60s", s))
			}
		}
	}
}

func TestAStepThatAddsAViewFillsItFromTheRowsThatAreThere(t *testing.T) {
	t.Parallel()
	l := ingesttest.New(t, events.Records, 2)
	r := ingesttest.NewRecords(1)
	for range 2 {
		l.Write(r.Draw(60, 100)...)
	}
	// As a database of a release that did not sum records yet.
	for _, s := range []string{
		"DROP TABLE records_sums", "TRUNCATE TABLE sums", "ALTER TABLE migrations DELETE WHERE version = 4 SETTINGS mutations_sync = 2",
	} {
		l.Exec("%s", s)
	}
	restream(t, l, func(s *position.Stream) { s.Schema, s.Formula = 3, "" })
	if taken := up(t, l.Where); len(taken) != 1 {
		t.Fatalf("took %v", taken)
	}
	l.Truth(t)
	l.Fence()
	l.Write(r.Draw(60, 100)...)
	l.Truth(t)
}

// restream changes what the database knows of the topic.
func restream(t *testing.T, l *ingesttest.Ledger, change func(*position.Stream)) {
	t.Helper()
	s := stream(t, l)
	s.Revision++
	change(&s)
	l.Stream(s)
}

func stream(t *testing.T, l *ingesttest.Ledger) position.Stream {
	t.Helper()
	s, known, err := position.ReadStream(t.Context(), l.DB, string(l.Entity.Topic))
	if err != nil || !known {
		t.Fatal(known, err)
	}
	return s
}

// Given a database that is written to, when a step of the schema is taken, then what stood before writes no more, and
// the stream has the number of the schema by which its writers are let in or refused.
func TestAStepIsTakenWhileNobodyWrites(t *testing.T) {
	t.Parallel()
	l := ingesttest.New(t, events.Records, 2)
	r := ingesttest.NewRecords(3)
	l.Write(r.Draw(60, 100)...)
	l.Exec("ALTER TABLE migrations DELETE WHERE version = 7 SETTINGS mutations_sync = 2")
	restream(t, l, func(s *position.Stream) { s.Schema = 6 })
	before := stream(t, l)
	during := quiet()
	asked := false
	during.Log = slog.New(&onRecord{do: func(record slog.Record) {
		if record.Message != "migrating the database" {
			return
		}
		asked = true
		_, held, err := fence.Put(t.Context(), l.DB, string(events.Records), []int32{0, 1}, "writer")
		if err != nil || len(held) != 2 {
			t.Errorf("held are %v, %v", held, err)
		}
		if now := stream(t, l); now.Work != "`tallyhouse migrate`" || now.Life == before.Life {
			t.Errorf("the stream says %+v", now)
		}
	}})
	if _, err := migrate.Up(t.Context(), []database.Options{l.Where}, during); err != nil || !asked {
		t.Fatal(asked, err)
	}
	if after := stream(t, l); after.Work != "" || after.Schema != clickhouse.Version {
		t.Fatalf("%+v", after)
	}
	if written, err := l.Try(0, r.Draw(1, 100)...); err != nil || written != 0 {
		t.Fatalf("a writer of before wrote %d rows: %v", written, err)
	}
	l.Fence()
	l.Write(r.Draw(60, 100)...)
	l.Truth(t)
}

// Given work in streams that this release doesn't know, as a newer one leaves it, then a migration doesn't take it over.
func TestAStepWaitsForNobodyElsesWork(t *testing.T) {
	t.Parallel()
	l := ingesttest.New(t, events.Records, 2)
	l.Exec("ALTER TABLE migrations DELETE WHERE version = 7 SETTINGS mutations_sync = 2")
	restream(t, l, func(s *position.Stream) { s.Work, s.Worker = "`tallyhouse compact`", "somebody" })
	_, err := migrate.Up(t.Context(), []database.Options{l.Where}, quiet())
	mustSay(t, err, "`tallyhouse compact`", "in progress", "somebody")
	if n := l.Number("SELECT count() FROM migrations WHERE version = 7"); n != 0 {
		t.Fatal("the step was taken")
	}
}

func TestSumsByAnotherFormulaAreRebuilt(t *testing.T) {
	t.Parallel()
	l := ingesttest.New(t, events.Records, 2)
	l.Formula = func(c analytics.Contribution) analytics.Contribution {
		c = slices.Clone(c)
		for i := range c {
			for j := range c[i].Amounts {
				c[i].Amounts[j] *= 3
			}
		}
		return c
	}
	l.Write(ingesttest.NewRecords(2).Draw(60, 100)...)
	restream(t, l, func(s *position.Stream) { s.Formula = "three times as much" })
	up(t, l.Where)
	l.Truth(t)
	if s := stream(t, l); s.Formula != l.Entity.Formula || s.Work != "" {
		t.Fatalf("%+v", s)
	}
}

// Given a database of a layout before this one (its steps have other texts, and it has no sums, or sums with a column
// for each term), then it is refused by name.
func TestADatabaseOfAnotherLayoutIsRefused(t *testing.T) {
	t.Parallel()
	for name, table := range map[string]string{
		"without sums":              "CREATE TABLE record_sums (tenant String) ENGINE = MergeTree ORDER BY tenant",
		"a column for each key":     "CREATE TABLE sums (tenant String, key1 String, amount1 Int128) ENGINE = SummingMergeTree(amount1) ORDER BY (tenant, key1)",
		"sums with all their terms": "CREATE TABLE sums (tenant String, contract String, net Int128) ENGINE = SummingMergeTree(net) ORDER BY (tenant, contract)",
	} {
		t.Run(name, func(t *testing.T) { refusesLayout(t, table) })
	}
}

func refusesLayout(t *testing.T, table string) {
	t.Helper()
	o := somewhere(t)
	db := open(t, o)
	steps, err := clickhouse.Migrations(clickhouse.Target{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps[0].Statements {
		exec(t, db, s)
	}
	exec(t, db, "INSERT INTO migrations SELECT number, 'of_before', 'x', now64(3) FROM numbers(12)")
	exec(t, db, table)
	for what, err := range map[string]error{
		"migrate": func() error { _, err := migrate.Up(t.Context(), []database.Options{o}, quiet()); return err }(),
		"check":   migrate.Check(t.Context(), db),
	} {
		mustSay(t, err, o.Database, "old layout", "empty database", "--clickhouse-database")
		if strings.Contains(err.Error(), "newer release") {
			t.Errorf("%s: %v", what, err)
		}
	}
	var tables uint64
	made := database.Query{SQL: "SELECT count() FROM system.tables WHERE database = currentDatabase()"}
	if err := db.Row(t.Context(), made, &tables); err != nil || tables != 3 {
		t.Fatalf("%d tables: %v", tables, err)
	}
}
