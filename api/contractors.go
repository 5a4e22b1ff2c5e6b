package api

import (
	"context"

	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

type contractorField = resource.Field[reader.Contractor]

// contractorTable is what the API shows of a contractor.
var contractorTable = resource.NewTable("Contractor",
	"A company that records or contracts refer to. Bank data are never shown.",
	contractorField{Name: "id", Groups: access.Core, Required: true,
		Value: resource.Text(func(c *reader.Contractor) string { return c.ID })},
	contractorField{Name: "name", Groups: access.Core, Required: true,
		Value: resource.NullText(func(c *reader.Contractor) events.Opt[string] { return c.Name })},
	contractorField{Name: "city", Groups: access.Core, Required: true,
		Value: resource.NullText(func(c *reader.Contractor) events.Opt[string] { return c.City })},
	contractorField{Name: "country", Groups: access.Core, Required: true,
		Value: resource.NullText(func(c *reader.Contractor) events.Opt[string] { return c.Country })},
	contractorField{Name: "taxId", Groups: access.Tax,
		Value: resource.NullText(func(c *reader.Contractor) events.Opt[string] { return c.TaxID })},
	contractorField{Name: "registrationNumber", Groups: access.Tax,
		Value: resource.NullText(func(c *reader.Contractor) events.Opt[string] { return c.RegistrationNumber })},
)

var listContractors = operation{
	id: "listContractors", path: "/v0/contractors",
	summary: "List contractors",
	description: "The contractors that a record or contract of a project refers to which the caller may see, ascending " +
		"by id.",
	params:  paging,
	lists:   reader.ContractorsTable,
	returns: list(contractorTable.Reference()),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		wanted := reader.ContractorPage{Tenant: c.caller.Tenant(), After: c.after, Limit: c.limit()}
		for _, p := range c.caller.Projects() {
			wanted.Projects = append(wanted.Projects, p.ID)
			if p.Groups.Has(access.Tax) {
				wanted.Marked = append(wanted.Marked, p.ID)
			}
		}
		contractors, more, err := c.reader.Contractors(ctx, wanted)
		if err != nil {
			return nil, err
		}
		return writePage(s, c, page[reader.Contractor]{items: contractors, more: more,
			place: byID(func(v *reader.Contractor) string { return v.ID }), write: shown(contractorTable, contractorGroups)}), nil
	},
}

// contractorGroups shows tax fields where a project that grants them refers to the contractor.
func contractorGroups(c *reader.Contractor) access.Groups {
	if c.Marked {
		return access.Core | access.Tax
	}
	return access.Core
}
