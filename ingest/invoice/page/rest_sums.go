package page

import (
	"math/bits"
	"slices"
)

// What is the invoice's own of sums from which something is taken off: what was paid before, or what the payer withholds.

// restTaxed is the rule of what is left of all work so far with a tax of its own.
const restTaxed = "what is left, with its tax"

// restWithTax finds what is left to pay of the best total less what was paid before, where the tax within that rest is printed below it:
// the payments had their own, so the rest is the invoice's.
func (s *sheet) restWithTax(best ruled, within []sum) (ruled, bool) {
	const rows = 3 // from the rest to its tax
	for i := range within {
		t := &within[i]
		rate := s.rateBeside(t)
		if t.column || rate == 0 || t.item.page != best.gross.item.page {
			continue
		}
		for r := max(best.gross.item.row+1, t.item.row-rows); r < t.item.row; r++ {
			for _, it := range s.rows[r] {
				a, ok := onlyMoney(it)
				rest := &sum{value: a.value, role: rolePayable, weight: 2, item: it, amount: a}
				if ok && a.value > 0 && a.value < best.grossValue && contains(a.value, t.value, rate) && s.leftOfAbove(rest, best.gross) {
					return ruled{net: rest, tax: t, gross: rest, netValue: a.value - t.value, taxValue: t.value, grossValue: a.value,
						hasNet: true, hasTax: true, rule: restTaxed, confidence: 0.95}, true
				}
			}
		}
	}
	return ruled{}, false
}

// remainder finds what is left of the best total, called what is to be paid or a total, with a net sum and a tax of its own that go with
// it at the same rate. All three stand below the best total, and what was billed before between: one figure, those in the rest's column,
// or the totals of bills that have a net sum and a tax of their own, too.
func (s *sheet) remainder(best ruled) (out ruled, ok bool) {
	if best.gross == nil || !best.hasNet || best.netValue <= 0 || best.taxValue < 0 {
		return ruled{}, false
	}
	all, _ := s.money()
	below := slices.DeleteFunc(all, func(f sum) bool {
		return f.item.row <= best.gross.item.row || f.value <= 0 || f.value >= best.grossValue
	})
	below = below[:min(len(below), maxSums)]
	if best.taxValue == 0 {
		return s.untaxedRemainder(best, below)
	}
	bills := billsIn(below, best)
	for i := range bills {
		rest, before := &bills[i], int64(0)
		if role, _ := s.roleOf(s.announcing(rest.gross)); role != rolePayable && role != roleGross {
			continue
		}
		for _, b := range bills[:i] {
			before += b.grossValue
		}
		if before == best.grossValue-rest.grossValue || s.lessBetween(best.gross, rest.gross) || s.lessBills(best.gross, rest) {
			out, ok = *rest, true
			out.rule, out.confidence = lessBilledBefore, 0.95
		}
	}
	return out, ok
}

// lessBills reports whether a bill's total is one above it less the last figures of the rows between that and its net sum: net sums and
// taxes of bills before, none of which is withheld.
func (s *sheet) lessBills(total *sum, rest *ruled) bool {
	less := int64(0)
	for _, row := range s.rows[total.item.row+1 : max(total.item.row+1, rest.net.item.row)] {
		for _, it := range slices.Backward(row) {
			all := moneyOf(it)
			if len(all) == 0 {
				continue
			}
			off := &sum{value: all[len(all)-1].value, item: it, amount: all[len(all)-1]}
			if s.withheld.MatchString(s.labelOf(off)) {
				return false
			}
			less += absolute(off.value)
			break
		}
	}
	return less > 0 && total.value-less == rest.grossValue
}

// untaxedRemainder is the first figure below the best total, no tax being due, that is called a net sum, a total or a bill's and is left
// of it less the bills before in its column. What is only called left of a total, or to be paid, may be so for what was paid.
func (s *sheet) untaxedRemainder(best ruled, below []sum) (ruled, bool) {
	for i := range below {
		rest, less, bills := &below[i], int64(0), true
		label := s.labelOf(rest)
		if role, _ := s.roleOf(label); role != roleNet && role != roleGross && !s.invoiceWord.MatchString(label) {
			continue
		}
		for _, f := range s.columnAbove(rest, nil).figures {
			if f.item.row > best.gross.item.row {
				less += absolute(f.value)
				bills = bills && s.invoiceWord.MatchString(s.labelOf(&f)) && !s.withheld.MatchString(s.labelOf(&f))
			}
		}
		if less > 0 && bills && best.grossValue-less == rest.value {
			return ruled{net: rest, tax: rest, gross: rest, netValue: rest.value, grossValue: rest.value, hasNet: true, hasTax: true,
				rule: lessBilledBefore, confidence: 0.95}, true
		}
	}
	return ruled{}, false
}

