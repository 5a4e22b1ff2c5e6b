package page

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"tallyhouse/ingest/invoice/fields"
)

// due reads the due date: printed, or told by terms counted from the day of issue.
func (s *sheet) due(issued *fields.Text, day time.Time) *fields.Text {
	var all candidates
	s.daysWithoutYear(day)
	s.each(s.dueLabels, func(f found) { s.labelledDue(&all, f) })
	s.dueBehindDates(&all)
	s.withoutInstalments(&all)
	if !slices.ContainsFunc(all.all, func(c *candidate) bool { return c.rule == dueLabel }) {
		s.dueInSentences(&all, day)
	}
	announced := slices.ContainsFunc(all.all, func(c *candidate) bool { return c.rule != noLabel })
	s.otherDays(&all)
	if !announced && certain(issued) {
		s.dueByTerms(&all, day)
	}
	s.withoutInstalments(&all)
	if certain(issued) {
		all.all = slices.DeleteFunc(all.all, func(c *candidate) bool { return longBefore(c, day) })
	}
	early := s.earlyDays()
	for _, c := range all.all {
		s.seenOfDue(c, day, early)
	}
	outdone(all.all, dueLabel, "pay until", inSentence, byDebit)
	best, _ := s.decide(fields.DueDate, all.all)
	if sole := s.soleDue(all.all, best, early, day); sole != nil && !certain(best) {
		return &fields.Text{Value: sole.value, Evidence: s.evidence(sole.at, sole.rule, plainly)}
	}
	return best
}

// longBefore reports whether a day lies so long before that of issue that nobody can have meant to be paid until then.
func longBefore(c *candidate, issued time.Time) bool {
	const longest = 31 // days
	due, err := time.Parse(time.DateOnly, c.value)
	return err == nil && issued.Sub(due).Hours() > longest*24
}

func (s *sheet) withoutInstalments(all *candidates) {
	all.all = slices.DeleteFunc(all.all, func(c *candidate) bool { return s.instalments(c.at) })
}

// instalments reports whether an item says of several sums until when each is to be paid, without a discount: that settles no day.
func (s *sheet) instalments(it *item) bool {
	within := len(it.dates) > 1 && moneyCount(it) > 1 && !strings.Contains(it.folded, "%") && !s.earlyPayment.MatchString(it.folded)
	return within || s.instalmentRow(it)
}

// instalmentRow reports whether the day in an item stands in one of several rows, each with a day and a sum below those of the row above,
// and the sums together are another one that is printed, the whole, or all the same, as a supplier plans what comes after a year's bill.
func (s *sheet) instalmentRow(it *item) bool {
	const most = 12
	const several = 3
	first, rows, whole, days := it.row, 0, int64(0), map[string]bool{}
	same := true
	sumIn := func(r int) (amount, bool) {
		for _, day := range s.rows[r] {
			right := s.right(day)
			if day.page == it.page && len(day.dates) == 1 && absFloat(day.x0-it.x0) < 3 && right != nil {
				days[day.dates[0].String()] = true
				return onlyMoney(right)
			}
		}
		return amount{}, false
	}
	for ; first > 0 && it.row-first < most; first-- {
		if _, ok := sumIn(first - 1); !ok {
			break
		}
	}
	days = map[string]bool{}
	for ; first+rows < len(s.rows) && rows < most; rows++ {
		a, ok := sumIn(first + rows)
		if !ok {
			break
		}
		whole += a.value
		same = same && a.value*int64(rows+1) == whole
	}
	planned := same && rows >= several && len(days) == rows
	return planned || rows > 1 && len(days) > 1 && s.printsElsewhere(whole, first, first+rows)
}

// printsElsewhere reports whether a sum is printed outside of some rows.
func (s *sheet) printsElsewhere(value int64, from, to int) bool {
	for r, row := range s.rows {
		for _, it := range row {
			if (r < from || r >= to) && slices.ContainsFunc(it.amounts, func(a amount) bool { return a.money() && a.value == value }) {
				return true
			}
		}
	}
	return false
}

// plainly is how sure a day is that the page asks for in plain words and no other beside it.
const plainly = 0.85

