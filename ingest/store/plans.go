package store

import (
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

func linePlans() *Entity {
	type plan = events.LinePlan
	custom := func(p *plan) []events.MonthValue { return p.CustomMonths }
	return &Entity{
		Topic: events.LinePlans,
		Table: "line_plans",
		Columns: []Column{
			textColumn("node_id", func(p *plan) string { return p.NodeID }),
			dateOrNull("start_date", func(p *plan) events.Opt[calendar.Date] { return p.StartDate }),
			dateOrNull("end_date", func(p *plan) events.Opt[calendar.Date] { return p.EndDate }),
			textColumn("method", func(p *plan) string { return p.Method }),
			textsColumn("custom_month", custom, func(v *events.MonthValue) string { return v.Month.String() }),
			integersColumn("custom_value", custom, func(v *events.MonthValue) int64 { return v.Value }),
			integerColumn("recurring_every_months", func(p *plan) int64 { return int64(p.Recurring.V.EveryMonths) }),
			textColumn("recurring_from", func(p *plan) string {
				return monthOrNone(events.Opt[calendar.Month]{V: p.Recurring.V.From, Ok: p.Recurring.Ok})
			}),
			textColumn("recurring_to", func(p *plan) string { return monthOrNone(p.Recurring.V.To) }),
		},
		project: func(_ string, data any) string { return data.(*plan).ProjectID },
	}
}

// monthOrNone is YYYY-MM, "" when there is none.
func monthOrNone(m events.Opt[calendar.Month]) string {
	if !m.Ok {
		return ""
	}
	return m.V.String()
}
