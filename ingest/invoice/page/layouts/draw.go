package layouts

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// drawing is an invoice while it is set.
type drawing struct {
	*Family
	r       *rand.Rand
	out     Invoice
	page    int // that is set
	y       float64
	seller  party
	buyer   party
	issued  time.Time
	due     time.Time
	dueSaid bool
	sums    sums
	side    float64 // down to which the head has a column on the right
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
	d.out = Invoice{Scenario: f.scenario, Language: f.lang.code, Number: d.number(),
		Date:     d.issued.Format(time.DateOnly),
		Supplier: d.seller.name, Recipient: d.buyer.name, Domain: d.seller.domain,
		Currency: f.land.currency, CreditNote: f.scenario == "credit note"}
	if f.told {
		d.out.Buyer = d.buyer.name
	}
	d.calculate()
	if f.isLetter {
		d.drawLetter()
	} else {
		d.drawForm()
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

// drawForm sets the pages of an invoice that a program made, with little on it beside what is looked for.
func (d *drawing) drawForm() {
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
	d.page = len(d.out.Pages)
	d.out.Pages = append(d.out.Pages, nil)
	d.y = 50
}

// put sets a text and returns where it ends.
func (d *drawing) put(x, y, size float64, s string) float64 {
	if s != "" {
		s = strings.ReplaceAll(s, glue, " ")
		d.out.Pages[d.page] = append(d.out.Pages[d.page], Text{X: x, Y: y, Size: size, Text: s})
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

func (d *drawing) day(t time.Time) string {
	form := d.dateForm
	if strings.Contains(form, "MMMM") {
		name := d.lang.words("months")[t.Month()-1]
		return strings.Replace(t.Format(strings.Replace(form, "MMMM", "@", 1)), "@", name, 1)
	}
	return t.Format(form)
}

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
