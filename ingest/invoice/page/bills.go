package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// bill is one way to take the figures of a document: which of them are net, tax and gross. Values are without signs.
type bill struct {
	how             string
	net, tax, gross int64
	// Where they stand; at is that of the gross sum. What stands nowhere is not known.
	netAt, taxAt, at *sum
	features         []string
}

func (b *bill) key() string {
	return fmt.Sprintf("%s %s %d", part(b.net, b.netAt), part(b.tax, b.taxAt), b.gross)
}

func part(value int64, at *sum) string {
	if at == nil {
		return "-"
	}
	return fmt.Sprint(value)
}

// labelled reports whether all parts of a bill have labels as such.
func (b *bill) labelled() bool {
	net := b.netAt == nil || b.netAt == b.at || b.netAt.role == roleNet
	tax := b.taxAt == nil || b.taxAt == b.at || b.taxAt.role == roleTax || b.taxAt.role == roleTaxWithin
	return net && tax && b.labelledTotal()
}

// labelledTotal reports whether a bill's total has a label as such.
func (b *bill) labelledTotal() bool { return b.at.role == roleGross || b.at.role == rolePayable }

// closes reports whether net, tax and gross are all printed, and agree.
func (b *bill) closes() bool { return b.how == howCloses || b.how == howRates || b.how == howRounded }

// How the figures of a bill go together.
const (
	howCloses  = "net + tax = gross"
	howRates   = "net + several taxes = gross"
	howRounded = "net + tax + rounding = gross"
	howCharge  = "net + tax + charge = gross"
	howParts   = "parts make up the total"
	howRated   = "net and rate give gross"
	howWithin  = "tax within gross"
	howUntaxed = "no tax"
	howNet     = "no word of tax"
	howAlone   = "gross alone"
)

// Sums is the field of the model that decides on net, tax and gross at once. Keys of its candidates are the three, "-"
// where one isn't known, in 1/10,000.
const Sums = "sums"

// PerMinor is how many parts of a sum make up a minor unit of a currency with two decimals.
const PerMinor = 100

// Bounds of what is combined.
const (
	maxFigures = 220
	maxBills   = 300
	maxRates   = 10
)

// figure is a value that is printed as money, without its sign, and where it stands.
type figure struct {
	value int64
	sums  []*sum
}

// is reports whether a figure is labelled as one of some roles.
func (f *figure) is(roles ...role) bool {
	return slices.ContainsFunc(f.sums, func(sm *sum) bool { return slices.Contains(roles, sm.role) })
}

// isOther reports whether a figure's labels say that it's no tax: a balance brought forward, a prepayment, a charge.
func (f *figure) isOther() bool { return f.is(roleOther) && !f.is(roleTax, roleTaxWithin) }

// deductedFrom reports whether a figure is printed with a minus alone, and a total without: what is withheld of it, or was paid before, is
// neither its tax nor its net sum.
func (f *figure) deductedFrom(total *figure) bool {
	negative := func(sm *sum) bool { return sm.value < 0 }
	return !slices.ContainsFunc(f.sums, func(sm *sum) bool { return !negative(sm) }) && !slices.ContainsFunc(total.sums, negative)
}

// nearest is where a figure stands in one of some roles, as near as possible to a row.
func (f *figure) nearest(row int, roles ...role) *sum {
	distance := func(sm *sum) int {
		d := 2*abs(sm.item.row-row) - 3*sm.weight
		if sm.item.row > row {
			d++ // rather above
		}
		if !slices.Contains(roles, sm.role) {
			d += 60
		}
		if sm.column {
			d += 10
		}
		return d
	}
	return slices.MinFunc(f.sums, func(a, b *sum) int { return cmp.Compare(distance(a), distance(b)) })
}

// total is where a figure stands under the plainest label of a total; of equals the last, for totals stand at the end.
func (f *figure) total() *sum {
	best := f.sums[0]
	rank := func(sm *sum) int {
		r := 0
		switch sm.role {
		case roleGross:
			r = 20 + 4*sm.weight
		case rolePayable:
			r = 19 + 4*sm.weight
		}
		if sm.column {
			r -= 2
		}
		return r
	}
	for _, sm := range f.sums {
		if rank(sm) >= rank(best) {
			best = sm
		}
	}
	return best
}

// billing is what a document's bills are made of.
type billing struct {
	*sheet
	all     []sum // that have a label
	figures []*figure
	byValue map[int64]*figure
	rates   []int64 // of tax, in 1/10,000 of a percent
	percent []int64 // those of rates and of anything else
	bills   []*bill
	known   map[string]bool // by how and key
}

// billing lists the ways to take the figures.
func (s *sheet) billing(all []sum) *billing {
	b := &billing{sheet: s, all: all, byValue: map[int64]*figure{}, known: map[string]bool{}}
	b.collect()
	b.taxed()
	b.untaxed()
	b.withCharge()
	b.inParts()
	b.look()
	return b
}

