package desk

import (
	"strings"

	"tallyhouse/schemas/events"
)

// record is what the API shows of a record; nil is what the person may not see, or what has no value.
type record struct {
	ID           string  `json:"id"`
	ProjectID    string  `json:"projectId"`
	Source       string  `json:"source"`
	Status       string  `json:"status"`
	WorkflowStep *string `json:"workflowStep"`
	Counterparty struct {
		ContractorID *string `json:"contractorId"`
		Name         *string `json:"name"`
	} `json:"counterparty"`
	InvoiceNumber   *string `json:"invoiceNumber"`
	RecognitionDate *string `json:"recognitionDate"`
	DueDate         *string `json:"dueDate"`
	CashDate        *string `json:"cashDate"`
	Net             *amount `json:"net"`
	Tax             *amount `json:"tax"`
	Gross           *amount `json:"gross"`
	Allocations     []struct {
		BudgetNode nodeName `json:"budgetNode"`
		Net        *amount  `json:"net"`
	} `json:"allocations"`
	BudgetNode *nodeName `json:"budgetNode"`
	Documents  []struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	} `json:"documents"`
	Intake struct {
		Channel string `json:"channel"`
		Status  string `json:"status"`
	} `json:"intake"`
}

// nodeName is a line of the budget as a record names it.
type nodeName struct {
	NodeID *string `json:"nodeId"`
	Code   *string `json:"code"`
	Name   *string `json:"name"`
}

func (n *nodeName) String() string {
	if n == nil {
		return ""
	}
	return strings.TrimSpace(text(n.Code) + "  " + text(n.Name))
}

// title is how people call the record: by its number, else by the file that it came as.
func (r *record) title() string {
	if number := text(r.InvoiceNumber); number != "" {
		return number
	}
	for _, d := range r.Documents {
		if d.Kind == "original" && d.Name != "" {
			return d.Name
		}
	}
	return r.ID
}

// recordBadge is how a status looks.
func recordBadge(status string) string {
	switch status {
	case "paid":
		return "good"
	case "rejected":
		return "bad"
	}
	return ""
}

// What the figures invoiced and paid are made of, as parameters of the list of records (docs/calculations.md#budget).
var (
	invoiced = []string{"source", "invoice", "status", "setup,approvalPending,paymentPending,paid"}
	paid     = []string{"source", "invoice", "status", "paid"}
)

func showRecords(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	query := v.request.URL.Query()
	line, status, source, contractor := query.Get("line"), query.Get("status"), query.Get("source"), query.Get("contractor")
	from, to := query.Get("cashDateFrom"), query.Get("cashDateTo")
	descendants := ""
	if line != "" && query.Get("below") != "false" {
		descendants = "true"
	}
	records, next, err := walk[record](v, false, func(limit, cursor string) string {
		return target("/v0/records", nil, "projectId", p.ID, "budgetNodeId", line, "includeDescendants", descendants, "status", status,
			"source", source, "contractorId", contractor, "cashDateFrom", from, "cashDateTo", to, "limit", limit, "cursor", cursor)
	})
	if err != nil {
		return nil, err
	}
	page := listPage{Intro: v.text("records.intro"), Next: v.nextPage(next), All: p.page("records")}
	if line != "" {
		lines, err := v.lines(p.ID)
		if err != nil {
			return nil, err
		}
		page.Filter = append(page.Filter, lines.name(&line))
	}
	if status != "" {
		var names []string
		for one := range strings.SplitSeq(status, ",") {
			names = append(names, v.lang.Name("recordStatus", one))
		}
		page.Filter = append(page.Filter, strings.Join(names, ", "))
	}
	if source != "" {
		page.Filter = append(page.Filter, v.lang.Name("source", source))
	}
	if contractor != "" {
		name := contractor
		if len(records) > 0 && records[0].Counterparty.Name != nil {
			name = *records[0].Counterparty.Name
		}
		page.Filter = append(page.Filter, name)
	}
	if from != "" || to != "" {
		c := cells{v.lang}
		page.Filter = append(page.Filter, v.text("records.paidBetween", c.date(from).Text, c.date(to).Text))
	}
	page.Table = v.recordsTable(p, records)
	return v.answer(p, figure{tab: "records", title: v.text("records.title"), data: page, tables: []*table{page.Table}})
}

