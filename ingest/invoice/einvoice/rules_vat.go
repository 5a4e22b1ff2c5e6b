package einvoice

import (
	"fmt"
	"math/big"
	"slices"
)

// category is a category of VAT (UNTDID 5305), with what its ten rules demand.
type category struct {
	code, rules string // BR-<rules>-01 …
	// rate says whether the rate has to be above zero, may be any that isn't negative, is zero, or isn't stated.
	rate rateOf
	// once: the breakdown has one entry of it; else one for each rate.
	once bool
	// reason: the breakdown says why nothing is taxed; else it must not.
	reason bool
	// parties says who must have a tax id: the seller any, the seller a VAT id, both …
	parties parties
}

type rateOf int

const (
	positive rateOf = iota
	zeroOrMore
	zero
	unstated
)

type parties int

const (
	sellerAny   parties = iota // the seller a VAT id or a tax number, or his representative a VAT id
	sellerVAT                  // the seller or his representative a VAT id
	bothVAT                    // the buyer, too
	bothReverse                // the seller any, the buyer a VAT id or a registration
	nobody                     // neither may have a VAT id
)

func categories() []category {
	return []category{
		{code: "S", rules: "S", rate: positive},
		{code: "Z", rules: "Z", rate: zero, once: true},
		{code: "E", rules: "E", rate: zero, once: true, reason: true},
		{code: "AE", rules: "AE", rate: zero, once: true, reason: true, parties: bothReverse},
		{code: "K", rules: "IC", rate: zero, once: true, reason: true, parties: bothVAT},
		{code: "G", rules: "G", rate: zero, once: true, reason: true, parties: sellerVAT},
		{code: "O", rules: "O", rate: unstated, once: true, reason: true, parties: nobody},
		{code: "L", rules: "AF", rate: zeroOrMore},
		{code: "M", rules: "AG", rate: zeroOrMore},
	}
}

// Where a category is named: of a line, of an allowance and of a charge of the document.
var categorized = []struct{ group, category, rate, party, rateRule string }{
	{"BG-25", "BT-151", "BT-152", "02", "05"}, {"BG-20", "BT-95", "BT-96", "03", "06"}, {"BG-21", "BT-95", "BT-96", "04", "07"},
}

// vatRules are those of EN 16931 on categories of VAT.
func vatRules() []rule {
	rules := []rule{
		present("BR-45", "BG-23", "BT-116"), present("BR-46", "BG-23", "BT-117"), present("BR-47", "BG-23", "BT-118"),
		{id: "BR-48", group: "BG-23", broken: func(a about) (string, string) {
			if !a.states("BT-119") && a.text("BT-118") != "O" {
				return "no VAT rate (BT-119)", "BT-119"
			}
			return "", ""
		}},
		present("BR-CO-04", "BG-25", "BT-151"), present("BR-CO-18", "", "BG-23"),
	}
	for _, c := range categories() {
		rules = append(rules, c.vatRules()...)
	}
	for _, where := range []struct{ id, group string }{{"BR-O-12", "BG-25"}, {"BR-O-13", "BG-20"}, {"BR-O-14", "BG-21"}} {
		rules = append(rules, rule{id: where.id, broken: func(a about) (string, string) { return besideNoTax(a, where.group) }})
	}
	return append(rules,
		rule{id: "BR-O-11", broken: func(a about) (string, string) { return besideNoTax(a, "BG-23") }},
		rule{id: "BR-IC-11", broken: func(a about) (string, string) {
			if len(category{code: "K"}.breakdown(a)) > 0 && a.text("BT-72") == "" && !a.states("BG-14") {
				return "goods go to another member state, but neither a day of delivery (BT-72) nor a period (BG-14) is stated", "BT-72"
			}
			return "", ""
		}},
		rule{id: "BR-IC-12", broken: func(a about) (string, string) {
			for _, to := range a.each("BG-15") {
				if to.text("BT-80") != "" {
					return "", ""
				}
			}
			if len(category{code: "K"}.breakdown(a)) > 0 {
				return "goods go to another member state, but the country of delivery (BT-80) isn't stated", "BG-15"
			}
			return "", ""
		}})
}

func (c category) vatRules() []rule {
	id := func(n string) string { return "BR-" + c.rules + "-" + n }
	rules := []rule{
		{id: id("01"), broken: c.missesInBreakdown},
		{id: id("08"), fatal: true, broken: c.taxableIsNotItsParts},
		{id: id("09"), fatal: true, broken: c.taxIsWrong},
		{id: id("10"), broken: c.reasonIsWrong},
	}
	for _, w := range categorized {
		rules = append(rules,
			rule{id: id(w.party), fatal: true, broken: func(a about) (string, string) {
				if len(c.of(a, w.group, w.category)) == 0 {
					return "", ""
				}
				return c.lacksTaxID(a)
			}},
			rule{id: id(w.rateRule), broken: func(a about) (string, string) { return c.rateIsWrong(a, w.group, w.category, w.rate) }})
	}
	return rules
}

// of are the elements of a group that are in the category.
func (c category) of(a about, group, term string) []about {
	return slices.DeleteFunc(a.each(group), func(e about) bool { return e.text(term) != c.code })
}

func (c category) breakdown(a about) []about { return c.of(a, "BG-23", "BT-118") }

