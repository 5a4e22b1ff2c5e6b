package page

import (
	"slices"

	"tallyhouse/ingest/invoice/page/words"
)

// ruled is what the labelled sums of a document say together.
type ruled struct {
	net, tax, gross *sum
	netValue        int64
	taxValue        int64
	grossValue      int64
	hasNet, hasTax  bool
	rule            string
	confidence      float64
}

// maxSums bounds the sums of one role that are combined.
const maxSums = 60

// byRules finds the sums of the invoice itself, and all that have a label.
func (s *sheet) byRules() (best ruled, labelled []sum) {
	best, labelled = s.agreeing()
	if own := s.ownRow(); own.gross != nil {
		return own, labelled
	}
	if charged := s.withChargeBelow(best, labelled); charged.gross != nil {
		return charged, labelled
	}
	if rest, ok := s.remainder(best); ok {
		return rest, labelled
	}
	if own := s.brokenDown(); own.gross != nil && (best.gross == nil || own.gross.item.row > best.gross.item.row) {
		return own, labelled
	}
	return best, labelled
}

// agreeing finds the sums that agree: net + tax = gross, each with its own label.
func (s *sheet) agreeing() (ruled, []sum) {
	all := s.sums()
	pick := func(want ...role) []sum {
		var out []sum
		for _, sm := range all {
			for _, r := range want {
				if sm.role == r && len(out) < maxSums {
					out = append(out, sm)
				}
			}
		}
		return out
	}
	nets, taxes, grosses, rounding := pick(roleNet), pick(roleTax), pick(roleGross, rolePayable), pick(roleRounding)
	grosses = slices.DeleteFunc(grosses, func(g sum) bool { return s.partOfTotalRow(&g, all) })
	nets, grosses = s.ownSums(nets, grosses)
	nets = append(nets, s.plainTotals(grosses, taxes)...)
	taxes = append(taxes, s.bareRates(nets, grosses)...)
	within := pick(roleTaxWithin)
	if t := s.corrected(); t.gross != nil {
		return t, all
	}
	if t := s.periods(all); t.gross != nil {
		return t, all
	}
	best, bestScore := ruled{}, 0
	var closed, inColumns []ruled
	for gi := range grosses {
		g := &grosses[gi]
		if g.value == 0 {
			continue
		}
		for ni := range nets {
			n := &nets[ni]
			if n.item == g.item && n.amount.start == g.amount.start || (n.value < 0) != (g.value < 0) || n.value == 0 {
				continue
			}
			if g.column && n.column && g.item.row != n.item.row || g.value == n.value && g.column != n.column {
				continue // different lines of a table
			}
			for _, need := range append(needs(g.value, n.value, rounding), s.roundedOff(g, n.value, taxes)...) {
				if absolute(need) > absolute(n.value)*2/5 || need != 0 && (need < 0) != (g.value < 0) {
					continue
				}
				t, score := taxOf(need, taxes, g, n)
				if score == 0 {
					continue
				}
				if plain := !g.column && !n.column && !t.column; plain && g.role == roleGross && g.weight >= 2 && need != 0 && len(closed) < maxSums {
					closed = append(closed, ruled{net: n, tax: t, gross: g, netValue: n.value, taxValue: need, grossValue: g.value,
						hasNet: true, hasTax: true, rule: "net + tax = gross", confidence: 0.9})
				}
				untaxed := need == 0 && t.item.row == g.item.row && n.item.row == g.item.row
				if g.column && n.column && t.column && (need != 0 || untaxed) && len(inColumns) < maxSums {
					inColumns = append(inColumns, ruled{net: n, tax: t, gross: g, netValue: n.value, taxValue: need, grossValue: g.value,
						hasNet: true, hasTax: true})
				}
				score += g.weight*3 + n.weight*3
				if g.role == rolePayable {
					score -= 4
				}
				if need == 0 {
					score -= 4
				}
				if score > bestScore+2 || score > bestScore-3 && absolute(g.value) > absolute(best.grossValue) ||
					score > bestScore && absolute(g.value) == absolute(best.grossValue) {
					bestScore = score
					best = ruled{net: n, tax: t, gross: g, netValue: n.value, taxValue: need, grossValue: g.value,
						hasNet: true, hasTax: true, rule: "net + tax = gross", confidence: 0.98}
					if need != g.value-n.value {
						best.rule = "net + tax + rounding = gross"
					}
				}
			}
		}
	}
	if bestScore > 0 {
		if rest, ok := s.restWithTax(best, within); ok {
			return rest, all
		}
		if whole, ok := s.ratesInColumns(best, inColumns, grosses); ok {
			return whole, all
		}
		if t := s.totalRow(grosses); t.gross != nil && best.gross.column && !s.lists[t.gross.item.row] &&
			absolute(t.grossValue) > absolute(best.grossValue) {
			return t, all
		}
		return s.own(best, closed), all
	}
	if t := s.wholeBeforeWithheld(nets, taxes, grosses, pick(roleOther)); t.gross != nil {
		return t, all
	}
	if t := s.totalRow(grosses); t.gross != nil {
		return t, all
	}
	if t := s.taxTableRow(grosses); t.gross != nil {
		return t, all
	}
	if t := s.netAndTaxRow(grosses); t.gross != nil {
		return t, all
	}
	if t := s.components(all, grosses); t.gross != nil {
		return t, all
	}
	if t := s.unlabelledGross(nets, taxes, grosses); t.gross != nil {
		return t, all
	}
	if t := s.ratedTriple(grosses); t.gross != nil {
		return t, all
	}
	if t := s.toldSums(grosses); t.gross != nil {
		return t, all
	}
	if t := s.withoutCents(all); t.gross != nil {
		return t, all
	}
	if t := s.exemptNet(nets, taxes, grosses, pick(roleOther)); t.gross != nil {
		return t, all
	}
	if t := s.beforeWithheld(nets, taxes, grosses, pick(roleOther)); t.gross != nil {
		return t, all
	}
	return s.partial(nets, taxes, within, grosses, pick(roleOther)), all
}

