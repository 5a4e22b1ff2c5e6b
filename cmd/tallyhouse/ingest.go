package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sethvargo/go-retry"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"tallyhouse/ingest/admin/deadletters"
	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker"
	"tallyhouse/schemas/clickhouse"
)

// concurrentInserts is how many inserts a worker has in flight at one server.
const concurrentInserts = 4

// workerMemory bounds a worker's heap unless GOMEMLIMIT is set: room for two large batches of a topic, for what is fetched,
// and for what waits to be collected.
const workerMemory = 150 << 20

// ingestFlags are what a worker needs to know beside its servers.
type ingestFlags struct {
	group     string
	freshness time.Duration
}

func (f *ingestFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.group, "group", "tallyhouse", "consumer group: its members share the partitions")
	flags.DurationVar(&f.freshness, "freshness", 50*time.Millisecond,
		"how long a batch waits for more: longer means fewer, larger inserts")
}

// check reports all that is wrong with the flags.
func (f *ingestFlags) check() error {
	var wrong []error
	if f.group == "" {
		wrong = append(wrong, usageError{errors.New("--group must not be empty")})
	}
	if f.freshness < 0 {
		wrong = append(wrong, usageError{fmt.Errorf("--freshness must not be negative, but is %s", f.freshness)})
	}
	return errors.Join(wrong...)
}

// workerFlags are those of a worker that runs alone.
type workerFlags struct {
	ingestFlags
	invoices    mailFlags
	metricsAddr string
	operator    operatorFlags
	volatile    bool
}

func ingestCommand(s *shell) *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:     "ingest",
		GroupID: groupRun,
		Short:   "Run the worker that moves change events from Kafka into ClickHouse, exactly once",
		Long: "Runs a worker: a member of the consumer group that writes its share of the partitions. Give it one ClickHouse\n" +
			"address per shard, in the same order everywhere. With --imap it also makes records of the invoices that are\n" +
			"mailed there. It serves /metrics, /healthz and /readyz on its metrics address. Beside\n" +
			"--originals-dir it keeps nothing on disk: the latest states lie in memory that is backed by a file without a\n" +
			"name in TMPDIR.",
		Example: "  tallyhouse ingest --kafka-addr kafka:9092 --clickhouse-addr clickhouse:9000",
		Args:    none,
	}
	flags := cmd.Flags()
	f.add(flags)
	listenFlag(flags, &f.metricsAddr, "metrics-addr", "127.0.0.1:9090", "where /metrics, /healthz and /readyz are served, host:port")
	f.operator.add(flags)
	flags.BoolVar(&f.volatile, "allow-volatile", false, "also write to tables that do not write through to the disk, "+
		"as dev makes them; a power loss may tear them")
	f.invoices.add(flags, nil, "")
	f.invoices.addAnswers(flags)
	from := connectionFlags(flags)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		_, err := f.invoices.options(f.metricsAddr)
		return errors.Join(f.check(), err)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		servers, err := from.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		return s.runWorker(cmd.Context(), &f, servers)
	}
	return cmd
}

// runWorker runs the worker, with the intake of mails and the answers to them where they are asked for, until the context ends.
func (s *shell) runWorker(ctx context.Context, f *workerFlags, servers servers) error {
	s.limitMemory(workerMemory)
	registry := newRegistry()
	listener, err := listen("--metrics-addr", f.metricsAddr)
	if err != nil {
		return err
	}
	w, err := s.openWorker(ctx, f.ingestFlags, servers, clickhouse.Target{Durable: !f.volatile}, registry)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer w.close()
	intake, err := s.openMail(ctx, f.invoices, f.metricsAddr, servers.kafka, w.shards, registry)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	answers, err := s.openAnswers(f.invoices, f.group, servers.kafka, w.shards, registry)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	letters := w.watchDeadLetters(servers.kafka, s.log, registry)
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return w.Run(ctx) })
	work.Go(func() error { return letters.Run(ctx) })
	work.Go(func() error {
		return serve(ctx, listener, s.log, registry, f.operator.pagesWithHealth(registry, w.Alive, w.Ready))
	})
	if intake != nil {
		work.Go(func() error { return intake.Run(ctx) })
	}
	if answers != nil {
		work.Go(func() error { return answers.Run(ctx) })
	}
	return work.Wait()
}

