package analytics

import "tallyhouse/schemas/calendar"

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
