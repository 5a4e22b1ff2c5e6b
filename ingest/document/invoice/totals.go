package invoice

import (
	"regexp"
	"strings"
)

// sum is an amount of money with the role its label gives it.
type sum struct {
	value  int64 // 1/10,000
	role   role
	weight int
	item   *item
	// rate tells that the label names a percentage: one of several taxes.
	rate bool
	// column tells that the label heads the amount's column.
	column bool
	amount amount
}

// totals is what the labelled sums of a document say together.
type totals struct {
	net, tax, gross *sum
	netValue        int64
	taxValue        int64
	grossValue      int64
	hasNet, hasTax  bool
	rule            string
	confidence      float64
}

// maxSums bounds the sums of one role that are combined.
const maxSums = 60

// sums collects the labelled amounts.
func (s *sheet) sums() []sum {
	var out []sum
	for _, row := range s.rows {
		for _, it := range row {
			for i, a := range it.amounts {
				// "3.800" is money, too; "044 241 601" is a number of something.
				if !a.money() && !(a.grouped && !a.spaced || a.value == 0) || a.percent || a.unit {
					continue
				}
				if insideDate(it, a) {
					continue
				}
				last := i == len(it.amounts)-1
				if sm, ok := s.rowSum(it, a, last); ok {
					out = append(out, sm)
				}
				if sm, ok := s.columnSum(it, a); ok {
					out = append(out, sm)
				}
			}
		}
	}
	return out
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
// item with words to its left.
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
				if n := len(left.amounts); n > 0 && !hasLetters(withoutCurrency(left.folded[left.amounts[n-1].end:])) && moneyCount(left) > 0 && left.amounts[n-1].end >= len(left.folded)-2 && !strings.Contains(left.folded, "%") {
					// The left item is a label with its own amount.
					return sum{}, false
				}
			} else if moneyCount(left) > 0 {
				passed++
			}
		}
		if label == "" {
			return sum{}, false
		}
	}
	label = strings.TrimSpace(label)
	r, w := roleOf(label)
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
	case passed == 1 && r == roleNet && strings.Contains(label, "%") && anyTax.MatchString(label):
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

var currencyNames = regexp.MustCompile(`\b(?:eur|euros?|usd|gbp|chf|pln|czk|huf|sek|nok|dkk|inr|fr|sfr|rs|zl)\b\.?|[$~]`)

func withoutCurrency(folded string) string { return currencyNames.ReplaceAllString(folded, " ") }

func hasLetters(s string) bool {
	for i := range len(s) {
		if s[i] >= 'a' && s[i] <= 'z' {
			return true
		}
	}
	return false
}

// maxHeaderDistance is how many rows above an amount its column's heading may
// stand.
const maxHeaderDistance = 9

var itemHeading = compile(`\b(?:pos\.?|menge|qty|quantity|anzahl|stuck|beschreibung|description|bezeichnung|einzelpreis|unit price|p\.? ?u\.?|designation|descrizione|descripcion|cantidad|quantite|hoeveelheid|artikel|omschrijving|item|produkt|product|ilosc|concepto|articulo|hours|rate|price|prijs|prezzo|precio|ansatz|leistung)\b`)

