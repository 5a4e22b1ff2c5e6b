package layouts

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// inTitle reports whether the number stands in the line of the title.
func (d *drawing) inTitle() bool { return d.meta >= 5 && d.meta <= 7 }

// label and its value.
type pair struct{ label, value string }

// coded is the title, of some families with the code of its kind behind it, as programs print it that show e-invoices (UNTDID 1001).
func (d *drawing) coded() string {
	if d.Seed%6 != 1 {
		return d.title
	}
	code := []string{"380", "326", "384", "575"}[d.Seed/6%4]
	switch d.scenario {
	case "credit note":
		code = "381"
	case "self-billed":
		code = "389"
	}
	return d.title + " (" + code + ")"
}

// drawMeta sets title, number and date with what stands around them.
func (d *drawing) drawMeta() {
	size, out := d.size, &d.out
	d.y += 20
	pairs := []pair{{d.Family.number, out.Number}, {d.date, d.day(d.issued)}}
	inTitle := d.inTitle()
	title := d.title
	if d.titleAt > 0 && !inTitle {
		title = "" // it stands above
	}
	if inTitle {
		pairs = pairs[:0]
	}
	var rest []pair
	for _, label := range d.other {
		value := numbered(d.r, d.r.IntN(numberForms), d.issued.Year(), string("ABKLPS"[d.r.IntN(6)]))
		if label == "" {
			label, value = strings.TrimSuffix(d.vatLabel(), d.colon), d.seller.taxID
		}
		rest = append(rest, pair{label, value})
	}
	if d.named {
		rest = append(rest, pair{one(d.fixed(37), d.lang.words("contact")), one(d.r, d.lang.words("people"))})
	}
	for _, label := range d.otherDate {
		rest = append(rest, pair{label, d.day(d.otherDay())})
	}
	if d.dueInMeta && d.scenario != "credit note" {
		rest = append(rest, pair{d.Family.due, d.day(d.due)})
		d.dueSaid = true
	}
	if d.shuffle {
		// The order is the family's own.
		order := rand.New(rand.NewPCG(uint64(d.Seed), 20))
		pairs = append(pairs, rest...)
		order.Shuffle(len(pairs), func(i, k int) { pairs[i], pairs[k] = pairs[k], pairs[i] })
	} else {
		pairs = append(pairs, rest...)
	}
	switch d.meta {
	case 0, 1: // a column of labels and a column of values, right of the address or below it
		x := d.left
		y := d.y
		if d.meta == 0 && slices.Contains([]int{0, 1, 2, 5}, d.party) {
			x, y = 350, max(d.y-70, 125)
		}
		for _, p := range pairs {
			d.put(x, y, size, p.label+d.colon)
			d.put(x+max(110, width(p.label+d.colon, size)+12), y+d.lower, size, p.value)
			y += size*1.4 + d.lower
		}
		d.y = max(d.y, y) + 15
		d.put(d.left, d.y, d.titleSize, title)
	case 2: // label and value as one text, on the right
		x := 370.0
		d.put(d.left, d.y, d.titleSize, title)
		for _, p := range pairs {
			d.put(x, d.y, size, p.label+": "+p.value)
			d.y += size * 1.4
		}
	case 3: // a row of labels over their values
		d.put(d.left, d.y, d.titleSize, title)
		d.y += d.titleSize * 1.6
		x := d.left
		for _, p := range pairs[:min(len(pairs), 5)] {
			step := max(95, width(p.label, size)+14, width(p.value, size)+14)
			if x+step > Width-20 {
				x = d.left
				d.y += size * 3.4
			}
			d.put(x, d.y, size, p.label)
			d.put(x, d.y+size*1.4, size, p.value)
			x += step
		}
		for _, p := range pairs[min(len(pairs), 5):] {
			if p.value == d.day(d.due) {
				d.dueSaid = false
			}
			if p.value == out.Number || p.value == d.day(d.issued) {
				d.y += size * 1.4 * 2
				d.put(d.left, d.y+size*1.4, size, p.label+": "+p.value)
			}
		}
		d.y += size * 1.6
	case 4: // a table of two by two
		d.put(d.left, d.y, d.titleSize, title)
		d.y += d.titleSize * 1.6
		for i, p := range pairs {
			x := d.left + float64(i%2)*260
			d.put(x, d.y, size, p.label+":")
			d.put(x+max(100, width(p.label+":", size)+12), d.y, size, p.value)
			if i%2 == 1 {
				d.y += size * 1.5
			}
		}
	case 8: // labels with their values below them, one after the other, at the right margin
		d.put(d.left, d.y, d.titleSize, title)
		x, y := 350.0, max(d.y-60, 125)
		if !slices.Contains([]int{0, 1, 2, 5}, d.party) {
			y = d.y
		}
		for _, p := range pairs {
			d.put(x, y, size, p.label+d.colon)
			if d.Seed%2 == 0 {
				d.end(rightEdge, y+size*1.2, size, p.value)
			} else {
				d.put(x, y+size*1.2, size, p.value)
			}
			y += size * 2.6
		}
		d.y = max(d.y, y)
	case 5: // all in the title
		d.y = d.pairsRight(pairs)
		d.put(d.left, d.y, d.titleSize, phrase(d.coded(), d.titleNo, out.Number, d.dated, d.day(d.issued)))
	case 6: // the number in the title, the day with a place on the right
		d.y = d.pairsRight(pairs)
		d.end(Width-50, d.y, size, d.seller.town+", "+d.day(d.issued))
		d.y += size * 1.8
		d.put(d.left, d.y, d.titleSize, phrase(d.coded(), d.titleNo, out.Number))
	case 7: // title and number, the day labelled below
		d.y = d.pairsRight(pairs)
		end := d.put(d.left, d.y, d.titleSize, d.title)
		d.put(end+max(8, d.titleSize), d.y, d.titleSize, strings.TrimSpace(d.titleNo+" "+out.Number))
		d.y += d.titleSize * 1.5
		d.put(d.left, d.y, size, d.date+": "+d.day(d.issued))
	}
	d.y += d.titleSize*1.2 + 6
	if d.period {
		from := d.issued.AddDate(0, -1, -d.r.IntN(10))
		if chance(d.r, 30) { // billed in advance
			from = d.issued.AddDate(0, 0, d.r.IntN(5))
		}
		d.put(d.left, d.y, size, fill(one(d.r, d.lang.words("period")), d.day(from), d.day(from.AddDate(0, 0, 27))))
		d.y += size * 1.5
	}
	if d.greeting {
		d.put(d.left, d.y, size, one(d.r, d.lang.words("greeting")))
		d.y += size * 1.5
	}
	if d.scenario == "cumulative" || d.scenario == "final" {
		d.put(d.left, d.y, size, d.buyer.street+", "+one(d.r, d.lang.words("works")))
		d.y += size * 1.5
	}
}

// otherDay is one that is neither that of issue nor of payment: mostly before the first, sometimes the same or later.
func (d *drawing) otherDay() time.Time {
	switch n := d.r.IntN(10); n {
	case 0:
		return d.issued
	case 1, 2:
		return d.issued.AddDate(0, 0, 1+d.r.IntN(80))
	}
	return d.issued.AddDate(0, 0, -1-d.r.IntN(60))
}

func (d *drawing) pairsRight(pairs []pair) float64 {
	y := d.y
	for _, p := range pairs {
		d.put(360, y, d.size, p.label+": "+p.value)
		y += d.size * 1.4
	}
	return y + 8
}
