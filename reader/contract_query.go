package reader

import (
	"maps"
	"slices"
	"strings"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// contractColumns are all that contracts store. They travel as texts, in which a date is its number by itself: to convert it costs the
// engine a tenth of the statement.
var contractColumns = columns[Contract]{
	member("id", text, func(c *Contract) *analytics.ContractID { return &c.ID }),
	member("project", plain, func(c *Contract) *string { return &c.ProjectID }),
	member("name", nullable, func(c *Contract) *events.Opt[string] { return &c.Name }),
	member("contractor_id", optional, func(c *Contract) *events.Opt[string] { return &c.ContractorID }),
	member("status", plain, func(c *Contract) *string { return &c.Status }),
	member("start_date", day, func(c *Contract) *events.Opt[calendar.Date] { return &c.StartDate }),
	member("end_date", day, func(c *Contract) *events.Opt[calendar.Date] { return &c.EndDate }),
	member("currency", plain, func(c *Contract) *string { return &c.Currency }),
	elements("allocation_node", contractAllocations, func(a *events.ContractAllocation, node string) { a.NodeID = node }),
	elements("allocation_value", contractAllocations, func(a *events.ContractAllocation, value int64) { a.Value = value }),
	elements("amendment_id", contractAmendments, func(a *events.Amendment, id string) { a.ID = id }),
	elements("amendment_node", contractAmendments, func(a *events.Amendment, node string) { a.NodeID = textOrNone(node) }),
	elements("amendment_value", contractAmendments, func(a *events.Amendment, value int64) { a.Value = value }),
	elements("amendment_status", contractAmendments, func(a *events.Amendment, status string) { a.Status = status }),
	elements("amendment_date", contractAmendments, func(a *events.Amendment, d *int32) {
		if d != nil {
			a.Date = events.Some(calendar.Date(*d))
		}
	}),
	elements("amendment_title", contractAmendments, func(a *events.Amendment, title *string) {
		if title != nil {
			a.Title = events.Some(*title)
		}
	}),
}

// contractRow is the expression of a contract as a text.
var contractRow = rowOf(contractColumns.String())

func contractAllocations(c *Contract) *[]events.ContractAllocation { return &c.Allocations }

func contractAmendments(c *Contract) *[]events.Amendment { return &c.Amendments }

// linkedRecord is a record that is coded on a line which is none of the base of its contract.
type linkedRecord struct{ id, node, currency string }

// The rolls of what is linked to contracts: sums by line, and records one by one.
const (
	rollLines = "lines"
	rollLinks = "links"
)

func (p ContractPage) query() Query {
	order := "id, project"
	if len(p.Projects) == 1 {
		// That of the key: the rest of the project is not read.
		order = "tenant, project, id"
	}
	return Query{
		SQL: "SELECT " + contractRow + `
FROM contracts FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id > {after:String} AND NOT deleted
ORDER BY ` + order + `
LIMIT {limit:UInt32}`,
		Args: map[string]any{"tenant": p.Tenant, "projects": projectIDs(p.Projects), "after": p.After, "limit": p.Limit},
	}
}

// contractQuery finds the contract of an id in some projects. The projection by_id has its rows, in whatever version and
// project, beside each other: the newest is what it is now. One that has moved left a deleted row of the same version behind.
// Of a deleted one there is nothing in the text; one of another project is as little looked for as one that doesn't exist.
func contractQuery(tenant, id string, projects []ProjectRef) Query {
	return Query{
		SQL: "SELECT argMax(if(deleted, '', " + contractRow + `), tuple(row_version, NOT deleted))
FROM contracts
WHERE tenant = {tenant:String} AND id = {id:String} AND project IN {projects:Array(String)}
GROUP BY id`,
		Args: map[string]any{"tenant": tenant, "id": id, "projects": projectIDs(projects)},
	}
}

// linkedQuery reads what is linked to contracts, which come ascending by their ids, as linkedRow takes it: of records one by one, those
// that are coded on a line which is none of the contract's base. Without a base contract none is to be re-coded. What a statement need
// not say is left out, for half of what it costs is to make sense of it.
func linkedQuery(tenant string, contracts []Contract, rolls []string) Query {
	projects := make(map[string]bool)
	var coded, baseless []string
	for i := range contracts {
		c := &contracts[i]
		projects[c.ProjectID] = true
		links := rollLinks + "\x00" + string(c.ID)
		if len(c.Allocations) == 0 {
			baseless = append(baseless, links)
		}
		for _, a := range c.Allocations {
			coded = append(coded, links+"\x00"+a.NodeID)
		}
	}
	args := map[string]any{"tenant": tenant, "first": string(contracts[0].ID)}
	project, of, group := "project", "project IN {projects:Array(String)}", "project, keys"
	if len(projects) == 1 {
		project, of, group = "{project:String}", "project = {project:String}", "keys"
		args["project"] = contracts[0].ProjectID
	} else {
		args["projects"] = keys(projects)
	}
	conditions := []string{"tenant = {tenant:String} AND " + of}
	if len(contracts) == 1 {
		conditions = append(conditions, ofContract(rolls))
	} else {
		conditions = append(conditions, ofContracts(rolls))
		args["last"] = string(contracts[len(contracts)-1].ID)
	}
	if slices.Contains(rolls, rollLinks) {
		if len(coded) > 0 {
			conditions = append(conditions, `substringIndex(keys, '\0', 3) NOT IN {coded:Array(String)}`)
			args["coded"] = coded
		}
		if len(baseless) > 0 {
			conditions = append(conditions, `substringIndex(keys, '\0', 2) NOT IN {baseless:Array(String)}`)
			args["baseless"] = baseless
		}
	}
	return Query{
		SQL: "SELECT " + rowOf(project, "keys", "sum(net)", "sum(count)", "sum(allocations)") + `
FROM sums
WHERE ` + strings.Join(conditions, "\n  AND ") + `
GROUP BY ` + group,
		Args: args,
	}
}

func keys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
