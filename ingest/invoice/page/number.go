package page

import (
	"strings"
	"unicode"

	"tallyhouse/ingest/invoice/fields"
)

type candidate struct {
	value string
	key   string
	at    *item
	rule  string
	score float64
	row   int
}

// maxNumberPage is the last page that names the invoice's own number first: a cover letter may precede it. Numbers
// that come later in a file, in a manual say, are examples.
const maxNumberPage = 3

// number reads the invoice's number.
func (s *sheet) number() (*fields.Text, *item) {
	var all []candidate
	s.each(s.numberLabels, func(f found) {
		if f.item.page > maxNumberPage || s.otherNumberBefore.MatchString(f.item.folded[:f.start]) ||
			s.otherNumberAfter.MatchString(f.item.folded[f.end:]) {
			return
		}
		for i, p := range s.places(f) {
			plain := f.label.rule == "title before number" || f.label.rule == "plain number label"
			value, ok := s.numberAt(p.item, p.from, !plain)
			if !ok && p.item == f.item {
				return
			}
			if ok && p.item != f.item && plain && !wholeNumber(p.item, value) {
				ok = false
			}
			if !ok {
				// Beside the label stands something else: look below it.
				if i == 0 && p.near == 1 {
					continue
				}
				if i > 1 {
					break
				}
				continue
			}
			score := f.label.weight * p.near
			if f.label.rule == "plain number label" && s.besideTitle(f.item) {
				score = 0.95 * p.near
			} else if f.label.rule == "plain number label" && s.besideDateLabel(f.item) {
				score = 0.9 * p.near
			}
			if plain && p.item != f.item {
				score -= 0.03
			}
			if s.looksLikeDate(value) {
				score -= 0.05
			}
			all = append(all, candidate{value: value, key: compact(value), at: p.item, rule: f.label.rule,
				score: score, row: f.item.row})
			return
		}
	})
	if len(all) == 0 {
		return s.numberAtTitle()
	}
	s.candidatesOf(fields.Number, all)
	best := all[0]
	for _, c := range all[1:] {
		if c.score > best.score+0.001 || c.score > best.score-0.001 && c.row < best.row && c.at.page == 1 &&
			best.at.page > 1 {
			best = c
		}
	}
	// "2. Teilrechnung Nr. 2": a count of invoices is the number of none where another is printed.
	for _, c := range all {
		if countOnly(best.value) && !countOnly(c.value) && c.score >= best.score-0.06 {
			best = c
		}
	}
	for _, c := range all {
		if c.key != best.key && !countOnly(c.value) && c.score >= best.score-0.005 && !strings.Contains(best.key, c.key) &&
			c.row < best.row+3 && c.row > best.row-3 {
			best.score -= 0.2
			break
		}
	}
	return &fields.Text{Value: best.value, Evidence: s.evidence(best.at, best.rule, best.score)}, best.at
}

// besideTitle reports whether the item to the left is the document's title, as in
// "Rechnung | Nr: 7".
func (s *sheet) besideTitle(it *item) bool {
	left := s.left(it)
	return left != nil && (s.titleAlone.MatchString(strings.Trim(left.folded, " .:")) ||
		s.invoiceTitleAlone.MatchString(left.folded))
}

// countOnly reports whether a number is as short as the count of a contract's invoices.
func countOnly(value string) bool { return len(value) <= 2 && allDigits(value) }

// maxStrip is how many cells a row of labels and their values has at most.
const maxStrip = 10

// besideDateLabel reports whether a label of the day of issue stands right above,
// below or, as another heading, beside an item: the block that says what
// document this is.
func (s *sheet) besideDateLabel(it *item) bool {
	for r := max(0, it.row-1); r <= min(it.row+1, len(s.rows)-1); r++ {
		for _, other := range s.rows[r] {
			near := r != it.row && absFloat(other.x0-it.x0) < 3 ||
				r == it.row && len(s.rows[r]) <= maxStrip && !s.headsItems(it)
			if other == it || other.page != it.page || !near {
				continue
			}
			for _, l := range s.dateLabels {
				if loc := l.pattern.FindStringIndex(other.folded); loc != nil && loc[0] == 0 &&
					l.rule != "date behind the number" && !s.otherDate.MatchString(other.folded) {
					return true
				}
			}
		}
	}
	return false
}

// several reports whether the file holds more than one invoice: pages with numbers
// of their own, clearly labelled in their upper half, and sums of their own.
func (s *sheet) several(all []sum) bool {
	numbers := map[string]int{} // to the page they stand on first
	s.each(s.numberLabels, func(f found) {
		if f.label.rule != "number label" || f.item.y > s.heights[f.item.page-1]*0.6 ||
			s.otherNumberBefore.MatchString(f.item.folded[:f.start]) ||
			s.otherNumberAfter.MatchString(f.item.folded[f.end:]) {
			return
		}
		for _, p := range s.places(f) {
			if value, ok := s.numberAt(p.item, p.from, true); ok {
				if _, known := numbers[compact(value)]; !known {
					numbers[compact(value)] = f.item.page
				}
				return
			}
		}
	})
	pages := map[int]bool{}
	for _, page := range numbers {
		for _, sm := range all {
			if sm.item.page == page && sm.role == roleGross && sm.weight >= 2 && sm.value != 0 {
				pages[page] = true
			}
		}
	}
	return len(pages) > 1
}

