package desk

import (
	"slices"

	"tallyhouse/analytics"
)

// levelBudget shows the top lines alone, levelSub two levels; "" all of them.
const (
	levelBudget = "budget"
	levelSub    = "subBudget"
)

// budget is what the API shows of a project's budget.
type budget struct {
	Currency          string       `json:"currency"`
	Nodes             []budgetNode `json:"nodes"`
	Unallocated       *amount      `json:"unallocated"`
	UnallocatedBudget *amount      `json:"unallocatedBudget"`
	Excluded          []excluded   `json:"excluded"`
	ExcludedCommitted []excluded   `json:"excludedCommitted"`
}

type budgetNode struct {
	NodeID   string  `json:"nodeId"`
	ParentID *string `json:"parentId"`
	Code     string  `json:"code"`
	Name     string  `json:"name"`
	lineFigures

	// What the estimate is made of beside what is committed; nil as the figures are.
	PendingChanges       *amount `json:"pendingChanges"`
	Uncommitted          *amount `json:"uncommitted"`
	UncommittedDefaulted *bool   `json:"uncommittedDefaulted"`
}

// lineFigures are those of a line of the budget; nil where the person may not see amounts, and where a figure is beyond what an amount
// can show.
type lineFigures struct {
	Budget       *amount `json:"budget"`
	Committed    *amount `json:"committed"`
	Invoiced     *amount `json:"invoiced"`
	Paid         *amount `json:"paid"`
	EAC          *amount `json:"eac"`
	Variance     *amount `json:"variance"`
	OverInvoiced *amount `json:"overInvoiced"`
}

// excluded is what is in another currency than the project's.
type excluded struct {
	Currency string            `json:"currency"`
	Value    *analytics.Int128 `json:"value"` // nil where it is beyond what an amount can show
	Count    int64             `json:"count"`
}

// amount is that of what is excluded; nil where it is beyond what an amount can show.
func (e *excluded) amount() *amount {
	if e.Value == nil {
		return nil
	}
	return &amount{*e.Value, e.Currency}
}

func (v *visit) budget(project, level string) (*budget, error) {
	var b budget
	if err := v.ask(target("/v0/projects/%s/budget", []string{project}, "level", level), &b); err != nil {
		return nil, err
	}
	return &b, nil
}

// visible reports whether the person may see lines with amounts. A project may have none yet.
func (b *budget) visible() bool { return b.Nodes != nil && b.Excluded != nil }

// total adds the top lines up, which are all in the project's currency.
func (b *budget) total() lineFigures {
	of := func(figure func(f *lineFigures) *amount) *amount {
		var all []*amount
		for i := range b.Nodes {
			if n := &b.Nodes[i]; n.ParentID == nil {
				all = append(all, figure(&n.lineFigures))
			}
		}
		if all == nil {
			return &amount{Currency: b.Currency}
		}
		return sumUp(all...)
	}
	return lineFigures{
		Budget:       of(func(f *lineFigures) *amount { return f.Budget }),
		Committed:    of(func(f *lineFigures) *amount { return f.Committed }),
		Invoiced:     of(func(f *lineFigures) *amount { return f.Invoiced }),
		Paid:         of(func(f *lineFigures) *amount { return f.Paid }),
		EAC:          of(func(f *lineFigures) *amount { return f.EAC }),
		Variance:     of(func(f *lineFigures) *amount { return f.Variance }),
		OverInvoiced: of(func(f *lineFigures) *amount { return f.OverInvoiced }),
	}
}

// sumUp adds amounts of one currency up; nil where one of them is, which nobody knows the value of, and of none.
func sumUp(all ...*amount) *amount {
	var sum *amount
	for _, a := range all {
		switch {
		case a == nil:
			return nil
		case sum == nil:
			sum = &amount{Currency: a.Currency}
		}
		sum.Value = sum.Value.Add(a.Value)
	}
	return sum
}

// less is an amount without another one of its currency; nil where one of the two is.
func (a *amount) less(b *amount) *amount {
	if b == nil {
		return nil
	}
	return sumUp(a, b.negative())
}

// bars shows how far the budget is used, and where the estimate is.
func (f *lineFigures) bars() *bars {
	return drawBars(f.EAC, barOf{"budget", f.Budget}, barOf{"committed", f.Committed}, barOf{"invoiced", f.Invoiced},
		barOf{"paid", f.Paid})
}

// fact is a figure that stands alone.
type fact struct {
	Label  string
	Amount *amount
	Exact  bool   // the amount isn't rounded
	Text   string // instead of an amount
	Note   string
	Link   string
	Class  string // of the mark beside it
	Bad    bool
}

// note is a sentence, and where what it speaks of is.
type note struct{ Text, Link string }

// budgetPage is what the page shows.
type budgetPage struct {
	Currency string
	Hidden   bool
	Facts    []fact
	Bars     *bars
	Table    *table
	Level    string
	Others   []note // on what is not in the lines
}

func showBudget(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	level := v.request.URL.Query().Get("level")
	b, err := v.budget(p.ID, level)
	if err != nil {
		return nil, err
	}
	page := budgetPage{Currency: b.Currency, Hidden: !b.visible(), Level: level}
	if page.Hidden {
		return v.answer(p, figure{tab: "budget", title: v.text("budget.title"), data: page})
	}
	total := b.total()
	page.Facts, page.Bars, page.Table = v.budgetFacts(p, total, ""), total.bars(), v.budgetTable(p, b, total)
	page.Others = v.outsideLines(p, b)
	return v.answer(p, figure{tab: "budget", title: v.text("budget.title"), data: page, tables: []*table{page.Table}})
}