// soleDue is the one day until which a sentence asks to pay, or that a label of payment announces where it is the likeliest, too, or stands
// beside a discount; nil where another day is announced, too, that isn't a discount's, or where its sentence speaks of something else.
func (s *sheet) soleDue(all []*candidate, likeliest *fields.Text, early map[string]bool, issued time.Time) (sole *candidate) {
	const longest = 120 // days
	for _, c := range all {
		if c.rule == noLabel || early[c.key] {
			continue
		}
		doubts := []string{"words of another date", "a condition", "a discount before it", "a period"}
		if said, _ := s.saidBefore(c.at, s.printed(c)); c.rule == inSentence && s.paying.MatchString(said) {
			doubts = doubts[1:] // such words are those of another day than that of issue, too
		}
		labelled := c.rule == dueLabel && (len(early) > 0 || likeliest != nil && c.value == likeliest.Value)
		asked := labelled || c.rule == "pay until" || c.rule == inSentence
		doubtful := slices.ContainsFunc(doubts, func(d string) bool { return slices.Contains(c.features, d) })
		due, err := time.Parse(time.DateOnly, c.value)
		days := due.Sub(issued).Hours() / 24
		if !asked || doubtful || err != nil || days < 0 || days > longest || sole != nil && sole.key != c.key {
			return nil
		}
		sole = c
	}
	return sole
}

// labelledDue finds the day that a label of payment announces.
func (s *sheet) labelledDue(all *candidates, f found) {
	before := f.item.folded[:f.start]
	if s.permit.MatchString(f.item.folded) {
		return // "Fecha Vto. CAE: 11/05/2026"
	}
	if s.firstTime.MatchString(before) || s.ofNext(before) {
		return // of what comes later: "neuer Abschlag, erstmals fällig am", "nächste Vorschreibung: fällig am"
	}
	doubt := ""
	switch {
	case f.label.rule == "pay until" && s.period.MatchString(before):
		doubt = "period"
	case s.earlyPayment.MatchString(s.sentence(before)) || s.conditional.MatchString(f.item.folded):
		doubt = "discount"
	case strings.Contains(before, "amount ") && strings.Trim(f.item.folded[f.end:], " :") == "":
		doubt = "an amount"
	}
	places := s.places(f)
	if day := s.inBox(f.item); day != nil {
		places = append(places, place{item: day, where: "right"})
	}
	for _, p := range places {
		d, ok := s.dateAt(p.item, p.from)
		if !ok && p.item != f.item {
			// A column headed "due" may hold words before the date.
			if r := s.columnDate(f.item, p.item); r != nil {
				d, ok = r.dates[0], true
				p.item = r
			}
		}
		if !ok {
			continue
		}
		if whole := s.wholeBelow(p.item); whole != nil {
			p.item, d = whole, whole.dates[0]
		}
		if later, found := s.afterEarly(p.item, d); found && s.untilEarly(p.item, d) {
			d = later
		}
		if doubt == "" && s.untilEarly(p.item, d) {
			doubt = "discount"
		}
		if f.label.several && s.moreDays(p.item) {
			return // instalments settle no day
		}
		c := s.dateCandidate(all, d, p.item)
		if c == nil {
			return
		}
		if doubt == "" {
			c.label(f.label.rule)
		}
		discounted := p.item != f.item && s.earlyRow(p.item)
		c.seen(doubt == "", f.label.rule+" "+p.where)
		c.seen(doubt == "", f.label.rule)
		c.seen(doubt != "", f.label.rule+", "+doubt)
		c.seen(discounted && s.fullBeside(p.item, d), "in a row of discounts, for the whole sum")
		c.seen(discounted && !s.fullBeside(p.item, d), "in a row of discounts")
		if p.where == "right" || p.where == "behind" {
			return
		}
	}
}

// ofNext reports whether the last sentence of a text begins with the bill or instalment that comes next.
func (v *vocabulary) ofNext(before string) bool {
	return v.nextBill.MatchString(before[v.sentenceBegin(before):])
}

// inBox is the day alone in its cell below a label and right of it, before the next label of its row: forms for transfers print a
// label small in the corner of the box that it is of.
func (s *sheet) inBox(label *item) *item {
	const leading = 1.6
	right := s.right(label)
	if right == nil || label.row+1 == len(s.rows) || len(label.dates) > 0 {
		return nil
	}
	for _, it := range s.rows[label.row+1] {
		between := it.x0 > label.x1 && it.x1 < right.x0 && it.page == label.page && it.y-label.y < leading*it.size
		if between && len(it.dates) == 1 && strings.Trim(it.folded[:it.dates[0].start]+it.folded[it.dates[0].end:], " .") == "" {
			return it
		}
	}
	return nil
}

