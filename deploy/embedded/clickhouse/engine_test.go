package clickhouse

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/deploy/embedded/supervise"
)

// TestMain lets the test binary be the engine's child, the clickhouse binary that
// a child runs, and a parent that a test can kill.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "engine" {
		exitWith(RunChild(os.Args[2:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "library" {
		exitWith(runLibraryChild(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "parent" {
		exitWith(runParent(os.Args[2]))
	}
	os.Exit(m.Run())
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// runParent starts an engine, tells its child's process id, and waits to be killed.
func runParent(dir string) error {
	e, err := Start(context.Background(), small(dir))
	if err != nil {
		return err
	}
	fmt.Println(e.supervisor.Current().pid)
	select {}
}

func small(dir string) Options {
	return Options{DataDir: dir, Addr: "127.0.0.1:0", MemoryLimit: 1 << 30, Threads: 1, Progress: os.Stderr}
}

func startSmall(t *testing.T, dir string) *Engine {
	t.Helper()
	return startWith(t, small(dir), supervise.Usual())
}

func startWith(t *testing.T, o Options, patience supervise.Patience) *Engine {
	t.Helper()
	e, err := start(t.Context(), o, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func connect(t *testing.T, e *Engine) driver.Conn {
	t.Helper()
	conn, err := clickhouse.Open(&clickhouse.Options{Addr: []string{e.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func execute(t *testing.T, conn driver.Conn, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if err := conn.Exec(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func text(t *testing.T, conn driver.Conn, query string) string {
	t.Helper()
	var value string
	if err := conn.QueryRow(context.Background(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 6000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("still not so after a minute: %s", what)
}

// kill ends the engine's process as a crash would, and returns when it is gone.
func kill(e *Engine) {
	run := e.supervisor.Current()
	run.Kill()
	<-run.Done()
}

// gone reports that no process has the id, or only one whose parent has not asked yet.
func gone(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}
	return strings.Contains(string(status), ") Z ")
}

func TestDataSurviveAKill(t *testing.T) {
	// given an engine with a row, watched by metrics
	registry := prometheus.NewPedanticRegistry()
	o := small(t.TempDir())
	o.Metrics = registry
	e := startWith(t, o, supervise.Usual())
	conn := connect(t, e)
	execute(t, conn,
		"CREATE DATABASE d", "CREATE TABLE d.t (x Int64) ENGINE = MergeTree ORDER BY x", "INSERT INTO d.t VALUES (42)")
	// when it is killed
	kill(e)
	if e.Healthy() == nil {
		t.Error("a killed engine calls itself healthy")
	}
	// then it is started again, on the same address, with the row
	await(t, "the engine is healthy again", func() bool { return e.Healthy() == nil })
	if got := e.Restarts(); got != 1 {
		t.Errorf("%d restarts, 1 was due", got)
	}
	await(t, "the client is connected again", func() bool { return conn.Ping(t.Context()) == nil })
	if got := text(t, conn, "SELECT toString(sum(x)) FROM d.t"); got != "42" {
		t.Errorf("read %s after the kill, wrote 42", got)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		metric := family.GetMetric()[0]
		got[family.GetName()] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
	}
	if got["tallyhouse_embedded_clickhouse_restarts_total"] != 1 || got["tallyhouse_embedded_clickhouse_up"] != 1 {
		t.Errorf("metrics are %v, up once and restarted once were due", got)
	}
}

func TestStopIsGentleAndDataSurviveIt(t *testing.T) {
	dir := t.TempDir()
	// given an engine with a row and a client that stays connected
	first, err := Start(t.Context(), small(dir))
	if err != nil {
		t.Fatal(err)
	}
	execute(t, connect(t, first),
		"CREATE DATABASE d", "CREATE TABLE d.t (x Int64) ENGINE = MergeTree ORDER BY x", "INSERT INTO d.t VALUES (7)")
	pid := first.supervisor.Current().pid
	// when it is stopped
	if err := first.Stop(context.Background()); err != nil {
		t.Fatalf("the stop was not gentle: %v", err)
	}
	// then the process is gone, and stopping again is harmless
	if !gone(pid) {
		t.Errorf("process %d is still there after Stop", pid)
	}
	if err := first.Healthy(); !errors.Is(err, supervise.ErrStopped) {
		t.Errorf("a stopped engine says %v", err)
	}
	if err := first.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	// and the next engine has the row
	if got := text(t, connect(t, startSmall(t, dir)), "SELECT toString(sum(x)) FROM d.t"); got != "7" {
		t.Errorf("read %s after the stop, wrote 7", got)
	}
}

func TestStopEndsAnEngineThatDoesNotListen(t *testing.T) {
	// given an engine whose process is stopped in its tracks
	e, err := Start(t.Context(), small(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	pid := e.supervisor.Current().pid
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// when Stop may take a moment only
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err = e.Stop(ctx)
	// then it is killed, and Stop says so
	if err == nil {
		t.Error("Stop calls a kill gentle")
	}
	if !gone(pid) {
		t.Errorf("process %d is still there after Stop", pid)
	}
}

func TestAHungEngineIsRestarted(t *testing.T) {
	// given an engine that is watched impatiently
	patience := supervise.Usual()
	patience.Interval, patience.Timeout, patience.Failures = 50*time.Millisecond, time.Second, 2
	e := startWith(t, small(t.TempDir()), patience)
	first := e.supervisor.Current().pid
	// when its process is stopped in its tracks
	if err := syscall.Kill(first, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// then it is replaced
	await(t, "the engine was restarted", func() bool { return e.Restarts() > 0 && e.Healthy() == nil })
	if !gone(first) {
		t.Errorf("the hung process %d is still there", first)
	}
	if got := text(t, connect(t, e), "SELECT 'here'"); got != "here" {
		t.Errorf("got %q", got)
	}
}

func TestTheChildHasItsOwnProcessGroup(t *testing.T) {
	e := startSmall(t, t.TempDir())
	pid := e.supervisor.Current().pid
	group, err := syscall.Getpgid(pid)
	if err != nil {
		t.Fatal(err)
	}
	if group != pid {
		t.Errorf("the child is in group %d with others: Ctrl-C would reach it", group)
	}
}

func TestTheChildEndsWithItsParent(t *testing.T) {
	// given a parent process with an engine
	parent := exec.Command(os.Args[0], "parent", t.TempDir())
	parent.Stderr = os.Stderr
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscan(bufio.NewReader(output), &child); err != nil {
		t.Fatalf("the parent did not tell its child: %v", err)
	}
	if gone(child) {
		t.Fatal("the child is not there")
	}
	// when the parent is killed
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := parent.Wait(); err == nil {
		t.Error("the parent ended by itself")
	}
	// then the child ends
	await(t, "the child is gone", func() bool { return gone(child) })
}

func TestTheChildEndsWithItsStandardInput(t *testing.T) {
	// given a child that no parent-death signal is sent to
	o, err := small(t.TempDir()).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	addr, err := supervise.ListenAddr(serviceName, o.Addr, addrFlag)
	if err != nil {
		t.Fatal(err)
	}
	library, err := findLibrary(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	line, err := commandLine(o, addr, program{"--library", library})
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(line[0], line[1:]...)
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the child listens", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	// when its standard input ends
	input.Close()
	// then it ends
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		child.Process.Kill()
		t.Fatal("the child outlives its standard input")
	}
}

func TestATakenPortIsNamed(t *testing.T) {
	// given a program that listens
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	// when an engine is started there
	o := small(t.TempDir())
	o.Addr = taken.Addr().String()
	_, err = Start(t.Context(), o)
	// then the error names the address and the flag
	var port *supervise.PortTakenError
	if !errors.As(err, &port) {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{o.Addr, "--clickhouse-addr"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %s", err, part)
		}
	}
}

func TestAPortTakenMeanwhileIsNamedToo(t *testing.T) {
	// given what the child writes when its port was taken after our look
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, err = net.Listen("tcp", taken.Addr().String())
	p := &process{addr: taken.Addr().String(), output: &tail{limit: 1 << 10}}
	fmt.Fprintln(p.output, "engine: listen for the engine's clients:", err)
	var port *supervise.PortTakenError
	if err := p.startError("dir", errors.New("ended")); !errors.As(err, &port) {
		t.Fatalf("got %v", err)
	}
}

func TestAClientThatResetsItsConnectionCostsNobodyElse(t *testing.T) {
	engine := startSmall(t, t.TempDir())
	for range 20 {
		for _, query := range []string{"SELECT number FROM numbers(1)", "SELECT number FROM numbers(1000000000)"} {
			// given a client that has read an answer, or reads one
			var dialed *net.TCPConn
			conn, err := clickhouse.Open(&clickhouse.Options{
				Addr: []string{engine.Addr()},
				DialContext: func(ctx context.Context, addr string) (net.Conn, error) {
					conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
					if err == nil {
						dialed = conn.(*net.TCPConn)
					}
					return conn, err
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := conn.Query(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			if !rows.Next() {
				t.Fatal(rows.Err())
			}
			// when the system resets its connection, as that of a program that is killed
			if err := errors.Join(dialed.SetLinger(0), dialed.Close()); err != nil {
				t.Fatal(err)
			}
			_ = errors.Join(rows.Close(), conn.Close())
		}
	}
	// then the engine has ended the statements, and goes on
	await(t, "all statements have ended", func() bool {
		return text(t, connect(t, engine), "SELECT toString(count()) FROM system.processes WHERE query LIKE '%1000000000%' AND query NOT LIKE '%processes%'") == "0"
	})
	if n := engine.Restarts(); n != 0 {
		t.Errorf("it was restarted %d times", n)
	}
}

func TestADataDirectoryServesOneEngine(t *testing.T) {
	dir := t.TempDir()
	first := startSmall(t, dir)
	_, err := Start(t.Context(), small(dir))
	if !errors.Is(err, errDataDirInUse) {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "--data-dir") {
		t.Errorf("%q does not say which directory and which flag", err)
	}
	if err := first.Healthy(); err != nil {
		t.Errorf("the first engine suffered: %v", err)
	}
}

func TestALibraryThatDoesNotLoadIsReported(t *testing.T) {
	// given a cache with a file that is no library
	o := small(t.TempDir())
	o.CacheDir = t.TempDir()
	r, err := releaseFor(hostPlatform())
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(o.CacheDir, r.dir(), libraryFile)
	if err := os.MkdirAll(filepath.Dir(broken), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, []byte("no library"), 0o755); err != nil {
		t.Fatal(err)
	}
	// when an engine is started with it
	_, err = Start(t.Context(), o)
	// then the error says what the child said
	if !errors.Is(err, errNotServing) || !strings.Contains(err.Error(), "load the engine library") {
		t.Fatalf("got %v", err)
	}
}

func TestOptionsMustSayWhereDataAndAddressAre(t *testing.T) {
	for name, o := range map[string]Options{"no data directory": {Addr: "127.0.0.1:0"}, "no address": {DataDir: t.TempDir()}} {
		if _, err := Start(t.Context(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What the engine is told is what it does; the setting's name alone proves nothing.
func TestTheConfigurationIsInForce(t *testing.T) {
	t.Setenv("TZ", "America/New_York")
	conn := connect(t, startSmall(t, t.TempDir()))
	for _, c := range []struct{ what, query, want string }{
		{"instants are UTC whatever the machine's zone", "SELECT timezone()", "UTC"},
		{"memory is limited", "SELECT value FROM system.server_settings WHERE name = 'max_server_memory_usage'", "1073741824"},
		{"caches are limited", "SELECT value FROM system.server_settings WHERE name = 'mark_cache_size'", "67108864"},
		{"threads are limited", "SELECT toString(getSetting('max_threads'))", "1"},
		{"a select needs its keyword", "SELECT toString(getSetting('implicit_select'))", "false"},
		{"no tables of queries and traces", "SELECT toString(count()) FROM system.tables WHERE database = 'system' AND name LIKE '%\\_log'", "0"},
		{"large merges run on the small pool", `
			SELECT toString(toUInt64(value) <=
				(SELECT toUInt64(value) FROM system.server_settings WHERE name = 'background_pool_size'))
			FROM system.merge_tree_settings
			WHERE name = 'number_of_free_entries_in_pool_to_lower_max_size_of_merge'`, "1"},
	} {
		if got := text(t, conn, c.query); got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, got, c.want)
		}
	}
}
