package api

import (
	"context"

	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

// projectTable is what the API shows of a project. Whoever decides about access knows all of it: nothing is read for it.
var projectTable = resource.NewTable("Project", "A real-estate development project.",
	resource.Field[access.Project]{Name: "id", Groups: access.Core, Required: true,
		Value: resource.Text(func(p *access.Project) string { return p.ID })},
	resource.Field[access.Project]{Name: "name", Groups: access.Core, Required: true,
		Value: resource.Text(func(p *access.Project) string { return p.Name })},
	resource.Field[access.Project]{Name: "workspaceId", Groups: access.Core, Required: true,
		Value:       resource.NullText(func(p *access.Project) events.Opt[string] { return p.WorkspaceID }),
		Description: "The workspace that the project belongs to."},
	resource.Field[access.Project]{Name: "budgetStructureId", Groups: access.Budget,
		Value:       resource.NullText(func(p *access.Project) events.Opt[string] { return p.BudgetStructureID }),
		Description: "The structure (template) assigned to the project: projects of the same structure share their nodeIds."},
	resource.Field[access.Project]{Name: "inboundEmail", Groups: access.Documents,
		Value:       resource.NullText(func(p *access.Project) events.Opt[string] { return p.InboundEmail }),
		Description: "The address to which invoices for the project can be sent as PDF attachments."},
)

var listProjects = operation{
	id: "listProjects", path: "/v0/projects",
	summary:     "List projects",
	description: "All projects that the caller may see, ascending by id, always in one page.",
	returns:     plainList(projectTable.Reference()),
	answer: func(_ context.Context, _ *Server, c *call) (writer, error) {
		projects := c.caller.Projects()
		return func(e *resource.Encoder) error {
			e.B = append(e.B, `{"data":[`...)
			for i := range projects {
				if i > 0 {
					e.B = append(e.B, ',')
				}
				e.Groups = projects[i].Groups
				if projectTable.Append(e, projectTable.Visible(e.Groups), &projects[i]); e.Full() {
					break
				}
			}
			e.B = append(e.B, `]}`...)
			return nil
		}, nil
	},
}

var getProject = operation{
	id: "getProject", path: "/v0/projects/{projectId}",
	summary:     "Get a project",
	description: "One project.",
	returns:     projectTable.Reference(),
	answer: func(_ context.Context, _ *Server, c *call) (writer, error) {
		project, ok := c.caller.Project(c.path["projectId"])
		if !ok {
			return nil, reader.ErrNotFound
		}
		return writeOne(projectTable, project.Groups, &project), nil
	},
}
