package reader

import (
	"maps"
	"slices"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// undated is what an array of days has for no date; no date of the ledger equals it.
const undated = int32(calendar.MaxDate) + 1

// contractColumns are all that contracts store; undated is a parameter of their statements.
var contractColumns = columns[Contract]{
	member("id", text, func(c *Contract) *analytics.ContractID { return &c.ID }),
	member("project", plain, func(c *Contract) *string { return &c.ProjectID }),
	member("name", nullable, func(c *Contract) *events.Opt[string] { return &c.Name }),
	member("contractor_id", optional, func(c *Contract) *events.Opt[string] { return &c.ContractorID }),
	member("status", plain, func(c *Contract) *string { return &c.Status }),
	member("toInt32(start_date)", day, func(c *Contract) *events.Opt[calendar.Date] { return &c.StartDate }),
	member("toInt32(end_date)", day, func(c *Contract) *events.Opt[calendar.Date] { return &c.EndDate }),
	member("currency", plain, func(c *Contract) *string { return &c.Currency }),
	elements("allocation_node", contractAllocations, func(a *events.ContractAllocation, node string) { a.NodeID = node }),
	elements("allocation_value", contractAllocations, func(a *events.ContractAllocation, value int64) { a.Value = value }),
	elements("amendment_id", contractAmendments, func(a *events.Amendment, id string) { a.ID = id }),
	elements("amendment_node", contractAmendments, func(a *events.Amendment, node string) { a.NodeID = textOrNone(node) }),
	elements("amendment_value", contractAmendments, func(a *events.Amendment, value int64) { a.Value = value }),
	elements("amendment_status", contractAmendments, func(a *events.Amendment, status string) { a.Status = status }),
	elements("arrayMap(d -> ifNull(toInt32(d), toInt32({undated:Int32})), amendment_date)", contractAmendments,
		func(a *events.Amendment, d int32) {
			a.Date = events.Opt[calendar.Date]{V: calendar.Date(d), Ok: d != undated}
		}),
	elements("amendment_title", contractAmendments, func(a *events.Amendment, title *string) {
		if title != nil {
			a.Title = events.Some(*title)
		}
	}),
}

func contractAllocations(c *Contract) *[]events.ContractAllocation { return &c.Allocations }

func contractAmendments(c *Contract) *[]events.Amendment { return &c.Amendments }

func (p ContractPage) query() Query {
	return Query{
		SQL: "SELECT " + contractColumns.String() + `
FROM contracts FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id > {after:String} AND NOT deleted
ORDER BY id, project
LIMIT {limit:UInt32}`,
		Args: map[string]any{"tenant": p.Tenant, "projects": projectIDs(p.Projects), "after": p.After, "limit": p.Limit, "undated": undated},
	}
}

// contractQuery finds a contract by its id in some projects: in which of them it may be, the projection by_id knows; what
// it is now, the table does. A contract of another project is as little looked for as one that doesn't exist.
func contractQuery(tenant, id string, projects []ProjectRef) Query {
	return Query{
		SQL: "SELECT " + contractColumns.String() + `
FROM contracts FINAL
WHERE tenant = {tenant:String} AND id = {id:String} AND NOT deleted
  AND project GLOBAL IN (
    SELECT project
    FROM contracts
    WHERE tenant = {tenant:String} AND id = {id:String} AND project IN {projects:Array(String)}
  )
LIMIT 1`,
		Args: map[string]any{"tenant": tenant, "id": id, "projects": projectIDs(projects), "undated": undated},
	}
}

// linkedRecordsQuery sums up what is linked to these contracts in these projects.
func linkedRecordsQuery(tenant string, projects, contracts []string) Query {
	return Query{
		SQL: "SELECT project, contract, node, toString(currency), toString(status), " + packed("sum(net)", "sum(gross)", "sum(count)") + `
FROM sums
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND roll = 'lines' AND contract IN {contracts:Array(String)}
GROUP BY project, contract, node, currency, status
HAVING sum(allocations) != 0`,
		Args: map[string]any{"tenant": tenant, "projects": projects, "contracts": contracts},
	}
}

// outsideSum names a sum of records that are coded outside the lines of their contract.
type outsideSum struct{ project, contract, node, currency string }

// outsideRecordsQuery lists the records behind such sums, ascending by id, and beside them those that other contracts
// have under the same names.
func outsideRecordsQuery(tenant string, sums map[outsideSum]bool) Query {
	projects, contracts, nodes := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for s := range sums {
		projects[s.project], contracts[s.contract], nodes[s.node] = true, true, true
	}
	return Query{
		SQL: `SELECT project, contract, node, toString(currency), record
FROM sums
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND roll = 'links' AND contract IN {contracts:Array(String)}
  AND contractor = '' AND line = '' AND node IN {nodes:Array(String)}
GROUP BY project, contract, node, currency, record
HAVING sum(count) != 0
ORDER BY record`,
		Args: map[string]any{"tenant": tenant, "projects": keys(projects), "contracts": keys(contracts), "nodes": keys(nodes)},
	}
}

func keys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