// columnSum reads the heading above an amount, unless it heads the items.
func (s *sheet) columnSum(it *item, a amount) (sum, bool) {
	for r := it.row - 1; r >= 0 && r >= it.row-maxHeaderDistance; r-- {
		row := s.rows[r]
		if row[0].page != it.page || it.y-row[0].y > 16*it.size {
			return sum{}, false
		}
		for i, head := range row {
			// Heads stand over their column, or are as many as the row's items.
			inColumn := aligned(head, it) || len(row) == len(s.rows[it.row]) && len(row) >= 3 && i == it.col && it.row-r <= 3 && lettersIn(row) == len(row)
			if !inColumn || !hasLetters(withoutCurrency(head.folded)) {
				continue
			}
			if moneyCount(head) > 0 || len(head.folded) > 45 {
				return sum{}, false
			}
			headings := 0
			for _, other := range row {
				if itemHeading.MatchString(other.folded) {
					headings++
				}
			}
			if headings > 0 {
				return sum{}, false
			}
			role, w := roleOf(strings.TrimSpace(head.folded))
			if role == roleNone || len(row) < 2 && it.row-r > 1 {
				return sum{}, false
			}
			return sum{value: a.value, role: role, weight: min(w, 2), item: it, rate: true, column: true, amount: a}, true
		}
	}
	return sum{}, false
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

// totalRow finds a row "Total … net tax gross" that adds up under headings that
// name the tax: the foot of an item table.
func (s *sheet) totalRow() totals {
	for r := len(s.rows) - 1; r >= 0; r-- {
		row := s.rows[r]
		named, _ := roleOf(strings.TrimSpace(row[0].folded))
		if named != roleGross && named != roleNet || len(row) < 3 {
			continue
		}
		var cells []*item
		for _, it := range row[1:] {
			if len(it.amounts) == 1 && it.amounts[0].money() && !hasLetters(withoutCurrency(it.folded)) {
				cells = append(cells, it)
			}
		}
		if len(cells) < 3 {
			continue
		}
		n, t, g := cells[len(cells)-3], cells[len(cells)-2], cells[len(cells)-1]
		nv, tv, gv := n.amounts[0].value, t.amounts[0].value, g.amounts[0].value
		if nv+tv != gv || tv == 0 || absolute(tv)*5 > absolute(nv)*2 || !s.headedTax(t) {
			continue
		}
		sumOf := func(it *item, r role) *sum {
			return &sum{value: it.amounts[0].value, role: r, weight: 2, item: it, amount: it.amounts[0]}
		}
		return totals{net: sumOf(n, roleNet), tax: sumOf(t, roleTax), gross: sumOf(g, roleGross), netValue: nv, taxValue: tv, grossValue: gv, hasNet: true, hasTax: true, rule: "row of totals", confidence: 0.95}
	}
	return totals{}
}

// headedTax tells whether the nearest heading above an amount names a tax.
func (s *sheet) headedTax(it *item) bool {
	for r := it.row - 1; r >= 0 && r >= it.row-80; r-- {
		row := s.rows[r]
		for _, head := range row {
			if head.page == it.page && aligned(head, it) && hasLetters(withoutCurrency(head.folded)) && len(head.amounts) == 0 {
				return anyTax.MatchString(head.folded)
			}
		}
	}
	return false
}

// total finds the sums that agree: net + tax = gross, each with its own label.
func (s *sheet) total() (totals, []sum) {
	all := s.sums()
	pick := func(want ...role) []sum {
		var out []sum
		for _, sm := range all {
			for _, r := range want {
				if sm.role == r && len(out) < maxSums {
					out = append(out, sm)
				}
			}
		}
		return out
	}
	nets, taxes, grosses, rounding := pick(roleNet), pick(roleTax), pick(roleGross, rolePayable), pick(roleRounding)
	nets = append(nets, s.plainTotals(grosses, taxes)...)
	within := pick(roleTaxWithin)
	best, bestScore := totals{}, 0
	for gi := range grosses {
		g := &grosses[gi]
		if g.value == 0 {
			continue
		}
		for ni := range nets {
			n := &nets[ni]
			if n.item == g.item && n.amount.start == g.amount.start || (n.value < 0) != (g.value < 0) || n.value == 0 {
				continue
			}
			if g.column && n.column && g.item.row != n.item.row || g.value == n.value && g.column != n.column {
				continue // different lines of a table
			}
			for _, need := range needs(g.value, n.value, rounding) {
				if absolute(need) > absolute(n.value)*2/5 || need != 0 && (need < 0) != (g.value < 0) {
					continue
				}
				t, score := taxOf(need, taxes, g, n)
				if score == 0 {
					continue
				}
				score += g.weight*3 + n.weight*3
				if g.role == rolePayable {
					score -= 4
				}
				if need == 0 {
					score -= 4
				}
				if score > bestScore+2 || score > bestScore-3 && absolute(g.value) > absolute(best.grossValue) || score > bestScore && absolute(g.value) == absolute(best.grossValue) {
					bestScore = score
					best = totals{net: n, tax: t, gross: g, netValue: n.value, taxValue: need, grossValue: g.value, hasNet: true, hasTax: true, rule: "net + tax = gross", confidence: 0.98}
					if need != g.value-n.value {
						best.rule = "net + tax + rounding = gross"
					}
				}
			}
		}
	}
	if bestScore > 0 {
		return best, all
	}
	if t := s.totalRow(); t.gross != nil {
		return t, all
	}
	return s.partial(nets, taxes, within, grosses), all
}

// plainTotals are totals that a line of tax follows: "Total 100, VAT 20 % 20,
// Total 120". The printed rate must lead from them to the tax.
func (s *sheet) plainTotals(grosses, taxes []sum) []sum {
	var out []sum
	for _, g := range grosses {
		for _, t := range taxes {
			if g.column || t.column || !t.rate || t.item.row <= g.item.row || t.value == 0 {
				continue
			}
			for _, it := range s.rows[t.item.row] {
				for _, a := range it.amounts {
					if a.percent && absolute(g.value*a.value-t.value*1_000_000) <= 1_000_000*60 && len(out) < maxSums {
						g.role, g.weight = roleNet, 1
						out = append(out, g)
					}
				}
			}
		}
	}
	return out
}

// needs lists what the tax must be: gross less net, also with a printed rounding.
func needs(g, n int64, rounding []sum) []int64 {
	out := []int64{g - n}
	for _, r := range rounding {
		if absolute(r.value) <= 500 && r.value != 0 {
			out = append(out, g-n-r.value, g-n+r.value)
		}
	}
	return out
}

func absolute(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// taxOf finds a labelled tax, or several of different rates, that make need.
func taxOf(need int64, taxes []sum, g, n *sum) (*sum, int) {
	same := func(t *sum, other *sum) bool { return t.item == other.item && t.amount.start == other.amount.start }
	for i := range taxes {
		t := &taxes[i]
		if g.column && n.column && t.column && t.item.row != g.item.row {
			continue
		}
		// Some credit notes print the tax without its sign.
		if (t.value == need || need < 0 && t.value == -need) && !same(t, g) && !same(t, n) {
			return t, t.weight*3 + 3
		}
	}
	// Taxes of several rates, each once.
	var rates []*sum
	for i := range taxes {
		t := &taxes[i]
		if t.value == 0 || !t.rate || same(t, g) || same(t, n) {
			continue
		}
		repeated := false
		for _, other := range rates {
			repeated = repeated || same(other, t) || other.value == t.value && other.item.row == t.item.row
		}
		if !repeated && len(rates) < 12 {
			rates = append(rates, t)
		}
	}
	for mask := 3; mask < 1<<len(rates); mask++ {
		total, count := int64(0), 0
		for i, t := range rates {
			if mask>>i&1 == 1 {
				total += t.value
				count++
			}
		}
		if count >= 2 && count <= 5 && total == need {
			for i, t := range rates {
				if mask>>i&1 == 1 {
					return t, 6 + 1
				}
			}
		}
	}
	return nil, 0
}

var (
	noTax    = compile(`keine umsatzsteuer|kleinunternehmer|steuerfrei|umsatzsteuerfrei|reverse[ -]charge|steuerschuldnerschaft|autoliquidation|tva non applicable|not subject to vat|vat exempt|exempt|inversione contabile|non applicable|inversion del sujeto|art(?:icle|\.)? ?293|no vat|steuerbefreit|innergemeinschaftliche|exoner|esente|zero rated|kein ausweis`)
	anyTax   = compile(`\b` + taxWord)
	zeroRate = compile(`(?:^|[^\d.,])0(?:[.,]0+)? ?%`)
)

// partial reads what is left when the three do not agree: no tax, a tax within
// the gross sum, or the gross sum alone.
func (s *sheet) partial(nets, taxes, within, grosses []sum) totals {
	g := clearest(grosses)
	if g == nil {
		return totals{}
	}
	out := totals{gross: g, grossValue: g.value, rule: "gross label", confidence: 0.9}
	if g.role == rolePayable {
		out.confidence = 0.86
	}
	if g.weight == 1 {
		out.confidence = 0.8
	}
	for _, other := range grosses {
		if other.value != g.value && other.role == roleGross && other.weight >= g.weight && !other.column {
			out.confidence -= 0.12
			break
		}
	}
	positive := 0
	for _, t := range taxes {
		if t.value != 0 && !t.column {
			positive++
		}
	}
	var equal *sum
	for i := range nets {
		if nets[i].value == g.value {
			equal = &nets[i]
		}
	}
	var zero *sum
	for i := range taxes {
		if taxes[i].value == 0 {
			zero = &taxes[i]
		}
	}
	exempt := s.mentions(noTax)
	switch {
	case len(within) > 0:
		for i := range within {
			if t := &within[i]; t.value != 0 && absolute(t.value)*10 < absolute(g.value)*3 && (t.value < 0) == (g.value < 0) {
				out.tax, out.taxValue, out.hasTax = t, t.value, true
				out.net, out.netValue, out.hasNet = g, g.value-t.value, true
				out.rule, out.confidence = "tax within gross", 0.88
				return out
			}
		}
	case positive == 0 && (equal != nil || exempt) && (zero != nil || exempt || s.mentions(zeroRate) || equal != nil && !s.mentions(anyTax)):
		out.net, out.netValue, out.hasNet = equal, g.value, true
		if out.net == nil {
			out.net = g
		}
		if out.tax = zero; zero == nil {
			out.tax = out.net
		}
		out.hasTax = zero != nil || exempt
		out.rule = "no tax"
		if out.confidence < 0.9 && equal != nil {
			out.confidence = 0.92
		}
		return out
	}
	if rated := s.ratedNet(g, nets); rated != nil && positive == 0 {
		out.net, out.netValue, out.hasNet = rated, rated.value, true
		out.rule, out.confidence = "net and rate give gross", 0.93
		return out
	}
	if positive > 0 && len(nets) > 0 {
		// Net and tax are printed and do not add up to it: something is misread.
		out.confidence -= 0.15
	}
	return out
}

// ratedNet finds a labelled net sum from which a printed rate leads to g.
func (s *sheet) ratedNet(g *sum, nets []sum) *sum {
	for i := range nets {
		n := &nets[i]
		for _, row := range s.rows {
			for _, it := range row {
				if !anyTax.MatchString(it.folded) {
					continue
				}
				for _, other := range row {
					for _, a := range other.amounts {
						if a.percent && a.value > 0 && g.value > n.value && absolute((g.value-n.value)*1_000_000-n.value*a.value) <= 5_000_000*10 {
							return n
						}
					}
				}
			}
		}
	}
	return nil
}

func (s *sheet) mentions(re *pattern) bool {
	for _, row := range s.rows {
		for _, it := range row {
			if re.MatchString(it.folded) {
				return true
			}
		}
	}
	return false
}

// clearest picks the gross sum with the plainest label; of equals the last,
// for totals stand at the end.
func clearest(grosses []sum) *sum {
	var best *sum
	rank := func(g *sum) int {
		r := g.weight * 4
		if g.role == rolePayable {
			r -= 5
		}
		if g.column {
			r -= 2
		}
		if g.amount.currency != "" {
			r++
		}
		return r
	}
	for i := range grosses {
		g := &grosses[i]
		if g.value == 0 {
			continue
		}
		if best == nil || rank(g) >= rank(best) {
			best = g
		}
	}
	return best
}
