package reader

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Bounds of the windows that a walk over records reads: so many rows in whatever version, of which those are shown that
// match. A walk whose filter lets little through takes wider ones.
const (
	firstWindow = 4096
	widest      = 1 << 18
	fullWindow  = 4 // a window of which less than one in so many rows is shown is too narrow
)

// RecordWalk goes over all records that match, ascending by id, in pages as large as memory allows. What is there and
// matches during the whole walk is found exactly once.
type RecordWalk struct {
	reader *Reader
	filter RecordFilter
	read   Part[Record]
	after  string // id
	window int
	done   bool
}

// WalkRecords begins a walk that reads the part beside id and project.
func (r *Reader) WalkRecords(filter RecordFilter, read Part[Record]) *RecordWalk {
	return &RecordWalk{reader: r, filter: filter, read: read, window: firstWindow, done: len(filter.Projects) == 0}
}

// Done reports whether the walk has come to its end.
func (w *RecordWalk) Done() bool { return w.done }

// Next returns the next records, perhaps none although more follow. After an error it may be called again.
func (w *RecordWalk) Next(ctx context.Context) ([]Record, error) {
	if w.done {
		return nil, nil
	}
	find := &recordFinder{reader: w.reader, tenant: w.filter.Tenant, part: w.read, projects: w.filter.Projects}
	where, err := find.prepare(ctx, &w.filter)
	if err == nil && w.read.needs(otherTables) && find.at == nil {
		err = find.loadStates(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("walk over records: %w", err)
	}
	for window := w.window; ; window /= 2 {
		upTo, more, err := w.end(ctx, window)
		if err == nil {
			bytes := w.reader.maxPage
			if window == 1 {
				bytes = w.reader.maxResult
			}
			find.reset(within(walkSettings, bytes))
			err = find.read(ctx, walkQuery(&w.filter, w.read, where, w.after, upTo, more))
		}
		if errors.Is(err, ErrTooLarge) && window > 1 {
			w.window = window / 2
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("walk over records: %w", err)
		}
		records, err := find.complete(ctx)
		if err != nil {
			return nil, fmt.Errorf("walk over records: %w", err)
		}
		w.after, w.done = upTo, !more
		if len(records) < window/fullWindow {
			w.window = min(2*window, widest)
		}
		return records, nil
	}
}

// end is the last id of the next window, and whether there is anything behind it.
func (w *RecordWalk) end(ctx context.Context, window int) (id string, more bool, err error) {
	err = w.reader.each(ctx, windowQuery(&w.filter, w.after, window), pageSettings, func(scan func(...any) error) error {
		more = true
		return scan(&id)
	})
	return id, more, err
}

// walkSettings are those of a window: one thread, and one state of the table for all parts of the statement.
var walkSettings = clickhouse.Settings{"max_threads": 1, "max_block_size": 8192,
	"enable_shared_storage_snapshot_in_query": 1}

// windowQuery finds the id at which a window of so many rows ends: the projection by_id has them in this order.
func windowQuery(f *RecordFilter, after string, window int) Query {
	return Query{
		SQL: `SELECT id
FROM records
WHERE tenant = {tenant:String} AND id > {after:String} AND project IN {projects:Array(String)}
ORDER BY tenant, id
LIMIT 1 OFFSET {window:UInt32}`,
		Args: map[string]any{"tenant": f.Tenant, "after": after, "projects": projectIDs(f.Projects), "window": window - 1},
	}
}

// walkQuery reads what matches behind one id, up to another one or to the end.
func walkQuery(f *RecordFilter, read Part[Record], c *conditions, after, upTo string, bounded bool) Query {
	args := map[string]any{"after": after, "projects": projectIDs(f.Projects)}
	for name, value := range c.args {
		args[name] = value
	}
	where := []string{"tenant = {tenant:String}", "project IN {projects:Array(String)}", "id > {after:String}"}
	if bounded {
		where, args["upTo"] = append(where, "id <= {upTo:String}"), upTo
	}
	where = append(append(where, "NOT deleted"), c.sql...)
	return Query{
		SQL: "SELECT " + recordColumns(read).String() + "\nFROM records FINAL\nWHERE " + strings.Join(where, " AND ") +
			"\nORDER BY id, project",
		Args: args, Tables: c.tables,
	}
}