// budgetFacts are the figures of a line, or of all where it is "". The table below them says what budget and estimate are made of.
func (v *visit) budgetFacts(p *project, total lineFigures, line string) []fact {
	of := []string{"line", line}
	estimate := "#t-budget"
	if line != "" {
		estimate = "#t-estimate"
	}
	facts := []fact{
		{Label: v.text("budget.budget"), Amount: total.Budget, Class: "budget", Link: "#t-budget"},
		{Label: v.text("budget.committed"), Amount: total.Committed, Class: "committed", Link: p.page("contracts", of...)},
		{Label: v.text("budget.invoiced"), Amount: total.Invoiced, Class: "invoiced", Link: p.page("records", slices.Concat(invoiced, of)...)},
		{Label: v.text("budget.paid"), Amount: total.Paid, Class: "paid", Link: p.page("records", slices.Concat(paid, of)...)},
		{Label: v.text("budget.estimate"), Amount: total.EAC, Class: "estimate", Link: estimate},
	}
	if total.Variance != nil {
		f := fact{Label: v.text("budget.left"), Amount: total.Variance, Link: estimate}
		if f.Bad = total.Variance.Value.Sign() < 0; f.Bad {
			f.Label, f.Amount = v.text("budget.over"), total.Variance.negative()
		}
		facts = append(facts, f)
	}
	return facts
}

// budgetTable has a line for each of the budget's, in its order: a line before those below it.
func (v *visit) budgetTable(p *project, b *budget, total lineFigures) *table {
	amounts := func(title string) column { return column{Title: v.text(title), Unit: b.Currency, Number: true} }
	t := &table{Name: "budget", Caption: v.text("budget.caption", p.Name), Tree: true, Columns: []column{
		{Title: v.text("budget.line")}, {Title: v.text("budget.progress"), Bars: true}, amounts("budget.budget"),
		amounts("budget.committed"), amounts("budget.invoiced"), amounts("budget.paid"), amounts("budget.estimate"),
		amounts("budget.variance")}}
	c := cells{v.lang}
	line := func(heading cell, f *lineFigures, node string) row {
		link := func(of string, a *amount, parameters ...string) cell {
			one := c.amount(a)
			if a == nil || a.isZero() {
				return one
			}
			return one.to(p.page(of, slices.Concat(parameters, []string{"line", node})...))
		}
		made := func(part string, a *amount) cell {
			one := c.amount(a)
			if a == nil || node == "" { // what the total is made of stands above it
				return one
			}
			return one.to(p.line(node, part))
		}
		variance := made("estimate", f.Variance)
		if f.Variance != nil && f.Variance.Value.Sign() < 0 {
			variance = variance.badge("bad")
		}
		return row{ID: node, Cells: []cell{heading, {Bars: f.bars()}, made("budget", f.Budget), link("contracts", f.Committed),
			link("records", f.Invoiced, invoiced...), link("records", f.Paid, paid...), made("estimate", f.EAC), variance}}
	}
	depths := map[string]int{}
	rows := map[string]int{}
	for i := range b.Nodes {
		n := &b.Nodes[i]
		r := line(c.text(n.title()).to(p.line(n.NodeID, "")), &n.lineFigures, n.NodeID)
		if n.ParentID != nil {
			r.Parent, r.Depth = *n.ParentID, depths[*n.ParentID]+1
			if at, ok := rows[r.Parent]; ok {
				t.Rows[at].Branch, t.Rows[at].Open = true, t.Rows[at].Depth == 0
			}
		}
		depths[n.NodeID], rows[n.NodeID] = r.Depth, len(t.Rows)
		t.Rows = append(t.Rows, r)
	}
	sum := line(c.text(v.text("budget.total")), &total, "")
	sum.ID, sum.Total = "", true
	t.Rows = append(t.Rows, sum)
	return t
}

// outsideLines says what belongs to no line, or to no line of the project's currency.
func (v *visit) outsideLines(p *project, b *budget) (notes []note) {
	say := func(key, link string, a *amount) {
		if a == nil || !a.isZero() {
			notes = append(notes, note{v.text(key, v.figure(a), b.Currency), link})
		}
	}
	say("budget.unallocated", p.page("outside")+"#t-invoices", b.Unallocated)
	say("budget.unallocatedBudget", p.page("outside")+"#t-budget", b.UnallocatedBudget)
	for _, e := range b.Excluded {
		notes = append(notes, note{v.text("budget.excluded", v.figure(e.amount()), e.Currency, e.Count),
			p.page("outside", "currency", e.Currency)})
	}
	for _, e := range b.ExcludedCommitted {
		notes = append(notes, note{v.text("budget.excludedCommitted", v.figure(e.amount()), e.Currency, e.Count),
			p.page("contracts", "currency", e.Currency)})
	}
	return notes
}

// figure is an amount in words, without its currency; nil is one that is beyond what an amount can show.
func (v *visit) figure(a *amount) string {
	if a == nil {
		return v.text("budget.beyond")
	}
	return v.lang.Amount(a.Value, a.Currency)
}
