package store

import (
	"github.com/ClickHouse/ch-go/proto"

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
		restore: restoreBudgetRow,
		Shape:   analytics.BudgetRowShape(),
		project: func(_ string, data any) string { return data.(*row).ProjectID },
		contribute: func(_ string, data any) (analytics.Contributions, error) {
			return analytics.BudgetRowContributions(data.(*row)), nil
		},
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
		restore: restoreBudgetTransfer,
		Shape:   analytics.BudgetTransferShape(),
		project: func(_ string, data any) string { return data.(*transfer).ProjectID },
		contribute: func(_ string, data any) (analytics.Contributions, error) {
			return analytics.BudgetTransferContributions(data.(*transfer)), nil
		},
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
			integerOrNull("value", func(e *entry) proto.Nullable[int64] {
				return proto.Nullable[int64]{Value: e.Amount.V.Value, Set: e.Amount.Ok}
			}),
		},
		project: func(_ string, data any) string { return data.(*entry).ProjectID },
	}
}
