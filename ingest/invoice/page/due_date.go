package page

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tallyhouse/ingest/invoice/fields"
)

// due reads the due date: printed, or told by terms counted from the day of issue.
func (s *sheet) due(issued *fields.Text, day time.Time) *fields.Text {
	var all []candidate
	s.each(s.dueLabels, func(f found) {
		before := f.item.folded[:f.start]
		if f.label.rule == "pay until" && s.period.MatchString(before) {
			return
		}
		if s.earlyPayment.MatchString(sentence(before)) || s.conditional.MatchString(f.item.folded) ||
			strings.Contains(before, "amount ") && strings.Trim(f.item.folded[f.end:], " :") == "" {
			return
		}
		for _, p := range s.places(f) {
			d, ok := s.dateAt(p.item, p.from)
			if !ok && p.item != f.item {
				if s.earlyPayment.MatchString(p.item.folded) || s.earlyRow(p.item) {
					continue
				}
				// A column headed "due" may hold words before the date.
				if r := s.columnDate(f.item, p.item); r != nil {
					d, ok = r.dates[0], true
					p.item = r
				}
			}
			if ok && p.item != f.item && s.earlyRow(p.item) && !s.fullBeside(p.item, d) {
				continue
			}
			if ok && s.untilEarly(p.item, d) {
				if d, ok = s.afterEarly(p.item, d); !ok {
					return
				}
			}
			if ok {
				if d, exists := d.in(s.order); exists {
					all = append(all, candidate{value: d.String(), key: d.String(), at: p.item, rule: f.label.rule,
						score: f.label.weight * p.near})
				}
				return
			}
			if p.item == f.item {
				return
			}
		}
	})
	all = s.notEarly(append(all, s.dueBehindDates()...))
	s.candidatesOf(fields.DueDate, all)
	if len(all) > 0 {
		best := all[0]
		for _, c := range all[1:] {
			if c.score > best.score+0.005 {
				best = c
			}
		}
		for _, c := range all {
			if c.key != best.key && c.score > best.score-0.02 {
				best.score -= 0.12
				break
			}
		}
		if d, err := time.Parse(time.DateOnly, best.value); err == nil && !day.IsZero() &&
			(d.Before(day.AddDate(0, -3, 0)) || d.After(day.AddDate(3, 0, 0))) {
			best.score -= 0.3
		}
		return &fields.Text{Value: best.value, Evidence: s.evidence(best.at, best.rule, best.score)}
	}
	if issued == nil || issued.Confidence < fields.Certain {
		return nil
	}
	return s.dueByTerms(day)
}

// untilEarly reports whether a date is the last day of a discount: "bis 24.04. mit
// 2 % Skonto".
func (v *vocabulary) untilEarly(it *item, d date) bool {
	rest := it.folded[d.end:]
	if end := clauseEnd.FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return v.earlyPayment.MatchString(rest)
}

// notEarly leaves out the days that the document calls the last ones of a discount elsewhere: a table of terms shows
// them in the column of the due dates, too.
func (s *sheet) notEarly(all []candidate) []candidate {
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
	return slices.DeleteFunc(all, func(c candidate) bool { return early[c.key] })
}

// clauseEnd is where another clause begins; "2,50 %" is not.
var clauseEnd = regexp.MustCompile(`;|,(?:\D|$)|\. `)

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
func (s *sheet) dueBehindDates() []candidate {
	var out []candidate
	for _, row := range s.rows {
		for _, it := range row {
			for _, d := range it.dates {
				rest := it.folded[d.end:]
				if strings.Trim(rest, " ") == "" {
					rest = " " + s.textBelow(it)
				}
				before := it.folded[:d.start]
				if !s.untilDate.MatchString(before) || !s.fallsDue.MatchString(rest) ||
					s.conditional.MatchString(it.folded) || s.earlyPayment.MatchString(sentence(before)) ||
					s.earlyPayment.MatchString(rest) {
					continue
				}
				if day, exists := d.in(s.order); exists {
					out = append(out, candidate{value: day.String(), key: day.String(), at: it,
						rule: "due behind the date", score: 0.93})
				}
			}
		}
	}
	return out
}

// sentence is the part of a text behind its last full stop or semicolon.
func sentence(s string) string {
	if i := strings.LastIndexAny(s, ";,"); i >= 0 {
		s = s[i:]
	}
	if i := strings.LastIndex(s, ". "); i >= 0 {
		s = s[i:]
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
	for _, below := range s.below(it, 1.6) {
		if absFloat(below.x0-it.x0) < 3 {
			return below.folded
		}
	}
	return ""
}

func (s *sheet) columnDate(header, under *item) *item {
	for _, other := range s.rows[under.row] {
		if other != header && aligned(header, other) && len(other.dates) == 1 && other.dates[0].start == 0 &&
			other.row > header.row {
			return other
		}
	}
	return nil
}

// dueByTerms counts the days of terms such as "30 Tage netto". Several
// different terms say nothing certain.
func (s *sheet) dueByTerms(day time.Time) *fields.Text {
	var best *fields.Text
	days := -1
	for _, row := range s.rows {
		for _, it := range row {
			n := s.termDays(it.folded)
			if n < 0 || n > 365 {
				continue
			}
			if days >= 0 && n != days || s.openTerms.MatchString(it.folded) {
				return nil
			}
			days = n
			best = &fields.Text{Value: day.AddDate(0, 0, n).Format(time.DateOnly),
				Evidence: s.evidence(it, "payment terms", 0.88)}
		}
	}
	return best
}

// inDays writes terms with their days in figures.
func (v *vocabulary) inDays(folded string) string {
	if m := v.weeks.FindStringSubmatchIndex(folded); m != nil {
		folded = folded[:m[0]] + strconv.Itoa(7*atoi(folded[m[2]:m[3]])) + " " + v.dayWords[folded[m[4]:m[5]]] + folded[m[1]:]
	}
	if m := v.numberInWords.FindStringIndex(folded); m != nil {
		word, _, _ := strings.Cut(folded[m[0]:m[1]], " ")
		folded = folded[:m[0]] + v.numbers[word] + folded[m[0]+len(word):]
	}
	return folded
}

// termDays returns the days that a text gives for paying in full, -1 when none.
func (v *vocabulary) termDays(folded string) int {
	days := -1
	clauses := strings.NewReplacer(";", "\n", ". ", "\n", ", ", "\n").Replace(v.inDays(folded))
	for part := range strings.SplitSeq(clauses, "\n") {
		if v.earlyPayment.MatchString(part) && !v.fullPayment.MatchString(part) {
			continue
		}
		for _, terms := range v.netTerms {
			if m := terms.FindStringSubmatchIndex(part); m != nil && !v.latePayment.MatchString(part) {
				if n := atoi(part[m[2]:m[3]]); n > days {
					days = n
				}
				break
			}
		}
	}
	return days
}
