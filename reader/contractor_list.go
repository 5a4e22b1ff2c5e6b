package reader

import (
	"context"
	"fmt"

	"tallyhouse/schemas/events"
)

// Contractor is a contractor as the API shows it (spec section 2.7).
type Contractor struct {
	ID                 string
	Name               events.Opt[string]
	City               events.Opt[string]
	Country            events.Opt[string]
	TaxID              events.Opt[string]
	RegistrationNumber events.Opt[string]
	Marked             bool // a marked project refers to it
}

// ContractorPage says which contractors are wanted: those that a record or contract of one of the projects refers to.
type ContractorPage struct {
	Tenant   string
	Projects []string
	Marked   []string // those of the projects whose references are told apart
	After    string   // id
	Limit    int
}

// query joins the contractors with those that are referred to: of records a view knows them, contracts are few. The contractors go
// first, so that the page is cut in their order.
func (p ContractorPage) query() Query {
	return Query{
		SQL: `SELECT id, name, city, country, tax_id, registration_number, marked
FROM (
  SELECT id, name, city, country, tax_id, registration_number
  FROM contractors FINAL
  WHERE tenant = {tenant:String} AND project = '' AND id > {after:String} AND NOT deleted
) AS contractor
INNER JOIN (
  SELECT referred, max(project IN {marked:Array(String)}) AS marked
  FROM (
    SELECT project, contractor AS referred
    FROM record_contractors
    WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND contractor > {after:String}
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
		Args: map[string]any{"tenant": p.Tenant, "projects": p.Projects, "marked": p.Marked, "after": p.After, "limit": p.Limit + 1},
	}
}

// Contractors returns a page of contractors, ascending by id, and whether others follow.
func (r *Reader) Contractors(ctx context.Context, p ContractorPage) (page []Contractor, more bool, err error) {
	if len(p.Projects) == 0 {
		return nil, false, nil
	}
	var c Contractor
	var name, city, country, tax, registration *string
	var marked uint8
	err = r.each(ctx, p.query(), budgetSettings, func(scan func(...any) error) error {
		if err := scan(&c.ID, &name, &city, &country, &tax, &registration, &marked); err != nil {
			return err
		}
		c.Name, c.City, c.Country, c.TaxID, c.RegistrationNumber = opt(name), opt(city), opt(country), opt(tax), opt(registration)
		c.Marked = marked != 0
		page = append(page, c)
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("read contractors: %w", err)
	}
	if more = len(page) > p.Limit; more {
		page = page[:p.Limit]
	}
	return page, more, nil
}
