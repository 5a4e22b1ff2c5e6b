// Package layouts draws invoices that nobody ever sent, with the values that stand on them: what the reader of pages
// learns from and is measured on. A family is a layout with its wordings, drawn at random from a seed; its members
// differ in what they say. The same seeds always draw the same pages.
package layouts

import (
	"math/rand/v2"
	"strings"

	"tallyhouse/ingest/invoice/text"
)

// Invoice is a drawn invoice: its pages, and what a reader should find on them. Empty texts are not printed.
type Invoice struct {
	// Scenario says what kind of bill it is, such as "several rates" or "cumulative".
	Scenario string
	Language string
	Pages    [][]Text
	IBAN     string // the biller's account
	// Domain is that of the biller's mail address.
	Domain string
	// Recipient is the name of the company that receives it; Buyer the same, empty where the reader isn't told.
	Recipient, Buyer string

	CreditNote                bool
	Number, Date, DueDate     string // dates as YYYY-MM-DD
	Supplier, TaxID, Currency string
	Net, Tax, Gross           int64 // in minor units; credit notes are negative
	HasNet, HasTax            bool
}

// Text is set on a page from X on, in points from the upper left corner; Y is its baseline.
type Text struct {
	X, Y, Size float64
	Text       string
}

// Size of the pages, A4, in points.
const (
	Width  = 595.0
	Height = 842.0
)

// width of a text as Helvetica sets it, roughly.
func width(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune(" .,:;'|ijltIf()/-", r):
			w += 0.29
		case r >= 'A' && r <= 'Z', r == '@', r == '%', r == 'm', r == 'w':
			w += 0.7
		default:
			w += 0.54
		}
	}
	return w * size
}

// Document is the text of the pages as the reader of PDFs finds it.
func (v Invoice) Document() text.Document {
	var doc text.Document
	for i, texts := range v.Pages {
		var words []text.Word
		for _, t := range texts {
			x := t.X
			for word := range strings.SplitSeq(t.Text, " ") {
				w := width(word, t.Size)
				if word != "" {
					words = append(words, text.Word{Text: word, X0: x, X1: x + w, Y: t.Y, Size: t.Size})
				}
				x += w + 0.29*t.Size
			}
		}
		doc.Pages = append(doc.Pages, text.FromWords(i+1, Width, Height, words))
	}
	return doc
}

// Family is a layout with the wordings of one biller.
type Family struct {
	Seed int
	// Unseen families are those that training leaves out. Every fourth wording of each label is theirs alone.
	Unseen bool

	lang                                 language
	land                                 country
	scenario                             string
	head, party, meta, table, foot       int
	number, date, due, title, titleNo    string
	dated, to, from                      string
	net, tax, gross, payable, within     string
	rate, base                           string
	headings                             [5]string
	other, otherDate                     []string
	dateForm                             string
	numberForm, money                    int
	colon                                string
	left, size, titleSize, nameSize      float64
	returnLine, headAddress, person      bool
	idInHead, idInFoot, idInMeta, domain bool
	dueInMeta, terms, early, period      bool
	told                                 bool // who the buyer is
	greeting                             bool
	headAway                             bool // the supplier's name stands at the foot alone
	lineUnit                             bool
	totalsLeft                           float64
	shuffle                              bool
	titleAt                              int // 1 to 3: above all else
	brand, slogan                        bool
	noise, named                         bool
	earlyDays, openTerms                 bool    // the terms of payment
	lower                                float64 // values stand below their labels' baselines by
	datedItems                           bool    // items say when
	isLetter                             bool
	letter                               letter
}

// Scenarios lists the kinds of bills that are drawn.
func Scenarios() []string {
	return []string{"plain", "several rates", "prepayment", "cumulative", "final", "contract", "retention", "credit note",
		"no tax", "tax within", "discount", "self-billed", "charge", "balance"}
}

