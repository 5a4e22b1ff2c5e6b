package reader

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tallyhouse/analytics"
)

// Bounds of the budgets that a page of facilities is computed from.
const (
	maxPageBudgets = 30 // a page ends before the facility that would need more, but has one facility at least
	budgetsAtOnce  = 4
)

// projectCosts are the live estimates of the projects that facilities finance.
type projectCosts struct {
	projects map[string]FinancedProject
	eac      map[string]analytics.Int128 // of those that are needed
}

func newProjectCosts(projects []FinancedProject) *projectCosts {
	c := &projectCosts{projects: make(map[string]FinancedProject, len(projects)), eac: make(map[string]analytics.Int128)}
	for _, p := range projects {
		c.projects[p.ID] = p
	}
	return c
}

// need notes the projects whose estimates the facilities need, and returns how many facilities may have theirs.
func (c *projectCosts) need(facilities []Facility) int {
	for i := range facilities {
		ids := c.costing(&facilities[i])
		fresh := 0
		for _, id := range ids {
			if _, noted := c.eac[id]; !noted {
				fresh++
			}
		}
		if i > 0 && fresh > 0 && len(c.eac)+fresh > maxPageBudgets {
			return i
		}
		for _, id := range ids {
			c.eac[id] = analytics.Int128{}
		}
	}
	return len(facilities)
}

// costing are the projects that a facility finances, each once: none where one of them has another currency, because
// then no costs are compared.
func (c *projectCosts) costing(f *Facility) []string {
	for _, id := range f.ProjectIDs {
		if c.projects[id].Currency != f.Currency {
			return nil
		}
	}
	ids := slices.Clone(f.ProjectIDs)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// read computes the estimates that are needed, some at the same time.
func (c *projectCosts) read(ctx context.Context, r *Reader, tenant string) error {
	ids := slices.Sorted(maps.Keys(c.eac))
	found := make([]analytics.Int128, len(ids))
	for first := 0; first < len(ids); first += budgetsAtOnce {
		var tasks []func() error
		for i := first; i < min(first+budgetsAtOnce, len(ids)); i++ {
			tasks = append(tasks, func() (err error) {
				found[i], err = r.estimate(ctx, tenant, c.projects[ids[i]])
				return err
			})
		}
		if err := together(tasks...); err != nil {
			return err
		}
	}
	for i, id := range ids {
		c.eac[id] = found[i]
	}
	return nil
}

// estimate is a project's live estimate at completion.
func (r *Reader) estimate(ctx context.Context, tenant string, p FinancedProject) (analytics.Int128, error) {
	request := BudgetRequest{Tenant: tenant, Project: p.ProjectRef, Currency: p.Currency, Figures: true}
	rows, err := r.budgetInput(ctx, request, budgetQuery)
	if err != nil {
		return analytics.Int128{}, fmt.Errorf("estimate the cost of a project: %w", err)
	}
	budget := analytics.Budget(rows.input)
	return budget.EAC(), nil
}

// of are the costs of the projects that a facility finances.
func (c *projectCosts) of(f *Facility) []analytics.ProjectCost {
	var costs []analytics.ProjectCost
	for _, id := range c.costing(f) {
		costs = append(costs, analytics.ProjectCost{Currency: c.projects[id].Currency, EAC: c.eac[id]})
	}
	return costs
}
