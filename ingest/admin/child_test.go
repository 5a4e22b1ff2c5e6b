package admin_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// The test binary does a piece of work itself when it is called as "work WHAT ADDR DATABASE PROGRESS", up to the moment
// when it has made so much progress.
func TestMain(m *testing.M) {
	if len(os.Args) == 6 && os.Args[1] == "work" {
		if err := work(os.Args[2], os.Args[3], os.Args[4], os.Args[5]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	clickhousetest.Main(m)
}

func work(what, addr, name, progress string) error {
	db, err := database.Open(database.Options{Addr: addr, Database: name, User: "default"}, 1)
	if err != nil {
		return err
	}
	defer db.Close()
	last, err := strconv.Atoi(progress)
	if err != nil {
		return err
	}
	made := 0
	o := admin.Options{Holder: "a holder that dies", Shards: 1, Log: ingesttest.Log(), Progress: func(admin.Progress) {
		if made++; made == last {
			fmt.Println("here it dies")
			_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or the test is
			os.Exit(1)
		}
	}}
	ctx, records := context.Background(), store.Of(events.Records)
	switch what {
	case "rebuild":
		_, err = admin.Rebuild(ctx, db, []*store.Entity{records}, o)
	case "reform":
		_, err = admin.Reform(ctx, db, records, o)
	case "adopt":
		// Its log holds whatever the table has.
		log := admin.Log{Identity: identity(partitions), Ranges: []kafkalog.Range{{End: 1 << 40}, {End: 1 << 40}}}
		_, err = admin.Adopt(ctx, db, admin.Adoption{Logs: map[events.Topic]admin.Log{events.Records: log}}, o)
	}
	return err
}

// dies does the work in a process that is killed when it has made so much progress; false when it never makes that
// much. No statement runs then: the embedded engine may die of a client that is killed before it got its answer.
func dies(t *testing.T, l *ingesttest.Ledger, what string, progress int) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0], "work", what, l.Where.Addr, l.Where.Database, strconv.Itoa(progress))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := bufio.NewScanner(out).Scan()
	if killed {
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil && !killed {
		t.Fatal(err)
	}
	return killed
}

// release takes the dead holder's hold down, as an operator would.
func release(t *testing.T, l *ingesttest.Ledger) {
	t.Helper()
	broken, err := fence.Break(t.Context(), l.DB, string(l.Entity.Topic), "the operator")
	if err != nil {
		t.Fatal(err)
	}
	if len(broken) != l.Partitions || fence.Holder(broken[0].Owner) != "a holder that dies" {
		t.Fatalf("released %+v", broken)
	}
}

func TestARebuildWhoseHolderDiesIsCompletedByAnother(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 21)
	deaths := 0
	for progress := 1; progress <= 3; progress++ {
		l.Exec("%s", wrongEverySum)
		l.Exec("%s", behindPosition)
		if !dies(t, l, "rebuild", progress) {
			break
		}
		deaths++
		release(t, l)
		mustBeInProgress(t, l, "`tallyhouse rebuild`")
		rebuild(t, l)
		writersGoOn(t, l, r)
	}
	if deaths < 2 {
		t.Fatalf("only %d deaths", deaths)
	}
}

// mustBeInProgress checks that writers are refused, and all other work but what does this one as well.
func mustBeInProgress(t *testing.T, l *ingesttest.Ledger, work string) {
	t.Helper()
	s := stream(t, l)
	err := s.Check(l.Entity, position.Installation{Log: identity(partitions), Server: s.Server, Shards: 1})
	mustSay(t, err, "in progress", work, "a holder that dies")
	_, err = admin.Resize(t.Context(), l.DB, l.Entity, identity(5), options())
	mustSay(t, err, "in progress", work)
	if work != "`tallyhouse rebuild`" {
		_, err = admin.Rebuild(t.Context(), l.DB, []*store.Entity{l.Entity}, options())
		mustSay(t, err, "in progress", work)
	}
	if work == "`tallyhouse migrate`" {
		_, err = admin.Adopt(t.Context(), l.DB, adoption(l), options())
		mustSay(t, err, "in progress", work)
	}
}

func TestAChangeOfFormulaWhoseHolderDiesIsCompletedByItselfAlone(t *testing.T) {
	t.Parallel()
	l, r := byOlderFormula(t, 22)
	deaths := 0
	for progress := 4; progress <= 5; progress++ { // behind the dry run
		if !dies(t, l, "reform", progress) {
			break
		}
		deaths++
		release(t, l)
		mustBeInProgress(t, l, "`tallyhouse migrate`")
	}
	if deaths < 1 {
		t.Fatalf("only %d deaths", deaths)
	}
	if _, err := admin.Reform(t.Context(), l.DB, l.Entity, options()); err != nil {
		t.Fatal(err)
	}
	newerRelease(l)
	writersGoOn(t, l, r)
}

func TestAnAdoptionWhoseHolderDiesIsCompletedByItselfAlone(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 24)
	restream(t, l, func(s *position.Stream) { s.Server = "where it came from" })
	l.Exec("%s", wrongEverySum)
	if !dies(t, l, "adopt", 2) {
		t.Fatal("it ended too soon")
	}
	release(t, l)
	mustBeInProgress(t, l, "`tallyhouse adopt`")
	if _, err := admin.Adopt(t.Context(), l.DB, adoption(l), options()); err != nil {
		t.Fatal(err)
	}
	writersGoOn(t, l, r)
}

func TestTheServerDiesDuringAChangeOfFormula(t *testing.T) {
	t.Parallel()
	engine := clickhousetest.Start(t)
	l, r := byOlderFormulaIn(t, database.Options{Addr: engine.Addr(), Database: "ledger", User: "default"}, 23)
	n := 0
	o := options()
	o.Progress = func(admin.Progress) {
		if n++; n == 4 {
			engine.Kill()
		}
	}
	if _, err := admin.Reform(t.Context(), l.DB, l.Entity, o); err == nil {
		t.Fatal("it went on over a server that died")
	}
	l.Eventually("answer", func() error { return l.DB.Ping(t.Context()) })
	if s := stream(t, l); s.Work == "" || s.Formula == l.Entity.Formula {
		t.Fatalf("streams says %+v", s)
	}
	l.Eventually("reform", func() error { _, err := admin.Reform(t.Context(), l.DB, l.Entity, options()); return err })
	newerRelease(l)
	writersGoOn(t, l, r)
}
