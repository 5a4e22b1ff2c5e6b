// Package clickhousetest gives tests a real ClickHouse: one engine per test
// binary, one database per test. The test binary is its own engine child, so
// nothing is built beforehand.
//
//	func TestMain(m *testing.M) { clickhousetest.Main(m) }
package clickhousetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/sethvargo/go-retry"

	"tallyhouse/deploy/embedded/clickhouse"
)

// Several test binaries run at once, so each engine is kept small.
const (
	memoryLimit = 1536 << 20
	threads     = 2
)

// restartPause is short: a test that kills an engine again and again learns nothing from waiting for it.
const restartPause = 200 * time.Millisecond

// child is the first argument that makes the test binary an engine; it is what
// clickhouse.Options.Command gives by default.
const child = "engine"

// shared is the test binary's engine. A test binary has one TestMain and any
// number of tests that call Engine: only a package variable joins them.
var shared struct {
	once   sync.Once
	engine *Process
	dir    string
	err    error
	names  atomic.Int64
}

// Main is for TestMain: it runs the tests, ends the engine if one of them asked
// for it, and exits. In the engine's child it runs the engine instead.
func Main(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == child {
		if err := clickhouse.RunChild(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "clickhousetest:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// Engine returns the test binary's engine and starts it where it is the first to
// ask. The test fails when there is none: it is never skipped.
func Engine(t testing.TB) *Process {
	t.Helper()
	shared.once.Do(start)
	if shared.err != nil {
		t.Fatalf("clickhousetest: %v", shared.err)
	}
	return shared.engine
}

// Database makes an empty database, dropped at the end of the test, and returns
// where it is.
func Database(t testing.TB) (addr, name string) {
	t.Helper()
	addr = Engine(t).Addr()
	name = fmt.Sprintf("test_%d", shared.names.Add(1))
	execute(t, addr, "CREATE DATABASE IF NOT EXISTS "+name)
	t.Cleanup(func() { execute(t, addr, "DROP DATABASE IF EXISTS "+name+" SYNC") })
	return addr, name
}

func start() {
	dir, err := os.MkdirTemp("", "clickhousetest-")
	if err != nil {
		shared.err = fmt.Errorf("make a data directory: %w", err)
		return
	}
	shared.dir = dir
	shared.engine, shared.err = startIn(dir)
}

// Start starts an engine of its own, as small as the shared one, for a test that kills it. It is killed at the end:
// its data are thrown away, there is nothing to be gentle with.
func Start(t testing.TB) *Process {
	t.Helper()
	engine, err := startIn(t.TempDir())
	if err != nil {
		t.Fatalf("clickhousetest: %v", err)
	}
	t.Cleanup(engine.discard)
	return engine
}

func startIn(dir string) (*Process, error) {
	engine, err := clickhouse.Start(context.Background(), clickhouse.Options{
		DataDir:      dir,
		Addr:         "127.0.0.1:0",
		MemoryLimit:  memoryLimit,
		Threads:      threads,
		RestartPause: restartPause,
		Log:          slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Progress:     os.Stderr,
	})
	if err != nil {
		return nil, err
	}
	return &Process{Engine: engine, status: filepath.Join(dir, "data", "status"), config: filepath.Join(dir, "engine.xml")}, nil
}

// Shard is one server of a cluster, behind a valve: its address is the valve's.
type Shard struct {
	*Process
	Valve *Valve
}

// Addr is where everybody finds the shard, the other shards too.
func (s Shard) Addr() string { return s.Valve.Addr() }

// StartCluster starts engines that know each other as the shards, without replicas, of a cluster of this name. An embedded
// engine has no port for replicas, so there can't be any. What is read through one of them is read on the others as the user who
// asks. Each has a Keeper in its memory, with which it makes replicated
// tables, to which nothing can be written.
func StartCluster(t testing.TB, name string, shards int) (all []Shard) {
	t.Helper()
	var servers strings.Builder
	for range shards {
		valve := NewValve(t, "") // its server comes later
		host, port, err := net.SplitHostPort(valve.Addr())
		if err != nil {
			t.Fatalf("clickhousetest: %v", err)
		}
		fmt.Fprintf(&servers, "<shard><replica><host>%s</host><port>%s</port></replica></shard>", host, port)
		all = append(all, Shard{Valve: valve})
	}
	config := "<clickhouse><remote_servers><" + name + "><secret>of the shards</secret>" + servers.String() +
		"</" + name + "></remote_servers>" +
		"<zookeeper><implementation>testkeeper</implementation></zookeeper>" +
		"<macros><shard>1</shard><replica>only</replica></macros></clickhouse>"
	for i := range all {
		dir := t.TempDir()
		// The engine merges what lies in engine.d into its own engine.xml.
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "engine.d"), 0o700),
			os.WriteFile(filepath.Join(dir, "engine.d", "cluster.xml"), []byte(config), 0o600)); err != nil {
			t.Fatalf("clickhousetest: %v", err)
		}
		engine, err := startIn(dir)
		if err != nil {
			t.Fatalf("clickhousetest: %v", err)
		}
		t.Cleanup(engine.discard)
		all[i].Process = engine
		all[i].Valve.before(engine.Addr())
	}
	return all
}

