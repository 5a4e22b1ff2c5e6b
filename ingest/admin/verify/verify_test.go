package verify_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/admin/verify"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

func options() verify.Options {
	return verify.Options{Options: admin.Options{Holder: fence.NewHolder("the test"), Shards: 1, Log: ingesttest.Log()}}
}

func filled(t *testing.T, seed uint64) (*ingesttest.Ledger, *ingesttest.Records) {
	l := ingesttest.New(t, events.Records, 2)
	r := ingesttest.NewRecords(seed)
	for range 2 {
		l.Write(r.Draw(80, 120)...)
	}
	return l, r
}

func run(t *testing.T, l *ingesttest.Ledger, o verify.Options) (*verify.Report, verify.Topic) {
	t.Helper()
	report, err := verify.Run(t.Context(), l.DB, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range report.Topics {
		if found.Topic == string(l.Entity.Topic) {
			return report, found
		}
	}
	t.Fatal("the topic was not looked at")
	return nil, verify.Topic{}
}

func roll(t *testing.T, topic verify.Topic, name string) verify.Findings {
	t.Helper()
	for _, r := range topic.Rolls {
		if r.Roll == name {
			return r.Drift
		}
	}
	t.Fatalf("%s was not compared", name)
	return verify.Findings{}
}

func TestARightDatabaseHasNoDrift(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 1)
	report, found := run(t, l, options())
	if report.Drift() != 0 || report.Uncompared() != 0 || found.Held {
		t.Fatalf("%+v", report)
	}
	rows := l.Number("SELECT count() FROM records FINAL WHERE tenant != ''")
	if int64(found.Rows) != rows || len(found.Rolls) != len(l.Entity.Rolls()) || found.Slices < 2 {
		t.Fatalf("it did not look at everything: %+v", found)
	}
	for _, w := range report.Warnings {
		if !strings.Contains(w.What, "records in projects that do not exist") {
			t.Errorf("warns: %+v", w)
		}
	}
}

func TestPlantedDriftIsFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, statement string
		found           func(t *testing.T, l *ingesttest.Ledger, report *verify.Report, topic verify.Topic)
	}{
		{
			"a wrong sum",
			`INSERT INTO sums (tenant, project, keys, amount2)
				SELECT tenant, project, keys, 3 FROM sums WHERE roll = 'payments' LIMIT 1`,
			func(t *testing.T, _ *ingesttest.Ledger, report *verify.Report, topic verify.Topic) {
				drift := roll(t, topic, "payments")
				if report.Drift() != 1 || drift.Count != 1 {
					t.Fatalf("%+v", topic)
				}
				f := drift.First[0]
				if f.Key["tenant"] == "" || f.Key["month"] == "" || amount(t, f.Have) != amount(t, f.Want)+3 {
					t.Fatalf("%+v", f)
				}
			},
		},
		{
			"sums of nobody, of two rolls",
			"INSERT INTO sums SELECT * REPLACE ('nobody' AS tenant) FROM sums WHERE roll IN ('lines', 'links')",
			func(t *testing.T, l *ingesttest.Ledger, report *verify.Report, topic verify.Topic) {
				for _, name := range []string{"lines", "links"} {
					want := uint64(l.Number(`SELECT count() FROM (SELECT sum(net) AS n, sum(gross) AS g, sum(count) AS c
						FROM sums WHERE tenant = 'nobody' AND roll = '%s'
						GROUP BY project, contract, node, currency, status, record HAVING n != 0 OR g != 0 OR c != 0)`, name))
					drift := roll(t, topic, name)
					if drift.Count != want || want < 4 || len(drift.First) != 3 || drift.First[0].Key["tenant"] != "nobody" {
						t.Fatalf("%s: want %d, the first 3 listed: %+v", name, want, drift)
					}
				}
				if drift := roll(t, topic, "payments"); drift.Count != 0 {
					t.Fatalf("%+v", drift)
				}
			},
		},
		{
			"a sum that is missing",
			`INSERT INTO sums (tenant, project, keys, amount1)
				SELECT tenant, project, keys, -sum(count) FROM sums WHERE roll = 'references' GROUP BY ALL HAVING sum(count) > 0 LIMIT 1`,
			func(t *testing.T, _ *ingesttest.Ledger, report *verify.Report, topic verify.Topic) {
				drift := roll(t, topic, "references")
				if report.Drift() != 1 || drift.Count != 1 || drift.First[0].Have != "count 0" || amount(t, drift.First[0].Want) == 0 {
					t.Fatalf("%+v", drift)
				}
			},
		},
		{
			"a view that is behind",
			"INSERT INTO sums (tenant, project, amount1) SELECT '', '#records/1', -1",
			func(t *testing.T, l *ingesttest.Ledger, report *verify.Report, topic verify.Topic) {
				want := verify.Position{Partition: 1, Table: l.Next(1), View: strconv.FormatUint(l.Next(1)-1, 10)}
				if len(topic.Positions) != 1 || topic.Positions[0] != want {
					t.Fatalf("%+v, want %+v", topic.Positions, want)
				}
				if report.Drift() != 1 {
					t.Fatalf("%+v", topic)
				}
			},
		},
		{
			"a position row with an amount",
			"INSERT INTO sums (tenant, project, amount3) SELECT '', '#records/0', 9",
			func(t *testing.T, _ *ingesttest.Ledger, report *verify.Report, topic verify.Topic) {
				if report.Drift() != 1 || topic.Stray.Count != 1 || topic.Stray.First[0].Key["project"] != "#records/0" {
					t.Fatalf("%+v", topic)
				}
			},
		},
		{
			"a sum with an amount that its roll does not have",
			`INSERT INTO sums (tenant, project, keys, amount2)
				SELECT tenant, project, keys, 9 FROM sums WHERE roll = 'references' LIMIT 1`,
			func(t *testing.T, _ *ingesttest.Ledger, report *verify.Report, topic verify.Topic) {
				if report.Drift() != 1 || topic.Stray.Count != 1 || topic.Stray.First[0].Key["roll"] != "references" {
					t.Fatalf("%+v", topic)
				}
			},
		},
		{
			"a row that was changed by hand",
			`INSERT INTO records SELECT * REPLACE (
					row_version + 1 AS row_version, assumeNotNull(net) + 1 AS net, NULL AS gross, [assumeNotNull(net) + 1] AS allocation_net)
				FROM records FINAL
				WHERE tenant != '' AND net > 5 AND length(allocation_net) = 1 AND NOT deleted AND source = 'invoice' AND status != 'rejected' LIMIT 1`,
			func(t *testing.T, _ *ingesttest.Ledger, report *verify.Report, topic verify.Topic) {
				f := roll(t, topic, "lines")
				if f.Count != 1 || !strings.HasPrefix(f.First[0].Want, "net ") {
					t.Fatalf("%+v", f)
				}
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l, _ := filled(t, 30)
			l.Exec("%s", test.statement)
			o := options()
			o.Most = 3
			report, topic := run(t, l, o)
			if report.Drift() == 0 {
				t.Fatal("it is silent")
			}
			test.found(t, l, report, topic)
			if topic.Held {
				t.Error("nobody was writing, and yet it held")
			}
		})
	}
}

