package reader

import (
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Record is an invoice or accrual (docs/calculations.md#records). Its payload is as delivered, as far as its columns
// were read; what the API shows beyond that follows.
type Record struct {
	ID string
	events.Record
	Status   string                        // of the payload's step
	PaidOn   events.Opt[calendar.Date]     // the payment date in Vienna, only when paid
	Bookings []RecordAllocation            // where it is booked, at least one
	SoleLine events.Opt[analytics.NodeRef] // the line of the only booking
	Codes    []events.AccountingCode       // as certified, else those of the budget lines
}

// RecordAllocation is the share of a record on one budget line, in the record's currency.
type RecordAllocation struct {
	analytics.Allocation
	Currency string
}

// The columns that every statement of records reads, and those that only serve others.
var (
	recordID      = member("id", plain, func(r *Record) *string { return &r.ID })
	recordProject = member("project", plain, func(r *Record) *string { return &r.ProjectID })

	recordContractor     = member("contractor_id", optional, func(r *Record) *events.Opt[string] { return &r.ContractorID })
	recordCapturedName   = member("counterparty_name", nullable, func(r *Record) *events.Opt[string] { return &r.CounterpartyName })
	recordCurrency       = member("currency", optional, func(r *Record) *events.Opt[string] { return &r.Currency })
	recordNet            = member("net", nullable, func(r *Record) *events.Opt[int64] { return &r.Net })
	recordTax            = member("tax", nullable, func(r *Record) *events.Opt[int64] { return &r.Tax })
	recordGross          = member("gross", nullable, func(r *Record) *events.Opt[int64] { return &r.Gross })
	recordCertified      = member("certified", plain, func(r *Record) *bool { return &r.CertifiedCodes.Ok })
	recordCertifiedCodes = member("certified_codes", parsed(events.ParseCodes),
		func(r *Record) *[]events.AccountingCode { return &r.CertifiedCodes.V })

	recordAllocationNode = Part[Record]{columns: columns[Record]{elements("allocation_node", recordAllocations,
		func(a *events.RecordAllocation, node string) { a.NodeID = textOrNone(node) })}}
	recordAllocationNet = Part[Record]{columns: columns[Record]{elements("allocation_net", recordAllocations,
		func(a *events.RecordAllocation, net int64) { a.Net.V = net })}}

	recordChannel      = member("channel", plain, func(r *Record) *string { return &r.Intake.Channel })
	recordIntakeStatus = member("intake_status", optional, func(r *Record) *events.Opt[string] { return &r.Intake.Status })
	recordReceivedAt   = member("toUnixTimestamp64Micro(received_at)", optionalInstant,
		func(r *Record) *events.Opt[time.Time] { return &r.Intake.ReceivedAt })
)

func recordAllocations(r *Record) *[]events.RecordAllocation { return &r.Allocations }

// What can be read of a record, beside its id and project. A member whose column is not read stays empty.
var (
	RecordDirection       = member("direction", plain, func(r *Record) *string { return &r.Direction })
	RecordSource          = member("source", plain, func(r *Record) *string { return &r.Source })
	RecordStatus          = member("status", plain, func(r *Record) *string { return &r.Status })
	RecordWorkflowStep    = member("workflow_step", nullable, func(r *Record) *events.Opt[string] { return &r.WorkflowStep })
	RecordCounterparty    = lookedUp(ownNames, recordContractor.Part(), recordCapturedName.Part())
	RecordInvoiceNumber   = member("invoice_number", nullable, func(r *Record) *events.Opt[string] { return &r.InvoiceNumber })
	RecordRecognitionDate = member("toInt32(recognition_date)", day, func(r *Record) *events.Opt[calendar.Date] { return &r.RecognitionDate })
	RecordDueDate         = member("toInt32(due_date)", day, func(r *Record) *events.Opt[calendar.Date] { return &r.DueDate })
	RecordPaidOn          = member("toInt32(cash_date)", day, func(r *Record) *events.Opt[calendar.Date] { return &r.PaidOn })
	RecordNet             = Parts(recordCurrency.Part(), recordNet.Part())
	RecordTax             = Parts(recordCurrency.Part(), recordTax.Part())
	RecordGross           = Parts(recordCurrency.Part(), recordNet.Part(), recordTax.Part(), recordGross.Part())
	RecordAllocations     = lookedUp(bookedLines, recordCurrency.Part(), recordNet.Part(), recordAllocationNode,
		recordAllocationNet)
	RecordCodes = lookedUp(derivedCodes, recordAllocationNode, recordCertified.Part(),
		recordCertifiedCodes.Part())
	RecordDocuments = member("documents", parsed(events.ParseDocuments), func(r *Record) *[]events.Document { return &r.Documents })
	RecordIntake    = Parts(recordChannel.Part(), recordIntakeStatus.Part(), recordReceivedAt.Part())
)

// recordColumns are the columns that a statement reads for the part.
func recordColumns(p Part[Record]) columns[Record] {
	return Parts(recordID.Part(), recordProject.Part(), p).columns
}
