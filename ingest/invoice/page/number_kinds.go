package page

import (
	"regexp"
	"slices"
	"strings"
)

// elses splits what is shaped like a number into what may be the invoice's and what is something else's, which is never stated, however
// well it stands, for many invoices have no number: it is only possible.
func (s *sheet) elses(all []*candidate) (own, others []*candidate) {
	labelled := slices.ContainsFunc(all, func(c *candidate) bool { return c.rule != noLabel && !s.byReference(c) })
	for i, c := range all {
		if s.somethingElse(c) || labelled && s.byReference(c) || s.counted(c, all[:i], all[i+1:]) {
			others = append(others, c)
		} else {
			own = append(own, c)
		}
	}
	return own, others
}

// wholeNumberOf is the number of which one without a label is the end, behind letters: so is the second line of one that is broken. Else it
// is the number itself.
func wholeNumberOf(c *candidate, all []*candidate) *candidate {
	whole := slices.IndexFunc(all, func(o *candidate) bool {
		prefix, ends := strings.CutSuffix(o.key, c.key)
		return ends && prefix != "" && isPrefix(prefix) && len(c.key) >= fewestCharacters
	})
	if c.rule != noLabel || whole < 0 {
		return c
	}
	return all[whole]
}

// fewestCharacters has what is told to be part of another number: less may be so by chance.
const fewestCharacters = 5

// somethingElse reports whether a number is that of a customer, an order, an account, a company …; labels of an invoice's number
// outdo all but what an identifier is made of.
func (s *sheet) somethingElse(c *candidate) bool {
	start, end := c.span()
	switch {
	case s.isIdentifier(c.at.folded, start, end), personsCode.MatchString(c.value), bankAccount.MatchString(c.value), s.deducted(c):
		return true
	case c.rule == noLabel:
		other := func(feature string) bool { return strings.HasPrefix(feature, othersLabel) }
		return s.ofThing(c) || noNumber(c) || season(c.value) || monthOfYear.MatchString(c.value) ||
			s.ofItem(c) || s.inGroups(c.at, start, end) ||
			phoneBefore.MatchString(c.at.folded[:start]) || slices.ContainsFunc(c.features, other)
	case c.rule == titleBefore:
		return noNumber(c) || !slices.Contains(c.features, titleBefore+" behind") && s.ofThing(c)
	}
	return false
}

// bankAccount is one without the country that begins an IBAN, as Poles print theirs: nobody numbers invoices with so many figures.
var bankAccount = regexp.MustCompile(`^\d{2}(?: ?\d{4}){5,6}$`)

// deducted reports whether a number stands in the row of a sum that is taken off: that of an earlier invoice, "./. 1. Abschlagsrechnung 7
// -168.000,00". On credit notes all sums may be negative.
func (s *sheet) deducted(c *candidate) bool {
	negative := func(a amount) bool { return a.money() && a.value < 0 }
	return !s.credits() && slices.ContainsFunc(s.rows[c.at.row], func(it *item) bool { return slices.ContainsFunc(it.amounts, negative) })
}

// counted reports whether a number with a label says which of a contract's invoices it is, "Abschlagsrechnung Nr. 1", below the title with
// the invoice's own, or before one in its line: "Akontorechnung Nr. 3 – Rechnung 25214".
func (s *sheet) counted(c *candidate, before, behind []*candidate) bool {
	if c.rule == noLabel || !countOnly(c.value) {
		return false
	}
	titled := func(o *candidate) bool {
		return o.rule == titleBefore && !countOnly(o.value) && o.at.page == c.at.page && !s.somethingElse(o)
	}
	_, end := c.span()
	return slices.ContainsFunc(before, func(o *candidate) bool { return o.at.row < c.at.row && titled(o) }) ||
		slices.ContainsFunc(slices.Concat(before, behind), func(o *candidate) bool {
			return o.at == c.at && o.from > end && titled(o) && apart.MatchString(c.at.folded[end:o.from])
		})
}

// apart is a mark that sets the parts of a title apart.
var apart = regexp.MustCompile(`^ ?[-,~|(:]`)

