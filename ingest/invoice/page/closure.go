package page

import (
	"cmp"
	"slices"
)

// own is the total of the invoice itself where another one closes above it: that of a contract, or of all work done so
// far, less what was billed before. Which one it is needs a reason; without any, neither is certain.
func (s *sheet) own(best ruled, closed []ruled) ruled {
	for _, later := range closed {
		if absolute(later.grossValue) >= absolute(best.grossValue) || later.net.item.row <= best.gross.item.row ||
			later.tax.item.row <= best.gross.item.row {
			continue
		}
		switch {
		case s.contractSum.MatchString(s.labelOf(best.gross)) || s.contractSum.MatchString(s.labelOf(best.net)):
			later.rule = "below the sum of the contract"
			return later
		case s.printedBetween(best.gross, later.gross, best.grossValue-later.grossValue):
			later.rule = lessBilledBefore
			return later
		case !sumOf(best, closed):
			best.rule, best.confidence = "one of several totals", 0.6
		}
	}
	return best
}

// lessBilledBefore is the rule of the total that is left of all work so far.
const lessBilledBefore = "less what was billed before"

// ratesMakeUp is the rule of a total that the rows of several rates make up.
const ratesMakeUp = "rates make up the total"

// ratesInColumns adds up the rows of a table of rates, of which the best one is one, where they make up a total that is labelled elsewhere,
// or the row below them.
func (s *sheet) ratesInColumns(best ruled, rows []ruled, grosses []sum) (ruled, bool) {
	if !slices.ContainsFunc(rows, func(r ruled) bool { return r.net.item == best.net.item && r.grossValue == best.grossValue }) {
		return ruled{}, false
	}
	out := ruled{net: best.net, tax: best.tax, hasNet: true, hasTax: true, rule: ratesMakeUp, confidence: 0.95}
	seen := map[int]bool{}
	slices.SortStableFunc(rows, func(a, b ruled) int { return cmp.Compare(a.gross.item.row, b.gross.item.row) })
	for _, r := range rows {
		if len(seen) > 1 && r.netValue == out.netValue && r.taxValue == out.taxValue && !seen[r.gross.item.row] {
			r.rule, r.confidence = out.rule, out.confidence
			return r, true
		}
		if !seen[r.gross.item.row] && r.gross.item.page == best.gross.item.page {
			seen[r.gross.item.row] = true
			out.netValue, out.taxValue, out.grossValue = out.netValue+r.netValue, out.taxValue+r.taxValue, out.grossValue+r.grossValue
		}
	}
	for i := range grosses {
		g := &grosses[i]
		whole := !g.column || s.printsInRow(g.item, out.netValue) && s.printsInRow(g.item, out.taxValue)
		if len(seen) > 1 && g.value == out.grossValue && whole && !seen[g.item.row] {
			out.gross = g
			return out, true
		}
	}
	return ruled{}, false
}

// printsInRow reports whether an amount stands in the row of an item.
func (s *sheet) printsInRow(it *item, value int64) bool {
	return slices.ContainsFunc(s.rows[it.row], func(it *item) bool {
		return slices.ContainsFunc(it.amounts, func(a amount) bool { return a.money() && a.value == value })
	})
}

// printedBetween reports whether a value, whatever its sign, stands between two totals.
func (s *sheet) printedBetween(above, below *sum, value int64) bool {
	if below.item.row <= above.item.row {
		return false
	}
	for _, row := range s.rows[above.item.row+1 : below.item.row] {
		for _, it := range row {
			for _, a := range it.amounts {
				if a.money() && absolute(a.value) == absolute(value) {
					return true
				}
			}
		}
	}
	return false
}

// sumOf reports whether a total is that of the others, as of several rates.
func sumOf(best ruled, closed []ruled) bool {
	rest := best.grossValue
	seen := map[*item]bool{best.gross.item: true}
	for _, c := range closed {
		if !seen[c.gross.item] {
			seen[c.gross.item] = true
			rest -= c.grossValue
		}
	}
	return rest == 0
}

// components finds a total that all sums right above it make up together, such as goods and freight, each net and
// with its tax.
func (s *sheet) components(all, grosses []sum) ruled {
	for gi := range grosses {
		g := &grosses[gi]
		if g.role != roleGross || g.column || g.value <= 0 {
			continue
		}
		first := g.item.row
		lines := map[int]*sum{} // the last sum of each row
		for i := range all {
			sm := &all[i]
			above := sm.item.page == g.item.page && sm.item.row < g.item.row && sm.item.row >= g.item.row-maxComponents
			if !above || sm.column || sm.role != roleNet && sm.role != roleTax && sm.role != roleOther {
				continue
			}
			if was := lines[sm.item.row]; was == nil || sm.item.col > was.item.col || sm.amount.start > was.amount.start {
				lines[sm.item.row] = sm
			}
			if sm.role == roleNet {
				first = min(first, sm.item.row)
			}
		}
		out := ruled{gross: g, grossValue: g.value, hasNet: true, hasTax: true, rule: "parts make up the total", confidence: 0.9}
		nets, known := 0, true
		for row := first; row < g.item.row; row++ {
			sm := lines[row]
			if sm == nil || sm.value == 0 {
				continue
			}
			label := s.labelOf(sm)
			switch {
			case sm.role == roleTax || sm.role == roleOther && s.anyTax.MatchString(label):
				out.tax, out.taxValue = sm, out.taxValue+sm.value
			case sm.role == roleNet || s.netWord.MatchString(label):
				if nets++; out.net == nil {
					out.net = sm
				}
				out.netValue += sm.value
			default:
				known = false // a charge: of the net sum or beside the tax
			}
		}
		if known && nets > 1 && out.tax != nil && out.netValue+out.taxValue == g.value && absolute(out.taxValue)*5 <= out.netValue*2 {
			return out
		}
	}
	return ruled{}
}

// maxComponents is how many rows above a total may make it up.
const maxComponents = 10

// unlabelledGross finds the sum of a labelled net sum and its tax below them, where no label that is known names a
// total: what closes needs none.
func (s *sheet) unlabelledGross(nets, taxes, grosses []sum) ruled {
	if len(grosses) > 0 {
		return ruled{}
	}
	for ni := range nets {
		for ti := range taxes {
			n, t := &nets[ni], &taxes[ti]
			if n.column || t.column || n.weight < 2 || t.value <= 0 || absolute(t.value)*5 > n.value*2 ||
				n.item.page != t.item.page {
				continue
			}
			last := max(n.item.row, t.item.row)
			for row := last + 1; row <= min(last+maxComponents, len(s.rows)-1); row++ {
				for _, it := range s.rows[row] {
					for _, a := range it.amounts {
						if it.page == n.item.page && a.money() && a.value == n.value+t.value {
							g := &sum{value: a.value, role: roleGross, weight: 1, item: it, amount: a}
							return ruled{net: n, tax: t, gross: g, netValue: n.value, taxValue: t.value, grossValue: a.value,
								hasNet: true, hasTax: true, rule: "net + tax = a sum without label", confidence: 0.9}
						}
					}
				}
			}
		}
	}
	return ruled{}
}

// labelOf is what stands in a sum's row before it.
func (s *sheet) labelOf(sm *sum) string {
	label := ""
	for _, it := range s.rows[sm.item.row][:sm.item.col] {
		label += it.folded + " "
	}
	return label + sm.item.folded[:sm.amount.start]
}
