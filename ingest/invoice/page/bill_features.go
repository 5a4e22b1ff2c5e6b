package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// surroundings are what a document says of all its bills.
type surroundings struct {
	largest   int64 // of the totals, and of all figures
	highest   int64
	lastRow   int // of figures
	lastTotal int // row of the last labelled total

	exempt, zeroRate, taxed bool // words of it
	zeroTax, positiveTax    bool // a labelled tax of nothing; of something
	closing                 bool // net, tax and a labelled total agree
	settled                 bool // something was paid before
	rivals                  []rival
}

// rival is a labelled total that closes.
type rival struct {
	*bill
	contract bool
}

// maxRivals bounds the totals that are compared with each bill.
const maxRivals = 8

func (b *billing) around() surroundings {
	out := surroundings{exempt: b.mentions(b.noTax), zeroRate: b.mentions(b.zeroRate), taxed: b.mentions(b.anyTax), lastTotal: -1}
	for _, f := range b.figures {
		out.highest = max(out.highest, f.value)
		if f.is(roleGross, rolePayable) {
			out.largest = max(out.largest, f.value)
		}
		for _, sm := range f.sums {
			out.lastRow = max(out.lastRow, sm.item.row)
			if sm.role == roleGross {
				out.lastTotal = max(out.lastTotal, sm.item.row)
			}
			out.settled = out.settled || sm.role == roleOther && sm.weight == 3 && sm.value != 0 && !sm.column
			out.positiveTax = out.positiveTax || sm.role == roleTax && sm.value != 0 && !sm.column
			out.zeroTax = out.zeroTax || sm.role == roleTax && sm.value == 0
		}
	}
	for _, c := range b.bills {
		if !c.closes() || !c.labelledTotal() {
			continue
		}
		out.closing = true
		again := slices.ContainsFunc(out.rivals, func(r rival) bool { return r.gross == c.gross })
		if !again && !c.at.column && len(out.rivals) < maxRivals {
			out.rivals = append(out.rivals, rival{c, b.contractSum.MatchString(b.labelOf(c.at)) || b.contractSum.MatchString(b.labelOf(c.netAt))})
		}
	}
	return out
}

// look adds what is seen of each bill: how its parts are labelled, where they stand, and what else closes.
func (b *billing) look() {
	around := b.around()
	for _, c := range b.bills {
		seen := func(really bool, feature string) {
			if really {
				c.features = append(c.features, feature)
			}
		}
		seen(true, c.how)
		b.seenOfPart(c, "gross", b.byValue[c.gross], c.at)
		if c.netAt != nil && c.netAt != c.at {
			b.seenOfPart(c, "net", b.byValue[c.net], c.netAt)
		}
		if c.taxAt != nil && c.taxAt != c.at {
			b.seenOfPart(c, "tax", b.byValue[c.tax], c.taxAt)
		}
		b.seenOfTotal(c, around, seen)
		b.seenOfRivals(c, around.rivals, seen)
		if c.closes() {
			bare := c.netAt.role == roleNone && c.taxAt.role == roleNone
			seen(bare, "neither net nor tax has a label")
			seen(!around.taxed, "agree without a word of tax")
			seen(bare && !around.taxed, "neither net nor tax has a label, nor is there a word of tax")
			b.seenOfClosure(c, seen)
			continue
		}
		seen(around.closing, c.how+", while others close")
		if c.how == howUntaxed || c.how == howNet || c.how == howAlone || c.how == howWithin {
			seen(around.exempt && !around.closing, c.how+", free of tax")
			seen(around.zeroRate && !around.closing, c.how+", rate of nothing")
			seen(!around.taxed, c.how+", no word of tax")
			seen(around.zeroTax && !around.closing, c.how+", tax of nothing")
			seen(around.positiveTax, c.how+", a tax is printed")
			near, beside := b.untaxedNear(c)
			seen(near, c.how+", labelled net and gross")
			seen(beside, c.how+", a tax of nothing beside it")
		}
	}
}

