package layouts

import (
	"slices"
	"strings"
)

// noFoot is no foot, as far as the biller's name stands elsewhere.
const noFoot = 4

// imprint lists what a foot says of the biller, and of others.
func (d *drawing) imprint() []string {
	s, r, l := d.seller, d.fixed(140), d.lang
	place := []string{s.street, s.city(d.land)}
	if chance(r, 40) {
		place = []string{s.city(d.land) + ", " + s.street}
	}
	out := place
	if s.form != "" && chance(r, 65) {
		out = append(out, s.register)
	}
	if chance(r, 30) {
		out = append(out, fill(one(r, l.words("seat")), s.town))
	}
	if chance(r, 40) {
		out = append(out, d.manager())
	}
	if d.idInFoot && !d.letter.idApart {
		out = append(out, d.vatLabel()+" "+s.taxID)
	}
	if chance(r, 65) && !d.letter.payTo {
		out = append(out, one(r, l.words("banks"))+" "+[]string{"IBAN ", "IBAN: ", ""}[r.IntN(3)]+s.iban)
	}
	if chance(r, 25) {
		out = append(out, one(r, l.words("phone"))+" "+s.phone)
	}
	if chance(r, 25) { // an insurance, an authority, a bank that buys claims
		other := d.company(r, false)
		out = append(out, fill(d.pick(r, l.words("others")), other.name+", "+other.city(d.land)))
	}
	if chance(r, 40) {
		r.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	}
	return out
}

// drawImprint sets the foot of a letter's page.
func (d *drawing) drawImprint(page int) {
	s, size, t := d.seller, d.size*0.8, d.letter
	parts := d.imprint()
	if t.foot == noFoot && d.printed(s.name) {
		return
	}
	if !t.silent && t.foot != noFoot || !d.printed(s.name) {
		at := 0
		if d.Seed%7 == 0 { // the account or the register first
			at = min(1, len(parts))
		}
		parts = slices.Insert(parts, at, whole(s.name))
	}
	last, low := len(d.out.Pages)-1, 0.0
	if page == last {
		low = d.y + size*2
	}
	d.page = page
	switch t.foot {
	case 0, noFoot: // in a line, or in as many as it takes
		d.paragraph(d.left, max(790, low), size, 500, strings.Join(parts, t.mark))
	case 1: // right below the text
		y := 790.0
		if page == last {
			y = low + size
		}
		d.paragraph(d.left, y, size, 500, strings.Join(parts, t.mark))
	case 2: // in columns
		columns := 3 + d.Seed%2
		each := (len(parts) + columns - 1) / columns
		wide := 500 / float64(columns)
		for i, text := range parts {
			x := d.left + float64(i/each)*wide
			for width(text, size) > wide-8 && size > 4.5 {
				size -= 0.25
			}
			d.put(x, max(775, low)+float64(i%each)*size*1.4, size, text)
		}
	case 3: // in the middle
		y := max(780, low)
		for i := 0; i < len(parts); i += 3 {
			y = d.centred(y, size, strings.Join(parts[i:min(i+3, len(parts))], t.mark))
		}
	}
}

// drawConditions sets what stands below the terms of payment: the account, the small print, a name signed.
func (d *drawing) drawConditions() {
	s, size, t, l, r := d.seller, d.size, d.letter, d.lang, d.fixed(141)
	if t.payTo {
		d.y = d.paragraph(d.left, d.y, size, 490, fill(d.pick(r, l.words("pay to")), one(r, l.words("banks")), s.iban))
	}
	if t.idApart {
		d.y = d.paragraph(d.left, d.y, size, 490, d.vatLabel()+" "+s.taxID)
	}
	for range t.smallText {
		d.room(2)
		d.y = d.paragraph(d.left, d.y, size, 490, d.pick(r, l.words("small print")))
	}
	if t.signed {
		d.room(3)
		name := d.somebody(r)
		if s.form == "" {
			name = s.name
		}
		d.y = d.lines(d.left, d.y+size, size, d.pick(r, l.words("closing")), name)
	}
}
