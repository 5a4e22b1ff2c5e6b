// Package worker moves change events from Kafka into ClickHouse exactly once: every state table and every view equals what a single
// reader of the log would compute, whatever dies, hangs or comes back late (docs/architecture.md).
package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/heads"
)

// Options say what a worker works on.
type Options struct {
	Cluster   kafka.Cluster
	Servers   []Database // one per shard: a partition is kept on server (partition mod shards)
	Heads     *heads.Store
	Group     string
	Entities  []*store.Entity
	Freshness time.Duration // how long a batch lingers at least
	Log       *slog.Logger
	Metrics   prometheus.Registerer
}

// Worker writes the partitions that its consumer group gives it.
type Worker struct {
	options Options
	log     *slog.Logger
	members *membership
	source  *source
	asking  *kgo.Client
	sender  *producer
	pace    *pace
	metrics *metrics
	desks   map[string][]*desk // by topic, one per shard
	observe observer
	timings timings

	mu      sync.Mutex
	writers map[topicPartition]*running
	joined  bool
}

type running struct {
	*writer
	stop context.CancelFunc
	done chan struct{}
}

// timings of the consumer group: a stalled member is noticed within the session, a rebalance within a heartbeat.
type timings struct{ session, heartbeat time.Duration }

const (
	rebalance     = 30 * time.Second
	drainPatience = 8 * time.Second // within the session, for heartbeats stop meanwhile
	commitEvery   = time.Second
	// alive is how long a partition may go without completing a step or a bounded wait.
	alive = time.Minute
)

// New prepares a worker; Run sets it to work.
func New(o Options) (*Worker, error) {
	source, err := newSource(o.Cluster)
	if err != nil {
		return nil, err
	}
	asking, err := newAsking(o.Cluster)
	if err != nil {
		return nil, err
	}
	members := newMembership()
	w := &Worker{
		options: o, log: o.Log, members: members, source: source, asking: asking, sender: newProducer(o.Cluster, o.Log), pace: newPace(o.Freshness, members),
		metrics: newMetrics(o.Metrics), desks: map[string][]*desk{}, observe: ignore, timings: timings{10 * time.Second, time.Second}, writers: map[topicPartition]*running{},
	}
	o.Metrics.MustRegister(newPartitionMetrics(w))
	return w, nil
}

// newAsking is a client for questions about topics and their logs.
func newAsking(c kafka.Cluster) (*kgo.Client, error) {
	client, err := kgo.NewClient(append(c.Reading[:len(c.Reading):len(c.Reading)], kgo.MetadataMinAge(250*time.Millisecond))...)
	if err != nil {
		return nil, fmt.Errorf("prepare to ask Kafka: %w", err)
	}
	return client, nil
}

// Run works until the context ends, then drains: what is in flight is finished, what is queued is left to the next owner. It returns
// an error only when it could not begin.
func (w *Worker) Run(ctx context.Context) error {
	group, err := w.join()
	if err != nil {
		return err
	}
	// The parts outlive ctx: writers still finish their inserts when it ends.
	parts, stopParts := context.WithCancel(context.WithoutCancel(ctx))
	var working sync.WaitGroup
	w.begin(parts, &working)
	for ctx.Err() == nil {
		generation, err := group.Next(ctx)
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, io.EOF) {
				w.log.Warn("the consumer group has no generation yet", "error", err)
				sleep(ctx, leastWait)
			}
			continue
		}
		w.enter(parts, generation)
	}
	w.log.Info("draining")
	w.members.pause(drainPatience)
	w.stopWriters(func(topicPartition) bool { return true })
	err = group.Close() // commits what the last generation noted, and leaves
	stopParts()
	working.Wait()
	w.asking.Close()
	return errors.Join(err, w.sender.close())
}

// begin sets the parts to work that serve the writers: the reading, and a desk for each topic on each shard.
func (w *Worker) begin(parts context.Context, working *sync.WaitGroup) {
	working.Go(func() { w.source.run(parts) })
	for _, e := range w.options.Entities {
		for _, db := range w.options.Servers {
			d := newDesk(desk{entity: e, db: db, log: w.log, asking: w.asking, source: w.source, members: w.members, metrics: w.metrics, observe: w.observe})
			w.desks[string(e.Topic)] = append(w.desks[string(e.Topic)], d)
			working.Go(func() { d.run(parts) })
		}
	}
}

func (w *Worker) join() (*kafkago.ConsumerGroup, error) {
	var names []string
	for _, e := range w.options.Entities {
		names = append(names, string(e.Topic))
	}
	group, err := kafkago.NewConsumerGroup(kafkago.ConsumerGroupConfig{
		ID:                     w.options.Group,
		Brokers:                w.options.Cluster.Addrs,
		Dialer:                 w.options.Cluster.Dialer,
		Topics:                 names,
		GroupBalancers:         []kafkago.GroupBalancer{balancer{w.members.has}},
		HeartbeatInterval:      w.timings.heartbeat,
		SessionTimeout:         w.timings.session,
		RebalanceTimeout:       rebalance,
		JoinGroupBackoff:       time.Second,
		WatchPartitionChanges:  true,
		PartitionWatchInterval: 5 * time.Second,
		StartOffset:            kafkago.FirstOffset,
		Timeout:                5 * time.Second,
		ErrorLogger:            kafkago.LoggerFunc(func(text string, args ...any) { w.log.Debug("kafka: " + fmt.Sprintf(text, args...)) }),
	})
	if err != nil {
		return nil, fmt.Errorf("join consumer group %s: %w", w.options.Group, err)
	}
	return group, nil
}

