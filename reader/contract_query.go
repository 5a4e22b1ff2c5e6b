package reader

import (
	"maps"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/ext"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

const contractColumns = `id, project, name, contractor_id, status, toInt32(start_date), toInt32(end_date), currency, allocation_node, allocation_value,
  amendment_id, amendment_node, amendment_value, amendment_status, arrayMap(d -> ifNull(toInt32(d), toInt32({undated:Int32})), amendment_date), amendment_title`

// undated stands for no date in an array of days; no date of the ledger is it.
const undated = int32(calendar.MaxDate) + 1

// query reads one contract more than the page holds, to learn whether others follow.
func (p ContractPage) query() Query {
	ids := make([]string, len(p.Projects))
	for i, project := range p.Projects {
		ids[i] = project.ID
	}
	return Query{
		SQL: "SELECT " + contractColumns + `
FROM contracts FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id > {after:String} AND NOT deleted
ORDER BY id, project
LIMIT {limit:UInt32}`,
		Args: map[string]any{"tenant": p.Tenant, "projects": ids, "after": p.After, "limit": p.Limit + 1, "undated": undated},
	}
}

// contractQuery finds a contract by its id alone, in whatever project it is.
func contractQuery(tenant, id string) Query {
	return Query{
		SQL: "SELECT " + contractColumns + `
FROM contracts FINAL
WHERE tenant = {tenant:String} AND id = {id:String} AND NOT deleted
LIMIT 1`,
		Args: map[string]any{"tenant": tenant, "id": id, "undated": undated},
	}
}

// linkedRecordsQuery sums up what is linked to these contracts in these projects.
func linkedRecordsQuery(tenant string, projects, contracts []string) Query {
	return Query{
		SQL: "SELECT project, contract, node, toString(currency), toString(status), toString(source), " + packed("sum(net)", "sum(gross)", "sum(count)") + `
FROM record_lines
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND contract IN {contracts:Array(String)}
GROUP BY project, contract, node, currency, status, source
HAVING sum(allocations) != 0`,
		Args: map[string]any{"tenant": tenant, "projects": projects, "contracts": contracts},
	}
}

// outsideRecordsQuery finds the records that are in some sums: (project, contract, node, currency, status, source). Candidates are
// found by their contract with the help of an index, in whatever version; what counts is their newest one.
func outsideRecordsQuery(tenant string, sums [][]string) (Query, error) {
	table, err := idTable("outside", []string{"project", "contract", "node", "currency", "status", "source"}, sums)
	if err != nil {
		return Query{}, err
	}
	projects, contracts := make(map[string]bool), make(map[string]bool)
	for _, key := range sums {
		projects[key[0]], contracts[key[1]] = true, true
	}
	return Query{
		SQL: `SELECT project, contract_id, id
FROM records FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND NOT deleted AND net IS NOT NULL
  AND id GLOBAL IN (
    SELECT id
    FROM records
    WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND contract_id IN {contracts:Array(String)})
  AND arrayExists(node -> (project, contract_id, node, toString(currency), toString(status), toString(source)) IN outside, allocation_node)
ORDER BY id`,
		Args:   map[string]any{"tenant": tenant, "projects": keys(projects), "contracts": keys(contracts)},
		Tables: []*ext.Table{table},
	}, nil
}

func keys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// contractRow is a row as it is scanned.
type contractRow struct {
	id, project, contractor, status, currency   string
	name                                        *string
	start, end                                  *int32
	allocationNode                              []string
	allocationValue                             []int64
	amendmentID, amendmentNode, amendmentStatus []string
	amendmentValue                              []int64
	amendmentDate                               []int32
	amendmentTitle                              []*string
}

func (r *contractRow) dest() []any {
	return []any{&r.id, &r.project, &r.name, &r.contractor, &r.status, &r.start, &r.end, &r.currency, &r.allocationNode, &r.allocationValue,
		&r.amendmentID, &r.amendmentNode, &r.amendmentValue, &r.amendmentStatus, &r.amendmentDate, &r.amendmentTitle}
}

func (r *contractRow) contract() analytics.Contract {
	c := analytics.Contract{ID: analytics.ContractID(r.id), Contract: events.Contract{
		ProjectID: r.project, Name: opt(r.name), ContractorID: none(r.contractor), Status: r.status, StartDate: date(r.start), EndDate: date(r.end), Currency: r.currency,
	}}
	for i := range r.allocationNode {
		c.Allocations = append(c.Allocations, events.ContractAllocation{NodeID: r.allocationNode[i], Value: r.allocationValue[i]})
	}
	for i := range r.amendmentID {
		a := events.Amendment{ID: r.amendmentID[i], NodeID: none(r.amendmentNode[i]), Value: r.amendmentValue[i], Status: r.amendmentStatus[i], Title: opt(r.amendmentTitle[i])}
		if d := r.amendmentDate[i]; d != undated {
			a.Date = events.Some(calendar.Date(d))
		}
		c.Amendments = append(c.Amendments, a)
	}
	return c
}
