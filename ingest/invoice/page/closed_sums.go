package page

import (
	"slices"
	"strings"
)

// What closes on a page whose totals have labels that nobody knows, or that are others than the invoice's.

// Bounds of how far above and below a tax its net sum and its total stand.
const (
	rowsToNet   = 10
	rowsToTotal = 4
)

// ratedTriple finds a net sum, the tax that a printed rate makes of it, and the sum of both, one behind the other in a column or sentence,
// whatever the first and the last are called: words of tax stand before the second. Where several such totals stand, or another one below
// them that nothing explains, none is the invoice's for sure.
func (s *sheet) ratedTriple(grosses []sum) ruled {
	all, rates := s.money()
	out := ruled{}
	for i := range all {
		t := &all[i]
		if t.value == 0 || !s.anyTax.MatchString(s.saidBeforeSum(t)) {
			continue
		}
		n, g := netBefore(all[:i], t, rates), &sum{}
		if n == nil {
			continue
		}
		if g = totalBehind(all[i+1:], t, n.value+t.value); g == nil || s.ofContract(n) || s.ofContract(g) {
			continue
		}
		if out.gross != nil && out.grossValue != g.value {
			return ruled{}
		}
		out = ruled{net: n, tax: t, gross: g, netValue: n.value, taxValue: t.value, grossValue: g.value, hasNet: true, hasTax: true,
			rule: "a printed rate leads from net to tax", confidence: 0.92}
	}
	for i := range grosses {
		g := &grosses[i]
		if out.gross == nil || g.value != out.grossValue && g.item.row > out.gross.item.row &&
			!s.printedBetween(out.gross, g, out.grossValue-g.value) {
			return ruled{}
		}
	}
	return out
}

// ofContract reports whether a sum is called that of a contract or order.
func (s *sheet) ofContract(sm *sum) bool { return s.contractSum.MatchString(s.labelOf(sm)) }

// ofOthers reports whether a sum is called what a fee is counted from, or what is owed elsewhere: the cost of a building, a loan's balance.
func (s *sheet) ofOthers(sm *sum) bool {
	return s.countedFrom.MatchString(sm.item.folded[:sm.amount.start])
}

// ownSums leaves out sums that are called those of something else, where others have labels, too, or an item's own sum stands behind them.
func (s *sheet) ownSums(nets, grosses []sum) (ownNets, ownGrosses []sum) {
	labelled := slices.ContainsFunc(slices.Concat(nets, grosses), func(sm sum) bool { return !s.ofOthers(&sm) })
	others := func(sm sum) bool {
		right := s.right(sm.item)
		return s.ofOthers(&sm) && (labelled || right != nil && moneyCount(right) > 0)
	}
	return slices.DeleteFunc(nets, others), slices.DeleteFunc(grosses, others)
}

// netBefore is the nearest of the sums before a tax that a rate leads from to it.
func netBefore(before []sum, t *sum, rates []int64) *sum {
	for k := len(before) - 1; k >= 0; k-- {
		n := &before[k]
		if t.item.row-n.item.row > rowsToNet || n.item.page != t.item.page {
			return nil
		}
		if (n.value < 0) == (t.value < 0) && absolute(n.value) > absolute(t.value) && leads(rates, absolute(n.value), absolute(t.value), 1) {
			return n
		}
	}
	return nil
}

// totalBehind is the sum of a value that stands behind a tax.
func totalBehind(behind []sum, t *sum, value int64) *sum {
	for k := range behind {
		g := &behind[k]
		if g.item.row-t.item.row > rowsToTotal || g.item.page != t.item.page {
			return nil
		}
		if g.value == value {
			return g
		}
	}
	return nil
}