// Family draws a family. Those that are unseen are for measuring, not for training.
func (d *Drawer) Family(seed int, unseen bool) Family {
	r := rand.New(rand.NewPCG(uint64(seed), 18))
	f := Family{Seed: seed, Unseen: unseen}
	f.lang = d.languages[weighted(r, 26, 15, 12, 10, 10, 6, 6, 5, 6, 4, 4)]
	l := f.lang
	f.land = l.countries[r.IntN(len(l.countries))]
	f.scenario = Scenarios()[weighted(r, 44, 8, 7, 8, 5, 5, 5, 5, 4, 3, 4, 4)]
	if f.scenario == "plain" {
		f.scenario = []string{"plain", "charge", "balance", "no tax"}[weighted(f.fixed(61), 80, 8, 6, 6)]
	}
	f.layOut(r)
	f.title = f.pick(r, l.words("title"))
	switch {
	case f.scenario == "credit note":
		f.title = f.pick(r, l.words("credit title"))
	case f.scenario == "cumulative" || f.scenario == "prepayment" && chance(r, 30):
		f.title = f.pick(r, l.words("part title"))
	case f.scenario == "final":
		f.title = f.pick(r, l.words("final title"))
	}
	for _, label := range []struct {
		text    *string
		section string
	}{{&f.number, "number"}, {&f.date, "date"}, {&f.due, "due"}, {&f.titleNo, "title number"}, {&f.dated, "dated"},
		{&f.to, "to"}, {&f.from, "from"}, {&f.net, "net"}, {&f.tax, "tax"}, {&f.gross, "gross"}, {&f.payable, "payable"}, {&f.within, "within"},
		{&f.rate, "rate"}, {&f.base, "base"}} {
		*label.text = f.pick(r, l.words(label.section))
	}
	for i, heading := range []string{"item", "quantity", "unit", "price", "amount"} {
		f.headings[i] = f.pick(r, l.words(heading))
	}
	for range r.IntN(4) {
		f.other = append(f.other, f.pick(r, l.words("other")))
	}
	for range r.IntN(3) {
		f.otherDate = append(f.otherDate, f.pick(r, l.words("other date")))
	}
	f.dateForm = f.land.dates[r.IntN(len(f.land.dates))]
	f.numberForm, f.money = r.IntN(numberForms), r.IntN(5)
	f.colon = []string{":", "", ":", "", " :"}[r.IntN(5)]
	f.left, f.size = float64(36+r.IntN(40)), []float64{8, 9, 9.5, 10, 11}[r.IntN(5)]
	f.titleSize, f.nameSize = f.size*[]float64{1, 1.2, 1.6, 2}[r.IntN(4)], f.size*[]float64{1, 1.2, 1.5, 1.9}[r.IntN(4)]
	f.returnLine, f.headAddress, f.person = chance(r, 35), chance(r, 70), chance(r, 14)
	f.idInHead, f.idInFoot, f.idInMeta, f.domain = chance(r, 40), chance(r, 65), chance(r, 12), chance(r, 70)
	f.dueInMeta, f.terms, f.early, f.period = chance(r, 35), chance(r, 65), chance(r, 25), chance(r, 35)
	f.told, f.greeting, f.headAway, f.lineUnit = chance(r, 25), chance(r, 50), chance(r, 14), chance(r, 40)
	f.totalsLeft = []float64{300, 340, 380, f.left}[r.IntN(4)]
	f.shuffle = chance(r, 50)
	if chance(r, 30) { // typed, all of one size
		f.titleSize, f.nameSize = f.size, f.size
	}
	if chance(r, 40) {
		f.titleAt = 1 + r.IntN(3)
	}
	f.brand, f.slogan, f.noise, f.named = chance(r, 15), chance(r, 20), chance(r, 20), chance(r, 20)
	f.earlyDays, f.openTerms, f.datedItems = chance(r, 20), chance(r, 12), chance(r, 15)
	if chance(r, 12) {
		f.lower = f.size * []float64{0.4, 0.8, 1}[r.IntN(3)]
	}
	if f.scenario == "self-billed" {
		f.told = true
	}
	return f
}

// layOut draws how the parts of a page are set. One way to set the head, two ways to set the labels are kept for unseen
// families, each of which has one of them at least.
func (f *Family) layOut(r *rand.Rand) {
	const head, grid, titled = 6, 4, 7 // kept
	for {
		f.head, f.party, f.meta, f.table, f.foot = r.IntN(8), r.IntN(10), r.IntN(9), r.IntN(5), r.IntN(6)
		kept := f.head == head || f.meta == grid || f.meta == titled
		if kept == f.Unseen {
			return
		}
	}
}

// pick draws a wording that the family may use.
func (f *Family) pick(r *rand.Rand, from []string) string {
	for {
		i := r.IntN(len(from))
		if f.Unseen || i%4 != 3 {
			return from[i]
		}
	}
}

func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func weighted(r *rand.Rand, weights ...int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	n := r.IntN(total)
	for i, w := range weights {
		if n -= w; n < 0 {
			return i
		}
	}
	return 0
}

func one(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }
