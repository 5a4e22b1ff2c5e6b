package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"tallyhouse/ingest/invoice/fields"
)

// date reads the day of issue. numberAt is the item that holds the number, whose figures are no day.
func (s *sheet) date(number *fields.Text, numberAt *item) (*fields.Text, time.Time) {
	var all candidates
	s.each(s.dateLabels, func(f found) {
		if f.label.rule != behindTheNumber || s.behindItsNumber(f, number) {
			s.labelledDate(&all, f)
		}
	})
	s.each(s.numberLabels, func(f found) {
		if f.label.rule != plainNumber || certain(number) && f.item == numberAt {
			s.behindNumber(&all, f)
		}
	})
	s.otherDays(&all)
	toPay, latest := s.daysToPay(), s.latestYear()
	all.all = slices.DeleteFunc(all.all, func(c *candidate) bool {
		d := s.printed(c)
		if c.rule == noLabel && d.figures && d.year < latest-longAgo {
			return true // "Finanzamt 4/5/10"
		}
		weak := c.rule == noLabel || c.rule == placeBefore // "contract signed on" looks like a place
		if weak && hasLetters(c.at.folded[:d.start]) && s.amongItems(c.at) {
			return true // of what is billed
		}
		if c.rule == noLabel && slices.Contains(toPay, dayAt{c.at, d.start}) {
			return true
		}
		label, left := s.announcement(c.at, d.start, d.end), s.left(c.at)
		addressee := left != nil && s.legalForm.MatchString(left.folded) // "Harbour Homes Limited" is no label
		if weak && !addressee && s.otherDate.MatchString(label) && !s.bothDates.MatchString(label) {
			return true // of arrival, say
		}
		if said := s.lineBefore(c.at, d); c.rule == noLabel && s.otherDate.MatchString(said) && !s.bothDates.MatchString(said) {
			return true // of the delivery, say
		} else if c.rule == noLabel && certain(number) && s.ofAnotherNumber(said, number.Value) {
			return true // "cancels invoice 7 of 1.2.2026"
		}
		if before, _ := s.saidBefore(c.at, d); c.rule == noLabel && s.paidThen(before, s.saidBehind(c.at, d)) == inSentence {
			return true // until when to pay
		}
		if !certain(number) && c.rule == behindTheNumber && s.numberedBefore(c.at, d) {
			return true // of an order, say
		}
		if c.rule == issueLabel && s.otherDate.MatchString(label) && slices.ContainsFunc(all.all, func(o *candidate) bool {
			own := s.printed(o)
			return o.rule == issueLabel && o.key != c.key && !s.otherDate.MatchString(s.announcement(o.at, own.start, own.end))
		}) {
			return true // the tax point beside the day of issue
		}
		if c.rule == noLabel && s.toldBelow(c, d, all.all) {
			return true // "transfer dated 19 January" below the day of the letter
		}
		if s.deducted(c) || beginsWithDay(c.at) && len(s.rows[c.at.row]) > 1 && s.inColumnOfDays(c.at) {
			return true
		}
		return certain(number) && c.at == numberAt && strings.Contains(number.Value, string(c.at.runes[d.start:d.end]))
	})
	for _, c := range all.all {
		s.seenOfDate(c, all.all, numberAt)
	}
	outdone(all.all, issueLabel, behindTheNumber)
	best, c := s.decide(fields.Date, all.all)
	if c == nil {
		return nil, time.Time{}
	}
	day, _ := time.Parse(time.DateOnly, best.Value)
	return best, day
}

// toldBelow reports whether a day without a label stands behind the words of a line, and one alone in its cell, or behind a place, above it
// in the head of the letter.
func (s *sheet) toldBelow(c *candidate, d date, all []*candidate) bool {
	const fewest = 3 // words before it
	if c.at.page != 1 || len(strings.Fields(c.at.folded[:d.start])) < fewest {
		return false
	}
	return slices.ContainsFunc(all, func(o *candidate) bool {
		alone := len(o.at.dates) == 1 && len(strings.Fields(o.at.folded[:o.at.dates[0].start])) < fewest && o.at.folded[o.at.dates[0].end:] == ""
		return o.at.page == 1 && o.at.row < c.at.row && o.at.y < s.heights[0]/2 && o.key != c.key && alone && len(s.rows[o.at.row]) <= 2 &&
			(o.rule == noLabel || o.rule == placeBefore)
	})
}

// numberedBefore reports whether the number that a day stands behind is that of something else by its label: "Auftrag: 7/14 vom 2.3.2026".
func (s *sheet) numberedBefore(it *item, d date) bool {
	words := strings.Fields(it.folded[:d.start])
	const last = 2 // the word before the day, and the number
	return len(words) > last && s.numberedThing.MatchString(strings.Join(words[:len(words)-last], " "))
}

