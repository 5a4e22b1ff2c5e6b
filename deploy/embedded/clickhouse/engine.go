// Package clickhouse runs a real ClickHouse engine beside the process that
// starts it: the chDB library in a child process of its own, or a clickhouse
// binary where one is on PATH, reached over native TCP like any server.
//
// Tables survive a kill of the engine, the parent or both. The child ends with
// its parent: on Linux by the kernel's parent-death signal, everywhere by the
// end of its standard input.
//
// Measured with the library cached, on two busy cores: 0.3 to 0.9 s to start,
// 0.2 s to stop, and idle 0.6 % of a core, 46 MB of its own and 181 MB of the
// library's pages.
//
// A client that resets its connection would end this engine (not a server), so
// clients reach it through a gate. Where it ends all the same it is restarted,
// and nothing that was acknowledged is lost.
package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/deploy/embedded/supervise"
)

const (
	serviceName = "embedded clickhouse"
	addrFlag    = "--clickhouse-addr"

	// stopTimeout bounds a gentle stop whatever the caller's context allows.
	stopTimeout = 20 * time.Second
)

// Options configure an engine: where it keeps its data and listens, and how much it may
// use. DataDir and Addr are required.
type Options struct {
	// DataDir holds tables, configuration and the engine's log (engine.log, at
	// most 20 MB). One engine at a time uses it.
	DataDir string
	// Addr is the host:port of the native protocol; port 0 takes a free one.
	Addr string
	// CacheDir keeps the fetched library; by default the user's cache directory.
	CacheDir string
	// Command starts the child: a program that calls RunChild with the arguments
	// that follow. By default this executable with the argument "engine".
	Command []string
	// MemoryLimit is the most bytes that the engine's queries, merges and caches
	// use; 4 GiB by default, never more than half of the machine's memory.
	MemoryLimit int64
	// Threads is the most threads of one query; by default one per core.
	Threads int
	// RestartPause is the longest pause before an engine that died is started
	// again: pauses begin short and double. By default 10 s.
	RestartPause time.Duration
	// Log receives the engine's starts, ends and restarts; by default nothing is logged.
	Log *slog.Logger
	// Progress receives the progress bar of a first fetch; by default none is drawn.
	Progress io.Writer
	// Metrics registers whether the engine is up, and its restarts; by default there are no metrics.
	Metrics prometheus.Registerer
}

func (o Options) withDefaults() (Options, error) {
	if o.DataDir == "" || o.Addr == "" {
		return o, errors.New("embedded clickhouse: DataDir and Addr must be given")
	}
	dir, err := filepath.Abs(o.DataDir)
	if err != nil {
		return o, fmt.Errorf("embedded clickhouse: data directory %q: %w", o.DataDir, err)
	}
	o.DataDir = dir
	if o.CacheDir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return o, fmt.Errorf("embedded clickhouse: find the user's cache directory: %w; set HOME or XDG_CACHE_HOME", err)
		}
		o.CacheDir = filepath.Join(user, "tallyhouse", "chdb")
	}
	if len(o.Command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return o, fmt.Errorf("embedded clickhouse: find this executable: %w", err)
		}
		o.Command = []string{self, "engine"}
	}
	if o.MemoryLimit == 0 {
		o.MemoryLimit = 4 << 30
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o, nil
}

// Engine is a supervised ClickHouse: when it dies or hangs it is started again
// on the same address and data.
type Engine struct {
	addr       string
	supervisor *supervise.Supervisor[*process]
}

// Start starts the engine and returns when it answers queries. On a machine's
// first start it fetches the library. The context bounds the start alone; the
// engine runs until Stop. A failure that the user can fix is a *startFailure or a
// *supervise.PortTakenError.
func Start(ctx context.Context, o Options) (*Engine, error) {
	patience := supervise.Usual()
	if o.RestartPause > 0 {
		patience.PauseMax = o.RestartPause
	}
	return start(ctx, o, patience)
}

func start(ctx context.Context, o Options, patience supervise.Patience) (*Engine, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, diskError("create the data directory", o.DataDir, err)
	}
	// A taken port shows before the library is fetched.
	if _, err := supervise.ListenAddr(serviceName, o.Addr, addrFlag); err != nil {
		return nil, err
	}
	program, err := findProgram(ctx, o)
	if err != nil {
		return nil, err
	}
	e, err := supervise.OnAddr(serviceName, o.Addr, addrFlag, func(addr string) (*Engine, error) {
		return startAt(ctx, o, addr, program, patience)
	})
	if err != nil {
		return nil, err
	}
	if o.Metrics != nil {
		if err := registerMetrics(o.Metrics, e); err != nil {
			return nil, errors.Join(err, e.Stop(ctx))
		}
	}
	o.Log.Info("embedded clickhouse serves", "addr", e.addr, "program", program.path, "data", o.DataDir)
	return e, nil
}

func startAt(ctx context.Context, o Options, addr string, p program, patience supervise.Patience) (*Engine, error) {
	line, err := commandLine(o, addr, p)
	if err != nil {
		return nil, err
	}
	// A start loads every table, so a large data directory takes its time.
	ctx, cancel := context.WithTimeout(ctx, patience.Starting)
	defer cancel()
	supervisor, err := supervise.Start(ctx, supervise.Service[*process]{
		Name: serviceName,
		Start: func(ctx context.Context) (*process, error) {
			return startProcess(ctx, line, addr, o.DataDir)
		},
		Log:      o.Log,
		Patience: patience,
	})
	return &Engine{addr: addr, supervisor: supervisor}, err
}

// Addr is the host:port of the native protocol.
func (e *Engine) Addr() string { return e.addr }

// Healthy returns nil while the engine answers, and otherwise the reason why it does not.
func (e *Engine) Healthy() error { return e.supervisor.Healthy() }

// Restarts counts how often the engine was started again after it died or hung.
func (e *Engine) Restarts() int { return e.supervisor.Restarts() }

// Stop ends the engine: gently first, with SIGKILL when ctx or 20 s end before
// that. No process is left when it returns.
func (e *Engine) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	return e.supervisor.Stop(ctx)
}
