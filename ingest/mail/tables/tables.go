// Package tables asks the state tables of all shards, for the intake of mails and for the answers to them.
package tables

import (
	"context"
	"fmt"
	"time"

	"tallyhouse/ingest/store/database"
)

// QueryTime bounds each query: mails wait for its answer.
const QueryTime = 10 * time.Second

// Shards are the servers of all shards. An entity is on one of them, and nobody here knows on which.
type Shards []*database.Server

// Each calls row with what a query gives at each shard, one after the other. The error names the shard that failed.
func (s Shards) Each(ctx context.Context, sql string, p database.Params, row func(scan func(...any) error) error) error {
	for _, shard := range s {
		if err := shard.Rows(ctx, database.Query{SQL: sql, Params: p, Limit: QueryTime}, row); err != nil {
			return fmt.Errorf("ClickHouse at %s: %w", shard.Addr(), err)
		}
	}
	return nil
}
