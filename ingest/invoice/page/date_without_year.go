package page

import (
	"slices"
	"time"
)

// daysWithoutYear adds the last days for paying that are printed without a year, "please pay by 17th June": the next such day
// behind that of issue.
func (s *sheet) daysWithoutYear(issued time.Time) {
	if issued.IsZero() {
		return
	}
	for _, row := range s.rows {
		for _, it := range row {
			if !hasDigit(it.folded) {
				continue
			}
			if d, ok := s.nextDay(it, issued); ok {
				it.dates = append(it.dates, d)
			}
		}
	}
}

// nextDay is the first day without a year in an item that words of a last day, or a label of one, are right before.
func (s *sheet) nextDay(it *item, issued time.Time) (date, bool) {
	for _, m := range s.dayAndMonth.FindAllStringSubmatchIndex(it.folded, maxStrip) {
		d := date{start: m[0], end: m[1], day: atoi(it.folded[m[2]:m[3]]), month: s.months[it.folded[m[4]:m[5]]], year: issued.Year()}
		said, _ := s.saidBefore(it, d)
		known := slices.ContainsFunc(it.dates, func(o date) bool { return o.start < d.end && d.start < o.end })
		if known || d.month == 0 || !s.lastDay.MatchString(said) && !s.labelledLast(said) {
			continue
		}
		if d.String() < issued.Format(time.DateOnly) {
			d.year++
		}
		if exists(d.year, d.month, d.day) {
			return d, true
		}
	}
	return date{}, false
}

// labelledLast reports whether a text ends in a label of the day by which to pay.
func (s *sheet) labelledLast(said string) bool {
	return slices.ContainsFunc(s.dueLabels, func(l label) bool {
		m := l.pattern.FindStringIndex(said)
		return m != nil && !hasLetters(said[m[1]:])
	})
}
