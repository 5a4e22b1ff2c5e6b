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

// warning is how one kind of warning is found: a query whose rows are one text each, line.
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
			query: `SELECT concat(topic, ' partition ', toString(partition), ': ', toString(from_offset), ' to ', toString(to_offset)) AS line
				FROM gaps FINAL`,
		},
		{
			what: "work in progress, which only the same work, done again, ends",
			query: `SELECT concat(topic, ': ', newest.3, ' by ', newest.4, ' since ', toString(newest.5)) AS line
				FROM (SELECT topic, max((revision, life, work, worker, since)) AS newest FROM streams GROUP BY topic)
				WHERE newest.3 != ''`,
		},
		{
			what: "holds: writers are kept out; when the holder is dead, `tallyhouse release TOPIC` ends it",
			query: `SELECT
					concat(topic, ' partition ', toString(partition), ': ', splitByChar('/', newest.2)[1], ' since ', toString(newest.4)) AS line
				FROM (SELECT topic, partition, max((epoch, owner, held, since)) AS newest FROM fences GROUP BY topic, partition)
				WHERE newest.3`,
		},
		{
			what: "parts that the server put aside as broken: nobody writes to their tables until `tallyhouse rebuild` corrected the sums, " +
				"or says what is lost",
			query: `SELECT concat(table, ': ', name) AS line FROM system.detached_parts
				WHERE database = currentDatabase() AND startsWith(reason, 'broken')`,
		},
		{
			what: "rows of rolls that this release does not know: it neither reads nor corrects them",
			query: `SELECT concat(name, ': ', toString(rows)) AS line
				FROM (SELECT CAST(roll, 'String') AS name, count() AS rows FROM sums WHERE name NOT IN ('', ` + rollNames() + `) GROUP BY name)`,
		},
	}
}

// ofReferences are about memberships and facilities that refer to what isn't there.
func ofReferences() []warning {
	return []warning{
		{
			what:   "memberships of users who do not exist or are not active: they give nothing",
			tables: []string{"memberships", "users"},
			query: `SELECT concat(tenant, ' ', id) AS line FROM memberships FINAL
				WHERE ` + live + ` AND (tenant, user_id) NOT IN (SELECT tenant, id FROM users FINAL WHERE ` + live + ` AND active)`,
		},
		{
			what:   "memberships of projects that do not exist: they give nothing",
			tables: []string{"memberships", "projects"},
			query: `SELECT concat(tenant, ' ', id) AS line FROM memberships FINAL
				WHERE ` + live + ` AND scope_project_id IS NOT NULL AND (tenant, assumeNotNull(scope_project_id)) NOT IN ` + liveProjects,
		},
		{
			what:   "facilities of projects that do not exist or were deleted: nobody sees them",
			tables: []string{"facilities", "projects"},
			query: `SELECT concat(tenant, ' ', id, ': ', project_id) AS line FROM (
					SELECT tenant, id, arrayJoin(project_ids) AS project_id FROM facilities FINAL WHERE ` + live + `)
				WHERE (tenant, project_id) NOT IN ` + liveProjects,
		},
	}
}

// ofNames are about entities of projects that name budget nodes and others that their project doesn't have. What is named is grouped first:
// there are few budget nodes and millions of records.
func ofNames() (all []warning) {
	for _, by := range []struct{ table, nodes string }{
		{"records", "allocation_node"},
		{"contracts", "arrayConcat(allocation_node, amendment_node)"},
		{"budget_rows", "[node_id]"},
		{"budget_transfers", "[from_node_id, to_node_id]"},
		{"uncommitted_entries", "[node_id]"},
		{"claims", "[node_id]"},
		{"line_plans", "[node_id]"},
	} {
		all = append(all, warning{
			what:   by.table + " that name budget nodes which their project does not have, or no longer: that part of them is on no line",
			tables: []string{by.table, "budget_nodes", "projects"},
			query: `SELECT ` + namedLine("node") + `
				FROM (` + named(by.table, by.nodes) + `) AS n
				JOIN (SELECT tenant, project, ifNull(budget_structure_id, '') AS structure FROM projects FINAL WHERE ` + live + `) AS p
					ON p.tenant = n.tenant AND p.project = n.project
				WHERE (n.tenant, n.project, name) NOT IN (
						SELECT tenant, project, id FROM budget_nodes FINAL WHERE ` + live + ` AND project != '')
					AND (n.tenant, structure, name) NOT IN (
						SELECT tenant, assumeNotNull(structure_id), id FROM budget_nodes FINAL
						WHERE ` + live + ` AND project = '' AND structure_id IS NOT NULL)`,
		})
	}
	const ofProject, ofTenant = "tenant, project, ", "tenant, "
	for _, by := range []struct{ table, names, one, others, of, follows string }{
		{"records", "[contract_id]", "contract", "contracts", ofProject, "they are linked to none"},
		{"claims", "[contract_id]", "contract", "contracts", ofProject, "they are linked to none"},
		{"records", "[contractor_id]", "contractor", "contractors", ofTenant, "its own name is not shown"},
		{"contracts", "[contractor_id]", "contractor", "contractors", ofTenant, "its own name is not shown"},
		{"leases", "unit_ids", "unit", "units", ofProject, "they let nothing there"},
	} {
		whose := "do not exist, or no longer"
		if by.of == ofProject {
			whose = "their project does not have, or no longer"
		}
		all = append(all, warning{
			what:   by.table + " that name " + by.others + " which " + whose + ": " + by.follows,
			tables: []string{by.table, by.others, "projects"},
			query: `SELECT ` + namedLine(by.one) + `
				FROM (` + named(by.table, by.names) + `) AS n
				WHERE (tenant, project) IN ` + liveProjects + `
					AND (` + by.of + `name) NOT IN (SELECT ` + by.of + `id FROM ` + by.others + ` FINAL WHERE ` + live + `)`,
		})
	}
	return all
}