// ofThing reports whether a label of its own says that a number is that of something else.
func (s *sheet) ofThing(c *candidate) bool {
	start, end := c.span()
	said := s.announcement(c.at, start, end)
	if prefix, _, two := strings.Cut(c.value, " "); two && isPrefix(prefix) {
		said += " " + foldText(prefix) // "DDT 882"
	}
	return s.numberedThing.MatchString(said) && !s.compoundTitle(said)
}

// noNumber reports whether figures are by their shape a year of our time ("Stromrechnung 2025"), measures, a telephone number
// or, in brackets, the code of the document's kind ("Rechnung (380)").
func noNumber(c *candidate) bool {
	start, end := c.span()
	text := c.at.folded
	code := end-start == 3 && start > 0 && text[start-1] == '(' && end < len(text) && text[end] == ')'
	called := strings.Contains(c.value, " ") && phone.MatchString(c.value)
	return code || called || bareYear(c.value) || measures.MatchString(c.value) || hundredths.MatchString(c.value) ||
		spanOf.MatchString(c.value) || manifold.MatchString(c.value)
}

// manifold is how many of something a thing has: "4-farbig".
var manifold = regexp.MustCompile(`^\d{1,3}-?\p{Ll}{4}`)

// twoYears are a year and what may be the next one.
var twoYears = regexp.MustCompile(`^(20\d\d)[/–-](?:20)?(\d\d)$`)

// season reports whether figures are a year and the next one, as of schools and sports: "2025/26".
func season(value string) bool {
	m := twoYears.FindStringSubmatch(value)
	return m != nil && (atoi(m[1])+1)%100 == atoi(m[2])
}

// spanOf is from one small number to another, as houses and weeks are told: "12–18".
var spanOf = regexp.MustCompile(`^\d{1,3}–\d{1,3}$`)

// hundredths end a sum in words: "PLN 85/100".
var hundredths = regexp.MustCompile(`^(?:[A-Za-z]{2,3}\.? )?\d{1,2}/100$`)

// phoneBefore announces a telephone number.
var phoneBefore = regexp.MustCompile(`\b(?:tel|tlf|telefon|telefono|telephone|phone|fax|fon|mobil|talr(?:unis)?|thl)[.: ]*$`)

// personsCode is the tax code of a person in Italy.
var personsCode = regexp.MustCompile(`\b[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]\b`)

// initials are an abbreviation of several words.
var initials = regexp.MustCompile(`^[a-z]\. ?[a-z]\.`)

// initial reports whether a label is the first letter of an abbreviation: the "C." of "C.F." is no "č."
func (f found) initial() bool {
	return f.end-f.start <= len("c.") && initials.MatchString(f.item.folded[f.start:])
}

// brokenBefore reports whether a plain label is the end of a word that the line above begins: "upload index of the e-" "invoice: 7".
func (s *sheet) brokenBefore(f found) bool {
	above := s.above(f.item)
	return f.plainly() && f.start == 0 && above != nil && absFloat(above.x0-f.item.x0) < 3 && strings.HasSuffix(above.folded, "-")
}

// monthOfYear is a period, as "04/2026"; behind a label it may be a number, too.
var monthOfYear = regexp.MustCompile(`^(?:0?[1-9]|1[0-2])/20\d\d$`)

// ofItem reports whether a number stands in the row of an item with its price and sum.
func (s *sheet) ofItem(c *candidate) bool { return moneyIn(s.rows[c.at.row]) > 1 }

// measures are those of a thing: "340x176".
var measures = regexp.MustCompile(`^\d+[x×]\d`)

// bareYear reports whether a number is a year and nothing else.
func bareYear(value string) bool {
	return len(value) == 4 && allDigits(value) && value > "1900" && value < "2100"
}

// byReference reports whether nothing but the word for a reference announces a number.
func (s *sheet) byReference(c *candidate) bool {
	start, end := c.span()
	return c.rule == plainNumber && s.reference.MatchString(s.announcement(c.at, start, end))
}

