package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tallyhouse/ingest/invoice/fields"
)

// maxNumberPage is the last page that names the invoice's own number first: a cover letter may precede it. Numbers
// that come later in a file, in a manual say, are examples.
const maxNumberPage = 3

// Rules of labels, from the plainest on.
const (
	numberLabel = "number label"
	titleNumber = "number label within title"
	titleBefore = "title before number"
	plainNumber = "plain number label"
)

// number reads the invoice's number.
func (s *sheet) number(buyers map[*item]bool) (*fields.Text, *item) {
	var all candidates
	s.labelledNumbers(&all)
	s.numbersBeforeLabels(&all)
	s.unlabelledNumbers(&all)
	for _, c := range all.all {
		s.seenOfNumber(c, buyers)
	}
	outdone(all.all, numberLabel, titleNumber)
	s.besideDated(all.all)
	own, others := s.elses(all.all)
	best, c := s.decide(fields.Number, own)
	for _, other := range others {
		s.couldBe(fields.Number, other.value, other.at, other.rule, 0)
	}
	if c == nil {
		return nil, nil
	}
	if whole := wholeNumberOf(c, own); whole != c {
		c = whole
		best.Value, best.Evidence = c.value, s.evidence(c.at, c.rule, best.Confidence)
	}
	house := c.rule == noLabel && slices.Contains(c.features, inAddress)
	endless := strings.HasSuffix(c.value, "-") // its end stands where nobody looked
	if s.bare(c) || house || endless || c.rule == titleBefore && s.credits() && calledAnothers(c.key, others) {
		best.Confidence = min(best.Confidence, undecided)
	}
	if labelled := labelledBeside(c, own); labelled != nil {
		return &fields.Text{Value: labelled.value, Evidence: s.evidence(labelled.at, labelled.rule, plainly)}, labelled.at
	}
	heads := s.overDay(own)
	if heads == nil {
		heads = s.byTitleAlone(own)
	}
	if heads == nil {
		heads = s.askedFor(own)
	}
	if heads != nil && !certain(best) {
		return &fields.Text{Value: heads.value, Evidence: s.evidence(heads.at, heads.rule, plainly)}, heads.at
	}
	return best, c.at
}

// calledAnothers reports whether a number is among those that a label says are another document's: "zu Rechnung MR-2025-04471".
func calledAnothers(key string, others []*candidate) bool {
	return slices.ContainsFunc(others, func(o *candidate) bool {
		return o.key == key && slices.ContainsFunc(o.features, func(f string) bool { return strings.HasPrefix(f, othersLabel) })
	})
}

// overDay is the one number that no label announces and that heads what the first page says of the document: large, alone, of letters and
// figures, right above the label of the day of issue. Nil where a label announces another.
func (s *sheet) overDay(all []*candidate) (heads *candidate) {
	for _, c := range all {
		if c.rule != noLabel {
			return nil
		}
		lettered := strings.ContainsFunc(c.value, unicode.IsLetter) && len(c.key) >= fewestCharacters
		if c.at.page != 1 || c.from != 0 || c.at.size < larger*s.median || !lettered || !s.besideDateLabel(c.at) && !s.dayBelow(c.at) {
			continue
		}
		if heads != nil && heads.key != c.key {
			return nil
		}
		heads = c
	}
	return heads
}

// dayBelow reports whether a label of the day of issue begins an item right below another, which has one edge with it.
func (s *sheet) dayBelow(it *item) bool {
	const rows, leading = 6, 4.5 // what stands beside them has rows, too
	for r := it.row + 1; r < len(s.rows) && r <= it.row+rows; r++ {
		for _, below := range s.rows[r] {
			edge := absFloat(below.x0-it.x0) < 3 || absFloat(below.x1-it.x1) < 3
			if below.page == it.page && edge && below.y-it.y < leading*it.size && s.dateLabelIn(below, 0) && !s.otherDate.MatchString(below.folded) {
				return true
			}
		}
	}
	return false
}

