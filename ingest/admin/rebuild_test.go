package admin_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

const partitions = 2

func options() admin.Options {
	return admin.Options{Holder: fence.NewHolder("the test"), Shards: 1, Log: ingesttest.Log()}
}

// filled is a ledger with records of several versions.
func filled(t *testing.T, seed uint64) (*ingesttest.Ledger, *ingesttest.Records) {
	t.Helper()
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

func rebuild(t *testing.T, l *ingesttest.Ledger) admin.Rebuilt {
	t.Helper()
	all, err := admin.Rebuild(t.Context(), l.DB, []*store.Entity{l.Entity}, options())
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0]
}

func stream(t *testing.T, l *ingesttest.Ledger) position.Stream {
	t.Helper()
	s, known, err := position.ReadStream(t.Context(), l.DB, string(l.Entity.Topic))
	if err != nil || !known {
		t.Fatal(known, err)
	}
	return s
}

// restream changes what the database knows of the topic.
func restream(t *testing.T, l *ingesttest.Ledger, change func(*position.Stream)) {
	t.Helper()
	s := stream(t, l)
	s.Revision++
	change(&s)
	l.Stream(s)
}

func positions(t *testing.T, l *ingesttest.Ledger) map[int32]position.Positions {
	t.Helper()
	at, err := position.Read(t.Context(), l.DB, l.Entity, []int32{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// writersGoOn checks that the database is what it should be, and stays so with another batch.
func writersGoOn(t *testing.T, l *ingesttest.Ledger, r *ingesttest.Records) {
	t.Helper()
	l.Truth(t)
	for p, at := range positions(t, l) {
		if at.State != l.Next(p) || !at.Level() {
			t.Errorf("partition %d is at %+v, want %d", p, at, l.Next(p))
		}
	}
	l.Fence()
	l.Write(r.Draw(50, 120)...)
	l.Truth(t)
}

// nobodyHolds checks that all partitions of the topic are free.
func nobodyHolds(t *testing.T, l *ingesttest.Ledger) {
	t.Helper()
	current, err := fence.Read(t.Context(), l.DB, string(l.Entity.Topic))
	if err != nil {
		t.Fatal(err)
	}
	for p, f := range current {
		if f.Held {
			t.Errorf("partition %d: %+v", p, f)
		}
	}
}

const (
	wrongSum = `INSERT INTO sums (tenant, project, keys, amount2)
		SELECT tenant, project, keys, 5 FROM sums WHERE roll = 'payments' LIMIT 1`
	wrongEverySum  = "INSERT INTO sums SELECT * FROM sums WHERE tenant != ''"
	behindPosition = "INSERT INTO sums (tenant, project, amount1) SELECT '', '#records/1', -1"
)

func TestRebuildOfRightSumsChangesNothing(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 1)
	if n := l.Truth(t); n < 50 {
		t.Fatalf("only %d sums", n)
	}
	const ofAnother = "FROM sums WHERE roll = 'claims'" // of a table that isn't rebuilt, in the same projects
	l.Exec(`INSERT INTO sums (tenant, project, keys, amount4)
		SELECT DISTINCT tenant, project, 'claims\0\0n1\0EUR\0\0', 7 FROM sums WHERE tenant != ''`)
	others := l.Number("SELECT sum(amount4) " + ofAnother)
	rows := l.Number("SELECT count() FROM sums")
	if got := rebuild(t, l); got.Corrected != 0 || got.Slices < 2 {
		t.Fatalf("%+v", got)
	}
	if now := l.Number("SELECT sum(amount4) " + ofAnother); now != others || others < 14 {
		t.Fatalf("another table's sums come to %d, and came to %d", now, others)
	}
	if now := l.Number("SELECT count() FROM sums"); now > rows {
		t.Fatalf("%d rows, then %d", rows, now)
	}
	writersGoOn(t, l, r)
}

func TestRebuildCorrectsWhateverIsWrong(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, statement string }{
		{"a sum", wrongSum},
		{"every sum", wrongEverySum},
		{"a project that only the sums have", "INSERT INTO sums SELECT * REPLACE ('of nobody' AS project) FROM sums WHERE tenant != ''"},
		{"a tenant that only the sums have", "INSERT INTO sums SELECT * REPLACE ('stranger' AS tenant) FROM sums WHERE tenant != ''"},
		{"keys of nobody", `INSERT INTO sums SELECT * REPLACE (concat('lines\0of nobody', substring(keys, position(keys, '\0', 7))) AS keys)
			FROM sums WHERE roll = 'lines'`},
		{"keys that the roll doesn't have", `INSERT INTO sums SELECT * REPLACE (concat('payments\0astray', substring(keys, 10)) AS keys)
			FROM sums WHERE roll = 'payments'`},
		{"too few keys, and too many", `INSERT INTO sums (tenant, project, keys, amount2)
			VALUES ('t', 'P1', 'payments', 5), ('t', 'P1', 'payments\0\0N1\0EUR\0', 5), ('t', 'P1', 'payments\0\0N1\0EUR\0\02026-01\0', 5)`},
		{"sums beyond 64 bits",
			"INSERT INTO sums SELECT * REPLACE (toInt128('40000000000000000000') AS amount2) FROM sums WHERE roll = 'lines' LIMIT 3"},
		{"everything is lost", "TRUNCATE TABLE sums"},
		{"a position is ahead", "INSERT INTO sums (tenant, project, amount1) SELECT '', '#records/0', 100"},
		{"a position is behind", behindPosition},
		{"a batch counted twice", "INSERT INTO sums (" + strings.Join(clickhouse.SumColumns(), ", ") + ") SELECT * FROM (" +
			clickhouse.ViewSelect("(SELECT * FROM records WHERE tenant = '' LIMIT 1)") + ")"},
	}
	l, r := filled(t, 10)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l.Exec("%s", test.statement)
			onlyPositions := strings.Contains(test.name, "position")
			if got := rebuild(t, l); got.Corrected == 0 != onlyPositions {
				t.Fatalf("%+v", got)
			}
			if n := l.Truth(t); n < 50 {
				t.Fatalf("only %d sums", n)
			}
			if got := rebuild(t, l); got.Corrected != 0 {
				t.Fatalf("the second time too: %+v", got)
			}
			if n := l.Number("SELECT sum(amount3) + sum(amount4) FROM sums WHERE tenant = ''"); n != 0 {
				t.Errorf("position rows carry amounts: %d", n)
			}
			writersGoOn(t, l, r)
		})
	}
}

