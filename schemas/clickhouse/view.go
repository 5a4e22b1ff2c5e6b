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

// ViewColumns are the columns of sums that the view of a state table fills, in the order of ViewSelect.
func ViewColumns(table string) []string {
	return slices.Concat(deltaKeys[:], []string{"position", "squares"}, SumAmounts(), OwnKeys(table))
}

// deltaKeys are the texts that the entries of every table's deltas have, at the beginning of the tuple.
var deltaKeys = [...]string{"roll", "tenant", "project", "contract", "contractor", "line", "node", "currency", "status", "month", "record"}

// DeltaKeys are the texts that the entries of every table's deltas begin with; SumAmounts follow, then OwnKeys.
func DeltaKeys() []string { return slices.Clone(deltaKeys[:]) }

// OwnKeys are the keys of a state table's rolls that only its own deltas have, at the end of the tuple: so the deltas of
// other tables take no room for them.
func OwnKeys(table string) (keys []string) {
	for _, k := range SumKeys() {
		if slices.Contains(deltaKeys[:], k) {
			continue
		}
		if slices.ContainsFunc(RollsOf(table), func(id RollID) bool { return slices.Contains(id.Roll().Keys, k) }) {
			keys = append(keys, k)
		}
	}
	return keys
}
