package layouts

import (
	"math/rand/v2"
	"strings"
)

// letter is how the parts of a letter are set that a biller had designed: with much beside what is looked for, such as a brand in
// place of the name, a dozen numbers that are none of an invoice, and a foot of everybody who has a say.
type letter struct {
	head      int // of headForms
	address   int // of addressForms
	block     int // of blockForms
	works     int // of worksForms
	foot      int // of footForms
	mark      string
	form      int    // of the brand
	sender    bool   // a line above the address says whose letter it is
	silent    bool   // the foot doesn't say the name where it stands elsewhere
	idApart   bool   // the tax id stands alone
	others    int    // numbers and days beside those of the invoice
	titled    bool   // there is a title
	subject   string // what it is about
	apart     bool   // amounts' currency stands in a column of its own
	signed    bool
	smallText int // lines of conditions
	payTo     bool
	third     bool // somebody else's address
	nameless  bool // the name in law stands at the foot, in the sender's line or beside the account alone
}

// Ways to set a part. The last of each is kept for families that training doesn't see.
const (
	headForms    = 9
	addressForms = 6
	blockForms   = 11
	worksForms   = 5
	footForms    = 5
)

// Letter draws a family of letters. Those that are unseen have wordings and layouts of their own, as Family's have.
func (d *Drawer) Letter(seed int, unseen bool) Family {
	f := d.Family(seed, unseen)
	if f.scenario == "self-billed" { // the biller's own paper
		f.scenario = "plain"
	}
	f.isLetter = true
	f.layLetter()
	return f
}

// layLetter draws how a letter is set. Unseen ones have one of the kept ways at least.
func (f *Family) layLetter() {
	r := f.fixed(100)
	f.numberForm = r.IntN(letterNumbers)
	t := &f.letter
	for {
		t.head, t.address, t.block = r.IntN(headForms), r.IntN(addressForms), r.IntN(blockForms)
		kept := t.head == headForms-1 || t.address == addressForms-1 || t.block == blockForms-1
		if kept == f.Unseen {
			break
		}
	}
	t.works, t.foot = r.IntN(worksForms), weighted(r, 35, 20, 25, 15, 5)
	t.mark = one(r, []string{" · ", " | ", " – ", ", ", " • ", " — ", "; "})
	t.form, t.sender, t.silent, t.idApart = r.IntN(logoForms), chance(r, 35), chance(r, 50), chance(r, 20)
	t.others, t.titled, t.apart, t.signed = r.IntN(7), chance(r, 88), chance(r, 20), chance(r, 30)
	t.subject = f.pick(r, f.lang.words("subject"))
	t.smallText, t.payTo, t.third, t.nameless = r.IntN(4), chance(r, 55), chance(r, 20), chance(r, 40)
}

// drawLetter sets the pages of a letter.
func (d *drawing) drawLetter() {
	d.newPage()
	d.drawLetterhead()
	d.drawAddress()
	d.drawBlock()
	d.drawWorks()
	d.drawTotals()
	d.drawTerms()
	d.drawConditions()
	for i := range d.out.Pages {
		d.drawImprint(i)
	}
}

// glue holds words together in one line of a paragraph; it is set as a space.
const glue = "\u2060"

// whole is a text that no paragraph breaks.
func whole(s string) string { return strings.ReplaceAll(s, " ", glue) }

// paragraph sets a text in lines of a width, and returns where it ends.
func (d *drawing) paragraph(x, y, size, wide float64, s string) float64 {
	line := ""
	for word := range strings.SplitSeq(s, " ") {
		if longer := phrase(line, word); line != "" && width(longer, size) > wide {
			d.put(x, y, size, line)
			y += size * 1.3
			line = word
		} else {
			line = longer
		}
	}
	d.put(x, y, size, line)
	return y + size*1.3
}

// centred sets texts below one another, around the middle of the page.
func (d *drawing) centred(y, size float64, texts ...string) float64 {
	for _, s := range texts {
		if s != "" {
			d.put((Width-width(s, size))/2, y, size, s)
			y += size * 1.3
		}
	}
	return y
}

// ending sets texts below one another that end at the right edge.
func (d *drawing) ending(y, size float64, texts ...string) float64 {
	for _, s := range texts {
		if s != "" {
			d.end(rightEdge, y, size, s)
			y += size * 1.3
		}
	}
	return y
}

// somebody is a person of the language who isn't the biller.
func (d *drawing) somebody(r *rand.Rand) string {
	people := d.lang.words("people")
	i := r.IntN(len(people))
	if people[i] == d.seller.name {
		i = (i + 1) % len(people)
	}
	return people[i]
}

// otherNumber is one that is not the invoice's, in whatever form.
func (d *drawing) otherNumber() string {
	switch d.r.IntN(6) {
	case 0:
		return digits(d.r, 4+d.r.IntN(7))
	case 1:
		return digits(d.r, 3) + " " + digits(d.r, 4) + " " + digits(d.r, 3)
	}
	return numbered(d.r, d.r.IntN(letterNumbers), d.issued.Year(), string("ABKLPS"[d.r.IntN(6)]))
}
