package page

import (
	"strconv"
	"strings"
	"time"
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

// months maps the beginning of a month's folded name to its number; longer
// beginnings are looked at first.
var months = map[string]int{
	"jan": 1, "jan.": 1, "janner": 1, "januar": 1, "january": 1, "janvier": 1, "janv": 1, "gennaio": 1, "gen": 1, "enero": 1, "ene": 1, "januari": 1, "jaenner": 1, "stycznia": 1, "janeiro": 1, "ianuarie": 1, "ledna": 1,
	"feb": 2, "februar": 2, "feber": 2, "february": 2, "fevrier": 2, "fevr": 2, "fev": 2, "febbraio": 2, "febrero": 2, "februari": 2, "lutego": 2, "fevereiro": 2,
	"mar": 3, "marz": 3, "maerz": 3, "mrz": 3, "march": 3, "mars": 3, "marzo": 3, "maart": 3, "mrt": 3, "marca": 3, "marco": 3,
	"apr": 4, "april": 4, "avril": 4, "avr": 4, "aprile": 4, "abril": 4, "abr": 4, "kwietnia": 4,
	"mai": 5, "may": 5, "maggio": 5, "mag": 5, "mayo": 5, "mei": 5, "maja": 5, "maio": 5, "maj": 5,
	"jun": 6, "juni": 6, "june": 6, "juin": 6, "giugno": 6, "giu": 6, "junio": 6, "czerwca": 6, "junho": 6,
	"jul": 7, "juli": 7, "july": 7, "juillet": 7, "juil": 7, "luglio": 7, "lug": 7, "julio": 7, "lipca": 7, "julho": 7,
	"aug": 8, "august": 8, "aout": 8, "agosto": 8, "ago": 8, "augustus": 8, "sierpnia": 8, "augusti": 8,
	"sep": 9, "sept": 9, "september": 9, "septembre": 9, "settembre": 9, "set": 9, "septiembre": 9, "wrzesnia": 9, "setembro": 9,
	"oct": 10, "okt": 10, "oktober": 10, "october": 10, "octobre": 10, "ottobre": 10, "ott": 10, "octubre": 10, "pazdziernika": 10, "outubro": 10,
	"nov": 11, "november": 11, "novembre": 11, "noviembre": 11, "listopada": 11, "novembro": 11,
	"dec": 12, "dez": 12, "dezember": 12, "december": 12, "decembre": 12, "dicembre": 12, "dic": 12, "diciembre": 12, "grudnia": 12, "dezembro": 12, "desember": 12,
}

var (
	yearFirst    = compile(`\b((?:19|20)\d\d) ?([-/.]) ?(\d\d?) ?([-/.]) ?(\d\d?)\b`)
	yearLast     = compile(`\b(\d\d?) ?([-/.]) ?(\d\d?) ?([-/.]) ?((?:19|20)\d\d|\d\d)\b`)
	dayMonthWord = compile(`\b(\d\d?)(?:\.|er|st|nd|rd|th|o)?[ \-/.]{0,2}(?:de |di |of |do )?([a-z]{3,12})\.?,?[ \-/.]{0,2}(?:de |del )?((?:19|20)\d\d|'?\d\d\b)`)
	compactDate  = compile(`\b(20\d\d)([01]\d)([0-3]\d)\b`)
	monthWordDay = compile(`\b([a-z]{3,12})\.? (\d\d?)(?:st|nd|rd|th)? ?,? ?((?:19|20)\d\d)\b`)
)

// dates finds the dates in a folded text.
func dates(folded string) []date {
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
	for _, m := range bounded(yearFirst.FindAllStringSubmatchIndex(folded, 64)) {
		if text(m, 2) == text(m, 4) && clear(folded, m) {
			d := date{year: atoi(text(m, 1)), month: atoi(text(m, 3)), day: atoi(text(m, 5))}
			add(m, d, exists(d.year, d.month, d.day))
		}
	}
	for _, m := range bounded(yearLast.FindAllStringSubmatchIndex(folded, 64)) {
		if text(m, 2) != text(m, 4) || !clear(folded, m) {
			continue
		}
		d := date{day: atoi(text(m, 1)), month: atoi(text(m, 3)), year: fullYear(text(m, 5))}
		d.figures = text(m, 2) != "."
		swapped := d
		swapped.day, swapped.month = d.month, d.day
		ok := exists(d.year, d.month, d.day) || d.figures && exists(swapped.year, swapped.month, swapped.day)
		if len(text(m, 5)) == 2 && text(m, 2) == "." && strings.Count(folded[m[0]:m[1]], " ") > 0 {
			ok = false
		}
		add(m, d, ok)
	}
	for _, m := range dayMonthWord.FindAllStringSubmatchIndex(folded, 64) {
		d := date{day: atoi(text(m, 1)), month: months[text(m, 2)], year: fullYear(strings.TrimPrefix(text(m, 3), "'"))}
		add(m, d, d.month > 0 && exists(d.year, d.month, d.day))
	}
	for _, m := range monthWordDay.FindAllStringSubmatchIndex(folded, 64) {
		d := date{month: months[text(m, 1)], day: atoi(text(m, 2)), year: atoi(text(m, 3))}
		add(m, d, d.month > 0 && exists(d.year, d.month, d.day))
	}
	for _, m := range bounded(compactDate.FindAllStringSubmatchIndex(folded, 64)) {
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

func bounded(m [][]int) [][]int { return m[:min(len(m), 64)] }

// clear reports whether the date is no piece of a longer number or identifier.
func clear(s string, m []int) bool {
	if m[0] > 0 {
		if c := s[m[0]-1]; c == '.' || c == '/' || c == '-' && m[0] > 1 && s[m[0]-2] != ' ' || c == '_' || c >= 'a' && c <= 'z' {
			return false
		}
	}
	if m[1] < len(s) {
		c := s[m[1]]
		next := byte(' ')
		if m[1]+1 < len(s) {
			next = s[m[1]+1]
		}
		if (c == '.' || c == '/' || c == '-' || c == ',') && next >= '0' && next <= '9' || c >= 'a' && c <= 'z' && c != 't' || c == '_' {
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
