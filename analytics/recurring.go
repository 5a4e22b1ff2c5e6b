package analytics

import "tallyhouse/schemas/calendar"

// flagRecurring flags the lines that expect a record in a past month and have none, on themselves or below
// (docs/calculations.md#flags).
func (c *cashflow) flagRecurring() {
	from := c.asOf
	for i := range c.phases {
		if p := c.phases[i].plan; p != nil && p.Recurring.Ok {
			from = min(from, p.Recurring.V.From)
		}
	}
	if from == c.asOf {
		return
	}
	seen := c.recognizedSince(from)
	for i := range c.phases {
		p := c.phases[i].plan
		if p == nil || !p.Recurring.Ok {
			continue
		}
		last := min(c.asOf-1, p.Recurring.V.To.Or(c.asOf))
		every := calendar.Month(max(1, p.Recurring.V.EveryMonths))
		for due := p.Recurring.V.From; due <= last; due += every {
			if !seen.has(i, due) {
				c.nodes[i].Flags |= FlagRecurringMissing
				break
			}
		}
	}
}

// recognizedSince finds the past months, from one on, in which anything was recognised on a line or below it.
func (c *cashflow) recognizedSince(from calendar.Month) monthSets {
	seen := newMonthSets(len(c.nodes), from, c.asOf-1)
	seats := seatFinder{structure: c.in.Structure, at: noSeat}
	for i := range c.in.Recognized {
		sum := &c.in.Recognized[i]
		if sum.Count <= 0 || sum.Month < from || sum.Month >= c.asOf {
			continue
		}
		if at := seats.find(sum.NodeID); at != noSeat {
			seen.add(at, sum.Month)
		}
	}
	for i := len(c.nodes) - 1; i >= 0; i-- {
		if above := c.nodes[i].parent; above >= 0 {
			seen.merge(above, i)
		}
	}
	return seen
}

// monthSets holds one set of months for each line, a bit for each month.
type monthSets struct {
	from  calendar.Month
	words int // of one set
	bits  []uint64
}

func newMonthSets(lines int, from, to calendar.Month) monthSets {
	words := int(to-from)/64 + 1
	return monthSets{from: from, words: words, bits: make([]uint64, lines*words)}
}

func (s *monthSets) place(line int, month calendar.Month) (word int, bit uint64) {
	at := int(month - s.from)
	return line*s.words + at/64, 1 << (at % 64)
}

func (s *monthSets) add(line int, month calendar.Month) {
	word, bit := s.place(line, month)
	s.bits[word] |= bit
}

func (s *monthSets) has(line int, month calendar.Month) bool {
	word, bit := s.place(line, month)
	return s.bits[word]&bit != 0
}

// merge adds the months of one line to those of another.
func (s *monthSets) merge(into, from int) {
	for k := range s.words {
		s.bits[into*s.words+k] |= s.bits[from*s.words+k]
	}
}

// ExpectRecords returns the nodes on which it matters to plans that records are expected whether there are any: those whose
// money counts on the line of such a plan or below it.
func (s *Structure) ExpectRecords(plans []LinePlan) (nodes []NodeID) {
	expecting := make([]bool, len(s.lines))
	for i := range plans {
		if at := s.effectiveAt(NodeID(plans[i].NodeID)); at != noSeat && plans[i].Recurring.Ok {
			expecting[at] = true
		}
	}
	for i, line := range s.lines { // parents come before their children
		expecting[i] = expecting[i] || line.parent >= 0 && expecting[line.parent]
	}
	for i, at := range s.seats {
		if at != noSeat && expecting[at] {
			nodes = append(nodes, s.nodes[i].ID)
		}
	}
	return nodes
}

// seatFinder finds the seats of many rows. It remembers the last one: rows of a node come one after another.
type seatFinder struct {
	structure *Structure
	last      NodeID
	at        int
}

func (f *seatFinder) find(id NodeID) int {
	if id != f.last {
		f.last, f.at = id, f.structure.seatOf(id)
	}
	return f.at
}
