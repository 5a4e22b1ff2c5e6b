package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/admin/verify"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
)

func TestVerifyFindsDriftAndRebuildEndsIt(t *testing.T) {
	l := ingesttest.New(t, events.Records, 2)
	l.Write(ingesttest.NewRecords(1).Draw(60, 60)...)
	env := map[string]string{"TALLYHOUSE_CLICKHOUSE": l.Where.Addr, "TALLYHOUSE_CLICKHOUSE_DATABASE": l.Where.Database}

	clean := tallyhouse(t, env, "", "verify")
	if clean.code != exitDone || !strings.Contains(clean.out, "payments: no drift") || !strings.Contains(clean.err, "warning: ") {
		t.Fatalf("%+v", clean)
	}
	l.Exec(`INSERT INTO sums (tenant, project, keys, amount2)
		SELECT tenant, project, keys, 5 FROM sums WHERE roll = 'payments' LIMIT 1`)
	drifting := tallyhouse(t, env, "", "verify", "--json")
	if drifting.code != exitFailed || !strings.Contains(drifting.err, "drift: 1 ") || !strings.Contains(drifting.err, "tallyhouse rebuild") {
		t.Fatalf("%+v", drifting)
	}
	var reports []verify.Report
	if err := json.Unmarshal([]byte(drifting.out), &reports); err != nil || len(reports) != 1 || reports[0].Drift() != 1 {
		t.Fatalf("%v: %s", err, drifting.out)
	}
	rebuilt := tallyhouse(t, env, "", "rebuild", "payments")
	if rebuilt.code != exitDone || !strings.Contains(rebuilt.out, ": 1 sums were corrected") {
		t.Fatalf("%+v", rebuilt)
	}
	if again := tallyhouse(t, env, "", "verify", "--no-hold"); again.code != exitDone {
		t.Fatalf("%+v", again)
	}
	if unknown := tallyhouse(t, env, "", "rebuild", "cas"); unknown.code != exitUsage || !strings.Contains(unknown.err, "lines, payments,") {
		t.Fatalf("%+v", unknown)
	}
}

func TestADeadHoldersHoldIsNamedAndReleased(t *testing.T) {
	l := ingesttest.New(t, events.Records, 2)
	env := map[string]string{"TALLYHOUSE_CLICKHOUSE": l.Where.Addr, "TALLYHOUSE_CLICKHOUSE_DATABASE": l.Where.Database}
	const gone = "tallyhouse rebuild on a machine that is gone"
	if _, err := fence.Take(t.Context(), l.DB, string(events.Records), []int32{0, 1}, gone); err != nil {
		t.Fatal(err)
	}
	if kept := tallyhouse(t, env, "", "rebuild", "lines"); kept.code != exitFailed || !strings.Contains(kept.err, "a machine that is gone") {
		t.Fatalf("%+v", kept)
	}
	released := tallyhouse(t, env, "", "release", string(events.Records))
	if released.code != exitDone || strings.Count(released.out, "a machine that is gone") != 2 {
		t.Fatalf("%+v", released)
	}
	if rebuilt := tallyhouse(t, env, "", "rebuild", "lines"); rebuilt.code != exitDone {
		t.Fatalf("%+v", rebuilt)
	}
}

func TestTheSchemaIsAskedForBeforeAnythingElse(t *testing.T) {
	addr, name := clickhousetest.Database(t)
	env := map[string]string{"TALLYHOUSE_CLICKHOUSE": addr, "TALLYHOUSE_CLICKHOUSE_DATABASE": name}
	for _, args := range [][]string{{"verify"}, {"rebuild", "lines"}} {
		if got := tallyhouse(t, env, "", args...); got.code != exitFailed || !strings.Contains(got.err, "tallyhouse migrate") {
			t.Fatalf("%v: %+v", args, got)
		}
	}
	env["TALLYHOUSE_CLICKHOUSE_DATABASE"] = name + "_missing"
	for _, args := range [][]string{{"verify"}, {"release", "ledger.records"}} {
		if got := tallyhouse(t, env, "", args...); got.code != exitFailed || !strings.Contains(got.err, name+"_missing") {
			t.Fatalf("%v: %+v", args, got)
		}
	}
	if clickhousetest.Engine(t).Restarts() != 0 {
		t.Fatal("asking for a database that does not exist ended the engine")
	}
}

func TestTopicsThatGotMorePartitionsAreFollowed(t *testing.T) {
	cluster := topicstest.Cluster(t, 6)
	l := ingesttest.New(t, events.Records, 2)
	env := broker(cluster)
	env["TALLYHOUSE_CLICKHOUSE"], env["TALLYHOUSE_CLICKHOUSE_DATABASE"] = l.Where.Addr, l.Where.Database
	l.Follow(t, cluster)

	got := tallyhouse(t, env, "", "topics", "resize")
	if got.code != exitDone || !strings.Contains(got.out, fmt.Sprintf("%s at %s: from 2 partitions to 6", events.Records, l.Where.Addr)) {
		t.Fatalf("%+v", got)
	}
	again := tallyhouse(t, env, "", "topics", "resize")
	if again.code != exitDone || again.out != "" {
		t.Fatalf("%+v", again)
	}
}

func TestAMovedDatabaseIsAdopted(t *testing.T) {
	cluster := topicstest.Cluster(t, 2)
	l := ingesttest.New(t, events.Projects, 2)
	env := broker(cluster)
	env["TALLYHOUSE_CLICKHOUSE"], env["TALLYHOUSE_CLICKHOUSE_DATABASE"] = l.Where.Addr, l.Where.Database
	l.Follow(t, cluster)
	s, _, err := position.ReadStream(t.Context(), l.DB, string(events.Projects))
	if err != nil {
		t.Fatal(err)
	}
	here := s.Server
	s.Revision, s.Server = s.Revision+1, "where it came from"
	l.Stream(s)

	if got := tallyhouse(t, env, "", "adopt"); got.code != exitDone || !strings.Contains(got.out, "projects at "+l.Where.Addr) {
		t.Fatalf("%+v", got)
	}
	if s, _, err = position.ReadStream(t.Context(), l.DB, string(events.Projects)); err != nil || s.Server != here || s.Work != "" {
		t.Fatalf("%+v, %v", s, err)
	}
	l.Exec("INSERT INTO projects (tenant, project, row_version, batch_first) SELECT '', '#1', 9, 0")
	if got := tallyhouse(t, env, "", "adopt"); got.code != exitFailed || !strings.Contains(got.err, "another log") {
		t.Fatalf("%+v", got)
	}
}

func TestAReleaseNamesTheWorkThatIsLeft(t *testing.T) {
	l := ingesttest.New(t, events.Records, 2)
	env := map[string]string{"TALLYHOUSE_CLICKHOUSE": l.Where.Addr, "TALLYHOUSE_CLICKHOUSE_DATABASE": l.Where.Database}
	s, _, err := position.ReadStream(t.Context(), l.DB, string(events.Records))
	if err != nil {
		t.Fatal(err)
	}
	s.Revision, s.Work = s.Revision+1, "`tallyhouse rebuild`"
	l.Stream(s)
	if _, err := fence.Take(t.Context(), l.DB, string(events.Records), []int32{0, 1}, "a machine that is gone"); err != nil {
		t.Fatal(err)
	}
	released := tallyhouse(t, env, "", "release", string(events.Records))
	if released.code != exitDone || !strings.Contains(released.err, "`tallyhouse rebuild` on ledger.records is not complete") {
		t.Fatalf("%+v", released)
	}
}
