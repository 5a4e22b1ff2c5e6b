package reader

import (
	"context"
	"fmt"

	"tallyhouse/schemas/events"
)

// Project is a project as the API shows it (spec section 2.2).
type Project struct {
	ID                string
	Name              string
	WorkspaceID       events.Opt[string]
	BudgetStructureID events.Opt[string]
	InboundEmail      events.Opt[string]
}

// projectsQuery finds the projects with these ids, ascending.
func projectsQuery(tenant string, ids []string) Query {
	return Query{
		SQL: `SELECT id, name, workspace_id, budget_structure_id, inbound_email
FROM projects FINAL
WHERE tenant = {tenant:String} AND project IN {ids:Array(String)} AND NOT deleted
ORDER BY id`,
		Args: map[string]any{"tenant": tenant, "ids": ids},
	}
}

// Projects returns those of the projects that exist, ascending by id.
func (r *Reader) Projects(ctx context.Context, tenant string, ids []string) ([]Project, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var projects []Project
	var p Project
	var workspace, structure, email *string
	err := r.each(ctx, projectsQuery(tenant, ids), pageSettings, func(scan func(...any) error) error {
		if err := scan(&p.ID, &p.Name, &workspace, &structure, &email); err != nil {
			return err
		}
		p.WorkspaceID, p.BudgetStructureID, p.InboundEmail = opt(workspace), opt(structure), opt(email)
		projects = append(projects, p)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read projects: %w", err)
	}
	return projects, nil
}

// Project returns one project, or ErrNotFound.
func (r *Reader) Project(ctx context.Context, tenant, id string) (Project, error) {
	found, err := r.Projects(ctx, tenant, []string{id})
	if err != nil {
		return Project{}, err
	}
	if len(found) == 0 {
		return Project{}, ErrNotFound
	}
	return found[0], nil
}
