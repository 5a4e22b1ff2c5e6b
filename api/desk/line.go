package desk

import (
	"errors"
	"slices"

	"tallyhouse/analytics"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// linePage is what the page of one line of the budget shows: each of its figures, and what it is made of.
type linePage struct {
	Hidden   bool
	Above    *lineOption // the line that it belongs to
	Facts    []fact
	Bars     *bars
	Budget   *table
	Estimate *table
	Plan     *table
	PlanText string
	Flow     string // the line's cash flow
}

func showLine(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	b, err := v.budget(p.ID, "")
	if err != nil {
		return nil, err
	}
	n := b.node(v.request.PathValue("line"))
	if n == nil {
		return nil, errNotFound
	}
	f := figure{tab: "line", title: n.title()}
	page := linePage{Hidden: !b.visible()}
	if n.ParentID != nil {
		if above := b.node(*n.ParentID); above != nil {
			page.Above = &lineOption{p.line(above.NodeID, ""), above.title()}
		}
	}
	if page.Hidden {
		f.data = page
		return v.answer(p, f)
	}
	sources, err := v.lineSources(p, n.NodeID)
	if err != nil {
		return nil, err
	}
	own, err := v.ownFlow(p, n)
	if err != nil {
		return nil, err
	}
	page.Facts, page.Bars, page.Flow = v.budgetFacts(p, n.lineFigures, n.NodeID), n.bars(), p.page("cashflow", "line", n.NodeID)
	page.Budget, page.Estimate = v.lineBudget(p, b, n, &sources), v.lineEstimate(p, b, n, &sources)
	page.Plan, page.PlanText = v.linePlan(p, n, b.Currency, own, sources.Plan), v.planText(sources.Plan)
	f.data, f.tables = page, []*table{page.Budget, page.Estimate, page.Plan}
	return v.answer(p, f)
}

// line is the address of a line's page, or of a part of it.
func (p *project) line(id, part string) string {
	address := target("/projects/%s/lines/%s", []string{p.ID, id})
	if part != "" {
		address += "#t-" + part
	}
	return address
}

func (n *budgetNode) title() string { return n.Code + "  " + n.Name }

// node is the line of this id; nil when there is none.
func (b *budget) node(id string) *budgetNode {
	if at := slices.IndexFunc(b.Nodes, func(n budgetNode) bool { return n.NodeID == id }); at >= 0 {
		return &b.Nodes[at]
	}
	return nil
}

// below are the lines right below one.
func (b *budget) below(id string) (lines []*budgetNode) {
	for i := range b.Nodes {
		if n := &b.Nodes[i]; n.ParentID != nil && *n.ParentID == id {
			lines = append(lines, n)
		}
	}
	return lines
}

func (v *visit) lineRequest(p *project, line string) (reader.LineRequest, error) {
	seen, ok := v.caller.Project(p.ID)
	if !ok {
		return reader.LineRequest{}, errNotFound
	}
	return reader.LineRequest{Tenant: v.caller.Tenant(), Project: reader.ProjectRef{ID: p.ID, StructureID: seen.BudgetStructureID},
		Currency: seen.Currency, Line: line}, nil
}

// lineSources reads what was entered of a line, or of no line where it is "".
func (v *visit) lineSources(p *project, line string) (reader.LineSources, error) {
	of, err := v.lineRequest(p, line)
	if err != nil {
		return reader.LineSources{}, err
	}
	found, err := v.desk.sources.LineSources(v.request.Context(), of)
	if errors.Is(err, reader.ErrNotFound) {
		return found, errNotFound
	}
	return found, err
}

// lineBudget lists the bookings that a line's budget is made of, and the lines below it.
func (v *visit) lineBudget(p *project, b *budget, n *budgetNode, sources *reader.LineSources) *table {
	t := v.bookingsTable(b, sources.Bookings)
	sum := &amount{Currency: b.Currency}
	for i := range sources.Bookings {
		sum = sumUp(sum, minor(sources.Bookings[i].Value, b.Currency))
	}
	c := cells{v.lang}
	for _, child := range b.below(n.NodeID) {
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(child.title()).to(p.line(child.NodeID, "")), c.text(v.text("sources.lineBelow")), {},
			c.amount(child.Budget).to(p.line(child.NodeID, "budget"))}})
		sum = sumUp(sum, child.Budget)
	}
	v.sum(t, sum, n.Budget)
	return t
}