// untaxedNear reports whether the total of a bill without tax is printed as net and as gross, near one another, and
// whether a labelled tax of nothing stands in a row with it.
func (b *billing) untaxedNear(c *bill) (near, beside bool) {
	const rows = 4
	f := b.byValue[c.gross]
	for _, n := range f.sums {
		for _, g := range f.sums {
			total := g.role == roleGross || g.role == rolePayable
			near = near || n.role == roleNet && total && abs(n.item.row-g.item.row) <= rows
		}
	}
	if zero := b.byValue[0]; zero != nil {
		for _, t := range zero.sums {
			for _, g := range f.sums {
				beside = beside || t.role == roleTax && t.item.row == g.item.row
			}
		}
	}
	return near, beside
}

// seenOfPart adds how a part of a bill is labelled, wherever its figure stands, and the words beside it.
func (b *billing) seenOfPart(to *bill, name string, f *figure, at *sum) {
	c := candidate{}
	if f != nil {
		for _, sm := range f.sums {
			feature := fmt.Sprintf("%s labelled %s", name, roleNames[sm.role])
			if sm.column {
				feature += ", column"
			} else if sm.role != roleNone {
				feature += fmt.Sprintf(" %d", sm.weight)
			}
			c.seen(!slices.Contains(c.features, feature), feature)
		}
	}
	label := b.labelOf(at)
	if at.role == roleNone {
		c.words(name, label)
	}
	c.seen(!hasLetters(label), name+" without words")
	c.seen(len(label) > maxLabelled/2, name+" in a sentence")
	c.seen(hasLetters(at.item.folded[at.amount.end:]), name+" before words")
	c.seen(b.contractSum.MatchString(label), name+" of a contract")
	c.seen(b.headsOver(at), name+" under a heading of items")
	to.features = append(to.features, c.features...)
}

var roleNames = map[role]string{roleNone: "by nothing", roleOther: "other", roleNet: "net", roleTax: "tax", roleTaxWithin: "tax within",
	roleGross: "gross", rolePayable: "payable", roleRounding: "rounding"}

// headsOver reports whether a sum stands in a column that a heading of the items is over.
func (s *sheet) headsOver(sm *sum) bool {
	for r := sm.item.row - 1; r >= 0 && r >= sm.item.row-maxHeaderDistance; r-- {
		row := s.rows[r]
		if row[0].page != sm.item.page || len(row) < 3 {
			continue
		}
		for _, head := range row {
			if aligned(head, sm.item) && s.itemHeading.MatchString(head.folded) && len(head.amounts) == 0 && s.headsItems(head) {
				return len(s.rows[sm.item.row]) >= 3
			}
		}
	}
	return false
}

// seenOfTotal adds where a bill's total stands among all figures.
func (b *billing) seenOfTotal(c *bill, around surroundings, seen func(bool, string)) {
	g := c.at
	seen(c.gross == around.largest, "gross is the largest labelled one")
	seen(c.gross == around.highest, "gross is the largest figure")
	seen(g.item.row >= around.lastRow-1, "gross is the last")
	seen(g.role == roleGross && g.item.row == around.lastTotal, "gross is the last labelled total")
	seen(g.amount.currency != "", "gross has a currency")
	seen(g.item.size >= larger*b.median, "gross is large")
	seen(g.value < 0, "gross is negative")
	seen(len(b.byValue[c.gross].sums) > 1, "gross is printed again")
	seen(around.settled, c.how+", something was paid before")
	seen(around.settled && g.role == rolePayable, "what is left to pay, something was paid before")
	seen(b.addUp(g), c.how+", the items add up to gross")
	// What is left to pay of it, and what it may be left of.
	for _, sm := range b.all {
		if sm.role != rolePayable || sm.column || absolute(sm.value) == c.gross {
			continue
		}
		rest := b.byValue[absolute(c.gross-absolute(sm.value))]
		more := "less"
		if absolute(sm.value) > c.gross {
			more = "more"
		}
		seen(rest != nil, more+" is left to pay, by a printed sum")
		seen(rest == nil, more+" is left to pay, nobody says why")
	}
}

