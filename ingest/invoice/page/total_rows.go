package page

import (
	"slices"
	"strings"
)

// totalRow finds a row "Total … net tax gross" that adds up under headings that
// name the tax: the foot of an item table. Where another row names the same total, or each of the three is
// what stands above it together, it may be called anything.
func (s *sheet) totalRow(grosses []sum) ruled {
	for r := len(s.rows) - 1; r >= 0; r-- {
		row := s.rows[r]
		if len(row) < 3 {
			continue
		}
		named, _ := s.roleOf(strings.TrimSpace(row[0].folded))
		var cells []*sum
		for _, it := range row {
			if it == row[0] && hasLetters(it.folded) {
				continue
			}
			for _, a := range moneyOf(it) {
				cells = append(cells, &sum{value: a.value, weight: 2, item: it, amount: a})
			}
		}
		if len(cells) < 3 {
			continue
		}
		n, t, g := cells[len(cells)-3], cells[len(cells)-2], cells[len(cells)-1]
		again := slices.ContainsFunc(grosses, func(o sum) bool { return o.value == g.value && o.item.row != r && !o.column })
		none := t.value == 0 && !(again && s.addUp(n) && s.addUp(g)) // of tax, on what the row adds up
		if n.value+t.value != g.value || none || absolute(t.value)*5 > absolute(n.value)*2 || !s.headedTax(t.item) {
			continue
		}
		sums := s.addUp(n) && s.addUp(t) && s.addUp(g)
		if named != roleGross && named != roleNet && !again && !sums {
			continue
		}
		n.role, t.role, g.role = roleNet, roleTax, roleGross
		return ruled{net: n, tax: t, gross: g, netValue: n.value, taxValue: t.value, grossValue: g.value, hasNet: true, hasTax: true,
			rule: "row of totals", confidence: 0.95}
	}
	return ruled{}
}

// partOfTotalRow reports whether a sum is the net sum or the tax in a row of totals, as the heading of its column says: "Total
// 308,85 27,30".
func (s *sheet) partOfTotalRow(g *sum, all []sum) bool {
	if g.role != roleGross || g.column || !s.namedTotal(g) || moneyIn(s.rows[g.item.row]) < 2 {
		return false
	}
	if head := s.heading(g.item); head != nil {
		if r, _ := s.roleOf(strings.TrimSpace(head.folded)); r == roleTax {
			return true
		}
	}
	return slices.ContainsFunc(all, func(o sum) bool {
		return o.column && o.item == g.item && o.amount.start == g.amount.start && (o.role == roleNet || o.role == roleTax)
	})
}

// netAndTaxRow finds a row "Total … net tax", the tax under a heading that names it, whose sum is a total below, or stands there alone.
func (s *sheet) netAndTaxRow(grosses []sum) ruled {
	for r := len(s.rows) - 1; r >= 0; r-- {
		row := s.rows[r]
		last := len(row) - 1
		if len(row) < 3 {
			continue
		}
		n, ok := onlyMoney(row[last-1])
		t, also := onlyMoney(row[last])
		if !ok || !also || t.value == 0 || absolute(t.value)*5 > absolute(n.value)*2 {
			continue
		}
		named, _ := s.roleOf(strings.TrimSpace(row[0].folded))
		headed := (named == roleGross || named == roleNet) && s.headedTax(row[last])
		if !headed && !s.sumsOfRates(row[last-1], row[last]) {
			continue
		}
		net := &sum{value: n.value, role: roleNet, weight: 2, item: row[last-1], amount: n}
		tax := &sum{value: t.value, role: roleTax, weight: 2, item: row[last], amount: t}
		if g := s.totalOf(net, tax, grosses); g != nil {
			return ruled{net: net, tax: tax, gross: g, netValue: n.value, taxValue: t.value, grossValue: g.value, hasNet: true, hasTax: true,
				rule: "row of totals", confidence: 0.95}
		}
	}
	return ruled{}
}

// sumsOfRates reports whether a net sum and a tax are those of the rows of rates right above, each with its tax behind a label: "Netto 10 %
// 1.806,10 USt 180,61".
func (s *sheet) sumsOfRates(net, tax *item) bool {
	const fewest = 2
	n, _ := onlyMoney(net)
	t, _ := onlyMoney(tax)
	rates := 0
	for r := net.row - 1; r >= 0 && r >= net.row-maxRates && (n.value != 0 || t.value != 0); r-- {
		var bases, taxes []amount
		for _, it := range s.rows[r] {
			a, money := onlyMoney(it)
			switch {
			case money && absFloat(it.x1-net.x1) < 3:
				bases = append(bases, a)
			case money && absFloat(it.x1-tax.x1) < 3 && it.col > 0 && s.anyTax.MatchString(s.rows[r][it.col-1].folded):
				taxes = append(taxes, a)
				if label := s.rows[r][it.col-1]; len(label.amounts) == 1 && label.amounts[0].money() { // "860,00 USt", "60,20"
					bases = append(bases, label.amounts[0])
				}
			}
		}
		if len(bases) != 1 || len(taxes) != 1 {
			return false
		}
		n.value, t.value, rates = n.value-bases[0].value, t.value-taxes[0].value, rates+1
	}
	return rates >= fewest && n.value == 0 && t.value == 0
}