// Given more sums of one project that are wrong than one statement corrects, then each is corrected once.
func TestRebuildCorrectsMoreSumsThanAStatementHas(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 15)
	const many = 100_001 // one more than that
	l.Exec(`INSERT INTO sums (tenant, project, keys, amount2)
		SELECT 't', 'P1', concat('payments\0\0astray', toString(number), '\0EUR\0\02026-01'), 5 FROM numbers(%d)`, many)
	if got := rebuild(t, l); got.Corrected != many {
		t.Fatalf("%+v", got)
	}
	writersGoOn(t, l, r)
}

// Given sums and a position that are wrong, when they are rebuilt, then the work and a new life are written before
// the first correction, and the position says what it said before until the last one.
func TestRebuildWritesTheWorkFirstAndThePositionsLast(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 11)
	l.Exec("%s", wrongEverySum)
	l.Exec("%s", behindPosition)
	before := stream(t, l)
	o := options()
	steps, corrected := 0, int64(0)
	rows := func() int64 { return l.Number("SELECT count() FROM sums WHERE tenant != ''") }
	asItWas := rows()
	o.Progress = func(p admin.Progress) {
		steps++
		if now := stream(t, l); now.Work != "`tallyhouse rebuild`" || now.Worker != fence.Holder(o.Holder) || now.Life == before.Life {
			t.Errorf("at %d of %d rows the stream says %+v", p.Done, p.Total, now)
		}
		if at := positions(t, l); at[1].Level() {
			t.Errorf("at %d of %d rows the position is right", p.Done, p.Total)
		}
		if corrected = rows() - asItWas; corrected != 0 != (p.Done > 0) {
			t.Errorf("at %d of %d rows %d sums are corrected", p.Done, p.Total, corrected)
		}
	}
	if _, err := admin.Rebuild(t.Context(), l.DB, []*store.Entity{l.Entity}, o); err != nil {
		t.Fatal(err)
	}
	if steps < 3 {
		t.Fatalf("%d steps", steps)
	}
	after := stream(t, l)
	if after.Work != "" || after.Worker != "" || after.Life == before.Life {
		t.Fatalf("%+v", after)
	}
	writersGoOn(t, l, r)
}

func TestASessionIsRefusedWhatAWriterIs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*position.Stream)
		says   []string
	}{
		{"another server", func(s *position.Stream) { s.Server = "another" }, []string{"another", "tallyhouse adopt"}},
		{"another shard", func(s *position.Stream) { s.Shard, s.Shards = 1, 2 }, []string{"shard 1 of 2"}},
		{"another formula", func(s *position.Stream) { s.Formula = "another" }, []string{"formula another", "tallyhouse migrate"}},
		{"an older schema", func(s *position.Stream) { s.Schema-- }, []string{"tallyhouse migrate"}},
		{"a newer schema", func(s *position.Stream) { s.Schema++ }, []string{"newer binary"}},
		{"other work", func(s *position.Stream) { s.Work, s.Worker = "`tallyhouse adopt`", "somebody" },
			[]string{"`tallyhouse adopt`", "in progress", "somebody"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l, _ := filled(t, 12)
			l.Exec("%s", wrongSum)
			restream(t, l, test.change)
			rows := l.Number("SELECT count() FROM sums")
			log := identity(partitions)
			log.Partitions = 6
			for what, do := range map[string]func() error{
				"rebuild": func() error {
					_, err := admin.Rebuild(t.Context(), l.DB, []*store.Entity{l.Entity}, options())
					return err
				},
				"verify": func() error { _, err := admin.Begin(t.Context(), l.DB, l.Entity, options()); return err },
				"resize": func() error { _, err := admin.Resize(t.Context(), l.DB, l.Entity, log, options()); return err },
			} {
				err := do()
				var refusal *position.Refusal
				if !errors.As(err, &refusal) {
					t.Fatalf("%s: %v", what, err)
				}
				mustSay(t, err, test.says...)
			}
			nobodyHolds(t, l)
			if now := l.Number("SELECT count() FROM sums"); now != rows {
				t.Fatalf("%d rows, then %d", rows, now)
			}
		})
	}
}

