package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// How far a table has come is asked with nearly every request, and changes seldom. A part of a table never changes: whatever changes
// the table adds parts or takes some away. So what was found in it holds for as long as it consists of the same parts, and to list
// these costs the engine less than to read anything of them (docs/performance.md#reads).

// progress says how far something has come.
type progress struct{ of, state string }

// progressQuery reads how far these tables have come, each row behind the name of its table. Position rows are at the beginning of the key.
func progressQuery(tables ...string) Query {
	branches := make([]string, len(tables))
	for i, table := range tables {
		switch selected := "SELECT '" + table + "' AS of_table, "; table {
		case tableSums:
			branches[i] = selected + `project AS of, concat(toString(sum(position)), ' ', toString(sum(squares))) AS state
FROM sums
WHERE tenant = ''
GROUP BY project`
		case tableStreams:
			// The newest row of a topic on each shard: its life changes when the database is rebuilt or follows another stream.
			branches[i] = selected + `concat(topic, ' ', toString(shard)) AS of, if(argMax(work, revision) = '', argMax(life, revision), '') AS state
FROM streams
GROUP BY topic, shard`
		default:
			branches[i] = selected + "project AS of, toString(max(row_version)) AS state\nFROM " + table + `
WHERE tenant = ''
GROUP BY project`
		}
	}
	return Query{SQL: strings.Join(branches, "\nUNION ALL\n")}
}

// Tables whose progress is something else than positions of theirs: of sums it is that of all views, of streams the life of each, the
// empty text while somebody works on its tables.
const (
	tableSums    = "sums"
	tableStreams = "streams"
)

// tableParts are the parts that a table consists of, each on a line: its name, and a digest of what is in its files.
type tableParts string

// alwaysFilled is a table that has parts in every database whose parts can be listed at all: a Distributed table has none.
const alwaysFilled = "migrations"

// partsQuery lists the parts of tables. Their names alone would not do: a table that is made anew counts them from 1 again.
func partsQuery(tables []string) Query {
	return Query{
		SQL: `SELECT table, concat(name, ' ', hash_of_all_files)
FROM system.parts
WHERE database = currentDatabase() AND active AND table IN {tables:Array(String)}`,
		Args: map[string]any{"tables": append([]string{alwaysFilled}, tables...)},
	}
}

// partsSettings are those of a statement that lists parts.
var partsSettings = clickhouse.Settings{"max_threads": 1}

// codeAccessDenied is ACCESS_DENIED.
const codeAccessDenied = 497

// keptProgress is how far tables had come when they consisted of certain parts.
type keptProgress struct {
	mu         sync.Mutex
	of         map[string]tableProgress // by table, of which there are few
	unlistable bool                     // several servers share the tables, or the user may not list their parts
}

type tableProgress struct {
	parts    tableParts
	progress []progress
}

// progress returns how far tables have come. A table is read only when its parts are others than the last time. Nobody changes what this
// returns.
func (r *Reader) progress(ctx context.Context, tables ...string) (map[string][]progress, error) {
	parts, err := r.parts(ctx, tables)
	if err != nil {
		return nil, err
	}
	return r.progressAt(ctx, parts, tables)
}

// progressAt returns how far tables have come whose parts were just listed.
func (r *Reader) progressAt(ctx context.Context, parts map[string]tableParts, tables []string) (map[string][]progress, error) {
	found, missing := r.progressKept.at(parts, tables)
	if len(missing) == 0 {
		return found, nil
	}
	var table string
	var s progress
	err := r.each(ctx, progressQuery(missing...), positionSettings, func(scan func(...any) error) error {
		err := scan(&table, &s.of, &s.state)
		found[table] = append(found[table], s)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the positions of tables: %w", err)
	}
	r.progressKept.keep(found, parts, missing)
	return found, nil
}

// parts lists what tables consist of now; nothing where parts can't be listed. An empty table has none.
func (r *Reader) parts(ctx context.Context, tables []string) (map[string]tableParts, error) {
	if r.progressKept.cannotBeListed() {
		return nil, nil
	}
	listed := make(map[string][]string)
	var table, part string
	err := r.each(ctx, partsQuery(tables), partsSettings, func(scan func(...any) error) error {
		err := scan(&table, &part)
		listed[table] = append(listed[table], part)
		return err
	})
	if refused := (*clickhouse.Exception)(nil); errors.As(err, &refused) && refused.Code == codeAccessDenied {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the parts of tables: %w", err)
	}
	if listed[alwaysFilled] == nil {
		r.progressKept.listNoMore()
		return nil, nil
	}
	parts := make(map[string]tableParts, len(tables))
	for _, table := range tables {
		slices.Sort(listed[table])
		parts[table] = tableParts(strings.Join(listed[table], "\n"))
	}
	return parts, nil
}

// at returns how far tables have come that consist of these parts, as far as that is kept, and of which tables it isn't.
func (k *keptProgress) at(parts map[string]tableParts, tables []string) (found map[string][]progress, missing []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found = make(map[string][]progress, len(tables))
	for _, table := range tables {
		now, listed := parts[table]
		before, kept := k.of[table]
		switch {
		case listed && now == "": // it is empty
		case kept && listed && before.parts == now:
			found[table] = before.progress
		default:
			missing = append(missing, table)
		}
	}
	return found, missing
}

// keep keeps how far tables have come, which was read after their parts had been listed.
func (k *keptProgress) keep(found map[string][]progress, parts map[string]tableParts, tables []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, table := range tables {
		if now, listed := parts[table]; listed {
			k.of[table] = tableProgress{now, found[table]}
		}
	}
}

func (k *keptProgress) cannotBeListed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.unlistable
}

func (k *keptProgress) listNoMore() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unlistable = true
}