// labelledNumbers finds what labels of an invoice's number announce.
func (s *sheet) labelledNumbers(all *candidates) {
	s.each(s.numberLabels, func(f found) {
		if f.item.page > maxNumberPage || ourReference.MatchString(f.item.folded[f.start:]) || f.initial() || s.brokenBefore(f) {
			return
		}
		if subject := len(f.item.folded) - len(s.behindSubject(f.item.folded)); subject > 0 && f.start == subject {
			f.label.rule = titleNumber // the subject of a letter is its title
		}
		f = s.throughNumberWord(f)
		for _, p := range s.numberPlaces(f) {
			if p.item != f.item && secondOfTwo(f) {
				p.from += behindFirst(p.item.folded[p.from:])
			}
			value, from, ok := s.numberAt(p.item, p.from, s.clearly(f, p))
			if !ok {
				continue
			}
			if s.ofTwoThings(f) {
				value, _, _ = strings.Cut(value, " / ")
			}
			value += s.brokenOff(p.item, value)
			c := all.at(p.item, from, value, Key(value))
			if c == nil {
				return
			}
			s.seenOfLabel(c, f, p)
			if p.item == f.item {
				return
			}
		}
	})
}

// throughNumberWord is a title with the word for a number behind it, where that ends its text: so it is a label, whatever the title.
func (s *sheet) throughNumberWord(f found) found {
	word := strings.Trim(f.item.folded[f.end:], " .:#")
	said := slices.Contains(s.numberWords, word) || slices.Contains(s.numberWords, word+".")
	if f.label.rule == titleBefore && said {
		f.end, f.label.rule = len(f.item.folded), titleNumber
	}
	return f
}

// numbersBeforeLabels finds the numbers that stand before their label in a sentence, as in Hungarian: "az A-7 számú számla".
func (s *sheet) numbersBeforeLabels(all *candidates) {
	for _, row := range s.rows {
		for _, it := range row {
			m := s.numberBehind.FindStringIndex(it.folded)
			if m == nil || it.page > maxNumberPage {
				continue
			}
			value, from, ok := s.numberAt(it, m[0], true)
			if !ok {
				continue
			}
			if c := all.at(it, from, value, Key(value)); c != nil && !s.otherNumberBefore.MatchString(it.folded[:m[0]]) {
				c.rule = numberLabel
				c.seen(true, numberLabel)
				c.seen(true, "number label behind")
			}
		}
	}
}

// ourReference is how a reference is called that looks like a number's label: "N/Ref."
var ourReference = regexp.MustCompile(`^\W*n ?/ ?ref`)

// plainly reports whether a label announces numbers of whatever kind.
func (f found) plainly() bool {
	return f.label.rule == titleBefore || f.label.rule == plainNumber
}

// clearly reports whether a label says so plainly that a number stands in a place that short ones and those like days are taken, too.
func (s *sheet) clearly(f found, p place) bool {
	switch {
	case !f.plainly() || p.item != f.item && figuresInGroups(p.item.folded):
		return true
	case f.label.rule == plainNumber && p.item == f.item && figuresInGroups(p.item.folded[p.from:]),
		f.label.rule == titleBefore && p.item == f.item && figuresInGroups(s.behindNumberWord(p.item.folded[p.from:])),
		f.label.rule == titleBefore && p.item == f.item && s.phoneShape.MatchString(strings.Trim(p.item.folded[p.from:], " .:#")),
		f.label.rule == titleBefore && p.item == f.item && yearAndCount.MatchString(strings.Trim(p.item.folded[p.from:], " ")):
		return true
	case f.label.rule != plainNumber || p.where == "beside" || strings.HasPrefix(p.where, "below"):
		return false
	}
	return p.item == f.item && s.dateLabelIn(f.item, f.end) || p.item != f.item && s.besideDateLabel(f.item) || s.byTitle(f.item)
}

// behindNumberWord is what stands behind the word for a number that a text begins with: "n. 5126 0088 4471"; "" without one.
func (v *vocabulary) behindNumberWord(folded string) string {
	word, rest, _ := strings.Cut(strings.TrimLeft(folded, " "), " ")
	if !slices.Contains(v.numberWords, strings.Trim(word, ".:")) {
		return ""
	}
	return rest
}

