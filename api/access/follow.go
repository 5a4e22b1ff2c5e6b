package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/sethvargo/go-retry"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/kafka"
)

const (
	checkEvery     = time.Second      // how often the ends of the topics are asked for
	requestTimeout = 5 * time.Second  // of one such question
	confirmedFor   = 10 * time.Second // how long what is known counts without being confirmed
	pauseMin       = 200 * time.Millisecond
	pauseMax       = 5 * time.Second
)

// ErrUnconfirmed says that it is not certain who may see what: the topics have not been read to their end lately. No
// request is answered then.
var ErrUnconfirmed = errors.New("access cannot be confirmed")

// errChanged says that a topic is not the one that was being followed.
var errChanged = errors.New("the topic has changed")

// Source is where the state of the entities that decide about access is loaded from.
type Source interface {
	// LoadAccess hands every stored entity of the topic to apply, deleted ones too, and returns how far each partition of
	// the topic has been stored: its next offset. Both are one snapshot.
	LoadAccess(ctx context.Context, topic events.Topic, apply func(events.Event)) (map[int32]int64, error)
	// LastGap returns when messages of the topic were last found to be lost to what is stored; the zero time when never.
	LastGap(ctx context.Context, topic events.Topic) (time.Time, error)
}

// Follower keeps a Store up to date: it loads the stored state and follows the topics from there.
//
// What it promises: the store that Store returns holds every change that was committed to the topics up to Confirmed,
// which is at most confirmedFor in the past. It learns that by asking for the ends of all partitions and reading up
// to them.
type Follower struct {
	source   Source
	options  []kgo.Opt
	accepted time.Time
	log      *slog.Logger

	mu        sync.Mutex
	store     *Store
	confirmed time.Time
	why       error // of the last failure
}

// NewFollower makes a follower of the topics on the cluster that the options name. It does nothing until Run. Gaps that
// were found up to the instant accepted are no reason to refuse: somebody has seen to them.
func NewFollower(source Source, kafka []kgo.Opt, accepted time.Time, log *slog.Logger) *Follower {
	return &Follower{source: source, options: kafka, accepted: accepted, log: log,
		why: errors.New("the state has not been loaded yet")}
}

// Store returns what is known about access, or ErrUnconfirmed.
func (f *Follower) Store() (*Store, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.store == nil || time.Since(f.confirmed) > confirmedFor {
		if f.why != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnconfirmed, f.why)
		}
		return nil, fmt.Errorf("%w: nothing could be read from the topics since %s", ErrUnconfirmed,
			f.confirmed.UTC().Format(time.RFC3339))
	}
	return f.store, nil
}

// Confirmed is the instant up to which all changes are known; zero while there is none.
func (f *Follower) Confirmed() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.confirmed
}

// Run follows the topics until the context ends. After a failure it starts over, with pauses that grow until it worked
// for a while.
func (f *Follower) Run(ctx context.Context) {
	growing := func() retry.Backoff { return retry.WithCappedDuration(pauseMax, retry.NewExponential(pauseMin)) }
	pauses, lasted := growing(), time.Duration(0)
	next := retry.BackoffFunc(func() (time.Duration, bool) {
		if lasted > pauseMax {
			pauses = growing()
		}
		return pauses.Next()
	})
	_ = retry.Do(ctx, next, func(ctx context.Context) error {
		began := time.Now()
		err := f.follow(ctx)
		lasted = time.Since(began)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f.failed(err)
		f.log.Warn("access: start over", "error", err)
		return retry.RetryableError(err)
	})
}

// failed notes why. A changed topic takes effect at once: what is known may lack what is in it.
func (f *Follower) failed(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.why = err
	if errors.Is(err, errChanged) {
		f.store, f.confirmed = nil, time.Time{}
	}
}

// confirm makes the store the one that counts: it holds all changes up to the instant.
func (f *Follower) confirm(store *Store, at time.Time) {
	f.mu.Lock()
	first := f.store == nil
	f.store, f.confirmed, f.why = store, at, nil
	f.mu.Unlock()
	if first {
		f.log.Info("access: all changes are known")
	}
}

// follow loads the state and reads the topics until something fails.
func (f *Follower) follow(ctx context.Context) error {
	admin, err := kgo.NewClient(append(f.options[:len(f.options):len(f.options)], kgo.MetadataMinAge(checkEvery/2))...)
	if err != nil {
		return fmt.Errorf("connect to Kafka: %w", err)
	}
	defer admin.Close()
	topics, err := describe(ctx, admin)
	if err != nil {
		return err
	}
	s := &session{follower: f, store: NewStore(), admin: admin, topics: topics,
		positions: make(map[kafka.Partition]int64)}
	if err := s.load(ctx); err != nil {
		return err
	}
	reader, err := kafka.NewReader(f.options, s.positions)
	if err != nil {
		return err
	}
	defer reader.Close()

	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return s.read(ctx, reader) })
	work.Go(func() error { return s.check(ctx) })
	return work.Wait()
}

