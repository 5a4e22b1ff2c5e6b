package layouts

import (
	"strconv"
	"strings"
)

// drawTerms sets when to pay, and what else is said of days and other documents.
func (d *drawing) drawTerms() {
	l, size := d.lang, d.size
	d.y += 20
	say := func(text string) {
		d.put(d.left, d.y, size, text)
		d.y += size * 1.5
	}
	if chance(d.fixed(50), 15) {
		other := numbered(d.r, d.numberForm, d.issued.Year(), d.initial())
		say(fill(d.pick(d.fixed(51), l.words("replaces")), other, d.day(d.issued.AddDate(0, 0, -1-d.r.IntN(90)))))
	}
	if chance(d.fixed(55), 25) {
		say(fill(d.pick(d.fixed(56), l.words("reference")), d.out.Number))
	}
	if d.out.CreditNote {
		return
	}
	if chance(d.fixed(57), 30) {
		say(strings.Replace(d.pick(d.fixed(58), l.words("said")), "%s", d.amount(int64(100*(10+d.r.IntN(90_000))), true), 1))
	}
	days := int(d.due.Sub(d.issued).Hours() / 24)
	if d.early && !d.earlyDays {
		early := d.day(d.issued.AddDate(0, 0, 1+d.r.IntN(max(1, days))))
		say(fill(one(d.r, l.words("early")), early))
		if d.Seed%2 == 0 { // and what is left to pay then, in the column of the totals
			d.put(d.totalsLeft, d.y, size, early)
			d.end(rightEdge, d.y, size, d.amount(d.sums.gross-part(d.sums.gross, 20), true))
			d.y += size * 1.5
		}
	}
	if !d.terms || d.scenario == "self-billed" {
		return
	}
	switch {
	case d.earlyDays && days >= 14:
		say(fill(d.pick(d.fixed(52), l.words("early days")), strconv.Itoa(days/3), strconv.Itoa(days)))
		d.dueSaid = true
	case d.openTerms && !d.dueSaid && d.Seed%3 == 0:
		say(fill(d.pick(d.fixed(54), l.words("debit")), d.day(d.due)))
		d.dueSaid = true
	case d.openTerms && !d.dueSaid:
		say(d.pick(d.fixed(53), l.words("open terms")))
	case d.Seed%2 == 0 || days < 5:
		say(fill(d.until(), d.day(d.due)))
		d.dueSaid = true
	case !d.dueSaid || chance(d.r, 80):
		say(fill(d.days(), strconv.Itoa(days)))
		d.dueSaid = true
	}
}

func (d *drawing) until() string { return d.pick(d.fixed(21), d.lang.words("until")) }
func (d *drawing) days() string  { return d.pick(d.fixed(22), d.lang.words("days")) }
