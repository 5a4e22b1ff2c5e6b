package page

import (
	"regexp"
	"slices"
	"strings"
)

// sum is an amount of money with the role its label gives it.
type sum struct {
	value  int64 // 1/10,000
	role   role
	weight int
	item   *item
	// rate: the label names a percentage: one of several taxes.
	rate bool
	// column: the label heads the amount's column.
	column bool
	amount amount
}

// sums collects the labelled amounts.
func (s *sheet) sums() []sum {
	var out []sum
	for _, row := range s.rows {
		for _, it := range row {
			for i, a := range it.amounts {
				// "3.800" is money, too; "044 241 601" is a number of something.
				if !a.money() && !(a.grouped && !a.spaced || a.value == 0) || a.percent || a.unit || a.foreign {
					continue
				}
				if insideDate(it, a) || exchangeRate.MatchString(it.folded[:a.start]) {
					continue
				}
				last := i == len(it.amounts)-1
				beside, inRow := s.rowSum(it, a, last)
				if inRow {
					out = append(out, beside)
				}
				under, inColumn := s.columnSum(it, a)
				if inColumn {
					out = append(out, under)
				}
				if over, ok := s.captionedSum(it, a); ok && !inRow && !inColumn {
					out = append(out, over)
				}
			}
		}
	}
	s.taxesWithin(out)
	out = s.ownRows(out)
	return slices.DeleteFunc(out, func(sm sum) bool { return s.ofSection(&sm, out) })
}

// exchangeRate is what stands before how much of another currency one of a currency is: "1 EUR = 389,14 HUF".
var exchangeRate = regexp.MustCompile(`\b1(?:[.,]0+)? ?(?:\p{L}{3}|\p{Sc}) ?= ?$`)

// taxesWithin finds sums that are called those with tax, "IVA inclusa 10 %: 206.452,49", and are the tax in another total by the rate
// beside them.
func (s *sheet) taxesWithin(all []sum) {
	for i := range all {
		t := &all[i]
		if rate := s.rateBeside(t); t.role == roleGross && rate > 0 && t.value != 0 {
			for j := range all {
				if g := &all[j]; (g.role == roleGross || g.role == rolePayable) && contains(g.value, t.value, rate) {
					t.role, t.weight = roleTaxWithin, 2
					break
				}
			}
		}
	}
}

// rateBeside is the rate that the label of a sum names, in 1/10,000 of a percent; 0 for none.
func (s *sheet) rateBeside(sm *sum) (rate int64) {
	if !sm.rate {
		return 0
	}
	for _, it := range s.rows[sm.item.row][:sm.item.col+1] {
		for _, a := range it.amounts {
			if a.percent && a.value > 0 && (it != sm.item || a.end <= sm.amount.start) {
				rate = a.value
			}
		}
	}
	return rate
}

// contains reports whether a total contains a tax of a rate, but for a cent.
func contains(gross, tax, rate int64) bool {
	const whole, cent = 100 * 10_000, 100
	with := whole + rate
	return absolute(gross/with*rate+gross%with*rate/with-tax) <= cent
}

func insideDate(it *item, a amount) bool {
	for _, d := range it.dates {
		if a.start < d.end && d.start < a.end {
			return true
		}
	}
	return false
}

// rowSum reads the label before an amount: in its item, else in the nearest
// item with words to its left, else in the one that ends the row.
func (s *sheet) rowSum(it *item, a amount, last bool) (sum, bool) {
	label := ""
	from := 0
	for _, other := range it.amounts {
		if other.end <= a.start && other.money() && !other.percent {
			from = other.end
		}
	}
	own := withoutCurrency(it.folded[from:a.start])
	passed := 0
	switch {
	case hasLetters(own):
		label = own
	case from > 0 && hasLetters(it.folded[:from]):
		// "MwSt 19 % auf 100,00 = 19,00": the last amount is the label's.
		label = it.folded[:a.start]
		passed++
	default:
		row := s.rows[it.row]
		for c := it.col - 1; c >= 0 && label == ""; c-- {
			left := row[c]
			words := withoutCurrency(left.folded)
			if hasLetters(words) {
				label = left.folded
				if n := len(left.amounts); n > 0 &&
					!hasLetters(withoutCurrency(left.folded[left.amounts[n-1].end:])) && moneyCount(left) > 0 &&
					left.amounts[n-1].end >= len(left.folded)-2 && !strings.Contains(left.folded, "%") {
					// The left item is a label with its own amount.
					return sum{}, false
				}
			} else if moneyCount(left) > 0 {
				passed++
			}
		}
		if label == "" && passed == 0 && it.col == len(row)-2 && moneyCount(row[it.col+1]) == 0 {
			label = row[it.col+1].folded // "EUR | 55 920,00 | netto"
		}
		if label == "" {
			return sum{}, false
		}
	}
	label = strings.TrimSpace(label)
	r, w := s.roleOf(label)
	if r == roleNone {
		r, w = s.roleBeyond(it)
	}
	if after := it.folded[a.end:]; s.containedAfter.MatchString(after) ||
		hasLetters(own) && s.containedBefore.MatchString(own) && s.taxFollows.MatchString(after) {
		r, w = roleTaxWithin, 2
		if s.partOfTotal.MatchString(it.folded[:from]) {
			r = roleOther // the tax of labour, say
		}
	}
	if r == roleTax && a.value != 0 && s.noTax.MatchString(label) && !strings.Contains(label, "%") {
		r, w = roleOther, 2 // "duty (not subject to VAT)": what no tax applies to is no tax
	}
	if r == roleNone || len(label) > 90 {
		return sum{}, false
	}
	following := s.moneyRight(it, a)
	switch {
	case following > 0 && (r == roleTax || r == roleTaxWithin):
		// "USt. 7 %  275,00  19,25": the base comes before the tax.
		r, w = roleNet, 1
	case following > 0:
		w = 1
	case passed == 1 && r == roleNet && strings.Contains(label, "%") && s.anyTax.MatchString(label):
		r, w = roleTax, 2
	case passed > 0 && r != roleTax:
		w = min(w, 2)
	}
	return sum{value: a.value, role: r, weight: w, item: it, rate: strings.Contains(label, "%"), amount: a}, true
}