// session is one attempt at following: a store and how far it has got.
type session struct {
	follower *Follower
	store    *Store
	admin    *kgo.Client
	topics   identities

	mu        sync.Mutex
	positions map[kafka.Partition]int64 // next offset
	goal      *goal                     // what has to be reached to confirm the next instant
}

// goal is what all partitions held at an instant.
type goal struct {
	at   time.Time
	logs map[kafka.Partition]kafka.Range
}

// load fills the store from the stored state and decides where reading begins.
func (s *session) load(ctx context.Context) error {
	for _, topic := range Topics() {
		stored, err := s.follower.source.LoadAccess(ctx, topic, func(e events.Event) { s.store.Apply(topic, e) })
		if err != nil {
			return fmt.Errorf("load the state of %s: %w", topic, err)
		}
		gap, err := s.follower.source.LastGap(ctx, topic)
		if err != nil {
			return fmt.Errorf("look for gaps of %s: %w", topic, err)
		}
		if gap.After(s.follower.accepted) {
			return fmt.Errorf("changes in %s are lost to the database, a revocation may be among them; send them again from their "+
				"source, then accept the gap with --access-gaps-accepted %s", topic, gap.UTC().Format(time.RFC3339Nano))
		}
		for number, next := range stored {
			s.positions[kafka.Partition{Topic: string(topic), Number: number}] = next
		}
	}
	logs, err := s.topics.ranges(ctx, s.admin)
	if err != nil {
		return err
	}
	for p := range s.positions {
		if _, ok := logs[p]; !ok {
			return fmt.Errorf("%s has no partition %d, but the database holds its changes: the database belongs to another "+
				"cluster or topic", p.Topic, p.Number)
		}
	}
	for p, log := range logs {
		switch at := s.positions[p]; {
		case at > log.End:
			return fmt.Errorf("partition %d of %s ends at %d, but the database holds its changes up to %d: the database "+
				"belongs to another cluster or topic",
				p.Number, p.Topic, log.End, at)
		case at > 0 && at < log.Start:
			return fmt.Errorf("partition %d of %s begins at %d, but the database holds its changes only up to %d: a revocation may be "+
				"among those between, which are gone", p.Number, p.Topic, log.Start, at)
		case at < log.Start:
			// Nothing of the partition is stored: what is gone gave nobody access.
			s.positions[p] = log.Start
		default:
			s.positions[p] = at
		}
	}
	return nil
}

// read applies what comes in. Messages that the decoder refuses are skipped: the worker makes them dead letters.
func (s *session) read(ctx context.Context, reader *kafka.Reader) error {
	for {
		next, err := reader.Poll(ctx, func(r *kgo.Record) error {
			topic := events.Topic(r.Topic)
			e, err := events.Decode(topic, r.Key, r.Value)
			if err != nil {
				s.follower.log.Debug("access: a refused message", "topic", r.Topic, "partition", r.Partition, "offset", r.Offset,
					"error", err)
				return nil
			}
			s.store.Apply(topic, e)
			return nil
		})
		if err != nil {
			return err
		}
		s.mu.Lock()
		maps.Copy(s.positions, next)
		s.mu.Unlock()
		s.arrive()
	}
}

// check asks for the ends of the topics, again and again, and whether they still are the same topics.
func (s *session) check(ctx context.Context) error {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		if err := s.aim(ctx); errors.Is(err, errChanged) {
			return err
		} else if err != nil && ctx.Err() == nil {
			// Nothing is confirmed meanwhile; the next question may be answered.
			s.follower.log.Warn("access: the ends of the topics are not known", "error", err)
		}
		s.arrive()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// aim sets the next goal, unless the last one has not been reached.
func (s *session) aim(ctx context.Context) error {
	s.mu.Lock()
	busy := s.goal != nil
	s.mu.Unlock()
	at := time.Now()
	now, err := describe(ctx, s.admin)
	if err != nil {
		return err
	}
	if err := s.topics.same(now); err != nil {
		return err
	}
	if busy {
		return nil
	}
	logs, err := s.topics.ranges(ctx, s.admin)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.goal = &goal{at: at, logs: logs}
	s.mu.Unlock()
	return nil
}

// arrive confirms the goal when it has been reached.
func (s *session) arrive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.goal == nil {
		return
	}
	for p, log := range s.goal.logs {
		if s.positions[p] < log.End {
			return
		}
	}
	s.follower.confirm(s.store, s.goal.at)
	s.goal = nil
}