// enter goes into a generation: writers of partitions that went elsewhere end, those of new ones begin, the others have their stand
// confirmed.
func (w *Worker) enter(parts context.Context, g *kafkago.Generation) {
	var assigned []topicPartition
	mine := map[topicPartition]bool{}
	for topic, partitions := range g.Assignments {
		for _, p := range partitions {
			tp := topicPartition{topic, int32(p.ID)}
			assigned = append(assigned, tp)
			mine[tp] = true
		}
	}
	w.log.Info("a generation of the group began", "generation", g.ID, "partitions", len(assigned))
	w.stopWriters(func(tp topicPartition) bool { return !mine[tp] })
	w.members.begin(g.ID, assigned, w.total(assigned))
	for _, tp := range assigned {
		w.startWriter(parts, tp)
	}
	w.mu.Lock()
	w.joined = true
	w.mu.Unlock()
	g.Start(func(ctx context.Context) {
		every := time.NewTicker(commitEvery)
		defer every.Stop()
		noted := map[topicPartition]uint64{}
		for {
			select {
			case <-every.C:
				w.noteOffsets(g, noted)
			case <-ctx.Done():
				w.members.pause(drainPatience)
				w.noteOffsets(g, noted)
				return
			}
		}
	})
}

// total is the number of partitions of all topics, or at least of those assigned when it can't be learnt.
func (w *Worker) total(assigned []topicPartition) int {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	var names []string
	for _, e := range w.options.Entities {
		names = append(names, string(e.Topic))
	}
	all, err := kafka.Identities(ctx, w.asking, names...)
	if err != nil {
		return len(assigned)
	}
	n := 0
	for _, id := range all {
		n += id.Partitions
	}
	return n
}

func (w *Worker) startWriter(parts context.Context, tp topicPartition) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.writers[tp]; r != nil {
		select {
		case <-r.done: // it ended by itself, in the belief that the partition was lost
		default:
			return
		}
	}
	ctx, stop := context.WithCancel(parts)
	desks := w.desks[tp.topic]
	writer := &writer{
		tp: tp, desk: desks[int(tp.partition)%len(desks)], heads: w.options.Heads.Of(tp.topic, tp.partition), members: w.members, pace: w.pace,
		sender: w.sender, metrics: w.metrics, log: w.log.With("topic", tp.topic, "partition", tp.partition), state: newState(tp, w.observe),
		rows: maxRows, limit: leastLimit,
	}
	r := &running{writer, stop, make(chan struct{})}
	w.writers[tp] = r
	go func() {
		defer close(r.done)
		r.run(ctx)
	}()
}

func (w *Worker) stopWriters(which func(topicPartition) bool) {
	w.mu.Lock()
	var stopping []*running
	for tp, r := range w.writers {
		if which(tp) {
			r.stop()
			stopping = append(stopping, r)
			delete(w.writers, tp)
		}
	}
	w.mu.Unlock()
	for _, r := range stopping {
		<-r.done
	}
}

// noteOffsets tells Kafka the positions. They serve those who watch the lag, nothing else.
func (w *Worker) noteOffsets(g *kafkago.Generation, noted map[topicPartition]uint64) {
	offsets := map[string]map[int]int64{}
	for _, s := range w.Status() {
		tp := topicPartition{s.Topic, s.Partition}
		if s.Condition != Standing || noted[tp] == s.Position {
			continue
		}
		noted[tp] = s.Position
		if offsets[s.Topic] == nil {
			offsets[s.Topic] = map[int]int64{}
		}
		offsets[s.Topic][int(s.Partition)] = int64(s.Position)
	}
	if err := g.CommitOffsets(offsets); err != nil {
		w.log.Debug("positions not noted in Kafka", "error", err)
	}
}

// Status tells of every partition that this worker writes.
func (w *Worker) Status() []Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]Status, 0, len(w.writers))
	for _, r := range w.writers {
		all = append(all, r.state.status())
	}
	return all
}

// Ready is nil when the worker is in a generation of its group and every partition that it was given stands.
func (w *Worker) Ready() error {
	w.mu.Lock()
	joined := w.joined
	w.mu.Unlock()
	if !joined {
		return errors.New("not yet in the consumer group")
	}
	var waiting []error
	if w.members.between() {
		waiting = append(waiting, errors.New("between generations of the consumer group: it rebalances, or Kafka is away"))
	}
	for _, s := range w.Status() {
		if s.Condition != Standing {
			waiting = append(waiting, fmt.Errorf("%s partition %d is %s: %s", s.Topic, s.Partition, s.Condition, s.Reason))
		}
	}
	return errors.Join(waiting...)
}

// Alive is nil when every partition completed a step or a bounded wait within the last minute. Waiting is alive.
func (w *Worker) Alive() error {
	var stuck []error
	for _, s := range w.Status() {
		if silent := time.Since(s.Progress); silent > alive {
			stuck = append(stuck, fmt.Errorf("%s partition %d has not moved for %s since step %s", s.Topic, s.Partition, silent.Round(time.Second), s.Step))
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