// collect finds what is printed as money, by its value: all that has a label, and of the rest the last; and rates of tax.
func (b *billing) collect() {
	add := func(sm *sum) {
		v := absolute(sm.value)
		f := b.byValue[v]
		if f == nil {
			f = &figure{value: v}
			b.byValue[v] = f
			b.figures = append(b.figures, f)
		}
		f.sums = append(f.sums, sm)
	}
	labelled := map[place]bool{}
	for i := range b.all {
		if sm := &b.all[i]; len(b.figures) < maxFigures {
			add(sm)
			labelled[place{item: sm.item, from: sm.amount.start}] = true
		}
	}
	listed := func(sm sum) bool { return b.lists[sm.item.row] }
	own := !slices.ContainsFunc(b.all, listed)
	for r := len(b.rows) - 1; r >= 0; r-- {
		if own && b.lists[r] {
			continue
		}
		taxed := false
		for _, it := range b.rows[r] {
			taxed = taxed || b.anyTax.MatchString(it.folded)
			for _, a := range it.amounts {
				if a.money() && a.value != 0 && !insideDate(it, a) && !labelled[place{item: it, from: a.start}] && len(b.figures) < maxFigures {
					add(&sum{value: a.value, item: it, amount: a})
				}
			}
		}
		for _, it := range b.rows[r] {
			for _, a := range it.amounts {
				if !a.percent || a.value <= 0 || a.value >= maxRate {
					continue
				}
				if !slices.Contains(b.percent, a.value) {
					b.percent = append(b.percent, a.value)
				}
				if taxed && !slices.Contains(b.rates, a.value) {
					b.rates = append(b.rates, a.value)
				}
			}
		}
	}
}

// maxRate is beyond what any tax on sales is, 50 %.
const maxRate = 500_000

func (b *billing) add(c bill) {
	if k := c.how + c.key(); c.gross != 0 && len(b.bills) < maxBills && !b.known[k] {
		b.known[k] = true
		b.bills = append(b.bills, &c)
	}
}

// taxed adds the bills of a net sum, one tax or several, and a total.
func (b *billing) taxed() {
	rates := b.ratesTogether()
	var rounding []int64
	for _, sm := range b.all {
		if v := absolute(sm.value); sm.role == roleRounding && v != 0 && v <= maxRounding {
			rounding = append(rounding, v, -v)
		}
	}
	for _, n := range b.figures {
		for _, g := range b.figures {
			tax := g.value - n.value
			if n.value == 0 || tax <= 0 || tax*5 > n.value*2 || n.deductedFrom(g) {
				continue
			}
			whole := func(how string, tax int64, t *figure) {
				at := g.total()
				c := bill{how: how, net: n.value, tax: tax, gross: g.value, at: at, netAt: n.nearest(at.item.row, roleNet)}
				if t != nil {
					c.taxAt = t.nearest(at.item.row, roleTax)
				}
				b.add(c)
			}
			switch together := n.is(roleNet) && g.is(roleGross, rolePayable); {
			case b.byValue[tax] != nil && !b.byValue[tax].isOther() && !b.byValue[tax].deductedFrom(g):
				whole(howCloses, tax, b.byValue[tax])
			case rates[tax] != nil && (n.is(roleNet) || g.is(roleGross, rolePayable)):
				whole(howRates, tax, rates[tax])
			case together:
				for _, r := range rounding {
					if t := b.byValue[tax+r]; t != nil && t.is(roleTax) {
						whole(howRounded, tax+r, t)
					}
				}
				if leads(b.rates, n.value, tax, 10) {
					whole(howRated, 0, nil)
				}
			}
		}
	}
}

// ratesTogether maps the sums of taxes of two to five rates to the first of them.
func (b *billing) ratesTogether() map[int64]*figure {
	var rates []*figure
	for _, f := range b.figures {
		taxed := slices.ContainsFunc(f.sums, func(sm *sum) bool {
			return sm.role == roleTax && sm.rate || b.ratedTax(sm) || b.taxInLine(sm)
		})
		if taxed && f.value != 0 && len(rates) < maxRates {
			rates = append(rates, f)
		}
	}
	out := map[int64]*figure{}
	for mask := range 1 << len(rates) {
		total, n := int64(0), 0
		var first *figure
		for i, f := range rates {
			if mask>>i&1 == 1 {
				total += f.value
				if n++; first == nil {
					first = f
				}
			}
		}
		if n >= 2 && n <= 5 && out[total] == nil {
			out[total] = first
		}
	}
	return out
}

// taxInLine reports whether a labelled tax stands in the next row above or below another one, in its column: one line for each rate, which
// all are named or none is, for a duty below a rated tax is none on the same sums.
func (b *billing) taxInLine(sm *sum) bool {
	if sm.role != roleTax || sm.column {
		return false
	}
	return slices.ContainsFunc(b.all, func(o sum) bool {
		return o.role == roleTax && !o.column && o.rate == sm.rate && o.item.page == sm.item.page && abs(o.item.row-sm.item.row) == 1 &&
			math.Abs(o.item.x1-sm.item.x1) < 4 && absolute(o.value) != absolute(sm.value)
	})
}

