package verify_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/admin/verify"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/schemas/events"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

func options() verify.Options {
	return verify.Options{Holder: fence.NewHolder("the test"), Log: ingesttest.Log()}
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

func view(t *testing.T, topic verify.Topic, name string) verify.View {
	t.Helper()
	for _, v := range topic.Views {
		if v.View == name {
			return v
		}
	}
	t.Fatalf("%s was not compared", name)
	return verify.View{}
}

func TestARightDatabaseHasNoDrift(t *testing.T) {
	l, _ := filled(t, 1)
	report, found := run(t, l, options())
	if report.Drift() != 0 || report.Uncompared() != 0 || found.Held {
		t.Fatalf("%+v", report)
	}
	if int64(found.Rows) != l.Number("SELECT count() FROM records FINAL WHERE tenant != ''") || view(t, found, "record_sums").Ranges < 2 {
		t.Fatalf("it did not look at everything: %+v", found)
	}
	for _, w := range report.Warnings {
		if !strings.Contains(w.What, "records in projects that do not exist") {
			t.Errorf("warns: %+v", w)
		}
	}
}

func TestPlantedDriftIsFound(t *testing.T) {
	tests := []struct {
		name, statement string
		found           func(t *testing.T, l *ingesttest.Ledger, report *verify.Report, topic verify.Topic)
	}{
		{
			"a wrong sum of a view",
			"INSERT INTO record_months SELECT * REPLACE (toInt128(3) AS net, toInt128(0) AS tax, toInt128(0) AS gross, toInt128(0) AS count, toInt128(0) AS allocations) FROM record_months WHERE tenant != '' LIMIT 1",
			func(t *testing.T, _ *ingesttest.Ledger, report *verify.Report, topic verify.Topic) {
				v := view(t, topic, "record_months")
				if report.Drift() != 1 || v.Drift.Count != 1 || v.Drift.First[0].Key["tenant"] == "" || !strings.HasPrefix(v.Drift.First[0].Want, "net ") {
					t.Fatalf("%+v", v)
				}
			},
		},
		{
			"keys of nobody",
			"INSERT INTO record_sums SELECT * REPLACE ('nobody' AS tenant) FROM record_sums WHERE project NOT LIKE '#%%'",
			func(t *testing.T, l *ingesttest.Ledger, report *verify.Report, topic verify.Topic) {
				want := uint64(l.Number(`SELECT count() FROM (SELECT project, contract, contractor, node, currency, status, source, cash_month FROM record_sums WHERE tenant = 'nobody'
					GROUP BY ALL HAVING sum(net) != 0 OR sum(tax) != 0 OR sum(gross) != 0 OR sum(count) != 0 OR sum(allocations) != 0)`))
				v := view(t, topic, "record_sums")
				if v.Drift.Count != want || want == 0 || len(v.Drift.First) != 3 || v.Drift.First[0].Key["tenant"] != "nobody" {
					t.Fatalf("want %d, the first 3 listed: %+v", want, v)
				}
			},
		},
		{
			"a view that is behind",
			"INSERT INTO record_sums SELECT * REPLACE (toInt128(-1) AS position) FROM record_sums WHERE tenant = '' AND project = '#1' LIMIT 1",
			func(t *testing.T, l *ingesttest.Ledger, report *verify.Report, topic verify.Topic) {
				if len(topic.Positions) != 1 || topic.Positions[0].Have != int64(l.Next(1))-1 || topic.Positions[0].Torn || topic.Positions[0].View != "record_sums" {
					t.Fatalf("%+v", topic.Positions)
				}
				if v := view(t, topic, "record_sums"); v.Drift.Count != 0 || v.Stray.Count != 1 {
					t.Fatalf("%+v", v)
				}
			},
		},
		{
			"a position row with an amount",
			"INSERT INTO record_sums SELECT * REPLACE (toInt128(0) AS position, toInt128(9) AS net) FROM record_sums WHERE tenant = '' LIMIT 1",
			func(t *testing.T, _ *ingesttest.Ledger, report *verify.Report, topic verify.Topic) {
				if v := view(t, topic, "record_sums"); len(topic.Positions) != 0 || v.Drift.Count != 0 || v.Stray.Count != 1 || v.Stray.First[0].Have != "net 9" {
					t.Fatalf("%+v", v)
				}
			},
		},
		{
			"a row that contributes what its image does not say",
			"INSERT INTO records SELECT * REPLACE (row_version + 1 AS row_version, assumeNotNull(net) + 1 AS net, [] AS `before.position`, [] AS `before.node`, [] AS `before.contract`, [] AS `before.contractor`, [] AS `before.currency`, [] AS `before.status`, [] AS `before.source`, [] AS `before.direction`, [] AS `before.cash_month`, [] AS `before.recognition_month`, [] AS `before.net`, [] AS `before.tax`, [] AS `before.gross`, [] AS `before.count`, [] AS `before.allocations`, arrayMap(x -> -x, `after.net`) AS `after.net`) FROM records FINAL WHERE net > 5 AND length(allocation_net) = 1 AND NOT deleted LIMIT 1",
			func(t *testing.T, _ *ingesttest.Ledger, report *verify.Report, topic verify.Topic) {
				if topic.Statements.Count != 1 || topic.Statements.First[0].Key["id"] == "" {
					t.Fatalf("%+v", topic.Statements)
				}
			},
		},
	}
	l, _ := filled(t, 30)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, v := range []string{"record_sums", "record_months"} {
				if _, err := admin.Rebuild(t.Context(), l.DB, v, admin.Options{Holder: fence.NewHolder("the test"), Log: ingesttest.Log()}); err != nil {
					t.Fatal(err)
				}
			}
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

func TestATornInsertIsFoundAndSaidToBeMended(t *testing.T) {
	l, r := filled(t, 2)
	l.Exec("DETACH TABLE record_sums_view")
	l.Write(r.Draw(60, 120)...)
	l.Exec("ATTACH TABLE record_sums_view")
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

func TestABusyDatabaseIsHeldAndFoundRight(t *testing.T) {
	l, r := filled(t, 3)
	stop := busy(t, l, r)
	report, err := verify.Run(t.Context(), l.DB, options())
	stop()
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
	l, r := filled(t, 4)
	stop := busy(t, l, r)
	o := options()
	o.NoHold = true
	report, err := verify.Run(t.Context(), l.DB, o)
	stop()
	if err != nil {
		t.Fatal(err)
	}
	if report.Uncompared() == 0 || report.Drift() != 0 {
		t.Fatalf("uncompared %d, drift %d", report.Uncompared(), report.Drift())
	}
}
