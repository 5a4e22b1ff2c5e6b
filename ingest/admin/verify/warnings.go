package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
)

// Warning is something that is stored as it came and makes no sense beside the rest, or that an operator should know.
// It is no drift: what reads the data handles it.
type Warning struct {
	What  string   `json:"what"`
	Count uint64   `json:"count"`
	First []string `json:"first,omitempty"`
}

const warningLimit = 5 * time.Minute

// warning is how one kind of warning is found: a query whose rows are one text each.
type warning struct {
	what   string
	tables []string // it is asked only where this binary stores them all
	query  string
}

const (
	liveProjects = `(SELECT tenant, project FROM projects FINAL WHERE tenant != '' AND NOT deleted)`
	live         = `tenant != '' AND NOT deleted AND NOT moved`
)

// ofFacilities are the tables whose entities belong to a facility, which stands where others have a project.
func ofFacilities() []string { return []string{"fixings", "facility_entries"} }

// ofProjects are the tables whose entities belong to a project.
func ofProjects() []string {
	var tables []string
	for _, e := range store.All() {
		if e.Table != "projects" && !slices.Contains(ofFacilities(), e.Table) {
			tables = append(tables, e.Table)
		}
	}
	return tables
}

// rollNames lists the rolls that this binary knows, for a query.
func rollNames() string {
	var names []string
	for _, id := range clickhouse.Rolls() {
		names = append(names, "'"+id.Roll().Name+"'")
	}
	return strings.Join(names, ", ")
}

// ofIngest are about what the worker and this program write for themselves.
func ofIngest() []warning {
	return []warning{
		{
			what:   "offsets that the log no longer had when a writer came to them: ingest those messages again from their source",
			tables: nil,
			query: `SELECT concat(topic, ' partition ', toString(partition), ': ', toString(from_offset), ' to ', toString(to_offset))
				FROM gaps FINAL ORDER BY 1`,
		},
		{
			what: "work in progress, which only the same work, done again, ends",
			query: `SELECT concat(topic, ': ', newest.3, ' by ', newest.4, ' since ', toString(newest.5))
				FROM (SELECT topic, max((revision, life, work, worker, since)) AS newest FROM streams GROUP BY topic)
				WHERE newest.3 != '' ORDER BY 1`,
		},
		{
			what: "holds: writers are kept out; when the holder is dead, `tallyhouse release TOPIC` ends it",
			query: `SELECT concat(topic, ' partition ', toString(partition), ': ', splitByChar('/', newest.2)[1], ' since ', toString(newest.4))
				FROM (SELECT topic, partition, max((epoch, owner, held, since)) AS newest FROM fences GROUP BY topic, partition)
				WHERE newest.3 ORDER BY 1`,
		},
		{
			what: "parts that the server put aside as broken: nobody writes to their tables until `tallyhouse rebuild` corrected the sums, " +
				"or says what is lost",
			query: `SELECT concat(table, ': ', name) FROM system.detached_parts
				WHERE database = currentDatabase() AND startsWith(reason, 'broken') ORDER BY 1`,
		},
		{
			what: "rows of rolls that this release does not know: it neither reads nor corrects them",
			query: `SELECT concat(name, ': ', toString(rows))
				FROM (SELECT CAST(roll, 'String') AS name, count() AS rows FROM sums WHERE name NOT IN ('', ` + rollNames() + `) GROUP BY name)
				ORDER BY 1`,
		},
	}
}

// ofReferences are about memberships and facilities that refer to what isn't there.
func ofReferences() []warning {
	return []warning{
		{
			what:   "memberships of users who do not exist or are not active: they give nothing",
			tables: []string{"memberships", "users"},
			query: `SELECT concat(tenant, ' ', id) FROM memberships FINAL
				WHERE ` + live + ` AND (tenant, user_id) NOT IN (SELECT tenant, id FROM users FINAL WHERE ` + live + ` AND active) ORDER BY 1`,
		},
		{
			what:   "memberships of projects that do not exist: they give nothing",
			tables: []string{"memberships", "projects"},
			query: `SELECT concat(tenant, ' ', id) FROM memberships FINAL
				WHERE ` + live + ` AND scope_project_id IS NOT NULL AND (tenant, assumeNotNull(scope_project_id)) NOT IN ` + liveProjects + `
				ORDER BY 1`,
		},
		{
			what:   "facilities of projects that do not exist or were deleted: nobody sees them",
			tables: []string{"facilities", "projects"},
			query: `SELECT concat(tenant, ' ', id, ': ', project_id) FROM (
					SELECT tenant, id, arrayJoin(project_ids) AS project_id FROM facilities FINAL WHERE ` + live + `)
				WHERE (tenant, project_id) NOT IN ` + liveProjects + ` ORDER BY 1`,
		},
	}
}