// dayAt is where a day is printed.
type dayAt struct {
	item  *item
	start int
}

// daysToPay are the days that a label of payment announces: right behind it, in the cell on its right, or else in the cell under it.
func (s *sheet) daysToPay() (out []dayAt) {
	s.each(s.dueLabels, func(f found) {
		for _, p := range s.places(f) {
			if !slices.Contains([]string{"behind", "right", "below 0"}, p.where) {
				continue
			}
			if d, ok := s.dateAt(p.item, p.from); ok {
				out = append(out, dayAt{p.item, d.start})
				return
			}
		}
	})
	return out
}

// lineBefore is what its part of a line says before a day, with the line above where that is broken right before the day, "Bestellung 7
// vom", or goes on in small letters.
func (s *sheet) lineBefore(it *item, d date) string {
	before, _ := partAround(it.folded, d.start, d.end)
	above := s.above(it)
	if above == nil || !sameEdge(above, it) || len(before) < d.start {
		return before
	}
	if strings.TrimSpace(before) == "" && s.beforeDate.MatchString(lastWord(above.folded)) {
		return above.folded
	}
	if unicode.IsLower(it.runes[0]) {
		return above.folded + " " + before
	}
	return before
}

// behindItsNumber reports whether words between a number and its day stand right behind a number that may be the invoice's, or is it where
// that is certain: not "Abnahme am", nor "Auftrag 7 vom".
func (s *sheet) behindItsNumber(f found, number *fields.Text) bool {
	said := strings.TrimRight(f.item.folded[:f.start], " ,;:.()/-")
	if left := s.left(f.item); said == "" && left != nil {
		said = left.folded
	}
	if !hasDigit(lastWord(said)) {
		return false
	}
	return !certain(number) || endsInOwn(said, number.Value)
}

// endsInOwn reports whether what is said ends in the document's own number, and not in that of another one that it is about: "Odobrenje br.
// 7 po računu 214".
func endsInOwn(said, own string) bool {
	own = foldText(own)
	if !strings.Contains(compact(said), compact(own)) {
		return false
	}
	at := strings.LastIndex(said, own)
	if at < 0 {
		return true
	}
	rest := said[at+len(own):]
	if part := rest[strings.LastIndexAny(rest, "~|")+1:]; part != rest && longWord.MatchString(part) {
		return false // "Credit note 7 ~ against invoice 214 of"
	}
	return !hasDigit(rest) || !longWord.MatchString(rest) || strings.ContainsAny(rest, ",;|~(")
}

// ofAnotherNumber reports whether what is said before a day ends in a number, other than the document's own, and words between a number and
// its day: the day is that of the document that bears the number.
func (s *sheet) ofAnotherNumber(said, own string) bool {
	said = strings.TrimRight(said, " ")
	at := s.dayBehindNumber.FindStringIndex(said)
	return at != nil && hasDigit(lastWord(said[:at[0]])) && !endsInOwn(strings.TrimRight(said[:at[0]], " "), own)
}

// inColumnOfDays reports whether a day stands in a column of several below a heading, as in a table of deliveries: none of them is the
// document's own.
func (s *sheet) inColumnOfDays(it *item) bool {
	const several = 3
	first := s.dayAligned(it, -1)
	if first.row == 0 || s.rows[first.row-1][0].page != it.page || first.row+several > len(s.rows) {
		return false
	}
	headed := slices.ContainsFunc(s.rows[first.row-1], func(head *item) bool {
		return aligned(head, it) && hasLetters(head.folded) && !hasDigit(head.folded)
	})
	return headed && s.dayAligned(it, 1).row-first.row >= several-1
}

// dayAligned is the last item with a day in an unbroken column, upwards or downwards from one.
func (s *sheet) dayAligned(it *item, step int) *item {
	for r := it.row + step; r >= 0 && r < len(s.rows) && s.rows[r][0].page == it.page; r += step {
		at := slices.IndexFunc(s.rows[r], func(b *item) bool { return beginsWithDay(b) && aligned(it, b) })
		if at < 0 {
			break
		}
		it = s.rows[r][at]
	}
	return it
}

// beginsWithDay reports whether no words announce the first day in a cell.
func beginsWithDay(it *item) bool {
	return len(it.dates) > 0 && !hasLetters(it.folded[:it.dates[0].start])
}