// billsIn are the totals among some figures that two others make up at the rate of a bill, each once, in their order.
func billsIn(figures []sum, like ruled) (out []ruled) {
	for gi := range figures {
		for ni := range figures {
			n, g := &figures[ni], &figures[gi]
			ti := slices.IndexFunc(figures, func(t sum) bool { return t.value == g.value-n.value })
			if ti < 0 || !atRateOf(like, n.value, figures[ti].value) {
				continue
			}
			out = append(out, ruled{net: n, tax: &figures[ti], gross: g, netValue: n.value, taxValue: figures[ti].value, grossValue: g.value,
				hasNet: true, hasTax: true})
			break
		}
	}
	return out
}

// announcing is what is said before a sum, in the line above where it stands alone.
func (s *sheet) announcing(sm *sum) string {
	const leading = 3
	said := s.saidBeforeSum(sm)
	if hasLetters(withoutCurrency(said)) || sm.item.row == 0 {
		return said
	}
	above := s.rows[sm.item.row-1]
	if last := above[len(above)-1]; last.page == sm.item.page && sm.item.y-last.y < leading*sm.item.size {
		return last.folded
	}
	return said
}

// lessBetween reports whether a sum is a total above it less one figure between them that nobody withholds, or less those in its column.
func (s *sheet) lessBetween(total, rest *sum) bool {
	for _, row := range s.rows[total.item.row+1 : rest.item.row] {
		for _, it := range row {
			for _, a := range it.amounts {
				off := &sum{value: a.value, item: it, amount: a}
				if a.money() && total.value-absolute(a.value) == rest.value && !s.withheld.MatchString(s.labelOf(off)) {
					return true
				}
			}
		}
	}
	return s.leftOfAbove(rest, total)
}

// atRateOf reports whether a tax goes with a net sum as those of a bill do with each other, but for the rounding of both.
func atRateOf(b ruled, net, tax int64) bool {
	const cents = 2
	all, of := absolute(b.netValue), absolute(b.taxValue)
	hi, lo := bits.Mul64(uint64(net), uint64(of))
	if hi >= uint64(all) {
		return false
	}
	want, _ := bits.Div64(hi, lo, uint64(all))
	return absolute(int64(want)-tax) <= cents*PerMinor
}

// leftOfAbove reports whether a sum is a total above it less what stands between them in their column and is not withheld.
func (s *sheet) leftOfAbove(rest, total *sum) bool {
	less := int64(0)
	for _, f := range s.columnAbove(rest, nil).figures {
		if f.item.row > total.item.row {
			if s.withheld.MatchString(s.labelOf(&f)) {
				return false
			}
			less += absolute(f.value)
		}
	}
	return less > 0 && total.value-less == rest.value
}

// wholeRule is the rule of a total that isn't printed, a part of it being withheld.
const wholeRule = "net + tax, less what is withheld, is to be paid"

// wholeBeforeWithheld is net and tax of an invoice that prints beside them what the payer withholds and what is left alone: the total is
// both together.
func (s *sheet) wholeBeforeWithheld(nets, taxes, grosses, others []sum) ruled {
	for ni := range nets {
		for ti := range taxes {
			n, t := &nets[ni], &taxes[ti]
			if n.value <= 0 || t.value <= 0 || !s.taxOnOne(t, []int64{n.value}) || n.item.page != t.item.page {
				continue
			}
			for _, kept := range others {
				left := n.value + t.value - absolute(kept.value)
				paid := func(g sum) bool { return g.value == left && g.item.page == t.item.page }
				if kept.value != 0 && left < n.value+t.value && s.withheld.MatchString(s.labelOf(&kept)) && slices.ContainsFunc(grosses, paid) {
					return wholeOf(n, t)
				}
			}
		}
	}
	return s.withheldInRow()
}

