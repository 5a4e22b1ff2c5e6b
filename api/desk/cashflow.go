package desk

import (
	"slices"
	"strings"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
)

// cashflow is what the API shows of a project's cash flow.
type cashflow struct {
	Currency string         `json:"currency"`
	AsOf     string         `json:"asOf"`
	Nodes    []cashflowNode `json:"nodes"`
}

type cashflowNode struct {
	NodeID   string  `json:"nodeId"`
	ParentID *string `json:"parentId"`
	Code     string  `json:"code"`
	Name     string  `json:"name"`
	Months   []struct {
		Month    string           `json:"month"`
		Actual   analytics.Int128 `json:"actual"`
		Forecast analytics.Int128 `json:"forecast"`
	} `json:"months"`
	Undated *analytics.Int128 `json:"undated"` // nil where the person may not see amounts
	Gap     *analytics.Int128 `json:"gap"`
	Flags   []string          `json:"flags"`
}

// cashflowPage is what the page shows.
type cashflowPage struct {
	Currency string
	Hidden   bool
	Facts    []fact
	Chart    *chart
	Months   *table
	Lines    *table
	Choice   lineChoice
	From, To string
}

// lineChoice is which line of the budget a page is about.
type lineChoice struct {
	Chosen string // "" for all
	Lines  []lineOption
}

type lineOption struct{ ID, Name string }

// flow is what is paid and forecast in the months, in minor units.
type flow struct {
	months           []string
	actual, forecast map[string]analytics.Int128
	undated, gap     analytics.Int128
}

func showCashflow(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	query := v.request.URL.Query()
	page := cashflowPage{From: query.Get("from"), To: query.Get("to"), Choice: lineChoice{Chosen: query.Get("line")}}
	if err := v.areMonths(page.From, page.To); err != nil {
		return nil, err
	}
	if page.From != "" && page.To != "" && page.From > page.To {
		return nil, &refusedError{v.text("cashflow.backwards")}
	}
	level := levelBudget
	if page.Choice.Chosen != "" {
		level = "" // it may be any line
	}
	var of cashflow
	if err := v.ask(target("/v0/projects/%s/cashflow", []string{p.ID}, "from", page.From, "to", page.To, "level", level), &of); err != nil {
		return nil, err
	}
	page.Currency, page.Hidden = of.Currency, of.hidden()
	f := figure{tab: "cashflow", title: v.text("cashflow.title")}
	if !page.Hidden {
		if !of.has(page.Choice.Chosen) {
			return nil, errNotFound
		}
		flow := of.flow(page.Choice.Chosen)
		for _, n := range of.Nodes {
			if n.ParentID == nil || n.NodeID == page.Choice.Chosen {
				page.Choice.Lines = append(page.Choice.Lines, lineOption{n.NodeID, n.Code + "  " + n.Name})
			}
		}
		page.Chart, page.Months, page.Lines = v.cashflowChart(&of, flow), v.monthsTable(p, &of, flow, page.Choice.Chosen), v.linesTable(p, &of)
		page.Facts = v.cashflowFacts(p, flow, of.Currency, page.Choice.Chosen)
		f.tables = []*table{page.Months, page.Lines}
	}
	f.data = page
	return v.answer(p, f)
}

// has reports whether there is such a line; "" stands for all.
func (c *cashflow) has(line string) bool {
	return line == "" || slices.ContainsFunc(c.Nodes, func(n cashflowNode) bool { return n.NodeID == line })
}

// flow adds up the top lines, or is that of one line.
func (c *cashflow) flow(line string) *flow {
	f := &flow{actual: map[string]analytics.Int128{}, forecast: map[string]analytics.Int128{}}
	for _, n := range c.Nodes {
		if line == "" && n.ParentID != nil || line != "" && n.NodeID != line {
			continue
		}
		for _, m := range n.Months {
			if _, known := f.actual[m.Month]; !known {
				f.months = append(f.months, m.Month)
			}
			f.actual[m.Month] = f.actual[m.Month].Add(m.Actual)
			f.forecast[m.Month] = f.forecast[m.Month].Add(m.Forecast)
		}
		f.undated = f.undated.Add(value(n.Undated))
		f.gap = f.gap.Add(value(n.Gap))
	}
	return f
}

func value(n *analytics.Int128) analytics.Int128 {
	if n == nil {
		return analytics.Int128{}
	}
	return *n
}

func (f *flow) sums() (actual, forecast analytics.Int128) {
	for _, m := range f.months {
		actual, forecast = actual.Add(f.actual[m]), forecast.Add(f.forecast[m])
	}
	return actual, forecast
}

