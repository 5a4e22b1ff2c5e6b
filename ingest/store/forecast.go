package store

import (
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

func claims() *Entity {
	type claim = events.Claim
	return &Entity{
		Topic: events.Claims,
		Table: "claims",
		Columns: []Column{
			textColumn("contract_id", func(c *claim) string { return c.ContractID.V }),
			textColumn("node_id", func(c *claim) string { return c.NodeID.V }),
			textColumn("currency", func(c *claim) string { return c.Amount.Currency }),
			integerColumn("value", func(c *claim) int64 { return c.Amount.Value }),
			textColumn("probability_bp", func(c *claim) string { return c.ProbabilityBp.String() }),
			textColumn("status", func(c *claim) string { return c.Status }),
		},
		Formula: "claims-5c0ae1dd",
		project: func(_ string, data any) string { return data.(*claim).ProjectID },
		contribute: func(c analytics.Contribution, _ string, data any) (analytics.Contribution, error) {
			return analytics.ClaimContribution(c, data.(*claim)), nil
		},
		restore:  restoreClaim,
		restored: []string{"node_id", "currency", "value", "probability_bp", "status"},
	}
}

func restoreClaim(m image) any {
	probability, err := events.ParseDecimal(read[string](m, "probability_bp"))
	if err != nil {
		probability = events.Decimal{} // no message can have said so: verify finds that too little is expected
	}
	return &events.Claim{
		NodeID: idOrNone(read[string](m, "node_id")), Amount: restoreAmount(m), ProbabilityBp: probability, Status: read[string](m, "status"),
	}
}

func forecastSnapshots() *Entity {
	type snapshot = events.ForecastSnapshot
	lines := func(s *snapshot) []events.SnapshotLine { return s.Lines }
	explanations := func(s *snapshot) []events.Explanation { return s.Explanations }
	text := func(name string, of func(*events.SnapshotLine) string) Column { return textsColumn(name, lines, of) }
	amount := func(name string, of func(*events.SnapshotLine) int64) Column { return integersColumn(name, lines, of) }
	return &Entity{
		Topic: events.ForecastSnapshots,
		Table: "forecast_snapshots",
		Columns: []Column{
			textColumn("month", func(s *snapshot) string { return s.Month.String() }),
			integerColumn("version", func(s *snapshot) int64 { return s.Version }),
			textColumn("status", func(s *snapshot) string { return s.Status }),
			instantOrNull("submitted_at", func(s *snapshot) events.Opt[time.Time] { return s.SubmittedAt }),
			instantOrNull("decided_at", func(s *snapshot) events.Opt[time.Time] { return s.DecidedAt }),
			text("line_node", func(l *events.SnapshotLine) string { return l.NodeID }),
			text("line_parent", func(l *events.SnapshotLine) string { return l.ParentID.V }),
			text("line_level", func(l *events.SnapshotLine) string { return l.Level }),
			text("line_code", func(l *events.SnapshotLine) string { return l.Code }),
			text("line_name", func(l *events.SnapshotLine) string { return l.Name }),
			amount("line_budget", func(l *events.SnapshotLine) int64 { return l.Budget }),
			amount("line_committed", func(l *events.SnapshotLine) int64 { return l.Committed }),
			amount("line_pending_changes", func(l *events.SnapshotLine) int64 { return l.PendingChanges }),
			amount("line_uncommitted", func(l *events.SnapshotLine) int64 { return l.Uncommitted }),
			boolsColumn("line_uncommitted_defaulted", lines, func(l *events.SnapshotLine) bool { return l.UncommittedDefaulted }),
			amount("line_invoiced", func(l *events.SnapshotLine) int64 { return l.Invoiced }),
			amount("line_paid", func(l *events.SnapshotLine) int64 { return l.Paid }),
			textsColumn("explanation_node", explanations, func(e *events.Explanation) string { return e.NodeID }),
			textsColumn("explanation_reason", explanations, func(e *events.Explanation) string { return e.Reason }),
		},
		project: func(_ string, data any) string { return data.(*snapshot).ProjectID },
	}
}
