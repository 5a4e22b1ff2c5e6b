package admin_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// The test binary does a piece of work itself when it is called as "work WHAT ADDR DATABASE".
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == "work" {
		if err := work(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	clickhousetest.Main(m)
}

func work(what, addr, name string) error {
	db, err := database.Open(database.Options{Addr: addr, Database: name, User: "default"}, 1)
	if err != nil {
		return err
	}
	defer db.Close()
	o := admin.Options{Holder: "a holder that dies", Log: ingesttest.Log(), Progress: func(admin.Progress) { fmt.Println("progress") }}
	switch what {
	case "rebuild":
		_, err = admin.Rebuild(context.Background(), db, "record_sums", o)
	case "restate":
		_, err = admin.Restate(context.Background(), db, store.Of(events.Records), o)
	case "add":
		err = admin.AddView(context.Background(), db, added(), createAdded(), o)
	}
	return err
}

// dies does the work in a process that is killed when it has made so much progress; false when it ended before that.
func dies(t *testing.T, l *ingesttest.Ledger, what string, progress int) bool {
	t.Helper()
	mark(l)
	cmd := exec.Command(os.Args[0], "work", what, l.Where.Addr, l.Where.Database)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	killed := false
	for n := 0; lines.Scan(); {
		if n++; n == progress {
			killed = cmd.Process.Kill() == nil
			break
		}
	}
	err = cmd.Wait()
	if err == nil {
		return false
	}
	if !killed {
		t.Fatal(err)
	}
	return true
}

// release takes the dead holder's hold down, as an operator would. The embedded engine may die of a client that was killed, when it
// answers it: the hold died with it then. It is over once the engine has died, or has lived on for a while.
func release(t *testing.T, l *ingesttest.Ledger) {
	t.Helper()
	var broken []fence.Held
	l.Eventually("release", func() (err error) {
		broken, err = fence.Break(t.Context(), l.DB, string(l.Entity.Topic), "the operator")
		return err
	})
	for range 10 {
		if !alive(t, l) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	if len(broken) != l.Partitions || fence.Holder(broken[0].Owner) != "a holder that dies" {
		t.Fatalf("released %+v", broken)
	}
}

// mark leaves something in the engine that it does not survive.
func mark(l *ingesttest.Ledger) {
	l.Exec("CREATE TABLE IF NOT EXISTS alive (here UInt8) ENGINE = Memory")
	l.Exec("TRUNCATE TABLE alive")
	l.Exec("INSERT INTO alive VALUES (1)")
}

// alive reports whether the engine still is the one that was marked.
func alive(t *testing.T, l *ingesttest.Ledger) bool {
	t.Helper()
	var here uint64
	l.Eventually("ask the engine", func() error {
		return l.DB.Row(t.Context(), database.Query{SQL: "SELECT count() FROM alive"}, &here)
	})
	return here == 1
}

func TestARebuildWhoseHolderDiesIsEndedByAnother(t *testing.T) {
	l, r := filled(t, 21)
	deaths := 0
	for progress := 1; progress <= 3; progress++ {
		l.Exec("INSERT INTO record_sums SELECT * REPLACE (toInt128(1000) AS net) FROM record_sums WHERE tenant != '' LIMIT 50")
		if !dies(t, l, "rebuild", progress) {
			break
		}
		deaths++
		release(t, l)
		// Writers go on in between.
		l.Fence()
		l.Write(r.Draw(40, 120)...)
		rebuild(t, l, "record_sums")
		l.Truth(t)
		l.Fence()
	}
	if deaths < 2 {
		t.Fatalf("only %d deaths", deaths)
	}
}

func TestARestatementWhoseHolderDiesIsEndedByItselfAlone(t *testing.T) {
	l, r := byOlderFormula(t, 22)
	deaths := 0
	for progress := 1; progress <= 12; progress += 3 {
		if !dies(t, l, "restate", progress) {
			break
		}
		deaths++
		release(t, l)
		s := stream(t, l)
		mustSay(t, s.Check(string(events.Records), identity(partitions), s.Server), "in progress", "a holder that dies")
		_, err := admin.Rebuild(t.Context(), l.DB, "record_sums", options())
		mustSay(t, err, "in progress", "tallyhouse migrate")
		_, err = admin.Resize(t.Context(), l.DB, l.Entity, identity(5), options())
		mustSay(t, err, "in progress")
	}
	if deaths < 2 {
		t.Fatalf("only %d deaths", deaths)
	}
	if _, err := admin.Restate(t.Context(), l.DB, l.Entity, options()); err != nil {
		t.Fatal(err)
	}
	newerRelease(l)
	l.Truth(t)
	l.Fence()
	l.Write(r.Draw(60, 100)...)
	l.Truth(t)
}

func TestTheServerDiesDuringARestatement(t *testing.T) {
	l, _ := byOlderFormula(t, 23)
	n := 0
	o := options()
	o.Progress = func(admin.Progress) {
		if n++; n == 3 {
			clickhousetest.Engine(t).Kill()
		}
	}
	_, err := admin.Restate(t.Context(), l.DB, l.Entity, o)
	if err == nil {
		t.Fatal("it went on over a server that died")
	}
	l.Eventually("answer", func() error { return l.DB.Ping(t.Context()) })
	if s := stream(t, l); s.Work == "" || s.Formula == store.Formula {
		t.Fatalf("streams says %+v", s)
	}
	if _, err := admin.Restate(t.Context(), l.DB, l.Entity, options()); err != nil {
		t.Fatal(err)
	}
	newerRelease(l)
	l.Truth(t)
}

// added is a view that no release has.
func added() clickhouse.View {
	return clickhouse.View{Name: "record_added", Table: "records", Keys: []string{"node", "currency", "status"}, Sums: []string{"net", "gross"}}
}

func createAdded() string {
	v := added()
	return "CREATE MATERIALIZED VIEW IF NOT EXISTS " + v.Trigger() + " TO " + v.Name + " AS " + v.Select(v.Table)
}

const addedTarget = `CREATE TABLE record_added (tenant String, project String, node String, currency String, status String, position Int128, net Int128, gross Int128)
ENGINE = SummingMergeTree((position, net, gross)) ORDER BY (tenant, project, node, currency, status)`

// addedIsRight compares the added view with one that the naive model holds right.
func addedIsRight(t *testing.T, l *ingesttest.Ledger) {
	t.Helper()
	if n := l.Number(`SELECT count() FROM (SELECT tenant, project, node, currency, status, sum(net) AS a, sum(gross) AS b, sum(position) AS p FROM (
		SELECT tenant, project, node, currency, status, net, gross, position FROM record_sums
		UNION ALL SELECT tenant, project, node, currency, status, -net, -gross, -position FROM record_added)
		GROUP BY tenant, project, node, currency, status HAVING a != 0 OR b != 0 OR p != 0)`); n != 0 {
		t.Errorf("%d keys of the added view are wrong", n)
	}
	if n := l.Number("SELECT count() FROM record_added WHERE tenant != ''"); n == 0 {
		t.Error("the added view is empty")
	}
}

func TestAViewIsAddedToATableWithRows(t *testing.T) {
	l, r := filled(t, 24)
	l.Exec("%s", addedTarget)
	if err := admin.AddView(t.Context(), l.DB, added(), createAdded(), options()); err != nil {
		t.Fatal(err)
	}
	addedIsRight(t, l)
	l.Fence()
	l.Write(r.Draw(60, 120)...)
	l.Truth(t)
	addedIsRight(t, l)
	if err := admin.AddView(t.Context(), l.DB, added(), createAdded(), options()); err != nil {
		t.Fatal(err)
	}
	addedIsRight(t, l)
}

func TestAViewIsAddedThoughItsHolderDies(t *testing.T) {
	l, r := filled(t, 25)
	l.Exec("%s", addedTarget)
	if !dies(t, l, "add", 1) {
		t.Fatal("it ended too soon")
	}
	release(t, l)
	// Rows that come in between are in the view by its trigger; its positions still say that it is not filled.
	if n := l.Number("SELECT count() FROM (SELECT project, sum(position) AS p FROM record_added WHERE tenant = '' GROUP BY project) WHERE p > 0"); n != 0 {
		t.Fatalf("%d partitions of a view that is not filled say that they are", n)
	}
	l.Fence()
	l.Write(r.Draw(60, 120)...)
	if err := admin.AddView(t.Context(), l.DB, added(), createAdded(), options()); err != nil {
		t.Fatal(err)
	}
	addedIsRight(t, l)
}

func TestAViewOfATableThatNobodyWroteToIsJustMade(t *testing.T) {
	l := ingesttest.New(t, events.Records, partitions)
	l.Exec("TRUNCATE TABLE streams")
	l.Exec("%s", addedTarget)
	if err := admin.AddView(t.Context(), l.DB, added(), createAdded(), options()); err != nil {
		t.Fatal(err)
	}
	if n := l.Number("SELECT count() FROM record_added"); n != 0 {
		t.Fatalf("%d rows", n)
	}
	if n := l.Number("SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = '%s'", strings.ReplaceAll(added().Trigger(), "'", "")); n != 1 {
		t.Fatal("no trigger")
	}
}
