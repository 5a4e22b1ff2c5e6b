package analytics

import (
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// CashflowInput is everything that the cash flow of one project is computed from: what its budget is computed from, the
// plans of its lines, and the sums of payments and recognised records by month. No records.
type CashflowInput struct {
	BudgetInput
	Plans      []LinePlan
	Cash       []CashSum
	Recognized []RecognizedSum // needed in months before the current one, where a plan is recurring; faster node by node
	// The first and the last month that are asked for.
	From, To events.Opt[calendar.Month]
}

// MaxCashflowMonths is how many months a cash flow has values of.
const MaxCashflowMonths = 600

// maxRoom is how many months of all lines are kept beside each other, 32 MB. Where dates are so far apart that there are
// more, only those that are listed are kept.
const maxRoom = 2 << 20

// LinePlan says how the money of one budget line is spread over time. Of several plans of a line the one with the
// greatest id counts.
type LinePlan struct {
	ID string
	events.LinePlan
}

// CashSum is what was paid on a node in one currency: the net of records that count and are paid.
type CashSum struct {
	NodeID   NodeID // as coded
	Currency string
	Paid     []MonthNet // in any order; several of one month add up
}

// MonthNet is what was paid in a month, or a part of it.
type MonthNet struct {
	Month calendar.Month
	Net   Int128
}

// RecognizedSum is how many allocations of records on a node are recognised in a month: in any currency, accruals
// included, rejected records not.
type RecognizedSum struct {
	NodeID NodeID // as coded
	Month  calendar.Month
	Count  int64
}

// CashflowFlags are the warnings of a line, its own and those of all lines below (docs/calculations.md#flags).
type CashflowFlags uint8

// The flags, in the order in which they are listed.
const (
	FlagOverdue CashflowFlags = 1 << iota
	FlagUndated
	FlagCustomGap
	FlagOverInvoiced
	FlagRecurringMissing
)

var flagNames = [...]string{"overdue", "undated", "customGap", "overInvoicedVsEac", "recurringMissing"}

// AppendNames appends the names of the flags that are set.
func (f CashflowFlags) AppendNames(names []string) []string {
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// ProjectCashflow is a project's cash flow in its currency (docs/calculations.md#cash-flow).
type ProjectCashflow struct {
	AsOf  calendar.Month // the first month of the forecast
	Nodes []CashflowNode // effective nodes, depth first
	// The months listed for all nodes (docs/calculations.md#months-listed): none when the last is before the first. They
	// have values up to MaxCashflowMonths.
	First, Last calendar.Month
}

// CashflowNode is an effective node with its cash flow, all below it included.
type CashflowNode struct {
	Node    *Node
	Undated Int128 // to be funded, but the line has no dates
	Gap     Int128 // what the entered months leave open; negative where they hold too much
	Flags   CashflowFlags
	parent  int // position in Nodes

	from   calendar.Month // of the first of the months
	months []Int128       // paid before AsOf, forecast from it on; 0 in all other months
}

// Months returns the months in which there may be anything, one after another from the first: before AsOf what was paid on
// the line, from AsOf on its forecast. In all other months both are 0. The values must not be changed.
func (n *CashflowNode) Months() (from calendar.Month, values []Int128) { return n.from, n.months }

// ToLevel returns the nodes that a response down to the deepest level shows, like ProjectBudget.ToLevel.
func (c *ProjectCashflow) ToLevel(deepest string) []CashflowNode {
	return toLevel(c.Nodes, deepest, func(n *CashflowNode) (string, int) { return n.Node.Level, n.parent })
}

// Cashflow computes the cash flow of a project (docs/calculations.md#cash-flow) as it is on a day in Vienna.
func Cashflow(in CashflowInput, today calendar.Date) ProjectCashflow {
	return cashflowWithin(in, today, maxRoom)
}

// cashflowWithin is Cashflow with room for so many months of all lines.
func cashflowWithin(in CashflowInput, today calendar.Date, room int) ProjectCashflow {
	budget := budgetOf(in.BudgetInput, nil)
	c := cashflow{in: &in, seats: in.seatsOf(), asOf: today.Month(), budget: budget.Nodes}
	c.nodes = make([]CashflowNode, len(budget.Nodes))
	for i := range budget.Nodes {
		c.nodes[i] = CashflowNode{Node: budget.Nodes[i].Node, parent: budget.Nodes[i].parent}
	}
	c.plan()
	ranges, total := c.ranges()
	far := total > room
	if far {
		c.listFar()
		total = clip(ranges, c.first, min(c.last, c.first+MaxCashflowMonths-1))
	}
	c.makeRoom(ranges, total)
	c.bookPayments()
	c.bookForecasts()
	c.flagRecurring()
	c.rollUp()
	if !far {
		c.list(c.ends())
	}
	return ProjectCashflow{AsOf: c.asOf, Nodes: c.nodes, First: c.first, Last: c.last}
}

// cashflow is a computation under way. What is kept by line lies in the order of the nodes.
type cashflow struct {
	in     *CashflowInput
	seats  []int // of each sum of payments
	asOf   calendar.Month
	budget []BudgetNode
	nodes  []CashflowNode

	phases  []phase
	funding []Int128 // what the line itself has to phase
	later   []Int128 // own payments dated in asOf or later

	first, last calendar.Month // listed
}

// plan finds the plan of each line and what it has to phase.
func (c *cashflow) plan() {
	c.funding = fundingToComplete(c.budget)
	c.later = make([]Int128, len(c.nodes))
	c.phases = make([]phase, len(c.nodes))
	ids := make([]string, len(c.nodes))
	for i := range c.in.Plans {
		p := &c.in.Plans[i]
		at := c.in.Structure.effectiveAt(NodeID(p.NodeID))
		if at == noSeat || c.phases[at].plan != nil && ids[at] > p.ID {
			continue
		}
		c.phases[at].plan, ids[at] = p, p.ID
	}
	for i := range c.phases {
		c.phases[i] = phaseOf(c.phases[i].plan, c.asOf)
	}
}

// fundingToComplete returns what each line itself has to phase (docs/calculations.md#funding-to-complete): at least the
// invoices on the desk, else the rest of the estimate, less what the lines below it phase. It is never negative.
func fundingToComplete(nodes []BudgetNode) []Int128 {
	type below struct{ funding, invoiced, paid Int128 }
	var (
		own      = make([]Int128, len(nodes))
		children = make([]below, len(nodes))
	)
	for i := len(nodes) - 1; i >= 0; i-- {
		n, sum := &nodes[i], &children[i]
		unpaid := n.Invoiced.Sub(sum.invoiced).Sub(n.Paid.Sub(sum.paid)).OrZero()
		rest := n.EAC().Sub(n.Paid).Sub(sum.funding)
		own[i] = unpaid
		if rest.Sub(unpaid).Sign() > 0 {
			own[i] = rest
		}
		if n.parent >= 0 {
			parent := &children[n.parent]
			parent.funding = parent.funding.Add(sum.funding).Add(own[i])
			parent.invoiced = parent.invoiced.Add(n.Invoiced)
			parent.paid = parent.paid.Add(n.Paid)
		}
	}
	return own
}

// paid calls each for what was paid on lines in the project's currency.
func (c *cashflow) paid(each func(at int, sum *CashSum)) {
	for i, at := range c.seats {
		if at != noSeat {
			each(at, &c.in.Cash[i])
		}
	}
}

// seatsOf are the seats of what was paid in the project's currency; other sums have none.
func (in *CashflowInput) seatsOf() []int {
	seats := make([]int, len(in.Cash))
	for i := range in.Cash {
		seats[i] = noSeat
		if sum := &in.Cash[i]; sum.Currency == in.Currency {
			seats[i] = in.Structure.seatOf(sum.NodeID)
		}
	}
	return seats
}

// bookPayments shows payments in their months: past ones as actual, others as forecast, unless a custom plan covers
// those months.
func (c *cashflow) bookPayments() {
	c.paid(func(at int, sum *CashSum) {
		n, custom := &c.nodes[at], c.phases[at].kind == phaseCustom
		for i := range sum.Paid {
			p := &sum.Paid[i]
			if p.Month >= c.asOf {
				c.later[at] = c.later[at].Add(p.Net)
				if custom {
					continue
				}
			}
			if k := int(p.Month - n.from); k >= 0 && k < len(n.months) {
				n.months[k] = n.months[k].Add(p.Net)
			}
		}
	})
}

// book adds to the months from one on, as far as they are kept.
func (n *CashflowNode) book(from calendar.Month, values []Int128) {
	first, end := max(from, n.from), min(from+calendar.Month(len(values)), n.from+calendar.Month(len(n.months)))
	if first >= end {
		return
	}
	months := n.months[first-n.from:]
	for k, value := range values[first-from : end-from] {
		months[k] = months[k].Add(value)
	}
}

// trim leaves out months at the ends in which there is nothing: what was paid in them may have been taken back since.
func (n *CashflowNode) trim() {
	from, end := 0, len(n.months)
	for from < end && n.months[from].IsZero() {
		from++
	}
	for end > from && n.months[end-1].IsZero() {
		end--
	}
	n.from, n.months = n.from+calendar.Month(from), n.months[from:end]
	if from == end {
		n.from, n.months = 0, nil
	}
}

// bookForecasts phases what each line has to fund.
func (c *cashflow) bookForecasts() {
	s := newSpreader(c.phases)
	for i := range c.nodes {
		n := &c.nodes[i]
		if len(n.months) > 0 {
			c.forecast(i, s, n.book)
		}
		c.warn(i)
	}
}

// forecast phases what a line has to fund (docs/calculations.md#phasing).
func (c *cashflow) forecast(line int, s *spreader, book func(from calendar.Month, values []Int128)) {
	p, funding := &c.phases[line], c.funding[line]
	switch {
	case p.kind == phaseCustom:
		for _, entered := range p.plan.CustomMonths {
			if entered.Month >= c.asOf {
				book(entered.Month, s.whole(Int(entered.Value)))
			}
		}
	case funding.IsZero() || p.kind == phaseUndated:
	case p.kind == phaseOverdue:
		book(c.asOf, s.whole(funding))
	default:
		book(p.from, s.spread(funding, p))
	}
}

// warn finds what a line leaves unphased, and its flags.
func (c *cashflow) warn(line int) {
	n, p, funding := &c.nodes[line], &c.phases[line], c.funding[line]
	switch {
	case p.kind == phaseCustom:
		n.Gap = funding.Add(c.later[line])
		for _, entered := range p.plan.CustomMonths {
			if entered.Month >= c.asOf {
				n.Gap = n.Gap.Sub(Int(entered.Value))
			}
		}
		if !n.Gap.IsZero() {
			n.Flags |= FlagCustomGap
		}
	case funding.IsZero():
	case p.kind == phaseUndated:
		n.Undated = funding
		n.Flags |= FlagUndated
	case p.kind == phaseOverdue:
		n.Flags |= FlagOverdue
	}
	if c.budget[line].CostToComplete().Sign() < 0 {
		n.Flags |= FlagOverInvoiced
	}
}

// rollUp adds the lines to those above them.
func (c *cashflow) rollUp() {
	for i := len(c.nodes) - 1; i >= 0; i-- {
		n := &c.nodes[i]
		n.trim()
		if n.parent < 0 {
			continue
		}
		above := &c.nodes[n.parent]
		above.Undated = above.Undated.Add(n.Undated)
		above.Gap = above.Gap.Add(n.Gap)
		above.Flags |= n.Flags
		above.book(n.from, n.months)
	}
}
