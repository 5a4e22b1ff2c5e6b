package demo

import (
	"fmt"
	"slices"

	"tallyhouse/schemas/events"
)

// structure is a budget structure that projects share.
type structure struct {
	id    string
	nodes []*node // parents before children
}

// node is a budget line.
type node struct {
	id      string
	parent  int // position among the project's nodes, -1 for the top
	chapter int
	data    events.BudgetNode
	line    item                    // of a leaf
	leaf    bool                    // invoices, budgets and contracts are booked on leaves alone
	codes   []events.AccountingCode // effective, as they are certified
}

func (w *world) drawStructures() {
	w.structures = []*structure{
		newStructure(w.Seed, 0, "bs-wohnbau", "r", residential),
		newStructure(w.Seed, 1, "bs-gewerbe", "c", commercial),
	}
}

func newStructure(seed uint64, number int64, id, short string, chapters []chapter) *structure {
	var d dice
	d.take(seed, ofStructure, number)
	s := &structure{id: id}
	add := func(parent, chapter int, level, code string, line item, leaf bool) int {
		n := &node{
			id: fmt.Sprintf("nd-%s-%03d", short, len(s.nodes)+1), parent: parent, chapter: chapter, line: line, leaf: leaf,
			data: events.BudgetNode{StructureID: events.Some(id), Level: level, Code: code, Name: line.name, Active: true},
		}
		var above []events.AccountingCode
		if parent >= 0 {
			n.data.ParentID = events.Some(s.nodes[parent].id)
			above = s.nodes[parent].codes
		}
		if leaf && d.in10000(3000) {
			n.data.Description = events.Some(line.name + ", works and supplies as tendered")
		}
		n.addCodes(&d, above)
		s.nodes = append(s.nodes, n)
		return len(s.nodes) - 1
	}
	for c, ch := range chapters {
		top := add(-1, c, "budget", fmt.Sprintf("%02d", c+1), item{name: ch.name}, false)
		for g, gr := range ch.groups {
			code := fmt.Sprintf("%02d-%04d", c+1, (g+1)*100)
			line := gr.line
			line.name = gr.name
			sub := add(top, c, "subBudget", code, line, len(gr.items) == 0)
			for i, it := range gr.items {
				add(sub, c, "costItem", fmt.Sprintf("%s-%02d", code, i+1), it, true)
			}
		}
	}
	return s
}

// addCodes draws the node's own accounting codes and derives the effective ones: chapters have DATEV accounts, leaves
// those of Yardi, a few those of SAP and BMD.
func (n *node) addCodes(d *dice, above []events.AccountingCode) {
	var own []events.AccountingCode
	switch {
	case n.parent < 0:
		code := events.AccountingCode{System: "datev", Code: fmt.Sprintf("%04d", 700+n.chapter*10),
			Name: events.Some("Assets under construction")}
		code.TaxKey = events.Some(oneOf(d, []string{"9", "94", "8"}))
		own = append(own, code)
	case n.leaf && !d.in10000(800):
		code := fmt.Sprintf("%d-%04d", 5100+n.chapter*10, d.between(1, 9999))
		own = append(own, events.AccountingCode{System: "yardi", Code: code})
	}
	if n.leaf && d.in10000(1000) {
		own = append(own, events.AccountingCode{System: "datev", Code: fmt.Sprintf("%04d", d.between(900, 999)),
			TaxKey: events.Some("9")})
	}
	if n.leaf && d.in10000(700) {
		own = append(own, events.AccountingCode{System: oneOf(d, []string{"sap", "bmd"}),
			Code: fmt.Sprint(d.between(200_000, 799_999))})
	}
	n.data.AccountingCodes = own
	n.codes = slices.Clone(own)
	for _, code := range above {
		if !slices.ContainsFunc(own, func(c events.AccountingCode) bool { return c.System == code.System }) {
			code.Inherited = true
			n.codes = append(n.codes, code)
		}
	}
}

// addNodes schedules budget lines. Retired ones are set inactive when a third of the years is over.
func (w *world) addNodes(nodes []*node) {
	for _, n := range nodes {
		w.schedule.add(change{topic: events.BudgetNodes, id: n.id, version: 1, at: w.start,
			data: func() any { return &n.data }})
		if n.line.retired {
			inactive := n.data
			inactive.Active = false
			w.schedule.add(change{topic: events.BudgetNodes, id: n.id, version: 2, at: w.start + (w.end-w.start)/3,
				data: func() any { return &inactive }})
		}
	}
}
