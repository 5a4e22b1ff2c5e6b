package analytics

// CashflowWithin is Cashflow with room for so many months of all lines.
var CashflowWithin = cashflowWithin
