package events

import (
	"fmt"
	"time"

	"tallyhouse/schemas/calendar"
)

var contractor = table(
	may("name", text, func(c *Contractor) *Opt[string] { return &c.Name }),
	may("city", text, func(c *Contractor) *Opt[string] { return &c.City }),
	may("country", text, func(c *Contractor) *Opt[string] { return &c.Country }),
	may("taxId", text, func(c *Contractor) *Opt[string] { return &c.TaxID }),
	may("registrationNumber", text, func(c *Contractor) *Opt[string] { return &c.RegistrationNumber }),
)

var recordAllocation = table(
	may("nodeId", id, func(a *RecordAllocation) *Opt[string] { return &a.NodeID }),
	may("net", minor, func(a *RecordAllocation) *Opt[int64] { return &a.Net }),
)

var document = table(
	need("name", text, func(f *Document) *string { return &f.Name }),
	need("kind", extensible("original", "approved", "other"), func(f *Document) *string { return &f.Kind }),
)

var intake = table(
	need("channel", extensible("email", "app", "chat", "api", "manual"), func(i *Intake) *string { return &i.Channel }),
	may("status", extensible("queued", "processing", "completed", "failed"), func(i *Intake) *Opt[string] { return &i.Status }),
	may("receivedAt", instant, func(i *Intake) *Opt[time.Time] { return &i.ReceivedAt }),
)

var certifiedCode = accountingCode.and(
	optional(need("inherited", boolean, func(c *AccountingCode) *bool { return &c.Inherited }), func(c *AccountingCode) bool { return c.Inherited }),
)

var record = table(
	need("projectId", id, func(r *Record) *string { return &r.ProjectID }),
	need("source", extensible("invoice", "accrual"), func(r *Record) *string { return &r.Source }),
	need("direction", extensible("in", "out"), func(r *Record) *string { return &r.Direction }),
	need("stepKind", enum("setup", "approval", "payment", "paid", "rejected"), func(r *Record) *string { return &r.StepKind }),
	may("workflowStep", text, func(r *Record) *Opt[string] { return &r.WorkflowStep }),
	may("contractorId", id, func(r *Record) *Opt[string] { return &r.ContractorID }),
	may("counterpartyName", text, func(r *Record) *Opt[string] { return &r.CounterpartyName }),
	may("invoiceNumber", text, func(r *Record) *Opt[string] { return &r.InvoiceNumber }),
	may("recognitionDate", date, func(r *Record) *Opt[calendar.Date] { return &r.RecognitionDate }),
	may("dueDate", date, func(r *Record) *Opt[calendar.Date] { return &r.DueDate }),
	may("paidAt", instant, func(r *Record) *Opt[time.Time] { return &r.PaidAt }),
	may("cashDate", date, func(r *Record) *Opt[calendar.Date] { return &r.CashDate }),
	may("currency", currency, func(r *Record) *Opt[string] { return &r.Currency }),
	may("net", minor, func(r *Record) *Opt[int64] { return &r.Net }),
	may("tax", minor, func(r *Record) *Opt[int64] { return &r.Tax }),
	may("gross", minor, func(r *Record) *Opt[int64] { return &r.Gross }),
	need("allocations", list(recordAllocation.kind()), func(r *Record) *[]RecordAllocation { return &r.Allocations }),
	may("contractId", id, func(r *Record) *Opt[string] { return &r.ContractID }),
	may("certifiedCodes", list(certifiedCode.kind()), func(r *Record) *Opt[[]AccountingCode] { return &r.CertifiedCodes }),
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
}

// checkRecordAllocations holds the allocations to the net: they add up to it, and have amounts exactly when the net has.
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
