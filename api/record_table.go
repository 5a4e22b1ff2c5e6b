package api

import (
	"time"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

type recordField = resource.Field[reader.Record]

// recordTable is what the API shows of a record (docs/calculations.md#records).
var recordTable = resource.NewTable("Record",
	"Money that moves on a project: an invoice, or an accrual booked before the invoice exists.",
	recordField{Name: "id", Groups: access.Core, Required: true,
		Value: resource.Text(func(r *reader.Record) string { return r.ID })},
	recordField{Name: "projectId", Groups: access.Core, Required: true,
		Value: resource.Text(func(r *reader.Record) string { return r.ProjectID })},
	recordField{Name: "systemKind", Groups: access.Core, Required: true,
		Value:       resource.Const[reader.Record]("cost").OneOf("cost", "income", "financing", "tax"),
		Description: "Version 0 returns cost."},
	recordField{Name: "direction", Groups: access.Core, Required: true,
		Value: resource.Stored(reader.RecordDirection, resource.Text).OneOf("in", "out")},
	recordField{Name: "basis", Groups: access.Core, Required: true,
		Value:       resource.Const[reader.Record]("actual").OneOf("actual", "forecast"),
		Description: "Version 0 returns actual."},
	recordField{Name: "source", Groups: access.Core, Required: true,
		Value: resource.Stored(reader.RecordSource, resource.Text).
			OneOf("invoice", "accrual", "rentRoll", "loan", "contract", "manual", "bankMatched"),
		Description: "An accrual is expected cost, booked before the invoice exists."},
	recordField{Name: "status", Groups: access.Core, Required: true,
		Value:       resource.Stored(reader.RecordStatus, resource.Text).OneOf(recordStatuses...),
		Description: "All approval steps are approvalPending."},
	recordField{Name: "workflowStep", Groups: access.Core, Required: true,
		Value:       resource.Stored(reader.RecordWorkflowStep, resource.NullText),
		Description: "The project's own name of the step."},
	recordField{Name: "counterparty", Groups: access.Core, Required: true, Reads: reader.RecordCounterparty,
		Value: resource.Object(counterpartyTable, func(r *reader.Record) *reader.Record { return r })},
	recordField{Name: "invoiceNumber", Groups: access.Core, Required: true,
		Value: resource.Stored(reader.RecordInvoiceNumber, resource.NullText)},
	recordField{Name: "recognitionDate", Groups: access.Core, Required: true,
		Value:       resource.Stored(reader.RecordRecognitionDate, resource.NullDate),
		Description: "The invoice date."},
	recordField{Name: "dueDate", Groups: access.Payment,
		Value: resource.Stored(reader.RecordDueDate, resource.NullDate)},
	recordField{Name: "cashDate", Groups: access.Payment,
		Value:       resource.Stored(reader.RecordPaidOn, resource.NullDate),
		Description: "The payment date, when paid."},
	recordField{Name: "net", Groups: access.Amounts, Reads: reader.RecordNet,
		Value: resource.NullAmount(func(r *reader.Record) (events.Opt[int64], string) { return r.Net, r.Currency.V })},
	recordField{Name: "tax", Groups: access.Amounts, Reads: reader.RecordTax,
		Value: resource.NullAmount(func(r *reader.Record) (events.Opt[int64], string) { return r.Tax, r.Currency.V })},
	recordField{Name: "gross", Groups: access.Amounts, Reads: reader.RecordGross,
		Value: resource.NullAmount(func(r *reader.Record) (events.Opt[int64], string) {
			return analytics.Gross(&r.Record), r.Currency.V
		}),
		Description: "As on the invoice, else net and tax."},
	recordField{Name: "allocations", Groups: access.Budget, Reads: reader.RecordAllocations,
		Value:       resource.List(allocationTable, func(r *reader.Record) []reader.RecordAllocation { return r.Bookings }),
		Description: "Where the amount is booked: at least one entry; several add up to net."},
	recordField{Name: "budgetNode", Groups: access.Budget, Reads: reader.RecordAllocations,
		Value: resource.NullObject(nodeRefTable, func(r *reader.Record) *analytics.NodeRef {
			if !r.SoleLine.Ok {
				return nil
			}
			return &r.SoleLine.V
		}),
		Description: "The budget line of the only allocation; null when the record is split across several lines."},
	recordField{Name: "accountingCodes", Groups: access.Accounting, Reads: reader.RecordCodes,
		Value:       resource.List(accountingCodeTable, func(r *reader.Record) []events.AccountingCode { return r.Codes }),
		Description: "As certified at approval, else derived from the budget lines."},
	recordField{Name: "documents", Groups: access.Documents, Reads: reader.RecordDocuments.Part(),
		Value:       resource.List(documentTable, reader.RecordDocuments.Get),
		Description: "Names only: files are not served."},
	recordField{Name: "intake", Groups: access.Core, Required: true, Reads: reader.RecordIntake,
		Value: resource.Object(intakeTable, func(r *reader.Record) *events.Intake { return &r.Intake })},
)

// recordStatuses are the states of records (docs/calculations.md#status).
var recordStatuses = []string{"setup", "approvalPending", "paymentPending", "paid", "rejected"}

var counterpartyTable = resource.NewTable("Counterparty", "The other side of a record.",
	recordField{Name: "contractorId", Groups: access.Core, Required: true,
		Value: resource.NullText(func(r *reader.Record) events.Opt[string] { return r.ContractorID })},
	recordField{Name: "name", Groups: access.Core, Required: true,
		Value:       resource.NullText(func(r *reader.Record) events.Opt[string] { return r.CounterpartyName }),
		Description: "Null while an invoice is still being set up from a scan."},
)

var intakeTable = resource.NewTable("Intake", "How a record came in.",
	resource.Field[events.Intake]{Name: "channel", Groups: access.Core, Required: true,
		Value: resource.Text(func(i *events.Intake) string { return i.Channel }).OneOf(intakeChannels...)},
	resource.Field[events.Intake]{Name: "status", Groups: access.Core, Required: true,
		Value: resource.NullText(func(i *events.Intake) events.Opt[string] { return i.Status }).
			OneOf("queued", "processing", "completed", "failed"),
		Description: "Of reading the document; null when nothing needed processing."},
	resource.Field[events.Intake]{Name: "receivedAt", Groups: access.Core, Required: true,
		Value: resource.NullInstant(func(i *events.Intake) events.Opt[time.Time] { return i.ReceivedAt })},
)

var intakeChannels = []string{"email", "app", "chat", "api", "manual"}

var documentTable = resource.NewTable("Document", "The label of a file that belongs to a record.",
	resource.Field[events.Document]{Name: "name", Groups: access.Documents, Required: true,
		Value: resource.Text(func(d *events.Document) string { return d.Name })},
	resource.Field[events.Document]{Name: "kind", Groups: access.Documents, Required: true,
		Value: resource.Text(func(d *events.Document) string { return d.Kind }).OneOf("original", "approved", "other")},
)

// accountingCodeTable is what the API shows of an accounting code (docs/calculations.md#accounting-codes).
var accountingCodeTable = resource.NewTable("AccountingCode", "A code in an accounting system.",
	resource.Field[events.AccountingCode]{Name: "system", Groups: access.Accounting, Required: true,
		Value: resource.Text(func(c *events.AccountingCode) string { return c.System }).
			OneOf("yardi", "datev", "sap", "bmd", "other")},
	resource.Field[events.AccountingCode]{Name: "code", Groups: access.Accounting, Required: true,
		Value: resource.Text(func(c *events.AccountingCode) string { return c.Code })},
	resource.Field[events.AccountingCode]{Name: "name", Groups: access.Accounting, Required: true,
		Value: resource.NullText(func(c *events.AccountingCode) events.Opt[string] { return c.Name })},
	resource.Field[events.AccountingCode]{Name: "taxKey", Groups: access.Accounting, Required: true,
		Value: resource.NullText(func(c *events.AccountingCode) events.Opt[string] { return c.TaxKey })},
	resource.Field[events.AccountingCode]{Name: "inherited", Groups: access.Accounting, Required: true,
		Value:       resource.Flag(func(c *events.AccountingCode) bool { return c.Inherited }),
		Description: "True when the code comes from a parent budget line."},
)

var allocationTable = resource.NewTable("Allocation", "The share of a record on one budget line.",
	resource.Field[reader.RecordAllocation]{Name: "budgetNode", Groups: access.Budget, Required: true,
		Value: resource.Object(nodeRefTable, func(a *reader.RecordAllocation) *analytics.NodeRef { return &a.BudgetNode })},
	resource.Field[reader.RecordAllocation]{Name: "net", Groups: access.Budget | access.Amounts,
		Value: resource.NullAmount(func(a *reader.RecordAllocation) (events.Opt[int64], string) {
			return a.Net, a.Currency
		})},
)

var nodeRefTable = resource.NewTable("BudgetNodeRef",
	"The budget line that an amount is booked on; all members are null when it is booked on none.",
	resource.Field[analytics.NodeRef]{Name: "nodeId", Groups: access.Budget, Required: true,
		Value: resource.NullText(func(n *analytics.NodeRef) events.Opt[string] { return n.NodeID })},
	resource.Field[analytics.NodeRef]{Name: "code", Groups: access.Budget, Required: true,
		Value: resource.NullText(func(n *analytics.NodeRef) events.Opt[string] { return n.Code })},
	resource.Field[analytics.NodeRef]{Name: "name", Groups: access.Budget, Required: true,
		Value: resource.NullText(func(n *analytics.NodeRef) events.Opt[string] { return n.Name })},
	resource.Field[analytics.NodeRef]{Name: "budgetName", Groups: access.Budget, Required: true,
		Value:       resource.NullText(func(n *analytics.NodeRef) events.Opt[string] { return n.BudgetName }),
		Description: "The name of the top-level line above it."},
)
