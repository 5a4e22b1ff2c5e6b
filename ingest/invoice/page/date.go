package page

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tallyhouse/ingest/invoice/page/words"
)

// dateOrder is how a document writes day and month in figures.
type dateOrder int

const (
	dayFirst dateOrder = iota
	monthFirst
)

// date is a date found in text.
type date struct {
	start, end       int // in runes
	year, month, day int
	// figures: day and month are both written in figures, year last,
	// with slashes or hyphens, so that the document decides their order.
	figures bool
	// compact is YYYYMMDD, which only a label makes a date.
	compact bool
}

// String is the date as YYYY-MM-DD.
func (d date) String() string {
	return time.Date(d.year, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// in returns the date in the document's order; false when it does not exist.
func (d date) in(order dateOrder) (date, bool) {
	if d.figures && order == monthFirst {
		d.day, d.month = d.month, d.day
	}
	return d, exists(d.year, d.month, d.day)
}

func exists(y, m, d int) bool {
	if y < 1900 || y > 2199 || m < 1 || m > 12 || d < 1 || d > 31 {
		return false
	}
	return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Day() == d
}

// dates finds the dates in a folded text.
func (v *vocabulary) dates(folded string) []date {
	if digitsIn(folded) < 3 {
		return nil
	}
	var out []date
	add := func(m []int, d date, known bool) {
		d.start, d.end = m[0], m[1]
		for _, other := range out {
			if d.start < other.end && other.start < d.end {
				return
			}
		}
		if known {
			out = append(out, d)
		}
	}
	text := func(m []int, i int) string { return folded[m[2*i]:m[2*i+1]] }
	for _, m := range bounded(v.yearFirst.FindAllStringSubmatchIndex(folded, 64)) {
		if text(m, 2) == text(m, 4) && clear(folded, m) {
			d := date{year: atoi(text(m, 1)), month: atoi(text(m, 3)), day: atoi(text(m, 5))}
			add(m, d, exists(d.year, d.month, d.day))
		}
	}
	eachDay(v.yearLast, folded, func(m []int) bool {
		if text(m, 2) != text(m, 4) || !clear(folded, m) {
			return false
		}
		d := date{day: atoi(text(m, 1)), month: atoi(text(m, 3)), year: fullYear(text(m, 5))}
		d.figures = text(m, 2) != "."
		swapped := d
		swapped.day, swapped.month = d.month, d.day
		ok := exists(d.year, d.month, d.day) || d.figures && exists(swapped.year, swapped.month, swapped.day)
		spaced := text(m, 2) == "." && strings.Count(folded[m[0]:m[1]], " ") > 0
		if len(text(m, 5)) == 2 && (spaced || strings.Contains("|~", text(m, 2))) {
			ok = false
		}
		add(m, d, ok)
		return true
	})
	eachDay(v.dayMonthWord, folded, func(m []int) bool {
		d := date{day: atoi(text(m, 1)), month: v.months[text(m, 2)],
			year: fullYear(strings.TrimPrefix(text(m, 3), "'"))}
		if month := v.months["."+text(m, 2)]; month > 0 && folded[m[3]] == '.' {
			d.month = month
		}
		known := d.month > 0 && exists(d.year, d.month, d.day)
		add(m, d, known)
		return known
	})
	for _, m := range bounded(v.romanMonth.FindAllStringSubmatchIndex(folded, 64)) { // "30. IX. 2026", as in Austria and Poland
		d := date{day: atoi(text(m, 1)), month: slices.Index(romanMonths(), text(m, 3)) + 1, year: atoi(text(m, 4))}
		add(m, d, text(m, 2) != "" && exists(d.year, d.month, d.day))
	}
	for _, m := range v.monthWordDay.FindAllStringSubmatchIndex(folded, 64) {
		d := date{month: v.months[text(m, 1)], day: atoi(text(m, 2)), year: atoi(text(m, 3))}
		add(m, d, d.month > 0 && exists(d.year, d.month, d.day))
	}
	for _, m := range bounded(v.monthAndYear.FindAllStringSubmatchIndex(folded, 64)) {
		if d, start := v.dayInWords(folded, m); d.day > 0 {
			add([]int{start, m[1]}, d, exists(d.year, d.month, d.day))
		}
	}
	for _, m := range v.yearMonthDay.FindAllStringSubmatchIndex(folded, 64) {
		d := date{year: atoi(text(m, 1)), month: v.months[text(m, 2)], day: atoi(text(m, 3))}
		add(m, d, d.month > 0 && exists(d.year, d.month, d.day))
	}
	for _, m := range v.yearDayMonth.FindAllStringSubmatchIndex(folded, 64) {
		d := date{year: atoi(text(m, 1)), day: atoi(text(m, 2)), month: v.months[text(m, 3)]}
		add(m, d, d.month > 0 && exists(d.year, d.month, d.day))
	}
	for _, m := range bounded(v.compactDate.FindAllStringSubmatchIndex(folded, 64)) {
		d := date{year: atoi(text(m, 1)), month: atoi(text(m, 2)), day: atoi(text(m, 3)), compact: true}
		add(m, d, clear(folded, m) && exists(d.year, d.month, d.day))
	}
	for i := 1; i < len(out); i++ {
		for k := i; k > 0 && out[k].start < out[k-1].start; k-- {
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}

// romanMonths are the numbers of the months in Roman figures.
func romanMonths() []string {
	return []string{"i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"}
}

// eachDay calls take for what a pattern of days finds. What take refuses may hold the beginning of a day, behind its first figures:
// "numero 7 del 18 marzo 2026", "9/26 - 22.05.26".
func eachDay(p *words.Pattern, folded string, take func(m []int) bool) {
	for from, n := 0, 0; n < 64; n++ {
		m := p.FindStringSubmatchIndex(folded[from:])
		if m == nil {
			return
		}
		for i := range m {
			m[i] += from
		}
		if from = m[1]; !take(m) {
			from = m[3]
		}
	}
}

// beforeMonth stands between a day in words and its month: "the third of September".
var beforeMonth = regexp.MustCompile(` (?:of|de|di|do)$`)

// dayInWords is the day whose month and year were found, and where it begins, where the words before them are a day's: "am dritten
// September 2026", "le vingt et un mars 2026".
func (v *vocabulary) dayInWords(folded string, m []int) (date, int) {
	const most = 3 // words of a day
	d := date{month: v.months[folded[m[2]:m[3]]], year: atoi(folded[m[4]:m[5]])}
	before := beforeMonth.ReplaceAllString(strings.TrimRight(folded[:m[0]], " "), "")
	start := len(before)
	for n := 0; n < most && d.month > 0 && start > 0; n++ {
		start = strings.LastIndex(before[:start-1], " ") + 1
		if day := v.daysInWords[letters(before[start:])]; day > 0 && !hasDigit(before[start:]) {
			d.day = day // "vingt et un" is more than "un"
			d.start = start
		}
		if start == 0 {
			break
		}
	}
	return d, d.start
}

// yearBelow is a year alone, as the line of a narrow cell begins with.
var yearBelow = regexp.MustCompile(`^(?:19|20)\d\d\b`)

// A day without its year, and that year.
var (
	dayWithoutYear = regexp.MustCompile(`\d{1,2}\. ?\d{1,2}\.$`)
	yearAlone      = regexp.MustCompile(`^(?:19|20)\d\d$`)
)

// A day that a narrow cell breaks behind its year or month, and what stands below it.
var (
	dayBroken = regexp.MustCompile(`(?:19|20)\d\d(?:[-/.]\d{1,2})?[-/.]$`)
	dayBelow  = regexp.MustCompile(`^\d{1,2}(?:[-/.]\d{1,2})?$`)
)

// brokenDays adds the days of cells that go on in the cell on their right, as in a line that wider spaces fill: "18. 11." beside "2026";
// and of narrow ones that go on in their next line: "29 May" above "2026", "2026-" above "01-22".
func (s *sheet) brokenDays() {
	const narrow = 24
	for r, row := range s.rows {
		for _, it := range row {
			if len(it.dates) > 0 {
				continue
			}
			if right := s.right(it); right != nil && yearAlone.MatchString(right.folded) && dayWithoutYear.MatchString(it.folded) {
				s.wholeDay(it, " "+right.folded)
			}
			if len(it.runes) > narrow || r+1 == len(s.rows) || s.rows[r+1][0].page != it.page {
				continue
			}
			for _, below := range s.rows[r+1] {
				rest := yearBelow.FindString(below.folded)
				if rest != "" {
					rest = " " + rest
				} else if dayBroken.MatchString(it.folded) {
					rest = dayBelow.FindString(below.folded)
				}
				within := below.x0 > it.x0-3 && below.x0 < it.x1 // the cell may begin with the day's label
				if rest != "" && within && below.y-it.y <= 1.8*maxFloat(it.size, 7) {
					s.wholeDay(it, rest)
				}
			}
		}
	}
}

// wholeDay gives a cell the one day that it holds with the rest of its text.
func (s *sheet) wholeDay(it *item, rest string) {
	if days := s.dates(it.folded + rest); len(days) == 1 && days[0].end > len(it.folded) {
		days[0].end = len(it.folded)
		it.dates = days
	}
}

// swedishDays adds the days that are six figures alone in their cell, "260312" with the year first, where a Swedish account is printed. As
// others without marks they are days only where a label says so.
func (s *sheet) swedishDays() {
	if s.giro() == nil {
		return
	}
	for _, row := range s.rows {
		for _, it := range row {
			if len(it.folded) != len("yymmdd") || !allDigits(it.folded) {
				continue
			}
			d := date{end: len(it.folded), year: fullYear(it.folded[:2]), month: atoi(it.folded[2:4]), day: atoi(it.folded[4:]), compact: true}
			if exists(d.year, d.month, d.day) {
				it.dates = append(it.dates, d)
			}
		}
	}
}

func bounded(m [][]int) [][]int { return m[:min(len(m), 64)] }

// numberBefore is a number that is too long for a part of a day, before the day behind its stroke.
var numberBefore = regexp.MustCompile(`\d{5}/$`)

// clear reports whether the date is no piece of a longer number or identifier.
func clear(s string, m []int) bool {
	if m[0] > 0 {
		if c := s[m[0]-1]; c == '.' || c == '/' && !numberBefore.MatchString(s[:m[0]]) || c == '-' && m[0] > 1 && s[m[0]-2] != ' ' || c == '_' ||
			c >= 'a' && c <= 'z' {
			return false
		}
	}
	if m[1] < len(s) {
		c := s[m[1]]
		next := byte(' ')
		if m[1]+1 < len(s) {
			next = s[m[1]+1]
		}
		if (c == '.' || c == '/' || c == '-' || c == ',') && next >= '0' && next <= '9' ||
			c >= 'a' && c <= 'z' && c != 't' || c == '_' {
			return false
		}
	}
	return true
}

func digitsIn(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// fullYear takes two figures as 1970 to 2069.
func fullYear(s string) int {
	n := atoi(s)
	if len(s) == 2 {
		if n < 70 {
			return 2000 + n
		}
		return 1900 + n
	}
	return n
}

// orderOf decides once for a document how its figures are meant: by a date that
// can be read in one way only, else by the order usual where it comes from.
func orderOf(all []date, american bool) dateOrder {
	days, monthsSeen := 0, 0
	for _, d := range all {
		if d.figures && d.day > 12 {
			days++
		}
		if d.figures && d.month > 12 {
			monthsSeen++
		}
	}
	switch {
	case days > monthsSeen:
		return dayFirst
	case monthsSeen > days:
		return monthFirst
	case american:
		return monthFirst
	}
	return dayFirst
}
