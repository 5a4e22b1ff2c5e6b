package reader

import (
	"context"
	"fmt"

	"tallyhouse/schemas/events"
)

// Project is a project.
type Project struct {
	ID string
	events.Project
}

var projectRow = append(columns[Project]{
	member("id", plain, func(p *Project) *string { return &p.ID }),
}, inside(func(p *Project) *events.Project { return &p.Project }, projectColumns)...)

// projectsQuery finds the projects with these ids, ascending.
func projectsQuery(tenant string, ids []string) Query {
	return Query{
		SQL: "SELECT " + projectRow.String() + `
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
	err := projectRow.read(ctx, r, projectsQuery(tenant, ids), pageSettings, func(row *Project) error {
		projects = append(projects, *row)
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