// wholeBelow is the day in the row for the whole sum of a table of terms, below that of a discount: "9.11. | 3 % | 3.936,65" and "29.11. |
// netto | 4.058,40".
func (s *sheet) wholeBelow(early *item) *item {
	const rows = 3
	discounted := func(row []*item) bool {
		return slices.ContainsFunc(row, func(it *item) bool {
			return slices.ContainsFunc(it.amounts, func(a amount) bool { return a.percent && a.value > 0 })
		})
	}
	if len(early.dates) != 1 || len(s.rows[early.row]) < 2 || !discounted(s.rows[early.row]) {
		return nil
	}
	for r := early.row + 1; r < len(s.rows) && r <= early.row+rows; r++ {
		for _, below := range s.rows[r] {
			if below.page == early.page && absFloat(below.x0-early.x0) < 3 && len(below.dates) == 1 && !discounted(s.rows[r]) &&
				moneyIn(s.rows[r]) > 0 {
				return below
			}
		}
	}
	return nil
}

// moreDays reports whether other days stand right of an item's or in the next line.
func (s *sheet) moreDays(it *item) bool {
	days := len(it.dates)
	for _, other := range s.rows[it.row][it.col+1:] {
		days += len(other.dates)
	}
	if it.row+1 < len(s.rows) {
		for _, other := range s.rows[it.row+1] {
			days += len(other.dates)
		}
	}
	return days > 1
}

// seenOfDue adds what is seen of a day by which to pay beside its labels. early are the last days of discounts.
func (s *sheet) seenOfDue(c *candidate, issued time.Time, early map[string]bool) {
	it := c.at
	d := s.printed(c)
	if c.rule != byTerms {
		s.lookAround(c, d.start, d.end)
		before, left := it.folded[:d.start], s.left(it)
		c.seen(s.untilEarly(it, d), "until a discount ends")
		c.seen(early[c.key], "the last day of a discount")
		c.seen(s.earlyPayment.MatchString(s.sentence(before)) && !s.fullPayment.MatchString(lastClause(before)), "a discount before it")
		c.seen(s.conditional.MatchString(it.folded), "a condition")
		said, behind := partAround(it.folded, d.start, d.end)
		c.seen(s.otherDate.MatchString(said+it.folded[d.start:d.end]+behind), "words of another date")
		c.seen(left != nil && s.otherDate.MatchString(left.folded), "words of another date on the left")
		c.seen(s.period.MatchString(before), "a period")
		c.seen(s.untilDate.MatchString(before), "until")
		c.seen(len(it.dates) > 1, "several days in its cell")
		c.seen(s.fullPayment.MatchString(it.folded), "for the whole sum")
	}
	if day, err := time.Parse(time.DateOnly, c.value); err == nil && !issued.IsZero() {
		c.seen(true, after(int(day.Sub(issued).Hours()/24)))
	}
}

// after says how many days a day is behind that of issue.
func after(days int) string {
	switch {
	case days < 0:
		return "before the day of issue"
	case days == 0:
		return "the day of issue"
	case days <= 6:
		return "within a week"
	case days > 3*365:
		return "years later"
	case days > 100:
		return "months later"
	case slices.Contains([]int{7, 8, 10, 14, 15, 20, 21, 28, 30, 31, 45, 60, 90}, days):
		return "a usual time later"
	}
	return "later"
}

// untilEarly reports whether a date is the last day of a discount, whatever it is called: "bis 24.04. mit
// 2 % Skonto", "bis 24.04. abzüglich 3 %".
func (v *vocabulary) untilEarly(it *item, d date) bool {
	rest := v.unabbreviated(it.folded[d.end:])
	if end := clauseEnd.FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return v.discounted(rest)
}

// earlyDays are those that the document calls the last ones of a discount: a table of terms shows them in the column
// of the due dates, too.
func (s *sheet) earlyDays() map[string]bool {
	early := map[string]bool{}
	for _, row := range s.rows {
		for _, it := range row {
			for _, d := range it.dates {
				if day, ok := d.in(s.order); ok && s.untilEarly(it, d) {
					early[day.String()] = true
				}
			}
		}
	}
	return early
}

// clauseEnd is where another clause begins; "2,50 %" is not.
var clauseEnd = regexp.MustCompile(`;|,(?:\D|$)|\. `)

// lastClause is what a text says in its last clause: "ohne Skonto bis".
func lastClause(before string) string {
	if ends := clauseEnd.FindAllStringIndex(before, maxRunes); len(ends) > 0 {
		return before[ends[len(ends)-1][0]:]
	}
	return before
}

