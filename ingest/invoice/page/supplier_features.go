package page

import (
	"fmt"
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/page/model"
)

// features name what is seen of a name.
type features []string

func (f *features) seen(really bool, feature string) {
	if really {
		*f = append(*f, feature)
	}
}

// company is what a page's names are among which each is weighed.
type company struct {
	all        []named
	owned      bool            // one owns the domain
	formed     bool            // one has a legal form
	identified map[string]bool // whose block or line holds a tax id
	addressed  []named         // who stand over an address in the upper half
}

func (s *sheet) companyOf(all []named) company {
	with := company{all: all, owned: slices.ContainsFunc(all, s.ownsDomain), identified: map[string]bool{}}
	for _, c := range all {
		with.formed = with.formed || c.form
		if s.idBelow(c.it) || c.rule == ruleImprint && c.how != byRegister {
			with.identified[c.whole] = true
		}
		if c.it.y <= s.heights[c.it.page-1]/2 && s.addressBelow(c.it) {
			with.addressed = append(with.addressed, c)
		}
	}
	return with
}

// nameFeatures says what is seen of each name.
func (s *sheet) nameFeatures(all []named, buyers map[*item]bool) []model.Candidate {
	with := s.companyOf(all)
	var out []model.Candidate
	for _, c := range all {
		f := features{"rule " + c.rule, "rule " + c.rule + " " + c.how}
		s.seeWords(c, with, &f)
		buyer := s.isBuyer(c, buyers)
		f.seen(buyer, "buyer")
		f.seen(buyer, "buyer, "+c.rule)
		s.seeBlock(c, with, &f)
		s.seeAddress(c, with, &f)
		s.seePlace(c, &f)
		out = append(out, model.Candidate{Key: c.whole, Features: append(f, others(c, all)...)})
	}
	return out
}

// seeWords tells what a name is made of.
func (s *sheet) seeWords(c named, with company, f *features) {
	folded, words := fold([]rune(c.name)), len(strings.Fields(c.name))
	owns := s.ownsDomain(c)
	f.seen(c.form, "legal form")
	f.seen(c.form, "legal form, "+c.rule)
	f.seen(!c.form && with.formed, "no legal form while others have one")
	f.seen(owns, "owns the domain")
	f.seen(!owns && with.owned, "another owns the domain")
	f.seen(!owns && with.owned && s.inWindow(c.it), "another owns the domain and it stands in the window")
	f.seen(s.wordOfInvoices(folded), "a word of invoices")
	f.seen(s.bank.MatchString(foldText(c.name)), "a bank")
	title := s.invoicePart.MatchString(folded) || s.creditTitle.MatchString(folded) || s.otherTitle.MatchString(folded)
	f.seen(title, "a title")
	f.seen(s.roleNamed(folded), "a label of another field")
	longer := func(o named) bool { return len(o.key) > len(c.key) && strings.HasPrefix(o.key, c.key) }
	f.seen(slices.ContainsFunc(with.all, longer), "a longer name begins with it")
	f.seen(words == 1 && !c.form, "one word")
	f.seen(words > 5 && !c.form, "many words")
	f.seen(hasDigit(c.name), "figures")
}

// seeBlock tells what stands around a name.
func (s *sheet) seeBlock(c named, with company, f *features) {
	identified, left := with.identified[c.whole], s.left(c.it)
	f.seen(s.contactBelow(c.it), "contact below")
	f.seen(s.labelAbove(c.it), "a label above")
	f.seen(identified, "a tax id in its block")
	f.seen(identified && len(with.identified) == 1, "the only tax id in its block")
	f.seen(!identified && len(with.identified) > 0, "a tax id in another block")
	f.seen(left != nil && strings.HasSuffix(strings.TrimSpace(left.folded), ":"), "a label on the left")
	f.seen(s.labelledLeft(c.it), "words on the left")
}

// seeAddress tells of the address below a name, and where others stand.
func (s *sheet) seeAddress(c named, with company, f *features) {
	address, bare := s.addressBelow(c.it), s.bareAddress(c.it)
	above, beside, below := otherAddresses(c, with.addressed)
	f.seen(address, "address below")
	f.seen(address && c.it.row < 3, "address below, at the top")
	f.seen(s.inWindow(c.it), "in the window")
	f.seen(bare, "an address alone")
	f.seen(bare && s.inWindow(c.it), "an address alone, in the window")
	f.seen(address && !bare, "an address and more")
	f.seen(address && above, "an address, another above it")
	f.seen(address && beside, "an address, another beside it")
	f.seen(address && below, "an address, another below it")
	f.seen(address && !above && !beside && !below, "the only address")
	f.seen(c.it.row == 0 && address, "first row, address below")
	f.seen(c.it.size >= larger*s.median && address, "large, address below")
}

