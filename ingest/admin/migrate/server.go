package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
)

const codeUnknownTable = 60

// isMissing reports whether the error is about a table that does not exist.
func isMissing(err error) bool {
	var exception *driver.Exception
	return errors.As(err, &exception) && exception.Code == codeUnknownTable
}

const tables = `SELECT name, engine, engine_full FROM system.tables WHERE database = {database:String}`

// CheckServer checks what the protocol relies on: its release, its settings, the engines of the tables and, where the
// target is durable, that an insert reaches the disk before it counts. The database is at this binary's schema. It
// reports all that is wrong at once.
func CheckServer(ctx context.Context, db *database.Server, t clickhouse.Target) error {
	wrong := []error{db.CheckSettings(ctx)}
	engine, full := map[string]string{}, map[string]string{}
	err := db.Rows(ctx, database.Query{SQL: tables, Params: database.Params{"database": db.Name()}}, func(scan func(...any) error) error {
		var name, kind, text string
		if err := scan(&name, &kind, &text); err != nil {
			return err
		}
		engine[name], full[name] = kind, text
		return nil
	})
	if err != nil {
		return fmt.Errorf("ask ClickHouse at %s for its tables: %w", db.Addr(), err)
	}
	t.Replicated = strings.HasPrefix(engine["sums"], "Replicated") // all of them are, or none
	want := expectedEngines(t)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if engine[name] != want[name] {
			wrong = append(wrong, fmt.Errorf("table %s of database %s has engine %q where %s is needed: restore the "+
				"database, or ingest into an empty one", name, db.Name(), engine[name], want[name]))
			continue
		}
		if missing := notDurable(full[name]); t.Durable && strings.HasSuffix(want[name], "MergeTree") && missing != "" {
			wrong = append(wrong, fmt.Errorf("table %s of database %s does not write through to the disk, a power "+
				"loss would tear it: run ALTER TABLE %s.%s MODIFY SETTING %s",
				name, db.Name(), clickhouse.Quote(db.Name()), name, missing))
		}
	}
	return errors.Join(wrong...)
}

// expectedEngines are the engines of the tables that the protocol writes.
func expectedEngines(t clickhouse.Target) map[string]string {
	family := ""
	if t.Replicated {
		family = "Replicated"
	}
	want := map[string]string{
		"fences": "Memory", "migrations": family + "ReplacingMergeTree", "streams": family + "MergeTree",
		"sums": family + "SummingMergeTree",
	}
	for _, e := range store.All() {
		want[e.Table] = family + "ReplacingMergeTree"
		if e.Contributes() {
			want[clickhouse.Trigger(e.Table)] = "MaterializedView"
		}
	}
	return want
}

// notDurable are the settings that a table lacks to survive a power loss, "" when it has them.
func notDurable(engine string) string {
	var missing []string
	for _, setting := range clickhouse.DurableSettings() {
		if !strings.Contains(engine, setting) {
			missing = append(missing, setting)
		}
	}
	return strings.Join(missing, ", ")
}
