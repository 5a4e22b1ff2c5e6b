package page

import "slices"

// maxListed bounds the rows of a table of invoices.
const maxListed = 60

// listed are the rows of tables that list other invoices, as the partial ones that a final invoice settles, with the row that adds
// them up: two rows or more under a heading that names invoices, each with a number, a day and sums. Their sums are those of other
// invoices.
func (s *sheet) listed() map[int]bool {
	out := map[int]bool{}
	for r, head := range s.rows {
		if len(head) < 3 || moneyIn(head) > 0 || !s.listHeading.MatchString(head[0].folded) {
			continue
		}
		below := s.rows[r+1 : min(r+1+maxListed, len(s.rows))]
		n := slices.IndexFunc(below, func(row []*item) bool { return row[0].page != head[0].page || !listsInvoice(row) })
		if n < 0 {
			n = len(below)
		}
		if n < 2 { // the invoice's own
			continue
		}
		if n < len(below) && addsUp(below[n], below[:n]) {
			n++
		}
		for i := range n {
			out[r+1+i] = true
		}
	}
	s.scheduled(out)
	return out
}

// scheduled adds the rows of a schedule of what is to be paid later: each begins with a day, and all have the same net sum, tax and
// total.
func (s *sheet) scheduled(out map[int]bool) {
	dated := slices.DeleteFunc(s.triples(), func(t triple) bool { return len(s.rows[t.net.item.row][0].dates) == 0 })
	for i := 1; i < len(dated); i++ {
		was, is := &dated[i-1], &dated[i]
		same := was.net.value == is.net.value && was.tax.value == is.tax.value
		if first, next := s.rows[was.net.item.row][0], s.rows[is.net.item.row][0]; same && first.folded != next.folded {
			out[first.row], out[next.row] = true, true
		}
	}
}

// ownRows leaves out sums of invoices that are listed, where the invoice has labelled ones of its own.
func (s *sheet) ownRows(all []sum) []sum {
	inList := func(sm sum) bool { return s.lists[sm.item.row] }
	if len(s.lists) == 0 || !slices.ContainsFunc(all, func(sm sum) bool { return !inList(sm) }) {
		return all
	}
	return slices.DeleteFunc(all, inList)
}

// listsInvoice reports whether a row begins with a number and goes on with a day and sums.
func listsInvoice(row []*item) bool {
	dated := slices.ContainsFunc(row, func(it *item) bool { return len(it.dates) > 0 })
	return dated && moneyIn(row) > 0 && hasDigit(row[0].folded) && len(row[0].amounts) == 0
}

// addsUp reports whether the first sum of a row is that of the first sums of the rows above it: cells behind it may run together.
func addsUp(total []*item, rows [][]*item) bool {
	left := firstMoney(total)
	if left == 0 {
		return false
	}
	for _, row := range rows {
		left -= firstMoney(row)
	}
	return left == 0
}

// firstMoney is the first sum of a row, 0 where there is none.
func firstMoney(row []*item) int64 {
	for _, it := range row {
		for _, a := range moneyOf(it) {
			if !insideDate(it, a) {
				return a.value
			}
		}
	}
	return 0
}
