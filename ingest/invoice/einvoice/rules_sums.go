package einvoice

import (
	"fmt"
	"math/big"
)

// sumRules are those of EN 16931 by which sums are those of their parts, in steps of a cent.
func sumRules() []rule {
	return []rule{
		{id: "BR-CO-10", fatal: true, broken: func(a about) (string, string) {
			return unless(a, "BT-106", cents(sum(a.each("BG-25"), "BT-131")), "the lines")
		}},
		{id: "BR-CO-11", fatal: true, broken: func(a about) (string, string) { return totalOf(a, "BT-107", "BG-20") }},
		{id: "BR-CO-12", fatal: true, broken: func(a about) (string, string) { return totalOf(a, "BT-108", "BG-21") }},
		{id: "BR-CO-13", fatal: true, broken: func(a about) (string, string) {
			net := sum([]about{a}, "BT-106")
			net.Sub(net, sum([]about{a}, "BT-107"))
			net.Add(net, sum([]about{a}, "BT-108"))
			return unless(a, "BT-109", cents(net), "lines less allowances plus charges")
		}},
		{id: "BR-CO-14", fatal: true, broken: taxIsNotThatOfTheRates},
		{id: "BR-CO-15", fatal: true, broken: grossIsNotNetAndTax},
		{id: "BR-CO-16", fatal: true, broken: func(a about) (string, string) {
			payable := sum([]about{a}, "BT-112")
			payable.Sub(payable, sum([]about{a}, "BT-113"))
			payable.Add(payable, sum([]about{a}, "BT-114"))
			if stated := a.number("BT-115"); a.ubl && stated != nil && cents(stated).Cmp(cents(payable)) == 0 {
				return "", ""
			}
			return unless(a, "BT-115", payable, "the gross total less what is prepaid plus the rounding")
		}},
		{id: "BR-CO-17", group: "BG-23", fatal: true, broken: taxIsNotThatOfItsRate},
	}
}

// unless says that a total isn't what it should be. One that isn't stated, or is no number, is another rule's.
func unless(a about, total string, want *big.Rat, of string) (what, term string) {
	stated := a.number(total)
	if stated == nil || stated.Cmp(want) == 0 {
		return "", ""
	}
	return fmt.Sprintf("%s %s (%s) is not %s, that of %s", terms[total].name, a.text(total), total, want.FloatString(2), of), total
}

// totalOf compares the sum of allowances or charges with each; it may be missing where there are none.
func totalOf(a about, total, group string) (what, term string) {
	parts := a.each(group)
	if !a.states(total) && len(parts) > 0 {
		return fmt.Sprintf("no %s (%s), but %d of them", terms[total].name, total, len(parts)), total
	}
	return unless(a, total, cents(sum(parts, "BT-92")), "each")
}

// taxTotals are the totals of tax in the invoice's currency.
func taxTotals(a about) []about {
	var totals []about
	for _, e := range a.each("BT-110") {
		if e.attr("currencyID") == a.text("BT-5") {
			totals = append(totals, e)
		}
	}
	return totals
}

func taxIsNotThatOfTheRates(a about) (string, string) {
	want := cents(sum(a.each("BG-23"), "BT-117"))
	for _, e := range taxTotals(a) {
		if stated := decimal(e.value()); stated != nil && stated.Cmp(want) != 0 && (a.states("BG-23") || !a.ubl) {
			return fmt.Sprintf("tax total %s (BT-110) is not %s, the taxes of the breakdown", e.value(), want.FloatString(2)), "BT-110"
		}
	}
	return "", ""
}

func grossIsNotNetAndTax(a about) (string, string) {
	net, gross, taxes := a.number("BT-109"), a.number("BT-112"), taxTotals(a)
	switch {
	case net == nil || gross == nil || !a.states("BT-5") || !a.ubl && gross.Cmp(net) == 0:
		return "", ""
	case len(taxes) != 1:
		return fmt.Sprintf("%d tax totals (BT-110) in the currency of the invoice, where one is due", len(taxes)), "BT-110"
	}
	tax := decimal(taxes[0].value())
	if tax == nil || cents(new(big.Rat).Add(net, tax)).Cmp(gross) == 0 {
		return "", ""
	}
	return fmt.Sprintf("net %s + tax %s is not gross %s", a.text("BT-109"), taxes[0].value(), a.text("BT-112")), "BT-112"
}

// taxIsNotThatOfItsRate allows the tax of a rate to be one unit away from it: programs add up the taxes of lines.
func taxIsNotThatOfItsRate(a about) (string, string) {
	rate, base, tax := a.number("BT-119"), a.number("BT-116"), a.number("BT-117")
	switch {
	case tax == nil || base == nil || rate == nil:
		return "", ""
	case whole(rate).Sign() == 0 && whole(tax).Sign() != 0:
		return fmt.Sprintf("tax %s (BT-117) at the rate %s (BT-119)", a.text("BT-117"), a.text("BT-119")), "BT-117"
	case whole(rate).Sign() == 0:
		return "", ""
	}
	want := new(big.Rat).Mul(new(big.Rat).Abs(base), rate)
	want = cents(want.Quo(want, big.NewRat(100, 1)))
	if !near(new(big.Rat).Abs(tax), want, a.ubl) {
		return fmt.Sprintf("tax %s (BT-117) is not %s %% of %s", a.text("BT-117"), a.text("BT-119"), a.text("BT-116")), "BT-117"
	}
	return "", ""
}

// near reports whether two amounts are less than one unit apart, or one unit at most where the bound isn't strict.
func near(a, b *big.Rat, strict bool) bool {
	apart := new(big.Rat).Sub(a, b)
	order := apart.Abs(apart).Cmp(big.NewRat(1, 1))
	return order < 0 || order == 0 && !strict
}

// cents rounds to two decimals, halves up, as XPath does.
func cents(v *big.Rat) *big.Rat {
	hundred := big.NewRat(100, 1)
	rounded := whole(new(big.Rat).Mul(v, hundred))
	return rounded.Quo(rounded, hundred)
}

// whole rounds to an integer, halves up.
func whole(v *big.Rat) *big.Rat {
	up := new(big.Rat).Add(v, big.NewRat(1, 2))
	return new(big.Rat).SetInt(new(big.Int).Div(up.Num(), up.Denom()))
}
