package page

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"tallyhouse/ingest/invoice/fields"
)

// date reads the day of issue. numberAt is the item that holds the number.
func (s *sheet) date(numberAt *item) (*fields.Text, time.Time) {
	var all []candidate
	add := func(d date, at *item, rule string, score float64, row int) {
		d, ok := d.in(s.order)
		if ok && d.year >= 1970 {
			all = append(all, candidate{value: d.String(), key: d.String(), at: at, rule: rule, score: score, row: row})
		}
	}
	s.each(s.dateLabels, func(f found) {
		before := f.item.folded[:f.start]
		switch f.label.rule {
		case "date behind the number":
			// Only between the number and a date: "Rechnung Nr. 7 vom 1.2.2024".
			for _, d := range f.item.dates {
				if !d.compact && d.start >= f.end && d.start-f.end <= 2 && numberAt == f.item &&
					!s.otherDate.MatchString(before) {
					add(d, f.item, f.label.rule, f.label.weight, f.item.row)
				}
			}
			if numberAt != nil && f.start == 0 && follows(f.item, numberAt) && len(f.item.dates) > 0 &&
				f.item.dates[0].start-f.end <= 2 {
				add(f.item.dates[0], f.item, f.label.rule, f.label.weight-0.03, f.item.row)
			}
			if next := s.nextRow(f.item); numberAt == f.item && f.end == len(f.item.folded) && next != nil &&
				len(next.dates) > 0 && next.dates[0].start == 0 {
				add(next.dates[0], next, f.label.rule, f.label.weight-0.03, f.item.row)
			}
			return
		case "plain date label":
			if s.headsItems(f.item) {
				return
			}
			if s.otherDate.MatchString(f.item.folded[:min(len(f.item.folded), f.end+18)]) ||
				strings.Trim(before, " ") != "" && longWord.MatchString(before) &&
					(s.otherDate.MatchString(before) || !hasDigit(lastWord(before))) {
				return
			}
		default:
			if s.otherDate.MatchString(before) && !s.bothDates.MatchString(before) ||
				s.otherDateAfter.MatchString(f.item.folded[f.end:]) {
				return
			}
		}
		for _, p := range s.places(f) {
			d, ok := s.dateAt(p.item, p.from)
			if ok && f.label.rule == "place and date" && d.start-p.from > 2 {
				return // "Bitte überweisen Sie den Betrag bis zum 28.8."
			}
			if ok {
				add(d, p.item, f.label.rule, f.label.weight*p.near, f.item.row)
				return
			}
			if p.item == f.item {
				return
			}
		}
	})
	if len(all) == 0 {
		s.unlabelledDates(numberAt, add)
	}
	if len(all) == 0 {
		return nil, time.Time{}
	}
	s.candidatesOf(fields.Date, all)
	best := all[0]
	for _, c := range all[1:] {
		if c.score > best.score+0.02 {
			best = c
		}
	}
	for _, c := range all {
		if c.key != best.key && c.score >= best.score-0.001 && c.at.page == best.at.page {
			best.score -= 0.12
			break
		}
	}
	day, _ := time.Parse(time.DateOnly, best.value)
	return &fields.Text{Value: best.value, Evidence: s.evidence(best.at, best.rule, best.score)}, day
}

// follows reports whether an item continues another: as the next cell, or on the next line.
func follows(it, before *item) bool {
	return it.row == before.row && it.col == before.col+1 ||
		it.row == before.row+1 && it.page == before.page && absFloat(it.x0-before.x0) < 3
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

// unlabelledDates looks above the table of items: "Wien, 12.03.2025", a date
// alone, a date on the number's row.
func (s *sheet) unlabelledDates(numberAt *item, add func(date, *item, string, float64, int)) {
	distinct := map[string]bool{}
	type hit struct {
		d    date
		it   *item
		rule string
		c    float64
	}
	var hits []hit
	for _, row := range s.rows {
		if row[0].page != 1 {
			break
		}
		headings := 0
		for _, it := range row {
			if s.itemHeading.MatchString(it.folded) {
				headings++
			}
		}
		if headings >= 2 {
			break
		}
		for _, it := range row {
			if len(it.dates) != 1 || it.dates[0].compact || s.otherDate.MatchString(it.folded) {
				continue
			}
			if it == numberAt {
				continue
			}
			if left := s.left(it); left != nil && s.otherDate.MatchString(left.folded) && !hasDigit(left.folded) {
				continue
			}
			d := it.dates[0]
			h := hit{d: d, it: it}
			before := strings.TrimSpace(it.folded[:d.start])
			switch {
			case s.beforeDate.MatchString(before) || s.announcesDue(it.folded[:d.start]):
				continue
			case before != "" && s.placeAndDate.MatchString(it.folded[:d.start]) && d.end >= len(it.folded)-1:
				h.rule, h.c = "place and date", 0.9
			case before == "" && d.end >= len(it.folded)-1 && s.left(it) != nil &&
				s.endsInPlace.MatchString(strings.Trim(s.left(it).folded, " :")):
				h.rule, h.c = "place and date", 0.9
			case before == "" && d.end >= len(it.folded)-1:
				h.rule, h.c = "date alone", 0.84
			case numberAt != nil && numberAt.row == it.row:
				h.rule, h.c = "date beside the number", 0.84
			default:
				continue
			}
			hits = append(hits, h)
			distinct[d.String()] = true
		}
	}
	for _, h := range hits {
		c := h.c
		if len(distinct) > 1 && h.rule == "date alone" && (numberAt == nil || abs(h.it.row-numberAt.row) > 3) {
			c -= 0.1
		}
		add(h.d, h.it, h.rule, c, h.it.row)
	}
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
