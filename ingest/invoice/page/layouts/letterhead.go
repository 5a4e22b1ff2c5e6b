package layouts

import (
	"slices"
	"strings"
)

// logoForms is how many ways there are to write a name where it advertises.
const logoForms = 6

// logo is the biller's name as his logo has it: short, without the form in law, in capitals or small letters.
func (d *drawing) logo() string {
	s := d.seller
	short := s.word
	if s.form == "" && strings.Contains(s.name, " ") { // a person, or a name without a form
		short = s.name[strings.LastIndexByte(s.name, ' ')+1:]
	}
	plainly := strings.TrimRight(strings.TrimSpace(strings.TrimSuffix(s.name, s.form)), ",")
	switch d.letter.form {
	case 0:
		return strings.ToUpper(plainly)
	case 1:
		return strings.ToLower(short)
	case 2:
		return plainly
	case 3:
		return strings.ToUpper(short) + " " + s.trade
	case 4:
		return s.trade + " " + short
	}
	return strings.ToUpper(short)
}

// claim is what stands below a brand: what the biller does, or a slogan.
func (d *drawing) claim() string {
	r := d.fixed(101)
	switch r.IntN(4) {
	case 0:
		return ""
	case 1:
		return one(r, d.lang.words("slogan"))
	case 2:
		return strings.Join([]string{d.seller.trade, one(r, d.lang.words("trades")), one(r, d.lang.words("trades"))}, d.letter.mark)
	}
	return one(r, d.lang.words("profession"))
}

// nameInHead is the name in law where the head has one.
func (d *drawing) nameInHead() string {
	if d.letter.nameless {
		return ""
	}
	return d.seller.name
}

// about is what a biller says of himself in his head: where he is, how to reach him, sometimes who he is in law.
func (d *drawing) about() []string {
	s, r := d.seller, d.fixed(102)
	out := []string{s.street, s.city(d.land)}
	if chance(r, 50) {
		out = append(out, one(r, d.lang.words("phone"))+" "+s.phone)
	}
	if chance(r, 45) {
		out = append(out, s.mail)
	}
	if chance(r, 25) {
		out = append(out, "www."+s.domain)
	}
	if d.idInHead && !d.letter.idApart {
		out = append(out, d.vatLabel()+" "+s.taxID)
	}
	if chance(r, 15) {
		out = append(out, s.register)
	}
	if chance(r, 15) {
		out = append(out, d.manager())
	}
	return out
}

// drawLetterhead sets the head of a letter.
func (d *drawing) drawLetterhead() {
	s, size, t := d.seller, d.size, d.letter
	large := size * []float64{1.4, 1.8, 2.4}[d.Seed%3]
	brand, claim, name, about := d.logo(), d.claim(), d.nameInHead(), d.about()
	d.y = 40
	switch t.head {
	case 0: // a brand, all else elsewhere
		d.put(d.left, d.y, large, brand)
		d.put(d.left, d.y+large*1.1, size, claim)
		d.y += large*1.2 + size*1.5
	case 1: // a brand on the left, who it is on the right
		d.put(d.left, d.y, large, brand)
		d.put(d.left, d.y+large*1.1, size, claim)
		d.y = max(d.lines(370, d.y, size*0.9, slices.Concat([]string{name}, about)...), d.y+large*2)
	case 2: // the name, and all else in a line or in lines below it
		d.put(d.left, d.y, large, s.name)
		if d.Seed%2 == 0 {
			d.y = d.lines(d.left, d.y+large*1.2, size*0.9, about...)
			break
		}
		d.y = d.paragraph(d.left, d.y+large*1.2, size*0.9, 480, strings.Join(about, t.mark)) + size
	case 3: // all in the middle
		d.y = d.centred(d.y+size, large, brand)
		d.y = d.centred(d.y, size, claim, phrase(name), strings.Join(about[:2], t.mark), strings.Join(about[2:], t.mark)) + size
	case 4: // on the right, one below the other
		x := 340 + float64(d.Seed%50)
		d.put(x, d.y, d.nameSize, s.name)
		d.y = d.lines(x, d.y+d.nameSize*1.4, size, slices.Concat([]string{claim}, about)...)
	case 5: // a brand on the right, above what it is; the name may stand nowhere here
		d.end(rightEdge, d.y, large, brand)
		d.y = d.ending(d.y+large*1.2, size, claim, name)
	case 6: // nothing but a title; who it is stands in its block or at the foot
		d.y += size
	case 7: // each word of the brand in a line, the rest in a column on the right, down to the text
		for word := range strings.FieldsSeq(brand) {
			d.put(d.left, d.y, large, word)
			d.y += large * 1.1
		}
		d.put(d.left, d.y, size, claim)
		d.side = d.lines(430, 90, size*0.9, slices.Concat([]string{name}, about)...)
	case 8: // a brand with initials before it, the name beside them
		end := d.put(d.left, d.y, large*1.5, strings.ToUpper(plain(s.word)[:2]))
		d.put(end+15, d.y-size*0.6, d.nameSize, s.name)
		below := slices.DeleteFunc([]string{claim, about[0], about[1]}, func(s string) bool { return s == "" })
		d.y = d.paragraph(end+15, d.y+size*0.9, size*0.9, 400, strings.Join(below, t.mark)) + size
	}
	if t.head == 6 && !d.sellerInBlock() {
		d.letter.sender = true
	}
}
