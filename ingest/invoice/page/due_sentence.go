package page

import (
	"math"
	"strings"
	"time"
)

// What announces a day in a sentence, in whatever order its words stand.
const (
	untilThen = "pay until"
	byDebit   = "direct debit"
)

// dueInSentences finds the days that a sentence of whatever wording names for paying: words of paying and, right before the day, those of
// a last day or of what terms come to; and the day on which the supplier takes the sum from the account himself.
func (s *sheet) dueInSentences(all *candidates, issued time.Time) {
	for _, row := range s.rows {
		for _, it := range row {
			for _, d := range it.dates {
				if d.compact {
					continue
				}
				before, where := s.saidBefore(it, d)
				rule := s.paidThen(before, s.saidBehind(it, d))
				if rule == "" || s.daysAfter(issued, d) < 0 || rule == byDebit && s.daysAfter(issued, d) > maxDebitDays {
					continue
				}
				if c := s.dateCandidate(all, d, it); c != nil && c.rule == noLabel {
					c.label(rule)
					// By a debit the sum is paid on its day as by any other.
					c.seen(true, untilThen+" "+where)
					c.seen(true, untilThen)
				}
			}
		}
	}
}

// maxDebitDays is how long after the day of issue a debit comes at most: later ones are those of other bills.
const maxDebitDays = 60

// daysAfter counts the days from that of issue to another; 0 where either isn't known.
func (s *sheet) daysAfter(issued time.Time, d date) int {
	day, ok := d.in(s.order)
	at, err := time.Parse(time.DateOnly, day.String())
	if !ok || err != nil || issued.IsZero() {
		return 0
	}
	return int(math.Round(at.Sub(issued).Hours() / 24))
}

// paidThen is the rule by which what a sentence says before and behind a day makes it that of paying; "" where it doesn't.
func (v *vocabulary) paidThen(before, behind string) string {
	said := before + " ~ " + behind
	switch {
	case v.earlyPayment.MatchString(said), v.conditional.MatchString(said), v.latePayment.MatchString(said), v.settled.MatchString(said):
		return ""
	case v.paying.MatchString(before) && v.lastDay.MatchString(before):
		return untilThen
	case v.debited.MatchString(said) && !v.period.MatchString(lastWord(before)):
		return byDebit
	}
	return ""
}

// saidBefore is what its sentence says before a day, and where: in its cell and the line above, or, where the cell says hardly
// anything, on its left or above it.
func (s *sheet) saidBefore(it *item, d date) (said, where string) {
	own := it.folded[:d.start]
	if from := sentenceBegin(own); from > 0 {
		return own[from:], "behind"
	}
	if len(strings.TrimSpace(own)) < shortestLabel {
		if left := s.left(it); left != nil && hasLetters(left.folded) {
			return left.folded + " " + own, "right"
		}
	}
	above := s.above(it)
	switch {
	case above == nil:
		return own, "behind"
	case absFloat(above.x0-it.x0) < 3 && len(above.folded) > maxLabelled/2: // a paragraph
		return above.folded[sentenceBegin(above.folded):] + " " + own, "behind"
	case len(strings.TrimSpace(own)) < shortestLabel && !hasDigit(above.folded):
		return above.folded + " " + own, "below 0"
	}
	return own, "behind"
}

// saidBehind is what its sentence says behind a day, in its cell and the line below.
func (s *sheet) saidBehind(it *item, d date) string {
	behind := it.folded[d.end:]
	if end := sentenceEnd(behind); end < len(behind) {
		return behind[:end]
	}
	below := s.textBelow(it)
	return behind + " " + below[:sentenceEnd(below)]
}

// sentenceBegin is where the last sentence of a text begins.
func sentenceBegin(folded string) int {
	from := 0
	for {
		end := sentenceEnd(folded[from:])
		if from+end >= len(folded) {
			return from
		}
		from += end + 1
	}
}

// sentenceEnd is where the first sentence of a text ends: before a semicolon or a mark between parts of a line, or at a full stop behind a
// word that is no abbreviation.
func sentenceEnd(folded string) int {
	const shortestWord = 4
	letters := 0
	for i := range len(folded) {
		switch c := folded[i]; {
		case c == ';' || c == '|' || c == '~': // "·" and "•" are folded so
			return i
		case c == '.' && (i+1 == len(folded) || folded[i+1] == ' ') && letters >= shortestWord:
			return i
		case c >= 'a' && c <= 'z':
			letters++
		default:
			letters = 0
		}
	}
	return len(folded)
}
