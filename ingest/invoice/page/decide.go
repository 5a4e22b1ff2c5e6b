package page

import (
	"fmt"
	"slices"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/model"
)

// totals is what a document's sums are; nil is not known.
type totals struct{ net, tax, gross *share }

// share is one of the three sums: how much it is, where it stands, and why it is believed.
type share struct {
	value      int64 // 1/10,000
	from       *sum
	rule       string
	confidence float64
}

func (p *share) certain() bool { return p != nil && p.confidence >= fields.Certain }

func (p *share) is(other *share) bool {
	return p != nil && other != nil && absolute(p.value) == absolute(other.value)
}

// total decides what net, tax and gross are. Rules and weights decide apart from one another: where the rules are not
// certain the weights may be, and where each is certain of another sum none is stated, unless that of the rules stands alone while
// the other one closes. What the weights say and the sums with a label are returned, too.
func (s *sheet) total() (decided, weighed totals, labelled []sum) {
	ruled, labelled := s.byRules()
	rules, bills := ruled.shares(), s.billing(labelled)
	weighed = bills.likeliest()
	if rules.gross != nil && rules.gross.rule == thisPeriod {
		return rules, weighed, labelled // or none, for the weights don't know the columns
	}
	if s.twofold {
		return rules.doubted(), totals{}, labelled
	}
	if net, tax, gross := bills.contradiction(); gross != nil && !rules.gross.certain() {
		s.findings = append(s.findings, s.disagree(net, tax, gross))
		return rules.doubted(), totals{}, labelled
	}
	if rules.gross.certain() && !rules.gross.is(weighed.gross) {
		switch {
		case weighed.gross != nil && rules.gross.rule == restTaxed && rules.restOf(&weighed),
			weighed.gross != nil && rules.gross.rule == withCharge && rules.tax.is(weighed.tax),
			rules.gross.rule == billedNow,
			weighed.gross != nil && s.rowLeft(&rules, &weighed),
			weighed.gross != nil && rules.gross.rule == ratesMakeUp && absolute(weighed.gross.value) < absolute(rules.gross.value):
			return rules, weighed, labelled
		case weighed.gross.certain() && bills.itemsPrefer(&rules, weighed.net),
			rules.net == nil && weighed.net.certain() && weighed.tax.certain() && bills.rated(weighed),
			bills.leftOf(&rules, &weighed):
			return weighed.certain(), weighed, labelled
		case weighed.gross != nil && rules.restOf(&weighed):
			return rules, weighed, labelled
		case bills.withTaxBelow(&rules):
			return rules.doubted(), weighed, labelled
		case slices.ContainsFunc(bills.bills, func(c *bill) bool {
			return c.closes() && c.gross != absolute(rules.gross.value) && !rules.billedOf(c) && bills.reasoned(c) &&
				bills.itemsPrefer(&rules, &share{value: c.net, from: c.netAt})
		}):
			return rules.doubted(), weighed, labelled
		}
	}
	return agreed(rules, weighed), weighed, labelled
}

// billedOf reports whether a bill is all work so far, or one of those before, of which the rules' own is what is left.
func (t *totals) billedOf(c *bill) bool {
	return t.gross.rule == lessBilledBefore && c.at.item.row < t.gross.from.item.row
}

// itemsPrefer reports whether the items above all sums add up to another net sum than the one that rules chose: where a contract's sums
// stand above the invoice's own, the items are the invoice's. Items that make up neither, or the first, say nothing: those of all work so
// far add up to more than is billed.
func (s *sheet) itemsPrefer(rules *totals, net *share) bool {
	if rules.net == nil || net == nil || net.value == 0 || rules.net.is(net) {
		return false
	}
	top := rules.net.from
	leftward := s.addUpIn(top, func(it *item) bool { return absFloat(it.x0-top.item.x0) < 1 }) // some set figures to the left
	return !s.addUp(top) && !leftward && s.addUp(&sum{item: top.item, value: net.value})
}

// leftOf reports whether the weights chose what is left of the total that the rules did: net and tax of their own stand below that one, and
// what was billed before between them.
func (s *sheet) leftOf(rules, weighed *totals) bool {
	if !weighed.net.certain() || !weighed.tax.certain() || !weighed.gross.certain() || weighed.tax.value == 0 {
		return false
	}
	above, below := rules.gross.from, weighed.gross.from
	before := absolute(rules.gross.value) - absolute(weighed.gross.value)
	return before > 0 && weighed.net.from.item.row > above.item.row && weighed.tax.from.item.row > above.item.row &&
		s.printedBetween(above, below, before)
}

