package events

import (
	"time"

	"tallyhouse/schemas/calendar"
)

// MonthValue is an amount planned for a month.
type MonthValue struct {
	Month calendar.Month
	Value int64
}

var monthValue = table("monthValue", "",
	need("month", month, func(v *MonthValue) *calendar.Month { return &v.Month }),
	need("value", minor, func(v *MonthValue) *int64 { return &v.Value }),
)

// Recurrence is the rhythm in which a budget line expects invoices.
type Recurrence struct {
	EveryMonths int
	From        calendar.Month
	To          Opt[calendar.Month]
}

var recurrence = table("recurrence", "",
	need("everyMonths", months, func(r *Recurrence) *int { return &r.EveryMonths }),
	need("from", month, func(r *Recurrence) *calendar.Month { return &r.From }),
	may("to", month, func(r *Recurrence) *Opt[calendar.Month] { return &r.To }),
)

// LinePlan is the payload of LinePlans.
type LinePlan struct {
	ProjectID    string
	NodeID       string
	StartDate    Opt[calendar.Date]
	EndDate      Opt[calendar.Date]
	Method       string // defaultMethod when the message gives none
	CustomMonths []MonthValue
	Recurring    Opt[Recurrence]
}

const defaultMethod = "linearDays"

var phasing = enum(defaultMethod, "linearMonths", "sCurve", "custom")

var linePlan = table("linePlan", "How the money of one budget line is spread over time.",
	need("projectId", id, func(p *LinePlan) *string { return &p.ProjectID }),
	need("nodeId", id, func(p *LinePlan) *string { return &p.NodeID }),
	may("startDate", date, func(p *LinePlan) *Opt[calendar.Date] { return &p.StartDate }),
	may("endDate", date, func(p *LinePlan) *Opt[calendar.Date] { return &p.EndDate }),
	optional(need("method", phasing, func(p *LinePlan) *string { return &p.Method }),
		func(p *LinePlan) bool { return p.Method != "" }).
		doc("`"+defaultMethod+"` when there is none"),
	need("customMonths", list(monthValue.kind()), func(p *LinePlan) *[]MonthValue { return &p.CustomMonths }).
		doc("for the method `custom`"),
	may("recurring", recurrence.kind(), func(p *LinePlan) *Opt[Recurrence] { return &p.Recurring }).
		doc("invoices are expected every so many months, between two months"),
).checked(func(_ *decoder, p *LinePlan) {
	if p.Method == "" {
		p.Method = defaultMethod
	}
})

// SnapshotLine is a budget line frozen at a month's end.
type SnapshotLine struct {
	NodeID               string
	ParentID             Opt[string]
	Level                string
	Code                 string
	Name                 string
	Budget               int64
	Committed            int64
	PendingChanges       int64
	Uncommitted          int64
	UncommittedDefaulted bool
	Invoiced             int64
	Paid                 int64
}

var snapshotLine = table("snapshotLine", "",
	need("nodeId", id, func(l *SnapshotLine) *string { return &l.NodeID }),
	may("parentId", id, func(l *SnapshotLine) *Opt[string] { return &l.ParentID }).
		doc("the `nodeId` of another line of the snapshot"),
	need("level", level, func(l *SnapshotLine) *string { return &l.Level }),
	need("code", text, func(l *SnapshotLine) *string { return &l.Code }),
	need("name", text, func(l *SnapshotLine) *string { return &l.Name }),
	need("budget", minor, func(l *SnapshotLine) *int64 { return &l.Budget }),
	need("committed", minor, func(l *SnapshotLine) *int64 { return &l.Committed }),
	need("pendingChanges", minor, func(l *SnapshotLine) *int64 { return &l.PendingChanges }),
	need("uncommitted", minor, func(l *SnapshotLine) *int64 { return &l.Uncommitted }),
	need("uncommittedDefaulted", boolean, func(l *SnapshotLine) *bool { return &l.UncommittedDefaulted }).
		doc("nobody entered an uncommitted amount on the line or below it"),
	need("invoiced", minor, func(l *SnapshotLine) *int64 { return &l.Invoiced }),
	need("paid", minor, func(l *SnapshotLine) *int64 { return &l.Paid }),
)

// Explanation is the reason that was given for a line's change.
type Explanation struct {
	NodeID string
	Reason string
}

var explanation = table("explanation", "",
	need("nodeId", id, func(e *Explanation) *string { return &e.NodeID }),
	need("reason", text, func(e *Explanation) *string { return &e.Reason }),
)

// ForecastSnapshot is the payload of ForecastSnapshots.
type ForecastSnapshot struct {
	ProjectID    string
	Month        calendar.Month
	Version      int64
	Status       string
	SubmittedAt  Opt[time.Time]
	DecidedAt    Opt[time.Time]
	Lines        []SnapshotLine
	Explanations []Explanation
}

var forecastSnapshot = table("forecastSnapshot", "A forecast as it was frozen at a month's end, in the project's currency. "+
	"The totals of a line include those of the lines below it.",
	need("projectId", id, func(s *ForecastSnapshot) *string { return &s.ProjectID }),
	need("month", month, func(s *ForecastSnapshot) *calendar.Month { return &s.Month }),
	need("version", version, func(s *ForecastSnapshot) *int64 { return &s.Version }).
		doc("of the snapshot within its month: 1, higher for a correction; the envelope's is the entity's"),
	need("status", extensible("submitted", "approved", "rejected"), func(s *ForecastSnapshot) *string { return &s.Status }),
	may("submittedAt", instant, func(s *ForecastSnapshot) *Opt[time.Time] { return &s.SubmittedAt }),
	may("decidedAt", instant, func(s *ForecastSnapshot) *Opt[time.Time] { return &s.DecidedAt }),
	need("lines", list(snapshotLine.kind()), func(s *ForecastSnapshot) *[]SnapshotLine { return &s.Lines }).
		doc("in any order"),
	need("explanations", list(explanation.kind()), func(s *ForecastSnapshot) *[]Explanation { return &s.Explanations }).
		doc("of changes since the month before"),
)

// checkSnapshot checks that the lines form a forest: every nodeId once, every parent a line of the snapshot, no cycle.
func checkSnapshot(d *decoder, _ *Envelope, s *ForecastSnapshot) {
	place := make(map[string]int, len(s.Lines))
	for i, l := range s.Lines {
		if _, twice := place[l.NodeID]; twice {
			d.failAt(element("data.lines", i, "nodeId"), "repeats %s, which an earlier line has", quoted(l.NodeID))
			return
		}
		place[l.NodeID] = i
	}
	const top = -1 // the parent of a line without one
	parents := make([]int, len(s.Lines))
	for i, l := range s.Lines {
		parents[i] = top
		if parent, known := place[l.ParentID.V]; known && l.ParentID.Ok {
			parents[i] = parent
		} else if l.ParentID.Ok {
			d.failAt(element("data.lines", i, "parentId"), "names %s, which is no line of the snapshot", quoted(l.ParentID.V))
			return
		}
	}
	passed := make([]int, len(s.Lines)) // the number of the first walk that came by, from 1; 0: none yet
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
