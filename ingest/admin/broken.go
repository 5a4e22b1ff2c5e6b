package admin

import (
	"context"
	"fmt"
	"time"

	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
)

const sums = "sums" // the table

// brokenParts lists the parts of a table that the server put aside when it could not read them.
func brokenParts(ctx context.Context, db Database, table string) ([]string, error) {
	all, err := position.BrokenParts(ctx, db, table)
	return all[table], err
}

// dropParts forgets detached parts whose rows are in the table again.
func dropParts(ctx context.Context, db Database, table string, parts []string) error {
	if len(parts) == 0 {
		return nil
	}
	if err := db.Exec(ctx, database.Statement{SQL: position.DropDetached(table, parts), Limit: time.Minute}); err != nil {
		return fmt.Errorf("drop the broken parts %q of %s: %w", parts, table, err)
	}
	return nil
}

// stateIsWhole is nil when no part of the state table was put aside as broken. A rebuild would take the rows that are
// left for the truth.
func (s *Session) stateIsWhole(ctx context.Context) error {
	parts, err := brokenParts(ctx, s.db, s.entity.Table)
	if err != nil || len(parts) == 0 {
		return err
	}
	what, remedy := position.LostRows(s.entity.Table, parts)
	return position.Refuse("%s: %s", what, remedy)
}
