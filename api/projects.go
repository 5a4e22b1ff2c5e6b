package api

import (
	"context"

	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

// projectTable is what the API shows of a project.
var projectTable = resource.NewTable("Project", "A real-estate development project.",
	resource.Field[reader.Project]{Name: "id", Groups: access.Core, Required: true,
		Value: resource.Text(func(p *reader.Project) string { return p.ID })},
	resource.Field[reader.Project]{Name: "name", Groups: access.Core, Required: true,
		Value: resource.Text(func(p *reader.Project) string { return p.Name })},
	resource.Field[reader.Project]{Name: "workspaceId", Groups: access.Core, Required: true,
		Value:       resource.NullText(func(p *reader.Project) events.Opt[string] { return p.WorkspaceID }),
		Description: "The workspace that the project belongs to."},
	resource.Field[reader.Project]{Name: "budgetStructureId", Groups: access.Budget,
		Value:       resource.NullText(func(p *reader.Project) events.Opt[string] { return p.BudgetStructureID }),
		Description: "The structure (template) assigned to the project: projects of the same structure share their nodeIds."},
	resource.Field[reader.Project]{Name: "inboundEmail", Groups: access.Documents,
		Value:       resource.NullText(func(p *reader.Project) events.Opt[string] { return p.InboundEmail }),
		Description: "The address to which invoices for the project can be sent as PDF attachments."},
)

var listProjects = operation{
	id: "listProjects", path: "/v0/projects",
	summary:     "List projects",
	description: "All projects that the caller may see, ascending by id, always in one page.",
	returns:     plainList(projectTable.Reference()),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		visible := c.caller.Projects()
		ids := make([]string, len(visible))
		for i, p := range visible {
			ids[i] = p.ID
		}
		projects, err := s.reader.Projects(ctx, c.caller.Tenant(), ids)
		if err != nil {
			return nil, err
		}
		return func(e *resource.Encoder) {
			e.B = append(e.B, `{"data":[`...)
			for i := range projects {
				if i > 0 {
					e.B = append(e.B, ',')
				}
				shown, _ := c.caller.Project(projects[i].ID) // among those listed above, which stay as they are
				e.Groups = shown.Groups
				projectTable.Append(e, projectTable.Visible(e.Groups), &projects[i])
			}
			e.B = append(e.B, `]}`...)
		}, nil
	},
}

var getProject = operation{
	id: "getProject", path: "/v0/projects/{projectId}",
	summary:     "Get a project",
	description: "One project.",
	returns:     projectTable.Reference(),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		shown, ok := c.caller.Project(c.path["projectId"])
		if !ok {
			return nil, reader.ErrNotFound
		}
		project, err := s.reader.Project(ctx, c.caller.Tenant(), c.path["projectId"])
		return writeOne(projectTable, shown.Groups, &project), err
	},
}
