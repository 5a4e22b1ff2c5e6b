// Package worker moves change events from Kafka into ClickHouse exactly once: every state table and every view equals
// what a single reader of the log would compute, whatever dies, hangs or comes back late (docs/architecture.md).
package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/ingest/worker/position"
	kafkalog "tallyhouse/schemas/kafka"
)

// Options say what a worker works on.
type Options struct {
	Cluster   kafka.Cluster
	Servers   []Database     // one per shard: a partition is kept on server (partition mod shards)
	Heads     latest.Options // where the heads are kept while the worker runs
	Group     string
	Entities  []*store.Entity
	Freshness time.Duration // how long a batch lingers at least
	Log       *slog.Logger
	Metrics   prometheus.Registerer
}

// Worker writes the partitions that its consumer group gives it.
type Worker struct {
	options      Options
	name         string // random: tells its fences from another worker's
	log          *slog.Logger
	members      *membership
	source       *source
	admin        *kgo.Client
	sender       *producer
	pace         *pace
	metrics      *metrics
	backlog      *backlog
	reach        *reach
	coordinators map[string][]*coordinator // by topic, one per shard
	observe      observer
	sleep        sleeper
	timings      timings

	mu      sync.Mutex
	writers map[kafkalog.Partition]*runningWriter
	joined  bool
}

type runningWriter struct {
	*writer
	stop context.CancelFunc
	done chan struct{}
}

// timings of the consumer group: a stalled member is noticed within the session, a rebalance within a heartbeat.
type timings struct {
	session, heartbeat, rebalance time.Duration
	// handover is how long inserts in flight have when the group rebalances. No heartbeats are sent meanwhile, nor while
	// Kafka takes the last offsets (answerTimeout): both together are shorter than the session. A member that loses its
	// session has the group rebalance anew, and while the database is slow so would the next one, again and again.
	handover time.Duration
	// drain is how long inserts in flight have when the worker ends.
	drain time.Duration
	// end is how long all else may take, from then on, until the worker ends as if it was killed. Both together are less
	// than what a supervisor grants: Kubernetes 30 s.
	end time.Duration
}

const (
	commitEvery = time.Second
	// answerTimeout bounds an answer of the group's coordinator.
	answerTimeout = 5 * time.Second
	// livenessTimeout is how long a partition may go without completing a step or a bounded wait.
	livenessTimeout = time.Minute
)

// New prepares a worker; Run starts it.
func New(o Options) (*Worker, error) {
	source, err := newSource(o.Cluster)
	if err != nil {
		return nil, err
	}
	admin, err := newAdminClient(o.Cluster)
	if err != nil {
		source.client.Close()
		return nil, err
	}
	members := newMembership()
	w := &Worker{
		options: o, name: rand.Text(), log: o.Log, members: members, source: source, admin: admin,
		sender: newProducer(o.Cluster, o.Log), pace: newPace(o.Freshness, members), metrics: newMetrics(o.Metrics),
		coordinators: map[string][]*coordinator{}, observe: noObserver, sleep: sleepAlive,
		writers: map[kafkalog.Partition]*runningWriter{}, backlog: newBacklog(), reach: newReach(len(o.Servers)),
		timings: timings{
			session: 10 * time.Second, heartbeat: time.Second, rebalance: 30 * time.Second,
			handover: 4 * time.Second, drain: 8 * time.Second, end: 12 * time.Second,
		},
	}
	for _, e := range o.Entities {
		w.metrics.begin(string(e.Topic))
	}
	o.Metrics.MustRegister(newPartitionMetrics(w))
	return w, nil
}

// newAdminClient returns a client that asks for topics and their logs.
func newAdminClient(c kafka.Cluster) (*kgo.Client, error) {
	client, err := kgo.NewClient(append(c.Reading[:len(c.Reading):len(c.Reading)], kgo.MetadataMinAge(250*time.Millisecond))...)
	if err != nil {
		return nil, fmt.Errorf("create the Kafka admin client: %w", err)
	}
	return client, nil
}

