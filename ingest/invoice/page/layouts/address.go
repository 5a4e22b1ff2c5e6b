package layouts

import (
	"slices"
	"strings"
)

// sellerInBlock reports whether the biller's address stands beside the recipient's, under a label.
func (d *drawing) sellerInBlock() bool { return d.letter.address == 3 || d.letter.address == 5 }

// recipient lists the lines of the recipient's address.
func (d *drawing) recipient() []string {
	b, r := d.buyer, d.fixed(110)
	lines := []string{b.name}
	if chance(r, 15) {
		lines = slices.Insert(lines, 0, one(r, d.lang.words("addressee")))
	}
	switch r.IntN(6) {
	case 0:
		lines = append(lines, one(r, d.lang.words("attention"))+" "+d.somebody(r))
	case 1:
		lines = append(lines, one(r, d.lang.words("department")))
	}
	lines = append(lines, b.street, b.city(d.land))
	if chance(r, 10) {
		lines = append(lines, b.mail)
	}
	if chance(r, 25) {
		lines = append(lines, d.vatLabel()+" "+b.taxID)
	}
	return lines
}

// senderLine is what stands above the window of a letter.
func (d *drawing) senderLine() string {
	s := d.seller
	name := s.name
	if d.fixed(111).IntN(4) == 0 && d.letter.foot != noFoot {
		name = d.logo()
	}
	mark := d.letter.mark
	if mark == "; " {
		mark = ", "
	}
	return strings.Join([]string{name, s.street, s.city(d.land)}, mark)
}

// idInBlock is the biller's tax id where it stands below his address.
func (d *drawing) idInBlock() string {
	if d.letter.idApart {
		return ""
	}
	return d.vatLabel() + " " + d.seller.taxID
}

// drawAddress sets whom a letter is for, and sometimes whom it is from, or where things were sent.
func (d *drawing) drawAddress() {
	s, size, t := d.seller, d.size, d.letter
	lines := d.recipient()
	top := max(d.y+12, 115)
	if t.address == 2 || t.address == 3 { // on the right, too
		top = max(top, d.side+size)
	}
	switch t.address {
	case 0, 1: // in the window
		if t.sender {
			d.put(d.left, top, size*0.7, d.senderLine())
			top += size * 2
		}
		d.y = d.lines(d.left, top, size, lines...)
	case 2: // on the right
		if t.sender {
			d.put(d.left, top, size*0.7, d.senderLine())
		}
		d.y = d.lines(330, top, size, lines...)
	case 3: // both parties side by side, labelled; the recipient on either side
		x, other := 310.0, d.left
		if d.Seed%2 == 0 {
			x, other = other, x
		}
		d.put(x, top, size, d.to+d.colon)
		d.put(other, top, size, d.from+d.colon)
		own := []string{s.name, s.street, s.city(d.land), d.idInBlock()}
		if d.Seed%3 == 0 {
			own = append(own, s.register, "IBAN "+s.iban)
		}
		end := d.lines(other, top+size*1.4, size, own...)
		d.y = max(end, d.lines(x, top+size*1.4, size, lines...))
	case 4: // in one line, labelled
		if t.sender {
			d.put(d.left, top, size*0.7, d.senderLine())
			top += size * 2
		}
		d.y = d.paragraph(d.left, top, size, 480, d.to+d.colon+" "+strings.Join(lines, ", "))
	case 5: // the biller over the recipient's labelled address
		top = d.lines(d.left, top, size, s.name, s.street, s.city(d.land), d.idInBlock()) + size
		d.put(d.left, top, size, d.to+d.colon)
		d.y = d.lines(d.left, top+size*1.4, size, lines...)
	}
	if t.third && t.address < 2 {
		r := d.fixed(112)
		other := d.company(d.r, chance(r, 30))
		d.lines(250, top, size, d.pick(r, d.lang.words("third"))+d.colon, other.name, other.street, other.city(d.land))
	}
}
