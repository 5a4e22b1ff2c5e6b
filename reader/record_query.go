package reader

import (
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/ext"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Code names a code in one accounting system.
type Code struct{ System, Code string }

// RecordFilter says which records are meant (docs/api.md#filters-of-records). What is not given does not restrict.
type RecordFilter struct {
	Tenant          string
	Projects        []ProjectRef // at least one
	Statuses        []string
	InvoiceNumber   events.Opt[string]
	ContractorID    events.Opt[string]
	RecognitionFrom events.Opt[calendar.Date]
	RecognitionTo   events.Opt[calendar.Date]
	CashFrom        events.Opt[calendar.Date]
	CashTo          events.Opt[calendar.Date]
	HasCashDate     events.Opt[bool]
	Channel         events.Opt[string]
	Source          events.Opt[string]
	NodeID          events.Opt[string] // booked on exactly this node,
	Descendants     bool               // or on one below it
	Code            events.Opt[Code]   // certified, else derived from the nodes
}

// needsStructure reports whether the budget structures decide which records match.
func (f *RecordFilter) needsStructure() bool { return f.NodeID.Ok && f.Descendants || f.Code.Ok }

// conditions are the filter's conditions as SQL with its parameters, without tenant and project, and the tables that
// they look into.
type conditions struct {
	sql    []string
	args   map[string]any
	tables []*ext.Table
}

func (c *conditions) add(sql string) { c.sql = append(c.sql, sql) }

func (c *conditions) where(sql, name string, value any) {
	c.add(sql)
	c.args[name] = value
}

// conditions translates the filter. Structures are those of its projects where needsStructure asks for them.
func (f *RecordFilter) conditions(structures map[string]*analytics.Structure) (*conditions, error) {
	c := &conditions{args: map[string]any{"tenant": f.Tenant}}
	if len(f.Statuses) > 0 {
		c.where("status IN {statuses:Array(String)}", "statuses", f.Statuses)
	}
	if f.InvoiceNumber.Ok {
		c.where("invoice_number = {invoiceNumber:String}", "invoiceNumber", f.InvoiceNumber.V)
	}
	if f.ContractorID.Ok {
		c.where("contractor_id = {contractorId:String}", "contractorId", f.ContractorID.V)
	}
	// Dates compare as days: a Date32 does not hold every end that a range may have.
	if f.RecognitionFrom.Ok {
		c.where("toInt32(recognition_date) >= {recognitionFrom:Int32}", "recognitionFrom", int32(f.RecognitionFrom.V))
	}
	if f.RecognitionTo.Ok {
		c.where("toInt32(recognition_date) <= {recognitionTo:Int32}", "recognitionTo", int32(f.RecognitionTo.V))
	}
	if f.CashFrom.Ok {
		c.where("toInt32(cash_date) >= {cashFrom:Int32}", "cashFrom", int32(f.CashFrom.V))
	}
	if f.CashTo.Ok {
		c.where("toInt32(cash_date) <= {cashTo:Int32}", "cashTo", int32(f.CashTo.V))
	}
	if f.HasCashDate.Ok {
		c.add(map[bool]string{true: "cash_date IS NOT NULL", false: "cash_date IS NULL"}[f.HasCashDate.V])
	}
	if f.Channel.Ok {
		c.where("channel = {channel:String}", "channel", f.Channel.V)
	}
	if f.Source.Ok {
		c.where("source = {source:String}", "source", f.Source.V)
	}
	if err := f.onNode(c, structures); err != nil {
		return nil, err
	}
	if err := f.withCode(c, structures); err != nil {
		return nil, err
	}
	return c, nil
}

func (f *RecordFilter) onNode(c *conditions, structures map[string]*analytics.Structure) error {
	if !f.NodeID.Ok {
		return nil
	}
	const exactly = "has(allocation_node, {nodeId:String})"
	if !f.Descendants {
		c.where(exactly, "nodeId", f.NodeID.V)
		return nil
	}
	var below [][]string
	for _, p := range f.Projects {
		for _, id := range structures[p.ID].Below(analytics.NodeID(f.NodeID.V)) {
			below = append(below, []string{p.ID, string(id)})
		}
	}
	table, err := idTable("nodes_below", []string{"project", "node"}, below)
	if err != nil {
		return err
	}
	c.tables = append(c.tables, table)
	c.where("("+exactly+" OR arrayExists(n -> (project, n) IN nodes_below, allocation_node))", "nodeId", f.NodeID.V)
	return nil
}

// withCode matches certified codes as certified; the codes of other records are those of the lines that they are booked
// on.
func (f *RecordFilter) withCode(c *conditions, structures map[string]*analytics.Structure) error {
	if !f.Code.Ok {
		return nil
	}
	var lines [][]string
	for _, p := range f.Projects {
		for _, id := range structures[p.ID].WithCode(f.Code.V.System, f.Code.V.Code) {
			lines = append(lines, []string{p.ID, string(id)})
		}
	}
	table, err := idTable("nodes_with_code", []string{"project", "node"}, lines)
	if err != nil {
		return err
	}
	c.tables = append(c.tables, table)
	certified := "has(certified_keys, {code:String})"
	if strings.Contains(f.Code.V.Code, ":") {
		// The key alone doesn't tell where the system ends: that of the code c of a system a:b is a:b:c, too.
		certified += " AND arrayExists(c -> JSONExtractString(c, 'system') = {system:String} AND " +
			"concat({system:String}, ':', JSONExtractString(c, 'code')) = {code:String}, JSONExtractArrayRaw(certified_codes))"
		c.args["system"] = f.Code.V.System
	}
	c.where("if(certified, "+certified+", arrayExists(n -> (project, n) IN nodes_with_code, allocation_node))",
		"code", f.Code.V.System+":"+f.Code.V.Code)
	return nil
}

// RecordPage asks for the records that match, ascending by id, from behind one of them.
type RecordPage struct {
	Filter RecordFilter
	After  string // id; "" for the first page
	Limit  int
	Read   Part[Record] // beside id and project
	Count  bool         // also count all that match
}

// query asks each project for its own records in the order of the key, and takes the least of them: so it reads as many
// rows as the page has, and not whole projects.
func (p *RecordPage) query(c *conditions) Query {
	args := make(map[string]any, len(c.args)+len(p.Filter.Projects)+2)
	for name, value := range c.args {
		args[name] = value
	}
	args["after"], args["limit"] = p.After, p.Limit
	branches := make([]string, 0, len(p.Filter.Projects))
	for i, project := range p.Filter.Projects {
		name := fmt.Sprintf("project%d", i)
		args[name] = project.ID
		where := append([]string{"tenant = {tenant:String}", "project = {" + name + ":String}", "id > {after:String}",
			"NOT deleted"}, c.sql...)
		branches = append(branches,
			"SELECT "+recordColumns(p.Read).String()+"\nFROM records FINAL\nWHERE "+strings.Join(where, " AND ")+
				"\nORDER BY tenant, project, id\nLIMIT {limit:UInt32}")
	}
	sql := branches[0]
	if len(branches) > 1 {
		sql = "SELECT * FROM (\n" + strings.Join(branches, "\nUNION ALL\n") +
			"\n)\nORDER BY id, project\nLIMIT {limit:UInt32}"
	}
	return Query{SQL: sql, Args: args, Tables: c.tables}
}

// countQuery counts the records that match.
func (f *RecordFilter) countQuery(c *conditions) Query {
	args := make(map[string]any, len(c.args)+1)
	for name, value := range c.args {
		args[name] = value
	}
	args["projects"] = projectIDs(f.Projects)
	where := append([]string{"tenant = {tenant:String}", "project IN {projects:Array(String)}", "NOT deleted"}, c.sql...)
	return Query{SQL: "SELECT count()\nFROM records FINAL\nWHERE " + strings.Join(where, " AND "), Args: args,
		Tables: c.tables}
}

// recordQuery finds a record by its id in some projects: in which of them it may be, the projection by_id knows; what it
// is now, the table does. A record of another project is as little looked for as one that doesn't exist.
func recordQuery(tenant, id string, projects []ProjectRef, read Part[Record]) Query {
	return Query{
		SQL: "SELECT " + recordColumns(read).String() + `
FROM records FINAL
WHERE tenant = {tenant:String} AND id = {id:String} AND NOT deleted
  AND project GLOBAL IN (
    SELECT project
    FROM records
    WHERE tenant = {tenant:String} AND id = {id:String} AND project IN {projects:Array(String)}
  )
LIMIT 1`,
		Args: map[string]any{"tenant": tenant, "id": id, "projects": projectIDs(projects)},
	}
}

// byID is what a table's projection by_id holds: the places of its entities, in whatever version, ascending by id. The
// engine itself would not choose it here: it compares what both orders select, not what the limit leaves of it.
func byID(table string) string {
	return "mergeTreeProjection(currentDatabase(), '" + table + "', 'by_id')"
}

// boundQuery finds the id that so many rows of the projects, in whatever version, lie before, among those behind an id.
// From is the table of records, or its projection by id.
func (p *RecordPage) boundQuery(from, after string, window int) Query {
	return Query{
		SQL: `SELECT id
FROM ` + from + `
WHERE tenant = {tenant:String} AND id > {after:String} AND project IN {projects:Array(String)}
ORDER BY tenant, id
LIMIT 1 OFFSET {window:UInt32}`,
		Args: map[string]any{"tenant": p.Filter.Tenant, "after": after, "projects": projectIDs(p.Filter.Projects), "window": window},
	}
}

// rangeQuery reads the records of all projects in a range of ids, up to the bound or, without one, all that follow. The key
// leads to a granule or more of each project and part; their ids alone are read first, and most have none of the range.
func (p *RecordPage) rangeQuery(after string, to events.Opt[string], limit int) Query {
	q := Query{Args: map[string]any{"tenant": p.Filter.Tenant, "projects": projectIDs(p.Filter.Projects), "after": after, "limit": limit}}
	until := ""
	if to.Ok {
		until, q.Args["to"] = " AND id <= {to:String}", to.V
	}
	q.SQL = "SELECT " + recordColumns(p.Read).String() + `
FROM records FINAL
PREWHERE id > {after:String}` + until + `
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND NOT deleted
ORDER BY id, project
LIMIT {limit:UInt32}`
	return q
}