// yearAndCount is a number that looks like a month: "Rechnung 2026-07" is the seventh of its year.
var yearAndCount = regexp.MustCompile(`^20\d\d-\d{2,3}$`)

// dateLabelIn reports whether a label of the day of issue stands behind an offset of an item.
func (s *sheet) dateLabelIn(it *item, from int) bool {
	return slices.ContainsFunc(s.dateLabels, func(l label) bool {
		return l.rule != behindTheNumber && l.pattern.MatchString(it.folded[from:])
	})
}

// seenOfLabel adds what is seen of a label to the number that it announces.
func (s *sheet) seenOfLabel(c *candidate, f found, p place) {
	where := f.label.rule + " " + p.where
	before := s.behindSubject(f.item.folded[:f.start])
	_, tail, _ := strings.Cut(f.item.folded[f.start:f.end], " ")
	about := f.label.rule == titleNumber && s.numberedThing.MatchString(tail)                                  // "Rechnung zu Auftrag Nr."
	corrected := before != f.item.folded[:f.start] && s.credits() && !s.creditTitle.MatchString(f.item.folded) // "Betreft factuur"
	refers := s.referring.MatchString(f.item.folded[f.start:f.end]) && s.credits()                             // "Réf. facture"
	other := about || corrected || refers || s.otherNumberBefore.MatchString(before) && (s.credits() || !s.reference.MatchString(before)) ||
		s.otherNumberBehind.MatchString(f.item.folded[f.end:])
	not := s.otherNumberAfter.MatchString(f.item.folded[f.end:]) && !saidTwice(f.item.folded[f.end:]) // "Nr./Datum"
	if !other && !not {
		c.rule = f.label.rule
	}
	c.seen(!other && !not, where)
	c.seen(!other && !not, f.label.rule)
	c.seen(other, othersLabel+p.where)
	c.seen(not, "label of something else "+p.where)
	c.seen(f.start == 0, where+", at its beginning")
	c.seen(f.plainly() && s.besideTitle(f.item), "beside the title, "+where)
	c.seen(f.plainly() && s.besideDateLabel(f.item), "beside a label of the day, "+where)
	c.seen(p.item != f.item && !wholeNumber(p.item, c.value), "part of a cell, "+where)
}

// credits reports whether the first page is that of a credit note, which refers to an invoice.
func (s *sheet) credits() bool {
	return slices.ContainsFunc(s.rows, func(row []*item) bool {
		return row[0].page == 1 && slices.ContainsFunc(row, func(it *item) bool { return s.creditTitle.MatchString(it.folded) })
	})
}

// othersLabel begins what is seen of a number that the label of another document's announces.
const othersLabel = "another's label "

// besideDated marks the numbers beside one that stands between the document's title and its day, as in "Invoice no. 7 of 1 May": what comes
// with a label alone further down is a party's own number. Credit notes name the invoice that they correct like that, so they have no say.
func (s *sheet) besideDated(all []*candidate) {
	dated := func(c *candidate) bool {
		return s.invoiceTitle.MatchString(c.at.folded) && c.rule != noLabel && slices.Contains(c.features, dayBehind)
	}
	first := slices.IndexFunc(all, dated)
	for i, c := range all {
		c.seen(first >= 0 && i != first && !dated(c), "another stands between title and day")
		c.seen(i == first, "the first between title and day")
	}
}

const (
	dayBehind   = "a day behind it" // is seen of a number that a day follows in the same text,
	inAddress   = "in an address"
	printedOnce = "printed 0 times more"
)

// unlabelledNumbers finds what is shaped like a number of an invoice, but no part of one that a label announces.
func (s *sheet) unlabelledNumbers(all *candidates) {
	announced := slices.Clone(all.all)
	for _, row := range s.rows {
		for _, it := range row {
			if it.page > maxNumberPage || len(it.runes) > maxLabelled {
				continue
			}
			for from := range it.folded {
				begins := it.folded[from] != ' ' && (from == 0 || it.folded[from-1] == ' ')
				if !begins {
					continue
				}
				value, at, ok := s.numberAt(it, from, false)
				value += s.brokenOff(it, value)
				part := func(c *candidate) bool { return c.at == it && c.from < at && at < c.from+len([]rune(c.value)) }
				if ok && at == from && !slices.ContainsFunc(announced, part) && !s.countsSomething(it, at, at+len([]rune(value))) {
					all.at(it, at, value, Key(value))
				}
			}
		}
	}
}