// plainTotals are totals that a line of tax follows: "Total 100, VAT 20 % 20,
// Total 120". The printed rate must lead from them to the tax, or the three
// stand right below one another.
func (s *sheet) plainTotals(grosses, taxes []sum) []sum {
	var out []sum
	for _, g := range grosses {
		for _, t := range taxes {
			if g.column || t.column || t.item.row <= g.item.row || t.value == 0 {
				continue
			}
			if len(out) < maxSums && stacked(g, t, grosses) {
				g.role, g.weight = roleNet, 1
				out = append(out, g)
				continue
			}
			if !t.rate {
				continue
			}
			for _, it := range s.rows[t.item.row] {
				for _, a := range it.amounts {
					if a.percent && absolute(g.value*a.value-t.value*1_000_000) <= 1_000_000*60 && len(out) < maxSums {
						g.role, g.weight = roleNet, 1
						out = append(out, g)
					}
				}
			}
		}
	}
	return out
}

// stacked reports whether a total, a tax and the sum of both follow one another,
// row by row.
func stacked(total, tax sum, grosses []sum) bool {
	for _, g := range grosses {
		if g.value == total.value+tax.value && !g.column && g.item.page == total.item.page &&
			tax.item.row-total.item.row <= 2 && g.item.row > tax.item.row && g.item.row-tax.item.row <= 2 {
			return true
		}
	}
	return false
}

// maxRounding is the most that totals are rounded by: to whole crowns, or five forints.
const maxRounding = 25_000

// needs lists what the tax must be: gross less net, also with a printed rounding.
func needs(g, n int64, rounding []sum) []int64 {
	out := []int64{g - n}
	for _, r := range rounding {
		if absolute(r.value) <= maxRounding && r.value != 0 {
			out = append(out, g-n-r.value, g-n+r.value)
		}
	}
	return out
}

