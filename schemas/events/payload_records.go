package events

import (
	"fmt"
	"time"

	"tallyhouse/schemas/calendar"
)

// Contractor is the payload of Contractors.
type Contractor struct {
	Name               Opt[string]
	City               Opt[string]
	Country            Opt[string]
	TaxID              Opt[string]
	RegistrationNumber Opt[string]
}

var contractor = table("contractor", "A contractor: a firm that delivers to projects.",
	may("name", text, func(c *Contractor) *Opt[string] { return &c.Name }),
	may("city", text, func(c *Contractor) *Opt[string] { return &c.City }),
	may("country", text, func(c *Contractor) *Opt[string] { return &c.Country }),
	may("taxId", text, func(c *Contractor) *Opt[string] { return &c.TaxID }),
	may("registrationNumber", text, func(c *Contractor) *Opt[string] { return &c.RegistrationNumber }),
)

// RecordAllocation is the share of a record on one budget node.
type RecordAllocation struct {
	NodeID Opt[string]
	Net    Opt[int64]
}

var recordAllocation = table("recordAllocation", "",
	may("nodeId", id, func(a *RecordAllocation) *Opt[string] { return &a.NodeID }),
	may("net", minor, func(a *RecordAllocation) *Opt[int64] { return &a.Net }).
		doc("null exactly when the record's `net` is"),
)

// Document is the label of a file that belongs to a record.
type Document struct {
	Name string
	Kind string
}

var document = table("document", "",
	need("name", text, func(f *Document) *string { return &f.Name }),
	need("kind", extensible("original", "approved", "other"), func(f *Document) *string { return &f.Kind }),
)

// Intake says how a record came in.
type Intake struct {
	Channel    string
	Status     Opt[string]
	ReceivedAt Opt[time.Time]
}

var intake = table("intake", "how the record came in",
	need("channel", extensible("email", "app", "chat", "api", "manual"), func(i *Intake) *string { return &i.Channel }),
	may("status", extensible("queued", "processing", "completed", "failed"), func(i *Intake) *Opt[string] { return &i.Status }).
		doc("of reading its document"),
	may("receivedAt", instant, func(i *Intake) *Opt[time.Time] { return &i.ReceivedAt }),
)

var certifiedCode = accountingCode.and("certifiedCode",
	optional(need("inherited", boolean, func(c *AccountingCode) *bool { return &c.Inherited }),
		func(c *AccountingCode) bool { return c.Inherited }).
		doc("taken over from the budget line"),
)

// Record is the payload of Records.
type Record struct {
	ProjectID        string
	Source           string
	Direction        string
	StepKind         string
	WorkflowStep     Opt[string]
	ContractorID     Opt[string]
	CounterpartyName Opt[string]
	InvoiceNumber    Opt[string]
	RecognitionDate  Opt[calendar.Date]
	DueDate          Opt[calendar.Date]
	PaidAt           Opt[time.Time]
	CashDate         Opt[calendar.Date]
	Currency         Opt[string]
	Net              Opt[int64]
	Tax              Opt[int64]
	Gross            Opt[int64]
	Allocations      []RecordAllocation
	ContractID       Opt[string]
	CertifiedCodes   Opt[[]AccountingCode]
	Documents        []Document
	Intake           Intake
}

