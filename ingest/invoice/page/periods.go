package page

import (
	"slices"
	"strings"
)

// thisPeriod is the rule of the column of a bill that has the sums of all work so far and of what was billed before beside its own.
const thisPeriod = "the column of this period"

// minPeriods is how many columns such a bill has at least: all so far, before, and now.
const minPeriods = 3

// periods finds the rows of net sum, tax and total of which each column closes, and one column is two others together: all work so far,
// what was billed before, and what is billed now, in whatever order. Which one is billed now the other sums say; where they don't, none is
// certain.
func (s *sheet) periods(all []sum) ruled {
	columns := s.taxedColumns()
	if len(columns) == 0 && s.mentions(s.noTax) {
		columns = s.untaxedColumns()
	}
	if len(columns) == 0 {
		return ruled{}
	}
	return s.billedColumn(columns, wholeColumn(columns), all)
}

// taxedColumns lists the columns of three rows of which the second is called a tax.
func (s *sheet) taxedColumns() []triple {
	for r, row := range s.rows {
		if moneyIn(row) < minPeriods || !s.anyTax.MatchString(row[0].folded) && !s.anyTax.MatchString(row[min(1, len(row)-1)].folded) {
			continue
		}
		for n := r - 1; n >= max(0, r-rowsToTotal); n-- {
			for g := r + 1; g <= min(len(s.rows)-1, r+rowsToTotal); g++ {
				if columns := closingColumns(s.rows[n], row, s.rows[g]); wholeColumn(columns) >= 0 {
					return columns
				}
			}
		}
	}
	return nil
}

// untaxedColumns lists the columns of the last row called a net sum or a total that add up what stands above it.
func (s *sheet) untaxedColumns() []triple {
	for _, row := range slices.Backward(s.rows) {
		if named, _ := s.roleOf(strings.TrimSpace(row[0].folded)); moneyIn(row) < minPeriods || named != roleNet && named != roleGross {
			continue
		}
		var columns []triple
		for _, it := range row {
			if n := cellOver(row, it); n != nil && s.addUp(n) {
				t := *n
				t.value = 0
				columns = append(columns, triple{*n, t, *n})
			}
		}
		if wholeColumn(columns) >= 0 {
			return columns
		}
	}
	return nil
}

// closingColumns lists the columns of three rows in which net sum and tax come to the total.
func closingColumns(nets, taxes, grosses []*item) (out []triple) {
	for _, it := range taxes {
		n, t, g := cellOver(nets, it), cellOver(taxes, it), cellOver(grosses, it)
		if n != nil && t != nil && g != nil && n.value+t.value == g.value && t.value != 0 {
			n.role, t.role, g.role = roleNet, roleTax, roleGross
			out = append(out, triple{*n, *t, *g})
		}
	}
	return out
}

// cellOver is the sum of a row that ends where a cell does.
func cellOver(row []*item, it *item) *sum {
	for _, cell := range row {
		if a, ok := onlyMoney(cell); ok && cell.page == it.page && absFloat(cell.x1-it.x1) < 4 {
			return &sum{value: a.value, weight: 2, item: cell, amount: a}
		}
	}
	return nil
}

// wholeColumn is the smallest column that two others of its rate come to; -1 for none: columns of several rates have a total, too.
func wholeColumn(columns []triple) int {
	whole := -1
	for w, c := range columns {
		for i, a := range columns {
			for k := range i {
				b := columns[k]
				together := a.net.value+b.net.value == c.net.value && a.tax.value+b.tax.value == c.tax.value
				rated := ruled{netValue: c.net.value, taxValue: c.tax.value}
				if together && atRateOf(rated, a.net.value, a.tax.value) && i != w && k != w && (whole < 0 || c.net.value < columns[whole].net.value) {
					whole = w
				}
			}
		}
	}
	return whole
}

// billedColumn is the one column whose total is to be paid, alone or less what is taken off below it; else the one that goes on below; else
// the one whose total is printed again. Where that is the sum of the others, these may be parts of the bill: other rules decide.
func (s *sheet) billedColumn(columns []triple, whole int, all []sum) ruled {
	payable := func(c triple) bool {
		return slices.ContainsFunc(all, func(p sum) bool {
			below := p.role == rolePayable && p.item.row > c.gross.item.row
			return below && (p.value == c.gross.value || p.value == c.gross.value-s.takenOff(c, p.item.row))
		})
	}
	goesOn := func(c triple) bool { return s.takenOff(c, c.gross.item.row+rowsToNet) != 0 }
	again := func(c triple) bool { return s.printedAgain(c.gross) }
	for _, billed := range []func(triple) bool{payable, goesOn, again} {
		i := slices.IndexFunc(columns, billed)
		switch {
		case i < 0 || slices.ContainsFunc(columns[i+1:], billed):
			continue
		case i == whole:
			return ruled{}
		}
		return columns[i].ruled(thisPeriod, 0.95)
	}
	return columns[whole].ruled(thisPeriod, undecided)
}

// takenOff is what the figures in a column below its total come to, up to a row.
func (s *sheet) takenOff(c triple, last int) (off int64) {
	for _, row := range s.rows[c.gross.item.row+1 : min(len(s.rows), last)] {
		if f := cellOver(row, c.gross.item); f != nil {
			off += absolute(f.value)
		}
	}
	return off
}

// printedAgain reports whether the value of a sum stands in a row of few figures, too.
func (s *sheet) printedAgain(sm sum) bool {
	all, _ := s.money()
	return slices.ContainsFunc(all, func(f sum) bool { return f.value == sm.value && moneyIn(s.rows[f.item.row]) < minPeriods })
}

// ruled are the three sums as those that a rule chose.
func (t triple) ruled(rule string, confidence float64) ruled {
	return ruled{net: &t.net, tax: &t.tax, gross: &t.gross, netValue: t.net.value, taxValue: t.tax.value, grossValue: t.gross.value,
		hasNet: true, hasTax: true, rule: rule, confidence: confidence}
}
