package admin

import (
	"context"
	"errors"
	"fmt"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

const allStreams = `
SELECT topic, argMax(schema, (revision, life)), argMax(formula, (revision, life)), argMax(work, (revision, life))
FROM streams GROUP BY topic ORDER BY topic`

// Readable is nil when all that a database sums up is complete, and by this binary's formulas: what the read API
// waits for. The database is at this binary's schema.
func Readable(ctx context.Context, db Database) error {
	var wrong []error
	err := db.Rows(ctx, database.Query{SQL: allStreams}, func(scan func(...any) error) error {
		var topic, formula, work string
		var schema uint32
		if err := scan(&topic, &schema, &formula, &work); err != nil {
			return err
		}
		e := store.Of(events.Topic(topic))
		switch {
		case e == nil:
		case work != "":
			wrong = append(wrong, fmt.Errorf("%s on %s is in progress", work, topic))
		case schema != clickhouse.Version || formula != e.Formula:
			wrong = append(wrong, fmt.Errorf("%s was written by another release: run `tallyhouse migrate`", e.Table))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read what the database knows of its topics: %w", err)
	}
	return errors.Join(wrong...)
}