// countsSomething reports whether figures between two offsets of an item are part of a day or the year of a month, or an amount in
// thousands: one of several in its row, or before a word, as a quantity stands before its unit.
func (s *sheet) countsSomething(it *item, from, to int) bool {
	if s.months[lastWord(it.folded[:from])] > 0 {
		return true
	}
	if slices.ContainsFunc(it.dates, func(d date) bool { return d.start <= from && to <= d.end && to-from < d.end-d.start }) {
		return true
	}
	grouped := func(a amount) bool { return a.grouped && !a.spaced }
	if !slices.ContainsFunc(it.amounts, func(a amount) bool { return grouped(a) && a.start <= from && to <= a.end }) {
		return false
	}
	behind := strings.TrimLeft(it.folded[min(to, len(it.folded)):], " ")
	others := 0
	for _, other := range s.rows[it.row] {
		if slices.ContainsFunc(other.amounts, grouped) {
			others++
		}
	}
	return others > 1 || behind != "" && behind[0] >= 'a' && behind[0] <= 'z'
}

// figuresInGroups reports whether a text is nothing but figures in groups, as in "94 418 820 11".
func figuresInGroups(folded string) bool {
	figures := strings.ReplaceAll(folded, " ", "")
	return strings.Contains(strings.TrimSpace(folded), " ") && figures != "" && allDigits(figures)
}

// maxLabelled is how long a text with a number or a day is that stands there as such; longer ones are sentences.
const maxLabelled = 90

// seenOfNumber adds what is seen of a number beside its labels.
func (s *sheet) seenOfNumber(c *candidate, buyers map[*item]bool) {
	it := c.at
	start := max(0, strings.Index(it.text(), c.value))
	start = min(len([]rune(it.text()[:start])), len(it.folded))
	end := min(start+len([]rune(c.value)), len(it.folded))
	s.lookAround(c, start, end)
	before, behind := partAround(it.folded, start, end)
	part := before + it.folded[start:end] + behind
	c.seen(true, "shape "+shapeOf(c.value))
	c.seen(true, fmt.Sprintf("%d characters", min(len(c.value), 12)))
	c.seen(countOnly(c.value), "a count")
	c.seen(s.looksLikeDate(c.value), "like a date")
	c.seen(yearIn.MatchString(c.value), "a year in it")
	c.seen(s.phoneShape.MatchString(c.value), "like a telephone number")
	c.seen(buyers[it], "the buyer's")
	c.seen(s.vatLabel.MatchString(part) || len(s.vatIDs(part)) > 0, "in a line with a tax id")
	c.seen(strings.Contains(part, "iban"), "in a line with an iban")
	c.seen(c.rule == noLabel && (s.postalCity.MatchString(part) || s.street.MatchString(part)), inAddress)
	left := s.left(it)
	c.seen(left != nil && s.titleAlone.MatchString(strings.Trim(left.folded, " .:")), "beside the title")
	again, dates := 0, false
	for r := max(0, it.row-2); r <= min(it.row+2, len(s.rows)-1); r++ {
		for _, other := range s.rows[r] {
			dates = dates || len(other.dates) > 0
		}
	}
	c.seen(dates, "a date near")
	c.seen(s.dayBehind(it, end), dayBehind)
	for _, row := range s.rows {
		for _, other := range row {
			if other != it && len(c.key) > 3 && strings.Contains(other.key, c.key) {
				again++
			}
		}
	}
	c.seen(true, fmt.Sprintf("printed %d times more", min(again, 2)))
}

var yearIn = regexp.MustCompile(`(?:^|\D)20[12]\d`)

