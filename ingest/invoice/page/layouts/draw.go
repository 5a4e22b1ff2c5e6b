package layouts

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// drawing is an invoice while it is set.
type drawing struct {
	*Family
	r       *rand.Rand
	out     Invoice
	y       float64
	seller  party
	buyer   party
	issued  time.Time
	due     time.Time
	dueSaid bool
	sums    sums
	headX   float64 // where the biller's name stands at the top
	headY   float64
}

// Draw draws a member of the family.
func (f Family) Draw(member int) Invoice {
	d := &drawing{Family: &f, r: rand.New(rand.NewPCG(uint64(f.Seed), uint64(member)+1000))}
	d.seller, d.buyer = f.sellerOf(), f.company(d.r, chance(d.r, 10))
	for d.buyer.name == d.seller.name {
		d.buyer = f.company(d.r, false)
	}
	d.issued = time.Date(2019+d.r.IntN(8), time.Month(1+d.r.IntN(12)), 1+d.r.IntN(28), 0, 0, 0, 0, time.UTC)
	d.due = d.issued.AddDate(0, 0, []int{0, 3, 5, 7, 8, 10, 14, 14, 15, 21, 30, 30, 30, 45, 60, 90}[d.r.IntN(16)])
	if chance(d.r, 10) {
		d.due = d.issued.AddDate(0, 0, 2+d.r.IntN(50))
	}
	d.out = Invoice{Scenario: f.scenario, Language: f.lang.code, Number: d.number(), Date: d.issued.Format(time.DateOnly),
		Supplier: d.seller.name, Recipient: d.buyer.name, Domain: d.seller.domain, Currency: f.land.currency, CreditNote: f.scenario == "credit note"}
	if f.told {
		d.out.Buyer = d.buyer.name
	}
	d.calculate()
	d.newPage()
	d.drawHead()
	d.drawParties()
	d.drawMeta()
	d.drawItems()
	d.drawTotals()
	d.drawTerms()
	for i := range d.out.Pages {
		d.drawFoot(i)
	}
	if d.printed(d.seller.taxID) {
		d.out.TaxID = d.seller.taxID
	}
	if d.printed(d.seller.iban) {
		d.out.IBAN = strings.ReplaceAll(d.seller.iban, " ", "")
	}
	if d.dueSaid {
		d.out.DueDate = d.due.Format(time.DateOnly)
	}
	return d.out
}

// printed reports whether a text is on one of the pages.
func (d *drawing) printed(s string) bool {
	return slices.ContainsFunc(slices.Concat(d.out.Pages...), func(t Text) bool { return strings.Contains(t.Text, s) })
}

// sellerOf is the family's biller, the same on all its invoices.
func (f *Family) sellerOf() party {
	return f.company(rand.New(rand.NewPCG(uint64(f.Seed), 19)), f.person)
}

func (d *drawing) newPage() {
	d.out.Pages = append(d.out.Pages, nil)
	d.y = 50
}

// put sets a text and returns where it ends.
func (d *drawing) put(x, y, size float64, s string) float64 {
	if s != "" {
		last := len(d.out.Pages) - 1
		d.out.Pages[last] = append(d.out.Pages[last], Text{X: x, Y: y, Size: size, Text: s})
	}
	return x + width(s, size)
}

// end sets a text that ends at x.
func (d *drawing) end(x, y, size float64, s string) { d.put(x-width(s, size), y, size, s) }

func (d *drawing) lines(x, y, size float64, texts ...string) float64 {
	for _, s := range texts {
		if s != "" {
			d.put(x, y, size, s)
			y += size * 1.3
		}
	}
	return y
}

func (d *drawing) number() string {
	return numbered(d.r, d.numberForm, d.issued.Year(), d.initial())
}

// initial is the biller's first letter.
func (d *drawing) initial() string { return strings.ToUpper(plain(d.seller.name)[:1]) }

// numberForms is how many forms numbers have.
const numberForms = 21

// numbered draws a number, of an invoice, an order or whatever else, in one of the forms that billers use.
func numbered(r *rand.Rand, form, year int, initial string) string {
	n := 1 + r.IntN(9999)
	switch form {
	case 0:
		return fmt.Sprintf("%d-%04d", year, n)
	case 1:
		return fmt.Sprintf("RE-%d-%03d", year, n%1000)
	case 2:
		return fmt.Sprintf("%d%05d", year, n)
	case 3:
		return strconv.Itoa(100 + n)
	case 4:
		return fmt.Sprintf("%d/%d", n, year%100)
	case 5:
		return fmt.Sprintf("%s%06d", initial, n*7)
	case 6:
		return fmt.Sprintf("%d/%03d", year, n%1000)
	case 7:
		return fmt.Sprintf("%s-%d-%02d", initial, year, n%100)
	case 8:
		return fmt.Sprintf("%d/%s", n%1000, initial)
	case 9:
		return fmt.Sprintf("%s%s/%d/%d", initial, "V", n%1000, year)
	case 10:
		return fmt.Sprintf("%s%d/%d", initial, year, n%1000)
	case 11:
		return fmt.Sprintf("%d%02d%02d", year, 1+n%12, 1+n%28)
	case 12:
		return fmt.Sprintf("90%08d", n*137)
	case 13:
		return fmt.Sprintf("%06d", n*3)
	case 14:
		return fmt.Sprintf("%d-%05d-%02d", year%100, n, n%7)
	case 15:
		return fmt.Sprintf("%s-%d", initial, 1000+n)
	case 16:
		return strconv.Itoa(1 + n%89)
	case 17:
		return fmt.Sprintf("%s%s%d%05d", initial, "F", 10+n%80, n*7)
	case 18:
		return fmt.Sprintf("%X-%04d", 300_000_000+n*98_765, n)
	case 19:
		return fmt.Sprintf("%02d.%03d.%03d.%d-%d", n%90, n%1000, n%733, n%10, year)
	}
	return fmt.Sprintf("INV%d.%03d", year%100, n%1000)
}

func (d *drawing) day(t time.Time) string {
	form := d.dateForm
	if strings.Contains(form, "MMMM") {
		name := d.lang.words("months")[t.Month()-1]
		return strings.Replace(t.Format(strings.Replace(form, "MMMM", "@", 1)), "@", name, 1)
	}
	return t.Format(form)
}

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

// inTitle reports whether the number stands in the line of the title.
func (d *drawing) inTitle() bool { return d.meta >= 5 && d.meta <= 7 }

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
		say(fill(d.pick(d.fixed(54), l.words("debit")), d.day(d.issued.AddDate(0, 0, 7))))
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

// fixed draws what is the same on all invoices of the family.
func (f *Family) fixed(what uint64) *rand.Rand { return rand.New(rand.NewPCG(uint64(f.Seed), what)) }

// phrase joins words, some of which may be empty.
func phrase(words ...string) string {
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// fill sets values in the gaps of a wording, %s or %d, one after the other.
func fill(wording string, values ...string) string {
	for _, v := range values {
		if i := strings.Index(wording, "%s"); i >= 0 {
			wording = wording[:i] + v + wording[i+2:]
		} else if i := strings.Index(wording, "%d"); i >= 0 {
			wording = wording[:i] + v + wording[i+2:]
		}
	}
	return wording
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
