package page

import (
	"math"
	"regexp"
	"strings"
	"time"
)

// What announces a day in a sentence, in whatever order its words stand.
const (
	inSentence = "due behind the date"
	byDebit    = "direct debit"
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
				if rule == "" && s.untilInFull(it.folded[:d.start], it.folded[d.end:]) {
					rule, where = inSentence, behind
				}
				if rule == "" && s.termsComeTo(before, s.daysAfter(issued, d)) {
					rule = inSentence
				}
				if rule == "" && s.daysAfter(issued, d) > 0 && s.issuerPays(before, s.saidBehind(it, d), it) {
					rule = inSentence
				}
				if rule == "" || s.ofNext(before) || s.daysAfter(issued, d) < 0 || rule == byDebit && s.daysAfter(issued, d) > maxDebitDays {
					continue
				}
				at, day := it, d
				if whole := s.wholeBelow(it); whole != nil && where != behind {
					at, day = whole, whole.dates[0]
				}
				c := s.dateCandidate(all, day, at)
				if c == nil {
					continue
				}
				if where == behind { // by a debit the sum is paid on its day as by any other payment
					c.seenOnce(inSentence)
					c.seenOnce(inSentence + ", until")
				} else { // a label of its own
					rule = dueLabel
					c.seenOnce(rule)
					c.seenOnce(rule + " " + where)
				}
				c.label(rule)
			}
		}
	}
}

// behind is where a value stands that its words come before, in one text.
const behind = "behind"

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

// termsComeTo reports whether the terms of a sentence, without a discount, count as many days as are between that of issue and the one
// behind them: "przelew, termin 21 dni (2026-04-23)".
func (v *vocabulary) termsComeTo(before string, days int) bool {
	counted := v.daysCounted.FindAllStringSubmatchIndex(before, 2)
	return days > 0 && len(counted) == 1 && atoi(before[counted[0][2]:counted[0][3]]) == days && !strings.Contains(before, "%") &&
		!v.earlyPayment.MatchString(before) && !v.latePayment.MatchString(before)
}

// paidThen is the rule by which what a sentence says before and behind a day makes it that of paying; "" where it doesn't, as with a part
// in percent, which is a discount or interest.
func (v *vocabulary) paidThen(before, after string) string {
	words := before
	last := v.lastDay.FindStringIndex(before)
	if last != nil {
		words = before[:last[0]] // "no later than" isn't about paying late
	}
	said := words + " ~ " + after
	inFull := last != nil && v.fullPayment.MatchString(lastClause(words)) && len(strings.TrimSpace(words)) <= maxLabelled/3
	switch {
	case inFull && !strings.Contains(said, "%"):
		return inSentence // "Ohne Abzug bis 2.8.", "Zahlung ohne Skonto bis 2.8."
	case strings.Contains(said, "%"), v.earlyPayment.MatchString(said), v.would.MatchString(said),
		v.latePayment.MatchString(said), v.settled.MatchString(v.askedToPay.ReplaceAllString(said, "")):
		return ""
	case last != nil && v.withAccount(after):
		return inSentence // "dit bedrag uiterlijk 31.10. bij te schrijven op rekening NL91 ABNA …"
	case (last != nil || v.lastDayBehind.MatchString(after)) && (v.paying.MatchString(words) || v.payingBack.MatchString(words)):
		return inSentence
	case last != nil && v.paying.MatchString(after) && !v.otherDate.MatchString(words):
		return inSentence // "diesen Betrag bis 30.9. auf unser Konto zu überweisen"
	case v.debited.MatchString(figuresBetween.ReplaceAllString(words+after, "")) &&
		(!v.period.MatchString(lastWord(before)) || v.fromThen.MatchString(strings.TrimSpace(before))):
		return byDebit
	}
	return ""
}

// endsInSum is a line that ends in a sum and a full stop.
var endsInSum = regexp.MustCompile(`\d{3}[.,]\d\d\.$`)

// endsInCents is a text that ends in a sum, as before the sign of its currency: "den Betrag von 45,00 € bis zum 5.6."
var endsInCents = regexp.MustCompile(`\d[.,]\d\d ?$`)

// endsInFigures is a text that ends in figures that are no year's, as of an account.
var endsInFigures = regexp.MustCompile(`(?:^|\D)(?:\d{3}|\d{5,})$`)

// beginsWithLetter reports whether a word follows.
func beginsWithLetter(s string) bool {
	return len(s) > 1 && s[0] == ' ' && s[1] >= 'a' && s[1] <= 'z'
}

// figuresBetween stand between the words of a sentence: "werden wir am 30.9. Ihrem Konto 0100 448 213 belasten".
var figuresBetween = regexp.MustCompile(`\d[\d.]* `)

