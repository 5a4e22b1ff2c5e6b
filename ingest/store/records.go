package store

import (
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

func records() *Entity {
	type record = events.Record
	return &Entity{
		Topic: events.Records,
		Table: "records",
		Columns: []Column{
			textColumn("source", func(r *record) string { return r.Source }),
			textColumn("direction", func(r *record) string { return r.Direction }),
			textColumn("status", func(r *record) string { return string(analytics.StatusOf(r.StepKind)) }),
			textOrNull("workflow_step", func(r *record) proto.Nullable[string] { return nullable(r.WorkflowStep) }),
			textColumn("contractor_id", func(r *record) string { return r.ContractorID.V }),
			textOrNull("counterparty_name", func(r *record) proto.Nullable[string] { return nullable(r.CounterpartyName) }),
			textOrNull("invoice_number", func(r *record) proto.Nullable[string] { return nullable(r.InvoiceNumber) }),
			dateOrNull("recognition_date", func(r *record) proto.Nullable[time.Time] { return nullableDate(r.RecognitionDate) }),
			dateOrNull("due_date", func(r *record) proto.Nullable[time.Time] { return nullableDate(r.DueDate) }),
			instantOrNull("paid_at", func(r *record) proto.Nullable[time.Time] { return nullable(r.PaidAt) }),
			dateOrNull("given_cash_date", func(r *record) proto.Nullable[time.Time] { return nullableDate(r.CashDate) }),
			dateOrNull("cash_date", func(r *record) proto.Nullable[time.Time] { return nullableDate(analytics.CashDate(r)) }),
			textColumn("currency", func(r *record) string { return r.Currency.V }),
			integerOrNull("net", func(r *record) proto.Nullable[int64] { return nullable(r.Net) }),
			integerOrNull("tax", func(r *record) proto.Nullable[int64] { return nullable(r.Tax) }),
			integerOrNull("gross", func(r *record) proto.Nullable[int64] { return nullable(r.Gross) }),
			textsColumn("allocation_node", allocatedNodes),
			integersColumn("allocation_net", allocatedNets),
			textColumn("contract_id", func(r *record) string { return r.ContractID.V }),
			boolColumn("certified", func(r *record) bool { return r.CertifiedCodes.Ok }),
			textColumn("certified_codes", func(r *record) string { return codesJSON(r.CertifiedCodes.V) }),
			textsColumn("certified_keys", certifiedKeys),
			textColumn("documents", func(r *record) string { return documentsJSON(r.Documents) }),
			textColumn("channel", func(r *record) string { return r.Intake.Channel }),
			textColumn("intake_status", func(r *record) string { return r.Intake.Status.V }),
			instantOrNull("received_at", func(r *record) proto.Nullable[time.Time] { return nullable(r.Intake.ReceivedAt) }),
		},
		restore: restoreRecord,
		Shape:   analytics.RecordShape(),
		project: func(_ string, data any) string { return data.(*record).ProjectID },
		contribute: func(_ string, data any) (analytics.Contributions, error) {
			return analytics.RecordContributions(data.(*record))
		},
	}
}

func allocatedNodes(r *events.Record) []string {
	if len(r.Allocations) == 0 {
		return nil
	}
	nodes := make([]string, len(r.Allocations))
	for i, a := range r.Allocations {
		nodes[i] = a.NodeID.V
	}
	return nodes
}

func allocatedNets(r *events.Record) []int64 {
	if len(r.Allocations) == 0 {
		return nil
	}
	nets := make([]int64, len(r.Allocations))
	for i, a := range r.Allocations {
		nets[i] = a.Net.V
	}
	return nets
}

// certifiedKeys are what a filter on an accounting code looks for.
func certifiedKeys(r *events.Record) []string {
	if len(r.CertifiedCodes.V) == 0 {
		return nil
	}
	keys := make([]string, len(r.CertifiedCodes.V))
	for i, c := range r.CertifiedCodes.V {
		keys[i] = c.System + ":" + c.Code
	}
	return keys
}