// compoundTitle reports whether a text is the title of an invoice that is another document, too: "Rechnung/Lieferschein Nr.".
func (s *sheet) compoundTitle(said string) bool {
	m := s.invoiceTitle.FindStringIndex(said)
	if m == nil {
		return false
	}
	rest := strings.TrimLeft(said[m[1]:], " ")
	return strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "/")
}

// span is where a number begins and ends in its item, without the brackets around it.
func (c *candidate) span() (start, end int) {
	start = c.from
	for start < len(c.at.folded) && strings.ContainsRune("([#", rune(c.at.folded[start])) {
		start++
	}
	return start, min(start+len([]rune(c.value)), len(c.at.folded))
}

// announcement is what stands where the label of a value does: before it in its part of a line, else on its left, else above it.
func (s *sheet) announcement(it *item, start, end int) string {
	if before, _ := partAround(it.folded, start, end); hasLetters(before) {
		return before
	}
	if left := s.aside(it); left != nil && hasLetters(left.folded) {
		return withoutFigures(left.folded)
	}
	if above := s.above(it); above != nil {
		return withoutFigures(above.folded)
	}
	return ""
}

// withoutFigures is a text, if there are no figures in it: labels have none.
func withoutFigures(folded string) string {
	if hasDigit(folded) {
		return ""
	}
	return folded
}

// isIdentifier reports whether what stands between two offsets is part of a tax id or an account.
func (s *sheet) isIdentifier(folded string, start, end int) bool {
	if slices.ContainsFunc(s.vatIDs(folded), func(id taxID) bool { return id.start < end && start < id.end }) {
		return true
	}
	if m := s.vatLabel.FindStringIndex(folded); m != nil && m[1] == start {
		title := s.invoiceTitle.FindStringIndex(folded) // "Faktura VAT 7"
		return title == nil || title[1] <= m[0]
	}
	return overlaps(domesticAccount.FindAllStringIndex(folded, maxStrip), []int{start, end}) ||
		overlaps(bareAccount.FindAllStringIndex(folded, maxStrip), []int{start, end})
}

// domesticAccount is an account as it is printed in Hungary.
var domesticAccount = regexp.MustCompile(`\b\d{8}-\d{8}(?:-\d{8})?\b`)

// inGroups reports whether figures between two offsets are one of several groups, as accounts and telephone numbers are set.
func (s *sheet) inGroups(it *item, start, end int) bool {
	if !allDigits(it.folded[start:min(end, len(it.folded))]) || end > len(it.folded) {
		return false
	}
	before, behind := strings.Fields(it.folded[:start]), strings.Fields(it.folded[end:])
	return len(before) > 0 && allDigits(before[len(before)-1]) || len(behind) > 0 && allDigits(strings.TrimRight(behind[0], ".,;)"))
}

// bare reports whether nothing but its shape speaks for a number: no words announce it, it doesn't stand by the title, and neither is it
// printed again nor a day behind it.
func (s *sheet) bare(c *candidate) bool {
	if c.rule != noLabel || slices.Contains(c.features, dayBehind) || !slices.Contains(c.features, printedOnce) {
		return false
	}
	start, end := c.span()
	return s.announcement(c.at, start, end) == "" && !s.byTitle(c.at)
}

// byTitle reports whether the document's title stands in an item's row, or right above or below it.
func (s *sheet) byTitle(it *item) bool {
	for r := max(0, it.row-2); r <= min(it.row+1, len(s.rows)-1); r++ {
		for _, other := range s.rows[r] {
			near := r == it.row || aligned(other, it) && absFloat(other.y-it.y) < 2.5*maxFloat(other.size, it.size)
			if other != it && other.page == it.page && near && s.titled(other.folded) {
				return true
			}
		}
	}
	return false
}

// titled reports whether a text is a title of an invoice, alone.
func (s *sheet) titled(folded string) bool {
	text := strings.Trim(s.behindSubject(folded), " .:#")
	return s.titleAlone.MatchString(text) || s.invoiceTitleAlone.MatchString(text)
}
