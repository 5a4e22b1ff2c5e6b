// Package kafka runs a Kafka broker inside the process that starts it: kfake,
// with its topics, groups and transactions kept in a data directory.
//
// What is acknowledged survives a kill of the process: it has been written to
// the operating system by then. It is synchronised to the disk when a segment is
// full (100 MiB) and at Stop, so a power loss may take the last seconds, as with a
// real broker's defaults. A transaction that was open at a kill is aborted.
//
// To start it reads its whole log, two to three seconds for a gigabyte on two
// busy cores, and takes as much memory meanwhile; it gives that back.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/supervise"
)

const (
	serviceName = "embedded kafka"
	addrFlag    = "--kafka-addr"

	// maxMessageBytes is the largest batch that a topic takes: a dead letter of
	// 17 MiB with its headers.
	maxMessageBytes = 18 << 20
)

// Options configure a broker: where it keeps its data and where it listens. DataDir and
// Addr are required.
type Options struct {
	// DataDir holds topics, groups and transactions. One broker at a time uses it.
	DataDir string
	// Addr is the host:port to serve on, which clients are told too; port 0 takes
	// a free one.
	Addr string
	// Log receives what kfake finds wrong and the broker's restarts; by default nothing is logged.
	Log *slog.Logger
}

// Broker is a supervised Kafka broker: when it falls silent it is started again
// on the same address and data.
type Broker struct {
	addr       string
	supervisor *supervise.Supervisor[*run]
	unlock     func()
}

// errDataDirInUse says that another broker uses the data directory.
var errDataDirInUse = errors.New("the data directory is in use by another broker")

// Start starts the broker and returns when it answers. The context bounds the
// start alone; the broker runs until Stop. A taken port is a
// *supervise.PortTakenError, a directory in use an errDataDirInUse.
func Start(ctx context.Context, o Options) (*Broker, error) {
	return start(ctx, o, supervise.Usual())
}

func start(ctx context.Context, o Options, patience supervise.Patience) (*Broker, error) {
	if o.DataDir == "" || o.Addr == "" {
		return nil, errors.New("embedded kafka: DataDir and Addr must be given")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("embedded kafka: create the data directory: %w", err)
	}
	// kfake does not see a second broker on its files: both would write.
	unlock, free, err := supervise.TryLock(filepath.Join(o.DataDir, "tallyhouse.lock"))
	if err != nil {
		return nil, fmt.Errorf("embedded kafka: %w", err)
	}
	if !free {
		return nil, fmt.Errorf("embedded kafka: %s: %w; end that one, or choose another directory with --data-dir DIR",
			o.DataDir, errDataDirInUse)
	}
	b, err := supervise.OnAddr(serviceName, o.Addr, addrFlag, func(addr string) (*Broker, error) {
		supervisor, err := supervise.Start(ctx, supervise.Service[*run]{
			Name:     serviceName,
			Start:    func(ctx context.Context) (*run, error) { return startRun(ctx, o, addr) },
			Log:      o.Log,
			Patience: patience,
		})
		return &Broker{addr: addr, supervisor: supervisor, unlock: unlock}, err
	})
	if err != nil {
		unlock()
		return nil, err
	}
	o.Log.Info("embedded kafka serves", "addr", b.addr, "data", o.DataDir)
	return b, nil
}

// Addr is the host:port that clients connect to.
func (b *Broker) Addr() string { return b.addr }

// Stop writes everything to the disk and ends the broker. Where ctx ends before
// that the data directory stays locked: the broker may still write.
func (b *Broker) Stop(ctx context.Context) error {
	if err := b.supervisor.Stop(ctx); err != nil {
		return err
	}
	b.unlock()
	return nil
}

// run is one kfake cluster of one broker; it implements supervise.Run.
type run struct {
	cluster *kfake.Cluster
	client  *kgo.Client // pings the cluster
	unwatch context.CancelFunc
	closing sync.Once
	done    chan struct{}
}

var _ supervise.Run = (*run)(nil)

func startRun(ctx context.Context, o Options, addr string) (*run, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("embedded kafka: address %q: %w", addr, err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("embedded kafka: address %q: %w", addr, err)
	}
	if _, err := supervise.ListenAddr(serviceName, addr, addrFlag); err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		return nil, fmt.Errorf("embedded kafka: make a client of %s: %w", addr, err)
	}
	cluster, err := kfake.NewCluster(
		kfake.Ports(number),
		kfake.ListenFn(func(network, _ string) (net.Listener, error) {
			return net.Listen(network, net.JoinHostPort(host, port))
		}),
		kfake.ClusterID("tallyhouse"),
		kfake.DataDir(o.DataDir),
		kfake.WithLogger(logger{o.Log}),
		kfake.BrokerConfigs(map[string]string{
			"message.max.bytes":         strconv.Itoa(maxMessageBytes),
			"log.retention.ms":          "-1",
			"log.retention.bytes":       "-1",
			"offsets.retention.minutes": strconv.Itoa(10 * 365 * 24 * 60),
			// On one machine a dead member may be noticed sooner than across a network.
			"group.min.session.timeout.ms": "1000",
		}),
	)
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("embedded kafka: start on %s with the data in %s: %w", addr, o.DataDir, err)
	}
	debug.FreeOSMemory() // kfake reads its whole log to start
	watching, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	r := &run{cluster: cluster, client: client, unwatch: unwatch, done: make(chan struct{})}
	gone := &absentees{client: client, log: o.Log, groups: map[string]*watchedGroup{}}
	gone.watch(cluster)
	go gone.run(watching)
	if err := r.Ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("embedded kafka: %w", err), r.Stop(ctx))
	}
	return r, nil
}

// Ping asks the broker for its metadata.
func (r *run) Ping(ctx context.Context) error {
	if err := r.client.Ping(ctx); err != nil {
		return fmt.Errorf("ask the broker for its metadata: %w", err)
	}
	return nil
}

// Done is closed when the cluster is.
func (r *run) Done() <-chan struct{} { return r.done }

// Err is how the run ended.
func (r *run) Err() error { return errors.New("the broker was closed") }

// Stop closes the cluster, which writes and synchronises its files.
func (r *run) Stop(ctx context.Context) error {
	r.Kill()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the broker did not close: %w", ctx.Err())
	}
}

// Kill begins to close the cluster. One that cannot be closed is not replaced:
// two would write to the same files.
func (r *run) Kill() {
	r.closing.Do(func() {
		go func() {
			defer close(r.done)
			r.unwatch()
			r.client.Close()
			r.cluster.Close()
		}()
	})
}

// logger passes kfake's errors and warnings on; below that kfake logs every request.
type logger struct{ log *slog.Logger }

func (l logger) Logf(level kfake.LogLevel, format string, args ...any) {
	switch level {
	case kfake.LogLevelError:
		l.log.Error("embedded kafka: " + fmt.Sprintf(format, args...))
	case kfake.LogLevelWarn:
		l.log.Warn("embedded kafka: " + fmt.Sprintf(format, args...))
	}
}
