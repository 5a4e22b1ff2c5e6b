package demo

import "tallyhouse/schemas/calendar"

// snapshotMonths is how many months before the end are frozen, one snapshot each.
const snapshotMonths = 24

// sums is what a project's records book on its lines in the project currency. Only leaves have bookings.
type sums struct {
	from  calendar.Month // the first frozen one
	lines []months       // by node
}

// months has a line's bookings by month: all before the first frozen month at 0, all after the last one at the end.
type months [snapshotMonths + 2]booked

type booked struct{ invoiced, paid int64 }

// slot is the position of a month.
func (s *sums) slot(d calendar.Date) int {
	return int(min(max(d.Month()-s.from+1, 0), snapshotMonths+1))
}

// add books a record, and on its contract.
func (s *sums) add(r *record) {
	if !r.coded() {
		return
	}
	if r.contract != nil {
		r.contract.link(r)
	}
	if r.currency != currency {
		return
	}
	in, out := s.slot(calendar.Date(r.created/day)), -1
	if r.fate == endsPaid {
		out = s.slot(r.paidOn())
	}
	for _, sp := range r.splits[:r.lines] {
		line := &s.lines[sp.node]
		line[in].invoiced += sp.net
		if out >= 0 {
			line[out].paid += sp.net
		}
	}
}

// until is what is booked on a line up to and including the k-th frozen month; all of it for a k beyond the last one.
func (s *sums) until(node, k int) (b booked) {
	for _, m := range s.lines[node][:min(k+2, snapshotMonths+2)] {
		b.invoiced += m.invoiced
		b.paid += m.paid
	}
	return b
}

// all is what is booked on a line in the end.
func (s *sums) all(node int) booked { return s.until(node, snapshotMonths) }
