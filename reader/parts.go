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

// stand says how far something has come.
type stand struct{ of, state string }

// standsQuery reads how these tables stand, each row behind the name of its table. Position rows are at the beginning of the key.
func standsQuery(tables ...string) Query {
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

// Tables that stand in ways of their own: sums at positions of all views, streams in the life of each, the empty text while
// somebody works on its tables.
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

// keptStands are how tables stood when they consisted of certain parts.
type keptStands struct {
	mu         sync.Mutex
	of         map[string]standsAt // by table, of which there are few
	unlistable bool                // several servers share the tables, or the user may not list their parts
}

type standsAt struct {
	parts  tableParts
	stands []stand
}

// stands returns how tables stand now. A table is read only when its parts are others than the last time. Nobody changes what this
// returns.
func (r *Reader) stands(ctx context.Context, tables ...string) (map[string][]stand, error) {
	parts, err := r.parts(ctx, tables)
	if err != nil {
		return nil, err
	}
	return r.standsAt(ctx, parts, tables)
}

// standsAt returns how tables stand now whose parts were just listed.
func (r *Reader) standsAt(ctx context.Context, parts map[string]tableParts, tables []string) (map[string][]stand, error) {
	stands, missing := r.stood.at(parts, tables)
	if len(missing) == 0 {
		return stands, nil
	}
	var table string
	var s stand
	err := r.each(ctx, standsQuery(missing...), positionSettings, func(scan func(...any) error) error {
		err := scan(&table, &s.of, &s.state)
		stands[table] = append(stands[table], s)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the positions of tables: %w", err)
	}
	r.stood.keep(stands, parts, missing)
	return stands, nil
}

// parts lists what tables consist of now; nothing where parts can't be listed. An empty table has none.
func (r *Reader) parts(ctx context.Context, tables []string) (map[string]tableParts, error) {
	if r.stood.cannotBeListed() {
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
		r.stood.listNoMore()
		return nil, nil
	}
	parts := make(map[string]tableParts, len(tables))
	for _, table := range tables {
		slices.Sort(listed[table])
		parts[table] = tableParts(strings.Join(listed[table], "\n"))
	}
	return parts, nil
}

// at returns how tables stand that consist of these parts, as far as that is kept, and of which tables it isn't.
func (k *keptStands) at(parts map[string]tableParts, tables []string) (stands map[string][]stand, missing []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	stands = make(map[string][]stand, len(tables))
	for _, table := range tables {
		now, listed := parts[table]
		before, kept := k.of[table]
		switch {
		case listed && now == "": // nothing stands there
		case kept && listed && before.parts == now:
			stands[table] = before.stands
		default:
			missing = append(missing, table)
		}
	}
	return stands, missing
}

// keep keeps how tables stand, which was read after their parts had been listed.
func (k *keptStands) keep(stands map[string][]stand, parts map[string]tableParts, tables []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, table := range tables {
		if now, listed := parts[table]; listed {
			k.of[table] = standsAt{now, stands[table]}
		}
	}
}

func (k *keptStands) cannotBeListed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.unlistable
}

func (k *keptStands) listNoMore() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unlistable = true
}
