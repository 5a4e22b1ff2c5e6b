package layouts

import (
	"slices"
	"strings"
)

// labelledParties is how parties are set side by side, each under its label.
const labelledParties = 3

// portals are names of marketplaces and of portals for invoices, whatever the language.
func portals() []string {
	return []string{"Trade Hub", "B2B Market", "eProcure Online", "Invoice Cloud", "Handelsplatz 24", "Faktura Net", "Fattura Facile",
		"Factura Directa", "Portail Achats", "Bouwplein"}
}

// drawHead sets what stands above all else: the biller's letterhead, a title, and things that are neither.
func (d *drawing) drawHead() {
	s, size := d.seller, d.size
	d.drawAbove()
	if d.scenario == "self-billed" && (!d.returnLine || d.Seed%2 == 0) {
		d.put(d.left, d.y, d.nameSize, d.buyer.name)
		d.put(d.left, d.y+d.nameSize*1.3, size, d.buyer.street+", "+d.buyer.city(d.land))
	}
	if d.headAway || d.scenario == "self-billed" {
		d.y = max(d.y, 100)
		return
	}
	if d.party == labelledParties && chance(d.fixed(71), 20) { // made on a portal that sets its own name above the parties
		d.put(d.left, d.y, d.titleSize, one(d.fixed(72), portals()))
		d.y += d.titleSize * 2
		return
	}
	address := []string{s.street, s.city(d.land)}
	if chance(d.fixed(39), 15) {
		address = slices.Insert(address, 1, []string{"PMB 972", "2. OG", "Top 12", "Unit 4"}[d.Seed%4])
	}
	contact := []string{one(d.r, d.lang.words("phone")) + " " + s.phone, s.mail}
	if d.idInHead && d.head != 4 {
		contact = append(contact, d.vatLabel()+" "+s.taxID)
	}
	if !d.headAddress {
		address = nil
	}
	if d.named {
		address = slices.Insert(address, 0, d.manager())
	}
	if d.brand && d.head != 4 { // a short name, large; the full one below it, or elsewhere
		brand, _, _ := strings.Cut(s.name, " ")
		d.put(d.left, d.y, size*2, strings.ToLower(brand))
		d.y += size * 3
	}
	slogan := ""
	if d.slogan {
		slogan = one(d.fixed(31), d.lang.words("slogan"))
	}
	if slogan != "" && d.Seed%2 == 0 && d.head < 4 {
		d.put(d.left, d.y, size, slogan)
		d.y += d.nameSize * 1.3
		slogan = ""
	}
	x := d.left
	switch d.head {
	case 0, 1:
	case 2:
		x = 340 + float64(d.Seed%60)
	case 3:
		x = (Width - width(s.name, d.nameSize)) / 2
	case 4: // all in one line
		mark := []string{" · ", ", ", " - ", " | "}[d.Seed%4]
		d.put(x, d.y, size, strings.Join(slices.Concat([]string{s.name}, address, contact[:1]), mark))
		d.y = max(d.y+30, 90)
		return
	case 5: // the address on the right
		d.put(x, d.y, d.nameSize, s.name)
		d.put(x, d.y+d.nameSize*1.3, size, slogan)
		d.lines(400, d.y, size, slices.Concat(address, contact)...)
		d.y += 5 * size * 1.3
		return
	case 6: // a centred column of one left edge
		x = 220
	case 7: // name and address in a line below it
		d.put(x, d.y, d.nameSize, s.name)
		d.put(x, d.y+d.nameSize*1.3, size, strings.Join(append([]string{s.street, s.city(d.land)}, contact...), []string{", ", " · "}[d.Seed%2]))
		d.y += d.nameSize + 3*size
		return
	}
	d.headX, d.headY = x, d.y
	d.put(x, d.y, d.nameSize, s.name)
	lines := slices.Concat([]string{slogan}, address, contact)
	end := d.lines(x, d.y+d.nameSize*1.4, size, lines...) + 10
	if x < 300 || d.titleAt == 1 || d.Seed%2 == 0 {
		d.y = end
	}
}

