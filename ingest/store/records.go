package store

import (
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

func records() *Entity {
	type (
		record     = events.Record
		allocation = events.RecordAllocation
	)
	allocations := func(r *record) []allocation { return r.Allocations }
	return &Entity{
		Topic: events.Records,
		Table: "records",
		Columns: []Column{
			textColumn("source", func(r *record) string { return r.Source }),
			textColumn("direction", func(r *record) string { return r.Direction }),
			textColumn("status", func(r *record) string { return string(analytics.StatusOf(r.StepKind)) }),
			textOrNull("workflow_step", func(r *record) events.Opt[string] { return r.WorkflowStep }),
			textColumn("contractor_id", func(r *record) string { return r.ContractorID.V }),
			textOrNull("counterparty_name", func(r *record) events.Opt[string] { return r.CounterpartyName }),
			textOrNull("invoice_number", func(r *record) events.Opt[string] { return r.InvoiceNumber }),
			dateOrNull("recognition_date", func(r *record) events.Opt[calendar.Date] { return r.RecognitionDate }),
			dateOrNull("due_date", func(r *record) events.Opt[calendar.Date] { return r.DueDate }),
			instantOrNull("paid_at", func(r *record) events.Opt[time.Time] { return r.PaidAt }),
			dateOrNull("given_cash_date", func(r *record) events.Opt[calendar.Date] { return r.CashDate }),
			dateOrNull("cash_date", analytics.CashDate),
			textColumn("currency", func(r *record) string { return r.Currency.V }),
			integerOrNull("net", func(r *record) events.Opt[int64] { return r.Net }),
			integerOrNull("tax", func(r *record) events.Opt[int64] { return r.Tax }),
			integerOrNull("gross", func(r *record) events.Opt[int64] { return r.Gross }),
			textsColumn("allocation_node", allocations, func(a *allocation) string { return a.NodeID.V }),
			integersColumn("allocation_net", allocations, func(a *allocation) int64 { return a.Net.V }),
			textColumn("contract_id", func(r *record) string { return r.ContractID.V }),
			boolColumn("certified", func(r *record) bool { return r.CertifiedCodes.Ok }),
			jsonColumn("certified_codes", func(b []byte, r *record) []byte { return appendCodes(b, r.CertifiedCodes.V) }),
			// What a filter on an accounting code looks for.
			textsColumn("certified_keys", func(r *record) []events.AccountingCode { return r.CertifiedCodes.V },
				func(c *events.AccountingCode) string { return c.System + ":" + c.Code }),
			jsonColumn("documents", events.AppendDocuments),
			textColumn("channel", func(r *record) string { return r.Intake.Channel }),
			textColumn("intake_status", func(r *record) string { return r.Intake.Status.V }),
			instantOrNull("received_at", func(r *record) events.Opt[time.Time] { return r.Intake.ReceivedAt }),
		},
		Formula: "records-0cf07ce4",
		project: func(_ string, data any) string { return data.(*record).ProjectID },
		contribute: func(c analytics.Contribution, id string, data any) (analytics.Contribution, error) {
			return analytics.RecordContribution(c, id, data.(*record))
		},
		version: recordVersion,
		restore: restoreRecord,
		restored: []string{
			"source", "status", "contractor_id", "recognition_date", "cash_date", "currency", "net", "tax", "gross",
			"contract_id", "allocation_node", "allocation_net",
		},
	}
}
