package page

import "slices"

// partial reads what is left when the three do not agree: no tax, a tax within
// the gross sum, or the gross sum alone.
func (s *sheet) partial(nets, taxes, within, grosses, others []sum) ruled {
	grosses = slices.DeleteFunc(slices.Clone(grosses), func(g sum) bool { return s.itemOf(&g, grosses) || oneOfMany(&g, grosses) })
	g := clearest(grosses)
	if g == nil {
		return s.onlySum()
	}
	if t := withUntaxed(append(nets, s.taxedBases(taxes)...), taxes, grosses, others); t.gross != nil {
		return t
	}
	if g.role != rolePayable || !settled(others) {
		for _, t := range []ruled{s.taxInside(g, nets, taxes), s.columnAddsUp(g, taxes), s.ratedPair(g)} {
			if t.gross != nil && !unexplained(g, grosses, others) {
				return t
			}
		}
	}
	out := ruled{gross: g, grossValue: g.value, rule: "gross label", confidence: 0.9}
	if g.role == rolePayable {
		out.confidence = 0.86
	}
	if g.weight == 1 {
		out.confidence = 0.8
	}
	for _, other := range grosses {
		if other.value != g.value && other.role == roleGross && other.weight >= g.weight && !other.column && !inOther(&other, g) {
			out.confidence -= 0.12
			break
		}
	}
	if unexplained(g, grosses, others) || g.role == rolePayable && settled(others) || s.reduced(g, nets) {
		out.confidence -= 0.15
	}
	positive := 0
	for _, t := range taxes {
		if t.value != 0 && !t.column {
			positive++
		}
	}
	var equal *sum
	for i := range nets {
		if nets[i].value == g.value {
			equal = &nets[i]
		}
	}
	var zero *sum
	for i := range taxes {
		if taxes[i].value == 0 {
			zero = &taxes[i]
		}
	}
	exempt := s.mentions(s.noTax) && !slices.ContainsFunc(nets, func(n sum) bool { return n.taxedTo(absolute(g.value)) })
	switch {
	case len(within) > 0:
		for i := range within {
			t := &within[i]
			rate := s.rateBeside(t) // of another base, it is one of several taxes
			if t.value != 0 && absolute(t.value)*10 < absolute(g.value)*3 && (t.value < 0) == (g.value < 0) &&
				(rate == 0 || contains(absolute(g.value), absolute(t.value), rate)) {
				out.tax, out.taxValue, out.hasTax = t, t.value, true
				out.net, out.netValue, out.hasNet = g, g.value-t.value, true
				out.rule, out.confidence = "tax within gross", 0.88
				return out
			}
		}
	case positive == 0 && (equal != nil || exempt) && (zero != nil || exempt || s.mentions(s.zeroRate) ||
		equal != nil && !s.mentions(s.anyTax)):
		out.net, out.netValue, out.hasNet = equal, g.value, true
		if out.net == nil {
			out.net = g
		}
		if out.tax = zero; zero == nil {
			out.tax = out.net
		}
		out.hasTax = zero != nil || exempt
		out.rule = "no tax"
		if out.confidence < 0.9 && equal != nil {
			out.confidence = 0.92
		}
		return out
	}
	if rated := s.ratedNet(g, nets); rated != nil && positive == 0 {
		out.net, out.netValue, out.hasNet = rated, rated.value, true
		out.rule, out.confidence = "net and rate give gross", 0.93
		return out
	}
	if positive > 0 && len(nets) > 0 {
		// Net and tax are printed and do not add up to it: something is misread.
		out.confidence -= 0.15
	}
	return out
}

// inOther reports whether a sum is printed in another currency than a total, as what that is in the country's own.
func inOther(sm, total *sum) bool {
	code, from := sm.amount.currency, 0
	for _, a := range sm.item.amounts {
		if a.end <= sm.amount.start {
			from = a.end
		}
	}
	if code == "" {
		code, _, _ = findCurrency(sm.item.runes[from:sm.amount.start]) // "Total plată în RON: 43,876.24"
	}
	return code != "" && total.amount.currency != "" && code != total.amount.currency
}

// itemOf reports whether a sum that is called a total, "premium with tax" say, is one of the items that another one below adds up.
func (s *sheet) itemOf(g *sum, grosses []sum) bool {
	const fewest = 2
	return slices.ContainsFunc(grosses, func(whole sum) bool {
		if whole.column || whole.item.page != g.item.page || whole.item.row <= g.item.row || whole.value <= g.value || g.value <= 0 {
			return false
		}
		total, items, has := int64(0), 0, false
		for _, f := range s.columnAbove(&whole, nil).figures {
			if f.item.row >= g.item.row {
				total, items, has = total+f.value, items+1, has || f.item == g.item
			}
		}
		return has && items >= fewest && total == whole.value
	})
}

