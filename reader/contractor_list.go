package reader

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"

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

// query joins the contractors with those that are referred to: of records a roll knows them, contracts are few. The
// contractors go first, so that the page is cut in their order.
func (p ContractorPage) query(ask int) Query {
	return Query{
		SQL: "SELECT " + contractorRow.String() + `
FROM (
  SELECT ` + contractorColumns.String() + `
  FROM contractors FINAL
  WHERE tenant = {tenant:String} AND project = '' AND id > {after:String} AND NOT deleted
) AS contractor
INNER JOIN (
  SELECT referred, max(project IN {marked:Array(String)}) AS marked
  FROM (
    SELECT project, contractor AS referred
    FROM sums
    WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND roll = 'contractors' AND contract = '' AND contractor > {after:String}
    GROUP BY project, contractor
    HAVING sum(count) != 0
    UNION ALL
    SELECT project, contractor_id
    FROM contracts FINAL
    WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND contractor_id > {after:String} AND NOT deleted
  )
  GROUP BY referred
) AS reference ON contractor.id = reference.referred
ORDER BY id
LIMIT {limit:UInt32}`,
		Args: map[string]any{"tenant": p.Tenant, "projects": p.Projects, "marked": p.Marked, "after": p.After,
			"limit": ask},
	}
}

// Contractors returns a page of contractors, ascending by id, and whether others follow. It is cut where contractors are
// large.
func (r *Reader) Contractors(ctx context.Context, p ContractorPage) (page []Contractor, more bool, err error) {
	if len(p.Projects) == 0 {
		return nil, false, nil
	}
	has, more, err := r.page(ctx, budgetSettings, p.Limit, func(ask int, settings clickhouse.Settings) (int, error) {
		page = nil
		err := contractorRow.read(ctx, r, p.query(ask), settings, appendTo(&page))
		return len(page), err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read contractors: %w", err)
	}
	return page[:has], more, nil
}