// drawAbove sets what may stand above the biller's name.
func (d *drawing) drawAbove() {
	if d.noise {
		noise := one(d.fixed(32), d.lang.words("noise"))
		switch d.Seed % 3 {
		case 0:
			d.put(d.left, d.y, d.size, noise)
		case 1:
			d.put(d.put(d.left, d.y, d.size, one(d.fixed(40), d.lang.words("other"))+d.colon)+20, d.y, d.size, "A"+digits(d.r, 5))
		default:
			d.end(Width-40, d.y, d.size, noise)
		}
		d.y += d.size * 1.6
	}
	title := d.title
	if d.inTitle() || d.titleAt == 0 {
		return // with the number, further down
	}
	switch d.titleAt {
	case 1:
		d.put(d.left, d.y, d.titleSize, title)
		d.y += d.titleSize * 2
	case 2:
		d.end(Width-50, d.y, d.titleSize, title)
		if d.Seed%2 == 0 {
			d.y += d.titleSize * 1.8
		}
	case 3:
		d.put((Width-width(title, d.titleSize))/2, d.y, d.titleSize, title)
		d.y += d.titleSize * 2
	}
}

// manager is a line about who runs the biller.
func (d *drawing) manager() string {
	return one(d.fixed(33), d.lang.words("manager")) + ": " + one(d.fixed(34), d.lang.words("people"))
}

func (d *drawing) vatLabel() string {
	return d.lang.words("vat")[d.Seed%len(d.lang.words("vat"))] + d.colon
}

func (d *drawing) drawParties() {
	s, b, size := d.seller, d.buyer, d.size
	top := max(d.y+15, 110)
	if d.party == 9 && d.headY == 0 {
		d.party = 4
	}
	lines := []string{b.name, b.street, b.city(d.land)}
	if chance(d.r, 15) {
		lines = slices.Insert(lines, 1, one(d.r, d.lang.words("people")))
	}
	if chance(d.r, 15) {
		lines = append(lines, d.vatLabel()+" "+b.taxID)
	}
	if d.scenario == "self-billed" {
		if d.returnLine {
			d.put(d.left, top, size*0.7, strings.Join([]string{b.name, b.street, b.city(d.land)}, " · "))
			d.lines(d.left, top+size*1.6, size, s.name, s.street, s.city(d.land))
			top += size * 7
		}
		if d.Seed%2 == 0 {
			d.put(320, top, size, d.to+":")
			d.lines(320, top+size*1.3, size, b.name, b.street, b.city(d.land), d.vatLabel()+" "+b.taxID)
		}
		d.put(d.left, top, size, d.from+":")
		d.y = d.lines(d.left, top+size*1.3, size, s.name, s.street, s.city(d.land), d.vatLabel()+" "+s.taxID)
		return
	}
	switch d.party {
	case 0, 1: // the window of the letter
		if d.returnLine {
			mark := []string{" · ", ", ", " | "}[d.Seed%3]
			d.put(d.left, top, size*0.7, strings.Join([]string{s.name, s.street, s.city(d.land)}, mark))
			top += size * 1.6
		}
		d.y = d.lines(d.left, top, size, lines...)
	case 2: // labelled
		d.put(d.left, top, size, d.to+d.colon)
		d.y = d.lines(d.left, top+size*1.3, size, lines...)
	case labelledParties:
		own := []string{s.name, s.street, s.city(d.land)}
		labels := size
		if chance(d.fixed(41), 40) { // what each line is
			name, address := one(d.fixed(42), d.lang.words("name"))+": ", one(d.fixed(43), d.lang.words("address"))+": "
			lines = []string{name + b.name, address + b.street, b.city(d.land)}
			own[0], own[1] = name+own[0], address+own[1]
			labels = size * 1.3
		}
		d.put(d.left, top, labels, d.from+d.colon)
		d.put(320, top, labels, d.to+d.colon)
		d.lines(320, top+size*1.3, size, lines...)
		if !d.idInHead {
			own = append(own, d.vatLabel()+" "+s.taxID)
		}
		d.y = d.lines(d.left, top+size*1.3, size, own...) + size
	case 4: // on the right
		d.y = d.lines(330, top, size, lines...)
	case 5: // the buyer's label and name in one line
		d.put(d.left, top, size, d.to+d.colon+" "+b.name)
		d.y = d.lines(d.left, top+size*1.3, size, lines[1:]...)
	case 6: // the window, and the buyer once more below it, labelled
		d.y = d.lines(d.left, top, size, lines...) + size*2
		x := []float64{d.left, 320}[d.Seed%2]
		d.put(x, d.y, size, d.to+d.colon)
		d.y = d.lines(x, d.y+size*1.3, size, b.name, b.street, b.city(d.land), d.vatLabel()+" "+b.taxID)
	case 7: // both parties side by side, their names behind the labels
		d.put(d.left, top, size, d.from+d.colon+" "+s.name)
		d.put(330, top, size, d.to+d.colon+" "+b.name)
		d.lines(330, top+size*1.3, size, b.street, b.city(d.land))
		d.y = d.lines(d.left, top+size*1.3, size, s.street, s.city(d.land))
	case 8: // the biller on the left without a label, the buyer with one
		d.put(320, top, size, d.to+d.colon)
		d.lines(320, top+size*1.3, size, lines...)
		id := ""
		if d.Seed%3 > 0 {
			id = d.vatLabel() + " " + s.taxID
		}
		d.y = d.lines(d.left, top, size, s.name, s.street, s.city(d.land), id)
	case 9: // both parties side by side at the top, without labels
		if d.headX > 300 {
			d.y = max(d.y, d.lines(d.left, d.headY, size, lines...))
		} else {
			d.y = max(d.y, d.lines(max(340, d.headX+width(s.name, d.nameSize)+30), d.headY, size, lines...))
		}
	}
	if chance(d.fixed(35), 15) {
		other := d.company(d.r, false)
		x, y := d.left, d.y+size
		if slices.Contains([]int{0, 1, 2, 5}, d.party) && d.meta != 0 {
			x, y = 330, top
		}
		y = d.lines(x, y, size, one(d.fixed(36), d.lang.words("third"))+d.colon, other.name, other.street, other.city(d.land))
		d.y = max(d.y, y)
	}
	if d.idInMeta {
		d.other = append(slices.Clone(d.other), "")
	}
}

