package page

import (
	"fmt"
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/page/model"
)

// nameFeatures says what is seen of each name.
func (s *sheet) nameFeatures(all []named, buyers map[*item]bool) []model.Candidate {
	domain := slices.ContainsFunc(all, s.ownsDomain)
	company := slices.ContainsFunc(all, func(c named) bool { return c.form })
	median := s.median
	identified := map[string]bool{} // the names whose block or line holds a tax id
	for _, c := range all {
		identified[c.whole] = identified[c.whole] || s.idBelow(c.it) || c.rule == ruleImprint && c.how != byRegister
	}
	owners := 0
	for _, does := range identified {
		if does {
			owners++
		}
	}
	addressed := slices.DeleteFunc(slices.Clone(all), func(c named) bool {
		return c.it.y > s.heights[c.it.page-1]/2 || !s.addressBelow(c.it)
	})
	var out []model.Candidate
	for _, c := range all {
		features := []string{"rule " + c.rule, "rule " + c.rule + " " + c.how}
		seen := func(really bool, feature string) {
			if really {
				features = append(features, feature)
			}
		}
		folded := fold([]rune(c.name))
		form := c.form
		owns := s.ownsDomain(c)
		seen(form, "legal form")
		seen(form, "legal form, "+c.rule)
		seen(!form && company, "no legal form while others have one")
		seen(owns, "owns the domain")
		seen(!owns && domain, "another owns the domain")
		seen(!owns && domain && s.inWindow(c.it), "another owns the domain and it stands in the window")
		buyer := s.isBuyer(c, buyers)
		seen(buyer, "buyer")
		seen(buyer, "buyer, "+c.rule)
		again, foot := s.again(c)
		address := s.addressBelow(c.it)
		seen(address, "address below")
		seen(address && c.it.row < 3, "address below, at the top")
		seen(s.contactBelow(c.it), "contact below")
		seen(s.labelAbove(c.it), "a label above")
		seen(identified[c.whole], "a tax id in its block")
		seen(identified[c.whole] && owners == 1, "the only tax id in its block")
		seen(!identified[c.whole] && owners > 0, "a tax id in another block")
		left := s.left(c.it)
		seen(left != nil && strings.HasSuffix(strings.TrimSpace(left.folded), ":"), "a label on the left")
		seen(s.inWindow(c.it), "in the window")
		bare := s.bareAddress(c.it)
		seen(bare, "an address alone")
		seen(bare && s.inWindow(c.it), "an address alone, in the window")
		seen(address && !bare, "an address and more")
		above, beside, below := otherAddresses(c, addressed)
		seen(address && above, "an address, another above it")
		seen(address && beside, "an address, another beside it")
		seen(address && below, "an address, another below it")
		seen(address && !above && !beside && !below, "the only address")
		seen(s.labelledLeft(c.it), "words on the left")
		seen(s.wordOfInvoices(folded), "a word of invoices")
		seen(s.bank.MatchString(foldText(c.name)), "a bank")
		title := s.invoicePart.MatchString(folded) || s.creditTitle.MatchString(folded) || s.otherTitle.MatchString(folded)
		seen(title, "a title")
		seen(s.roleNamed(folded), "a label of another field")
		longer := func(o named) bool { return len(o.key) > len(c.key) && strings.HasPrefix(o.key, c.key) }
		seen(slices.ContainsFunc(all, longer), "a longer name begins with it")
		seen(c.it.row == 0, "first row")
		seen(c.it.row == 0 && form, "first row, legal form")
		seen(c.it.row == 0 && address, "first row, address below")
		seen(c.it.page > 1, "later page")
		seen(c.it.size >= 1.5*median, "very large")
		seen(c.it.size >= 1.15*median, "large")
		seen(c.it.size >= 1.15*median && form, "large, legal form")
		seen(c.it.size >= 1.15*median && address, "large, address below")
		seen(c.it.size >= 1.15*median && again > 0, "large, printed again")
		seen(c.it.size < 0.9*median, "small")
		n := len(strings.Fields(c.name))
		seen(n == 1 && !form, "one word")
		seen(n > 5 && !form, "many words")
		seen(hasDigit(c.name), "figures")
		seen(true, fmt.Sprintf("%s in part %d of the page", c.rule, int(4*c.it.y/s.heights[c.it.page-1])))
		seen(true, fmt.Sprintf("printed %d times more", min(again, 3)))
		seen(foot, "again at the foot")
		features = append(features, others(c, all)...)
		out = append(out, model.Candidate{Key: c.whole, Features: features})
	}
	return out
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
