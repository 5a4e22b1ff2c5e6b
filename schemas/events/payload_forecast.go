package events

import (
	"time"

	"tallyhouse/schemas/calendar"
)

var monthValue = table(
	need("month", month, func(v *MonthValue) *calendar.Month { return &v.Month }),
	need("value", minor, func(v *MonthValue) *int64 { return &v.Value }),
)

var recurrence = table(
	need("everyMonths", months(1), func(r *Recurrence) *int { return &r.EveryMonths }),
	need("from", month, func(r *Recurrence) *calendar.Month { return &r.From }),
	may("to", month, func(r *Recurrence) *Opt[calendar.Month] { return &r.To }),
)

const defaultMethod = "linearDays"

var phasingMethod = enum(defaultMethod, "linearMonths", "sCurve", "custom")

var linePlan = table(
	need("projectId", id, func(p *LinePlan) *string { return &p.ProjectID }),
	need("nodeId", id, func(p *LinePlan) *string { return &p.NodeID }),
	may("startDate", date, func(p *LinePlan) *Opt[calendar.Date] { return &p.StartDate }),
	may("endDate", date, func(p *LinePlan) *Opt[calendar.Date] { return &p.EndDate }),
	optional(need("method", phasingMethod, func(p *LinePlan) *string { return &p.Method }), func(p *LinePlan) bool { return p.Method != "" }),
	need("customMonths", list(monthValue.kind()), func(p *LinePlan) *[]MonthValue { return &p.CustomMonths }),
	may("recurring", recurrence.kind(), func(p *LinePlan) *Opt[Recurrence] { return &p.Recurring }),
).checked(func(_ *decoder, p *LinePlan, _ uint64) {
	if p.Method == "" {
		p.Method = defaultMethod
	}
})

var snapshotLine = table(
	need("nodeId", id, func(l *SnapshotLine) *string { return &l.NodeID }),
	may("parentId", id, func(l *SnapshotLine) *Opt[string] { return &l.ParentID }),
	need("level", level, func(l *SnapshotLine) *string { return &l.Level }),
	need("code", text, func(l *SnapshotLine) *string { return &l.Code }),
	need("name", text, func(l *SnapshotLine) *string { return &l.Name }),
	need("budget", minor, func(l *SnapshotLine) *int64 { return &l.Budget }),
	need("committed", minor, func(l *SnapshotLine) *int64 { return &l.Committed }),
	need("pendingChanges", minor, func(l *SnapshotLine) *int64 { return &l.PendingChanges }),
	need("uncommitted", minor, func(l *SnapshotLine) *int64 { return &l.Uncommitted }),
	need("uncommittedDefaulted", boolean, func(l *SnapshotLine) *bool { return &l.UncommittedDefaulted }),
	need("invoiced", minor, func(l *SnapshotLine) *int64 { return &l.Invoiced }),
	need("paid", minor, func(l *SnapshotLine) *int64 { return &l.Paid }),
)

var explanation = table(
	need("nodeId", id, func(e *Explanation) *string { return &e.NodeID }),
	need("reason", text, func(e *Explanation) *string { return &e.Reason }),
)

var forecastSnapshot = table(
	need("projectId", id, func(s *ForecastSnapshot) *string { return &s.ProjectID }),
	need("month", month, func(s *ForecastSnapshot) *calendar.Month { return &s.Month }),
	need("version", integer(1, MaxVersion), func(s *ForecastSnapshot) *int64 { return &s.Version }),
	need("status", extensible("submitted", "approved", "rejected"), func(s *ForecastSnapshot) *string { return &s.Status }),
	may("submittedAt", instant, func(s *ForecastSnapshot) *Opt[time.Time] { return &s.SubmittedAt }),
	may("decidedAt", instant, func(s *ForecastSnapshot) *Opt[time.Time] { return &s.DecidedAt }),
	need("lines", list(snapshotLine.kind()), func(s *ForecastSnapshot) *[]SnapshotLine { return &s.Lines }),
	need("explanations", list(explanation.kind()), func(s *ForecastSnapshot) *[]Explanation { return &s.Explanations }),
)

// checkSnapshot holds the lines to a forest: every nodeId once, every parent a line of the snapshot, no circle.
func checkSnapshot(d *decoder, _ *Envelope, s *ForecastSnapshot) {
	place := make(map[string]int, len(s.Lines))
	for i, l := range s.Lines {
		if _, twice := place[l.NodeID]; twice {
			d.failAt(element("data.lines", i, "nodeId"), "repeats %s, which an earlier line has", quoted(l.NodeID))
			return
		}
		place[l.NodeID] = i
	}
	parents := make([]int, len(s.Lines)) // top lines have top
	const top = -1
	for i, l := range s.Lines {
		parents[i] = top
		if parent, known := place[l.ParentID.V]; known && l.ParentID.Ok {
			parents[i] = parent
		} else if l.ParentID.Ok {
			d.failAt(element("data.lines", i, "parentId"), "names %s, which is no line of the snapshot", quoted(l.ParentID.V))
			return
		}
	}
	passed := make([]int, len(s.Lines)) // the walk that came by first, counted from 1
	for start := range s.Lines {
		walk := start + 1
		i := start
		for ; i != top && passed[i] == 0; i = parents[i] {
			passed[i] = walk
		}
		if i != top && passed[i] == walk {
			d.failAt(element("data.lines", i, "parentId"), "leads in a circle back to %s", quoted(s.Lines[i].NodeID))
			return
		}
	}
}
