// Package keyrange cuts tables that are sorted by (tenant, project, ...) into ranges, so that work on all of them takes bounded
// memory, shows progress and can begin again in the middle.
package keyrange

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"tallyhouse/ingest/store/database"
)

// Range is some successive projects of one tenant.
type Range struct {
	Tenant string
	From   string // the first project
	To     string // the last one
	Rows   uint64 // about how many rows the tables have there
}

// Where is the condition that a row lies in a range. Its parameters are those of Range.Params.
const Where = `tenant = {tenant:String} AND project >= {from:String} AND project <= {to:String}`

// Params are the parameters of Where.
func (r Range) Params() database.Params {
	return database.Params{"tenant": database.Text(r.Tenant), "from": database.Text(r.From), "to": database.Text(r.To)}
}

const cutLimit = 5 * time.Minute

// Database is what Cut asks.
type Database interface {
	Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error
}

// Cut lists ranges of about the given number of rows, more where a single project has more, that cover all that a table holds, but for
// the position rows.
func Cut(ctx context.Context, db Database, rows uint64, table string) ([]Range, error) {
	return CutWhere(ctx, db, rows, table, "1", nil)
}

// CutWhere is Cut for the rows that meet a condition.
func CutWhere(ctx context.Context, db Database, rows uint64, table, condition string, params database.Params) ([]Range, error) {
	q := "SELECT toString(tenant) AS of, project, count() AS rows FROM " + table + " WHERE tenant != '' AND " + condition + " GROUP BY of, project ORDER BY of, project"
	var all []Range
	err := db.Rows(ctx, database.Query{SQL: q, Params: params, Limit: cutLimit}, func(scan func(...any) error) error {
		var next Range
		if err := scan(&next.Tenant, &next.From, &next.Rows); err != nil {
			return err
		}
		next.To = next.From
		all = extend(all, next, rows)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the projects in %s: %w", table, err)
	}
	return all, nil
}

// extend adds a range behind all others, to the last one if that has room.
func extend(all []Range, next Range, rows uint64) []Range {
	if n := len(all); n > 0 && all[n-1].Tenant == next.Tenant && all[n-1].Rows+next.Rows <= rows {
		all[n-1].To, all[n-1].Rows = next.To, all[n-1].Rows+next.Rows
		return all
	}
	return append(all, next)
}

// Union covers what two lists of ranges cover, each in order. Ranges that overlap become one.
func Union(a, b []Range) []Range {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y Range) int { return cmp.Or(cmp.Compare(x.Tenant, y.Tenant), cmp.Compare(x.From, y.From)) })
	var union []Range
	for _, next := range all {
		if n := len(union); n > 0 && union[n-1].Tenant == next.Tenant && next.From <= union[n-1].To {
			last := &union[n-1]
			last.To, last.Rows = max(last.To, next.To), last.Rows+next.Rows
			continue
		}
		union = append(union, next)
	}
	return union
}