// exemptNet is the last plainly labelled net sum of an invoice that says that no tax is due on it, as by reverse charge, and names no total
// below it: it is what is to be paid, where the figures above it come to it. So is what is left of it to pay, less the bills before.
func (s *sheet) exemptNet(nets, taxes, grosses, others []sum) ruled {
	if charged(taxes) || len(nets) == 0 || !s.mentions(s.noTax) {
		return ruled{}
	}
	n := &nets[len(nets)-1]
	if rest := s.leftUnpaid(n, grosses, others); rest != nil {
		return wholeUntaxed(rest)
	}
	below := func(g sum) bool { return g.item.row >= n.item.row && g.value != 0 }
	only := len(nets) == 1 && len(grosses) == 0 // their sum may be a cent off
	if n.column || n.weight < 2 || n.value <= 0 || slices.ContainsFunc(grosses, below) || !only && !s.addUp(n) && !s.leftAbove(n) {
		return ruled{}
	}
	return wholeUntaxed(n)
}

// wholeUntaxed is a sum that is net sum and total.
func wholeUntaxed(n *sum) ruled {
	return ruled{net: n, tax: n, gross: n, netValue: n.value, grossValue: n.value, hasNet: true, hasTax: true,
		rule: untaxedRest, confidence: 0.9}
}

// leftUnpaid is the last sum to pay that is left of a net sum above it less what stands between them, nothing of which was paid: nil where
// there is none.
func (s *sheet) leftUnpaid(net *sum, grosses, others []sum) *sum {
	for i := range slices.Backward(grosses) {
		rest := &grosses[i]
		paid := func(o sum) bool { return o.weight == 3 && o.item.row > net.item.row && o.item.row < rest.item.row }
		if rest.role == rolePayable && !rest.column && !net.column && rest.value > 0 && rest.item.row > net.item.row &&
			s.leftOfAbove(rest, net) && !slices.ContainsFunc(others, paid) {
			return rest
		}
	}
	return nil
}

// charged reports whether a tax is.
func charged(taxes []sum) bool {
	return slices.ContainsFunc(taxes, func(t sum) bool { return t.value != 0 && !t.column })
}

// beforeWithheld is the total of an invoice without tax of which a part is withheld, as for its retention: less than it is left to pay.
func (s *sheet) beforeWithheld(nets, taxes, grosses, others []sum) ruled {
	if charged(taxes) || len(taxes) == 0 && !s.mentions(s.noTax) {
		return ruled{}
	}
	for li := range grosses {
		left := &grosses[li]
		for wi := range others {
			kept := &others[wi]
			if left.role != rolePayable || left.column || kept.column || kept.item.row >= left.item.row || !s.withheld.MatchString(s.labelOf(kept)) {
				continue
			}
			for _, total := range slices.Concat(nets, grosses) {
				if !total.column && total.item.row < kept.item.row && absolute(total.value)-absolute(kept.value) == absolute(left.value) {
					return ruled{net: &total, tax: &total, gross: &total, netValue: total.value, grossValue: total.value, hasNet: true, hasTax: true,
						rule: untaxedWhole, confidence: 0.9}
				}
			}
		}
	}
	return ruled{}
}

// untaxedWhole is the rule of a total of which a part is withheld, no tax being due.
const untaxedWhole = "no tax on the sum before what is withheld"

// untaxedRest is the rule of a net sum that is the total, for no tax is due.
const untaxedRest = "no tax on the last net sum"

// restOf reports whether the total that the weights chose is one that the rules' own is left of, or the difference to: it stands above.
func (t *totals) restOf(weighed *totals) bool {
	above, untaxed := weighed.gross.from.item.row < t.gross.from.item.row, weighed.tax == nil || weighed.tax.value == 0
	switch t.gross.rule {
	case difference, restTaxed, lessBilledBefore:
		return above
	case untaxedWhole:
		return untaxed && absolute(weighed.gross.value) < absolute(t.gross.value)
	case untaxedRest:
		return untaxed && above
	}
	return false
}

