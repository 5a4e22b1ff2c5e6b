package reader

import (
	"strings"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// RecordColumns is a set of things that a query of records reads, beside id and project.
type RecordColumns uint32

// What can be read. A column that is not asked for leaves its member empty.
const (
	RecordDirection RecordColumns = 1 << iota
	RecordSource
	RecordStatus
	RecordWorkflowStep
	RecordCounterparty // needs the contractors' names
	RecordInvoiceNumber
	RecordRecognitionDate
	RecordDueDate
	RecordCashDate
	RecordNet
	RecordTax
	RecordGross
	RecordAllocations // needs the budget structure
	RecordCodes       // needs the budget structure
	RecordDocuments
	RecordIntake
)

// Record is an invoice or accrual as the API shows it (spec section 2.6, calculations section 5).
type Record struct {
	ID               string
	ProjectID        string
	Direction        string
	Source           string
	Status           string
	WorkflowStep     events.Opt[string]
	ContractorID     events.Opt[string]
	CounterpartyName events.Opt[string]
	InvoiceNumber    events.Opt[string]
	RecognitionDate  events.Opt[calendar.Date]
	DueDate          events.Opt[calendar.Date]
	CashDate         events.Opt[calendar.Date]
	Currency         string // "" when there is none, and so no amount
	Net              events.Opt[int64]
	Tax              events.Opt[int64]
	Gross            events.Opt[int64]
	Allocations      []RecordAllocation // at least one
	AccountingCodes  []events.AccountingCode
	Documents        []events.Document
	Intake           events.Intake
}

// RecordAllocation is the share of a record on one budget line, in the record's currency.
type RecordAllocation struct {
	analytics.Allocation
	Currency string
}

// recordRow is a row as it is scanned.
type recordRow struct {
	id, project, direction, source, status        string
	workflowStep, counterpartyName, invoiceNumber *string
	contractorID                                  string
	recognitionDate, dueDate, cashDate            *int32
	currency                                      string
	net, tax, gross                               *int64
	allocationNode                                []string
	allocationNet                                 []int64
	certified                                     bool
	certifiedCodes, documents                     string
	channel, intakeStatus                         string
	receivedAt                                    *int64
}

// recordColumns says which columns of the table each thing needs and where they are scanned to. Dates travel as days, instants as microseconds.
var recordColumns = []struct {
	of   RecordColumns // read when any of these is asked for; 0: always
	sql  string
	dest func(r *recordRow) any
}{
	{0, "id", func(r *recordRow) any { return &r.id }},
	{0, "project", func(r *recordRow) any { return &r.project }},
	{RecordDirection, "direction", func(r *recordRow) any { return &r.direction }},
	{RecordSource, "source", func(r *recordRow) any { return &r.source }},
	{RecordStatus, "status", func(r *recordRow) any { return &r.status }},
	{RecordWorkflowStep, "workflow_step", func(r *recordRow) any { return &r.workflowStep }},
	{RecordCounterparty, "contractor_id", func(r *recordRow) any { return &r.contractorID }},
	{RecordCounterparty, "counterparty_name", func(r *recordRow) any { return &r.counterpartyName }},
	{RecordInvoiceNumber, "invoice_number", func(r *recordRow) any { return &r.invoiceNumber }},
	{RecordRecognitionDate, "toInt32(recognition_date)", func(r *recordRow) any { return &r.recognitionDate }},
	{RecordDueDate, "toInt32(due_date)", func(r *recordRow) any { return &r.dueDate }},
	{RecordCashDate, "toInt32(cash_date)", func(r *recordRow) any { return &r.cashDate }},
	{RecordNet | RecordTax | RecordGross | RecordAllocations, "currency", func(r *recordRow) any { return &r.currency }},
	{RecordNet | RecordGross | RecordAllocations, "net", func(r *recordRow) any { return &r.net }},
	{RecordTax | RecordGross, "tax", func(r *recordRow) any { return &r.tax }},
	{RecordGross, "gross", func(r *recordRow) any { return &r.gross }},
	{RecordAllocations | RecordCodes, "allocation_node", func(r *recordRow) any { return &r.allocationNode }},
	{RecordAllocations, "allocation_net", func(r *recordRow) any { return &r.allocationNet }},
	{RecordCodes, "certified", func(r *recordRow) any { return &r.certified }},
	{RecordCodes, "certified_codes", func(r *recordRow) any { return &r.certifiedCodes }},
	{RecordDocuments, "documents", func(r *recordRow) any { return &r.documents }},
	{RecordIntake, "channel", func(r *recordRow) any { return &r.channel }},
	{RecordIntake, "intake_status", func(r *recordRow) any { return &r.intakeStatus }},
	{RecordIntake, "toUnixTimestamp64Micro(received_at)", func(r *recordRow) any { return &r.receivedAt }},
}

// needsStructure tells whether any of the columns is made with the budget structure.
func (c RecordColumns) needsStructure() bool { return c&(RecordAllocations|RecordCodes) != 0 }

// needsStates tells whether any of the columns is made with rows of other tables.
func (c RecordColumns) needsStates() bool { return c.needsStructure() || c&RecordCounterparty != 0 }

// selected is the list of columns for the statement.
func (c RecordColumns) selected() string {
	var names []string
	for _, column := range recordColumns {
		if column.of == 0 || column.of&c != 0 {
			names = append(names, column.sql)
		}
	}
	return strings.Join(names, ", ")
}

// into lists where the columns are scanned to.
func (c RecordColumns) into(row *recordRow) []any {
	var dest []any
	for _, column := range recordColumns {
		if column.of == 0 || column.of&c != 0 {
			dest = append(dest, column.dest(row))
		}
	}
	return dest
}

// record makes the record of a scanned row; names and budget lines are found later.
func (r *recordRow) record(columns RecordColumns) (Record, *events.Record, error) {
	shown := Record{
		ID: r.id, ProjectID: r.project, Direction: r.direction, Source: r.source, Status: r.status,
		WorkflowStep: opt(r.workflowStep), ContractorID: none(r.contractorID), CounterpartyName: opt(r.counterpartyName),
		InvoiceNumber: opt(r.invoiceNumber), RecognitionDate: date(r.recognitionDate), DueDate: date(r.dueDate), CashDate: date(r.cashDate),
		Currency: r.currency, Net: opt(r.net), Tax: opt(r.tax),
		Intake: events.Intake{Channel: r.channel, Status: none(r.intakeStatus), ReceivedAt: instant(r.receivedAt)},
	}
	delivered := &events.Record{Net: shown.Net, Tax: shown.Tax, Gross: opt(r.gross)}
	if columns&RecordGross != 0 {
		shown.Gross = analytics.Gross(delivered)
	}
	var err error
	if columns&RecordDocuments != 0 {
		if shown.Documents, err = parseDocuments(r.documents); err != nil {
			return Record{}, nil, err
		}
	}
	if columns&RecordCodes != 0 && r.certified {
		delivered.CertifiedCodes.Ok = true
		if delivered.CertifiedCodes.V, err = parseCodes(r.certifiedCodes); err != nil {
			return Record{}, nil, err
		}
	}
	for i, node := range r.allocationNode {
		a := events.RecordAllocation{NodeID: none(node)}
		if i < len(r.allocationNet) {
			a.Net = events.Opt[int64]{V: r.allocationNet[i], Ok: shown.Net.Ok}
		}
		delivered.Allocations = append(delivered.Allocations, a)
	}
	return shown, delivered, nil
}

// none is the value of a column that is empty when there is none.
func none(s string) events.Opt[string] { return events.Opt[string]{V: s, Ok: s != ""} }

func date(days *int32) events.Opt[calendar.Date] {
	if days == nil {
		return events.Opt[calendar.Date]{}
	}
	return events.Some(calendar.Date(*days))
}