// Run works until the context ends, then drains: what is in flight is finished, what is queued is left to the next
// owner. Where a server doesn't answer meanwhile it returns after some 20 seconds all the same, and logs a warning. That is no
// error: it was told to end and did, and the next owner recovers what is in doubt, as after a kill. An error says that it could
// not begin, or that closing its group or its producers failed.
func (w *Worker) Run(ctx context.Context) error {
	group, err := w.join()
	if err != nil {
		return err
	}
	// The parts outlive ctx: writers still finish their inserts after it ends.
	parts, stopParts := context.WithCancel(context.WithoutCancel(ctx))
	var working sync.WaitGroup
	w.startParts(parts, &working)
	for ctx.Err() == nil {
		generation, err := group.Next(ctx)
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, io.EOF) {
				w.log.Warn("the consumer group has no generation yet", "error", err)
				sleep(ctx, minWait)
			}
			continue
		}
		w.beginGeneration(ctx, parts, generation)
	}
	w.log.Info("draining")
	w.members.pause(w.timings.drain)
	ended := make(chan error, 1)
	go func() {
		err := group.Close() // commits the last offsets and leaves the group
		w.stopWriters(context.WithoutCancel(ctx), func(kafkalog.Partition) bool { return true })
		stopParts()
		working.Wait()
		w.admin.Close()
		ended <- errors.Join(err, w.sender.close())
	}()
	select {
	case err := <-ended:
		return err
	case <-time.After(w.timings.end):
		stopParts()
		w.log.Warn("Kafka or ClickHouse don't answer: the worker ends without waiting for them any longer")
		return nil
	}
}

// startParts starts what the writers share: the source of records, and a coordinator for each topic on each shard.
func (w *Worker) startParts(parts context.Context, working *sync.WaitGroup) {
	working.Go(func() { w.source.run(parts) })
	working.Go(func() { w.backlog.run(parts, w) })
	working.Go(func() { w.reach.run(parts, w.options.Servers) })
	for _, e := range w.options.Entities {
		for shard, db := range w.options.Servers {
			c := newCoordinator(coordinator{
				name: w.name, entity: e, db: db, shard: shard, servers: w.options.Servers, log: w.log, admin: w.admin,
				source: w.source, membership: w.members, metrics: w.metrics, observe: w.observe,
			})
			w.coordinators[string(e.Topic)] = append(w.coordinators[string(e.Topic)], c)
			working.Go(func() { c.run(parts) })
		}
	}
}

func (w *Worker) join() (*kafkago.ConsumerGroup, error) {
	group, err := kafkago.NewConsumerGroup(kafkago.ConsumerGroupConfig{
		ID:                     w.options.Group,
		Brokers:                w.options.Cluster.Addrs,
		Dialer:                 w.options.Cluster.Dialer,
		Topics:                 w.topics(),
		GroupBalancers:         []kafkago.GroupBalancer{balancer{w.members.owned}},
		HeartbeatInterval:      w.timings.heartbeat,
		SessionTimeout:         w.timings.session,
		RebalanceTimeout:       w.timings.rebalance,
		JoinGroupBackoff:       time.Second,
		WatchPartitionChanges:  true,
		PartitionWatchInterval: 5 * time.Second,
		StartOffset:            kafkago.FirstOffset,
		Timeout:                answerTimeout,
		ErrorLogger:            kafkago.LoggerFunc(func(text string, args ...any) { w.log.Debug("kafka: " + fmt.Sprintf(text, args...)) }),
	})
	if err != nil {
		return nil, fmt.Errorf("join consumer group %s: %w", w.options.Group, err)
	}
	return group, nil
}

// beginGeneration adopts the partitions that a new generation assigns: writers of partitions that went to other members
// stop, writers of new ones start, and the others recover. A topic that this binary doesn't know is left to members
// that know it.
func (w *Worker) beginGeneration(ctx, parts context.Context, g *kafkago.Generation) {
	var assigned []kafkalog.Partition
	mine := map[kafkalog.Partition]bool{}
	for topic, partitions := range g.Assignments {
		if w.coordinators[topic] == nil {
			w.log.Warn("the group assigns a topic that this binary doesn't know: a newer one has to write it", "topic", topic)
			continue
		}
		for _, p := range partitions {
			tp := kafkalog.Partition{Topic: topic, Number: int32(p.ID)}
			assigned = append(assigned, tp)
			mine[tp] = true
		}
	}
	w.log.Info("a generation of the group began", "generation", g.ID, "partitions", len(assigned))
	w.stopWriters(ctx, func(tp kafkalog.Partition) bool { return !mine[tp] })
	w.members.begin(g.ID, assigned, w.totalPartitions(ctx, assigned))
	for _, tp := range assigned {
		w.startWriter(parts, tp)
	}
	w.mu.Lock()
	w.joined = true
	w.mu.Unlock()
	g.Start(func(ctx context.Context) {
		every := time.NewTicker(commitEvery)
		defer every.Stop()
		committed := map[kafkalog.Partition]uint64{}
		for {
			select {
			case <-every.C:
				w.commitOffsets(g.CommitOffsets, committed)
			case <-ctx.Done(): // at once where the generation ended while it was begun: this may run in the next one
				w.members.end(g.ID, w.timings.handover)
				w.commitOffsets(g.CommitOffsets, committed)
				return
			}
		}
	})
}

