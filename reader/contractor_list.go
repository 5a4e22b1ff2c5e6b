package reader

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"

	schema "tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// Contractor is a company that records and contracts refer to.
type Contractor struct {
	ID string
	events.Contractor
	Marked bool // a marked project refers to it
}

var (
	contractorColumns = columns[Contractor]{
		member("id", plain, func(c *Contractor) *string { return &c.ID }),
		member("name", nullable, func(c *Contractor) *events.Opt[string] { return &c.Name }),
		member("city", nullable, func(c *Contractor) *events.Opt[string] { return &c.City }),
		member("country", nullable, func(c *Contractor) *events.Opt[string] { return &c.Country }),
		member("tax_id", nullable, func(c *Contractor) *events.Opt[string] { return &c.TaxID }),
		member("registration_number", nullable, func(c *Contractor) *events.Opt[string] { return &c.RegistrationNumber }),
	}
	contractorRow = append(slices.Clone(contractorColumns),
		member("marked", plain, func(c *Contractor) *bool { return &c.Marked }))
)

// ContractorPage says which contractors are wanted: those that a record or contract of one of the projects refers to.
type ContractorPage struct {
	Tenant   string
	Projects []string
	Marked   []string // those of the projects whose references are marked
	After    string   // id
	Limit    int
}

// The first window of contractors' ids that a page is looked for in, in rows in whatever version, for each item that it
// may have; and how many times wider the next one is, where too few of them are referred to.
const (
	contractorWindow = 4
	leastWindow      = 128
	widerWindow      = 8
)

// boundQuery finds the id at which a window of so many contractors behind another one ends.
func (p ContractorPage) boundQuery(after string, window int) Query {
	return Query{
		SQL: `SELECT id
FROM contractors
WHERE tenant = {tenant:String} AND project = '' AND id > {after:String}
ORDER BY tenant, project, id
LIMIT 1 OFFSET {window:UInt32}`,
		Args: map[string]any{"tenant": p.Tenant, "after": after, "window": window - 1},
	}
}

const rollReferences = "references"

// contractorKeys are the keys of the sum that counts a contractor's records: they sort as the ids do.
func contractorKeys(id string) string {
	return string(schema.AppendKeys(nil, schema.RollReferences.Roll(), []string{id}))
}

// query joins the contractors behind an id, up to another one or, without it, all that follow, with those that are
// referred to: of records a roll knows them, contracts are few. The contractors go first, so that the page is cut in
// their order. Few rows of a granule of sums lie in the window, so their keys are looked at first.
func (p ContractorPage) query(after string, to events.Opt[string], ask int) Query {
	q := Query{Args: map[string]any{"tenant": p.Tenant, "projects": p.Projects, "marked": p.Marked, "after": after,
		"limit": ask}}
	rolls := ofRolls(rollReferences) + " AND keys > {after_keys:String}"
	q.Args["after_keys"] = contractorKeys(after)
	within := func(column string) string { return column + " > {after:String}" }
	if to.Ok {
		within = func(column string) string {
			return column + " > {after:String} AND " + column + " <= {to:String}"
		}
		q.Args["to"], q.Args["to_keys"] = to.V, contractorKeys(to.V)
		rolls += " AND keys <= {to_keys:String}"
	}
	q.SQL = "SELECT " + contractorRow.String() + `
FROM (
  SELECT ` + contractorColumns.String() + `
  FROM contractors FINAL
  WHERE tenant = {tenant:String} AND project = '' AND ` + within("id") + ` AND NOT deleted
) AS contractor
INNER JOIN (
  SELECT referred, max(marked) AS marked
  FROM (
    SELECT contractor AS referred, sumIf(count, project IN {marked:Array(String)}) != 0 AS marked
    FROM sums
    PREWHERE ` + rolls + `
    WHERE tenant = {tenant:String} AND project IN {projects:Array(String)}
    GROUP BY referred
    HAVING sum(count) != 0
    UNION ALL
    SELECT contractor_id, project IN {marked:Array(String)}
    FROM contracts FINAL
    WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND ` + within("contractor_id") + ` AND NOT deleted
  )
  GROUP BY referred
) AS reference ON contractor.id = reference.referred
ORDER BY id
LIMIT {limit:UInt32}`
	return q
}

// Contractors returns a page of contractors, ascending by id, and whether others follow. It is cut where contractors are
// large.
func (r *Reader) Contractors(ctx context.Context, p ContractorPage) (page []Contractor, more bool, err error) {
	if len(p.Projects) == 0 {
		return nil, false, nil
	}
	has, more, err := r.page(ctx, budgetSettings, p.Limit, func(ask int, settings clickhouse.Settings) (_ int, err error) {
		page, err = r.contractors(ctx, p, ask, settings)
		return len(page), err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read contractors: %w", err)
	}
	return page[:has], more, nil
}

// contractors reads so many contractors of the page, as far as there are, window by window: so of each project those
// references alone are read that lie in a window.
func (r *Reader) contractors(ctx context.Context, p ContractorPage, ask int, settings clickhouse.Settings) (page []Contractor, err error) {
	room := settings["max_result_bytes"].(int) // for all windows together
	after := p.After
	for window := max(leastWindow, contractorWindow*ask); ; window *= widerWindow {
		var to events.Opt[string]
		err := r.each(ctx, p.boundQuery(after, window), pageSettings, func(scan func(...any) error) error {
			to.Ok = true
			return scan(&to.V)
		})
		if err != nil {
			return nil, err
		}
		err = contractorRow.read(ctx, r, p.query(after, to, ask-len(page)), settings, func(row *Contractor) error {
			if room -= row.size(); room < 0 {
				return ErrTooLarge
			}
			page = append(page, *row)
			return nil
		})
		if err != nil || !to.Ok || len(page) >= ask {
			return page, err
		}
		after = to.V
	}
}

// size is about how many bytes the contractor has.
func (c *Contractor) size() int {
	return len(c.ID) + len(c.Name.V) + len(c.City.V) + len(c.Country.V) + len(c.TaxID.V) + len(c.RegistrationNumber.V)
}