func (v *visit) recordsTable(p *project, records []record) *table {
	number := func(title string) column { return column{Title: v.text(title), Number: true} }
	t := &table{Name: "records", Caption: v.text("records.title"), Note: v.text("table.none"), Columns: []column{
		{Title: v.text("records.number")}, {Title: v.text("records.supplier")}, {Title: v.text("records.date")},
		{Title: v.text("budget.line")}, {Title: v.text("contracts.status")}, {Title: v.text("table.currency")},
		number("records.net"), number("records.tax"), number("records.gross"), {Title: v.text("records.due")}, {Title: v.text("records.paid")}}}
	c := cells{v.lang}
	for i := range records {
		r := &records[i]
		currency, line := "", r.BudgetNode.String()
		if r.Net != nil {
			currency = r.Net.Currency
		}
		if r.BudgetNode == nil && len(r.Allocations) > 1 {
			line = v.text("records.split", len(r.Allocations))
		}
		link := p.record(r.ID)
		t.Rows = append(t.Rows, row{Cells: []cell{
			c.text(r.title()).to(link), c.text(text(r.Counterparty.Name)),
			c.date(text(r.RecognitionDate)), c.text(line), c.text(v.lang.Name("recordStatus", r.Status)).badge(recordBadge(r.Status)),
			c.text(currency), c.amount(r.Net).to(link), c.amount(r.Tax).to(link), c.amount(r.Gross).to(link),
			c.date(text(r.DueDate)), c.date(text(r.CashDate))}})
	}
	return t
}

// record is the address of a record's page.
func (p *project) record(id string) string {
	return target("/projects/%s/records/%s", []string{p.ID, id})
}

// recordPage is what the page of one record shows.
type recordPage struct {
	Record  *record
	Status  string
	Badge   string
	Facts   []fact
	Details []fact
	Lines   *table
}

func showRecord(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	var r record
	if err := v.ask(target("/v0/records/%s", []string{v.request.PathValue("record")}), &r); err != nil {
		return nil, err
	}
	if r.ProjectID != p.ID {
		return nil, errNotFound
	}
	c := cells{v.lang}
	page := recordPage{Record: &r, Status: v.lang.Name("recordStatus", r.Status), Badge: recordBadge(r.Status)}
	if r.Net != nil || r.Gross != nil {
		page.Facts = []fact{{Label: v.text("records.net"), Amount: r.Net, Exact: true},
			{Label: v.text("records.tax"), Amount: r.Tax, Exact: true}, {Label: v.text("records.gross"), Amount: r.Gross, Exact: true}}
	}
	supplier := fact{Label: v.text("records.supplier"), Text: text(r.Counterparty.Name)}
	if r.Counterparty.ContractorID != nil {
		supplier.Link = p.page("records", "contractor", *r.Counterparty.ContractorID)
	}
	page.Details = []fact{supplier, {Label: v.text("records.date"), Text: c.date(text(r.RecognitionDate)).Text},
		{Label: v.text("records.due"), Text: c.date(text(r.DueDate)).Text}, {Label: v.text("records.paid"), Text: c.date(text(r.CashDate)).Text},
		{Label: v.text("records.step"), Text: text(r.WorkflowStep)}, {Label: v.text("records.source"), Text: v.lang.Name("source", r.Source)},
		{Label: v.text("records.channel"), Text: v.lang.Name("channel", r.Intake.Channel), Link: v.mailOf(r.ID)}}
	for _, d := range r.Documents {
		page.Details = append(page.Details, fact{Label: v.lang.Name("document", d.Kind), Text: d.Name})
	}
	page.Lines = &table{Name: "lines", Caption: v.text("records.lines"), Note: v.text("table.none"), Columns: []column{
		{Title: v.text("budget.line")}, {Title: v.text("records.net"), Unit: currencyOf(r.Net), Number: true}}}
	for _, a := range r.Allocations {
		line := c.text(a.BudgetNode.String())
		if a.BudgetNode.NodeID != nil {
			line = line.to(p.page("records", "line", *a.BudgetNode.NodeID))
		} else {
			line.Text = v.text("records.noLine")
		}
		page.Lines.Rows = append(page.Lines.Rows, row{Cells: []cell{line, c.amount(a.Net)}})
	}
	return v.answer(p, figure{tab: "record", title: r.title(), data: page, tables: []*table{page.Lines}})
}

// mailOf is the address of the mail that a record came by; "" where it didn't, or where the person may not see it.
func (v *visit) mailOf(record string) string {
	if v.desk.inbox == nil || !strings.HasPrefix(record, events.MailedPrefix) {
		return ""
	}
	if _, err := v.desk.inbox.Reading(v.request.Context(), v.caller.Tenant(), record, v.mailbox().ids); err != nil {
		return "" // the record shows all the same
	}
	return target("/inbox/%s", []string{record})
}

func currencyOf(a *amount) string {
	if a == nil {
		return ""
	}
	return a.Currency
}