func wholeOf(n, t *sum) ruled {
	return ruled{net: n, tax: t, gross: t, netValue: n.value, taxValue: t.value, grossValue: n.value + t.value, hasNet: true, hasTax: true,
		rule: wholeRule, confidence: 0.9}
}

// withheldInRow finds a row of a net sum, its rate and tax, what is withheld, and what is left, under headings that name what is withheld.
func (s *sheet) withheldInRow() ruled {
	for r := 1; r < len(s.rows); r++ {
		var cells []*sum
		var rates []int64
		for _, it := range s.rows[r] {
			for _, a := range it.amounts {
				switch {
				case a.percent && a.value > 0:
					rates = append(rates, a.value)
				case a.money():
					cells = append(cells, &sum{value: a.value, weight: 2, item: it, amount: a})
				}
			}
		}
		heads := s.rows[r-1]
		kept := func(head *item) bool { return moneyCount(head) == 0 && s.withheld.MatchString(head.folded) }
		if len(cells) != 4 || heads[0].page != cells[0].item.page || !slices.ContainsFunc(heads, kept) {
			continue
		}
		n, t, less, left := cells[0], cells[1], absolute(cells[2].value), cells[3].value
		if less > 0 && n.value+t.value-less == left && t.value > 0 && leads(rates, n.value, t.value, 1) {
			n.role, t.role = roleNet, roleTax
			return wholeOf(n, t)
		}
	}
	return ruled{}
}

// brokenDown finds the last total whose net sum and tax are told as what it contains: "noch zu zahlen (darin netto 2.738,60, USt 520,33)".
func (s *sheet) brokenDown() (out ruled) {
	const rows = 2 // from the total to its parts
	all, _ := s.money()
	for _, row := range s.rows {
		for _, it := range row {
			n, t := s.containedIn(it)
			if n == nil {
				continue
			}
			total := slices.IndexFunc(all, func(f sum) bool {
				return f.value == n.value+t.value && f.item.page == it.page && f.item.row <= it.row && f.item.row >= it.row-rows
			})
			if total >= 0 {
				out = ruled{net: n, tax: t, gross: &all[total], netValue: n.value, taxValue: t.value, grossValue: all[total].value,
					hasNet: true, hasTax: true, rule: restTaxed, confidence: 0.95}
			}
		}
	}
	return out
}

// containedIn are the net sum and the tax that a text tells as contained in a total; nil where it doesn't.
func (s *sheet) containedIn(it *item) (net, tax *sum) {
	told := s.containedNet.FindStringIndex(it.folded)
	if told == nil {
		return nil, nil
	}
	var parts []*sum
	for _, a := range it.amounts {
		if a.money() && a.start >= told[1] && a.value > 0 {
			parts = append(parts, &sum{value: a.value, weight: 2, item: it, amount: a})
		}
	}
	// The total may follow in the same text.
	if len(parts) < 2 || parts[1].value*5 > parts[0].value*2 ||
		!s.anyTax.MatchString(it.folded[parts[0].amount.end:parts[1].amount.start]) {
		return nil, nil
	}
	parts[0].role, parts[1].role = roleNet, roleTax
	return parts[0], parts[1]
}

// billedNow is the rule of the row of a table of bills that is this one's.
const billedNow = "the row of this bill"

// ownRow finds, in a table of bills each with its net sum, tax and total, the row whose total a sentence below asks to pay, where another
// row below adds up all of them.
func (s *sheet) ownRow() (out ruled) {
	rows := s.triples()
	if len(rows) < 2 {
		return ruled{}
	}
	all, _ := s.money()
	for i := range rows {
		own := &rows[i]
		adds := slices.ContainsFunc(rows[i+1:], func(o triple) bool { return s.addUp(&o.net) && o.gross.value > own.gross.value })
		asked := slices.ContainsFunc(all, func(f sum) bool {
			below := f.value == own.gross.value && f.item.row > own.gross.item.row && f.item.page == own.gross.item.page
			return below && s.paying.MatchString(s.announcing(&f))
		})
		if adds && asked && own.net.value > 0 {
			out = ruled{net: &own.net, tax: &own.tax, gross: &own.gross, netValue: own.net.value, taxValue: own.tax.value,
				grossValue: own.gross.value, hasNet: true, hasTax: true, rule: billedNow, confidence: 0.95}
		}
	}
	return out
}
