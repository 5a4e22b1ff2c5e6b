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
	budgetsAtOnce  = 50 // of one statement
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

// maxCachedEstimates bounds the estimates that are kept, in bytes.
const maxCachedEstimates = 8 << 20

// estimateKey names what a project's estimate follows from, beside a standing.
type estimateKey struct {
	tenant  string
	project FinancedProject
}

// read finds the estimates that are needed. Those that nothing has changed since are kept; the others are computed, those of
// many projects from one statement.
func (c *projectCosts) read(ctx context.Context, r *Reader, tenant string) error {
	if len(c.eac) == 0 {
		return nil
	}
	standing, settled, err := r.standing(ctx, estimateSources)
	if err != nil {
		return err
	}
	state := string(standing.Digest[:])
	var missing []FinancedProject
	for _, id := range slices.Sorted(maps.Keys(c.eac)) {
		p := c.projects[id]
		if eac, ok := r.costs.get(state, estimateKey{tenant, p}); ok && settled {
			c.eac[id] = eac
		} else {
			missing = append(missing, p)
		}
	}
	for projects := range slices.Chunk(missing, budgetsAtOnce) {
		if err := r.estimates(ctx, tenant, projects, c.eac); err != nil {
			return fmt.Errorf("estimate the costs of projects: %w", err)
		}
		if !settled {
			continue
		}
		for _, p := range projects {
			r.costs.put(state, estimateKey{tenant, p}, c.eac[p.ID], len(tenant)+len(p.ID)+len(p.StructureID.V)+len(state)+nameOverhead)
		}
	}
	return nil
}

// estimatesQuery reads what the estimates of projects are made of, each row behind its project, and beside it the
// positions of the table of nodes, which have none. It is budgetQuery without what is invoiced.
func estimatesQuery(tenant string, projects []string) Query {
	const of = "\nWHERE tenant = {tenant:String} AND project IN {projects:Array(String)}"
	return Query{
		SQL: "SELECT '' AS of_project, " + nodesBranch + `
UNION ALL
SELECT project, ` + sumsBranch + allOf("row") + `
FROM (
  SELECT project, ` + budgetSums + ` AS row
  FROM sums` + of + ` AND ` + betweenRolls(estimateRolls...) + `
  GROUP BY project, keys
)
GROUP BY project
UNION ALL
SELECT project, ` + entriesBranch + of + ` AND NOT deleted AND value IS NOT NULL`,
		Args: map[string]any{"tenant": tenant, "projects": projects},
	}
}

// estimates puts the live estimates at completion of the projects into a map.
func (r *Reader) estimates(ctx context.Context, tenant string, projects []FinancedProject, into map[string]analytics.Int128) error {
	inputs, refs := make(map[string]*budgetRows, len(projects)), make([]ProjectRef, len(projects))
	for i, p := range projects {
		refs[i] = p.ProjectRef
		inputs[p.ID] = &budgetRows{input: analytics.BudgetInput{Currency: p.Currency}}
	}
	none := budgetRows{nodes: make(positions)} // of no project: positions
	inputs[""] = &none
	var project string
	var part budgetPart
	err := r.each(ctx, estimatesQuery(tenant, projectIDs(refs)), budgetSettings, func(scan func(...any) error) error {
		if err := scan(append([]any{&project}, part.places()...)...); err != nil {
			return err
		}
		return inputs[project].takePart(&part)
	})
	if err != nil {
		return err
	}
	structures, err := r.structuresAt(ctx, none.nodes.String(), tenant, refs)
	if err != nil {
		return err
	}
	for _, p := range refs {
		rows := inputs[p.ID]
		if err := rows.gatherAll(); err != nil {
			return err
		}
		rows.input.Structure = structures[p.ID]
		into[p.ID] = analytics.EstimateAtCompletion(rows.input)
	}
	return nil
}

// of are the costs of the projects that a facility finances.
func (c *projectCosts) of(f *Facility) []analytics.ProjectCost {
	var costs []analytics.ProjectCost
	for _, id := range c.costing(f) {
		costs = append(costs, analytics.ProjectCost{Currency: c.projects[id].Currency, EAC: c.eac[id]})
	}
	return costs
}
