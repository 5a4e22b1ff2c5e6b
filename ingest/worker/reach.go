package worker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"tallyhouse/ingest/store/database"
)

const (
	reachEvery = 5 * time.Second
	reachLimit = 3 * time.Second
	reachQuery = "SELECT 1"
)

// reach knows which servers answer. A worker to which nothing comes asks them nothing else, and would be ready for what it can't write.
type reach struct {
	mu   sync.Mutex
	away []error // by shard
}

func newReach(shards int) *reach { return &reach{away: make([]error, shards)} }

// run asks the servers again and again until the context ends.
func (r *reach) run(ctx context.Context, servers []Database) {
	var asking sync.WaitGroup
	defer asking.Wait()
	for shard, server := range servers {
		asking.Go(func() {
			for ctx.Err() == nil {
				err := server.Rows(ctx, database.Query{SQL: reachQuery, Limit: reachLimit}, func(func(...any) error) error { return nil })
				if err != nil {
					err = fmt.Errorf("the database of shard %d does not answer: %w", shard, err)
				}
				r.note(shard, err)
				sleep(ctx, reachEvery)
			}
		})
	}
}

func (r *reach) note(shard int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away[shard] = err
}

// failed are the servers that did not answer when they were last asked.
func (r *reach) failed() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var failed []error
	for _, err := range r.away {
		if err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}
