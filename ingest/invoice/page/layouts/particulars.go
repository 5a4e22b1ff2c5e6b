package layouts

import (
	"fmt"
	"slices"
	"strings"
)

// particulars are what a letter says of the invoice in short, under labels, with all else that has one: in the biller's order.
func (d *drawing) particulars(number, date bool) []pair {
	r, l := d.fixed(120), d.lang
	var pairs []pair
	if number {
		pairs = append(pairs, pair{d.Family.number, d.out.Number})
	}
	if date {
		pairs = append(pairs, pair{d.date, d.day(d.issued)})
	}
	if d.dueInMeta && !d.out.CreditNote {
		pairs = append(pairs, pair{d.Family.due, d.day(d.due)})
		d.dueSaid = true
	}
	for range d.letter.others {
		switch r.IntN(10) {
		case 0:
			pairs = append(pairs, pair{d.pick(r, l.words("other date")), d.day(d.otherDay())})
		case 1:
			pairs = append(pairs, pair{d.pick(r, l.words("contact")), d.somebody(d.r)})
		case 2:
			pairs = append(pairs, pair{one(r, l.words("phone")), d.seller.phone})
		case 3:
			pairs = append(pairs, pair{strings.TrimSuffix(d.vatLabel(), d.colon), []string{d.seller.taxID, d.buyer.taxID}[r.IntN(2)]})
		case 4:
			pairs = append(pairs, pair{d.pick(r, l.words("third")), d.place()})
		default:
			pairs = append(pairs, pair{d.pick(r, slices.Concat(l.words("other"), l.words("more other"))), d.otherNumber()})
		}
	}
	r.Shuffle(len(pairs), func(i, k int) { pairs[i], pairs[k] = pairs[k], pairs[i] })
	return pairs
}

// place is where the work was done.
func (d *drawing) place() string {
	return one(d.r, d.lang.words("streets")) + " " + fmt.Sprint(1+d.r.IntN(99))
}

// matter is what a letter is about.
func (d *drawing) matter() string {
	return phrase(one(d.r, d.lang.words("works")), []string{"–", ",", "/"}[d.Seed%3], d.place())
}

