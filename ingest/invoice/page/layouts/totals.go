package layouts

import (
	"strconv"
	"strings"
)

// total sets a label and its sum.
func (d *drawing) total(label string, value int64, final bool) {
	d.room(1)
	if d.colon == ":" {
		label += ":"
	}
	d.put(d.totalsLeft, d.y, d.size, label)
	d.sum(value, final)
	d.y += d.size * 1.5
}

func (d *drawing) taxText(rate int) string {
	return strings.Replace(d.tax, "%r", d.percent(rate), 1)
}

// drawTotals sets the sums below the items.
func (d *drawing) drawTotals() {
	s, l, out := d.sums, d.lang, &d.out
	sign := int64(1)
	if out.CreditNote && d.Seed%2 == 0 {
		sign = -1
	}
	d.room(6)
	cumulated := int64(0)
	for _, line := range s.lines {
		cumulated += line.quantity * line.price
	}
	switch d.scenario {
	case "discount":
		d.total(l.words("net")[2], cumulated, false)
		d.total(d.pick(d.fixed(26), l.words("discount")), -s.discount, false)
	case "contract":
		d.total(d.pick(d.fixed(26), l.words("contract")), s.contract, false)
		if d.Seed%3 == 0 {
			tax := part(s.contract, s.rate)
			d.total(d.taxText(s.rate), tax, false)
			d.total(d.gross, s.contract+tax, false)
		}
	case "cumulative", "final":
		d.drawEarlier(cumulated)
	case "charge":
		d.total(l.words("net")[2], cumulated, false)
		d.total(d.pick(d.fixed(26), l.words("charge")), s.charge, false)
	case "no tax":
		d.drawUntaxed()
		return
	case "tax within":
		d.total(d.gross, s.gross, true)
		d.total(strings.Replace(d.within, "%r", d.percent(s.rate), 1), s.tax, false)
		if d.fixed(60).IntN(100) < 25 {
			d.drawBalance()
		}
		return
	}
	d.drawSums(sign)
	switch d.scenario {
	case "balance":
		d.drawBalance()
	case "prepayment":
		d.total(d.pick(d.fixed(28), l.words("prepaid")), -s.prepaid, false)
		d.total(d.payable, s.gross-s.prepaid, true)
	case "retention":
		d.total(d.pick(d.fixed(28), l.words("retention")), -s.retention, false)
		d.total(d.payable, s.gross-s.retention, true)
	}
}

// drawBalance sets what was owed before, sometimes as much as is billed now, and what is to pay in all.
func (d *drawing) drawBalance() {
	balance := d.sums.balance
	if d.Seed%3 == 0 {
		balance = d.sums.gross
	}
	d.total(d.pick(d.fixed(28), d.lang.words("balance")), balance, false)
	d.total(d.payable, d.sums.gross+balance, true)
}

// drawSums sets net, tax and gross: below one another, in a row under their headings, or beside a table of taxes.
func (d *drawing) drawSums(sign int64) {
	s := d.sums
	plainly := d.scenario == "plain" || d.scenario == "retention" || d.scenario == "prepayment"
	switch form := d.fixed(60).IntN(100); {
	case form < 14 && d.scenario != "several rates":
		d.drawHeaded(sign)
	case form < 28 && d.table != 2:
		d.drawTaxes(sign)
		d.y += d.size
		if form%2 == 0 { // the table says the rest
			d.total(d.gross, s.gross*sign, true)
			return
		}
		d.drawStacked(sign)
	case form < 36 && d.table != 2:
		d.drawStacked(sign)
		d.y += d.size
		d.drawTaxes(sign)
	case plainly && d.table == 2: // a table of taxes over the total
		d.drawTaxes(sign)
		d.y += d.size / 2
		d.total(d.payable, s.gross*sign, true)
	default:
		d.drawStacked(sign)
	}
}

// drawStacked sets net, tax and gross below one another.
func (d *drawing) drawStacked(sign int64) {
	s := d.sums
	d.total(d.net, s.net*sign, false)
	d.total(d.taxText(s.rate), s.tax*sign, false)
	if d.scenario == "several rates" {
		d.total(d.taxText(s.second.rate), s.second.tax*sign, false)
	}
	if d.table == 3 && chance(d.fixed(27), 20) { // the total without a label
		d.end(rightEdge, d.y, d.size*1.2, d.amount(s.gross*sign, true))
		d.y += d.size * 2
		return
	}
	d.total(d.gross, s.gross*sign, true)
}

