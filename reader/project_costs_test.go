package reader

import (
	"fmt"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

func TestAPageOfFacilitiesRestsOnABoundedNumberOfBudgets(t *testing.T) {
	// Given a tenant of many projects, one of them in another currency
	projects := []FinancedProject{{ProjectRef: ProjectRef{ID: "abroad"}, Currency: "CHF"}}
	all := make([]string, 2*maxPageBudgets)
	for i := range all {
		all[i] = fmt.Sprint("P", i)
		projects = append(projects, FinancedProject{ProjectRef: ProjectRef{ID: all[i]}, Currency: "EUR"})
	}
	facility := func(projects ...string) Facility {
		return Facility{Facility: analytics.Facility{Facility: events.Facility{ProjectIDs: projects, Currency: "EUR"}}}
	}
	half := maxPageBudgets / 2
	for name, c := range map[string]struct {
		page          []Facility
		shown, budget int
	}{
		"as many as may be":        {[]Facility{facility(all[:half]...), facility(all[half:maxPageBudgets]...)}, 2, maxPageBudgets},
		"one more":                 {[]Facility{facility(all[:half]...), facility(all[half : maxPageBudgets+1]...)}, 1, half},
		"the same, again":          {[]Facility{facility(all[:half]...), facility(all[:half]...), facility("P0", "P0")}, 3, half},
		"the first needs them all": {[]Facility{facility(all...), facility("P0"), facility("P1")}, 3, len(all)},
		"in another currency":      {[]Facility{facility(append(all[:1:1], "abroad")...), facility("abroad")}, 2, 0},
	} {
		// When the page is made
		costs := newProjectCosts(projects)
		shown := costs.need(c.page)
		// Then it ends before it takes more
		if shown != c.shown || len(costs.eac) != c.budget {
			t.Errorf("%s: %d facilities and %d budgets, want %d and %d", name, shown, len(costs.eac), c.shown, c.budget)
		}
	}
}