// oneOfMany reports whether a sum is one of several under one heading, as the prices of items are.
func oneOfMany(g *sum, grosses []sum) bool {
	const fewest = 3
	values := map[int64]bool{}
	for _, other := range grosses {
		if g.column && other.column && other.item.page == g.item.page && sameColumn(other.item, g.item) {
			values[other.value] = true
		}
	}
	return len(values) >= fewest
}

// settled reports whether prepayments or balances brought forward are printed: what
// is left to pay is then another sum than the invoice's.
func settled(others []sum) bool {
	for _, o := range others {
		if o.weight == 3 && o.value != 0 && !o.column {
			return true
		}
	}
	return false
}

// unexplained reports whether more is to pay than the total g, and nothing printed
// makes up the difference: then it is the total of something else.
func unexplained(g *sum, grosses, others []sum) bool {
	for _, p := range grosses {
		aside := withinSentence(&p) && !withinSentence(g) // a sentence below the total speaks of something else
		if p.role != rolePayable || p.column || aside || absolute(p.value) <= absolute(g.value) {
			continue
		}
		made := false
		for _, o := range others {
			made = made || absolute(o.value) == absolute(p.value-g.value)
		}
		if !made {
			return true
		}
	}
	return false
}

// reduced reports whether a labelled net sum is what is left of a total above it, less a discount say: that one was no invoice's.
func (s *sheet) reduced(g *sum, nets []sum) bool {
	return slices.ContainsFunc(nets, func(n sum) bool {
		return !n.column && n.item.row > g.item.row && n.value < g.value && sameColumn(n.item, g.item) && s.leftOfAbove(&n, g)
	})
}

// taxedBases are the sums above labelled taxes to which the rate beside the tax leads, whatever they are called: fees, wages.
func (s *sheet) taxedBases(taxes []sum) []sum {
	var out []sum
	for i := range taxes {
		t := &taxes[i]
		rate := s.rateBeside(t)
		for r := t.item.row - 1; r >= max(0, t.item.row-maxComponents) && rate > 0 && !t.column; r-- {
			for _, it := range s.rows[r] {
				for _, a := range it.amounts {
					if a.money() && it.page == t.item.page && len(out) < maxSums && leads([]int64{rate}, a.value, t.value, 1) {
						out = append(out, sum{value: a.value, role: roleNet, weight: 1, item: it, amount: a})
					}
				}
			}
		}
	}
	return out
}

// withUntaxed finds net + tax + a charge beside the tax = gross: a stamp duty, a
// tourist tax, expenses laid out. Whether the charge belongs to the net sum
// nobody says.
func withUntaxed(nets, taxes, grosses, others []sum) ruled {
	for gi := range grosses {
		g := &grosses[gi]
		for ni := range nets {
			for ti := range taxes {
				n, t := &nets[ni], &taxes[ti]
				totalled := slices.ContainsFunc(grosses, func(o sum) bool { return o.role == roleGross && !o.column && o.value > n.value })
				if g.role != roleGross && totalled || g.column || n.column || t.column || t.value <= 0 || n.value <= t.value ||
					n.item.row >= g.item.row || t.item.row >= g.item.row {
					continue
				}
				for _, o := range others {
					if o.value > 0 && !o.column && o.item.row > n.item.row && o.item.row < g.item.row &&
						n.value+t.value+o.value == g.value {
						return ruled{tax: t, gross: g, taxValue: t.value, grossValue: g.value, hasTax: true,
							rule: withCharge, confidence: 0.9}
					}
				}
			}
		}
	}
	return ruled{}
}

// ratedNet finds a labelled net sum from which a printed rate leads to g.
func (s *sheet) ratedNet(g *sum, nets []sum) *sum {
	for i := range nets {
		n := &nets[i]
		for _, row := range s.rows {
			for _, it := range row {
				if !s.anyTax.MatchString(it.folded) {
					continue
				}
				for _, other := range row {
					for _, a := range other.amounts {
						if a.percent && a.value > 0 && g.value > n.value &&
							absolute((g.value-n.value)*1_000_000-n.value*a.value) <= 5_000_000*10 {
							return n
						}
					}
				}
			}
		}
	}
	return nil
}

// clearest picks the gross sum with the plainest label; of equals the last,
// for totals stand at the end.
func clearest(grosses []sum) *sum {
	var best *sum
	rank := func(g *sum) int {
		r := g.weight * 4
		if g.role == rolePayable {
			r -= 5
		}
		if g.column {
			r -= 2
		}
		if g.amount.currency != "" {
			r++
		}
		return r
	}
	for i := range grosses {
		g := &grosses[i]
		if g.value == 0 {
			continue
		}
		if best == nil || rank(g) >= rank(best) {
			best = g
		}
	}
	return best
}
