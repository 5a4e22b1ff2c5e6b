package mail

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/originals"
	"tallyhouse/ingest/store/database"
)

// intakeChild is the environment variable that makes the test binary an intake in a process of its own, which dies by
// its own hand. Its value is a childWork.
const intakeChild = "TALLYHOUSE_TEST_INTAKE"

// childWork says what the child works on and where it dies.
type childWork struct {
	Kafka, ClickHouse, Database, Mailbox string
	Originals                            string // directory
	DoneFolder                           string
	DieAt                                step
	DieAfter                             int64 // passes of that step
}

func runIntakeChild() {
	var work childWork
	if err := json.Unmarshal([]byte(os.Getenv(intakeChild)), &work); err != nil {
		childFails(err)
	}
	go func() { // no orphan: the parent holds this open
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	cluster, err := kafka.Connect(kafka.Access{Addrs: []string{work.Kafka}})
	if err != nil {
		childFails(err)
	}
	db, err := database.Open(database.Options{Addr: work.ClickHouse, Database: work.Database, User: "default"}, 1)
	if err != nil {
		childFails(err)
	}
	a, err := mailbox.ParseAddress(work.Mailbox)
	if err != nil {
		childFails(err)
	}
	a.Tenant = tenant
	kept, err := originals.OpenDirectory(context.Background(), work.Originals)
	if err != nil {
		childFails(err)
	}
	in, err := New(Options{
		Originals: kept, Answers: everybody{},
		Mailboxes: []mailbox.Options{{Address: a, DoneFolder: work.DoneFolder}}, Cluster: cluster, Shards: []*database.Server{db},
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Metrics: prometheus.NewRegistry(), Parallel: 1,
	})
	if err != nil {
		childFails(err)
	}
	var passed atomic.Int64
	in.observe = func(s step) {
		if s == work.DieAt && passed.Add(1) == work.DieAfter {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	childFails(in.Run(context.Background()))
}

func childFails(err error) {
	fmt.Fprintln(os.Stderr, "intake child:", err)
	os.Exit(1)
}

// runUntilDead runs an intake in a process of its own until it kills itself.
func runUntilDead(t *testing.T, work childWork) {
	t.Helper()
	value, err := json.Marshal(work)
	if err != nil {
		t.Fatal(err)
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, executable)
	c.Env = append(os.Environ(), intakeChild+"="+string(value))
	if testing.Verbose() {
		c.Stderr = os.Stderr
	}
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	err = c.Run()
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	if ctx.Err() != nil || !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the intake did not get to %s: %v", work.DieAt, err)
	}
}

// Given a mail with two PDFs for two projects, when the worker is killed at any step and started again, then each PDF
// is one read record of each project, the mail is marked, no version was sent with two contents, and each project owes one answer.
func TestAKilledWorkerLosesNothingAndDoublesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	records := 0
	done := 0
	for _, folder := range []string{"", "Done"} {
		for _, death := range []struct {
			at    step
			after int64
		}{{stepClaimed, 1}, {stepFetched, 1}, {stepKept, 1}, {stepQueued, 1}, {stepProcessing, 1}, {stepRead, 1}, {stepEvidence, 1}, {stepCompleted,
			1}, {stepProcessing, 2}, {stepCompleted, 2}, {stepMarked, 1}} {
			if folder != "" && death.at != stepCompleted && death.at != stepMarked {
				continue
			}
			t.Run(fmt.Sprint(death.at, " ", death.after, folder), func(t *testing.T) {
				name := fmt.Sprintf("%s-%d-%s", death.at, death.after, folder)
				w.deliver(testMail{to: "quartier@intake.example, tower@intake.example", id: name,
					pdfs: [][]byte{invoicePDF(name + "-1"), invoicePDF(name + "-2")}}.raw(), "quartier@intake.example")
				runUntilDead(t, childWork{Kafka: w.cluster.Addrs[0], ClickHouse: w.where.Addr,
					Database: w.where.Database, Originals: w.originals, Mailbox: w.server.URL(), DoneFolder: folder, DieAt: death.at, DieAfter: death.after})

				o := w.box()
				o.DoneFolder = folder
				again := w.intake([]mailbox.Options{o}, func(in *Intake) { in.options.Answers = everybody{} })
				records += 4
				w.settled(records)
				if folder == "" {
					done++
					marked(t, o, mailbox.Done, done)
				} else {
					eventually(t, "no mail is left", func() error { return unhandled(o) })
				}
				again.end()
				if err := w.sent().consistent(); err != nil {
					t.Error(err)
				}
				w.everyReadRecordHasEvidence()
				answered := map[string]int{} // records, by project
				for _, a := range w.owed(name) {
					answered[a.ProjectID] += len(a.Mail.Records)
				}
				if want := map[string]int{"P1": 2, "P2": 2}; !maps.Equal(answered, want) {
					t.Errorf("answers are owed about records %v, want %v", answered, want)
				}
			})
		}
	}
}

// unhandled gives an error about mails without a mark.
func unhandled(o mailbox.Options) error {
	box, err := mailbox.Open(context.Background(), o)
	if err != nil {
		return err
	}
	defer box.Close()
	left, err := box.Marked(context.Background(), mailbox.Unmarked)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("mails %v have no mark", left)
	}
	return err
}