func TestRebuildIsKeptOutByAnotherHolder(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 2)
	if _, err := fence.Take(t.Context(), l.DB, string(events.Records), []int32{1}, "somebody else"); err != nil {
		t.Fatal(err)
	}
	_, err := admin.Rebuild(t.Context(), l.DB, []*store.Entity{l.Entity}, options())
	mustSay(t, err, "somebody else", "partition 1")
	var held *fence.Held
	if !errors.As(err, &held) {
		t.Fatal(err)
	}
	current, err := fence.Read(t.Context(), l.DB, string(events.Records))
	if err != nil {
		t.Fatal(err)
	}
	for p, f := range current {
		if f.Held != (p == 1) {
			t.Errorf("partition %d: %+v", p, f)
		}
	}
}

// breakPart has the server take a table's only part for broken, as it does with one that it can't read when it starts.
func breakPart(t *testing.T, l *ingesttest.Ledger, table string) (part string) {
	t.Helper()
	l.Exec("OPTIMIZE TABLE %s FINAL", table)
	query := func(q string) (text string) {
		if err := l.DB.Row(t.Context(), database.Query{SQL: q}, &text); err != nil {
			t.Fatal(q, err)
		}
		return text
	}
	name := query("SELECT name FROM system.parts WHERE database = currentDatabase() AND table = '" + table + "' AND active")
	l.Exec("ALTER TABLE %s DETACH PART '%s'", table, name)
	path := query("SELECT path FROM system.detached_parts WHERE database = currentDatabase() AND table = '" + table + "' AND name = '" + name + "'")
	part = "broken-on-start_" + name
	if err := os.Rename(path, filepath.Join(filepath.Dir(filepath.Clean(path)), part)); err != nil {
		t.Fatal(err)
	}
	return part
}

// Given a part of the sums that the server put aside as broken, when any table is rebuilt, then those of all tables
// are, and the part is dropped.
func TestABrokenPartOfTheSumsIsRebuiltAndDropped(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 13)
	breakPart(t, l, "sums")
	if n := l.Number("SELECT count() FROM sums"); n != 0 {
		t.Fatalf("%d rows are left", n)
	}
	all, err := admin.Rebuild(t.Context(), l.DB, []*store.Entity{store.Of(events.Claims)}, options())
	if err != nil {
		t.Fatal(err)
	}
	corrected := map[string]uint64{}
	for _, one := range all {
		corrected[one.Table] = one.Corrected
	}
	if len(corrected) < 5 || corrected["records"] == 0 {
		t.Fatalf("%+v", all)
	}
	if n := l.Number("SELECT count() FROM system.detached_parts WHERE database = currentDatabase()"); n != 0 {
		t.Errorf("%d parts are left", n)
	}
	writersGoOn(t, l, r)
}

// Given parts of a state table that are broken, when it is rebuilt, by itself or for another formula, then nothing is changed: the
// sums still know of what was lost. What is said to be done helps.
func TestBrokenPartsOfAStateTableAreNotTakenForTheTruth(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 14)
	l.Exec("CREATE TABLE backup AS records")
	l.Exec("INSERT INTO backup SELECT * FROM records")
	parts := []string{breakPart(t, l, "records")}
	l.Exec("INSERT INTO records SELECT * FROM backup LIMIT 5")
	parts = append(parts, breakPart(t, l, "records"))
	rows := l.Number("SELECT count() FROM sums")
	_, err := admin.Rebuild(t.Context(), l.DB, []*store.Entity{l.Entity}, options())
	mustSay(t, err, parts[0], parts[1], "`tallyhouse adopt`", "`tallyhouse migrate`", "--clickhouse-database", "--group")
	restream(t, l, func(s *position.Stream) { s.Formula = "of an older release" })
	_, reformed := admin.Reform(t.Context(), l.DB, l.Entity, options())
	mustSay(t, reformed, parts...)
	restream(t, l, func(s *position.Stream) { s.Formula = l.Entity.Formula })
	if now := l.Number("SELECT count() FROM sums"); now != rows || stream(t, l).Work != "" {
		t.Fatalf("%d rows, then %d: %+v", rows, now, stream(t, l))
	}
	nobodyHolds(t, l)

	_, advice, _ := strings.Cut(err.Error(), "drop what is left of the parts: ")
	l.Exec("INSERT INTO records SELECT * FROM backup")
	_, err = admin.Adopt(t.Context(), l.DB, adoption(l), options())
	mustSay(t, err, parts...)
	l.Exec("%s", advice)
	if _, err = admin.Adopt(t.Context(), l.DB, adoption(l), options()); err != nil {
		t.Fatal(err)
	}
	writersGoOn(t, l, r)
}
