package desk

import (
	"cmp"
	"slices"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// contract is what the API shows of a contract; nil is what the person may not see, or what has no value.
type contract struct {
	ID           string  `json:"id"`
	ProjectID    string  `json:"projectId"`
	Name         string  `json:"name"` // "" when it has none
	Status       string  `json:"status"`
	StartDate    *string `json:"startDate"`
	EndDate      *string `json:"endDate"`
	Counterparty *struct {
		ID   string  `json:"id"`
		Name *string `json:"name"`
	} `json:"counterparty"`
	Committed      *amount `json:"committed"`
	Invoiced       *amount `json:"invoiced"`
	Paid           *amount `json:"paid"`
	OpenCommitment *amount `json:"openCommitment"`
	OverInvoiced   *amount `json:"overInvoiced"`
	PendingChanges *amount `json:"pendingChanges"`
	Allocations    []struct {
		BudgetNodeID *string `json:"budgetNodeId"`
		Amount       *amount `json:"amount"`
	} `json:"allocations"`
	Amendments []struct {
		BudgetNodeID *string `json:"budgetNodeId"`
		Amount       *amount `json:"amount"`
		Status       string  `json:"status"`
		Date         *string `json:"date"`
		Title        *string `json:"title"`
	} `json:"amendments"`
}

// title is how people call the contract.
func (c *contract) title() string { return cmp.Or(c.Name, c.ID) }

func (c *contract) over() bool { return c.OverInvoiced != nil && c.OverInvoiced.Value.Sign() > 0 }

// partner is the counterparty's name, or its id where it has none.
func (c *contract) partner() string {
	switch {
	case c.Counterparty == nil:
		return ""
	case c.Counterparty.Name != nil:
		return *c.Counterparty.Name
	}
	return c.Counterparty.ID
}

// currency is that of the contract's amounts; "" without any.
func (c *contract) currency() string {
	for _, a := range []*amount{c.Committed, c.Invoiced, c.PendingChanges} {
		if a != nil {
			return a.Currency
		}
	}
	return ""
}

// countsIn reports whether the contract is one of those whose commitments are told beside a budget because they are in another currency.
func (c *contract) countsIn(currency string) bool {
	status := analytics.Contract{Contract: events.Contract{Status: c.Status}}
	return c.currency() == currency && len(c.Allocations) > 0 && status.Counts()
}

// bars shows how far the contract is used.
func (c *contract) bars() *bars {
	return drawBars(nil, barOf{"over", c.OverInvoiced.beyond(c.Committed)}, barOf{"committed", c.Committed},
		barOf{"invoiced", c.Invoiced.atMost(c.Committed)}, barOf{"paid", c.Paid.atMost(c.Committed)})
}

// beyond is the sum of two amounts of one currency, when there is something of the first; else nil.
func (a *amount) beyond(b *amount) *amount {
	if a == nil || a.isZero() || b == nil {
		return nil
	}
	return sumUp(a, b)
}

// atMost is the smaller one of two amounts of one currency.
func (a *amount) atMost(b *amount) *amount {
	if a == nil || b == nil || a.less(b).Value.Sign() <= 0 {
		return a
	}
	return b
}

// listPage is what a page with one list shows.
type listPage struct {
	Intro  string
	Facts  []fact
	Bars   *bars
	Chart  *chart
	Table  *table
	Filter []string // what the list is narrowed to, as people read it
	All    string   // the page without filters
	Next   string   // the page behind this one
	Hidden bool
	Month  string
}

// lineNames are the names of a project's lines by their ids; none where the person may not see them.
type lineNames map[string]string

func (v *visit) lines(project string) (lineNames, error) {
	b, err := v.budget(project, "")
	if err != nil {
		return nil, err
	}
	return b.lineNames(), nil
}

func (b *budget) lineNames() lineNames {
	l := lineNames{}
	for i := range b.Nodes {
		l[b.Nodes[i].NodeID] = b.Nodes[i].title()
	}
	return l
}

// name is that of a line; its id where there is none.
func (l lineNames) name(id *string) string {
	if id == nil {
		return ""
	}
	if name, ok := l[*id]; ok {
		return name
	}
	return *id
}

func showContracts(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	query := v.request.URL.Query()
	line, over, currency := query.Get("line"), query.Get("only") == "over", query.Get("currency")
	contracts, next, err := walk[contract](v, line != "" || over || currency != "", func(limit, cursor string) string {
		return target("/v0/contracts", nil, "projectId", p.ID, "limit", limit, "cursor", cursor)
	})
	if err != nil {
		return nil, err
	}
	page := listPage{Intro: v.text("contracts.intro"), Next: v.nextPage(next), All: p.page("contracts")}
	if line != "" {
		b, err := v.budget(p.ID, "")
		if err != nil {
			return nil, err
		}
		page.Filter = append(page.Filter, b.lineNames().name(&line))
		on, err := v.contractsOn(p, b, line)
		if err != nil {
			return nil, err
		}
		contracts = slices.DeleteFunc(contracts, func(c contract) bool { return !on[analytics.ContractID(c.ID)] })
	}
	if over {
		page.Filter = append(page.Filter, v.text("contracts.overOnly"))
		contracts = slices.DeleteFunc(contracts, func(c contract) bool { return !c.over() })
	}
	if currency != "" {
		page.Filter = append(page.Filter, currency)
		contracts = slices.DeleteFunc(contracts, func(c contract) bool { return !c.countsIn(currency) })
	}
	page.Table = v.contractsTable(p, contracts)
	return v.answer(p, figure{tab: "contracts", title: v.text("contracts.title"), data: page, tables: []*table{page.Table}})
}

// contractsOn are the contracts that what is committed and pending on a line is made of; none where the person may not see these figures.
func (v *visit) contractsOn(p *project, b *budget, line string) (map[analytics.ContractID]bool, error) {
	if !b.visible() {
		return nil, nil
	}
	of, err := v.lineRequest(p, line)
	if err != nil {
		return nil, err
	}
	found, err := v.desk.sources.LineContracts(v.request.Context(), of)
	if err != nil {
		return nil, err
	}
	on := make(map[analytics.ContractID]bool, len(found))
	for _, id := range found {
		on[id] = true
	}
	return on, nil
}

func (v *visit) contractsTable(p *project, contracts []contract) *table {
	number := func(title string) column { return column{Title: v.text(title), Number: true} }
	t := &table{Name: "contracts", Caption: v.text("contracts.title"), Note: v.text("table.none"), Columns: []column{
		{Title: v.text("contracts.contract")}, {Title: v.text("contracts.partner")}, {Title: v.text("contracts.status")},
		{Title: v.text("budget.progress"), Bars: true}, {Title: v.text("table.currency")}, number("budget.committed"),
		number("budget.invoiced"), number("budget.paid"), number("contracts.open"), number("contracts.overInvoiced")}}
	c := cells{v.lang}
	for i := range contracts {
		k := &contracts[i]
		link := target("/projects/%s/contracts/%s", []string{p.ID, k.ID})
		invoices := link + "#t-invoices"
		over := c.amount(k.OverInvoiced).to(link)
		if k.over() {
			over = over.badge("bad")
		}
		t.Rows = append(t.Rows, row{Cells: []cell{
			c.text(k.title()).to(link), c.text(k.partner()),
			c.text(v.lang.Name("contractStatus", k.Status)), {Bars: k.bars()}, c.text(k.currency()), c.amount(k.Committed).to(link + "#t-lines"),
			c.amount(k.Invoiced).to(invoices), c.amount(k.Paid).to(invoices), c.amount(k.OpenCommitment).to(link), over}})
	}
	return t
}

// contractPage is what the page of one contract shows.
type contractPage struct {
	Contract *contract
	Facts    []fact
	Bars     *bars
	Lines    *table
	Invoices *table // nil where the person may not see amounts
	Status   string
	Partner  string
	From, To string
}

func showContract(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	var k contract
	if err := v.ask(target("/v0/contracts/%s", []string{v.request.PathValue("contract")}), &k); err != nil {
		return nil, err
	}
	if k.ProjectID != p.ID {
		return nil, errNotFound
	}
	lines, err := v.lines(p.ID)
	if err != nil {
		return nil, err
	}
	c := cells{v.lang}
	page := contractPage{Contract: &k, Bars: k.bars(), Status: v.lang.Name("contractStatus", k.Status), Partner: k.partner(),
		From: c.date(text(k.StartDate)).Text, To: c.date(text(k.EndDate)).Text, Lines: v.contractLines(p, &k, lines)}
	if k.Committed != nil || k.Invoiced != nil {
		page.Facts = []fact{
			{Label: v.text("budget.committed"), Amount: k.Committed, Class: "committed", Link: "#t-lines"},
			{Label: v.text("budget.invoiced"), Amount: k.Invoiced, Class: "invoiced", Link: "#t-invoices"},
			{Label: v.text("budget.paid"), Amount: k.Paid, Class: "paid", Link: "#t-invoices"},
			{Label: v.text("contracts.open"), Amount: k.OpenCommitment, Note: v.text("contracts.openNote")},
			{Label: v.text("contracts.pending"), Amount: k.PendingChanges, Link: "#t-lines"},
		}
		if k.over() {
			page.Facts = append(page.Facts, fact{Label: v.text("contracts.overInvoiced"), Amount: k.OverInvoiced, Bad: true,
				Note: v.text("contracts.overNote")})
		}
	}
	tables := []*table{page.Lines}
	if k.Invoiced != nil {
		if page.Invoices, err = v.contractInvoices(p, &k); err != nil {
			return nil, err
		}
		tables = append(tables, page.Invoices)
	}
	return v.answer(p, figure{tab: "contract", title: k.title(), data: page, tables: tables})
}

// contractInvoices are the records that are invoiced on a contract, the newest first.
func (v *visit) contractInvoices(p *project, k *contract) (*table, error) {
	found, err := v.desk.sources.ContractInvoices(v.request.Context(), v.caller.Tenant(), p.ID, k.ID, k.Invoiced.Currency)
	if err != nil {
		return nil, err
	}
	return v.invoicedTable(p, v.text("contracts.invoices"), k.Invoiced.Currency, found, k.Invoiced), nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// contractLines are what was agreed first, and every amendment.
func (v *visit) contractLines(p *project, k *contract, lines lineNames) *table {
	t := &table{Name: "lines", Caption: v.text("contracts.lines"), Note: v.text("table.none"), Columns: []column{
		{Title: v.text("contracts.what")}, {Title: v.text("budget.line")}, {Title: v.text("contracts.status")},
		{Title: v.text("table.date")}, {Title: v.text("table.amount"), Unit: k.currency(), Number: true}}}
	c := cells{v.lang}
	line := func(id *string) cell {
		one := c.text(lines.name(id))
		if id != nil {
			return one.to(p.page("records", "line", *id))
		}
		return one
	}
	for _, a := range k.Allocations {
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(v.text("contracts.base")), line(a.BudgetNodeID), c.text(""), c.date(text(k.StartDate)),
			c.amount(a.Amount)}})
	}
	for _, a := range k.Amendments {
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(text(a.Title)), line(a.BudgetNodeID),
			c.text(v.lang.Name("amendmentStatus", a.Status)), c.date(text(a.Date)), c.amount(a.Amount)}})
	}
	return t
}
