package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
)

// brokenParts says what parts that the server put aside mean for each partition of an entity, nil if there is none:
// positions would not always show it.
func brokenParts(ctx context.Context, db Database, e *store.Entity) (*position.Inconsistent, error) {
	parts, err := position.BrokenParts(ctx, db, tablesOf(e)...)
	if err != nil {
		return nil, err
	}
	if lost := parts[e.Table]; len(lost) > 0 {
		what, remedy := position.LostRows(e.Table, lost)
		return &position.Inconsistent{What: what, Remedy: remedy}, nil
	}
	if lost := parts[sums]; len(lost) > 0 {
		return &position.Inconsistent{What: fmt.Sprintf("parts of %s are detached as broken (%s)", sums, strings.Join(lost, ", "))}, nil
	}
	return nil, nil
}

const sums = "sums" // the table

// tablesOf are the tables that an entity's batches are written to.
func tablesOf(e *store.Entity) []string {
	if e.Contributes() {
		return []string{e.Table, sums}
	}
	return []string{e.Table}
}

const unsettled = `
SELECT concat(table, if(is_readonly, ' is read-only: its replica has lost its Keeper', concat(' has ', toString(parts_to_check),
  ' parts that its replica still has to check')))
FROM system.replicas
WHERE database = {database:String} AND table IN {tables:Array(String)} AND (is_readonly OR parts_to_check > 0)
ORDER BY table LIMIT 1`

// replicasSettled is nil when no part of the tables is to be checked: a replica may drop one, minutes later, whose commit
// Keeper never confirmed. Tables without replicas have none.
func replicasSettled(ctx context.Context, db Database, e *store.Entity) error {
	what := ""
	q := database.Query{SQL: unsettled, Params: database.Params{"database": db.Name(), "tables": database.Texts(tablesOf(e))}}
	if err := db.Rows(ctx, q, func(scan func(...any) error) error { return scan(&what) }); err != nil {
		return fmt.Errorf("ask for the replicas of %s: %w", e.Table, err)
	}
	if what != "" {
		return errors.New(what)
	}
	return nil
}