// afterEarly finds the day for the whole sum behind that of a discount.
func (v *vocabulary) afterEarly(it *item, early date) (date, bool) {
	for _, d := range it.dates {
		if d.start > early.end && v.fullPayment.MatchString(it.folded[early.end:]) && !v.untilEarly(it, d) {
			return d, true
		}
	}
	return date{}, false
}

// dueBehindDates reads "am 15.04.2026 fällig", also when the line breaks before the word.
func (s *sheet) dueBehindDates(all *candidates) {
	const rule = inSentence
	for _, row := range s.rows {
		for _, it := range row {
			for _, d := range it.dates {
				rest := it.folded[d.end:]
				if strings.Trim(rest, " ") == "" {
					rest = " " + s.textBelow(it)
				}
				if !s.fallsDue.MatchString(rest) || s.ofNext(it.folded[:d.start]) {
					continue
				}
				if c := s.dateCandidate(all, d, it); c != nil {
					if !s.untilEarly(it, d) {
						c.label(rule)
					}
					c.seen(true, rule)
					c.seen(s.untilDate.MatchString(it.folded[:d.start]), rule+", until")
					c.seen(s.earlyPayment.MatchString(rest), rule+", discount")
				}
			}
		}
	}
}

// maxStops bounds the abbreviations that are looked at in a text.
const maxStops = 64

// unabbreviated is a text without the full stops of abbreviations, which end no sentence: "abzügl. 3 % Skonto".
func (v *vocabulary) unabbreviated(folded string) string {
	out := []byte(folded)
	for _, m := range v.abbreviation.FindAllStringIndex(folded, maxStops) {
		out[m[1]-2] = ' '
	}
	return string(out)
}

// sentence is the part of a text behind its last full stop or semicolon, or behind what else may be done: "2 % Skonto oder bis".
func (v *vocabulary) sentence(s string) string {
	s = v.unabbreviated(s)
	if i := strings.LastIndexAny(s, ";,"); i >= 0 {
		s = s[i:]
	}
	if i := strings.LastIndex(s, ". "); i >= 0 {
		s = s[i:]
	}
	if at := v.or.FindAllStringIndex(s, maxSpans); len(at) > 0 {
		s = s[at[len(at)-1][1]:]
	}
	return s
}

// codedTerms begins the terms of a discount in the form that XRechnung prescribes (BR-DE-18): it counts days, and the
// date beside it is that for the whole sum.
const codedTerms = "#skonto#"

// earlyRow reports whether words of a discount stand left of an item.
func (s *sheet) earlyRow(it *item) bool {
	for _, other := range s.rows[it.row] {
		if other.col < it.col && s.earlyPayment.MatchString(other.folded) && !strings.HasPrefix(other.folded, codedTerms) {
			return true
		}
	}
	return false
}

// fullBeside reports whether terms left of an item name its date as that for the whole sum: "… bis zum 31.3. ohne
// Abzug | 31.3.".
func (s *sheet) fullBeside(it *item, day date) bool {
	for _, other := range s.rows[it.row][:it.col] {
		for _, d := range other.dates {
			if d.String() == day.String() && s.fullPayment.MatchString(other.folded[d.end:]+" "+s.textBelow(other)) &&
				!s.untilEarly(other, d) {
				return true
			}
		}
	}
	return false
}

// textBelow is what follows an item's text when its line is broken.
func (s *sheet) textBelow(it *item) string {
	if below := s.lineBelow(it); below != nil {
		return below.folded
	}
	return ""
}

// lineBelow is where a text goes on when its line is broken.
func (s *sheet) lineBelow(it *item) *item {
	for _, below := range s.below(it, 1.6) {
		if absFloat(below.x0-it.x0) < 3 {
			return below
		}
	}
	return nil
}

func (s *sheet) columnDate(header, under *item) *item {
	for _, other := range s.rows[under.row] {
		if other != header && aligned(header, other) && len(other.dates) == 1 && other.dates[0].start == 0 &&
			other.row > header.row {
			return other
		}
	}
	if right := s.right(under); right != nil && absFloat(under.x0-header.x0) < 4 && !hasDigit(under.folded) && len(right.dates) == 1 &&
		right.dates[0].start == 0 {
		return right
	}
	return nil
}

// dueLabel is the rule of days with a label of their own.
const dueLabel = "due label"
