package clickhouse

import "strings"

// ViewSelect is what the view of a state table does with the rows of source: it writes out the deltas of position rows,
// column by column of sums (SumColumns). It is the text that the migrations have, which a test holds. The filter stands
// inside: beside the aliases it would be the delta's tenant. In the entry that moves the view's position the amounts are 0.
func ViewSelect(source string) string {
	var columns []string
	for _, c := range SumColumns() {
		value := "d." + c
		switch c {
		case AmountColumn("position"):
			value = "if(d.tenant = '', toInt128(row_version) - toInt128(batch_first), " + value + ")"
		case AmountColumn("squares"):
			value = "if(d.tenant = '', toInt128(row_version) * row_version - toInt128(batch_first) * batch_first, " + value + ")"
		}
		columns = append(columns, value+" AS "+c)
	}
	return "SELECT\n    " + strings.Join(columns, ",\n    ") +
		"\nFROM (SELECT row_version, batch_first, arrayJoin(delta) AS d FROM " + source + " WHERE tenant = '')"
}

// DeltaType is the type of the column delta: what a batch changes in sums, entry by entry, as its view writes it out.
func DeltaType() string {
	var members []string
	for _, k := range SumKeys() {
		members = append(members, k+" String")
	}
	for _, a := range SumAmounts() {
		members = append(members, a+" Int64")
	}
	return "Array(Tuple(" + strings.Join(members, ", ") + "))"
}