// withTaxBelow reports whether rules chose a total alone that is the net sum of another one, which a tax leads to for a reason.
func (b *billing) withTaxBelow(rules *totals) bool {
	return rules.net == nil && slices.ContainsFunc(b.bills, func(c *bill) bool {
		return c.closes() && c.tax != 0 && c.net == absolute(rules.gross.value) && b.reasoned(c)
	})
}

// shares are the sums that rules chose.
func (r ruled) shares() totals {
	part := func(known bool, value int64, from *sum) *share {
		if !known {
			return nil
		}
		return &share{value, from, r.rule, r.confidence}
	}
	return totals{part(r.hasNet, r.netValue, r.net), part(r.hasTax, r.taxValue, r.tax), part(r.gross != nil, r.grossValue, r.gross)}
}

// agreed joins what rules and weights say.
func agreed(rules, weighed totals) totals {
	if !weighed.gross.certain() {
		return rules
	}
	if !rules.gross.certain() {
		return weighed.certain()
	}
	if !rules.gross.is(weighed.gross) {
		return rules.doubted()
	}
	if rules.tax != nil && rules.tax.value == 0 && weighed.net.certain() && weighed.tax.certain() && weighed.tax.value != 0 &&
		(rules.tax.from.value != 0 || weighed.tax.from.role == roleTax) {
		weighed.gross = rules.gross
		return weighed // a tax that is printed and adds up outdoes that none is, but only a labelled one a tax of nothing
	}
	if rules.net == nil && (rules.tax == nil || weighed.net.certain() && rules.tax.is(weighed.tax)) &&
		rules.gross.value == weighed.gross.value {
		weighed = weighed.certain()
		weighed.gross = rules.gross
		return weighed
	}
	return rules
}

// certain are the sums that are; the others are none.
func (t totals) certain() totals {
	only := func(p *share) *share {
		if !p.certain() {
			return nil
		}
		return p
	}
	return totals{only(t.net), only(t.tax), only(t.gross)}
}

// doubted are the same sums, none of them certain.
func (t totals) doubted() totals {
	less := func(p *share) *share {
		if p == nil {
			return nil
		}
		q := *p
		q.confidence = min(q.confidence, undecided)
		return &q
	}
	return totals{less(t.net), less(t.tax), less(t.gross)}
}

// undecided is how certain a total is, at most, where another one is as likely.
const undecided = 0.6

// likeliest chooses a bill by what was learnt. Without one that may be stated, all three sums are nil.
func (b *billing) likeliest() totals {
	weighed := make([]model.Candidate, len(b.bills))
	for i, c := range b.bills {
		weighed[i] = model.Candidate{Key: c.key(), Features: c.features, Announced: c.labelled()}
	}
	choice := b.choose(Sums, weighed)
	if choice.Index < 0 {
		return totals{}
	}
	best := b.bills[choice.Index]
	if !best.whole() && b.netAndTax() || b.unexplained(best) || b.oneRate(best) || b.unsupported(best) {
		return totals{}
	}
	sign := int64(1)
	if best.at.value < 0 {
		sign = -1
	}
	// A part is as probable as all bills together that agree on it.
	part := func(field string, of func(*bill) (int64, *sum)) *share {
		value, at := of(best)
		if at == nil {
			return nil
		}
		p := 0.0
		for i, c := range b.bills {
			if other, known := of(c); known != nil && other == value {
				p += choice.Shares[i]
			}
		}
		f := b.weights[field]
		return &share{sign * value, at, best.how, f.Calibrated(p, best.labelled())}
	}
	out := totals{
		net:   part(fields.Net, func(c *bill) (int64, *sum) { return c.net, c.netAt }),
		tax:   part(fields.Tax, func(c *bill) (int64, *sum) { return c.tax, c.taxAt }),
		gross: part(fields.Gross, func(c *bill) (int64, *sum) { return c.gross, c.at }),
	}
	if best.closes() && !b.reasoned(best) {
		return totals{gross: out.gross}
	}
	if !best.whole() && b.less(best) {
		return totals{}
	}
	if out.net != nil && out.tax != nil && best.net+best.tax == best.gross {
		// What two certain parts add up to is as certain as they are.
		out.gross.confidence = max(out.gross.confidence, min(out.net.confidence, out.tax.confidence))
	}
	return out
}