// untilInFull reports whether a clause is a last day and the whole sum: "Bis 28.10. ohne Abzug" below "Bis 12.10. 2 % Skonto", "8 Tage 2 %
// Skonto oder bis 28.10. netto", "bis 12.10. 2 % Skonto, ohne Abzug bis 28.10."
func (v *vocabulary) untilInFull(before, after string) bool {
	clause := v.sentence(before)
	if full := v.fullPayment.FindStringIndex(clause); full != nil && strings.Trim(clause[:full[0]], " ,;") == "" {
		return v.deadlineAlone.MatchString(clause[full[1]:])
	}
	return v.deadlineAlone.MatchString(clause) && v.fullBehind.MatchString(after)
}

// issuerPays reports whether a sentence of who owes the sum himself, as on a credit note or one that the buyer issues, says on which day he
// pays: "Wir überweisen zum 15.6.", "Der Betrag wird am 15.6. auf Ihr Konto überwiesen".
func (s *sheet) issuerPays(before, after string, it *item) bool {
	paid := s.paying.MatchString(before) && s.untilDate.MatchString(before) || s.paying.MatchString(after) && s.onDay.MatchString(before)
	if !paid ||
		s.vocabulary.settled.MatchString(before) || it.y < s.heights[it.page-1]/4 {
		return false
	}
	return s.credits() || s.selfBilled(Own{}, nil)
}

// saidBefore is what its sentence says before a day, and where: in its cell and the line above, or, where the cell says hardly
// anything, on its left or above it.
func (s *sheet) saidBefore(it *item, d date) (said, where string) {
	own := it.folded[:d.start]
	if from := s.sentenceBegin(own); from > 0 {
		return own[from:], behind
	}
	if len(strings.TrimSpace(own)) < shortestLabel {
		if left := s.left(it); left != nil && hasLetters(left.folded) {
			return left.folded + " " + own, "right"
		}
	}
	above := s.above(it)
	switch {
	case above == nil:
		return own, behind
	case absFloat(above.x0-it.x0) < 3 && len(above.folded) > maxLabelled/2: // a paragraph
		return above.folded[s.sentenceBegin(above.folded):] + " " + own, behind
	case len(strings.TrimSpace(own)) < shortestLabel && !hasDigit(above.folded):
		return above.folded + " " + own, "below 0"
	}
	return own, behind
}

// saidBehind is what its sentence says behind a day, in its cell and the lines below.
func (s *sheet) saidBehind(it *item, d date) string {
	const lines = 4
	said := it.folded[d.end:]
	if said == "." || strings.HasPrefix(said, ". ") {
		return ""
	}
	for n := 0; n < lines && it != nil && s.sentenceEnd(said) == len(said); n++ {
		if it = s.lineBelow(it); it != nil {
			said += " " + it.folded
		}
	}
	return said[:s.sentenceEnd(said)]
}

// sentenceBegin is where the last sentence of a text begins.
func (v *vocabulary) sentenceBegin(folded string) int {
	from := 0
	for {
		end := v.sentenceEnd(folded[from:])
		if from+end >= len(folded) {
			return from
		}
		from += end + 1
	}
}

// beginsWithFigure reports whether a figure follows, as behind the sign of a currency or a section.
func beginsWithFigure(s string) bool {
	s = strings.TrimPrefix(s, " ")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// sentenceEnd is where the first sentence of a text ends: before a semicolon or a mark between parts of a line, or at a full stop behind a
// word that is no abbreviation, behind the rest of a verb as in "buchen wir am 2.3. ab", behind a bracket, "VOB/B", a sum or an account.
// Marks in a run hide the digits of an account; one beside a sum is the sign of its currency.
func (v *vocabulary) sentenceEnd(folded string) int {
	folded = v.unabbreviated(folded)
	const shortestWord = 4
	letters := 0
	for i := range len(folded) {
		switch c := folded[i]; {
		case c == '~' && (i > 0 && folded[i-1] == '~' || i+1 < len(folded) && folded[i+1] == '~'), c == '~' && beginsWithFigure(folded[i+1:]),
			c == '~' && endsInCents.MatchString(folded[:i]) && beginsWithLetter(folded[i+1:]):
			letters = 0
		case c == ';' || c == '|' || c == '~': // "·" and "•" are folded so
			return i
		case c == '.' && i+1 == len(folded) && endsInSum.MatchString(folded), c == '.' && endsInFigures.MatchString(folded[:i]) &&
			beginsWithLetter(folded[i+1:]):
			return i
		case c == '.' && (i+1 == len(folded) || folded[i+1] == ' ') && (letters >= shortestWord || i > 0 && folded[i-1] == ')' ||
			i > 1 && folded[i-2] == '/' || v.verbEnd.MatchString(folded[:i])):
			return i
		case c >= 'a' && c <= 'z':
			letters++
		case c >= '0' && c <= '9' && letters > 0: // the code of a bank
		default:
			letters = 0
		}
	}
	return len(folded)
}
