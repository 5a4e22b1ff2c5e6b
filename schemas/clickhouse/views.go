package clickhouse

import (
	"slices"
	"strings"
)

// View is one roll-up: sums of the contributions in one state table, by (tenant, project, Keys...), kept in one table of its own by
// one materialised view. Everything that is ever asked of a view follows from this: what it does at an insert, how a batch that it
// missed is mended, what it should hold.
type View struct {
	Name  string   // of its target table
	Table string   // the state table
	Keys  []string // members of a contribution that are part of the key, in its order
	Sums  []string // members of a contribution that are summed, besides position
}

// Views lists all roll-ups.
func Views() []View { return slices.Clone(views) }

var views = []View{
	{
		Name:  "record_sums",
		Table: "records",
		Keys:  []string{"contract", "contractor", "node", "currency", "status", "source", "cash_month"},
		Sums:  []string{"net", "tax", "gross", "count", "allocations"},
	},
	{
		Name:  "record_months",
		Table: "records",
		Keys:  []string{"node", "currency", "status", "source", "recognition_month"},
		Sums:  []string{"net", "tax", "gross", "count", "allocations"},
	},
	{
		Name:  "record_lines",
		Table: "records",
		Keys:  []string{"contract", "node", "currency", "status", "source"},
		Sums:  []string{"net", "tax", "gross", "count", "allocations"},
	},
	{
		Name:  "record_contractors",
		Table: "records",
		Keys:  []string{"contractor"},
		Sums:  []string{"count"},
	},
	{
		Name:  "budget_sums",
		Table: "budget_rows",
		Keys:  []string{"node", "currency"},
		Sums:  []string{"value", "count"},
	},
	{
		Name:  "transfer_sums",
		Table: "budget_transfers",
		Keys:  []string{"node", "currency"},
		Sums:  []string{"value", "count"},
	},
	{
		Name:  "contract_sums",
		Table: "contracts",
		Keys:  []string{"contract", "line", "node", "currency", "status"},
		Sums:  []string{"base", "committed", "pending", "lines"},
	},
	{
		Name:  "claim_sums",
		Table: "claims",
		Keys:  []string{"node", "currency"},
		Sums:  []string{"pending", "count"},
	},
}

// ViewNamed finds a view by its target table.
func ViewNamed(name string) (View, bool) {
	i := slices.IndexFunc(views, func(v View) bool { return v.Name == name })
	if i < 0 {
		return View{}, false
	}
	return views[i], true
}

// ViewsOf lists the views of a state table.
func ViewsOf(table string) []View {
	var of []View
	for _, v := range views {
		if v.Table == table {
			of = append(of, v)
		}
	}
	return of
}

// Trigger is the name of the materialised view that fills the target.
func (v View) Trigger() string { return v.Name + "_view" }

// Columns are the target's columns, in the order of Select and Recompute.
func (v View) Columns() []string {
	return slices.Concat([]string{"tenant", "project"}, v.Keys, v.measures())
}

// Key are the columns of the target's key.
func (v View) Key() []string { return slices.Concat([]string{"tenant", "project"}, v.Keys) }

func (v View) measures() []string { return slices.Concat([]string{"position"}, v.Sums) }

// Select is what the view does with the rows of source, the state table or a part of it. The sums are plain Int64, which is several
// times faster than Int128: batches are cut so that they cannot wrap.
func (v View) Select(source string) string {
	return v.sums(source, "arrayConcat(`before.%`, `after.%`)", "sum(one_%)")
}

// Recompute is what the target should hold, from the newest rows of source (which says FINAL).
func (v View) Recompute(source string) string {
	return v.sums(source, "`after.%`", "sum(toInt128(one_%))")
}

// sums writes the one shape that all these queries have; % in the expressions stands for the contribution's member.
func (v View) sums(source, summands, sum string) string {
	var arrays, joins, outer []string
	for _, m := range slices.Concat(v.Keys, v.measures()) {
		arrays = append(arrays, strings.ReplaceAll(summands+" AS all_%", "%", m))
		joins = append(joins, strings.ReplaceAll("all_% AS one_%", "%", m))
	}
	for _, k := range v.Keys {
		outer = append(outer, "one_"+k+" AS "+k)
	}
	for _, m := range v.measures() {
		outer = append(outer, strings.ReplaceAll(sum+" AS %", "%", m))
	}
	return "SELECT tenant, project, " + strings.Join(outer, ", ") +
		"\nFROM (SELECT tenant, project, " + strings.Join(arrays, ", ") + " FROM " + source + ")" +
		"\nARRAY JOIN " + strings.Join(joins, ", ") +
		"\nGROUP BY " + strings.Join(v.Key(), ", ")
}
