package demo

import (
	"time"

	"tallyhouse/schemas/events"
)

// page is the room in which the versions of records are written down, used again for each.
type page struct {
	data        events.Record
	allocations [mostSplit]events.RecordAllocation
	codes       []events.AccountingCode
	documents   [2]events.Document
	text        []byte
}

var stepKinds = [...]string{queued: "setup", failed: "setup", read: "setup", approve: "approval", payment: "payment", paid: "paid", rejected: "rejected"}

// write is the record's complete state after the v-th of its steps (from 0). It is valid until the next one is written.
func (g *page) write(r *record, v int) *events.Record {
	step := r.steps[v]
	g.data = events.Record{
		ProjectID: r.project.id, Source: "invoice", Direction: "out", StepKind: stepKinds[step],
		WorkflowStep: r.workflowStep(v),
		Intake:       events.Intake{Channel: r.channel, Status: r.intakeStatus(step), ReceivedAt: events.Some(time.Unix(r.at[0], 0).UTC())},
	}
	g.text = r.contractor.appendInvoiceNumber(g.text[:0], r.number, r.invoiced.Time().Year(), r.credit)
	number := string(g.text)
	g.writeDocuments(r, step, number)
	if step == queued || step == failed {
		return &g.data
	}
	if r.accrual {
		g.data.Source = "accrual"
	} else {
		g.data.InvoiceNumber = events.Some(number)
		g.data.DueDate = events.Some(r.due)
	}
	g.data.RecognitionDate = events.Some(r.invoiced)
	g.data.CounterpartyName = events.Some(r.contractor.name)
	if !r.named {
		g.data.ContractorID = events.Some(r.contractor.id)
	}
	g.data.Currency = events.Some(r.currency)
	g.writeAmounts(r, v)
	if !r.uncoded && (step != read || !r.codedLate || r.accrual) {
		g.writeCoding(r, step, g.data.Net.V)
	}
	if step == paid && r.byDate {
		g.data.CashDate = events.Some(r.paidOn())
	} else if step == paid {
		g.data.PaidAt = events.Some(time.Unix(r.at[v], 0).UTC())
	}
	return &g.data
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

// writeDocuments names the scan, and the stamped copy once it is approved. What was entered by hand has none.
func (g *page) writeDocuments(r *record, s step, number string) {
	if r.channel == "manual" {
		return
	}
	g.text = g.text[:0]
	for i := range len(number) {
		c := number[i]
		if c == '/' || c == ' ' {
			c = '-'
		}
		g.text = append(g.text, c)
	}
	plain := len(g.text)
	g.documents[0] = events.Document{Name: string(append(g.text, ".pdf"...)), Kind: "original"}
	g.data.Documents = g.documents[:1]
	if approved := s == payment || s == paid; approved && r.copied {
		g.documents[1] = events.Document{Name: string(append(g.text[:plain], "-approved.pdf"...)), Kind: "approved"}
		g.data.Documents = g.documents[:2]
	}
}

func (g *page) writeAmounts(r *record, v int) {
	net, tax := r.net, r.tax
	if r.accrual {
		if tax = 0; v < r.versions-1 { // the first estimate was lower
			net -= share(net, 12)
		}
	}
	g.data.Net, g.data.Tax, g.data.Gross = events.Some(net), events.Some(tax), events.Some(net+tax)
}

// writeCoding books the net on the budget lines, links the contract and certifies the accounting codes at approval.
func (g *page) writeCoding(r *record, s step, net int64) {
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
		g.allocations[i] = events.RecordAllocation{NodeID: events.Some(nodes[r.splits[i].node].id), Net: events.Some(part)}
	}
	g.data.Allocations = g.allocations[:r.lines]
	if r.contract != nil {
		g.data.ContractID = events.Some(r.contract.id)
	}
	if approved := s == payment || s == paid; approved && r.certified {
		g.codes = g.codes[:0]
		for i := range r.lines {
			g.codes = append(g.codes, nodes[r.splits[i].node].codes...)
		}
		g.data.CertifiedCodes = events.Some(g.codes)
	}
}
