package layouts

import (
	"fmt"
	"strconv"
)

// sums are what an invoice bills, in minor units.
type sums struct {
	lines           []line
	net, tax, gross int64
	rate            int // tenths of a percent
	second          taxed
	discount        int64
	earlier         []int64
	contract        int64
	prepaid         int64
	retention       int64
	charge          int64 // freight and the like, a part of net
	balance         int64 // brought forward: to pay beside gross
}

type line struct {
	text            string
	quantity, price int64
}

// taxed is the part of a bill at another rate.
type taxed struct {
	net, tax int64
	rate     int
}

// part of a value, in tenths of a percent, rounded.
func part(value int64, tenths int) int64 {
	if value < 0 {
		return -part(-value, tenths)
	}
	return (value*int64(tenths) + 500) / 1000
}

func (d *drawing) calculate() {
	s := &d.sums
	for range 1 + d.r.IntN(7) {
		q := int64(1)
		if chance(d.r, 50) {
			q = int64(1 + d.r.IntN(40))
		}
		price := int64(500 + d.r.IntN(90_000))
		if chance(d.r, 30) {
			price = price / 100 * 10_000
		}
		s.lines = append(s.lines, line{one(d.r, d.lang.words("works")), q, price})
		s.net += q * price
	}
	s.rate = d.land.rates[d.r.IntN(len(d.land.rates))]
	s.contract = s.net + int64(d.r.IntN(9_000_000))
	figures := d.fixed(70)
	switch d.scenario {
	case "charge":
		s.charge = int64(100 * (3 + figures.IntN(150)))
		s.net += s.charge
	case "balance", "tax within":
		s.balance = int64(1_000 + figures.IntN(900_000))
	}
	switch d.scenario {
	case "discount":
		s.discount = part(s.net, 50)
		s.net -= s.discount
	case "cumulative", "final":
		n := 1 + d.r.IntN(3)
		rest := s.net
		for range n {
			e := part(rest, 200+d.r.IntN(300))
			s.earlier = append(s.earlier, e)
			rest -= e
		}
		s.net = rest
	case "no tax":
		s.rate = 0
	case "retention":
		s.retention = 1
	}
	s.tax = part(s.net, s.rate)
	if d.scenario == "several rates" {
		s.second = taxed{net: part(s.net, 300), rate: 100}
		if s.rate == 100 {
			s.second.rate = 50
		}
		s.second.tax = part(s.second.net, s.second.rate)
		s.tax = part(s.net-s.second.net, s.rate)
	}
	if d.scenario == "tax within" { // the items' prices are with it
		s.tax = s.net - (s.net*1000+int64(1000+s.rate)/2)/int64(1000+s.rate)
		s.net -= s.tax
	}
	s.gross = s.net + s.tax + s.second.tax
	if d.scenario == "prepayment" {
		s.prepaid = part(s.gross, 300)
	}
	if s.retention > 0 {
		s.retention = part(s.gross, 50)
	}
	out := &d.out
	out.Net, out.Tax, out.Gross, out.HasNet, out.HasTax = s.net, s.tax+s.second.tax, s.gross, true, true
	if out.CreditNote {
		out.Net, out.Tax, out.Gross = -out.Net, -out.Tax, -out.Gross
	}
}

// amount writes a sum as the country does; total amounts carry the currency.
func (d *drawing) amount(v int64, total bool) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	whole := strconv.FormatInt(v/100, 10)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + d.land.group + whole[i:]
	}
	s := sign + whole + d.land.point + fmt.Sprintf("%02d", v%100)
	mark := map[string]string{"EUR": "€", "GBP": "£", "USD": "$", "CHF": "CHF"}[d.land.currency]
	switch {
	case d.money == 0 || d.money == 1 && !total:
		return s
	case d.money == 2:
		return d.land.currency + " " + s
	case d.money == 3 && mark != "CHF":
		return s + " " + mark
	case mark == "CHF":
		return mark + " " + s
	}
	return mark + " " + s
}

func (d *drawing) percent(tenths int) string {
	s := strconv.Itoa(tenths / 10)
	if tenths%10 != 0 {
		s += d.land.point + strconv.Itoa(tenths%10)
	}
	if d.Seed%3 == 0 {
		return s + "%"
	}
	return s + " %"
}

const rightEdge = 545.0

// room begins a new page where the rest doesn't fit.
func (d *drawing) room(lines int) {
	if d.y+float64(lines)*d.size*1.5 > 770 {
		d.newPage()
		if !d.headAway && !d.letter.nameless && chance(d.fixed(25), 50) {
			d.put(d.left, d.y, d.size, d.seller.name)
			d.y += 30
		}
	}
}

func (d *drawing) drawItems() {
	size := d.size
	d.y += 10
	h := d.headings
	columns := []float64{300, 350, 440, rightEdge}
	d.put(d.left, d.y, size, h[0])
	if d.table != 4 {
		d.end(columns[0], d.y, size, h[1])
		if d.lineUnit {
			d.put(columns[0]+10, d.y, size, h[2])
		}
		d.end(columns[2], d.y, size, h[3])
	}
	d.end(columns[3], d.y, size, h[4])
	d.y += size * 1.7
	for i, l := range d.sums.lines {
		d.room(1)
		name := l.text
		if d.datedItems {
			from := d.otherDay()
			name = d.day(from) + " " + name
			if d.Seed%2 == 0 {
				name = l.text + " (" + d.day(from) + " - " + d.day(from.AddDate(0, 1, -1)) + ")"
			}
		}
		if d.table == 1 {
			name = strconv.Itoa(i+1) + "  " + name
		}
		d.put(d.left, d.y, size, name)
		if d.table != 4 {
			d.end(columns[0], d.y, size, strconv.FormatInt(l.quantity, 10))
			if d.lineUnit {
				d.put(columns[0]+10, d.y, size, []string{"h", "m2", "Stk", "pc"}[i%4])
			}
			d.end(columns[2], d.y, size, d.amount(l.price, false))
		}
		d.end(columns[3], d.y, size, d.amount(l.quantity*l.price, false))
		d.y += size * 1.5
	}
	d.y += 8
}
