package demo

import (
	"cmp"
	"fmt"
	"slices"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// plot is how a contract develops.
type plot uint8

const (
	running   plot = iota // signed, part of it is invoiced
	exceeded              // signed, more is invoiced than was agreed
	untouched             // signed, nothing is invoiced yet
	closed                // completed, all is invoiced
	drafted               // in setup
	withdrawn             // cancelled
)

// contract is a contract with one firm on up to three lines.
type contract struct {
	id           string
	project      *project
	contractor   int // position
	contractorID string
	name         string
	plot         plot
	currency     string
	begin, end   int64 // of the works, Unix seconds
	signed       int64
	late         bool  // still in setup, but its lines are known
	progress     int64 // what is invoiced, in per cent of the value
	lines        []contractLine
	amendments   []amendment
	transitions  []transition
}

type contractLine struct {
	node     int
	invoiced int64 // by linked records
	base     int64
}

type amendment struct {
	line    int // position in lines, -1: on no line
	percent int64
	value   int64
	status  string // in the end
	raised  int64  // Unix seconds
	decided int64
	title   string
}

// transition is a change in the status of the contract or of one of its amendments; each makes a version.
type transition struct {
	at        int64
	amendment int // position, -1: the contract itself
	status    string
}

// takes reports whether an invoice in a currency that comes in at an instant can be linked.
func (c *contract) takes(currency string, at int64) bool {
	invoiced := c.plot != untouched && c.plot != drafted && c.plot != withdrawn
	return invoiced && c.currency == currency && at >= c.signed && at < c.end+60*day
}

// link books a linked record on the contract's lines; what is coded elsewhere counts on the first line.
func (c *contract) link(r *record) {
	for _, s := range r.splits[:r.lines] {
		at := max(0, slices.IndexFunc(c.lines, func(l contractLine) bool { return l.node == s.node }))
		c.lines[at].invoiced += s.net
	}
}

// drawContracts draws contracts on the project's leaves, as often as is usual in their trades.
func (w *world) drawContracts(p *project) {
	var d dice
	d.take(w.Seed, ofContract, int64(p.number))
	p.contractsOn = make([][]int, len(p.nodes))
	for i, leaf := range p.leaves {
		line := p.nodes[leaf].line
		if line.retired || !d.in10000(trades[line.trade].contract) {
			continue
		}
		p.contracts = append(p.contracts, w.newContract(&d, p, i))
		if d.in10000(2000) {
			p.contracts = append(p.contracts, w.newContract(&d, p, i))
		}
	}
	for i := range p.contracts {
		for _, l := range p.contracts[i].lines {
			p.contractsOn[l.node] = append(p.contractsOn[l.node], i)
		}
	}
}

// newContract draws a contract on a leaf, given by its position, and perhaps its neighbours.
func (w *world) newContract(d *dice, p *project, leaf int) contract {
	node := p.nodes[p.leaves[leaf]]
	life := (w.end - p.begin) / phases
	c := contract{
		id:         fmt.Sprintf("co-%04d-%03d", p.number+1, len(p.contracts)+1),
		project:    p,
		contractor: w.firmOf(d, node.line.trade),
		currency:   currency,
		late:       d.in10000(5000),
		begin:      p.begin + life*int64(node.line.from) + life/10*d.between(0, 3),
	}
	c.end = min(c.begin+life*int64(node.line.to-node.line.from+1), w.end+d.between(30, 400)*day)
	c.signed = max(c.begin-d.between(5, 60)*day, p.begin+day)
	c.contractorID = w.contractors[c.contractor].id
	c.name = fmt.Sprintf("%s, %s", node.data.Name, w.contractors[c.contractor].name)
	if d.in10000(300) {
		c.currency = p.second
	}
	switch n := d.below(100); {
	case n < 62:
		c.plot = running
	case n < 72:
		c.plot = exceeded
	case n < 79:
		c.plot = untouched
	case n < 91:
		c.plot = closed
	case n < 96:
		c.plot = drafted
	default:
		c.plot = withdrawn
	}
	switch c.plot {
	case running:
		c.progress = d.between(40, 97)
	case exceeded:
		c.progress = d.between(103, 122)
	case closed:
		c.progress = 100
		c.end = min(c.end, w.end-d.between(20, 300)*day)
	}
	c.addLines(d, leaf)
	c.addAmendments(d, w.end)
	c.addTransitions(d, w.end)
	return c
}

// addLines takes the leaf, and sometimes one or two neighbours of the same group.
func (c *contract) addLines(d *dice, leaf int) {
	p := c.project
	lines := 1
	if d.in10000(2500) {
		lines = 2 + d.below(2)
	}
	group := p.nodes[p.leaves[leaf]].parent
	for _, l := range p.leaves[leaf:min(leaf+lines, len(p.leaves))] {
		if p.nodes[l].parent == group && !p.nodes[l].line.retired {
			c.lines = append(c.lines, contractLine{node: l})
		}
	}
}

// addAmendments draws up to four change orders. One whose decision would come after the end is still pending.
func (c *contract) addAmendments(d *dice, end int64) {
	if c.plot == drafted || c.plot == withdrawn {
		return
	}
	for range d.below(5) {
		a := amendment{
			line: d.below(len(c.lines)), percent: d.between(2, 8), title: oneOf(d, amendmentTitles),
			raised: c.signed + 20*day + int64(d.below(int(max(c.end-c.signed, day)))),
		}
		a.decided = a.raised + d.between(5, 75)*day
		if d.in10000(400) {
			a.line = -1
		}
		switch n := d.below(100); {
		case n < 15: // a reduction
			a.percent = -a.percent / 2
			a.status = "approved"
		case n < 80:
			a.status = "approved"
		case n < 92:
			a.status = "rejected"
		default:
			a.status = "draft"
		}
		if a.raised >= end {
			continue
		}
		if a.decided >= end && a.status != "draft" {
			a.status = "pending"
		}
		c.amendments = append(c.amendments, a)
	}
	slices.SortFunc(c.amendments, func(x, y amendment) int { return cmp.Compare(x.raised, y.raised) })
}

// addTransitions draws when the contract changed, until the end.
func (c *contract) addTransitions(d *dice, end int64) {
	itself := func(at int64, status string) { c.transitions = append(c.transitions, transition{at, -1, status}) }
	itself(max(c.signed-d.between(10, 50)*day, c.project.begin), "setup")
	switch c.plot {
	case drafted:
		return
	case withdrawn:
		itself(c.signed, "cancelled")
	case closed:
		itself(c.signed, "signed")
		itself(max(c.end, c.signed+day), "completed")
	default:
		itself(c.signed, "signed")
	}
	for i, a := range c.amendments {
		if a.status == "draft" {
			c.transitions = append(c.transitions, transition{a.raised, i, "draft"})
			continue
		}
		c.transitions = append(c.transitions, transition{a.raised, i, "pending"})
		if a.status != "pending" {
			c.transitions = append(c.transitions, transition{a.decided, i, a.status})
		}
	}
	slices.SortStableFunc(c.transitions, func(x, y transition) int { return cmp.Compare(x.at, y.at) })
	if after := slices.IndexFunc(c.transitions, func(m transition) bool { return m.at >= end }); after >= 0 {
		c.transitions = c.transitions[:after]
	}
}

// valueContracts sets the values so that what is invoiced is the share that the plot says.
func (w *world) valueContracts(p *project) {
	var d dice
	d.take(w.Seed, ofContract, -int64(p.number)-1)
	usual := p.usual()
	for i := range p.contracts {
		c := &p.contracts[i]
		for k := range c.lines {
			l := &c.lines[k]
			value := d.percentOf(usual, 15, 90)
			if c.progress > 0 && l.invoiced > 0 {
				value = l.invoiced / c.progress * 100
			}
			value = rounded(value, 100_00)
			l.base = value
			for j := range c.amendments {
				a := &c.amendments[j]
				if max(a.line, 0) != k {
					continue
				}
				a.value = value / 100 * a.percent
				if a.line == k && a.status == "approved" {
					l.base -= a.value
				}
			}
		}
	}
}

// rounded is the next multiple of a unit, at least one.
func rounded(value, unit int64) int64 { return max(1, (value+unit-1)/unit) * unit }

// state is the status of the contract and its amendments after so many transitions; "" is that of an amendment that
// isn't raised yet.
func (c *contract) state(transitions int) (status string, amendments []string) {
	amendments = make([]string, len(c.amendments))
	for _, m := range c.transitions[:transitions] {
		if m.amendment < 0 {
			status = m.status
		} else {
			amendments[m.amendment] = m.status
		}
	}
	return status, amendments
}

// data is the contract after so many transitions. While it is being set up, some have no lines yet.
func (c *contract) data(transitions int) *events.Contract {
	status, amendments := c.state(transitions)
	data := &events.Contract{
		ProjectID: c.project.id, Name: events.Some(c.name), ContractorID: events.Some(c.contractorID), Status: status,
		StartDate: events.Some(calendar.Date(c.begin / day)), EndDate: events.Some(calendar.Date(c.end / day)),
		Currency: c.currency,
	}
	if c.end <= c.begin {
		data.EndDate = events.Opt[calendar.Date]{}
	}
	if c.plot != drafted || c.late {
		for _, l := range c.lines {
			node := c.project.nodes[l.node].id
			data.Allocations = append(data.Allocations, events.ContractAllocation{NodeID: node, Value: l.base})
		}
	}
	for i, status := range amendments {
		if status != "" {
			data.Amendments = append(data.Amendments, c.amendment(i, status))
		}
	}
	return data
}

func (c *contract) amendment(i int, status string) events.Amendment {
	a := &c.amendments[i]
	data := events.Amendment{
		ID: fmt.Sprintf("%s-a%d", c.id, i+1), Value: a.value, Status: status,
		Date: events.Some(calendar.Date(a.raised / day)), Title: events.Some(a.title),
	}
	if a.line >= 0 {
		data.NodeID = events.Some(c.project.nodes[c.lines[a.line].node].id)
	}
	return data
}

func (w *world) addContracts(p *project) {
	for i := range p.contracts {
		c := &p.contracts[i]
		for k, m := range c.transitions {
			w.schedule.add(change{topic: events.Contracts, id: c.id, version: int64(k) + 1, at: m.at,
				data: func() any { return c.data(k + 1) }})
		}
	}
}
