package layouts

import (
	"strconv"
	"strings"
)

// drawWorks sets the items of a letter: a table of whatever columns the trade needs.
func (d *drawing) drawWorks() {
	size, t, r := d.size, d.letter, d.fixed(130)
	h := d.headings
	headed, details, rates := t.works != 0, chance(r, 35), chance(r, 25)
	indent := 0.0
	if t.works == 2 || t.works == 4 {
		indent = 45
	}
	if headed {
		d.put(d.left+indent, d.y, size, h[0])
		if t.works != 1 {
			d.end(340, d.y, size, h[1])
			d.end(430, d.y, size, h[3])
		}
		if rates {
			d.end(475, d.y, size, d.rate)
		}
		d.end(rightEdge, d.y, size, h[4])
		d.y += size * 1.7
	}
	for i, l := range d.sums.lines {
		d.room(2)
		switch t.works {
		case 2: // by position
			d.put(d.left, d.y, size, strconv.Itoa(i+1)+[]string{"", ".", ".0"}[d.Seed%3])
		case 4: // by the number of the article or the day
			before := digits(d.r, 6)
			if d.Seed%2 == 0 {
				before = d.issued.AddDate(0, 0, -i-1).Format("02.01.")
			}
			d.put(d.left, d.y, size, before)
		}
		text := l.text
		if t.works < 2 && l.quantity > 1 { // the quantity in the text
			text = strconv.FormatInt(l.quantity, 10) + " x " + text + " à " + d.amount(l.price, false)
		}
		d.put(d.left+indent, d.y, size, text)
		if t.works > 1 {
			d.end(340, d.y, size, strconv.FormatInt(l.quantity, 10))
			d.end(430, d.y, size, d.amount(l.price, false))
		}
		if rates && headed {
			d.end(475, d.y, size, d.percent(d.sums.rate))
		}
		d.sum(l.quantity*l.price, false)
		d.y += size * 1.4
		if details && (i+d.Seed)%2 == 0 {
			d.put(d.left+indent, d.y, size*0.85, d.pick(d.r, d.lang.words("detail")))
			d.y += size * 1.3
		}
	}
	d.y += size
}

// sum sets an amount at the right edge, its currency in a column of its own where letters do so.
func (d *drawing) sum(value int64, total bool) {
	text := d.amount(value, total)
	if d.letter.apart {
		bare := strings.TrimSpace(strings.NewReplacer("€", "", "£", "", "$", "", d.land.currency, "").Replace(text))
		d.put(rightEdge-85, d.y, d.size, d.land.currency)
		text = bare
	}
	d.end(rightEdge, d.y, d.size, text)
}
