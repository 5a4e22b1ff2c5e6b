package clickhouse

import (
	"slices"
	"strings"
)

// ViewSelect is what the view of a state table does with the rows of source: it writes out the deltas of position rows.
// It is the text that the migrations have, which a test holds. The filter stands inside: beside the aliases it would be
// the delta's tenant.
func ViewSelect(table, source string) string {
	var columns []string
	for _, c := range ViewColumns(table) {
		switch c {
		case "position":
			c = "if(d.tenant = '', toInt128(row_version) - toInt128(batch_first), 0) AS position"
		case "squares":
			c = "if(d.tenant = '', toInt128(row_version) * row_version - toInt128(batch_first) * batch_first, 0) AS squares"
		default:
			c = "d." + c + " AS " + c
		}
		columns = append(columns, c)
	}
	return "SELECT\n    " + strings.Join(columns, ",\n    ") + "\nFROM (SELECT row_version, batch_first, arrayJoin(delta) AS d FROM " + source + " WHERE tenant = '')"
}

// ViewColumns are the columns of sums that the view of a state table fills, in the order of ViewSelect. The others are
// empty in its rows.
func ViewColumns(table string) []string {
	return slices.Concat(DeltaKeys(table), []string{"position", "squares"}, DeltaAmounts(table))
}

// DeltaKeys are the texts of each entry of a table's deltas, the first members of the tuple: tenant, project, roll, and
// the keys of the table's rolls.
func DeltaKeys(table string) []string {
	const inEvery = 3
	all := SumKeys()
	return slices.Concat(all[:inEvery], ofRolls(table, all[inEvery:], func(r *Roll) []string { return r.Keys }))
}

// DeltaAmounts are the amounts of each entry of a table's deltas, those of the table's rolls: the members behind the
// texts.
func DeltaAmounts(table string) []string {
	return ofRolls(table, SumAmounts(), func(r *Roll) []string { return r.Amounts })
}

// ofRolls are those of the columns that one of the table's rolls has.
func ofRolls(table string, columns []string, has func(*Roll) []string) []string {
	return slices.DeleteFunc(columns, func(c string) bool {
		return !slices.ContainsFunc(RollsOf(table), func(id RollID) bool { return slices.Contains(has(id.Roll()), c) })
	})
}
