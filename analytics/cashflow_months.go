package analytics

import (
	"slices"

	"tallyhouse/schemas/calendar"
)

// monthsBack is how many months before the current one are listed at most when nothing else is asked for.
const monthsBack = 300

// monthRange is a run of months; the zero value is none.
type monthRange struct {
	from, to calendar.Month
	some     bool
}

func (r *monthRange) add(from, to calendar.Month) {
	if !r.some {
		*r = monthRange{from, to, true}
		return
	}
	r.from, r.to = min(r.from, from), max(r.to, to)
}

func (r monthRange) months() int {
	if !r.some {
		return 0
	}
	return int(r.to-r.from) + 1
}

// ranges returns the months that the money of every line and of those below it can lie in, and how many these are.
func (c *cashflow) ranges() (ranges []monthRange, total int) {
	ranges = make([]monthRange, len(c.nodes))
	c.paid(func(at int, sum *CashSum) {
		for i := range sum.Paid {
			ranges[at].add(sum.Paid[i].Month, sum.Paid[i].Month)
		}
	})
	for i := range c.phases {
		if p := &c.phases[i]; p.kind != phaseUndated && (p.kind == phaseCustom || !c.funding[i].IsZero()) && p.from <= p.to {
			ranges[i].add(p.from, p.to)
		}
	}
	for i := len(ranges) - 1; i >= 0; i-- {
		r := ranges[i]
		total += r.months()
		if above := c.nodes[i].parent; above >= 0 && r.some {
			ranges[above].add(r.from, r.to)
		}
	}
	return ranges, total
}

// makeRoom gives every node its months.
func (c *cashflow) makeRoom(ranges []monthRange, total int) {
	all := make([]Int128, total)
	for i, r := range ranges {
		if n := r.months(); n > 0 {
			c.nodes[i].from, c.nodes[i].months = r.from, all[:n:n]
			all = all[n:]
		}
	}
}

// list decides which months are listed, given the ends of what there is (docs/calculations.md#months-listed).
func (c *cashflow) list(first, last calendar.Month) {
	if !c.in.From.Ok && !c.in.To.Ok {
		first = max(first, c.asOf-monthsBack)
		last = min(last, first+MaxCashflowMonths-1)
	}
	c.first, c.last = c.in.From.Or(first), c.in.To.Or(last)
}

// ends returns the first month with a payment on any line and the last with a forecast on a top line; the current month
// lies between them.
func (c *cashflow) ends() (first, last calendar.Month) {
	first, last = c.asOf, c.asOf
	for i := range c.nodes {
		n := &c.nodes[i]
		past := max(0, min(len(n.months), int(first-n.from)))
		if k := slices.IndexFunc(n.months[:past], func(v Int128) bool { return !v.IsZero() }); k >= 0 {
			first = n.from + calendar.Month(k)
		}
		if n.parent >= 0 {
			continue
		}
		for k := len(n.months) - 1; k >= 0 && n.from+calendar.Month(k) > last; k-- {
			if !n.months[k].IsZero() {
				last = n.from + calendar.Month(k)
			}
		}
	}
	return first, last
}
