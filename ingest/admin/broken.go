package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
)

const sums = "sums" // the table

const detached = `
SELECT name FROM system.detached_parts
WHERE database = {database:String} AND table = {table:String} AND startsWith(reason, 'broken') ORDER BY name`

// brokenParts lists the parts of a table that the server put aside when it could not read them.
func brokenParts(ctx context.Context, db Database, table string) (parts []string, err error) {
	q := database.Query{SQL: detached, Params: database.Params{"database": db.Name(), "table": table}}
	err = db.Rows(ctx, q, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		parts = append(parts, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for broken parts of %s: %w", table, err)
	}
	return parts, nil
}

// dropParts forgets detached parts whose rows are in the table again.
func dropParts(ctx context.Context, db Database, table string, parts []string) error {
	for _, part := range parts {
		if err := db.Exec(ctx, database.Statement{SQL: dropDetached(table, part), Limit: time.Minute}); err != nil {
			return fmt.Errorf("drop the broken part %s of %s: %w", part, table, err)
		}
	}
	return nil
}

func dropDetached(table, part string) string {
	quoted := strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(part)
	return "ALTER TABLE " + table + " DROP DETACHED PART '" + quoted + "' SETTINGS allow_drop_detached = 1"
}

// stateIsWhole is nil when no part of the state table was put aside as broken. A rebuild would take the rows that are
// left for the truth.
func (s *Session) stateIsWhole(ctx context.Context) error {
	table := s.entity.Table
	parts, err := brokenParts(ctx, s.db, table)
	if err != nil || len(parts) == 0 {
		return err
	}
	return position.Refuse("parts of %s are detached as broken (%s): their rows are missing, and sums can't be rebuilt without them. "+
		"Either restore a backup of the database and run `tallyhouse adopt`; or ingest the log into an empty database: run "+
		"`tallyhouse migrate` and the workers with another --clickhouse-database and another --group. "+
		"When the rows are back, drop what is left of the parts: %s",
		table, strings.Join(parts, ", "), dropDetached(table, parts[0]))
}
