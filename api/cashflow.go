package api

import (
	"context"
	"fmt"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

var getCashflow = operation{
	id: "getCashflow", path: "/v0/projects/{projectId}/cashflow",
	summary: "Get a project's cash flow",
	description: "What each line of the budget has paid in past months, and how its funding to complete is phased over " +
		"the current month and those to come.",
	params: []query.Param{
		{Name: "from", Type: query.Month(),
			Description: "The first month, otherwise that of the first payment. At most 600 months can be listed."},
		{Name: "to", Type: query.Month(), Description: "The last month, otherwise that of the last forecast."},
		{Name: "level", Type: query.Enum(nodeLevels...),
			Description: "The deepest level to return: budget are the top lines only, subBudget two levels. Figures stay the " +
				"same."},
	},
	check: func(v query.Values) []problem.Parameter {
		from, to := query.Value[calendar.Month](v, "from"), query.Value[calendar.Month](v, "to")
		switch {
		case !from.Ok || !to.Ok:
			return nil
		case from.V > to.V:
			return []problem.Parameter{{Name: "from", Reason: "lies after to"}}
		}
		return tooManyMonths(from, to, from.V, to.V)
	},
	returns: cashflowTable.Reference(),
	kept:    func(*call) bool { return true },
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		project, ok := c.caller.Project(c.path["projectId"])
		if !ok {
			return nil, reader.ErrNotFound
		}
		figures := project.Groups.Has(access.Amounts | access.Budget)
		from, to := query.Value[calendar.Month](c.values, "from"), query.Value[calendar.Month](c.values, "to")
		flow, err := c.reader.Cashflow(ctx, reader.CashflowRequest{
			BudgetRequest: reader.BudgetRequest{
				Tenant: c.caller.Tenant(), Project: projectRef(project), Currency: project.Currency,
				Figures: figures, At: c.standing, Has: c.has,
			},
			From: from, To: to, Today: c.today,
		})
		if err != nil {
			return nil, err
		}
		if wrong := tooManyMonths(from, to, flow.First, flow.Last); wrong != nil {
			return nil, invalidQuery(wrong)
		}
		c.inputs = flow.Inputs
		shown := shownCashflow{ProjectCashflow: &flow.ProjectCashflow, projectID: project.ID, currency: project.Currency,
			lines: shownLines(&flow.ProjectCashflow, flow.ToLevel(query.Value[string](c.values, "level").V))}
		write := writeOne(cashflowTable, project.Groups, &shown)
		if !figures {
			return write, nil
		}
		return func(e *resource.Encoder) error {
			if e.Limit > 0 && shown.least() > e.Limit { // so nothing is written in vain
				return reader.ErrTooLarge
			}
			return write(e)
		}, nil
	},
}

// tooManyMonths is what is wrong with a request for more months than one may have.
func tooManyMonths(from, to events.Opt[calendar.Month], first, last calendar.Month) []problem.Parameter {
	if last-first < analytics.MaxCashflowMonths {
		return nil
	}
	name := "from"
	if !from.Ok {
		name = "to"
	}
	return []problem.Parameter{{Name: name,
		Reason: fmt.Sprintf("makes %d months; at most %d can be listed", last-first+1, analytics.MaxCashflowMonths)}}
}