// runningWorker is a worker with the connections that it uses.
type runningWorker struct {
	*worker.Worker
	shards []*database.Server
}

func (w *runningWorker) close() {
	closeAll(w.shards)
}

// watchDeadLetters counts what waits among the dead letters. The worker that has the first partition of all watches.
func (w *runningWorker) watchDeadLetters(cluster kafka.Cluster, log *slog.Logger, metrics prometheus.Registerer) *deadletters.Watch {
	var tables deadletters.Tables
	for _, server := range w.shards {
		tables = append(tables, server)
	}
	first := string(store.Topics()[0])
	watch := &deadletters.Watch{Cluster: cluster, Tables: tables, Log: log, Mine: func() bool {
		return slices.ContainsFunc(w.Status(), func(p worker.Status) bool { return p.Topic == first && p.Partition == 0 })
	}}
	metrics.MustRegister(watch)
	return watch
}

// openWorker checks everything that a worker relies on, and prepares it.
func (s *shell) openWorker(ctx context.Context, f ingestFlags, servers servers, target clickhouse.Target,
	metrics prometheus.Registerer) (_ *runningWorker, err error) {
	w := &runningWorker{}
	defer func() {
		if err != nil {
			closeAll(w.shards)
		}
	}()
	var databases []worker.Database
	for _, o := range servers.shards {
		server, err := database.Open(o, concurrentInserts)
		if err != nil {
			return nil, err
		}
		w.shards = append(w.shards, server)
		databases = append(databases, server)
		if err := s.checkServer(ctx, server, target); err != nil {
			return nil, err
		}
	}
	if err := s.checkTopics(ctx, servers.kafka); err != nil {
		return nil, err
	}
	w.Worker, err = worker.New(worker.Options{
		Cluster: servers.kafka, Servers: databases, Group: f.group, Entities: store.All(), Freshness: f.freshness, Log: s.log, Metrics: metrics,
	})
	return w, err
}

// checkServer checks what a worker relies on of a server.
func (s *shell) checkServer(ctx context.Context, server *database.Server, target clickhouse.Target) error {
	return s.await(ctx, "ClickHouse", func(ctx context.Context) error {
		if err := migrate.Check(ctx, server); err != nil {
			return err
		}
		err := migrate.CheckServer(ctx, server, target)
		if err != nil && !outOfReach(err) {
			return fmt.Errorf("this ClickHouse server can't be written to exactly once: %w", err)
		}
		return err
	})
}

// checkTopics warns about topics that work, but not as they should. Missing ones are made: a group cannot join without
// them.
func (s *shell) checkTopics(ctx context.Context, cluster kafka.Cluster) error {
	var found []kafka.Status
	err := s.await(ctx, "Kafka", func(ctx context.Context) (err error) {
		found, err = kafka.Ensure(ctx, cluster, kafka.TopicSpec{})
		return err
	})
	if err != nil {
		return err
	}
	for _, topic := range found {
		for _, warning := range topic.Warnings {
			s.log.Warn(warning, "topic", topic.Topic)
		}
	}
	return nil
}

// await asks a server, for a minute or so, until it is in reach: a worker is often started beside it.
func (s *shell) await(ctx context.Context, server string, ask func(context.Context) error) error {
	pauses := retry.WithMaxDuration(time.Minute, retry.NewConstant(time.Second))
	waited := false
	return retry.Do(ctx, pauses, func(ctx context.Context) error {
		err := ask(ctx)
		if !outOfReach(err) {
			return err
		}
		if !waited {
			s.log.Warn("waiting for "+server, "error", err)
			waited = true
		}
		return retry.RetryableError(err)
	})
}
