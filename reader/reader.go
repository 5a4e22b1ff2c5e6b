// Package reader turns rows of the database into values of the ledger: one file per resource. Every query is a plain
// value, its SQL with bound parameters, and every result has a bound.
package reader

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tallyhouse/analytics"
	schema "tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

var (
	// ErrNotFound says that there is no such entity.
	ErrNotFound = errors.New("not found")
	// ErrTooLarge says that a result is beyond its bound and cannot be cut.
	ErrTooLarge = errors.New("the result is larger than it may be")
)

// Limits of every statement.
const (
	maxResultBytes  = 64 << 20  // of what cannot be cut, like a budget or a single item
	maxPageBytes    = 20 << 20  // of a page, which is cut
	smallResult     = 4 << 20   // of a small reader
	maxAccessBytes  = 256 << 20 // of a table that decides about access; it is not kept as it is read
	maxQueryBytes   = 1 << 20   // the text alone: parameters and tables of ids travel beside it
	cut             = 4         // a page that is too large is asked for anew with so many times fewer items
	codeResultLimit = 396       // TOO_MANY_ROWS_OR_BYTES
)

// projectKey names a project.
type projectKey struct{ tenant, project string }

// Conn is what the reader needs of a connection to ClickHouse; clickhouse.Conn is one.
type Conn interface {
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
	Exec(ctx context.Context, query string, args ...any) error
}

// Reader asks the database.
type Reader struct {
	conn       Conn
	ender      *ender
	timeout    time.Duration
	maxResult  int // bytes
	maxPage    int // bytes
	small      bool
	turn       Turn // nil: a statement never waits
	structures *stateCache[structureKey, *analytics.Structure]
	names      *stateCache[contractorKey, events.Opt[string]]
	costs      *stateCache[estimateKey, analytics.Int128]
	keptPlans  *stateCache[projectKey, []analytics.LinePlan]
	entries    *stateCache[projectKey, []analytics.UncommittedEntry]

	sums         *stateCache[sumsKey, keptSums]
	filling      *sync.Mutex // of the sums of a project of which nothing is kept
	progressKept *keptProgress
	own          *stateCache[tenantTable, string] // states of what a tenant has in a table, by that of the table
	noProjection *atomic.Bool                     // the tables' projections cannot be read by themselves
}

// New makes a reader whose statements may run for as long as the timeout, and no longer than the contexts of their
// callers. Control is where those are ended: connections that no statement of the reader waits for.
func New(conn, control Conn, timeout time.Duration) *Reader {
	return &Reader{
		conn: conn, ender: &ender{conn: control}, timeout: timeout, maxResult: maxResultBytes, maxPage: maxPageBytes,
		structures: newStateCache[structureKey, *analytics.Structure](maxCachedStructures),
		names:      newStateCache[contractorKey, events.Opt[string]](maxCachedNames),
		costs:      newStateCache[estimateKey, analytics.Int128](maxCachedEstimates),
		keptPlans:  newStateCache[projectKey, []analytics.LinePlan](maxCachedPlans),
		entries:    newStateCache[projectKey, []analytics.UncommittedEntry](maxCachedEntries),

		sums:         newStateCache[sumsKey, keptSums](maxKeptSums),
		filling:      new(sync.Mutex),
		progressKept: &keptProgress{of: make(map[string]tableProgress)},
		own:          newStateCache[tenantTable, string](maxOwnStates),
		noProjection: new(atomic.Bool),
	}
}

// Small is the same reader for results that any number of requests may read at the same time: a larger one is
// ErrTooLarge, and pages are not cut.
func (r *Reader) Small() *Reader {
	small := *r
	small.maxResult, small.maxPage, small.small = min(smallResult, r.maxResult), min(smallResult, r.maxPage), true
	return &small
}

// Turn waits until a statement may be sent, for as long as the context lasts. Done must be called when it has ended.
type Turn func(ctx context.Context) (done func(), err error)

// Queued is the same reader, each of whose statements waits for its turn.
func (r *Reader) Queued(turn Turn) *Reader {
	queued := *r
	queued.turn = turn
	return &queued
}

// Query is a statement with the values of its parameters, {name:Type} in the text, and the tables of values that it
// looks into.
type Query struct {
	SQL    string
	Args   map[string]any
	Tables []*ext.Table
}

// pageSettings are those of a page: one thread that reads little blocks in the order of the key reads the least, and
// all parts of the statement see one state of a table, so that an entity that moves between projects is in one of them.
var pageSettings = clickhouse.Settings{"max_threads": 1, "max_block_size": 1024,
	"enable_shared_storage_snapshot_in_query": 1}

// silence is how long the server may still say nothing when a statement's time is over, which it bounds itself: then it hangs.
const silence = 3 * time.Second