// behindNumber labels the days right behind a document's title and number, as in "Rechnung 7 · 01.02.2026".
func (s *sheet) behindNumber(all *candidates, f found) {
	if f.start > 0 {
		return
	}
	for _, d := range f.item.dates {
		if d.compact || d.start < f.end {
			continue
		}
		value, at, ok := s.numberAt(f.item, f.end, true)
		end := at + len([]rune(value))
		if c := s.dateCandidate(all, d, f.item); ok && c != nil && end < d.start && !hasLetters(f.item.folded[end:d.start]) {
			c.label(behindTheNumber)
			c.seen(!slices.Contains(c.features, behindTheNumber), behindTheNumber)
		}
		return
	}
}

// issueLabel is the rule of labels of the day of issue.
const issueLabel = "date label"

// behindTheNumber is the rule of days that stand between the number and nothing else: "Nr. 7 vom 1.2.2026".
const behindTheNumber = "date behind the number"

// dateCandidate is the candidate for a day that is printed in an item; nil when there is no such day.
func (s *sheet) dateCandidate(all *candidates, d date, at *item) *candidate {
	day, ok := d.in(s.order)
	if !ok || day.year < 1970 {
		return nil
	}
	return all.at(at, d.start, day.String(), day.String())
}

// labelledDate finds the day that a label announces.
func (s *sheet) labelledDate(all *candidates, f found) {
	if too := s.deliveryToo.FindStringIndex(f.item.folded[f.end:]); too != nil {
		f.end += too[1] // "Rechnungsdatum = Lieferdatum: 4.9.2026"
	}
	before, _ := partAround(f.item.folded, f.start, f.end)
	if bracket := strings.LastIndexByte(before, '('); bracket >= 0 && strings.TrimSpace(before[bracket+1:]) == "" {
		before = "" // "Kursrechnung 7 (Rechnungsdatum: 4.9.2026)"
	}
	rule := f.label.rule
	doubt := ""
	switch rule {
	case behindTheNumber:
		// Only between the number and a date: "Rechnung Nr. 7 vom 1.2.2024".
		for _, it := range []*item{f.item, s.right(f.item), s.nextRow(f.item)} {
			if it == nil || it != f.item && f.end < len(strings.TrimRight(f.item.folded, " ")) {
				continue
			}
			from := 0
			if it == f.item {
				from = f.end
			}
			for _, d := range it.dates {
				if d.compact || d.start < from || d.start-from > 2 {
					continue
				}
				if c := s.dateCandidate(all, d, it); c != nil {
					c.label(rule)
					c.seen(s.otherDate.MatchString(before), rule+", other date")
					c.seen(hasDigit(before), rule+", figures before it")
				}
			}
		}
		return
	case "plain date label":
		switch {
		case s.headsItems(f.item):
			doubt = "heads the items"
		case s.otherDate.MatchString(f.item.folded[:min(len(f.item.folded), f.end+18)]):
			doubt = "other date"
		case strings.Trim(before, " ") != "" && longWord.MatchString(before) && !hasDigit(lastWord(before)):
			doubt = "words before it"
		}
	default:
		if s.otherDate.MatchString(before) && !s.bothDates.MatchString(before) || s.otherDateAfter.MatchString(f.item.folded[f.end:]) {
			doubt = "other date"
		}
	}
	for _, p := range s.places(f) {
		d, ok := s.dateAt(p.item, p.from)
		if !ok {
			continue
		}
		if c := s.dateCandidate(all, d, p.item); c != nil {
			if doubt == "" {
				c.label(rule)
			}
			upTo := len(f.item.folded)
			if p.item == f.item {
				upTo = d.start
			}
			c.seen(hasLetters(f.item.folded[min(pastRemark(f.item.folded, f.end), upTo):upTo]), rule+" of several words")
			c.seen(doubt == "", rule+" "+p.where)
			c.seen(doubt == "", rule)
			c.seen(doubt != "", rule+", "+doubt)
			c.seen(rule == placeBefore && d.start-p.from > 2, "words between place and date")
		}
		return
	}
}

// label sets what announces a candidate, unless something better does.
func (c *candidate) label(rule string) {
	if c.rule == noLabel {
		c.rule = rule
	}
}

// otherDays finds the days that no label announces.
func (s *sheet) otherDays(all *candidates) {
	for _, row := range s.rows {
		for _, it := range row {
			for _, d := range it.dates {
				if !d.compact {
					s.dateCandidate(all, d, it)
				}
			}
		}
	}
}

