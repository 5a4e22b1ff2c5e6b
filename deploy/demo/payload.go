package demo

import (
	"time"

	"tallyhouse/schemas/events"
)

// recordBuilder makes the payloads of records. Its memory is used again for each.
type recordBuilder struct {
	data        events.Record
	allocations [mostSplit]events.RecordAllocation
	codes       []events.AccountingCode
	documents   [2]events.Document
	text        []byte
}

var stepKinds = [...]string{queued: "setup", failed: "setup", read: "setup", approve: "approval", payment: "payment",
	paid: "paid", rejected: "rejected"}

// build returns the record's complete state after the v-th of its steps (from 0), valid until the next call.
func (b *recordBuilder) build(r *record, v int) *events.Record {
	step := r.steps[v]
	b.data = events.Record{
		ProjectID: r.project.id, Source: "invoice", Direction: "out", StepKind: stepKinds[step],
		WorkflowStep: r.workflowStep(v),
		Intake: events.Intake{Channel: r.channel, Status: r.intakeStatus(step),
			ReceivedAt: events.Some(time.Unix(r.at[0], 0).UTC())},
	}
	b.text = r.contractor.appendInvoiceNumber(b.text[:0], r.number, r.invoiced.Time().Year(), r.credit)
	number := string(b.text)
	b.setDocuments(r, step, number)
	if step == queued || step == failed {
		return &b.data
	}
	if r.accrual {
		b.data.Source = "accrual"
	} else {
		b.data.InvoiceNumber = events.Some(number)
		b.data.DueDate = events.Some(r.due)
	}
	b.data.RecognitionDate = events.Some(r.invoiced)
	b.data.CounterpartyName = events.Some(r.contractor.name)
	if !r.named {
		b.data.ContractorID = events.Some(r.contractor.id)
	}
	b.data.Currency = events.Some(r.currency)
	b.setAmounts(r, v)
	if !r.uncoded && (step != read || !r.codedLate || r.accrual) {
		b.setCoding(r, step, b.data.Net.V)
	}
	if step == paid && r.byDate {
		b.data.CashDate = events.Some(r.paidOn())
	} else if step == paid {
		b.data.PaidAt = events.Some(time.Unix(r.at[v], 0).UTC())
	}
	return &b.data
}

// workflowStep is the project's own name of the step.
func (r *record) workflowStep(v int) events.Opt[string] {
	flow, name := r.project.workflow, ""
	switch r.steps[v] {
	case read:
		name = flow.setup
		if r.accrual {
			name = "Accrual"
		}
	case approve:
		before := 0
		for _, s := range r.steps[:v] {
			if s == approve {
				before++
			}
		}
		name = flow.approvals[before]
	case payment:
		name = flow.payment
	case paid:
		name = flow.paid
	case rejected:
		name = flow.rejected
	}
	return events.Opt[string]{V: name, Ok: name != ""}
}

func (r *record) intakeStatus(s step) events.Opt[string] {
	switch {
	case s == queued:
		return events.Some("queued")
	case s == failed:
		return events.Some("failed")
	case r.channel == "manual" || r.channel == "api": // nothing to read
		return events.Opt[string]{}
	}
	return events.Some("completed")
}

// setDocuments names the scan, and the stamped copy once it is approved. What was entered by hand has none.
func (b *recordBuilder) setDocuments(r *record, s step, number string) {
	if r.channel == "manual" {
		return
	}
	b.text = b.text[:0]
	for i := range len(number) {
		c := number[i]
		if c == '/' || c == ' ' {
			c = '-'
		}
		b.text = append(b.text, c)
	}
	plain := len(b.text)
	b.documents[0] = events.Document{Name: string(append(b.text, ".pdf"...)), Kind: "original"}
	b.data.Documents = b.documents[:1]
	if approved := s == payment || s == paid; approved && r.copied {
		b.documents[1] = events.Document{Name: string(append(b.text[:plain], "-approved.pdf"...)), Kind: "approved"}
		b.data.Documents = b.documents[:2]
	}
}

func (b *recordBuilder) setAmounts(r *record, v int) {
	net, tax := r.net, r.tax
	if r.accrual {
		if tax = 0; v < r.versions-1 { // the first estimate was lower
			net -= share(net, 12)
		}
	}
	b.data.Net, b.data.Tax, b.data.Gross = events.Some(net), events.Some(tax), events.Some(net+tax)
}

// setCoding books the net on the budget lines, links the contract and certifies the accounting codes at approval.
func (b *recordBuilder) setCoding(r *record, s step, net int64) {
	nodes := r.project.nodes
	rest := net
	for i := r.lines - 1; i >= 0; i-- {
		part := min(rest, r.splits[i].net)
		if r.net < 0 {
			part = max(rest, r.splits[i].net)
		}
		if i == 0 {
			part = rest
		}
		rest -= part
		b.allocations[i] = events.RecordAllocation{NodeID: events.Some(nodes[r.splits[i].node].id), Net: events.Some(part)}
	}
	b.data.Allocations = b.allocations[:r.lines]
	if r.contract != nil {
		b.data.ContractID = events.Some(r.contract.id)
	}
	if approved := s == payment || s == paid; approved && r.certified {
		b.codes = b.codes[:0]
		for i := range r.lines {
			b.codes = append(b.codes, nodes[r.splits[i].node].codes...)
		}
		b.data.CertifiedCodes = events.Some(b.codes)
	}
}