// less reports whether more is to pay than a total that net sum and tax don't make up, and nothing printed says why.
func (b *billing) less(best *bill) bool {
	var payable, others []sum
	for _, sm := range b.all {
		switch sm.role {
		case rolePayable:
			payable = append(payable, sm)
		case roleOther:
			others = append(others, sm)
		}
	}
	return best.at.role == roleGross && unexplained(best.at, payable, others)
}

// unsupported reports whether nothing says that a sum is the total: neither a label nor a net sum and tax that make it up. The
// largest figure alone may be what a guarantee or a contract is about. Nor is a total without tax that of the invoice where a
// plainly labelled net sum is more.
func (b *billing) unsupported(best *bill) bool {
	if best.whole() || best.how == howRated {
		return false
	}
	if !best.labelledTotal() && best.at.role != roleNet {
		return true
	}
	untaxed := best.how == howUntaxed || best.how == howNet || best.how == howAlone
	return untaxed && slices.ContainsFunc(b.plain(roleNet), func(n *sum) bool {
		return n.weight == 3 && absolute(n.value) > best.gross && n.item.page < best.at.item.page || n.taxedTo(best.gross)
	})
}

// taxedTo reports whether a plainly labelled net sum is less than a total by as much as a tax may be: then there is one, whatever words
// say.
func (sm *sum) taxedTo(gross int64) bool {
	const least, most = 102, 128 // percent
	net := absolute(sm.value)
	return sm.role == roleNet && sm.weight == 3 && !sm.column && gross*100 >= net*least && gross*100 <= net*most
}

// whole reports whether all that a bill is made of is printed and adds up to its total.
func (b *bill) whole() bool {
	return b.closes() || b.how == howCharge || b.how == howParts
}

// reasoned reports whether more than their sum says that two figures are net and tax, for any two items add up to their
// total: a label, a printed rate that leads from one to the other, that each is the sum of its column, or that a rate of some country leads
// to the cent to a tax so large that hardly any other figure would do. What isn't called a tax is none beyond the highest rate, 27 %.
func (b *billing) reasoned(c *bill) bool {
	const most = 28 // percent: 27, and what rounding adds to small sums
	if c.taxAt.role != roleTax && (c.tax*100 > c.net*most || b.ofQuantity(c.taxAt)) {
		return false
	}
	cents := taxRounding(c.netAt, c.taxAt)
	return c.netAt.role == roleNet || c.taxAt.role == roleTax || leads(b.percent, c.net, c.tax, cents) ||
		b.addUp(c.netAt) && b.addUp(c.taxAt) || c.tax >= tellingTax && leads(taxRates(), c.net, c.tax, cents)
}

// ofQuantity reports whether two other figures of a sum's row make it up, a quantity and a price: then it is an item's.
func (s *sheet) ofQuantity(sm *sum) bool {
	var others []int64
	for _, it := range s.rows[sm.item.row] {
		for _, a := range it.amounts {
			if (it != sm.item || a.start != sm.amount.start) && !a.percent && a.value > 0 {
				others = append(others, a.value)
			}
		}
	}
	for i, a := range others {
		for _, b := range others[i+1:] {
			if a < 1<<31 && b < 1<<31 && a*b == absolute(sm.value)*one {
				return true
			}
		}
	}
	return false
}

// one is a whole unit of an amount.
const one = 10_000

// taxRounding is by how many cents a tax may be other than its rate says: a whole unit where both sums are printed without decimals.
func taxRounding(net, tax *sum) int64 {
	if net.amount.decimals == 0 && tax.amount.decimals == 0 {
		return 100
	}
	return 1
}

// rated reports whether a rate, printed or of some country, leads from net to tax.
func (b *billing) rated(t totals) bool {
	net, tax, cents := absolute(t.net.value), absolute(t.tax.value), taxRounding(t.net.from, t.tax.from)
	return leads(b.percent, net, tax, cents) || leads(taxRates(), net, tax, cents)
}

// tellingTax is from where on a tax to the cent tells its rate, 100.00.
const tellingTax = 100 * 100 * PerMinor

