package page

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// byTerms is the rule of days that no one printed.
const byTerms = "payment terms"

// dueByTerms counts the days of terms such as "30 Tage netto". Several different terms say nothing certain.
func (s *sheet) dueByTerms(all *candidates, day time.Time) {
	days, open := map[int]bool{}, false
	var told []*candidate
	for _, row := range s.rows {
		for _, it := range row {
			n := s.termDays(it.folded, day)
			if n < 0 {
				n = max(s.brokenTerms(it, day), s.labelledTerms(it, day))
			}
			if n < 0 || n > 365 || s.countedFromReceipt(it) {
				continue
			}
			days[n] = true
			open = open || s.openTerms.MatchString(it.folded)
			value := day.AddDate(0, 0, n).Format(time.DateOnly)
			if c := all.at(it, -1, value, value); c != nil {
				c.label(byTerms)
				told = append(told, c)
			}
		}
	}
	for _, c := range told {
		c.seen(true, byTerms)
		c.seen(len(days) > 1, "several terms")
		c.seen(open, "open terms")
	}
}

// labelledTerms are the days of terms that a label on their left makes terms: "Terms" beside "30 days from invoice date".
func (s *sheet) labelledTerms(it *item, day time.Time) int {
	if !s.labelledLeft(it) || len(it.folded) > maxLabelled {
		return -1
	}
	return s.termDays(s.left(it).folded+" "+it.folded, day)
}

// brokenTerms are the days of terms whose sentence goes on in the next line: "…, 30 Tage ab" above "Rechnungsdatum netto".
func (s *sheet) brokenTerms(it *item, day time.Time) int {
	below := s.lineBelow(it)
	if below == nil || len(it.folded) < maxLabelled/2 || it.row+1 != below.row {
		return -1
	}
	begun := it.folded[s.sentenceBegin(it.folded):]
	if strings.Trim(begun, " .") == "" {
		return -1
	}
	said := begun + " " + below.folded[:s.sentenceEnd(below.folded)]
	if last := strings.LastIndex(begun, ", "); last >= 0 {
		said = said[last+len(", "):]
	}
	return s.termDays(said, day)
}

// countedFromReceipt reports whether terms run from the day on which the invoice arrives, which it doesn't say: in the line that counts
// days, or where their sentence goes on.
func (s *sheet) countedFromReceipt(it *item) bool {
	said := it.folded
	if !strings.HasSuffix(strings.TrimRight(said, " "), ".") {
		below := s.textBelow(it)
		said += " " + below[:s.sentenceEnd(below)]
	}
	return s.fromReceipt.MatchString(said)
}

// discountRate is what a discount for paying early comes to: whatever it is called, so many percent beside days are one.
var discountRate = regexp.MustCompile(`(?:^|[^\d.,])[1-5](?:[.,]\d+)? ?%`)

// bracketed is a number in brackets behind its word or before it: "thirty (30) days", "30 (thirty) days".
var bracketed = regexp.MustCompile(`\((\d{1,3})\) |(\b\d{1,3}) ?\([a-z -]+\) `)

// maxSpans is how many spans of time a text has at most.
const maxSpans = 8

// inDays writes terms with their days in figures, counted from a day: "drei Wochen", "within two months".
func (v *vocabulary) inDays(folded string, from time.Time) string {
	folded = bracketed.ReplaceAllString(folded, "$1$2 ")
	for range maxSpans {
		m := v.numberInWords.FindStringSubmatchIndex(folded)
		if m == nil {
			break
		}
		folded = folded[:m[2]] + strconv.Itoa(v.numbers[letters(folded[m[2]:m[3]])]) + folded[m[3]:]
	}
	for range maxSpans {
		m := v.spanOfTime.FindStringSubmatchIndex(folded)
		if m == nil || dayOfMonth.MatchString(folded[:m[0]]) {
			break
		}
		unit, n := v.spans[folded[m[4]:m[5]]], atoi(folded[m[2]:m[3]])
		folded = folded[:m[0]] + strconv.Itoa(unit.days(from, n)) + " " + unit.word + folded[m[1]:]
	}
	return folded
}

