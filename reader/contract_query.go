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

// linkedSum is a sum of the records that are linked to a contract and, where it names one, a record that is coded on a
// line which is none of the contract's base.
type linkedSum struct{ node, currency, status, record, sums string }

// linkedSumRow is a linkedSum, or what is left of one to which nothing is linked any more.
type linkedSumRow struct {
	linkedSum
	left string // how many allocations, or of a record how many links
}

// linkedSumColumns are the columns of what is linked to one contract. What is left of nothing is sorted out here: a
// statement takes the longer to plan the more it says.
var linkedSumColumns = columns[linkedSumRow]{
	member("node", plain, func(l *linkedSumRow) *string { return &l.node }),
	member("currency", plain, func(l *linkedSumRow) *string { return &l.currency }),
	member("status", plain, func(l *linkedSumRow) *string { return &l.status }),
	member("record", plain, func(l *linkedSumRow) *string { return &l.record }),
	member(packed("sum(net)", "sum(gross)", "sum(count)"), plain, func(l *linkedSumRow) *string { return &l.sums }),
	member(packed("if(record = '', sum(allocations), sum(count))"), plain, func(l *linkedSumRow) *string { return &l.left }),
}

// contractRow is a contract with what is linked to it.
type contractRow struct {
	Contract
	linked []linkedSum
}

// contractRows are the columns of contracts, alone and with what is linked to them. Linked is an array of tuples: see
// withLinked.
var (
	contractRows = inside(func(r *contractRow) *Contract { return &r.Contract }, contractColumns)
	linkedRows   = slices.Concat(contractRows, columns[contractRow]{
		elements(linkedColumns+".1", linkedOf, func(l *linkedSum, node string) { l.node = node }),
		elements(linkedColumns+".2", linkedOf, func(l *linkedSum, currency string) { l.currency = currency }),
		elements(linkedColumns+".3", linkedOf, func(l *linkedSum, status string) { l.status = status }),
		elements(linkedColumns+".4", linkedOf, func(l *linkedSum, record string) { l.record = record }),
		elements(linkedColumns+".5", linkedOf, func(l *linkedSum, sums string) { l.sums = sums }),
	})
)

// linkedColumns leaves out the records that are coded on a line of the base contract: those are never to be re-coded.
// Without a base contract none is.
const linkedColumns = "arrayFilter(l -> l.4 = '' OR notEmpty(allocation_node) AND NOT has(allocation_node, l.1), linked)"

func linkedOf(r *contractRow) *[]linkedSum { return &r.linked }

// contractSet says which contracts a statement reads.
type contractSet struct {
	rows  string                      // what follows SELECT and their columns
	sums  func(rolls []string) string // the condition on their sums, and perhaps on those that some left behind elsewhere
	order string                      // in which the rows are returned
	args  map[string]any
}

// The rolls of what is linked to contracts: sums by line, and records one by one.
const (
	rollLines = "lines"
	rollLinks = "links"
)

// query reads the contracts, and what of them is in these rolls. It is one statement, so they are all of one moment.
func (s contractSet) query(rolls []string) Query {
	if len(rolls) == 0 {
		return Query{SQL: "SELECT " + contractRows.String() + s.rows, Args: s.args}
	}
	return Query{
		SQL: "SELECT " + linkedRows.String() + `
FROM (SELECT *` + s.rows + `) AS c
LEFT JOIN (
  SELECT project AS of_project, contract AS of_contract, groupArray((node, currency, status, record, sums)) AS linked
  FROM (
    SELECT project, contract, node, currency, status, record, if(roll = '` + rollLines + `', ` +
			packed("sum(net)", "sum(gross)", "sum(count)") + `, '') AS sums
    FROM sums
    WHERE tenant = {tenant:String} AND ` + s.sums(rolls) + `
    GROUP BY project, roll, contract, node, currency, status, record
    HAVING if(roll = '` + rollLines + `', sum(allocations), sum(count)) != 0
  )
  GROUP BY project, contract
) AS l ON c.project = l.of_project AND c.id = l.of_contract
ORDER BY ` + s.order,
		Args: s.args,
	}
}

func (p ContractPage) set() contractSet {
	order := "id, project"
	if len(p.Projects) == 1 {
		// That of the key: the rest of the project is not read.
		order = "tenant, project, id"
	}
	rows := `
FROM contracts FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id > {after:String} AND NOT deleted
ORDER BY ` + order + `
LIMIT {limit:UInt32}`
	in := "project IN {projects:Array(String)}"
	if len(p.Projects) > 1 { // the page may have contracts of a few
		in = "project GLOBAL IN (SELECT project" + rows + ")"
	}
	return contractSet{
		rows: rows, order: order,
		sums: func(rolls []string) string {
			return in + " AND " + ofContracts(rolls, "(SELECT max(id) FROM (SELECT id"+rows+"))")
		},
		args: map[string]any{"tenant": p.Tenant, "projects": projectIDs(p.Projects), "after": p.After, "limit": p.Limit, "undated": undated},
	}
}

// oneContract is the contract of an id in some projects: in which of them it may be, the projection by_id knows; what it
// is now, the table does. A contract of another project is as little looked for as one that doesn't exist.
func oneContract(tenant, id string, projects []ProjectRef) contractSet {
	const its = `project GLOBAL IN (
    SELECT project
    FROM contracts
    WHERE tenant = {tenant:String} AND id = {id:String} AND project IN {projects:Array(String)}
  )`
	return contractSet{
		rows: `
FROM contracts FINAL
WHERE tenant = {tenant:String} AND id = {id:String} AND NOT deleted
  AND ` + its + `
LIMIT 1`,
		sums: func(rolls []string) string { return its + " AND " + ofContract(rolls) }, order: "id",
		args: map[string]any{"tenant": tenant, "id": id, "projects": projectIDs(projects), "undated": undated},
	}
}

// linkedQuery reads what is linked to a contract: of the records, those that are coded on a line which is none of its base.
func linkedQuery(tenant string, c *analytics.Contract, rolls []string) Query {
	lines := make([]string, len(c.Allocations))
	for i, a := range c.Allocations {
		lines[i] = a.NodeID
	}
	if len(lines) == 0 { // without a base contract none is to be re-coded
		rolls = slices.DeleteFunc(slices.Clone(rolls), func(roll string) bool { return roll == rollLinks })
	}
	return Query{
		SQL: "SELECT " + linkedSumColumns.String() + `
FROM sums
WHERE tenant = {tenant:String} AND project = {project:String} AND ` + ofContract(rolls) + `
  AND (record = '' OR node NOT IN {lines:Array(String)})
GROUP BY node, currency, status, record`,
		Args: map[string]any{"tenant": tenant, "project": c.ProjectID, "id": string(c.ID), "lines": lines},
	}
}

func keys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