// rowLeft reports whether the rules' own sums stand in a row of net, tax and total that is left of one with the weights', less a row
// between them: of the year's water less the prepayments, whatever details a later page has.
func (s *sheet) rowLeft(rules, weighed *totals) bool {
	rows := s.triples()
	for k := 2; k < len(rows); k++ {
		whole, less, left := &rows[k-2], &rows[k-1], &rows[k]
		both := left.gross.item == rules.gross.from.item && whole.gross.value == weighed.gross.value
		if both && inOneColumn(whole.tax, less.tax, left.tax) && whole.net.value-absolute(less.net.value) == left.net.value &&
			whole.tax.value-absolute(less.tax.value) == left.tax.value {
			return true
		}
	}
	return false
}

// leftAbove reports whether a sum is what is left of a figure above it in its column, less those between.
func (s *sheet) leftAbove(sm *sum) bool {
	const deductions = 3
	c := s.columnAbove(sm, nil)
	less := int64(0)
	for k := len(c.figures) - 1; k >= max(0, len(c.figures)-1-deductions); k-- {
		v := absolute(c.figures[k].value)
		if less > 0 && v-less == sm.value {
			return true
		}
		less += v
	}
	return false
}

// triple is net, tax and gross at the end of a row.
type triple struct{ net, tax, gross sum }

// corrected finds three rows of net, tax and gross, of what was billed, what is right and what the difference is, as corrections show them:
// the last one is the document's own, unless a row behind it is the first again: then both are parts of the second, a total. So are the
// rows of bills that count all work so far up from what was billed before.
func (s *sheet) corrected() ruled {
	rows := s.triples()
	for k := 2; k < len(rows); k++ {
		was, is, own := rows[k-2], rows[k-1], &rows[k]
		if is.net.value-was.net.value == own.net.value && is.tax.value-was.tax.value == own.tax.value && own.net.value != 0 &&
			was.net.item.page == own.net.item.page && was.net.value != 0 && inOneColumn(was.tax, is.tax, own.tax) &&
			!slices.ContainsFunc(rows[k+1:], func(part triple) bool { return part.net.value == was.net.value }) {
			return ruled{net: &own.net, tax: &own.tax, gross: &own.gross, netValue: own.net.value, taxValue: own.tax.value,
				grossValue: own.gross.value, hasNet: true, hasTax: true, rule: difference, confidence: 0.95}
		}
	}
	return s.lessRows(rows)
}

// lessRows finds the row of net, tax and total that is left of one above it, less those between, which are printed with a minus and are not
// withheld: of a year's bill less its instalments. Details below, or on the next page, may have the year's sums again.
func (s *sheet) lessRows(rows []triple) ruled {
	withheld := func(r triple) bool { return s.withheld.MatchString(s.labelOf(&r.net)) }
	for k := range rows {
		net, tax, i := int64(0), int64(0), k-1
		for ; i >= 0 && rows[i].net.value < 0 && rows[i].tax.value <= 0 && !withheld(rows[i]); i-- {
			net, tax = net+rows[i].net.value, tax+rows[i].tax.value
		}
		if own := &rows[k]; i >= 0 && net < 0 && rows[i].net.value+net == own.net.value && rows[i].tax.value+tax == own.tax.value &&
			own.net.value > 0 && rows[i].net.item.page == own.net.item.page && inOneColumn(rows[i].tax, rows[k-1].tax, own.tax) {
			return ruled{net: &own.net, tax: &own.tax, gross: &own.gross, netValue: own.net.value, taxValue: own.tax.value,
				grossValue: own.gross.value, hasNet: true, hasTax: true, rule: lessBilledBefore, confidence: 0.95}
		}
	}
	return ruled{}
}

// inOneColumn reports whether three sums end below one another.
func inOneColumn(a, b, c sum) bool {
	return absFloat(a.item.x1-b.item.x1) < 3 && absFloat(b.item.x1-c.item.x1) < 3
}

// difference is the rule of the sums of a correction.
const difference = "difference of two rows"

