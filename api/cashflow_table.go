package api

import (
	"iter"

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
	nodes     []analytics.CashflowNode
}

// cashflowLine is one of its lines.
type cashflowLine struct {
	*analytics.CashflowNode
	of *shownCashflow
}

// cashflowMonth is what a line pays in a month.
type cashflowMonth struct {
	month            calendar.Month
	actual, forecast analytics.Int128
}

// lines makes one line after another.
func (c *shownCashflow) lines() iter.Seq[*cashflowLine] {
	return func(yield func(*cashflowLine) bool) {
		line := cashflowLine{of: c}
		for i := range c.nodes {
			if line.CashflowNode = &c.nodes[i]; !yield(&line) {
				return
			}
		}
	}
}

// months makes one month after another.
func (l *cashflowLine) months() iter.Seq[*cashflowMonth] {
	return func(yield func(*cashflowMonth) bool) {
		var m cashflowMonth
		for m.month = l.of.First; m.month <= l.of.Last; m.month++ {
			if m.actual, m.forecast = l.of.In(l.CashflowNode, m.month); !yield(&m) {
				return
			}
		}
	}
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
		Value:       resource.Sequence(cashflowNodeTable, (*shownCashflow).lines),
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
		Value:       resource.Sequence(cashflowMonthTable, (*cashflowLine).months),
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