// ratedTax reports whether a rate and a base in a sum's row lead to it.
func (b *billing) ratedTax(sm *sum) bool {
	if sm.role != roleNone {
		return false
	}
	var rates, bases []int64
	for _, it := range b.rows[sm.item.row] {
		for _, a := range it.amounts {
			switch {
			case a.percent && a.value > 0 && a.value < maxRate:
				rates = append(rates, a.value)
			case a.money() && absolute(a.value) > absolute(sm.value):
				bases = append(bases, absolute(a.value))
			}
		}
	}
	return slices.ContainsFunc(bases, func(base int64) bool { return leads(rates, base, absolute(sm.value), 1) })
}

// untaxed adds the bills of a total alone: without tax, with the tax within it, or with both unknown.
func (b *billing) untaxed() {
	largest := int64(0)
	for _, f := range b.figures {
		if f.value > largest && !b.countsElsewhere(f) {
			largest = f.value
		}
	}
	for _, g := range b.figures {
		at := g.total()
		if !g.is(roleGross, rolePayable, roleNet) && g.value != largest || b.countsElsewhere(g) {
			continue
		}
		b.add(bill{how: howAlone, gross: g.value, at: at})
		b.add(bill{how: howUntaxed, net: g.value, gross: g.value, at: at, netAt: at, taxAt: at})
		b.add(bill{how: howNet, net: g.value, gross: g.value, at: at, netAt: at})
		for _, t := range b.figures {
			if t.value != 0 && t.value*10 < g.value*3 && t.is(roleTaxWithin, roleTax) {
				b.add(bill{how: howWithin, net: g.value - t.value, tax: t.value, gross: g.value, at: at, netAt: at,
					taxAt: t.nearest(at.item.row, roleTaxWithin, roleTax)})
			}
		}
	}
}

// countsElsewhere reports whether a figure is called that of something else wherever it stands.
func (b *billing) countsElsewhere(f *figure) bool {
	return !slices.ContainsFunc(f.sums, func(sm *sum) bool { return !b.ofOthers(sm) })
}

// withCharge adds bills with a charge beside the tax: a stamp duty, a tourist tax, expenses laid out. Whether it belongs
// to the net sum nobody says.
func (b *billing) withCharge() {
	var nets, taxes []*figure
	for _, f := range b.figures {
		if f.is(roleNet) && len(nets) < maxRates {
			nets = append(nets, f)
		}
		if f.is(roleTax) && f.value != 0 && len(taxes) < maxRates {
			taxes = append(taxes, f)
		}
	}
	for _, g := range b.figures {
		if !g.is(roleGross) {
			continue
		}
		for _, n := range nets {
			for _, t := range taxes {
				if n.value <= t.value || n.value+t.value >= g.value {
					continue
				}
				if o := b.byValue[g.value-n.value-t.value]; o != nil && o.is(roleOther) {
					at := g.total()
					b.add(bill{how: howCharge, tax: t.value, gross: g.value, at: at, taxAt: t.nearest(at.item.row, roleTax)})
				}
			}
		}
	}
}

// inParts adds the bills whose total all sums right above it make up together, such as goods and freight, each net
// and with its tax.
func (b *billing) inParts() {
	for gi := range b.all {
		g := &b.all[gi]
		if g.role != roleGross || g.column {
			continue
		}
		first := g.item.row
		lines := map[int]*sum{} // the last sum of each row
		for i := range b.all {
			sm := &b.all[i]
			above := sm.item.page == g.item.page && sm.item.row < g.item.row && sm.item.row >= g.item.row-maxComponents
			if !above || sm.column || sm.role != roleNet && sm.role != roleTax && sm.role != roleOther {
				continue
			}
			if was := lines[sm.item.row]; was == nil || sm.item.col > was.item.col || sm.amount.start > was.amount.start {
				lines[sm.item.row] = sm
			}
			if sm.role == roleNet {
				first = min(first, sm.item.row)
			}
		}
		c := bill{how: howParts, gross: absolute(g.value), at: g}
		nets, plain := 0, true
		for row := first; row < g.item.row; row++ {
			sm := lines[row]
			if sm == nil || sm.value == 0 {
				continue
			}
			label := b.labelOf(sm)
			switch {
			case sm.role == roleTax || sm.role == roleOther && b.anyTax.MatchString(label):
				c.taxAt, c.tax = sm, c.tax+absolute(sm.value)
			case sm.role == roleNet || b.netWord.MatchString(label):
				if nets++; c.netAt == nil {
					c.netAt = sm
				}
				c.net += absolute(sm.value)
			default:
				plain = false // a charge: of the net sum or beside the tax
			}
		}
		if plain && nets > 1 && c.taxAt != nil && c.net+c.tax == c.gross {
			b.add(c)
		}
	}
}

// leads reports whether one of some rates leads from a net sum to a tax, but for some cents.
func leads(rates []int64, net, tax, cents int64) bool {
	return slices.ContainsFunc(rates, func(rate int64) bool { return absolute(net/100*rate/10_000-tax) <= 100*cents })
}
