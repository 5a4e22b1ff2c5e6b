package analytics

import (
	"math/big"

	"tallyhouse/schemas/calendar"
)

// CashflowWithin is Cashflow with room for so many months of all lines.
var CashflowWithin = cashflowWithin

// In returns what was paid on the line in a month before the current one, and the forecast of the others.
func (c *ProjectCashflow) In(n *CashflowNode, month calendar.Month) (actual, forecast Int128) {
	i := int(month - n.from)
	if i < 0 || i >= len(n.months) {
		return Int128{}, Int128{}
	}
	if month < c.AsOf {
		return n.months[i], Int128{}
	}
	return Int128{}, n.months[i]
}

// QuickIndexed is a rent after indexation by num / den as it is computed without big integers, and whether that is sure to
// be exact.
func QuickIndexed(num, den *big.Int, rent int64) (indexed Int128, sure bool) {
	return newFactor(num, den).quick(rent)
}
