package api

import (
	"context"
	"slices"

	"tallyhouse/api/access"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
)

var listContracts = operation{
	id: "listContracts", path: "/v0/contracts",
	summary:     "List contracts",
	description: "The contracts of one project, or of all projects that the caller may see, ascending by id.",
	params: slices.Concat(paging, []query.Param{
		{Name: "projectId", Type: query.Text(), Description: "Only contracts of this project."},
	}),
	lists:   reader.ContractsTable,
	returns: list(contractTable.Reference()),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		projects, err := c.reach()
		if err != nil {
			return nil, err
		}
		wanted := reader.ContractPage{Tenant: c.caller.Tenant(), After: c.after, Limit: c.limit()}
		groups := make(map[string]access.Groups, len(projects))
		var visible resource.Mask
		for _, p := range projects {
			wanted.Projects = append(wanted.Projects, projectRef(p))
			visible |= contractTable.Visible(p.Groups)
			groups[p.ID] = p.Groups
		}
		wanted.Read = contractTable.Reads(visible)
		contracts, more, err := c.reader.Contracts(ctx, wanted)
		if err != nil {
			return nil, err
		}
		return writePage(s, c, page[reader.Contract]{items: contracts, more: more,
			place: byID(func(v *reader.Contract) string { return string(v.ID) }),
			write: shown(contractTable, func(v *reader.Contract) access.Groups { return groups[v.ProjectID] })}), nil
	},
}

var getContract = operation{
	id: "getContract", path: "/v0/contracts/{contractId}",
	summary:     "Get a contract",
	description: "One contract with its budget lines and amendments.",
	returns:     contractTable.Reference(),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		groups := func(project string) access.Groups {
			p, _ := c.caller.Project(project)
			return p.Groups
		}
		contract, err := c.reader.Contract(ctx, c.caller.Tenant(), c.path["contractId"], projectRefs(c.caller.Projects()),
			func(project string) reader.Part[reader.Contract] {
				return contractTable.Reads(contractTable.Visible(groups(project)))
			})
		if err != nil {
			return nil, err
		}
		return writeOne(contractTable, groups(contract.ProjectID), &contract), nil
	},
}
