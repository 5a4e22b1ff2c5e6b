// Package keyrange cuts tables that are sorted by (tenant, project, ...) into ranges, so that work on all of them
// takes bounded memory, shows progress and can begin again in the middle.
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

// String names the range in messages.
func (r Range) String() string {
	return fmt.Sprintf("tenant %q, projects %q to %q", r.Tenant, r.From, r.To)
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

// Source is a table whose rows are cut, and which of them: an SQL condition, "" for all.
type Source struct{ Table, Condition string }

// Cut lists ranges of about the given number of rows, more where a single project has more, that cover all that the
// sources hold together, but for the position rows. params are those of the conditions.
func Cut(ctx context.Context, db Database, rows uint64, params database.Params, sources ...Source) ([]Range, error) {
	var projects []string
	for _, s := range sources {
		where := "tenant != ''"
		if s.Condition != "" {
			where += " AND " + s.Condition
		}
		projects = append(projects,
			"SELECT toString(tenant) AS of, project, count() AS found FROM "+s.Table+" WHERE "+where+" GROUP BY of, project")
	}
	q := "SELECT of, project, sum(found) FROM (" + strings.Join(projects, " UNION ALL ") + ") GROUP BY of, project ORDER BY of, project"
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
		return nil, fmt.Errorf("list the projects in %s: %w", sources, err)
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