// dayOfMonth is the day of each month that is to be paid on: "zum 1. eines Monats".
var dayOfMonth = regexp.MustCompile(`\b\d{1,2}\. $`)

// unitOfTime is what terms are counted in beside days: weeks or months; word is that for days in its language.
type unitOfTime struct {
	word   string
	months bool
}

// days counts those of so many weeks or months from a day on. Months end on its like, or on their last day.
func (u unitOfTime) days(from time.Time, n int) int {
	if !u.months {
		return 7 * n
	}
	to := from.AddDate(0, n, 0)
	if to.Day() != from.Day() {
		to = to.AddDate(0, 0, -to.Day())
	}
	return int(math.Round(to.Sub(from).Hours() / 24))
}

// discounted reports whether a clause tells a discount for paying early, by its words or by what it comes to. So many percent may be
// interest, too.
func (v *vocabulary) discounted(clause string) bool {
	return v.earlyPayment.MatchString(clause) || discountRate.MatchString(clause) && !v.latePayment.MatchString(clause)
}

// goesOnInFigures is behind the first figures of a sum: "Net 16,136.40" are no terms.
var goesOnInFigures = regexp.MustCompile(`^[.,']?\d`)

// mailAddress says nothing of paying, whatever words it is made of: "payables@castlemoor.example".
var mailAddress = regexp.MustCompile(`[^ ]+@[^ ]+`)

// termDays returns the days that a text gives for paying in full, counted from that of issue, -1 when none.
func (v *vocabulary) termDays(folded string, issued time.Time) int {
	days, inDays := -1, v.inDays(mailAddress.ReplaceAllString(folded, ""), issued)
	clauses := strings.NewReplacer(";", "\n", ". ", "\n", ", ", "\n").Replace(v.unabbreviated(inDays))
	for part := range strings.SplitSeq(clauses, "\n") {
		part = v.wholeOf(part)
		if v.discounted(part) && !v.fullPayment.MatchString(part) {
			continue
		}
		if v.latePayment.MatchString(part) || v.onRequest.MatchString(part) {
			continue
		}
		known := false
		for _, terms := range v.netTerms {
			if m := terms.FindStringSubmatchIndex(part); m != nil && !goesOnInFigures.MatchString(part[m[3]:]) {
				days, known = max(days, atoi(part[m[2]:m[3]])), true
				break
			}
		}
		if !known {
			days = max(days, v.daysToPay(part))
		}
	}
	if days < 0 && !v.earlyPayment.MatchString(folded) && !v.latePayment.MatchString(folded) && !v.onRequest.MatchString(folded) {
		return v.daysToPay(inDays) // "Forma płatności: przelew, 14 dni"
	}
	return days
}

// wholeOf is the part of a clause that says when to pay the whole, where another offers a discount for paying earlier: "8 Tage 2 % Skonto
// oder 30 Tage netto".
func (v *vocabulary) wholeOf(clause string) string {
	for _, at := range v.or.FindAllStringIndex(clause, maxSpans) {
		first, second := clause[:at[0]], clause[at[1]:]
		if early := v.discounted(first); early != v.discounted(second) {
			if early {
				return second
			}
			return first
		}
	}
	return clause
}

// daysToPay returns the days of a clause of whatever wording that has a word of paying, one number of days and little behind it: "Gelieve
// binnen 10 dagen te betalen"; -1 when it isn't one. A clause with a part in percent is about discounts or interest.
func (v *vocabulary) daysToPay(clause string) int {
	counted := v.daysCounted.FindAllStringSubmatchIndex(clause, 2)
	if len(counted) != 1 || strings.Contains(clause, "%") || !v.paying.MatchString(clause) {
		return -1
	}
	behind := strings.Trim(clause[counted[0][1]:], " .,;:!)")
	words := len(strings.Fields(behind))
	first := v.paying.FindStringIndex(behind)
	verb := first != nil && !strings.Contains(behind[:first[0]], " ") && words <= 8 // "binnen 14 dagen over te maken o.v.v. …"
	if words == 0 || verb || words <= 3 && first != nil || words <= 4 && v.invoiceWord.MatchString(behind) {
		return atoi(clause[counted[0][2]:counted[0][3]])
	}
	return -1
}
