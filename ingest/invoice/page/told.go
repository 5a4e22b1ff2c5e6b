package page

import "slices"

// passage is a paragraph with the sums that it tells in sentences.
type passage struct {
	text    string // folded, its lines joined
	figures []told
	rates   []int64
	numbers []int64 // quantities and sums
	last    *item
}

// told is a sum in a passage and where it stands in its text.
type told struct {
	sum
	start, end int
}

// Bounds of what is taken for a paragraph: letters that its first line has at least, lines.
const (
	lettersOfText = 20
	maxLines      = 40
)

// passages lists the paragraphs that tell sums.
func (s *sheet) passages() (all []passage) {
	taken := map[*item]bool{}
	for _, row := range s.rows {
		for _, it := range row {
			if taken[it] || len(letters(it.folded)) < lettersOfText {
				continue
			}
			if p := s.passage(it, taken); len(p.figures) > 0 && len(all) < maxSums {
				all = append(all, p)
			}
		}
	}
	return all
}

// passage is the paragraph that begins with an item. Its lines are taken.
func (s *sheet) passage(first *item, taken map[*item]bool) (p passage) {
	for it, n := first, 0; it != nil && n < maxLines && !taken[it]; it, n = s.lineBelow(it), n+1 {
		taken[it] = true
		for _, a := range it.amounts {
			p.numbers = append(p.numbers, a.value)
			switch {
			case a.percent && a.value > 0 && a.value < maxRate:
				p.rates = append(p.rates, a.value)
			case a.money() && !insideDate(it, a) && len(p.figures) < maxSums:
				p.figures = append(p.figures, told{sum{value: a.value, item: it, amount: a}, len(p.text) + a.start, len(p.text) + a.end})
			}
		}
		p.text += it.folded + " "
		p.last = it
	}
	return p
}

// around is what a passage says before a figure and behind it, up to the figures beside it.
func (p *passage) around(i int) (before, behind string) {
	from, to := 0, len(p.text)
	if i > 0 {
		from = p.figures[i-1].end
	}
	if i+1 < len(p.figures) {
		to = p.figures[i+1].start
	}
	return p.text[from:p.figures[i].start], p.text[p.figures[i].end:to]
}

// toldSums finds net sum, tax and total that a paragraph tells in whatever order and words: they add up, a rate in the paragraph leads to
// the tax, and words of tax stand beside it. The total may stand below the paragraph, set apart. Where two such totals are told, or
// another one has a label elsewhere, none is the invoice's for sure.
func (s *sheet) toldSums(grosses []sum) (out ruled) {
	for _, p := range s.passages() {
		for _, own := range s.toldIn(&p) {
			if out.gross != nil && out.grossValue != own.grossValue || s.otherTotal(&p, s.withoutAnnex(grosses, own), own.gross) {
				return ruled{}
			}
			out = own
		}
	}
	if out.gross == nil {
		return s.toldAcross(grosses)
	}
	return out
}

// toldAcross is the total without tax that a letter tells in a paragraph of its own: what the paragraphs before it tell comes to it.
func (s *sheet) toldAcross(grosses []sum) ruled {
	letter := passage{}
	for _, p := range s.passages() {
		for _, f := range p.withoutPrices() {
			f.start, f.end = f.start+len(letter.text), f.end+len(letter.text)
			letter.figures = append(letter.figures, f)
		}
		letter.text, letter.rates, letter.last = letter.text+p.text, append(letter.rates, p.rates...), p.last
	}
	if len(letter.rates) > 0 {
		return ruled{}
	}
	out := s.toldUntaxed(&letter)
	if out.gross == nil || s.otherTotal(&letter, grosses, out.gross) {
		return ruled{}
	}
	return out
}

// withoutPrices are the figures of a passage but for prices: a number in it times such a one is the next figure, "3 hours at 40.00,
// 120.00".
func (p *passage) withoutPrices() (out []told) {
	for i, f := range p.figures {
		price := i+1 < len(p.figures) && slices.ContainsFunc(p.numbers, func(n int64) bool {
			return n != one && productsApart(n, f.value, p.figures[i+1].value, one) < one*PerMinor
		})
		if !price {
			out = append(out, f)
		}
	}
	return out
}