// drawFoot sets the foot of a page.
func (d *drawing) drawFoot(page int) {
	s, size := d.seller, d.size*0.8
	if d.scenario == "self-billed" {
		s = d.buyer
	}
	foot := d.foot
	if d.headAway && foot == 3 {
		foot = 0
	}
	id := ""
	if d.idInFoot {
		id = d.vatLabel() + " " + s.taxID
	}
	texts := d.out.Pages[page]
	put := func(x, y float64, t string) {
		if t != "" {
			texts = append(texts, Text{X: x, Y: y, Size: size, Text: t})
		}
	}
	switch foot {
	case 0: // three columns
		phone, bank := one(d.fixed(23), d.lang.words("phone")), one(d.fixed(24), d.lang.words("bank"))
		for i, column := range [][]string{{s.name, s.street, s.city(d.land)}, {phone + " " + s.phone, s.mail, id},
			{bank + ":", one(d.fixed(38), d.lang.words("banks")), "IBAN " + s.iban, s.register}} {
			for k, t := range column {
				put(d.left+float64(i)*180, 785+float64(k)*size*1.3, t)
			}
		}
	case 1: // one line
		parts := []string{s.name, s.street, s.city(d.land), id}
		put(d.left, 800, strings.Join(slices.DeleteFunc(parts, func(t string) bool { return t == "" }), " | "))
		put(d.left, 800+size*1.4, "IBAN "+s.iban)
	case 2: // bank and register
		put(d.left, 795, "IBAN: "+s.iban+"   "+s.register)
		put(d.left, 795+size*1.4, id)
		if d.headAway {
			put(d.left, 795-size*1.4, s.name+", "+s.street+", "+s.city(d.land))
		}
	case 3: // nothing
	case 5: // an address, with who runs the company and what is at court
		for i, column := range [][]string{{s.name, d.manager(), s.street, s.city(d.land)},
			{one(d.fixed(38), d.lang.words("banks")), "IBAN " + s.iban}, {s.register, id}} {
			for k, t := range column {
				put(d.left+float64(i)*180, 775+float64(k)*size*1.3, t)
			}
		}
	case 4:
		put(d.left, 790, s.name)
		if d.headAway {
			put(d.left, 790+size*1.3, s.street+", "+s.city(d.land))
		}
		put(d.left, 790+size*2.6, "IBAN "+s.iban)
		put(300, 790, id)
		put(300, 790+size*1.3, s.mail)
	}
	d.out.Pages[page] = texts
}
