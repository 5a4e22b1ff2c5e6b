package demo

import (
	"fmt"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// addPlans spreads the money of most lines over time. Some have no dates yet.
func (w *world) addPlans(p *project) {
	var d dice
	d.take(w.Seed, ofPlan, int64(p.number))
	for _, leaf := range p.leaves {
		if !d.in10000(7000) {
			continue
		}
		line := p.nodes[leaf].line
		from := calendar.Date(p.begin/day).Month() + calendar.Month(12*int64(line.from)+d.between(0, 6))
		method := oneOf(&d, []string{"linearDays", "linearDays", "linearMonths", "sCurve", "custom"})
		data := events.LinePlan{ProjectID: p.id, NodeID: p.nodes[leaf].id, Method: method}
		if d.in10000(9000) {
			data.StartDate = events.Some(from.First())
			data.EndDate = events.Some((calendar.Date(w.end/day).Month() + calendar.Month(d.between(-2, 30))).Last())
		}
		if data.Method == "custom" {
			for k := range calendar.Month(d.between(2, 6)) {
				month := calendar.Date(w.end/day).Month() + 3*k
				data.CustomMonths = append(data.CustomMonths, events.MonthValue{Month: month, Value: 1000_00 * d.between(1, 80)})
			}
		}
		if d.in10000(1000) {
			data.Recurring = events.Some(events.Recurrence{EveryMonths: int(oneOf(&d, []int64{1, 3})), From: from})
		}
		w.schedule.add(change{topic: events.LinePlans, id: fmt.Sprintf("lp-%04d-%02d", p.number+1, leaf+1), version: 1, at: p.begin + 3*day,
			data: func() any { return &data }})
	}
}
