package clickhouse

import "strings"

// ViewSelect is what the view of a state table does with the rows of source: it writes out the deltas of position rows.
// It is the text that the migrations have, which a test holds. The filter stands inside: beside the aliases it would be
// the delta's tenant.
func ViewSelect(source string) string {
	var columns []string
	for _, k := range deltaKeys {
		columns = append(columns, "d."+k+" AS "+k)
	}
	columns = append(columns,
		"if(d.tenant = '', toInt128(row_version) - toInt128(batch_first), 0) AS position",
		"if(d.tenant = '', toInt128(row_version) * row_version - toInt128(batch_first) * batch_first, 0) AS squares")
	for _, a := range SumAmounts() {
		columns = append(columns, "d."+a+" AS "+a)
	}
	return "SELECT\n    " + strings.Join(columns, ",\n    ") + "\nFROM (SELECT row_version, batch_first, arrayJoin(delta) AS d FROM " + source + " WHERE tenant = '')"
}

// SumColumns are the columns of sums in the order of ViewSelect.
func SumColumns() []string {
	all := append([]string{}, deltaKeys[:]...)
	all = append(all, "position", "squares")
	return append(all, SumAmounts()...)
}

// deltaKeys are the texts of a delta's entries, in the order of the tuple.
var deltaKeys = [...]string{"roll", "tenant", "project", "contract", "contractor", "line", "node", "currency", "status", "month", "record"}

// DeltaKeys are the texts of a delta's entries, in the order of the tuple; its amounts are SumAmounts.
func DeltaKeys() []string { return append([]string{}, deltaKeys[:]...) }