// triples lists the rows whose last three cells are a net sum, its tax and both together.
func (s *sheet) triples() []triple {
	var out []triple
	for _, row := range s.rows {
		if len(row) < 3 || len(out) == maxSums {
			continue
		}
		var cells [3]sum
		whole := true
		for i, it := range row[len(row)-3:] {
			a, ok := onlyMoney(it)
			cells[i] = sum{value: a.value, weight: 2, item: it, amount: a}
			whole = whole && ok
		}
		n, t, g := cells[0], cells[1], cells[2]
		n.role, t.role, g.role = roleNet, roleTax, roleGross
		if whole && n.value != 0 && n.value+t.value == g.value && absolute(t.value)*5 <= absolute(n.value)*2 {
			out = append(out, triple{n, t, g})
		}
	}
	return out
}

// ofSection reports whether a labelled total is that of a section, as in an annex: another row has the same sum for the same matter
// and no other label, and there is a larger total.
func (s *sheet) ofSection(sm *sum, all []sum) bool {
	const others = 2 // words that are of the total itself
	if sm.role != roleGross || sm.column || sm.value == 0 ||
		!slices.ContainsFunc(all, func(o sum) bool { return o.role == roleGross && !o.column && absolute(o.value) > absolute(sm.value) }) {
		return false
	}
	matter := longWord.FindAllString(s.labelOf(sm), -1)
	for _, row := range s.rows {
		for _, it := range row {
			for _, a := range it.amounts {
				if it == sm.item || it.row == sm.item.row || a.value != sm.value || !a.money() {
					continue
				}
				label := strings.TrimSpace(s.labelOf(&sum{item: it, amount: a}))
				shared := 0
				for _, word := range matter {
					if slices.Contains(longWord.FindAllString(label, -1), word) {
						shared++
					}
				}
				if r, _ := s.roleOf(label); r == roleNone && shared > 0 && len(matter)-shared <= others {
					return true
				}
			}
		}
	}
	return false
}

// roleBeyond is the role that the first cell of a row gives to the only sum in it, behind what explains it: "Belastung | Konto 4711, Wert
// 5.10. | 420,00".
func (s *sheet) roleBeyond(it *item) (role, int) {
	row := s.rows[it.row]
	if it.col != len(row)-1 || it.col < 2 || moneyIn(row) > 1 || len(row[0].amounts) > 0 || len(row[0].folded) > maxLabelled/2 {
		return roleNone, 0
	}
	r, w := s.roleOf(strings.TrimSpace(row[0].folded))
	return r, min(w, 2)
}

// wholeSums marks figures in groups that fill their cells as money where the document prints sums of a currency without decimals alone:
// "1 486 000" beside "1 887 220 Ft", or below "Bruttó Ft". Where nobody has coins any more, a short number with decimals is a code or a
// quantity.
func (s *sheet) wholeSums() {
	currency, heading, parts := "", "", false
	for _, row := range s.rows {
		for _, it := range row {
			if code, at, length := findCurrency(it.runes); heading == "" && at > 0 && strings.Trim(string(it.runes[at+length:]), ")]. ") == "" &&
				len(it.amounts) == 0 {
				heading = code
			}
			for _, a := range it.amounts {
				switch {
				case a.percent || a.unit:
				case a.decimals == 2:
					if parts = true; a.grouped || a.currency != "" {
						return
					}
				case a.decimals == 0 && a.grouped && a.currency != "" && currency == "":
					currency = a.currency
				}
			}
		}
	}
	if currency == "" {
		currency = heading
	}
	if parts && !slices.Contains([]string{"HUF", "ISK", "JPY", "KRW"}, currency) {
		return
	}
	for _, row := range s.rows {
		for _, it := range row {
			more := len(it.amounts) == 1 && it.amounts[0].end-it.amounts[0].start < len(strings.TrimSpace(it.folded))
			if currency == "" || hasLetters(it.folded) || more {
				continue
			}
			for i := range it.amounts { // several may run together
				if a := &it.amounts[i]; a.grouped && a.currency == "" && !a.percent {
					a.currency = currency
				}
			}
		}
	}
}
