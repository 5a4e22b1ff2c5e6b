package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

const allStreams = `
SELECT topic, argMax(schema, (revision, life)), argMax(formula, (revision, life)), argMax(work, (revision, life)),
  argMax(shard, (revision, life)), argMax(shards, (revision, life))
FROM streams GROUP BY topic ORDER BY topic`

// readableLimit is how long a server may take to say what it knows of its topics: where one hangs, whoever asks is to
// learn of it soon.
const readableLimit = 5 * time.Second

// Readable is nil when all that a database sums up is complete, and by this binary's formulas, and when the database is
// this one of so many shards, counted from 0: what the read API waits for. Figures of some shards alone would be wrong.
// The database was found at this binary's schema once: steps that have come since only add (docs/operations.md#upgrade).
func Readable(ctx context.Context, db Database, shard, shards int) error {
	var wrong []error
	err := db.Rows(ctx, database.Query{SQL: allStreams, Limit: readableLimit}, func(scan func(...any) error) error {
		var topic, formula, work string
		var schema, number, all uint32
		if err := scan(&topic, &schema, &formula, &work, &number, &all); err != nil {
			return err
		}
		e := store.Of(events.Topic(topic))
		switch {
		case e == nil:
		case work != "":
			wrong = append(wrong, fmt.Errorf("%s on %s is in progress", work, topic))
		case schema < clickhouse.Version || formula != e.Formula:
			wrong = append(wrong, fmt.Errorf("%s was written by another release: run `tallyhouse migrate`", e.Table))
		case int(number) != shard || int(all) != shards:
			wrong = append(wrong, fmt.Errorf("%s was written as shard %d of %d, and is given as shard %d of %d: give the addresses of "+
				"all shards, in the order that the workers have", e.Table, number, all, shard, shards))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read what the database knows of its topics: %w", err)
	}
	return errors.Join(wrong...)
}