func (c category) missesInBreakdown(a about) (string, string) {
	named := 0
	for _, w := range categorized {
		named += len(c.of(a, w.group, w.category))
	}
	switch entries := len(c.breakdown(a)); {
	case named > 0 && entries == 0:
		return fmt.Sprintf("the VAT breakdown (BG-23) lacks the category %s", c.code), "BG-23"
	case c.once && entries > 1:
		return fmt.Sprintf("the VAT breakdown (BG-23) has the category %s %d times", c.code, entries), "BG-23"
	case named == 0 && entries > 0:
		return fmt.Sprintf("nothing is in the category %s of the VAT breakdown (BG-23)", c.code), "BG-23"
	}
	return "", ""
}

func (c category) lacksTaxID(a about) (string, string) {
	seller := a.states("BT-31")
	for _, representative := range a.each("BG-11") {
		seller = seller || representative.states("BT-63")
	}
	buyer := a.states("BT-48")
	switch c.parties {
	case sellerAny:
		seller = seller || a.states("BT-32")
		buyer = true
	case sellerVAT:
		buyer = true
	case bothReverse:
		seller = seller || a.states("BT-32")
		buyer = buyer || a.states("BT-47")
	case nobody:
		if seller || buyer {
			return "nothing is subject to VAT, but a VAT id is stated (BT-31, BT-48, BT-63)", "BT-31"
		}
		return "", ""
	}
	switch {
	case !seller:
		return fmt.Sprintf("the seller has no tax id (BT-31, BT-32), which the category %s needs", c.code), "BT-31"
	case !buyer:
		return fmt.Sprintf("the buyer has no VAT id (BT-48), which the category %s needs", c.code), "BT-48"
	}
	return "", ""
}

func (c category) rateIsWrong(a about, group, term, rate string) (string, string) {
	for _, e := range c.of(a, group, term) {
		v, stated := e.number(rate), e.states(rate)
		switch {
		case c.rate == unstated && stated:
			return fmt.Sprintf("the category %s has no rate, but %s (%s)", c.code, e.text(rate), rate), ""
		case c.rate == unstated:
		case v == nil:
			return fmt.Sprintf("no VAT rate (%s) of the category %s", rate, c.code), ""
		case c.rate == positive && v.Sign() <= 0, c.rate == zero && v.Sign() != 0, c.rate == zeroOrMore && v.Sign() < 0:
			return fmt.Sprintf("the rate %s (%s) doesn't go with the category %s", e.text(rate), rate, c.code), ""
		}
	}
	return "", ""
}

// taxableIsNotItsParts compares what is taxable by the category, and by each rate where it has several, with lines, allowances and
// charges.
func (c category) taxableIsNotItsParts(a about) (string, string) {
	for _, line := range a.each("BG-25") {
		if !line.states("BT-151") {
			return "", "" // which category it counts to isn't stated, which is another rule's
		}
	}
	for _, entry := range c.breakdown(a) {
		base, rate := entry.number("BT-116"), entry.number("BT-119")
		if base == nil || !c.once && rate == nil {
			continue
		}
		parts := func(group, term, rateTerm, amount string) *big.Rat {
			return cents(sum(slices.DeleteFunc(c.of(a, group, term), func(e about) bool {
				v := e.number(rateTerm)
				return !c.once && (v == nil || v.Cmp(rate) != 0)
			}), amount))
		}
		want := parts("BG-25", "BT-151", "BT-152", "BT-131")
		want.Add(want, parts("BG-21", "BT-95", "BT-96", "BT-92"))
		want.Sub(want, parts("BG-20", "BT-95", "BT-96", "BT-92"))
		// The validators allow less than a unit, in UBL by rates and in CII by categories.
		allowed := a.ubl != c.once && c.rate != unstated
		if base.Cmp(want) != 0 && !(allowed && near(base, want, true)) {
			return fmt.Sprintf("taxable amount %s (BT-116) of %s %s is not %s, that of its lines, allowances and charges",
				entry.text("BT-116"), c.code, entry.text("BT-119"), want.FloatString(2)), "BG-23"
		}
	}
	return "", ""
}

func (c category) taxIsWrong(a about) (string, string) {
	for _, entry := range c.breakdown(a) {
		if c.once {
			if tax := entry.number("BT-117"); tax == nil || tax.Sign() != 0 {
				return fmt.Sprintf("tax %s (BT-117) in the category %s, which has none", entry.text("BT-117"), c.code), "BG-23"
			}
		} else if what, _ := taxIsNotThatOfItsRate(entry); what != "" {
			return what, "BG-23"
		}
	}
	return "", ""
}

func (c category) reasonIsWrong(a about) (string, string) {
	for _, entry := range c.breakdown(a) {
		switch stated := entry.states("BT-120"); {
		case c.reason && !stated:
			return fmt.Sprintf("no reason (BT-120, BT-121) why the category %s isn't taxed", c.code), "BG-23"
		case !c.reason && stated:
			return fmt.Sprintf("the category %s is taxed, so it has no reason of an exemption (BT-120)", c.code), "BG-23"
		}
	}
	return "", ""
}

// besideNoTax says that beside what isn't subject to VAT something is.
func besideNoTax(a about, group string) (string, string) {
	if len(category{code: "O"}.breakdown(a)) == 0 {
		return "", ""
	}
	term := "BT-95"
	switch group {
	case "BG-23":
		term = "BT-118"
	case "BG-25":
		term = "BT-151"
	}
	for _, e := range a.each(group) {
		if code := e.text(term); code != "" && code != "O" {
			return fmt.Sprintf("a %s of the category %s beside what isn't subject to VAT", terms[group].name, code), group
		}
	}
	return "", ""
}
