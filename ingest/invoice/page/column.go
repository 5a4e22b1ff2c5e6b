package page

import "slices"

// What closes on a page where no labelled net sum leads to the total.

// taxInside is the labelled tax that the rate beside it makes of what a total contains: "PDV 25 % 156,25, Sveukupno 781,25". It decides
// nothing where a labelled net sum says otherwise.
func (s *sheet) taxInside(g *sum, nets, taxes []sum) ruled {
	for i := range taxes {
		t := &taxes[i]
		rate := s.rateBeside(t)
		if rate == 0 {
			rate = s.rateAbove(t)
		}
		if t.column || t.value == 0 || rate == 0 || (t.value < 0) != (g.value < 0) || !contains(g.value, t.value, rate) {
			continue
		}
		contradicted := slices.ContainsFunc(nets, func(n sum) bool { return !n.column && n.value != g.value && n.value != g.value-t.value })
		if !contradicted {
			return ruled{net: g, tax: t, gross: g, netValue: g.value - t.value, taxValue: t.value, grossValue: g.value,
				hasNet: true, hasTax: true, rule: "tax within gross", confidence: 0.92}
		}
	}
	return ruled{}
}

// rateAbove is the rate that the row right above a tax names with words of tax and nothing else: "Tax rate 7.00 %" over "Total tax".
func (s *sheet) rateAbove(t *sum) int64 {
	if t.item.row == 0 {
		return 0
	}
	row := s.rows[t.item.row-1]
	value := row[len(row)-1]
	if len(row) != 2 || row[0].page != t.item.page || !s.anyTax.MatchString(row[0].folded) || len(value.amounts) != 1 ||
		!value.amounts[0].percent || !sameColumn(value, t.item) {
		return 0
	}
	return value.amounts[0].value
}

// ratedPair finds two figures without labels that are the net sum and the tax of a labelled total: they add up to it, words of tax stand
// before one of them, as in a sentence, and a printed rate leads to it from the other.
func (s *sheet) ratedPair(g *sum) ruled {
	all, rates := s.money()
	for i := range all {
		t := &all[i]
		if t.value <= 0 || t.value >= g.value || !s.anyTax.MatchString(s.saidBeforeSum(t)) {
			continue
		}
		for k := range all {
			if n := &all[k]; n.value+t.value == g.value && n.value > t.value && leads(rates, n.value, t.value, 1) {
				return ruled{net: n, tax: t, gross: g, netValue: n.value, taxValue: t.value, grossValue: g.value,
					hasNet: true, hasTax: true, rule: "a printed rate leads from net to tax", confidence: 0.92}
			}
		}
	}
	return ruled{}
}

// money lists the sums of all pages, whatever their labels, and the printed rates.
func (s *sheet) money() (all []sum, rates []int64) {
	for _, row := range s.rows {
		for _, it := range row {
			for _, a := range it.amounts {
				switch {
				case a.percent && a.value > 0 && a.value < maxRate && !slices.Contains(rates, a.value):
					rates = append(rates, a.value)
				case a.money() && !insideDate(it, a) && len(all) < maxFigures:
					all = append(all, sum{value: a.value, item: it, amount: a})
				}
			}
		}
	}
	return all, rates
}

// saidBeforeSum is what a text says before a sum, up to the one before it, with the end of the line above where it begins with the sum.
func (s *sheet) saidBeforeSum(sm *sum) string {
	it, from := sm.item, 0
	for _, a := range it.amounts {
		if a.end <= sm.amount.start && a.money() {
			from = a.end
		}
	}
	said := it.folded[from:sm.amount.start]
	if from > 0 || hasLetters(said) {
		return said
	}
	if left := s.labelOf(sm); hasLetters(left) {
		return left
	}
	if above := s.above(it); above != nil && absFloat(above.x0-it.x0) < 3 {
		if n := len(above.amounts); n > 0 {
			return above.folded[above.amounts[max(0, n-2)].start:] // "sowie die Mehrwertsteuer von 8,1 % mit CHF"
		}
		return above.folded
	}
	return said
}