// numberAtTitle reads a number without a label that stands alone beside or
// right above the title, once the document calls itself an invoice.
func (s *sheet) numberAtTitle() (*fields.Text, *item) {
	for _, row := range s.rows {
		for _, it := range row {
			if it.page != 1 || !s.titleAlone.MatchString(strings.Trim(it.folded, " .:")) {
				continue
			}
			for r := max(0, it.row-2); r <= min(it.row+2, len(s.rows)-1); r++ {
				for _, other := range s.rows[r] {
					value, ok := s.numberAt(other, 0, false)
					if ok && other.page == 1 && wholeNumber(other, value) && len(value) >= 4 &&
						!s.looksLikeDate(value) && strings.ContainsAny(value, "-/_") && other.x0 > s.width(1)/3 {
						return &fields.Text{Value: value, Evidence: s.evidence(other, "number beside the title",
							0.82)}, other
					}
				}
			}
		}
	}
	return nil, nil
}

func (s *sheet) width(page int) float64 {
	w := 0.0
	for _, row := range s.rows {
		for _, it := range row {
			if it.page == page && it.x1 > w {
				w = it.x1
			}
		}
	}
	return w
}

func wholeNumber(it *item, value string) bool {
	return compact(string(it.runes)) == compact(value)
}

func (v *vocabulary) looksLikeDate(value string) bool {
	d := v.dates(fold([]rune(value)))
	return len(d) == 1 && !d[0].compact && d[0].end-d[0].start >= len(value)-1
}

// numberAt reads an invoice number that starts at an offset of an item. Behind
// a clear label short and date-like numbers are taken, too.
func (v *vocabulary) numberAt(it *item, from int, clear bool) (string, bool) {
	r := it.runes
	i := from
	skip := func() {
		for i < len(r) && (unicode.IsSpace(r[i]) || strings.ContainsRune(":#.°º*№-–|", r[i])) {
			i++
		}
	}
	skip()
	for _, word := range v.numberWords {
		if strings.HasPrefix(it.folded[i:], word) && i+len(word) < len(r) &&
			strings.ContainsRune(".: °º", r[i+len(word)]) {
			i += len(word)
			skip()
			break
		}
	}
	end := i
	for end < len(r) && !unicode.IsSpace(r[end]) {
		end++
	}
	value := trimNumber(string(r[i:end]))
	if end < len(r) {
		next := end + 1
		stop := next
		for stop < len(r) && !unicode.IsSpace(r[stop]) {
			stop++
		}
		following := trimNumber(string(r[next:stop]))
		switch {
		case isPrefix(value) && hasDigit(following) && v.numberShape.MatchString(following):
			value += " " + following
		case allDigits(value) && value != "" && allDigits(strings.ReplaceAll(string(r[end:]), " ", "")) &&
			end < len(r)-1 && clear:
			value = strings.TrimSpace(string(r[i:]))
		}
	}
	if !v.numberShape.MatchString(strings.ReplaceAll(value, " ", "")) || !hasDigit(value) || len(value) > 40 {
		return "", false
	}
	if a := v.amounts([]rune(value)); len(a) == 1 && (a[0].percent || a[0].currency != "" || a[0].decimals == 2 &&
		a[0].end-a[0].start == len([]rune(value))) {
		return "", false
	}
	if !clear && (len(value) < 3 || v.looksLikeDate(value) || v.phoneShape.MatchString(value) ||
		v.months[strings.ToLower(value)] > 0) {
		return "", false
	}
	if v.looksLikeDate(value) && !strings.Contains(value, "/") {
		return "", false
	}
	if end < len(r) && !clear {
		// A house number, a quantity, a postal code: words follow.
		rest := strings.TrimSpace(it.folded[end:])
		if len(value) <= 5 && allDigits(value) && rest != "" && unicode.IsLetter(rune(rest[0])) {
			return "", false
		}
	}
	return value, true
}

func trimNumber(s string) string {
	s = strings.TrimRight(s, ".,;:)|]")
	s = strings.TrimLeft(s, "([#")
	if strings.Contains(s, "(") && !strings.Contains(s, ")") {
		s, _, _ = strings.Cut(s, "(")
	}
	return s
}

func isPrefix(s string) bool {
	n := 0
	for _, r := range s {
		if !unicode.IsUpper(r) && r != '-' && r != '.' {
			return false
		}
		n++
	}
	return n > 0 && n <= 5
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }
