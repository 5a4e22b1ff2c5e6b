package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sethvargo/go-retry"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
	kafkalog "tallyhouse/schemas/kafka"
)

// DefaultStallTimeout is how long Wait goes on while no position moves.
const DefaultStallTimeout = 60 * time.Second

const (
	firstPause   = 20 * time.Millisecond // between two reads of the positions
	longestPause = 250 * time.Millisecond
)

// Behind is a table or view that a partition's messages haven't reached yet.
type Behind struct {
	Topic     string
	Partition int
	Place     string // the table or view
	At, Want  uint64 // positions: the next offset
}

// Stalled says that no position moved for Wait's timeout.
type Stalled struct {
	After  time.Duration
	Behind []Behind
	Err    error // why the last look at the positions failed, if it did
	Open   []OpenTransaction
}

// OpenTransaction is one that holds messages back that are waited for.
type OpenTransaction struct {
	Topic     string
	Partition int
	From      uint64 // the offset at which it begins
}

// Error names every partition that is behind, and its position.
func (s *Stalled) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "everything was sent, but the database made no progress for %s:", s.After)
	for i, b := range s.Behind {
		if i == maxShown {
			fmt.Fprintf(&text, "\nand %d more", len(s.Behind)-i)
			break
		}
		fmt.Fprintf(&text, "\n%s partition %d: %s is at %d of %d", b.Topic, b.Partition, b.Place, b.At, b.Want)
	}
	for _, o := range s.Open {
		fmt.Fprintf(&text, "\n%s partition %d: a transaction that began at offset %d is open, and nothing behind it is read before it ends; "+
			"docs/operations.md#tallyhouseopentransaction says how to find and end it", o.Topic, o.Partition, o.From)
	}
	if s.Err != nil {
		fmt.Fprintf(&text, "\nthe positions could not be read: %v", s.Err)
	}
	return text.String() + "\nlook whether the worker (tallyhouse ingest) runs and what it logs"
}

// Explain looks for open transactions that hold back what is behind: nothing else would tell of them.
func (s *Stalled) Explain(ctx context.Context, c kafka.Cluster) error {
	client, err := kgo.NewClient(c.Reading...)
	if err != nil {
		return fmt.Errorf("look for open transactions: %w", err)
	}
	defer client.Close()
	var partitions []kafkalog.Partition
	for _, b := range s.Behind {
		if p := (kafkalog.Partition{Topic: b.Topic, Number: int32(b.Partition)}); !slices.Contains(partitions, p) {
			partitions = append(partitions, p)
		}
	}
	ends := kafkalog.Ends(ctx, client, partitions)
	for _, p := range partitions {
		want := slices.IndexFunc(s.Behind, func(b Behind) bool { return b.Topic == p.Topic && b.Partition == int(p.Number) })
		if end, known := ends[p]; known && end.Committed < end.Log && end.Committed < s.Behind[want].Want {
			s.Open = append(s.Open, OpenTransaction{p.Topic, int(p.Number), end.Committed})
		}
	}
	return nil
}

// Unwrap gives the failure of the last look.
func (s *Stalled) Unwrap() error { return s.Err }

// Wait returns once the state table and all its views have passed every message that was sent. shards are the
// databases: partition p is kept on shard p modulo their number. The failure is a *Stalled when nothing moved for the
// timeout.
func (l *Load) Wait(ctx context.Context, shards []*database.Server, sent Sent, timeout time.Duration) error {
	l.Progress.Stage("waiting for the database", sent.Messages, Messages)
	defer l.Progress.End()
	wants := map[string]map[int]uint64{}
	for topic, next := range sent.Next {
		wants[topic] = maps.Clone(next)
	}
	var at uint64
	moved, migrated := time.Now(), false
	pauses := retry.WithCappedDuration(longestPause, retry.NewFibonacci(firstPause))
	err := retry.Do(ctx, pauses, func(ctx context.Context) error {
		var behind []Behind
		var err error
		if !migrated {
			if err = exist(ctx, shards); errors.Is(err, ErrNoDatabase) {
				return err
			}
			migrated = err == nil
		}
		if migrated {
			behind, err = l.behind(ctx, shards, wants)
		}
		if err == nil && len(behind) == 0 {
			return nil
		}
		var now, missing uint64
		for _, b := range behind {
			now += b.At
			missing += b.Want - min(b.At, b.Want) // each partition is there once
		}
		if err == nil {
			l.Progress.Done(max(0, sent.Messages-int64(missing)))
			if now != at || len(behind) == 0 {
				at, moved = now, time.Now()
			}
		}
		stalled := &Stalled{After: timeout, Behind: behind, Err: err}
		if time.Since(moved) >= timeout {
			return stalled
		}
		return retry.RetryableError(stalled)
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("wait for the database: %w", err)
	}
	return err
}

// ErrNoDatabase says that a server lacks the database: waiting does not help.
var ErrNoDatabase = errors.New("the database does not exist; run `tallyhouse migrate`, or name another with --clickhouse-database")

func exist(ctx context.Context, shards []*database.Server) error {
	for _, shard := range shards {
		switch found, err := shard.Exists(ctx); {
		case err != nil:
			return err
		case !found:
			return fmt.Errorf("%s at %s: %w", shard.Name(), shard.Addr(), ErrNoDatabase)
		}
	}
	return nil
}

// behind compares the positions with what is waited for, and takes out of that what has come: while others go on to
// write, a view is seldom seen level with its table in all partitions at once.
func (l *Load) behind(ctx context.Context, shards []*database.Server, wants map[string]map[int]uint64) ([]Behind, error) {
	var all []Behind
	var failed []error
	for _, e := range l.Entities {
		wants := wants[string(e.Topic)]
		for i, shard := range shards {
			mine := map[int32]uint64{}
			for p, want := range wants {
				if position.ShardOf(int32(p), len(shards)) == i {
					mine[int32(p)] = want
				}
			}
			if len(mine) == 0 {
				continue
			}
			found, err := position.Read(ctx, shard, e, slices.Sorted(maps.Keys(mine)))
			if err != nil {
				failed = append(failed, fmt.Errorf("%s at %s: %w", e.Table, shard.Addr(), err))
				continue
			}
			for p, want := range mine {
				switch at := found[p]; {
				case at.State < want:
					all = append(all, Behind{Topic: string(e.Topic), Partition: int(p), Place: e.Table, At: at.State, Want: want})
				case !at.Level():
					all = append(all, Behind{Topic: string(e.Topic), Partition: int(p), Place: "sums", At: at.Seen(), Want: want})
				default:
					delete(wants, int(p))
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Behind) int {
		return strings.Compare(fmt.Sprintf("%s %6d %s", a.Topic, a.Partition, a.Place),
			fmt.Sprintf("%s %6d %s", b.Topic, b.Partition, b.Place))
	})
	return all, errors.Join(failed...)
}