// column is what stands above a total in its column, from top to bottom.
type column struct {
	figures []sum
	taxes   map[int]*sum // by index, those that have a label
}

// columnAbove collects the figures above a total in its column, one a row.
func (s *sheet) columnAbove(g *sum, taxes []sum) column {
	c := column{taxes: map[int]*sum{}}
	for r := g.item.row - 1; r >= max(0, g.item.row-maxItems); r-- {
		for _, it := range s.rows[r] {
			if it.page != g.item.page || !sameColumn(it, g.item) || len(it.amounts) == 0 {
				continue
			}
			if a := it.amounts[len(it.amounts)-1]; a.money() && !insideDate(it, a) && a.value != 0 {
				c.figures = append(c.figures, sum{value: a.value, item: it, amount: a})
			}
		}
	}
	slices.Reverse(c.figures)
	for i := range c.figures {
		for k := range taxes {
			if t := &taxes[k]; !t.column && t.item == c.figures[i].item && t.amount.start == c.figures[i].amount.start {
				c.taxes[i] = t
			}
		}
	}
	return c
}

// sameColumn reports whether two cells end below one another or, as sums behind their currency do, begin so.
func sameColumn(a, b *item) bool {
	if absFloat(a.x1-b.x1) < 4 {
		return true
	}
	_, sums := onlyMoney(a)
	_, both := onlyMoney(b)
	return absFloat(a.x0-b.x0) < 1 && sums && both
}

// columnAddsUp finds the tax of a total that the figures above it in its column make up line by line, sums of what stands above them
// passed over: items, a subtotal without a label, taxes, and what is charged beside the tax. A rate leads to each tax
// from one of the figures or what they come to. The net sum is known where nothing is charged below the tax, for nobody says whether that
// belongs to it; where something is deducted there, as what was paid before, the total isn't the invoice's for sure.
func (s *sheet) columnAddsUp(g *sum, taxes []sum) ruled {
	c := s.columnAbove(g, taxes)
	for first := len(c.figures) - 2; first >= 0; first-- {
		if out := s.addedUp(c, first, g); out.gross != nil {
			return out
		}
	}
	return ruled{}
}

// addedUp is what the figures of a column say together, from the first of them on.
func (s *sheet) addedUp(c column, first int, g *sum) ruled {
	out := ruled{net: g, gross: g, grossValue: g.value, hasTax: true, hasNet: true, rule: "the column adds up", confidence: 0.92}
	running, bases, paid := int64(0), []int64{}, false
	for i := first; i < len(c.figures); i++ {
		f, t := &c.figures[i], c.taxes[i]
		switch {
		case t == nil && i > first && f.value == running:
			continue // what stands above, together
		case t == nil && out.tax != nil && f.value < 0:
			paid = true
			bases = append(bases, f.value)
		case t == nil:
			out.hasNet = out.hasNet && out.tax == nil
			bases = append(bases, f.value)
		case !s.taxOnOne(t, bases):
			return ruled{}
		default:
			out.tax, out.taxValue = t, out.taxValue+t.value
		}
		running += f.value
		bases = append(bases, running)
	}
	if running != g.value || out.tax == nil {
		return ruled{}
	}
	if paid {
		return ruled{gross: g, grossValue: g.value, rule: "what is left of a total", confidence: undecided}
	}
	out.netValue = g.value - out.taxValue
	return out
}

// taxOnOne reports whether the rate beside a tax leads to it from one of some sums, or, where none is printed, one that some country has.
func (s *sheet) taxOnOne(t *sum, bases []int64) bool {
	rates := []int64{s.rateBeside(t)}
	if rates[0] == 0 && t.value >= tellingTax {
		rates = taxRates()
	}
	return slices.ContainsFunc(bases, func(base int64) bool { return leads(rates, base, t.value, 1) })
}