// taxRates are those that European countries have on sales, in 1/10,000 of a percent.
func taxRates() []int64 {
	return []int64{26_000, 38_000, 40_000, 50_000, 55_000, 60_000, 70_000, 77_000, 80_000, 81_000, 90_000, 95_000, 100_000, 120_000, 130_000,
		135_000,
		140_000, 150_000, 160_000, 170_000, 180_000, 190_000, 200_000, 210_000, 220_000, 230_000, 240_000, 250_000, 255_000, 270_000}
}

// plain lists the labelled sums of some roles that stand below no heading.
func (b *billing) plain(roles ...role) []*sum {
	var out []*sum
	for i := range b.all {
		sm := &b.all[i]
		if slices.Contains(roles, sm.role) && !sm.column && sm.value != 0 && len(out) < maxSums {
			out = append(out, sm)
		}
	}
	return out
}

// netAndTax reports whether a labelled net sum and a labelled tax are printed: a total that they don't add up to is
// something else, or misread.
func (b *billing) netAndTax() bool { return len(b.plain(roleNet)) > 0 && len(b.plain(roleTax)) > 0 }

// contradiction finds a labelled net sum, tax and total where no labelled tax leads to a labelled total.
func (b *billing) contradiction() (net, tax, gross *sum) {
	nets, taxes, grosses := b.plain(roleNet), b.plain(roleTax), b.plain(roleGross)
	if len(nets) == 0 || len(taxes) == 0 || len(grosses) == 0 {
		return nil, nil, nil
	}
	for _, c := range b.bills {
		if c.whole() && c.labelledTotal() && (c.taxAt.role == roleTax || c.how == howRates) {
			return nil, nil, nil
		}
	}
	return nets[len(nets)-1], taxes[len(taxes)-1], grosses[len(grosses)-1]
}

// disagree is the finding about sums that contradict each other.
func (s *sheet) disagree(net, tax, gross *sum) fields.Finding {
	text := func(sm *sum) string { return s.evidence(sm.item, "", 0).Text }
	return fields.Finding{Rule: "sums-disagree", Place: fields.Gross, Page: gross.item.page, Box: s.box(gross.item),
		Message: fmt.Sprintf("net and tax are not gross: the page says %q, %q and %q", text(net), text(tax), text(gross))}
}

// unexplained reports whether one of two totals that both close, the smaller below the larger, is that of a bill, and
// nothing says which: no label of contracts, nothing billed before between them, no sum of others.
func (b *billing) unexplained(best *bill) bool {
	var closed []*bill
	for _, c := range b.bills {
		plain := c.at.role == roleGross && c.at.weight >= 2 && !c.at.column && c.netAt != nil && !c.netAt.column
		if c.closes() && c.labelled() && plain {
			closed = append(closed, c)
		}
	}
	for _, other := range closed {
		above, below := other, best
		if other.gross < best.gross {
			above, below = best, other
		}
		if above.gross == below.gross || below.netAt == nil || below.taxAt == nil || below.at.column ||
			below.netAt.item.row <= above.at.item.row || below.taxAt.item.row <= above.at.item.row {
			continue
		}
		contract := b.contractSum.MatchString(b.labelOf(above.at)) ||
			above.netAt != nil && b.contractSum.MatchString(b.labelOf(above.netAt))
		if !contract && !b.printedBetween(above.at, below.at, above.gross-below.gross) && !together(above, closed) {
			return true
		}
	}
	return false
}

// oneRate reports whether a bill is the line of one rate in a table of taxes: another total is that of all its lines.
func (b *billing) oneRate(best *bill) bool {
	var lines []*bill
	total := int64(0)
	for _, c := range b.bills {
		if c.how == howCloses && c.at.column && c.netAt.item.row == c.at.item.row && c.taxAt.item.row == c.at.item.row {
			lines = append(lines, c)
			total += c.gross
		}
	}
	if f := b.byValue[total]; slices.Contains(lines, best) && total > best.gross && f != nil && f.is(roleGross, rolePayable) {
		return true
	}
	return slices.Contains(lines, best) && slices.ContainsFunc(b.bills, func(c *bill) bool {
		return c.closes() && c.gross > best.gross && together(c, lines)
	})
}

// together reports whether a total is that of the others, as of several rates.
func together(total *bill, closed []*bill) bool {
	rest := total.gross
	seen := map[int64]bool{total.gross: true}
	for _, c := range closed {
		if !seen[c.gross] {
			seen[c.gross] = true
			rest -= c.gross
		}
	}
	return rest == 0
}