// amount is that of a finding with one.
func amount(t *testing.T, text string) (n int64) {
	t.Helper()
	_, number, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatal(text, err)
	}
	return n
}

func TestATornInsertIsFoundAndSaidToBeMended(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 2)
	l.Exec("DETACH TABLE records_sums")
	l.Write(r.Draw(60, 120)...)
	l.Exec("ATTACH TABLE records_sums")
	_, topic := run(t, l, options())
	if len(topic.Positions) != 2 || !topic.Positions[0].Torn || !topic.Positions[1].Torn {
		t.Fatalf("%+v", topic.Positions)
	}
}

// busy writes all the time, each time with new fences, until the test says so.
func busy(t *testing.T, l *ingesttest.Ledger, r *ingesttest.Records) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for ctx.Err() == nil {
			if l.TryFence() {
				l.TryWrite(r.Draw(5, 120)...)
			} else {
				time.Sleep(20 * time.Millisecond)
			}
		}
	})
	return func() { cancel(); writing.Wait() }
}

// Given writers that write whenever they may, then what is found is right, whether they had to be kept out or not.
func TestABusyDatabaseIsFoundRight(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 3)
	stop := busy(t, l, r)
	report, err := verify.Run(t.Context(), l.DB, options())
	stop()
	if err != nil {
		t.Fatal(err)
	}
	if report.Drift() != 0 || report.Uncompared() != 0 {
		t.Fatalf("%+v", report)
	}
	l.Truth(t)
}

// disturbed is a database into which somebody writes, if they may, each time that a slice was read.
func disturbed(l *ingesttest.Ledger, r *ingesttest.Records) *betweenReads {
	return &betweenReads{Server: l.DB, times: 1000, do: func() {
		if l.TryFence() {
			l.TryWrite(r.Draw(40, 120)...)
		}
	}}
}