func (w *Worker) topics() (names []string) {
	for _, e := range w.options.Entities {
		names = append(names, string(e.Topic))
	}
	return names
}

// totalPartitions is the number of partitions of all topics; of the assigned ones when Kafka doesn't answer.
func (w *Worker) totalPartitions(ctx context.Context, assigned []kafkalog.Partition) int {
	ctx, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	all, err := kafkalog.Identities(ctx, w.admin, w.topics()...)
	if err != nil {
		return len(assigned)
	}
	n := 0
	for _, id := range all {
		n += id.Partitions
	}
	return n
}

func (w *Worker) startWriter(parts context.Context, tp kafkalog.Partition) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.writers[tp]; r != nil {
		select {
		case <-r.done: // it ended by itself, believing that the partition was lost
		default:
			return
		}
	}
	ctx, stop := context.WithCancel(parts)
	r := &runningWriter{w.newWriter(tp), stop, make(chan struct{})}
	w.writers[tp] = r
	go func() {
		defer close(r.done)
		r.run(ctx)
	}()
}

func (w *Worker) newWriter(tp kafkalog.Partition) *writer {
	coordinators := w.coordinators[tp.Topic]
	return &writer{
		tp: tp, coordinator: coordinators[position.ShardOf(tp.Number, len(coordinators))], members: w.members, pace: w.pace,
		sender: w.sender, metrics: w.metrics, log: w.log.With("topic", tp.Topic, "partition", tp.Number),
		state: newState(tp, w.observe), sleep: w.sleep, options: w.options.Heads, rows: maxRows, limit: minLimit,
	}
}

// stopWriters ends some writers and waits for them, while ctx lasts: each may have a statement under way, which has a
// bound.
func (w *Worker) stopWriters(ctx context.Context, which func(kafkalog.Partition) bool) {
	w.mu.Lock()
	var stopping []*runningWriter
	for tp, r := range w.writers {
		if which(tp) {
			r.stop()
			stopping = append(stopping, r)
			delete(w.writers, tp)
		}
	}
	w.mu.Unlock()
	for _, r := range stopping {
		select {
		case <-r.done:
		case <-ctx.Done():
		}
	}
}

// commitOffsets commits the positions to Kafka, for lag monitoring alone: recovery reads the positions from the
// database. Those that Kafka has taken before are left out.
func (w *Worker) commitOffsets(commit func(offsets map[string]map[int]int64) error, committed map[kafkalog.Partition]uint64) {
	changed := map[kafkalog.Partition]uint64{}
	offsets := map[string]map[int]int64{}
	for _, s := range w.Status() {
		tp := kafkalog.Partition{Topic: s.Topic, Number: s.Partition}
		if s.Condition != Running || committed[tp] == s.Position {
			continue
		}
		changed[tp] = s.Position
		if offsets[s.Topic] == nil {
			offsets[s.Topic] = map[int]int64{}
		}
		offsets[s.Topic][int(s.Partition)] = int64(s.Position)
	}
	if err := commit(offsets); err != nil {
		w.log.Debug("positions not committed to Kafka", "error", err)
		return
	}
	maps.Copy(committed, changed)
}

// Status reports every partition that this worker writes.
func (w *Worker) Status() []Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]Status, 0, len(w.writers))
	for _, r := range w.writers {
		all = append(all, r.state.status())
	}
	return all
}

// Ready is nil when the worker is in a generation of its group, the servers answer, and every partition assigned to it is running.
func (w *Worker) Ready() error {
	w.mu.Lock()
	joined := w.joined
	w.mu.Unlock()
	if !joined {
		return errors.New("not yet in the consumer group")
	}
	waiting := w.reach.failed()
	if w.members.rebalancing() {
		waiting = append(waiting, errors.New("between generations of the consumer group: it rebalances, or Kafka is away"))
	}
	for _, s := range w.Status() {
		if s.Condition != Running {
			waiting = append(waiting, fmt.Errorf("%s partition %d is %s: %s", s.Topic, s.Partition, s.Condition, s.Reason))
		}
	}
	return errors.Join(waiting...)
}

// Alive is nil when every partition completed a step within the last minute, or within the bound of the step. Waiting
// is alive.
func (w *Worker) Alive() error {
	var stuck []error
	for _, s := range w.Status() {
		if time.Now().After(s.Due) {
			still := time.Since(s.Progress).Round(time.Second)
			stuck = append(stuck, fmt.Errorf("%s partition %d has not moved for %s since step %s", s.Topic, s.Partition, still, s.Step))
		}
	}
	return errors.Join(stuck...)
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
