package desk

import (
	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
)

// cashflowMonthPage is what the page of one month of a cash flow shows: the lines whose own money it is made of.
type cashflowMonthPage struct {
	Hidden bool
	Facts  []fact
	Table  *table
	Whole  string // the cash flow that the month is of
	Dated  string // payments that have a date in the month already
}

func showCashflowMonth(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	month := v.request.PathValue("month")
	if _, err := calendar.ParseMonth(month); err != nil {
		return nil, errNotFound
	}
	line := v.request.URL.Query().Get("line")
	var of cashflow
	if err := v.ask(target("/v0/projects/%s/cashflow", []string{p.ID}, "from", month, "to", month), &of); err != nil {
		return nil, err
	}
	name := cells{v.lang}.month(month).Text
	f := figure{tab: "cashflow-month", title: v.text("cashflow.ofMonth", name)}
	page := cashflowMonthPage{Hidden: of.hidden(), Whole: p.page("cashflow", "line", line), Dated: p.paidIn(month, line)}
	if !page.Hidden {
		if !of.has(line) {
			return nil, errNotFound
		}
		whole := of.flow(line)
		actual, forecast := whole.sums()
		page.Facts = []fact{{Label: v.text("cashflow.actual"), Amount: &amount{actual, of.Currency}, Class: "paid", Link: page.Dated},
			{Label: v.text("cashflow.forecast"), Amount: &amount{forecast, of.Currency}, Class: "forecast", Link: "#t-lines"}}
		page.Table = v.monthTable(p, &of, month, line, name)
		f.tables = []*table{page.Table}
	}
	f.data = page
	return v.answer(p, f)
}

// hidden reports whether the person may not see the amounts. A project may have no lines yet.
func (c *cashflow) hidden() bool {
	return c.Nodes == nil || len(c.Nodes) > 0 && c.Nodes[0].Undated == nil
}

// monthTable lists what each line pays and expects itself, so that the lines add up to the month.
func (v *visit) monthTable(p *project, of *cashflow, month, line, name string) *table {
	amounts := func(title string) column { return column{Title: v.text(title), Unit: of.Currency, Number: true} }
	t := &table{Name: "lines", Caption: v.text("cashflow.ofMonthCaption", name), Note: v.text("table.none"), Columns: []column{
		{Title: v.text("budget.line")}, amounts("cashflow.actual"), amounts("cashflow.forecast")}}
	c := cells{v.lang}
	shown := map[string]bool{line: true}
	var actual, forecast analytics.Int128
	for _, n := range of.Nodes {
		if n.NodeID != line && (n.ParentID == nil && line != "" || n.ParentID != nil && !shown[*n.ParentID]) {
			continue
		}
		shown[n.NodeID] = true
		own := of.own(n.NodeID)
		paid, expected := own.sums()
		if paid.IsZero() && expected.IsZero() {
			continue
		}
		actual, forecast = actual.Add(paid), forecast.Add(expected)
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(n.Code + "  " + n.Name).to(p.line(n.NodeID, "")),
			c.amount(&amount{paid, of.Currency}).to(p.paidIn(month, n.NodeID, "below", "false")),
			c.amount(&amount{expected, of.Currency}).to(p.line(n.NodeID, "plan"))}})
	}
	if len(t.Rows) > 0 {
		t.Rows = append(t.Rows, row{Total: true, Cells: []cell{c.text(v.text("budget.total")), c.amount(&amount{actual, of.Currency}),
			c.amount(&amount{forecast, of.Currency})}})
	}
	return t
}
