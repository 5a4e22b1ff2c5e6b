package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store/database"
	kafkalog "tallyhouse/schemas/kafka"
)

// workerChild is the environment variable that makes the test binary a worker in a process of its own, which a test can
// kill. Its value is a childWork.
const workerChild = "TALLYHOUSE_TEST_WORKER"

// childWork says what the child works on and where it dies.
type childWork struct {
	Kafka, ClickHouse, Database, Name string
	DieAt                             Step  // SIGKILL by its own hand at this step
	DieAfter                          int64 // passes of that step
}

func runWorkerChild() {
	var work childWork
	if err := json.Unmarshal([]byte(os.Getenv(workerChild)), &work); err != nil {
		childFails(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() { // no orphan: the parent holds this open
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	cluster, err := kafka.Connect(kafka.Access{Addrs: []string{work.Kafka}})
	if err != nil {
		childFails(err)
	}
	db, err := database.Open(database.Options{Addr: work.ClickHouse, Database: work.Database, User: "default"}, 4)
	if err != nil {
		childFails(err)
	}
	w := &world{dir: os.TempDir(), cluster: cluster, log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	var passed atomic.Int64
	worker, err := newWorker(w, work.Name, db, quickGroup, func(w *Worker) {
		w.observe = func(_ kafkalog.Partition, s Step) {
			if s == work.DieAt && passed.Add(1) == work.DieAfter {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	})
	if err != nil {
		childFails(err)
	}
	fmt.Println("started")
	<-ctx.Done()
	worker.stop()
	if err := <-worker.done; err != nil {
		childFails(err)
	}
	os.Exit(0)
}

func childFails(err error) {
	fmt.Fprintln(os.Stderr, "worker child:", err)
	os.Exit(1)
}

// quickGroup makes a dead member noticed soon. The embedded broker waits the time of a rebalance anew for each member that
// joins, and kafka-go gives up 5 s after its own: a longer one lets two members that join in turn keep each other out.
func quickGroup(w *Worker) {
	w.timings.session, w.timings.heartbeat, w.timings.rebalance = 2*time.Second, 200*time.Millisecond, 5*time.Second
	w.timings.handover = 500 * time.Millisecond // shorter than the session, as a worker's own are
}

// child is a worker in a process of its own. What it logs is kept, for a test that fails.
type child struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{}
}

func startChild(t testing.TB, work childWork) *child {
	t.Helper()
	value, err := json.Marshal(work)
	if err != nil {
		t.Fatal(err)
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), work.Name))
	if err != nil {
		t.Fatal(err)
	}
	c := &child{exec.Command(executable), log, make(chan struct{})}
	c.cmd.Env = append(os.Environ(), workerChild+"="+string(value))
	c.cmd.Stderr = log
	_, err = c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewScanner(out).Scan() // started, or dead
	go func() {
		defer close(c.done)
		_, _ = io.Copy(io.Discard, out)
		_ = c.cmd.Wait()
	}()
	t.Cleanup(func() {
		if t.Failed() && !c.dead() {
			c.tell(t)
		}
		c.kill()
		log.Close()
	})
	return c
}

// tell ends a child by a signal at which Go writes the stacks of all goroutines, and logs the end of what it said: where a
// worker stands that should have come further.
func (c *child) tell(t testing.TB) {
	const most = 128 << 10
	_ = c.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-c.done:
	case <-time.After(10 * time.Second):
	}
	said, err := os.ReadFile(c.log.Name())
	if err != nil {
		t.Log(err)
	}
	t.Logf("%s, which lived, said:\n%s", filepath.Base(c.log.Name()), said[max(0, len(said)-most):])
}

func (c *child) dead() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
}
