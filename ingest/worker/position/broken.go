package position

import (
	"context"
	"fmt"
	"strings"

	"tallyhouse/ingest/store/database"
)

const detached = `
SELECT table, name FROM system.detached_parts
WHERE database = {database:String} AND table IN {tables:Array(String)} AND startsWith(reason, 'broken')
ORDER BY table, name`

// BrokenParts lists, by table, the parts that the server put aside when it could not read them. Positions need not show
// that they are missing: one is a maximum, the other a sum.
func BrokenParts(ctx context.Context, db Database, tables ...string) (map[string][]string, error) {
	parts := map[string][]string{}
	q := database.Query{SQL: detached, Params: database.Params{"database": db.Name(), "tables": database.Texts(tables)}}
	err := db.Rows(ctx, q, func(scan func(...any) error) error {
		var table, name string
		err := scan(&table, &name)
		parts[table] = append(parts[table], name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for broken parts of %s: %w", strings.Join(tables, ", "), err)
	}
	return parts, nil
}

// DropDetached is the statement that forgets detached parts of a table.
func DropDetached(table string, parts []string) string {
	var drops []string
	for _, part := range parts {
		quoted := strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(part)
		drops = append(drops, "DROP DETACHED PART '"+quoted+"'")
	}
	return "ALTER TABLE " + table + " " + strings.Join(drops, ", ") + " SETTINGS allow_drop_detached = 1"
}

// LostRows says what broken parts of a state table mean, and what brings their rows back: nothing that is computed from
// the rows that are left (docs/commands.md#tallyhouse-rebuild).
func LostRows(table string, parts []string) (what, remedy string) {
	what = fmt.Sprintf("parts of %s are detached as broken (%s): their rows are missing, and `tallyhouse rebuild` would take "+
		"those that are left for all", table, strings.Join(parts, ", "))
	remedy = "either restore a backup of the database and run `tallyhouse adopt`; or ingest the log into an empty database: run " +
		"`tallyhouse migrate` and the workers with another --clickhouse-database and another --group. " +
		"When the rows are back, drop what is left of the parts: " + DropDetached(table, parts)
	return what, remedy
}