// withoutAnnex leaves out the totals of later pages on which a told net sum is worked out: there it is printed again.
func (s *sheet) withoutAnnex(grosses []sum, own ruled) []sum {
	if own.net == nil {
		return grosses
	}
	annex := map[int]bool{}
	for _, row := range s.rows {
		for _, it := range row {
			if it.page > own.net.item.page && slices.ContainsFunc(it.amounts, func(a amount) bool { return a.money() && a.value == own.netValue }) {
				annex[it.page] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(grosses), func(g sum) bool { return annex[g.item.page] })
}

// toldIn lists the totals that a passage tells, with tax where it names a rate, else without.
func (s *sheet) toldIn(p *passage) (all []ruled) {
	if len(p.rates) == 0 {
		if t := s.toldUntaxed(p); t.gross != nil {
			all = append(all, t)
		}
		return all
	}
	if whole := s.toldRates(p); whole.gross != nil {
		return append(all, whole)
	}
	for i := range p.figures {
		if t := s.toldTriple(p, i); t.gross != nil {
			all = append(all, t)
		}
	}
	return all
}

// toldRates is the total of a passage that tells net sum and tax of several rates one after the other, all of which make it up: "10 %:
// netto 817,27, USt 81,73; 20 %: netto 323,00, USt 64,60". Nothing tells their own sums.
func (s *sheet) toldRates(p *passage) ruled {
	const fewest = 2
	total, rates := int64(0), 0
	for i := 1; i < len(p.figures); i++ {
		n, t := &p.figures[i-1], &p.figures[i]
		if before, _ := p.around(i); t.value > 0 && s.anyTax.MatchString(before) && leads(p.rates, n.value, t.value, 1) {
			total, rates = total+n.value+t.value, rates+1
		}
	}
	if rates < fewest {
		return ruled{}
	}
	g := s.toldTotal(p, total)
	if g == nil {
		return ruled{}
	}
	return ruled{gross: g, grossValue: g.value, rule: ratesMakeUp, confidence: 0.92}
}

// toldTriple is the net sum and the total of the tax that a figure of a passage may be, or what they make up with a charge that no tax
// applies to, whether the net sum contains it or not.
func (s *sheet) toldTriple(p *passage, i int) ruled {
	t := &p.figures[i]
	before, behind := p.around(i)
	if t.value == 0 || !s.anyTax.MatchString(before) && !s.anyTax.MatchString(behind) {
		return ruled{}
	}
	for k := range p.figures {
		n := &p.figures[k]
		said, _ := p.around(k)
		if n.value <= t.value || s.contractSum.MatchString(said) || !leads(p.rates, n.value, t.value, 1) && !s.withCharge(p, n.value, t.value) {
			continue
		}
		if g := s.toldTotal(p, n.value+t.value); g != nil {
			return ruled{net: &n.sum, tax: &t.sum, gross: g, netValue: n.value, taxValue: t.value, grossValue: g.value, hasNet: true,
				hasTax: true, rule: "told in a sentence: net + tax = gross", confidence: 0.92}
		}
		for o := range p.figures {
			if said, _ := p.around(o); o == i || o == k || !s.untaxedCharge(said) {
				continue
			}
			if g := s.toldTotal(p, n.value+t.value+p.figures[o].value); g != nil {
				return ruled{tax: &t.sum, gross: g, taxValue: t.value, grossValue: g.value, hasTax: true,
					rule: "told in a sentence: net + tax + charge = gross", confidence: 0.9}
			}
		}
	}
	return ruled{}
}

// withCharge reports whether a passage tells of a charge without tax that a net sum contains: a rate leads from the rest of it to the tax.
func (s *sheet) withCharge(p *passage, net, tax int64) bool {
	for i := range p.figures {
		said, _ := p.around(i)
		if rest := net - p.figures[i].value; p.figures[i].value > 0 && rest > tax && s.untaxedCharge(said) && leads(p.rates, rest, tax, 1) {
			return true
		}
	}
	return false
}

// untaxedCharge reports whether words speak of what was laid out, or what no tax applies to.
func (s *sheet) untaxedCharge(said string) bool {
	r, _ := s.roleOf(said)
	return s.noTax.MatchString(said) || r == roleOther
}

// toldTotal is the figure of a value in a passage, else the only one in a row below it.
func (s *sheet) toldTotal(p *passage, value int64) *sum {
	for i := range p.figures {
		if before, _ := p.around(i); p.figures[i].value == value && !s.contractSum.MatchString(before) {
			return &p.figures[i].sum
		}
	}
	for r := p.last.row + 1; r < len(s.rows) && r <= p.last.row+rowsToTotal; r++ {
		for _, it := range s.rows[r] {
			if a, ok := onlyMoney(it); ok && it.page == p.last.page {
				if a.value != value {
					return nil
				}
				return &sum{value: a.value, item: it, amount: a}
			}
		}
	}
	return nil
}

// toldUntaxed is the total of a passage of an invoice that says that no tax is due: what the figures before it add up to.
func (s *sheet) toldUntaxed(p *passage) ruled {
	const most = 8 // figures
	for i := len(p.figures) - 1; i >= 2; i-- {
		if before, _ := p.around(i); s.contractSum.MatchString(before) {
			continue
		}
		rest := p.figures[i].value
		for k := i - 1; k >= max(0, i-most) && rest > 0; k-- {
			if rest -= p.figures[k].value; rest == 0 && k < i-1 && s.mentions(s.noTax) {
				g := &p.figures[i].sum
				return ruled{net: g, tax: g, gross: g, netValue: g.value, grossValue: g.value, hasNet: true, hasTax: true,
					rule: "told in a sentence, no tax is due", confidence: 0.9}
			}
		}
	}
	return ruled{}
}

// otherTotal reports whether a labelled total that is none of a passage's is another one than what it tells, and not what is left of it.
func (s *sheet) otherTotal(p *passage, grosses []sum, gross *sum) bool {
	return slices.ContainsFunc(grosses, func(g sum) bool {
		in := slices.ContainsFunc(p.figures, func(f told) bool { return f.item == g.item && f.amount == g.amount })
		left := g.item.row > gross.item.row && s.printedBetween(gross, &g, gross.value-g.value)
		return !in && g.value != gross.value && !left
	})
}
