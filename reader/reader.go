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
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tallyhouse/analytics"
	schema "tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// ErrNotFound says that there is no such entity.
var ErrNotFound = errors.New("not found")

// Limits of every statement.
const (
	maxResultBytes  = 256 << 20 // of what cannot be cut, like a budget
	maxPageBytes    = 20 << 20  // of a page, which is cut
	smallResult     = 2 << 20   // bytes of a page that every request may read
	largeResults    = 2         // pages beyond that which are read at the same time
	maxQueryBytes   = 1 << 20   // the text alone: parameters and tables of ids travel beside it
	codeResultLimit = 396       // TOO_MANY_ROWS_OR_BYTES
)

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
	maxResult  int           // bytes
	large      chan struct{} // one for each page beyond smallResult that is being read
	structures *stateCache[structureKey, *analytics.Structure]
	names      *stateCache[contractorKey, events.Opt[string]]
}

// New makes a reader whose statements may run for as long as the timeout, and no longer than the contexts of their
// callers. Control is where those are ended: connections that no statement of the reader waits for.
func New(conn, control Conn, timeout time.Duration) *Reader {
	return &Reader{
		conn: conn, ender: &ender{conn: control}, timeout: timeout, maxResult: maxResultBytes, large: make(chan struct{}, largeResults),
		structures: newStateCache[structureKey, *analytics.Structure](maxCachedNodes),
		names:      newStateCache[contractorKey, events.Opt[string]](maxCachedNames),
	}
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

// prepare makes the context and the arguments of a statement, which ends when the caller's context does. The returned
// function must be called when it has ended. The driver does not hear of the caller's context: see ender.
func (r *Reader) prepare(ctx context.Context, q Query, settings clickhouse.Settings) (context.Context, []any, func()) {
	limit := r.timeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}
	all := clickhouse.Settings{
		"max_execution_time": max(1, int(math.Ceil(limit.Seconds()))),
		"max_result_bytes":   r.maxResult,
		"max_query_size":     maxQueryBytes,
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
	return clickhouse.Context(context.WithoutCancel(ctx), clickhouse.WithSettings(all), clickhouse.WithQueryID(id),
		clickhouse.WithExternalTable(q.Tables...)), args, r.ender.watch(ctx, id)
}

// countSettings are those of a count over many records: a statement may not take the whole server.
var countSettings = clickhouse.Settings{"max_threads": 2}

// page reads a page that is asked for by its limit, and cuts it by halves until its result is within its bound. A large
// one waits for its turn: few are read at the same time. Read starts over each time that it is called.
func (r *Reader) page(ctx context.Context, limit int, read func(limit int, settings clickhouse.Settings) error) error {
	within := func(limit, bytes int) error {
		settings := maps.Clone(pageSettings)
		settings["max_result_bytes"] = min(bytes, r.maxResult)
		return read(limit, settings)
	}
	err := within(limit, smallResult)
	if !tooLarge(err) {
		return err
	}
	select {
	case r.large <- struct{}{}:
		defer func() { <-r.large }()
	case <-ctx.Done():
		return fmt.Errorf("wait to read a large page: %w", ctx.Err())
	}
	for ; ; limit /= 2 {
		if err := within(limit, maxPageBytes); !tooLarge(err) || limit <= 1 {
			return err
		}
	}
}

// each runs the query and calls row for every row of its result, to scan it.
func (r *Reader) each(ctx context.Context, q Query, settings clickhouse.Settings,
	row func(scan func(dest ...any) error) error) (err error) {
	defer func() {
		if left := ctx.Err(); err != nil && left != nil {
			err = fmt.Errorf("a statement was ended: %w: %w", left, err)
		}
	}()
	if err := ctx.Err(); err != nil {
		return err
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

// exec runs a statement without a result.
func (r *Reader) exec(ctx context.Context, q Query) error {
	statement, args, ended := r.prepare(ctx, q, nil)
	defer ended()
	return r.conn.Exec(statement, q.SQL, args...)
}

// Ping asks the database for a sign of life.
func (r *Reader) Ping(ctx context.Context) error {
	return r.each(ctx, Query{SQL: "SELECT 1"}, nil, func(func(...any) error) error { return nil })
}

// tooLarge reports whether a result went over its bound.
func tooLarge(err error) bool {
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
