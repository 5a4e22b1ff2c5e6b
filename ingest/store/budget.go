package store

import (
	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

func budgetRows() *Entity {
	type row = events.BudgetRow
	return &Entity{
		Topic: events.BudgetRows,
		Table: "budget_rows",
		Columns: []Column{
			textColumn("kind", func(r *row) string { return r.Kind }),
			textColumn("node_id", func(r *row) string { return r.NodeID.V }),
			textColumn("currency", func(r *row) string { return r.Amount.Currency }),
			integerColumn("value", func(r *row) int64 { return r.Amount.Value }),
			textColumn("status", func(r *row) string { return r.Status }),
		},
		Formula: "budget_rows-a50402fd",
		project: func(_ string, data any) string { return data.(*row).ProjectID },
		contribute: func(c analytics.Contribution, _ string, data any) (analytics.Contribution, error) {
			return analytics.BudgetRowContribution(c, data.(*row)), nil
		},
		restore:  restoreBudgetRow,
		restored: []string{"node_id", "currency", "value", "status"},
	}
}

func restoreBudgetRow(m image) any {
	return &events.BudgetRow{NodeID: idOrNone(read[string](m, "node_id")), Amount: restoreAmount(m), Status: read[string](m, "status")}
}

func restoreAmount(m image) events.Amount {
	return events.Amount{Value: read[int64](m, "value"), Currency: read[string](m, "currency")}
}

func budgetTransfers() *Entity {
	type transfer = events.BudgetTransfer
	return &Entity{
		Topic: events.BudgetTransfers,
		Table: "budget_transfers",
		Columns: []Column{
			textColumn("from_node_id", func(t *transfer) string { return t.FromNodeID.V }),
			textColumn("to_node_id", func(t *transfer) string { return t.ToNodeID.V }),
			textColumn("currency", func(t *transfer) string { return t.Amount.Currency }),
			integerColumn("value", func(t *transfer) int64 { return t.Amount.Value }),
			textColumn("status", func(t *transfer) string { return t.Status }),
		},
		Formula: "budget_transfers-0a296f6e",
		project: func(_ string, data any) string { return data.(*transfer).ProjectID },
		contribute: func(c analytics.Contribution, _ string, data any) (analytics.Contribution, error) {
			return analytics.BudgetTransferContribution(c, data.(*transfer)), nil
		},
		restore:  restoreBudgetTransfer,
		restored: []string{"from_node_id", "to_node_id", "currency", "value", "status"},
	}
}

func restoreBudgetTransfer(m image) any {
	return &events.BudgetTransfer{
		FromNodeID: idOrNone(read[string](m, "from_node_id")), ToNodeID: idOrNone(read[string](m, "to_node_id")),
		Amount: restoreAmount(m), Status: read[string](m, "status"),
	}
}

func uncommittedEntries() *Entity {
	type entry = events.UncommittedEntry
	return &Entity{
		Topic: events.UncommittedEntries,
		Table: "uncommitted_entries",
		Columns: []Column{
			textColumn("node_id", func(e *entry) string { return e.NodeID }),
			textColumn("currency", func(e *entry) string { return e.Amount.V.Currency }),
			integerOrNull("value", func(e *entry) events.Opt[int64] { return events.Opt[int64]{V: e.Amount.V.Value, Ok: e.Amount.Ok} }),
		},
		project: func(_ string, data any) string { return data.(*entry).ProjectID },
	}
}