// Process is an engine that a test may kill.
type Process struct {
	*clickhouse.Engine
	status string // the file in which the engine names its process
	config string // the file that it reads at each start
}

// Kill ends the engine's process with SIGKILL, as a crash would, and returns when it is gone; the engine is then
// restarted. Where it is between two processes there is nothing to kill.
func (p *Process) Kill() {
	before := p.Restarts()
	text, err := os.ReadFile(p.status)
	if err != nil {
		return
	}
	var pid int
	if _, err := fmt.Sscanf(string(text), "PID: %d", &pid); err != nil {
		return
	}
	process, err := os.FindProcess(pid)
	if err != nil || process.Kill() != nil {
		return
	}
	pauses := retry.WithMaxDuration(time.Minute, retry.NewConstant(time.Millisecond))
	_ = retry.Do(context.Background(), pauses, func(context.Context) error { // only a server stuck in the kernel outlives that
		if process.Signal(syscall.Signal(0)) == nil || p.Healthy() == nil && p.Restarts() == before {
			return retry.RetryableError(errors.New("it is still there"))
		}
		return nil
	})
}

// RestartWith kills the engine and waits until it runs again, with more settings in the profile of its users, as XML.
// Users whom that profile lets do nothing get a refusal, which is an answer, too.
func (p *Process) RestartWith(profile string) error {
	return p.restartConfigured("<poll_interval>", profile)
}

// RestartWithPartLog is RestartWith for an engine that keeps system.part_log: what was merged, and the memory that it
// took. SYSTEM FLUSH LOGS shows all of it.
func (p *Process) RestartWithPartLog() error {
	return p.restartConfigured("<user_directories>", "<part_log><database>system</database><table>part_log</table></part_log>")
}

// RestartWithQueryLog is RestartWith for an engine that keeps system.query_log of statements with log_queries = 1: what
// each one cost and read. SYSTEM FLUSH LOGS shows all of it.
func (p *Process) RestartWithQueryLog() error {
	return p.restartConfigured("<user_directories>", "<query_log><database>system</database><table>query_log</table></query_log>")
}

// RestartWithUsers is RestartWith for an engine that has more users, without passwords, who may do what GRANT statements say.
func (p *Process) RestartWithUsers(grants map[string][]string) error {
	var users strings.Builder
	for name, all := range grants {
		fmt.Fprintf(&users, "<%s><password></password><networks><ip>::/0</ip></networks>", name)
		users.WriteString("<profile>default</profile><quota>default</quota><grants>")
		for _, grant := range all {
			fmt.Fprintf(&users, "<query>%s</query>", grant)
		}
		fmt.Fprintf(&users, "</grants></%s>", name)
	}
	return p.restartConfigured("</users>", users.String())
}

// restartConfigured puts more XML into the configuration, before what it has.
func (p *Process) restartConfigured(before, more string) error {
	// The file is written when the engine is started by hand, and read again when it is restarted.
	config, err := os.ReadFile(p.config)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	if !bytes.Contains(config, []byte(before)) {
		return fmt.Errorf("%s has no %s", p.config, before)
	}
	config = bytes.Replace(config, []byte(before), []byte(more+before), 1)
	if err := os.WriteFile(p.config, config, 0o600); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	p.Kill()
	conn, err := driver.Open(&driver.Options{Addr: []string{p.Addr()}, MaxOpenConns: 1})
	if err != nil {
		return fmt.Errorf("connect to %s: %w", p.Addr(), err)
	}
	defer conn.Close()
	refusal := (*driver.Exception)(nil)
	err = again(func(ctx context.Context) error {
		if err := conn.Ping(ctx); err != nil && !errors.As(err, &refusal) {
			return retry.RetryableError(fmt.Errorf("the engine does not come back: %w", err))
		}
		return nil
	})
	return err
}

// discard ends the engine at once.
func (p *Process) discard() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Stop(now) // says that it was killed
}

// stop ends the shared engine.
func stop() error {
	if shared.dir == "" {
		return nil
	}
	if shared.engine != nil {
		shared.engine.discard()
	}
	if err := os.RemoveAll(shared.dir); err != nil {
		return fmt.Errorf("remove the data directory: %w", err)
	}
	return nil
}

// execute runs one statement, again where the engine was being restarted.
func execute(t testing.TB, addr, statement string) {
	t.Helper()
	conn, err := driver.Open(&driver.Options{Addr: []string{addr}, MaxOpenConns: 1})
	if err != nil {
		t.Fatalf("clickhousetest: connect to %s: %v", addr, err)
	}
	defer conn.Close()
	err = again(func(ctx context.Context) error { return retry.RetryableError(conn.Exec(ctx, statement)) })
	if err != nil {
		t.Errorf("clickhousetest: %s: %v", statement, err)
	}
}

// again repeats what fails while an engine is being restarted.
func again(try retry.RetryFunc) error {
	return retry.Do(context.Background(), retry.WithMaxRetries(300, retry.NewConstant(100*time.Millisecond)), try)
}