// taxWord is the tax's label without a rate.
func (d *drawing) taxWord() string {
	return strings.TrimSpace(strings.NewReplacer("%r", "", "()", "", "@", "", "+", "").Replace(d.tax))
}

// drawHeaded sets net, tax and gross in a row, under their headings.
func (d *drawing) drawHeaded(sign int64) {
	s := d.sums
	d.room(3)
	x := []float64{330, 430, rightEdge}
	if d.Seed%2 == 0 {
		x = []float64{d.left + 90, d.left + 210, d.left + 330}
	}
	for i, label := range []string{d.net, d.taxWord(), d.gross} {
		d.end(x[i], d.y, d.size, label)
	}
	d.y += d.size * 1.5
	if d.Seed%2 == 1 && d.Seed%3 > 0 { // other words on the left
		d.put(d.left, d.y, d.size*0.8, d.pick(d.fixed(63), d.lang.words("greeting")))
	}
	for i, v := range []int64{s.net, s.tax, s.gross} {
		d.end(x[i], d.y, d.size, d.amount(v*sign, i == 2))
	}
	d.y += d.size * 2
	if d.scenario == "plain" && d.Seed%3 == 0 {
		d.total(d.payable, s.gross*sign, true)
	}
}

// drawTaxes sets a table of the taxes by their rates, with what they make together where they are several.
func (d *drawing) drawTaxes(sign int64) {
	s, size := d.sums, d.size
	d.room(5)
	x := []float64{d.left + 50, d.left + 180, d.left + 290, d.left + 400}
	cells := func(texts ...string) {
		for i, t := range texts {
			if i < 3 || d.Seed%4 > 0 { // some tables don't say the gross sum
				d.end(x[i], d.y, size, t)
			}
		}
		d.y += size * 1.5
	}
	row := func(rate string, net, tax int64) {
		cells(rate, d.amount(net*sign, false), d.amount(tax*sign, false), d.amount((net+tax)*sign, d.table == 2))
	}
	cells(d.rate, d.base, d.taxWord(), d.gross)
	row(d.percent(s.rate), s.net-s.second.net, s.tax)
	if s.second.net > 0 {
		row(d.percent(s.second.rate), s.second.net, s.second.tax)
		row([]string{"", d.gross, "*"}[d.Seed%3], s.net, s.tax+s.second.tax)
	}
}

// drawEarlier sets what was done in all and billed before, net or with its tax.
func (d *drawing) drawEarlier(cumulated int64) {
	s, l := d.sums, d.lang
	d.total(d.pick(d.fixed(26), l.words("cumulative")), cumulated, false)
	label := d.pick(d.fixed(29), l.words("earlier"))
	if d.Seed%3 == 0 { // with tax
		tax := part(cumulated, s.rate)
		d.total(d.taxText(s.rate), tax, false)
		d.total(l.words("gross")[len(l.words("gross"))/2], cumulated+tax, false)
		rest := cumulated + tax - s.gross
		d.total(fill(label, "1"), -rest, false)
		return
	}
	for i, e := range s.earlier {
		d.total(fill(label, strconv.Itoa(i+1)), -e, false)
	}
}

// drawUntaxed sets the sums of a bill without tax.
func (d *drawing) drawUntaxed() {
	s := d.sums
	d.out.HasNet, d.out.HasTax = d.Seed%2 == 0 || d.Seed%3 == 0, d.Seed%2 == 0
	switch form := d.fixed(60).IntN(100); {
	case d.out.HasTax && form < 30:
		d.drawHeaded(1)
	case d.out.HasTax && form < 55:
		d.drawTaxes(1)
		d.y += d.size
		if form%2 == 0 { // the table says the rest
			d.total(d.gross, s.gross, true)
			break
		}
		fallthrough
	default:
		if d.out.HasNet {
			d.total(d.net, s.net, false)
		}
		if d.out.HasTax {
			d.total(d.taxText(0), 0, false)
		}
		d.total(d.gross, s.gross, true)
	}
	if chance(d.fixed(62), 30) { // some of it is paid
		paid := part(s.gross, 300)
		d.total(d.pick(d.fixed(28), d.lang.words("prepaid")), paid, false)
		d.total(d.payable, s.gross-paid, true)
	}
	if d.Seed%4 == 3 {
		return // small businesses say nothing of tax
	}
	d.put(d.left, d.y+4, d.size, d.pick(d.fixed(30), d.lang.words("reverse")))
	d.y += d.size * 2
}