// seePlace tells where a name stands, how large, and how often.
func (s *sheet) seePlace(c named, f *features) {
	again, foot := s.again(c)
	large := c.it.size >= larger*s.median
	f.seen(c.it.row == 0, "first row")
	f.seen(c.it.row == 0 && c.form, "first row, legal form")
	f.seen(c.it.page > 1, "later page")
	f.seen(c.it.size >= 1.5*s.median, "very large")
	f.seen(large, "large")
	f.seen(large && c.form, "large, legal form")
	f.seen(large && again > 0, "large, printed again")
	f.seen(c.it.size < 0.9*s.median, "small")
	f.seen(true, fmt.Sprintf("%s in part %d of the page", c.rule, int(4*c.it.y/s.heights[c.it.page-1])))
	f.seen(true, fmt.Sprintf("printed %d times more", min(again, 3)))
	f.seen(foot, "again at the foot")
}

// idBelow reports whether a tax id stands in the lines below an item, in its column.
func (s *sheet) idBelow(it *item) bool {
	last := it
	for r := it.row + 1; r < len(s.rows) && r <= it.row+maxBlock; r++ {
		row := s.rows[r]
		if row[0].page != it.page || row[0].y-last.y > 2.6*maxFloat(last.size, 7) {
			return false
		}
		for _, below := range row {
			if absFloat(below.x0-it.x0) > 12 && !aligned(below, it) {
				continue
			}
			last = below
			if s.vatLabel.MatchString(below.folded) || len(s.vatIDs(below.folded)) > 0 || s.taxNumberLabel.MatchString(below.folded) {
				return true
			}
			if r > it.row+1 && s.legalForm.MatchString(below.folded) {
				return false // another's block
			}
		}
	}
	return false
}

// roleNamed reports whether a text is the label of a number, a date or a sum.
func (s *sheet) roleNamed(folded string) bool {
	for _, l := range slices.Concat(s.numberLabels[:2], s.dateLabels[:1], s.dueLabels) {
		if l.pattern.MatchString(folded) {
			return true
		}
	}
	return s.otherDate.MatchString(folded)
}

// wordOfInvoices reports whether a text is what sums, items or the document itself are called.
func (s *sheet) wordOfInvoices(folded string) bool {
	r, _ := s.roleOf(folded)
	return r != roleNone || s.itemHeading.MatchString(folded) || s.invoiceWord.MatchString(folded)
}

// others says which other rules found the same name.
func others(c named, all []named) []string {
	var out []string
	for _, other := range all {
		if feature := "also " + other.rule; other.rule != c.rule && other.whole == c.whole && !slices.Contains(out, feature) {
			out = append(out, feature)
		}
	}
	return out
}

// again counts where else the name is printed, and reports whether at the foot of a page.
func (s *sheet) again(c named) (n int, foot bool) {
	for _, it := range s.placesOf(c)[1:] {
		n++
		foot = foot || it.y > s.heights[it.page-1]*0.85
	}
	return n, foot
}

// labelAbove reports whether a short text without figures that no name is stands right above an item, in its column.
func (s *sheet) labelAbove(it *item) bool {
	for r := it.row - 1; r >= max(0, it.row-2); r-- {
		for _, above := range s.rows[r] {
			if above.page == it.page && absFloat(above.x0-it.x0) < 3 && it.y-above.y < 2.2*maxFloat(it.size, 7) {
				return len(above.folded) < 28 && !hasDigit(above.folded) && !s.legalForm.MatchString(above.folded)
			}
		}
	}
	return false
}

// inWindow reports whether an item stands where a letter's window shows the address of the recipient.
func (s *sheet) inWindow(it *item) bool {
	return it.page == 1 && it.x0 < s.widths[1]/3 && it.y > s.heights[0]*0.08 && it.y < s.heights[0]*0.35
}

func (s *sheet) isBuyer(c named, buyers map[*item]bool) bool {
	for it := range buyers {
		if k := compact(it.folded); k == c.key || len(c.key) > 6 && strings.HasPrefix(k, c.key) {
			return true
		}
	}
	return false
}

// contactBelow reports whether a mail address or telephone number follows.
func (s *sheet) contactBelow(it *item) bool {
	for _, b := range s.below(it, 2.2) {
		if strings.Contains(b.folded, "@") || strings.HasPrefix(b.folded, "tel") {
			return true
		}
	}
	return false
}
