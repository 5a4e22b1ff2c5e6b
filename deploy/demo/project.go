package demo

import (
	"fmt"

	"tallyhouse/schemas/events"
)

// The years are cut into time slices, in each of which projects get another share of the records, and a project's life
// into phases.
const (
	timeSlices = 60
	phases     = 5
)

// project is a development with what is booked on it.
type project struct {
	number    int
	id        string
	data      events.Project
	country   string
	second    string // the currency of its foreign invoices
	workflow  *workflow
	structure *structure
	nodes     []*node // those of the structure, then its own
	leaves    []int   // positions of the leaves
	lines     [phases]weights
	first     int    // the time slice it begins in
	size      uint32 // how much is invoiced, compared with other projects
	begin     int64  // Unix seconds

	contracts   []contract
	contractsOn [][]int // by node
	bookings    []booking
	transfers   []transfer
	entries     []entry
	claims      []claim
	sums        sums
}

const currency = "EUR" // of every project

func (w *world) drawProjects() {
	for i := range w.projects {
		w.projects[i] = w.newProject(i)
	}
	for s := range w.choice {
		for _, p := range w.projects {
			weight := uint32(0)
			if s >= p.first {
				weight = p.size * uint32(min(4, 1+(s-p.first)/3))
			}
			w.choice[s] = w.choice[s].with(weight)
		}
	}
}

func (w *world) newProject(number int) *project {
	var d dice
	d.take(w.Seed, ofProject, int64(number))
	at := sites[number%len(sites)]
	name := at.name + stage(number/len(sites))
	p := &project{
		number:    number,
		id:        fmt.Sprintf("pr-%04d", number+1),
		country:   at.country,
		second:    oneOf(&d, []string{"CHF", "CHF", "USD", "CZK"}),
		workflow:  &workflows[d.below(len(workflows))],
		structure: w.structures[0],
		size:      uint32(d.between(6, 20)),
		data: events.Project{
			Name: name, WorkspaceID: events.Some(at.workspace), Currency: currency,
			InboundEmail: events.Some(slug(name) + "@" + slug(w.Tenant) + ".invoices.example"),
		},
	}
	if number%3 == 2 {
		p.structure = w.structures[1]
	}
	if number > 0 { // the first one is there from the beginning
		p.first = d.below(18)
	}
	p.begin = w.start + (w.end-w.start)/timeSlices*int64(p.first)
	p.data.BudgetStructureID = events.Some(p.structure.id)
	p.nodes = append(p.nodes, p.structure.nodes...)
	p.addSpecials(&d)
	for n, nd := range p.nodes {
		if nd.leaf {
			p.leaves = append(p.leaves, n)
		}
	}
	p.drawLines(&d)
	return p
}

// stage distinguishes developments that share a name.
func stage(n int) string {
	if n < len(roman) {
		return roman[n]
	}
	return fmt.Sprintf(" %d", n+1)
}

// addSpecials gives the project two to four budget lines of its own.
func (p *project) addSpecials(d *dice) {
	from := d.below(len(specials))
	for k := range d.between(2, 4) {
		special := specials[(from+int(k)*3)%len(specials)]
		parent := 0
		for i, n := range p.structure.nodes {
			if n.parent < 0 && n.chapter == special.chapter {
				parent = i
			}
		}
		above := p.nodes[parent]
		n := &node{
			id: fmt.Sprintf("nd-%s-%d", p.id, k+1), parent: parent, chapter: above.chapter, leaf: true, line: special.line,
			data: events.BudgetNode{
				ProjectID: events.Some(p.id), ParentID: events.Some(above.id), Level: "subBudget", Active: true,
				Code: fmt.Sprintf("%02d-%04d", above.chapter+1, 9000+k), Name: special.line.name,
			},
		}
		n.addCodes(d, above.codes)
		p.nodes = append(p.nodes, n)
	}
}

// drawLines draws how often a leaf is invoiced in each phase. Some leaves are never invoiced, but not those that run
// all the time, so that each phase has something to invoice.
func (p *project) drawLines(d *dice) {
	for _, leaf := range p.leaves {
		line := p.nodes[leaf].line
		weight := line.weight * uint32(d.between(50, 150))
		if always := line.from == 0 && line.to == phases-1; !always && d.in10000(1300) {
			weight = 0
		}
		for ph := range p.lines {
			if ph < int(line.from) || ph > int(line.to) {
				p.lines[ph] = p.lines[ph].with(0)
				continue
			}
			p.lines[ph] = p.lines[ph].with(weight)
		}
	}
}

// phase is the phase of the project's life that a time slice belongs to.
func (p *project) phase(slice int) int {
	return min(phases-1, (slice-p.first)*phases/(timeSlices-p.first))
}

// usual is what is booked on a leaf on average in the end.
func (p *project) usual() int64 {
	total := int64(0)
	for _, leaf := range p.leaves {
		total += p.sums.all(leaf).invoiced
	}
	return max(total/int64(len(p.leaves)), 5_000_00)
}

func (w *world) addProjects() {
	var d dice
	for _, p := range w.projects {
		d.take(w.Seed, ofProject, -int64(p.number)-1)
		final := func() any { return &p.data }
		if d.in10000(2000) { // planned under another name
			working := p.data
			working.Name = fmt.Sprintf("Project %s %d", sites[p.number%len(sites)].city, p.number+1)
			w.schedule.add(change{topic: events.Projects, id: p.id, version: 1, at: p.begin,
				data: func() any { return &working }})
			renamed := p.begin + (w.end-p.begin)/10
			w.schedule.add(change{topic: events.Projects, id: p.id, version: 2, at: renamed, data: final})
		} else {
			w.schedule.add(change{topic: events.Projects, id: p.id, version: 1, at: p.begin, data: final})
		}
		w.addNodes(p.nodes[len(p.structure.nodes):])
	}
}
