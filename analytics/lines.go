package analytics

// ContractLine is one budget line of a contract, in the contract's currency. The
// one without a NodeID holds the approved amendments that name no node.
type ContractLine struct {
	NodeID    NodeID
	Base      Int128 // base allocations
	Committed Int128 // base and approved amendments; may be negative
}

// Lines returns the contract's lines: the nodes of the base allocations in order,
// then those that approved amendments add, in amendment order. Without a base
// allocation there are none, whatever the amendments (docs/calculations.md#lines-of-a-contract).
func (c *Contract) Lines() []ContractLine {
	if len(c.Allocations) == 0 {
		return nil
	}
	lines := make([]ContractLine, 0, len(c.Allocations))
	at := make(map[NodeID]int, len(c.Allocations))
	line := func(id NodeID) *ContractLine {
		i, ok := at[id]
		if !ok {
			i = len(lines)
			at[id] = i
			lines = append(lines, ContractLine{NodeID: id})
		}
		return &lines[i]
	}
	for _, a := range c.Allocations {
		l := line(NodeID(a.NodeID))
		l.Base = l.Base.Add(Int(a.Value))
		l.Committed = l.Committed.Add(Int(a.Value))
	}
	for _, a := range c.amendments(func(status string) bool { return status == amendmentApproved }) {
		l := line(NodeID(a.NodeID.V))
		l.Committed = l.Committed.Add(Int(a.Value))
	}
	return lines
}

func committed(lines []ContractLine) Int128 {
	var sum Int128
	for _, line := range lines {
		sum = sum.Add(line.Committed)
	}
	return sum
}

// invoicedOnLines returns what is invoiced on each line: the nets of linked
// records coded on it or below it, and its share of the pool, which holds all
// that is coded elsewhere or not at all (docs/calculations.md#coded-outside).
func (f *lineFinder) invoicedOnLines(lines []ContractLine, linked []*RecordSum) []Int128 {
	invoiced := make([]Int128, len(lines))
	f.among(lines)
	var pool Int128
	for _, r := range linked {
		if at := f.find(r.NodeID); at != noLine {
			invoiced[at] = invoiced[at].Add(r.Net)
		} else {
			pool = pool.Add(r.Net)
		}
	}
	if len(lines) == 0 || pool.IsZero() {
		return invoiced
	}
	for i, share := range sharePool(pool, lines) {
		invoiced[i] = invoiced[i].Add(share)
	}
	return invoiced
}

// sharePool spreads the pool pro rata to what is committed on the lines, else to
// their base, else puts it on the first line. Negative lines weigh nothing.
func sharePool(pool Int128, lines []ContractLine) []Int128 {
	for _, weight := range []func(ContractLine) Int128{
		func(l ContractLine) Int128 { return l.Committed },
		func(l ContractLine) Int128 { return l.Base },
	} {
		weights := make([]Int128, len(lines))
		for i, l := range lines {
			weights[i] = weight(l).OrZero()
		}
		if shares, err := largestRemainder(pool, weights); err == nil {
			return shares
		}
	}
	shares := make([]Int128, len(lines))
	shares[0] = pool
	return shares
}

const noLine = -1

// lineFinder finds the line that a coded node belongs to, by walking up from it,
// inactive nodes included. It remembers every node it passes, so that many coded
// nodes cost no more than the tree has nodes. It serves one contract after the
// other.
type lineFinder struct {
	structure *Structure
	round     int32            // counts the contracts
	known     []foundLine      // by position of the node
	gone      map[NodeID]int32 // lines whose node the structure does not have
	passed    []int
}

// foundLine is what is known of a node, in the round that it was found in.
type foundLine struct{ round, line int32 }

func newLineFinder(s *Structure) *lineFinder {
	return &lineFinder{structure: s, known: make([]foundLine, len(s.nodes)), gone: map[NodeID]int32{}}
}

// among makes the finder look for the lines of another contract.
func (f *lineFinder) among(lines []ContractLine) {
	f.round++
	clear(f.gone)
	for i, l := range lines {
		if at, ok := f.structure.index[l.NodeID]; ok {
			f.known[at] = foundLine{f.round, int32(i)}
		} else if l.NodeID != "" {
			f.gone[l.NodeID] = int32(i)
		}
	}
}

// find returns the position of the coded node's line, or noLine.
func (f *lineFinder) find(coded NodeID) int32 {
	at, ok := f.structure.index[coded]
	if !ok {
		if line, ok := f.gone[coded]; ok {
			return line
		}
		return noLine
	}
	found := int32(noLine)
	f.passed = f.passed[:0]
	for ; at >= 0; at = f.structure.parent[at] {
		if f.known[at].round == f.round {
			found = f.known[at].line
			break
		}
		// Until the walk ends a node it passes has no line: a circle ends here.
		f.known[at] = foundLine{f.round, noLine}
		f.passed = append(f.passed, at)
	}
	for _, i := range f.passed {
		f.known[i].line = found
	}
	return found
}