// bookingsTable lists bookings of a budget.
func (v *visit) bookingsTable(b *budget, bookings []reader.Booking) *table {
	t := v.sourceTable("budget", v.text("sources.budget"), b.Currency, column{Title: v.text("sources.what")},
		column{Title: v.text("sources.id")}, column{Title: v.text("sources.since")})
	c := cells{v.lang}
	for _, booking := range bookings {
		what := v.lang.Name("booking", string(booking.Kind))
		if other := b.node(booking.Other); other != nil {
			what += ": " + other.title()
		}
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(what), c.text(booking.ID), c.date(calendar.ViennaDate(booking.At).String()),
			c.amount(minor(booking.Value, b.Currency))}})
	}
	return t
}

// lineEstimate says what the estimate of a line adds up from.
func (v *visit) lineEstimate(p *project, b *budget, n *budgetNode, sources *reader.LineSources) *table {
	t := v.sourceTable("estimate", v.text("sources.estimate"), b.Currency, column{Title: v.text("sources.what")},
		column{Title: v.text("sources.from")})
	c := cells{v.lang}
	contracts := p.page("contracts", "line", n.NodeID)
	claimed := &amount{Currency: b.Currency}
	for i := range sources.Claims {
		claimed = sumUp(claimed, minor(sources.Claims[i].Pending, b.Currency))
	}
	add := func(what string, from cell, a *amount) {
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(what), from, c.amount(a)}})
	}
	add(v.text("budget.committed"), c.text(v.text("sources.contracts")).to(contracts), n.Committed)
	inContracts := v.text("sources.pending")
	if sources.Incomplete {
		inContracts = v.text("sources.pendingMore")
	}
	add(inContracts, c.text(v.text("sources.contracts")).to(contracts), n.PendingChanges.less(claimed))
	for i := range sources.Claims {
		claim := &sources.Claims[i]
		add(v.text("sources.claim", claim.ID),
			c.text(v.text("sources.claimed", c.Amount(analytics.Int(claim.Claim.Amount.Value), b.Currency), b.Currency,
				v.percent(claim.Claim.ProbabilityBp))), minor(claim.Pending, b.Currency))
	}
	uncommitted := c.text(v.text("sources.enteredBelow"))
	switch {
	case sources.Entered.Ok:
		entered := sources.Entered.V
		uncommitted = c.text(v.text("sources.entered", entered.ID, c.Date(calendar.ViennaDate(entered.At))))
	case n.UncommittedDefaulted != nil && *n.UncommittedDefaulted:
		uncommitted = c.text(v.text("sources.byDefault"))
	}
	add(v.text("sources.uncommitted"), uncommitted, n.Uncommitted)
	v.sum(t, sumUp(n.Committed, n.PendingChanges, n.Uncommitted), n.EAC)
	return t
}

// ownFlow is what of a line's cash flow is its own: without that of the lines below it.
func (v *visit) ownFlow(p *project, n *budgetNode) (*flow, error) {
	var of cashflow
	if err := v.ask(target("/v0/projects/%s/cashflow", []string{p.ID}), &of); err != nil {
		return nil, err
	}
	return of.own(n.NodeID), nil
}

// own is the flow of a line without that of the lines right below it.
func (c *cashflow) own(line string) *flow {
	own := c.flow(line)
	for _, n := range c.Nodes {
		if n.ParentID == nil || *n.ParentID != line {
			continue
		}
		for _, m := range n.Months {
			own.actual[m.Month] = own.actual[m.Month].Sub(m.Actual)
			own.forecast[m.Month] = own.forecast[m.Month].Sub(m.Forecast)
		}
		own.undated = own.undated.Sub(value(n.Undated))
		own.gap = own.gap.Sub(value(n.Gap))
	}
	return own
}