func moneyCount(it *item) int {
	n := 0
	for _, a := range it.amounts {
		if a.money() && !insideDate(it, a) {
			n++
		}
	}
	return n
}

// moneyRight counts the amounts that follow in the row without words between.
func (s *sheet) moneyRight(it *item, a amount) int {
	n := 0
	for _, other := range it.amounts {
		if other.start >= a.end && other.money() {
			n++
		}
	}
	row := s.rows[it.row]
	for c := it.col + 1; c < len(row); c++ {
		if hasLetters(withoutCurrency(row[c].folded)) {
			break
		}
		n += moneyCount(row[c])
	}
	return n
}

// currencyNames are names of currencies, with a sum right before them, too.
var currencyNames = regexp.MustCompile(`(^|[^a-z])(?:eur|euros?|usd|gbp|chf|pln|czk|huf|sek|nok|dkk|inr|fr|sfr|rs|zl|kr|kc|ft|` +
	`lei|bgn|lv|evro|eyrv)\b\.?|[$~]`)

// withoutCurrency is a folded text without the names of currencies; rare codes
// are words, too, unless they stand alone, and so is the letter that fonts of signs draw a euro for.
func withoutCurrency(folded string) string {
	if alone := strings.Trim(folded, " .:()"); alone == "e" || isCurrency(strings.ToUpper(alone)) {
		return ""
	}
	return currencyNames.ReplaceAllString(folded, "$1 ")
}

func hasLetters(s string) bool {
	for i := range len(s) {
		if s[i] >= 'a' && s[i] <= 'z' {
			return true
		}
	}
	return false
}

// baseOfRate ends before what a rate is of: "Ritenuta d'acconto 20 % su 2.750,00".
var baseOfRate = regexp.MustCompile(`[a-z].*% [a-z]{1,5} *$`)

// maxHeaderDistance is how many rows above an amount its column's heading may
// stand.
const maxHeaderDistance = 9

// columnSum reads the heading above an amount, unless it heads the items.
func (s *sheet) columnSum(it *item, a amount) (sum, bool) {
	if own, _, labelled := strings.Cut(it.folded[:a.start], ":"); labelled && hasLetters(own) {
		return sum{}, false // "Total due: 12.00" stands below the table, in whatever column
	}
	if baseOfRate.MatchString(withoutCurrency(it.folded[:a.start])) {
		return sum{}, false
	}
	for r := it.row - 1; r >= 0 && r >= it.row-maxHeaderDistance; r-- {
		row := s.rows[r]
		if row[0].page != it.page || it.y-row[0].y > 16*it.size {
			return sum{}, false
		}
		for i, head := range row {
			// Heads stand over their column, or are as many as the row's items.
			inColumn := aligned(head, it) || len(row) == len(s.rows[it.row]) && len(row) >= 3 && i == it.col &&
				it.row-r <= 3 && lettersIn(row) == len(row) || it.row-r <= 2 && s.underHead(row, i, it)
			if !inColumn || !hasLetters(withoutCurrency(head.folded)) {
				continue
			}
			if moneyCount(head) > 0 || len(head.folded) > 45 {
				return sum{}, false
			}
			headings := 0
			for _, other := range row {
				if s.itemHeading.MatchString(other.folded) {
					headings++
				}
			}
			if headings > 0 && len(row) > 1 {
				return sum{}, false
			}
			role, w := s.roleOf(strings.TrimSpace(head.folded))
			if role == roleNone || len(row) < 2 && it.row-r > 1 {
				return sum{}, false
			}
			return sum{value: a.value, role: role, weight: min(w, 2), item: it, rate: true, column: true,
				amount: a}, true
		}
	}
	return sum{}, false
}

// captionedSum reads the label right below an amount that stands alone, set large: "665,00" over "Gesamtbetrag".
func (s *sheet) captionedSum(it *item, a amount) (sum, bool) {
	const leading = 2.2 // sizes
	if _, alone := onlyMoney(it); !alone || len(s.rows[it.row]) > 1 || it.size < larger*s.median || it.row+1 == len(s.rows) {
		return sum{}, false
	}
	row := s.rows[it.row+1]
	label := row[0]
	if len(row) > 1 || len(label.amounts) > 0 || !sameEdge(label, it) || label.y-it.y > leading*it.size {
		return sum{}, false
	}
	r, w := s.roleOf(strings.TrimSpace(label.folded))
	return sum{value: a.value, role: r, weight: min(w, 2), item: it, amount: a}, r == roleGross || r == rolePayable
}

// underHead reports whether an item stands between where a heading begins and where the next one does: figures end on the right of a
// column, headings begin on its left. They are headings where all of three or more cells have words and no figures.
func (s *sheet) underHead(heads []*item, i int, it *item) bool {
	const fewest = 3
	if len(heads) < fewest || lettersIn(heads) < len(heads) || moneyIn(heads) > 0 || it.x0 < heads[i].x0 {
		return false
	}
	return i+1 == len(heads) || it.x1 < heads[i+1].x0
}

func lettersIn(row []*item) int {
	n := 0
	for _, it := range row {
		if hasLetters(it.folded) {
			n++
		}
	}
	return n
}