// named groups the entities of a table by what they name in an array.
func named(table, names string) string {
	return `SELECT tenant, project, name, count() AS entities, min(id) AS first
		FROM (SELECT tenant, project, id, arrayJoin(arrayDistinct(` + names + `)) AS name FROM ` + table + ` FINAL WHERE ` + live + `)
		WHERE name != '' GROUP BY tenant, project, name`
}

// namedLine is a line about what is named, n, and by how many.
func namedLine(one string) string {
	return `concat(n.tenant, ' ', n.project, ' ` + one + ` ', name, ': ', toString(entities), ', first ', first) AS line`
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
					arrayStringConcat(groupArraySorted(5)(id), ', ')) AS line
				FROM ` + one.table + ` FINAL WHERE ` + live + ` GROUP BY tenant, project, ` + one.key + ` HAVING count() > 1`,
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
			query: `SELECT concat(tenant, ' ', project, ': ', toString(count())) AS line FROM ` + table + ` FINAL
				WHERE ` + live + ` AND project != '' AND (tenant, project) NOT IN ` + liveProjects + ` GROUP BY tenant, project`,
		})
	}
	for _, table := range ofFacilities() {
		all = append(all, warning{
			what:   table + " of facilities that do not exist or were deleted: they are invisible",
			tables: []string{table, "facilities"},
			query: `SELECT concat(tenant, ' ', project, ': ', toString(count())) AS line FROM ` + table + ` FINAL
				WHERE ` + live + ` AND (tenant, project) NOT IN (SELECT tenant, id FROM facilities FINAL WHERE ` + live + `)
				GROUP BY tenant, project`,
		})
	}
	for _, table := range []string{"budget_rows", "budget_transfers", "uncommitted_entries"} {
		all = append(all, warning{
			what:   table + " in another currency than their project's: they never count",
			tables: []string{table, "projects"},
			query: `SELECT concat(tenant, ' ', id, ': ', currency) AS line FROM ` + table + ` FINAL WHERE ` + live + ` AND currency != ''
				AND (tenant, project) IN ` + liveProjects + `
				AND (tenant, project, currency) NOT IN (SELECT tenant, project, currency FROM projects FINAL WHERE ` + live + `)`,
		})
	}
	return all
}

// ofEntities asks for what entities make no sense beside others, which may be on any shard: db shows those of all.
func ofEntities(ctx context.Context, db Database, most int) ([]Warning, error) {
	found, err := ask(ctx, db, most, slices.Concat(ofReferences(), ofNames(), ofSeveral(), ofTables()))
	if err != nil {
		return nil, err
	}
	nodes, err := ineffectiveNodes(ctx, db, most)
	return append(found, nodes...), err
}

// overShards lets a query compare tables that lie on several shards: each of them asks for all of the other table.
const overShards = " SETTINGS distributed_product_mode = 'global'"

// bounded lets a query answer by how many lines it has and the first of them: there may be millions.
func bounded(query string, most int) string {
	const bound = 1 << 20 // of what a server keeps for it
	return fmt.Sprintf("SELECT count(), groupArraySorted(%d)(line) FROM (%s)", min(most, bound), query) + overShards
}

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
		err := db.Rows(ctx, database.Query{SQL: bounded(w.query, most), Limit: warningLimit}, func(scan func(...any) error) error {
			return scan(&is.Count, &is.First)
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