// linePlan shows what a line itself has to pay yet, month by month.
func (v *visit) linePlan(p *project, n *budgetNode, currency string, own *flow, plan events.Opt[analytics.LinePlan]) *table {
	c := cells{v.lang}
	t := v.sourceTable("plan", v.text("sources.plan"), currency, column{Title: v.text("cashflow.month")},
		column{Title: v.text("sources.entry"), Unit: currency, Number: true})
	entered := map[string]analytics.Int128{}
	for _, m := range plan.V.CustomMonths {
		month := m.Month.String()
		entered[month] = entered[month].Add(analytics.Int(m.Value))
	}
	var sum analytics.Int128
	for _, month := range own.months {
		if own.forecast[month].IsZero() {
			continue
		}
		entry := cell{kind: plainCell}
		if value, ok := entered[month]; ok {
			entry = c.amount(&amount{value, currency})
		}
		t.Rows = append(t.Rows, row{Cells: []cell{c.month(month), entry,
			c.amount(&amount{own.forecast[month], currency}).to(p.page("cashflow/"+month, "line", n.NodeID))}})
		sum = sum.Add(own.forecast[month])
	}
	for _, rest := range []struct {
		key   string
		value analytics.Int128
	}{{"cashflow.undated", own.undated}, {"cashflow.gap", own.gap}} {
		if !rest.value.IsZero() {
			t.Rows = append(t.Rows, row{Cells: []cell{c.text(v.text(rest.key)), {kind: plainCell}, c.amount(&amount{rest.value, currency})}})
			sum = sum.Add(rest.value)
		}
	}
	if len(t.Rows) > 0 {
		v.sum(t, &amount{sum, currency}, &amount{sum, currency})
	}
	return t
}

// planText says how a line is spread over time.
func (v *visit) planText(plan events.Opt[analytics.LinePlan]) string {
	switch {
	case !plan.Ok:
		return v.text("sources.noPlan")
	case !plan.V.StartDate.Ok || !plan.V.EndDate.Ok:
		return v.text("sources.planOpen", plan.V.ID, v.lang.Name("phasing", plan.V.Method))
	}
	return v.text("sources.planned", plan.V.ID, v.lang.Name("phasing", plan.V.Method),
		v.lang.Date(plan.V.StartDate.V), v.lang.Date(plan.V.EndDate.V))
}

// outsidePage is what the page shows of what is on no line of a budget.
type outsidePage struct {
	Hidden   bool
	Intro    string
	Budget   *table // nil of another currency than the project's
	Invoices *table
	All      string // the budget
}

// showOutside lists the bookings of the budget and the records that are on no line; of another currency all records, which are in none.
func showOutside(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	b, err := v.budget(p.ID, "")
	if err != nil {
		return nil, err
	}
	page := outsidePage{Hidden: !b.visible(), Intro: v.text("sources.outsideIntro"), All: p.page("budget")}
	f := figure{tab: "outside", title: v.text("sources.outside")}
	if page.Hidden {
		f.data = page
		return v.answer(p, f)
	}
	currency, invoiced := v.request.URL.Query().Get("currency"), b.Unallocated
	if currency == "" || currency == b.Currency {
		currency = b.Currency
		sources, err := v.lineSources(p, "")
		if err != nil {
			return nil, err
		}
		page.Budget = v.bookingsTable(b, sources.Bookings)
		sum := &amount{Currency: b.Currency}
		for _, booking := range sources.Bookings {
			sum = sumUp(sum, minor(booking.Value, b.Currency))
		}
		v.sum(page.Budget, sum, b.UnallocatedBudget)
		f.tables = []*table{page.Budget}
	} else {
		at := slices.IndexFunc(b.Excluded, func(e excluded) bool { return e.Currency == currency })
		if at < 0 {
			return nil, errNotFound
		}
		invoiced, page.Intro = b.Excluded[at].amount(), v.text("sources.otherIntro", currency)
		f.title = v.text("sources.other", currency)
	}
	of, err := v.lineRequest(p, "")
	if err != nil {
		return nil, err
	}
	records, err := v.desk.sources.OutsideInvoices(v.request.Context(), of, currency)
	if err != nil {
		return nil, err
	}
	page.Invoices = v.invoicedTable(p, v.text("sources.invoices"), currency, records, invoiced)
	f.data, f.tables = page, append(f.tables, page.Invoices)
	return v.answer(p, f)
}