// ofSeveral are about entities of which a project or facility has one at a time.
func ofSeveral() (all []warning) {
	for _, one := range []struct{ entities, table, of, key string }{
		{"uncommitted entries on one node of a project", "uncommitted_entries", "node", "node_id"},
		{"plans of one node of a project", "line_plans", "node", "node_id"},
		{"fixings of one period of a facility", "fixings", "from", "period_start"},
	} {
		all = append(all, warning{
			what:   "several " + one.entities + ": the one with the byte-wise greatest id counts",
			tables: []string{one.table},
			query: `SELECT concat(tenant, ' ', project, ' ` + one.of + ` ', toString(` + one.key + `), ': ',
					arrayStringConcat(groupArraySorted(5)(id), ', '))
				FROM ` + one.table + ` FINAL WHERE ` + live + ` GROUP BY tenant, project, ` + one.key + ` HAVING count() > 1 ORDER BY 1`,
		})
	}
	return all
}

// ofTables are the same for several tables each.
func ofTables() (all []warning) {
	for _, table := range ofProjects() {
		all = append(all, warning{
			what:   table + " in projects that do not exist or were deleted: they are invisible",
			tables: []string{table, "projects"},
			query: `SELECT concat(tenant, ' ', project, ': ', toString(count())) FROM ` + table + ` FINAL
				WHERE ` + live + ` AND project != '' AND (tenant, project) NOT IN ` + liveProjects + ` GROUP BY tenant, project ORDER BY 1`,
		})
	}
	for _, table := range ofFacilities() {
		all = append(all, warning{
			what:   table + " of facilities that do not exist or were deleted: they are invisible",
			tables: []string{table, "facilities"},
			query: `SELECT concat(tenant, ' ', project, ': ', toString(count())) FROM ` + table + ` FINAL
				WHERE ` + live + ` AND (tenant, project) NOT IN (SELECT tenant, id FROM facilities FINAL WHERE ` + live + `)
				GROUP BY tenant, project ORDER BY 1`,
		})
	}
	for _, table := range []string{"budget_rows", "budget_transfers", "uncommitted_entries"} {
		all = append(all, warning{
			what:   table + " in another currency than their project's: they never count",
			tables: []string{table, "projects"},
			query: `SELECT concat(tenant, ' ', id, ': ', currency) FROM ` + table + ` FINAL WHERE ` + live + ` AND currency != ''
				AND (tenant, project) IN ` + liveProjects + `
				AND (tenant, project, currency) NOT IN (SELECT tenant, project, currency FROM projects FINAL WHERE ` + live + `)
				ORDER BY 1`,
		})
	}
	return all
}

// ofEntities asks for what entities make no sense beside others, which may be on any shard: db shows those of all.
func ofEntities(ctx context.Context, db Database, most int) ([]Warning, error) {
	found, err := ask(ctx, db, most, slices.Concat(ofReferences(), ofSeveral(), ofTables()))
	if err != nil {
		return nil, err
	}
	nodes, err := ineffectiveNodes(ctx, db, most)
	return append(found, nodes...), err
}

// overShards lets a query compare tables that lie on several shards: each of them asks for all of the other table.
const overShards = " SETTINGS distributed_product_mode = 'global'"

// ask asks for those warnings that concern what this binary stores.
func ask(ctx context.Context, db Database, most int, warnings []warning) ([]Warning, error) {
	var stored []string
	for _, e := range store.All() {
		stored = append(stored, e.Table)
	}
	found := []Warning{}
	for _, w := range warnings {
		if slices.ContainsFunc(w.tables, func(t string) bool { return !slices.Contains(stored, t) }) {
			continue
		}
		is := Warning{What: w.what}
		err := db.Rows(ctx, database.Query{SQL: w.query + overShards, Limit: warningLimit}, func(scan func(...any) error) error {
			var line string
			err := scan(&line)
			if is.Count++; len(is.First) < most {
				is.First = append(is.First, line)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("look for %s: %w", strings.SplitN(w.what, ":", 2)[0], err)
		}
		if is.Count > 0 {
			found = append(found, is)
		}
	}
	return found, nil
}
