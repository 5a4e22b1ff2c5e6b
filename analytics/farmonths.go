package analytics

import (
	"cmp"
	"slices"

	"tallyhouse/schemas/calendar"
)

// Dates may lie centuries apart, and a plan may reach over all of them: each line would need thousands of months. What
// is listed is then found first, one top line after the other, and only those months are kept.

// clip takes from each range what lies outside of the months from first to last, and returns how many months are left.
func clip(ranges []monthRange, first, last calendar.Month) (total int) {
	for i := range ranges {
		r := &ranges[i]
		r.from, r.to = max(r.from, first), min(r.to, last)
		if r.from > r.to {
			*r = monthRange{}
		}
		total += r.months()
	}
	return total
}

// payment is what was paid on a line in a month.
type payment struct {
	line  int
	month calendar.Month
	net   Int128
}

// ownPayments returns what was paid on each line itself, in the order of lines and months.
func (c *cashflow) ownPayments() []payment {
	var all []payment
	c.paid(func(at int, sum *CashSum) {
		for _, p := range sum.Paid {
			all = append(all, payment{at, p.Month, p.Net})
		}
	})
	slices.SortFunc(all, func(a, b payment) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.month, b.month)) })
	summed := all[:0]
	for _, p := range all {
		if last := len(summed) - 1; last >= 0 && summed[last].line == p.line && summed[last].month == p.month {
			summed[last].net = summed[last].net.Add(p.net)
			continue
		}
		summed = append(summed, p)
	}
	return summed
}

// listFar decides which months are listed without months of every line. A month has a payment on any line where the
// lowest line with one has it, whatever cancels out above.
func (c *cashflow) listFar() {
	first, last := c.asOf, c.asOf
	payments, s := c.ownPayments(), newSpreader(c.phases)
	var top []Int128 // the forecast of a top line, from asOf on
	book := func(from calendar.Month, values []Int128) {
		at := int(from - c.asOf)
		if more := at + len(values) - len(top); more > 0 {
			top = append(top, make([]Int128, more)...)
		}
		for k, value := range values {
			top[at+k] = top[at+k].Add(value)
		}
	}
	for i := range c.nodes {
		if c.nodes[i].parent < 0 {
			top = top[:0]
		}
		c.forecast(i, s, book)
		for ; len(payments) > 0 && payments[0].line == i; payments = payments[1:] {
			switch p := payments[0]; {
			case p.month < c.asOf && !p.net.IsZero():
				first = min(first, p.month)
			case p.month >= c.asOf && c.phases[i].kind != phaseCustom:
				book(p.month, s.whole(p.net))
			}
		}
		if i+1 == len(c.nodes) || c.nodes[i+1].parent < 0 {
			for k := len(top) - 1; k >= 0 && c.asOf+calendar.Month(k) > last; k-- {
				if !top[k].IsZero() {
					last = c.asOf + calendar.Month(k)
				}
			}
		}
	}
	c.list(first, last)
}