var record = table("record", "An invoice, or an accrual: cost that is expected before its invoice is there. "+
	"All its money is in its own currency; a credit note is negative.",
	need("projectId", id, func(r *Record) *string { return &r.ProjectID }),
	need("source", extensible("invoice", "accrual"), func(r *Record) *string { return &r.Source }),
	need("direction", extensible("in", "out"), func(r *Record) *string { return &r.Direction }),
	need("stepKind", enum("setup", "approval", "payment", "paid", "rejected"), func(r *Record) *string { return &r.StepKind }).
		doc("`paid` needs `paidAt` or `cashDate`"),
	may("workflowStep", text, func(r *Record) *Opt[string] { return &r.WorkflowStep }).
		doc("the project's own name of the step"),
	may("contractorId", id, func(r *Record) *Opt[string] { return &r.ContractorID }),
	may("counterpartyName", text, func(r *Record) *Opt[string] { return &r.CounterpartyName }).
		doc("as read from the document"),
	may("invoiceNumber", text, func(r *Record) *Opt[string] { return &r.InvoiceNumber }),
	may("recognitionDate", date, func(r *Record) *Opt[calendar.Date] { return &r.RecognitionDate }).
		doc("the invoice's date"),
	may("dueDate", date, func(r *Record) *Opt[calendar.Date] { return &r.DueDate }),
	may("paidAt", instant, func(r *Record) *Opt[time.Time] { return &r.PaidAt }).
		doc("when it was paid"),
	may("cashDate", date, func(r *Record) *Opt[calendar.Date] { return &r.CashDate }).
		doc("the day it was paid; wins over `paidAt`"),
	may("currency", currency, func(r *Record) *Opt[string] { return &r.Currency }).
		doc("given where one of the amounts is"),
	may("net", minor, func(r *Record) *Opt[int64] { return &r.Net }),
	may("tax", minor, func(r *Record) *Opt[int64] { return &r.Tax }),
	may("gross", minor, func(r *Record) *Opt[int64] { return &r.Gross }),
	need("allocations", list(recordAllocation.kind()), func(r *Record) *[]RecordAllocation { return &r.Allocations }).
		doc("may be empty; otherwise they add up to `net`"),
	may("contractId", id, func(r *Record) *Opt[string] { return &r.ContractID }),
	may("certifiedCodes", list(certifiedCode.kind()), func(r *Record) *Opt[[]AccountingCode] { return &r.CertifiedCodes }).
		doc("as certified at approval; an empty list means certified without codes"),
	need("documents", list(document.kind()), func(r *Record) *[]Document { return &r.Documents }),
	need("intake", intake.kind(), func(r *Record) *Intake { return &r.Intake }),
)

func checkRecord(d *decoder, _ *Envelope, r *Record) {
	if r.StepKind == "paid" && !r.PaidAt.Ok && !r.CashDate.Ok {
		d.failAt("data.stepKind", "is paid, but neither paidAt nor cashDate says when")
	}
	checkRecordAllocations(d, r)
	if !r.Currency.Ok && (r.Net.Ok || r.Tax.Ok || r.Gross.Ok) {
		d.failAt("data.currency", "is missing, but the record has amounts")
	}
	if gross := r.Net.V + r.Tax.V; r.Net.Ok && !r.Gross.Ok && (gross > MaxAmount || gross < -MaxAmount) {
		d.failAt("data.gross", "is missing, and net and tax add up to more than an amount holds")
	}
}

// checkRecordAllocations checks the allocations against the net: they add up to it, and have amounts exactly when it is
// there.
func checkRecordAllocations(d *decoder, r *Record) {
	var high, low int64 // the sum is high * 2^32 + low: that of the longest message fits
	for i, a := range r.Allocations {
		if a.Net.Ok != r.Net.Ok {
			with, without := "data.net", fmt.Sprintf("data.allocations[%d].net", i)
			if a.Net.Ok {
				with, without = without, with
			}
			d.failAt(without, "is null, but %s is not", with)
			return
		}
		high += a.Net.V >> 32
		low += a.Net.V & (1<<32 - 1)
	}
	high += low >> 32
	low &= 1<<32 - 1
	if len(r.Allocations) == 0 || high == r.Net.V>>32 && low == r.Net.V&(1<<32-1) {
		return
	}
	if high > MaxAmount>>32 || high < -MaxAmount>>32 {
		d.failAt("data.allocations", "add up to more than an amount holds, not to net %d", r.Net.V)
		return
	}
	d.failAt("data.allocations", "add up to %d, not to net %d", high<<32+low, r.Net.V)
}