// seenOfDate adds what is seen of a day beside its labels.
func (s *sheet) seenOfDate(c *candidate, all []*candidate, numberAt *item) {
	it := c.at
	d := s.printed(c)
	s.lookAround(c, d.start, d.end)
	before, behind := partAround(it.folded, d.start, d.end)
	left := s.left(it)
	c.seen(s.otherDate.MatchString(before+it.folded[d.start:d.end]+behind), "words of another date")
	c.seen(left != nil && s.otherDate.MatchString(left.folded), "words of another date on the left")
	above := s.above(it)
	c.seen(above != nil && s.otherDate.MatchString(above.folded), "words of another date above")
	c.seen(s.announcesDue(before) || left != nil && strings.Trim(before, " ") == "" && s.announcesDue(left.folded), "a label of payment")
	c.seen(above != nil && s.announcesDue(above.folded), "a label of payment above")
	c.seen(s.earlyPayment.MatchString(it.folded), "words of a discount")
	c.seen(s.untilDate.MatchString(before), "until")
	c.seen(s.beforeDate.MatchString(strings.TrimSpace(before)), "a small word before it")
	alone := strings.Trim(before, " ") == "" && d.end >= len(it.folded)-1
	c.seen(!alone && s.placeAndDate.MatchString(before) && d.end >= len(it.folded)-1, "behind a place")
	c.seen(alone && left != nil && s.endsInPlace.MatchString(strings.Trim(left.folded, " :")), "beside a place")
	c.seen(len(it.dates) > 1, "several days in its cell")
	c.seen(len(it.runes) > maxLabelled, "in a sentence")
	if numberAt != nil {
		c.seen(numberAt == it, "in the cell of the number")
		c.seen(numberAt != it && numberAt.row == it.row, "in the row of the number")
		near := numberAt.page == it.page && numberAt.row != it.row && abs(numberAt.row-it.row) <= 3
		c.seen(near, "near the number")
		c.seen(near && (aligned(it, numberAt)), "near the number, in its column")
	}
	earlier, later, again := 0, 0, 0
	for _, other := range all {
		switch {
		case other == c:
		case other.key == c.key:
			again++
		case other.key < c.key:
			earlier++
		default:
			later++
		}
	}
	c.seen(earlier == 0 && later == 0, "the only day")
	c.seen(earlier > 0 && later == 0, "the last day")
	c.seen(earlier == 0 && later > 0, "the first day")
	c.seen(true, fmt.Sprintf("printed %d times more", min(again, 2)))
	first := slices.MinFunc(all, func(a, b *candidate) int { return a.at.row - b.at.row })
	c.seen(first.at.row == it.row, "the highest on the page")
}

// printed is the day of a candidate as its item shows it, where it was found: a number may be the same day, "#20260312 · 12 March 2026".
func (s *sheet) printed(c *candidate) date {
	out := date{end: len(c.at.folded)}
	for _, d := range slices.Backward(c.at.dates) {
		if day, ok := d.in(s.order); ok && day.String() == c.value {
			if out = d; d.start == c.from {
				break
			}
		}
	}
	return out
}

// lastWord of a text; a number there ends what stands before a label.
func lastWord(s string) string {
	s = strings.TrimRight(s, " ,;|")
	return s[strings.LastIndexByte(s, ' ')+1:]
}

// headsItems reports whether an item is a heading of the table of items.
func (s *sheet) headsItems(it *item) bool {
	n := 0
	for _, other := range s.rows[it.row] {
		if s.itemHeading.MatchString(other.folded) {
			n++
		}
	}
	return n >= 2
}

var longWord = regexp.MustCompile(`[a-z]{4,}`)

func (s *sheet) nextRow(it *item) *item {
	if it.row+1 < len(s.rows) && s.rows[it.row+1][0].page == it.page {
		return s.rows[it.row+1][0]
	}
	return nil
}

// announcesDue reports whether what stands before a date makes it that of payment.
func (s *sheet) announcesDue(before string) bool {
	return slices.ContainsFunc(s.dueLabels, func(l label) bool { return l.pattern.MatchString(before) })
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// left is the previous item on the row.
func (s *sheet) left(it *item) *item {
	if it.col > 0 {
		return s.rows[it.row][it.col-1]
	}
	return nil
}

// dateAt reads the date that a label at an offset announces: the first behind
// it with at most a short word between.
func (v *vocabulary) dateAt(it *item, from int) (date, bool) {
	for _, d := range it.dates {
		if d.start < from {
			continue
		}
		between := strings.Trim(it.folded[from:d.start], " :.,-*#()~")
		colon := strings.HasSuffix(strings.TrimRight(it.folded[from:d.start], " "), ":")
		if len(between) <= 14 && !v.otherDate.MatchString(between) && !hasDigit(between) ||
			colon && len(between) <= 60 && !v.otherDate.MatchString(between) &&
				strings.Count(it.folded[from:d.start], ":") == 1 {
			return d, true
		}
		return date{}, false
	}
	return date{}, false
}