func TestABusyDatabaseIsHeldWhileItIsCompared(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 3)
	report, err := verify.Run(t.Context(), disturbed(l, r), options())
	if err != nil {
		t.Fatal(err)
	}
	held := false
	for _, topic := range report.Topics {
		held = held || topic.Held
	}
	if report.Drift() != 0 || report.Uncompared() != 0 || !held {
		t.Fatalf("held %v: %+v", held, report)
	}
	// It has let go.
	if !l.TryFence() {
		t.Fatal("it still holds")
	}
	l.Truth(t)
}

func TestABusyDatabaseIsNotComparableWithoutAHold(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 4)
	o := options()
	o.NoHold = true
	report, err := verify.Run(t.Context(), disturbed(l, r), o)
	if err != nil {
		t.Fatal(err)
	}
	if report.Uncompared() == 0 || report.Drift() != 0 {
		t.Fatalf("uncompared %d, drift %d", report.Uncompared(), report.Drift())
	}
}

// Given work that moves no position, and that goes on while verify compares, then nothing is taken for drift: it is
// not comparable.
func TestWorkOnTheTablesIsNotComparable(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*testing.T, *ingesttest.Ledger) (end func()){
		"a hold": func(t *testing.T, l *ingesttest.Ledger) func() {
			s, err := admin.Begin(t.Context(), l.DB, l.Entity, admin.Options{Holder: "somebody", Shards: 1, Log: ingesttest.Log()})
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = s.End(t.Context()) }
		},
		"work that was not completed": func(t *testing.T, l *ingesttest.Ledger) func() {
			restream(t, l, func(s *position.Stream) { s.Work, s.Worker = "`tallyhouse rebuild`", "somebody" })
			return func() {}
		},
	}
	for name, begin := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := filled(t, 5)
			end := begin(t, l)
			defer end()
			l.Exec("INSERT INTO sums SELECT * FROM sums WHERE tenant != ''") // as half a rebuild may look
			o := options()
			o.NoHold = true
			report, found := run(t, l, o)
			if report.Drift() != 0 || found.Uncompared != found.Slices || found.Slices == 0 {
				t.Fatalf("%+v", found)
			}
			_, err := verify.Run(t.Context(), l.DB, options())
			if err == nil || !strings.Contains(err.Error(), "somebody") {
				t.Fatal(err)
			}
		})
	}
}

// Given a stream that changes while a slice is compared, as a rebuild changes it before and after its corrections,
// then the slice is compared again.
func TestALookThroughWhichARebuildWentIsRepeated(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 6)
	o := options()
	o.NoHold = true
	db := &betweenReads{Server: l.DB, times: 1, do: func() {
		o := admin.Options{Holder: "somebody", Shards: 1, Log: ingesttest.Log()}
		if _, err := admin.Rebuild(t.Context(), l.DB, []*store.Entity{l.Entity}, o); err != nil {
			t.Error(err)
		}
	}}
	l.Exec("INSERT INTO sums SELECT * FROM sums WHERE tenant != ''")
	report, err := verify.Run(t.Context(), db, o)
	if err != nil {
		t.Fatal(err)
	}
	if report.Drift() != 0 || report.Uncompared() != 0 || db.done != 1 {
		t.Fatalf("%d: %+v", db.done, report)
	}
}

// betweenReads does something after the sums of a slice were read and before the look at it is over, so many times.
type betweenReads struct {
	*database.Server
	do          func()
	times, done int
}

func (b *betweenReads) Scan(ctx context.Context, q database.Query, into proto.Results, each func() error) error {
	err := b.Server.Scan(ctx, q, into, each)
	if strings.Contains(q.SQL, "FROM sums") && b.done < b.times {
		b.done++
		b.do()
	}
	return err
}

func TestOnlyWhoMayWriteRecomputes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*position.Stream)
		says   string
	}{
		{"another server", func(s *position.Stream) { s.Server = "another" }, "tallyhouse adopt"},
		{"another shard", func(s *position.Stream) { s.Shards = 2 }, "shard 0 of 2"},
		{"another formula", func(s *position.Stream) { s.Formula = "another" }, "formula another"},
		{"a newer schema", func(s *position.Stream) { s.Schema++ }, "newer binary"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l, _ := filled(t, 7)
			restream(t, l, test.change)
			o := options()
			o.NoHold = true
			if _, err := verify.Run(t.Context(), l.DB, o); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatal(err)
			}
		})
	}
}

func restream(t *testing.T, l *ingesttest.Ledger, change func(*position.Stream)) {
	t.Helper()
	s, _, err := position.ReadStream(t.Context(), l.DB, string(l.Entity.Topic))
	if err != nil {
		t.Fatal(err)
	}
	s.Revision++
	change(&s)
	l.Stream(s)
}