// drawBlock sets the title, the particulars and what is said before the items.
func (d *drawing) drawBlock() {
	size, t, l := d.size, d.letter, d.lang
	numbered := phrase(d.title, d.titleNo, whole(d.out.Number))
	day := d.day(d.issued)
	dated := []string{d.seller.town + ", " + day, day, phrase(d.seller.town+",", one(d.fixed(121), l.words("on the")), day)}[d.Seed%3]
	beside := slices.Contains([]int{0, 1, 5}, t.address) && !t.third // there is room on the right of the address
	title := func() {
		if t.titled {
			d.put(d.left, d.y, d.titleSize, d.coded())
			d.y += d.titleSize * 1.7
		}
	}
	d.y += size * 2
	switch t.block {
	case 0, 1: // a column on the right, beside the address where it can
		pairs := d.particulars(true, true)
		y := d.y
		if beside {
			y = max(125, d.y-size*8, d.side+size)
		}
		end := d.labelled(350, y, pairs)
		d.y = max(d.y, end) + size
		title()
	case 2: // a row of labels over their values
		if d.Seed%2 == 0 {
			title()
		}
		d.headed(d.particulars(true, true))
		if d.Seed%2 == 1 {
			title()
		}
	case 3: // two pairs in a row
		title()
		for i, p := range d.particulars(true, true) {
			x := d.left + float64(i%2)*260
			d.put(x, d.y, size, p.label+d.colon)
			d.put(x+max(95, width(p.label+d.colon, size)+12), d.y, size, p.value)
			if i%2 == 1 {
				d.y += size * 1.6
			}
		}
		d.y += size * 3
	case 4: // all in one line, or in as many as it takes
		title()
		mark := []string{" | ", " · ", "  ", " – "}[d.Seed%4]
		var parts []string
		for _, p := range d.particulars(true, true) {
			parts = append(parts, p.label+d.colon+" "+whole(p.value))
		}
		d.y = d.paragraph(d.left, d.y, size, 490, strings.Join(parts, mark)) + size
	case 5: // labels over their values, one below the other
		x, y := 430.0, max(130, d.side+size)
		if !beside {
			x, y = d.left, d.y
		}
		for _, p := range d.particulars(true, true) {
			d.put(x, y, size*0.85, p.label)
			d.put(x, y+size*1.2, size, p.value)
			y += size * 2.9
		}
		d.y = max(d.y, y) + size
		title()
	case 6: // the number in the title; place and day
		d.labelled(360, max(d.y-size*6, 130, d.side+size), d.particulars(false, false))
		d.y += size * 3
		d.end(rightEdge, d.y, size, dated)
		d.y += size * 2
		d.put(d.left, d.y, d.titleSize, numbered)
		d.y += d.titleSize * 1.8
	case 7: // the number in the line of the subject
		d.put([]float64{d.left, 380}[d.Seed%2], d.y, size, dated)
		d.y += size * 2.5
		parts := []string{t.subject + ":", numbered}
		if d.Seed%3 > 0 {
			parts = append(parts, []string{"–", "/", ","}[d.Seed%3], d.pick(d.fixed(122), l.words("other")), d.otherNumber())
		}
		d.put(d.left, d.y, size, phrase(parts...))
		d.y += size * 2
	case 8: // in a sentence below the title
		title()
		text := phrase(d.Family.number, whole(d.out.Number)+",", d.date, day+".")
		if d.Seed%2 == 0 {
			text = phrase(numbered, d.dated, day+".")
		}
		for _, p := range d.particulars(false, false) {
			text = phrase(text, p.label+d.colon, p.value+".")
		}
		d.y = d.paragraph(d.left, d.y, size, 490, text) + size
	case 9: // the title on the right, the number below it, then labels
		y := max(d.y-size*6, 130, d.side+size)
		d.end(rightEdge, y, d.titleSize, d.title)
		d.end(rightEdge, y+d.titleSize*1.3, size*1.1, phrase(d.titleNo, d.out.Number))
		y = d.labelled(350, y+d.titleSize*1.3+size*2, d.particulars(false, true))
		d.y = max(d.y, y) + size
	case 10: // a box of a number and a day, above all its labels in one line
		title()
		d.put(d.left, d.y, size*1.2, d.out.Number)
		d.put(d.left+200, d.y, size*1.2, day)
		d.put(d.left, d.y+size*1.4, size*0.85, d.Family.number)
		d.put(d.left+200, d.y+size*1.4, size*0.85, d.date)
		d.y = d.labelled(d.left, d.y+size*4, d.particulars(false, false)) + size
	}
	d.drawOpening()
}

// labelled sets pairs one below the other, values beside their labels.
func (d *drawing) labelled(x, y float64, pairs []pair) float64 {
	for _, p := range pairs {
		end := d.put(x, y, d.size, p.label+d.colon)
		switch d.Seed % 4 {
		case 0:
			d.end(rightEdge, y, d.size, p.value)
		case 1:
			d.put(end+d.size*0.3, y, d.size, p.value)
		default:
			d.put(max(x+95, end+d.size), y, d.size, p.value)
		}
		y += d.size * 1.4
	}
	return y
}

// headed sets pairs in rows, labels over their values.
func (d *drawing) headed(pairs []pair) {
	const most = 5
	for row := range slices.Chunk(pairs, most) {
		x := d.left
		for _, p := range row {
			d.put(x, d.y, d.size*0.85, p.label)
			d.put(x, d.y+d.size*1.4, d.size, p.value)
			x += max(80, width(p.label, d.size)+12, width(p.value, d.size)+12)
		}
		d.y += d.size * 3.4
	}
}

// drawOpening sets what stands between the particulars and the items: a matter, a period, an order.
func (d *drawing) drawOpening() {
	size, l, r := d.size, d.lang, d.fixed(123)
	if chance(r, 50) {
		d.y = d.paragraph(d.left, d.y, size, 490, d.matter())
	}
	if d.period {
		from := d.issued.AddDate(0, -1, -d.r.IntN(10))
		d.y = d.paragraph(d.left, d.y, size, 490, fill(one(d.r, l.words("period")), d.day(from), d.day(from.AddDate(0, 0, 27))))
	}
	if d.greeting {
		d.y = d.paragraph(d.left, d.y, size, 490, d.pick(r, l.words("greeting")))
	}
	if chance(r, 40) {
		order := d.issued.AddDate(0, 0, -5-d.r.IntN(200))
		d.y = d.paragraph(d.left, d.y, size, 490, fill(d.pick(r, l.words("intro")), d.otherNumber(), d.day(order)))
	}
	d.y += size
}