// seenOfClosure adds how the parts of a bill that agree stand to one another.
func (b *billing) seenOfClosure(c *bill, seen func(bool, string)) {
	n, t, g := c.netAt, c.taxAt, c.at
	var beside []int64
	for _, it := range b.rows[t.item.row] {
		for _, a := range it.amounts {
			if a.percent && a.value > 0 && a.value < maxRate {
				beside = append(beside, a.value)
			}
		}
	}
	exact := leads(beside, c.net, c.tax, 1)
	seen(exact, "the rate beside the tax leads to it")
	seen(!exact && len(beside) > 0, "another rate beside the tax")
	seen(!exact && leads(b.rates, c.net, c.tax, 10), "a rate leads to the tax")
	seen(n.item.row < t.item.row && t.item.row < g.item.row && g.item.row-n.item.row <= 6, "one below the other")
	seen(n.item.row == t.item.row && t.item.row == g.item.row, "in one row")
	seen(n.item.row == g.item.row && t.item.row == g.item.row && b.namedTotal(g), "in one row of totals")
	seen(n.item.row > g.item.row, "gross above net")
	seen(t.item.row > g.item.row, "gross above tax")
	seen(g.item.page != n.item.page, "on several pages")
	seen(math.Abs(n.item.x1-g.item.x1) < 4 && math.Abs(t.item.x1-g.item.x1) < 4, "in one column")
	seen(g.column != n.column, "gross or net in a column alone")
	seen(g.column && n.column && g.item.row != n.item.row, "columns, in different lines")
	seen(b.addUp(n), "the items add up to net")
	seen(n.value < 0 != (g.value < 0), "net and gross of different signs")
}

// namedTotal reports whether the row of a sum begins with the name of a total.
func (s *sheet) namedTotal(sm *sum) bool {
	named, _ := s.roleOf(strings.TrimSpace(s.rows[sm.item.row][0].folded))
	return named == roleGross || named == roleNet
}

// seenOfRivals adds what is seen of a bill beside others that close: which of several totals is the invoice's own needs
// a reason, such as a label of contracts, or what was billed before printed between them.
func (b *billing) seenOfRivals(c *bill, rivals []rival, seen func(bool, string)) {
	known := map[string]bool{}
	say := func(really bool, feature string) {
		seen(really && !known[feature], feature)
		known[feature] = known[feature] || really
	}
	for _, o := range rivals {
		if o.gross == c.gross || c.at.column {
			continue
		}
		size, place := "smaller", "above"
		if o.gross > c.gross {
			size = "larger"
		}
		above, below := o.at, c.at
		if o.at.item.row > c.at.item.row {
			place, above, below = "below", c.at, o.at
		}
		feature := fmt.Sprintf("a %s total closes %s", size, place)
		say(true, feature)
		say(b.printedBetween(above, below, absolute(o.gross-c.gross)), feature+", the difference is printed between")
		say(o.contract, feature+", of a contract")
	}
}

// addUp reports whether the figures in the column above a sum add up to it.
func (s *sheet) addUp(sm *sum) bool {
	return s.addUpIn(sm, func(it *item) bool { return math.Abs(it.x1-sm.item.x1) < 4 })
}

// addUpIn is addUp for the figures that are in the column.
func (s *sheet) addUpIn(sm *sum, inColumn func(*item) bool) bool {
	total := int64(0)
	for r := sm.item.row - 1; r >= max(0, sm.item.row-maxItems); r-- {
		for _, it := range s.rows[r] {
			if inColumn(it) && len(it.amounts) == 1 && it.amounts[0].money() {
				total += it.amounts[0].value
			}
		}
		if total != 0 && absolute(total) == absolute(sm.value) {
			return true
		}
	}
	return false
}

// maxItems bounds the rows above a sum that may add up to it.
const maxItems = 60
