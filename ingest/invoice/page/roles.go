package page

import "strings"

// role is what a labelled sum of money is on an invoice.
type role int

const (
	roleNone      role = iota
	roleOther          // prepayments, discounts, charges, balances brought forward
	roleNet            // the sum before tax
	roleTax            // tax, of one rate or in all
	roleTaxWithin      // tax that the gross sum contains: "davon MwSt."
	roleGross          // the sum with tax
	rolePayable        // what is left to pay, after prepayments
	roleRounding       // Swiss rounding
)

// roleOf returns what a label names; the amounts in it do not count. A total that is called rounded is a total.
func (v *vocabulary) roleOf(folded string) (role, int) {
	if m := v.rounded.FindStringIndex(folded); m != nil {
		if r, w := v.roleOf(folded[:m[0]] + folded[m[1]:]); r == roleGross || r == rolePayable {
			return r, w
		}
	}
	for _, w := range v.roles {
		if w.pattern.MatchString(folded) {
			return w.role, w.weight
		}
	}
	return roleNone, 0
}

// roleOf returns what a label names on this document: an invoice for a prepayment calls its own sums by that word, which on others is what
// was paid before.
func (s *sheet) roleOf(folded string) (role, int) {
	if m := s.prepayment.FindStringIndex(folded); s.prepaid && m != nil {
		if s.prepaidSum.MatchString(withoutCurrency(folded)) {
			return roleGross, 2
		}
		switch rest := withoutCurrency(folded[m[1]:]); {
		case s.bareWithout.MatchString(rest):
			return roleNet, 2
		case s.bareWith.MatchString(rest):
			return roleGross, 2
		}
		if r, w := s.vocabulary.roleOf(folded[m[1]:]); r == roleNet || r == roleTax || r == roleGross || r == rolePayable {
			return r, w
		}
	}
	return s.vocabulary.roleOf(folded)
}

// titlePrepaid reports whether a title in the upper half of the first page is that of an invoice for a prepayment.
func (s *sheet) titlePrepaid() bool {
	for _, row := range s.rows {
		for _, it := range row {
			if it.page > 1 || it.y > s.heights[0]/2 {
				return false
			}
			text := strings.Trim(s.behindSubject(it.folded), " .:#")
			if len(text) <= maxLabelled/2 && s.prepaymentTitle.MatchString(text) {
				return true
			}
		}
	}
	return false
}