// prepare makes the context and the arguments of a statement, which ends when the caller's context does. The returned
// function must be called when it has ended. The driver does not hear of the caller's context, see ender, but gives up a server that
// hangs: away knows that by the context.
func (r *Reader) prepare(ctx context.Context, q Query, settings clickhouse.Settings) (context.Context, []any, func()) {
	limit := r.timeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}
	all := clickhouse.Settings{
		"max_execution_time": max(1, int(math.Ceil(limit.Seconds()))),
		"max_result_bytes":   r.maxResult,
		"max_query_size":     maxQueryBytes,
		// Of each part little is read, and the engine makes a buffer and fills it whole.
		"max_read_buffer_size_local_fs": 32 << 10,
		// What parts know of themselves answers none of our questions, and takes a twentieth of a small statement to look for.
		"optimize_use_implicit_projections": 0,
		// Machine code for expressions spares nothing that can be measured of what we read, but to make it when a statement comes for
		// the fourth time takes as long as one to three of them.
		"compile_expressions": 0, "compile_aggregate_expressions": 0, "compile_sort_description": 0,
	}
	for name, value := range schema.WholeSettings() {
		all[name] = value
	}
	maps.Copy(all, settings)
	args := make([]any, 0, len(q.Args))
	for name, value := range q.Args {
		args = append(args, clickhouse.Named(name, value))
	}
	id := "tallyhouse-" + rand.Text()
	// Not by a deadline, which the driver would take for the server's limit.
	statement, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	silent := time.AfterFunc(limit+silence, func() { giveUp(errSilent) })
	gone := r.ender.watch(ctx, id)
	ended := func() {
		gone()
		silent.Stop()
		giveUp(nil)
	}
	return clickhouse.Context(statement, clickhouse.WithSettings(all), clickhouse.WithQueryID(id),
		clickhouse.WithExternalTable(q.Tables...), clickhouse.WithoutProfileEvents()), args, ended
}

// countSettings are those of a count over many records: a statement may not take the whole server.
var countSettings = clickhouse.Settings{"max_threads": 2}

// page reads a page of up to limit items, and returns how many it has and whether others may follow. It asks for one
// item more than the page may have, and cuts the page until the result is within its bound: a single item may take as much
// as what cannot be cut. Read starts over each time that it is called, and returns how many items it found.
func (r *Reader) page(ctx context.Context, settings clickhouse.Settings, limit int,
	read func(ask int, settings clickhouse.Settings) (found int, err error)) (has int, more bool, err error) {
	for ; ; limit = max(1, limit/cut) {
		found, err := read(limit+1, within(settings, r.maxPage))
		if err == nil {
			return min(found, limit), found > limit, nil
		}
		if r.small || !errors.Is(err, ErrTooLarge) {
			return 0, false, err
		}
		if limit == 1 {
			break
		}
	}
	// Two are too large together, so one follows the other.
	has, err = read(1, within(settings, r.maxResult))
	return has, has > 0, err
}

// within are the settings of a statement whose result may have so many bytes.
func within(settings clickhouse.Settings, bytes int) clickhouse.Settings {
	settings = maps.Clone(settings)
	settings["max_result_bytes"] = bytes
	return settings
}

// fewer looks up what belongs to the items of a page, in results of so many bytes: for some of the items when that is too
// much for all. It reports whether items were left out.
func (r *Reader) fewer(items int, lookUp func(items, bytes int) error) (fewer bool, err error) {
	for ; items > 1; items, fewer = max(1, items/cut), true {
		if err := lookUp(items, r.maxPage); r.small || !errors.Is(err, ErrTooLarge) {
			return fewer, err
		}
	}
	return fewer, lookUp(items, r.maxResult)
}

// each runs the query and calls row for every row of its result, to scan it.
func (r *Reader) each(ctx context.Context, q Query, settings clickhouse.Settings,
	row func(scan func(dest ...any) error) error) (err error) {
	statement := ctx
	defer func() {
		if away(statement, err) {
			err = fmt.Errorf("%w: %w", ErrAway, err)
		}
		switch left := ctx.Err(); {
		case err != nil && left != nil:
			err = fmt.Errorf("a statement was ended: %w: %w", left, err)
		case beyondBound(err):
			err = fmt.Errorf("%w: %w", ErrTooLarge, err)
		}
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.turn != nil {
		done, err := r.turn(ctx)
		if err != nil {
			return err
		}
		defer done()
	}
	statement, args, ended := r.prepare(ctx, q, settings)
	defer ended()
	rows, err := r.conn.Query(statement, q.SQL, args...)
	if err != nil {
		return err
	}
	defer func() {
		if closed := rows.Close(); err == nil {
			err = closed
		}
	}()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// exec runs a statement without a result. Over several shards it has ended where rows belong before it returns.
func (r *Reader) exec(ctx context.Context, q Query) error {
	statement, args, ended := r.prepare(ctx, q, clickhouse.Settings{"distributed_foreground_insert": 1})
	defer ended()
	err := r.conn.Exec(statement, q.SQL, args...)
	if away(statement, err) {
		err = fmt.Errorf("%w: %w", ErrAway, err)
	}
	return err
}

// Threads asks the database how many threads it has for a statement: its processors, unless the user's profile says
// otherwise.
func (r *Reader) Threads(ctx context.Context) (int, error) {
	var threads uint64
	err := r.each(ctx, Query{SQL: "SELECT toUInt64(getSetting('max_threads'))"}, nil,
		func(scan func(...any) error) error { return scan(&threads) })
	if err != nil {
		return 0, fmt.Errorf("ask for the database's threads: %w", err)
	}
	return int(threads), nil
}

// beyondBound reports whether the engine refused a result because of its size.
func beyondBound(err error) bool {
	var refused *clickhouse.Exception
	return errors.As(err, &refused) && refused.Code == codeResultLimit
}

// idTable is a table of rows of strings that a query looks into, for sets that may be too long for its text.
func idTable(name string, columns []string, rows [][]string) (*ext.Table, error) {
	definition := make([]func(*ext.Table) error, 0, len(columns))
	for _, column := range columns {
		definition = append(definition, ext.Column(column, "String"))
	}
	table, err := ext.NewTable(name, definition...)
	if err != nil {
		return nil, fmt.Errorf("make the table %s: %w", name, err)
	}
	values := make([]any, len(columns))
	for _, row := range rows {
		for i, value := range row {
			values[i] = value
		}
		if err := table.Append(values...); err != nil {
			return nil, fmt.Errorf("fill the table %s: %w", name, err)
		}
	}
	return table, nil
}