// shapeOf writes a number with a letter for its letters and a figure for its figures: "A-9/9".
func shapeOf(value string) string {
	var out []rune
	for _, r := range value {
		switch {
		case unicode.IsDigit(r):
			r = '9'
		case unicode.IsLetter(r):
			r = 'A'
		}
		if len(out) == 0 || out[len(out)-1] != r {
			out = append(out, r)
		}
	}
	return string(out[:min(len(out), 8)])
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
					l.rule != behindTheNumber && !s.otherDate.MatchString(other.folded) {
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
		if f.label.rule != numberLabel || f.item.y > s.heights[f.item.page-1]*0.6 ||
			s.otherNumberBefore.MatchString(f.item.folded[:f.start]) ||
			s.otherNumberAfter.MatchString(f.item.folded[f.end:]) {
			return
		}
		for _, p := range s.places(f) {
			if value, _, ok := s.numberAt(p.item, p.from, true); ok {
				if _, known := numbers[Key(value)]; !known {
					numbers[Key(value)] = f.item.page
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

func wholeNumber(it *item, value string) bool {
	return it.key == Key(value)
}

func (v *vocabulary) looksLikeDate(value string) bool {
	d := v.dates(fold([]rune(value)))
	return len(d) == 1 && !d[0].compact && d[0].end-d[0].start >= len(value)-1
}

// numberAt reads an invoice number that starts at an offset of an item. Behind
// a clear label short and date-like numbers are taken, too. at is where it begins.
func (v *vocabulary) numberAt(it *item, from int, clear bool) (value string, at int, ok bool) {
	r := it.runes
	i := from
	skip := func() {
		for i < len(r) && (unicode.IsSpace(r[i]) || strings.ContainsRune(":#.°º*№-–|", r[i]) || r[i] == '/' && i+1 < len(r) && r[i+1] == ' ') {
			i++
		}
	}
	skip()
	if i < len(r) && (r[i] == '·' || r[i] == '•') && len(strings.Fields(string(r[i+1:]))) <= 2 { // "Abschlagsrechnung · AR 2419/03"
		i++
		skip()
	}
	for _, word := range v.numberWords {
		if strings.HasPrefix(it.folded[i:], word) && i+len(word) < len(r) &&
			strings.ContainsRune(".: °º", r[i+len(word)]) {
			i += len(word)
			skip()
			break
		}
	}
	end := wordEnd(r, i)
	if day := dayBehindStroke.FindStringIndex(it.folded[i:end]); day != nil && v.looksLikeDate(string(r[i+day[0]+1:end])) {
		end = i + day[0]
	}
	value = trimNumber(string(r[i:end]))
	if more := v.joined(r, i, end, clear); more > end {
		value = v.ofSeries(trimNumber(string(r[i:more])))
	}
	if !v.numberShape.MatchString(joints.Replace(value)) || !hasDigit(value) || len(value) > longestNumber {
		return "", 0, false
	}
	if a := v.amounts([]rune(value)); len(a) == 1 && (a[0].percent || a[0].currency != "") || v.withCents(value) {
		return "", 0, false
	}
	called := v.phoneShape.MatchString(value) && !v.dayFollows(strings.TrimSpace(it.folded[min(i+len([]rune(value)), len(r)):]))
	if !clear && (len(value) < 3 || v.looksLikeDate(value) || called || v.months[foldText(value)] > 0) {
		return "", 0, false
	}
	if v.looksLikeDate(value) && !strings.Contains(value, "/") && !yearAndCount.MatchString(fold([]rune(value))) {
		return "", 0, false
	}
	if end < len(r) && !clear {
		// A house number, a quantity, a postal code: words follow.
		rest := strings.TrimSpace(it.folded[end:])
		if len(value) <= 5 && allDigits(value) && rest != "" && unicode.IsLetter(rune(rest[0])) && !v.dayFollows(rest) {
			return "", 0, false
		}
	}
	return value, i, true
}

// dayBehindStroke is a day in figures behind a number and a stroke, as Bulgaria writes both in one: "0000000055/09.02.2026".
var dayBehindStroke = regexp.MustCompile(`/\d\d?\.\d\d?\.(?:\d\d){1,2}\W?$`)

// dayFollows reports whether a text begins with a day, with a short word before it at most.
func (v *vocabulary) dayFollows(folded string) bool {
	const short = 6
	days := v.dates(folded)
	return len(days) > 0 && days[0].start <= short
}

const longestNumber = 40

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
