// Package keyrange cuts tables that are sorted by (tenant, project, ...) into ranges, so that work on all of them takes bounded
// memory, shows progress and can begin again in the middle.
package keyrange

import (
	"context"
	"fmt"
	"strings"
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

// Positions is the range of the position rows, which Cut leaves out.
func Positions() Range { return Range{To: "\U0010FFFF"} }

const cutLimit = 5 * time.Minute

// Database is what Cut asks.
type Database interface {
	Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error
}

// Cut lists ranges of about the given number of rows, more where a single project has more, that cover all that any of the tables
// holds, but for the position rows.
func Cut(ctx context.Context, db Database, rows uint64, tables ...string) ([]Range, error) {
	var counts []string
	for _, t := range tables {
		counts = append(counts, "SELECT toString(tenant) AS of, project, count() AS rows FROM "+t+
			" WHERE tenant != '' GROUP BY of, project")
	}
	q := "SELECT of, project, sum(rows) FROM (" + strings.Join(counts, " UNION ALL ") + ") GROUP BY of, project ORDER BY of, project"
	var all []Range
	err := db.Rows(ctx, database.Query{SQL: q, Limit: cutLimit}, func(scan func(...any) error) error {
		var next Range
		if err := scan(&next.Tenant, &next.From, &next.Rows); err != nil {
			return err
		}
		if n := len(all); n > 0 && all[n-1].Tenant == next.Tenant && all[n-1].Rows+next.Rows <= rows {
			all[n-1].To, all[n-1].Rows = next.From, all[n-1].Rows+next.Rows
			return nil
		}
		next.To = next.From
		all = append(all, next)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the projects in %s: %w", strings.Join(tables, ", "), err)
	}
	return all, nil
}