// roundedOff lists the taxes that make up a total with a net sum but for what that is rounded by, as its label says, where the difference
// is printed nowhere.
func (s *sheet) roundedOff(g *sum, net int64, taxes []sum) (out []int64) {
	if g.column || !s.rounded.MatchString(s.labelOf(g)) {
		return nil
	}
	for _, t := range taxes {
		if !t.column && t.value != 0 && roundsTo(net+t.value, g.value) {
			out = append(out, t.value)
		}
	}
	return out
}

// roundsTo reports whether a total is a sum that is rounded to five hundredths, or to a whole unit.
func roundsTo(exact, total int64) bool {
	const five, whole = 5 * PerMinor, 100 * PerMinor
	by := absolute(exact - total)
	return by != 0 && (total%five == 0 && by*2 <= five || total%whole == 0 && by*2 <= whole)
}

func absolute(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// taxOf finds a labelled tax, or several of different rates, that make need.
func taxOf(need int64, taxes []sum, g, n *sum) (*sum, int) {
	same := func(t *sum, other *sum) bool { return t.item == other.item && t.amount.start == other.amount.start }
	for i := range taxes {
		t := &taxes[i]
		if g.column && n.column && t.column && t.item.row != g.item.row {
			continue
		}
		// Some credit notes print the tax without its sign.
		if (t.value == need || need < 0 && t.value == -need) && !same(t, g) && !same(t, n) {
			return t, t.weight*3 + 3
		}
	}
	// Taxes of several rates, each once.
	var rates []*sum
	for i := range taxes {
		t := &taxes[i]
		if t.value == 0 || !t.rate || same(t, g) || same(t, n) {
			continue
		}
		repeated := false
		for _, other := range rates {
			repeated = repeated || same(other, t) || other.value == t.value && other.item.row == t.item.row
		}
		if !repeated && len(rates) < 12 {
			rates = append(rates, t)
		}
	}
	for mask := 3; mask < 1<<len(rates); mask++ {
		total, count := int64(0), 0
		for i, t := range rates {
			if mask>>i&1 == 1 {
				total += t.value
				count++
			}
		}
		if count >= 2 && count <= 5 && total == need {
			for i, t := range rates {
				if mask>>i&1 == 1 {
					return t, 6 + 1
				}
			}
		}
	}
	return nil, 0
}

// withCharge is the rule of a total that holds a charge beside net sum and tax.
const withCharge = "net + tax + charge = gross"

// withChargeBelow finds the total that a charge without tax, such as a tourist tax, makes of the one that net and tax add up to. Whether
// the charge belongs to the net sum nobody says.
func (s *sheet) withChargeBelow(best ruled, labelled []sum) ruled {
	if best.gross == nil || !best.hasTax || best.taxValue == 0 {
		return ruled{}
	}
	for gi := range labelled {
		g := &labelled[gi]
		if g.role != roleGross || g.weight < 2 || g.column || g.item.page != best.gross.item.page || g.item.row <= best.gross.item.row ||
			g.item.row-best.gross.item.row > rowsToTotal {
			continue
		}
		for _, o := range labelled {
			between := o.role == roleOther && o.item.row > best.gross.item.row && o.item.row < g.item.row && !o.column
			if between && o.value > 0 && best.grossValue+o.value == g.value {
				return ruled{tax: best.tax, gross: g, taxValue: best.taxValue, grossValue: g.value, hasTax: best.hasTax,
					rule: withCharge, confidence: best.confidence}
			}
		}
	}
	return ruled{}
}

func (s *sheet) mentions(p *words.Pattern) bool {
	for _, row := range s.rows {
		for _, it := range row {
			if p.MatchString(it.folded) {
				return true
			}
		}
	}
	return false
}
