package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sethvargo/go-retry"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
)

// DefaultStallTimeout is how long Wait goes on while no position moves.
const DefaultStallTimeout = 60 * time.Second

const (
	firstPause   = 20 * time.Millisecond // between two reads of the positions
	longestPause = 250 * time.Millisecond
	lookLimit    = 10 * time.Second
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
	if s.Err != nil {
		fmt.Fprintf(&text, "\nthe positions could not be read: %v", s.Err)
	}
	return text.String() + "\nlook whether the worker (tallyhouse ingest) runs and what it logs"
}

// Unwrap gives the failure of the last look.
func (s *Stalled) Unwrap() error { return s.Err }

// Wait returns once the state table and all its views have passed every message that was sent. shards are the databases: partition
// p is kept on shard p modulo their number. The failure is a *Stalled when nothing moved for the timeout.
func (l *Load) Wait(ctx context.Context, shards []*database.Server, sent Sent, timeout time.Duration) error {
	l.Progress.Stage("waiting for the database", sent.Messages, Messages)
	defer l.Progress.End()
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
			behind, err = l.behind(ctx, shards, sent)
		}
		if err == nil && len(behind) == 0 {
			return nil
		}
		var now, missing uint64
		for _, b := range behind {
			now += b.At
			missing = max(missing, b.Want-b.At)
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

// behind compares the positions with what was sent.
func (l *Load) behind(ctx context.Context, shards []*database.Server, sent Sent) ([]Behind, error) {
	var all []Behind
	var failed []error
	for _, e := range l.Entities {
		wants := sent.Next[string(e.Topic)]
		for i, shard := range shards {
			mine := map[int]uint64{}
			for p, want := range wants {
				if p%len(shards) == i {
					mine[p] = want
				}
			}
			if len(mine) == 0 {
				continue
			}
			found, err := positions(ctx, shard, e, mine)
			if err != nil {
				failed = append(failed, fmt.Errorf("%s at %s: %w", e.Table, shard.Addr(), err))
			}
			for _, place := range places(e) {
				for p, want := range mine {
					if got := found[place][p]; got < want {
						all = append(all, Behind{Topic: string(e.Topic), Partition: p, Place: place, At: got, Want: want})
					}
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

// places are the state table and its views.
func places(e *store.Entity) []string {
	all := []string{e.Table}
	for _, v := range e.Views() {
		all = append(all, v.Name)
	}
	return all
}

// positions reads the positions of the state table and its views in some partitions, by the keys of the position rows.
func positions(ctx context.Context, server *database.Server, e *store.Entity,
	partitions map[int]uint64) (map[string]map[int]uint64, error) {
	number := map[string]int{}
	var keys []string
	for p := range partitions {
		key := store.PositionKey(int32(p))
		number[key] = p
		keys = append(keys, "'"+key+"'")
	}
	var asks []string
	for _, place := range places(e) {
		position := "toUInt64(greatest(sum(position), 0))" // negative while a view is being filled
		if place == e.Table {
			position = "max(row_version)"
		}
		asks = append(asks, "SELECT '"+place+"' AS place, project, "+position+" AS position FROM "+place+
			" WHERE tenant = '' AND project IN {projects:Array(String)} GROUP BY project")
	}
	found := map[string]map[int]uint64{}
	query := database.Query{
		SQL:    strings.Join(asks, " UNION ALL "),
		Params: database.Params{"projects": "[" + strings.Join(keys, ",") + "]"},
		Limit:  lookLimit,
	}
	err := server.Rows(ctx, query, func(scan func(...any) error) error {
		var place, key string
		var position uint64
		if err := scan(&place, &key, &position); err != nil {
			return err
		}
		if found[place] == nil {
			found[place] = map[int]uint64{}
		}
		found[place][number[key]] = position
		return nil
	})
	return found, err
}