// totalOf is the total below a row of a net sum and its tax that is both together: one with a label, or else a figure alone in its cell,
// which ends where one of theirs does.
func (s *sheet) totalOf(net, tax *sum, grosses []sum) *sum {
	value, row := net.value+tax.value, tax.item.row
	for i := range grosses {
		g := &grosses[i]
		if g.value == value && !g.column && g.item.page == tax.item.page && g.item.row > row && g.item.row <= row+maxComponents {
			return g
		}
	}
	for r, sums := row+1, 0; r < len(s.rows) && r <= row+maxComponents && sums < rowsToTotal; r++ {
		if moneyIn(s.rows[r]) > 0 {
			sums++ // what stands beside the sums may have more lines
		}
		for _, it := range s.rows[r] {
			inLine := absFloat(it.x1-tax.item.x1) < 4 || absFloat(it.x1-net.item.x1) < 4
			if a, ok := onlyMoney(it); ok && inLine && it.page == tax.item.page && a.value == value {
				return &sum{value: a.value, role: roleGross, weight: 1, item: it, amount: a}
			}
		}
	}
	return nil
}

// taxTableRow finds the row of a table of taxes in whose cells a rate, a net sum and its tax stand, however they are aligned with the
// headings right above them that name net sum and tax; together they are a labelled total elsewhere.
func (s *sheet) taxTableRow(grosses []sum) ruled {
	for r := 1; r < len(s.rows); r++ {
		var cells []*sum
		for _, it := range s.rows[r] {
			for _, a := range it.amounts {
				if a.money() || a.percent {
					cells = append(cells, &sum{value: a.value, weight: 2, item: it, amount: a})
				}
			}
		}
		if len(cells) != 3 || !s.headsTaxes(s.rows[r-1]) {
			continue
		}
		rate, n, t := cells[0], cells[1], cells[2]
		if rate.value <= 0 || rate.value >= maxRate || t.value == 0 || !leads([]int64{rate.value}, absolute(n.value), absolute(t.value), 1) {
			continue
		}
		n.role, t.role = roleNet, roleTax
		for i := range grosses {
			if g := &grosses[i]; g.value == n.value+t.value && g.item.row != r {
				return ruled{net: n, tax: t, gross: g, netValue: n.value, taxValue: t.value, grossValue: g.value, hasNet: true, hasTax: true,
					rule: "row of a table of taxes", confidence: 0.95}
			}
		}
	}
	return ruled{}
}

// headsTaxes reports whether a row holds headings of a net sum and of a tax behind it, and no figures.
func (s *sheet) headsTaxes(row []*item) bool {
	net, tax := -1, -1
	for i, head := range row {
		switch r, _ := s.roleOf(strings.TrimSpace(head.folded)); {
		case moneyCount(head) > 0:
			return false
		case r == roleNet && net < 0:
			net = i
		case r == roleTax && !strings.Contains(head.folded, "%"):
			tax = i
		}
	}
	return net >= 0 && tax > net
}

// bareRates are the taxes of rows that hold a rate and a sum alone, between a labelled net sum, which the rate leads from to it, and the
// total of both: "Anzahlung exkl. 1.416,00", "20 % 283,20", "Anzahlung inkl. 1.699,20".
func (s *sheet) bareRates(nets, grosses []sum) []sum {
	var out []sum
	for _, row := range s.rows {
		if len(row) != 2 || !s.bareRate.MatchString(row[0].folded) || len(out) == maxRates {
			continue
		}
		a, ok := onlyMoney(row[1])
		t := sum{value: a.value, role: roleTax, weight: 2, item: row[1], amount: a, rate: true}
		if ok && slices.ContainsFunc(nets, func(n sum) bool {
			above := t.item.row > n.item.row && t.item.row-n.item.row <= rowsToTotal && !n.column
			return above && leads([]int64{s.rateBeside(&t)}, n.value, t.value, 1) && stacked(n, t, grosses)
		}) {
			out = append(out, t)
		}
	}
	return out
}

// moneyOf lists the sums of a cell without words; several without decimals may run together: "1 210 680 5 694 680".
func moneyOf(it *item) []amount {
	if a, ok := onlyMoney(it); ok {
		return []amount{a}
	}
	if hasLetters(withoutCurrency(it.folded)) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(it.amounts), func(a amount) bool { return !a.money() })
}

// onlyMoney is the one sum in a cell without words; a rate, or the cross that stands for several rates, may be beside it.
func onlyMoney(it *item) (amount, bool) {
	if strings.Trim(withoutCurrency(it.folded), " x%0123456789.,'-+~") != "" {
		return amount{}, false
	}
	var found []amount
	for _, a := range it.amounts {
		if a.money() || a.decimals == 2 && !a.percent {
			found = append(found, a)
		}
	}
	if len(found) != 1 {
		return amount{}, false
	}
	return found[0], true
}

// headedTax reports whether the nearest heading above an amount names a tax, in its last line or the one above: "VAT" over "amount".
func (s *sheet) headedTax(it *item) bool {
	head := s.heading(it)
	if head == nil || s.anyTax.MatchString(head.folded) {
		return head != nil
	}
	first := s.above(head)
	return first != nil && !hasDigit(first.folded) && s.anyTax.MatchString(first.folded)
}

// heading is the nearest item with letters and without figures but rates above an amount: "TVA 21 %" is a heading, "nil" between sums is
// none.
func (s *sheet) heading(it *item) *item {
	const sums = 2 // of a row of items
	for r := it.row - 1; r >= 0 && r >= it.row-80; r-- {
		if moneyIn(s.rows[r]) >= sums {
			continue
		}
		for i, head := range s.rows[r] {
			if head.page == it.page && (aligned(head, it) || s.underHead(s.rows[r], i, it)) && hasLetters(withoutCurrency(head.folded)) &&
				!slices.ContainsFunc(head.amounts, func(a amount) bool { return !a.percent }) {
				return head
			}
		}
	}
	return nil
}