func (v *visit) cashflowFacts(p *project, f *flow, currency, line string) []fact {
	actual, forecast := f.sums()
	return []fact{
		{Label: v.text("cashflow.actual"), Amount: &amount{actual, currency}, Class: "paid",
			Link: p.page("records", slices.Concat(paid, []string{"line", line})...)},
		{Label: v.text("cashflow.forecast"), Amount: &amount{forecast, currency}, Class: "forecast", Link: "#t-months"},
		{Label: v.text("cashflow.undated"), Amount: &amount{f.undated, currency}, Note: v.text("cashflow.undatedNote"), Link: "#t-lines"},
	}
}

func (v *visit) cashflowChart(of *cashflow, f *flow) *chart {
	columns := make([]chartColumn, len(f.months))
	for i, text := range f.months {
		c := cells{v.lang}.month(text)
		columns[i] = chartColumn{values: []analytics.Int128{f.actual[text], f.forecast[text]}, title: v.text("cashflow.tip", c.Text,
			v.lang.Amount(f.actual[text], of.Currency), v.lang.Amount(f.forecast[text], of.Currency), of.Currency)}
		if year, january := strings.CutSuffix(text, "-01"); january {
			columns[i].label = year
		}
	}
	return drawChart(v.lang, v.text("cashflow.chart", of.Currency), of.Currency, []string{"paid", "forecast"}, columns)
}

func (v *visit) monthsTable(p *project, of *cashflow, f *flow, line string) *table {
	amounts := func(title string) column { return column{Title: v.text(title), Unit: of.Currency, Number: true} }
	t := &table{Name: "months", Caption: v.text("cashflow.monthsCaption"), Columns: []column{{Title: v.text("cashflow.month")},
		amounts("cashflow.actual"), amounts("cashflow.forecast"), amounts("cashflow.running")}}
	c := cells{v.lang}
	var running analytics.Int128
	for _, text := range f.months {
		running = running.Add(f.actual[text]).Add(f.forecast[text])
		actual, forecast := c.amount(&amount{f.actual[text], of.Currency}), c.amount(&amount{f.forecast[text], of.Currency})
		if !f.actual[text].IsZero() {
			actual = actual.to(p.paidIn(text, line))
		}
		if !f.forecast[text].IsZero() {
			forecast = forecast.to(p.page("cashflow/"+text, "line", line))
		}
		t.Rows = append(t.Rows, row{Cells: []cell{c.month(text), actual, forecast,
			c.amount(&amount{running, of.Currency})}})
	}
	actual, forecast := f.sums()
	t.Rows = append(t.Rows, row{Total: true, Cells: []cell{c.text(v.text("budget.total")), c.amount(&amount{actual, of.Currency}),
		c.amount(&amount{forecast, of.Currency}), {kind: plainCell}}})
	return t
}

// paidIn is the list of what was paid in a month on a line, with those below it, or on all lines.
func (p *project) paidIn(month, line string, more ...string) string {
	m, err := calendar.ParseAnyMonth(month)
	if err != nil {
		return ""
	}
	return p.page("records", slices.Concat(paid, []string{"line", line, "cashDateFrom", m.First().String(), "cashDateTo", m.Last().String()},
		more)...)
}

// linesTable shows what each top line lacks: dates, and funding.
func (v *visit) linesTable(p *project, of *cashflow) *table {
	amounts := func(title string) column { return column{Title: v.text(title), Unit: of.Currency, Number: true} }
	t := &table{Name: "lines", Caption: v.text("cashflow.linesCaption"), Columns: []column{{Title: v.text("budget.line")},
		amounts("cashflow.actual"), amounts("cashflow.forecast"), amounts("cashflow.undated"), amounts("cashflow.gap"),
		{Title: v.text("cashflow.flags")}}}
	c := cells{v.lang}
	for _, n := range of.Nodes {
		if n.ParentID != nil {
			continue
		}
		one := of.flow(n.NodeID)
		actual, forecast := one.sums()
		flags := make([]string, len(n.Flags))
		for i, flag := range n.Flags {
			flags[i] = v.lang.Name("flag", flag)
		}
		flow, plan := p.page("cashflow", "line", n.NodeID), p.line(n.NodeID, "plan")
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(n.Code + "  " + n.Name).to(flow),
			c.amount(&amount{actual, of.Currency}).to(flow), c.amount(&amount{forecast, of.Currency}).to(flow),
			c.amount(&amount{value(n.Undated), of.Currency}).to(plan), c.amount(&amount{value(n.Gap), of.Currency}).to(plan),
			c.text(strings.Join(flags, ", "))}})
	}
	return t
}
