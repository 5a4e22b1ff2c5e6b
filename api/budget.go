package api

import (
	"context"

	"tallyhouse/api/access"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
)

var getProjectBudget = operation{
	id: "getProjectBudget", path: "/v0/projects/{projectId}/budget",
	summary: "Get a project's budget",
	description: "The lines of the project's budget with their figures. Every amount includes everything below its " +
		"line. With asOf: as the approved month-end forecast snapshot of that month froze it.",
	params: []query.Param{
		{Name: "level", Type: query.Enum(nodeLevels...),
			Description: "The deepest level to return: budget are the top lines only, subBudget two levels. Amounts stay the " +
				"same."},
		{Name: "asOf", Type: query.Month(), Groups: access.Amounts,
			Description: "A month: the approved month-end snapshot of it, exactly as approved; 404 when there is none."},
	},
	returns: budgetTable.Reference(),
	kept:    func(c *call) bool { return !c.values.Given("asOf") }, // a snapshot is no figure of now
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		project, ok := c.caller.Project(c.path["projectId"])
		if !ok {
			return nil, reader.ErrNotFound
		}
		request := reader.BudgetRequest{
			Tenant: c.caller.Tenant(), Project: projectRef(project), Currency: project.Currency,
			Level: query.Value[string](c.values, "level").V, Figures: project.Groups.Has(access.Amounts), At: c.standing, Has: c.has,
		}
		month := query.Value[calendar.Month](c.values, "asOf")
		if !month.Ok {
			budget, err := c.reader.Budget(ctx, request)
			c.inputs = budget.Inputs
			return writeOne(budgetTable, project.Groups, &budget), err
		}
		budget, err := c.reader.BudgetAsOf(ctx, request, month.V)
		return writeOne(monthEndTable, project.Groups, &budget), err
	},
}

// writeOne writes one object as far as the groups show it.
func writeOne[T any](table *resource.Table[T], groups access.Groups, v *T) writer {
	return func(e *resource.Encoder) error {
		e.Groups = groups
		table.Append(e, table.Visible(groups), v)
		return nil
	}
}
