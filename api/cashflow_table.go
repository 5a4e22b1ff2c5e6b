package api

import (
	"strings"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// shownCashflow is a project's cash flow down to the level that was asked for.
type shownCashflow struct {
	*analytics.ProjectCashflow
	projectID string
	currency  string
	lines     []cashflowLine
}

// cashflowLine is one of its lines.
type cashflowLine struct {
	analytics.CashflowNode
	months *monthsText
}

// cashflowMonth is what a line pays in a month.
type cashflowMonth struct {
	month            calendar.Month
	actual, forecast analytics.Int128
}

// shownLines are the nodes of a cash flow as lines, which share what their months have in common.
func shownLines(flow *analytics.ProjectCashflow, nodes []analytics.CashflowNode) []cashflowLine {
	months := newMonthsText(flow.AsOf, flow.First, flow.Last)
	lines := make([]cashflowLine, len(nodes))
	for i := range nodes {
		lines[i] = cashflowLine{nodes[i], months}
	}
	return lines
}

// least is how many bytes the months of all lines take at least.
func (c *shownCashflow) least() (bytes int) {
	for i := range c.lines {
		bytes += len(c.lines[i].months.empty)
	}
	return bytes
}

// monthsText writes the months of one line after another: 240,000 objects where 2,000 lines have 120 months. Most are
// copied, for most lines have nothing in most months; in others one figure stands in the place of a 0.
type monthsText struct {
	asOf, first      calendar.Month
	empty            string // the listed months without anything, each with a comma before it
	size             int    // of each, in bytes
	actual, forecast int    // where these figures are in each
}

func newMonthsText(asOf, first, last calendar.Month) *monthsText {
	t := &monthsText{asOf: asOf, first: first}
	var e resource.Encoder
	for month := first; month <= last; month++ {
		e.B = append(e.B, ',')
		cashflowMonthTable.Append(&e, cashflowMonthTable.Visible(access.All), &cashflowMonth{month: month})
		if month == first {
			t.size = len(e.B)
		}
	}
	t.empty = string(e.B)
	place := func(key string) int { return strings.Index(t.empty, key) + len(key) }
	t.actual, t.forecast = place(`"actual":`), place(`"forecast":`)
	return t
}

// append writes what a line has in the listed months, given its values from a month on: payments before asOf, then the
// forecast.
func (t *monthsText) append(b []byte, from calendar.Month, values []analytics.Int128) []byte {
	if t.empty == "" {
		return append(b, "[]"...)
	}
	listed := len(t.empty) / t.size
	begin := min(max(0, int(from-t.first)), listed)
	end := min(max(begin, int(from-t.first)+len(values)), listed)
	start, copied := len(b), 0
	for i := begin; i < end; i++ {
		month := t.first + calendar.Month(i)
		value := values[month-from]
		if value.IsZero() {
			continue
		}
		at := i*t.size + t.forecast
		if month < t.asOf {
			at = i*t.size + t.actual
		}
		b = value.Append(append(b, t.empty[copied:at]...))
		copied = at + len("0")
	}
	b = append(b, t.empty[copied:]...)
	b[start] = '[' // in the place of the first comma
	return append(b, ']')
}

type (
	cashflowField = resource.Field[shownCashflow]
	lineField     = resource.Field[cashflowLine]
	monthField    = resource.Field[cashflowMonth]
)

// cashflowTable is what the API shows of a cash flow (docs/calculations.md#cash-flow).
var cashflowTable = resource.NewTable("Cashflow",
	"What the project pays month by month: net, in the project's currency.",
	cashflowField{Name: "projectId", Groups: access.Core, Required: true,
		Value: resource.Text(func(c *shownCashflow) string { return c.projectID })},
	cashflowField{Name: "currency", Groups: access.Core, Required: true,
		Value:       resource.Currency(func(c *shownCashflow) string { return c.currency }),
		Description: "The project's currency, ISO 4217."},
	cashflowField{Name: "asOf", Groups: access.Core, Required: true,
		Value:       resource.Month(func(c *shownCashflow) calendar.Month { return c.AsOf }),
		Description: "The first month of the forecast: the current month in Vienna."},
	cashflowField{Name: "nodes", Groups: access.Budget,
		Value:       resource.List(cashflowNodeTable, func(c *shownCashflow) []cashflowLine { return c.lines }),
		Description: "Active lines only, parents before children."},
)

var cashflowNodeTable = resource.NewTable("CashflowNode",
	"A line of the budget with what it pays, everything below it included: total the top lines only.",
	lineField{Name: "nodeId", Groups: access.Budget,
		Value: resource.Text(func(l *cashflowLine) string { return string(l.Node.ID) })},
	lineField{Name: "level", Groups: access.Budget,
		Value: resource.Text(func(l *cashflowLine) string { return l.Node.Level }).OneOf(nodeLevels...)},
	lineField{Name: "code", Groups: access.Budget,
		Value: resource.Text(func(l *cashflowLine) string { return l.Node.Code })},
	lineField{Name: "name", Groups: access.Budget,
		Value: resource.Text(func(l *cashflowLine) string { return l.Node.Name })},
	lineField{Name: "parentId", Groups: access.Budget,
		Value:       resource.NullText(func(l *cashflowLine) events.Opt[string] { return l.Node.ParentID }),
		Description: "The line above, which is always in the same response before this one; null for a top line."},
	lineField{Name: "months", Groups: access.Amounts,
		Value: resource.Written(cashflowMonthTable, func(b []byte, l *cashflowLine) []byte {
			from, values := l.Months()
			return l.months.append(b, from, values)
		}),
		Description: "The same months for all lines, without gaps."},
	lineField{Name: "undated", Groups: access.Amounts,
		Value:       resource.Integer(func(l *cashflowLine) analytics.Int128 { return l.Undated }),
		Description: "To be funded, but the line has no dates to phase it by. In the currency's smallest unit."},
	lineField{Name: "gap", Groups: access.Amounts,
		Value: resource.Integer(func(l *cashflowLine) analytics.Int128 { return l.Gap }),
		Description: "What entered months leave open of the amount to phase, negative where they hold too much. In the " +
			"currency's smallest unit."},
	lineField{Name: "flags", Groups: access.Amounts,
		Value: resource.Texts(func(l *cashflowLine) []string { return l.Flags.AppendNames(nil) }),
		Description: "Warnings of the line and of those below it: overdue, undated, customGap, overInvoicedVsEac, " +
			"recurringMissing. More may come."},
)

var cashflowMonthTable = resource.NewTable("CashflowMonth", "What a line pays in a month.",
	monthField{Name: "month", Groups: access.Amounts, Required: true,
		Value: resource.Month(func(m *cashflowMonth) calendar.Month { return m.month })},
	monthField{Name: "actual", Groups: access.Amounts, Required: true,
		Value:       resource.Integer(func(m *cashflowMonth) analytics.Int128 { return m.actual }),
		Description: "Paid in this month; 0 from the current month on. In the currency's smallest unit."},
	monthField{Name: "forecast", Groups: access.Amounts, Required: true,
		Value: resource.Integer(func(m *cashflowMonth) analytics.Int128 { return m.forecast }),
		Description: "Funding to complete that is phased into this month; 0 before the current month. In the currency's " +
			"smallest unit."},
)
