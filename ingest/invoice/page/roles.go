package page

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

// roleOf returns what a label names; the amounts in it do not count.
func (v *vocabulary) roleOf(folded string) (role, int) {
	for _, w := range v.roles {
		if w.pattern.MatchString(folded) {
			return w.role, w.weight
		}
	}
	return roleNone, 0
}
