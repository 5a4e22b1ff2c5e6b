package page

import (
	"slices"
	"strings"
)

// Which of several tax ids is the supplier's.

// closest is the best of the ids that are equally likely, but for one in the line of another company, or beside another id under the
// supplier's name: it scores more.
func (s *sheet) closest(all []identified, best int, key string) int {
	score := all[best].score
	near := func(c identified) bool { return c.score > score-nearScore && c.score <= score }
	if !slices.ContainsFunc(all, func(c identified) bool { return near(c) && c.id.value != all[best].id.value }) {
		return best
	}
	for i := range all {
		c := &all[i]
		if !near(*c) {
			continue
		}
		first := s.firstPart(c.it.text())
		others := s.legalForm.MatchString(foldText(first)) && s.nameLike(s.cleanName(first)) && !c.it.names(key)
		rival := slices.ContainsFunc(all, func(o identified) bool { return o.it != c.it && o.row == c.row && o.it.page == c.it.page })
		switch {
		case others:
			c.score -= 0.05
		case rival && s.belowName(c.it, key):
			c.score += 0.05
		}
		if c.score > all[best].score+0.001 {
			best = i
		}
	}
	return best
}

// belowName reports whether the supplier's name stands above an item, at the left edge of its line, behind however wide a gap.
func (s *sheet) belowName(it *item, key string) bool {
	start := s.lineStart(it)
	for r := it.row - 1; r >= max(0, it.row-2*maxBlock) && s.rows[r][0].page == it.page; r-- {
		for _, c := range s.rows[r] {
			if absFloat(c.x0-start.x0) < 3 && c.names(key) {
				return true
			}
		}
	}
	return false
}

// underName is the one id in the block of lines that the supplier's name tops, where the best one stands in no block but below its label:
// national numbers count for less than VAT ids, but a form may print the buyer's apart from his address.
func (s *sheet) underName(all []identified, best int, key string) int {
	his := func(c identified) bool { return s.blockOwner(c.it, key, true) == ownSeller }
	top := s.blockTop(all[best].it)
	inBlock := top != all[best].it && !s.vatLabel.MatchString(top.folded)
	if all[best].ours || all[best].behalf || inBlock || his(all[best]) {
		return best
	}
	return theOne(all, best, his)
}

// inLine is the one id in lines that begin with the supplier's name, where the best one's line begins with another company.
func (s *sheet) inLine(all []identified, best int, key string) int {
	if !s.inAnothersLine(all[best].it, key) {
		return best
	}
	return theOne(all, best, func(c identified) bool { return strings.HasPrefix(c.it.key, key) })
}

// theOne is the one id that is his, not the buyer's, and no number of a register; the best one where there are others or none.
func theOne(all []identified, best int, his func(identified) bool) int {
	found := -1
	for i, c := range all {
		if c.score <= ofBuyer || c.kind == businessNumber || !his(c) {
			continue
		}
		if found >= 0 && all[found].id.value != c.id.value {
			return best
		}
		found = i
	}
	if found < 0 {
		return best
	}
	return found
}

// inAnothersLine reports whether a line begins with another company than the supplier.
func (s *sheet) inAnothersLine(it *item, key string) bool {
	return s.legalForm.MatchString(foldText(s.firstPart(it.text()))) && !it.names(key)
}

// nearScore is how much less another id may score to be as likely.
const nearScore = 0.04

// lowest is the one of two ids, equally likely but for where they stand, that stands in the lower half of a page while the other one
// is printed above alone: a letter's foot and what is said of paying are its issuer's, addresses and particulars may be the recipient's.
// Nothing where words say that the recipient issued it, or that the tax is for him to pay.
func (s *sheet) lowest(all []identified, best int) int {
	const doubt = 0.21 // below an id in the lower half, one above that speaks for itself
	lower := map[string]int{}
	upper := map[string]bool{}
	for i, c := range all {
		if c.kind != all[best].kind || c.score < all[best].score-doubt || c.score < 0.5 {
			continue
		}
		if c.it.page == 1 && c.it.y < s.heights[0]/2 {
			upper[c.id.value] = true
		} else {
			lower[c.id.value] = i
		}
	}
	if len(lower) != 1 || len(upper) == 0 || s.saysSelfBilled() {
		return -1
	}
	for value, i := range lower {
		if upper[value] || all[i].score < all[best].score-nearScore || s.ofRecipient(all[i].it) {
			return -1
		}
		return i
	}
	return -1
}

// ofRecipient reports whether an item, or the line above it, speaks of who buys or of a tax that is his to pay.
func (s *sheet) ofRecipient(it *item) bool {
	return slices.ContainsFunc(s.rows[max(0, it.row-1):it.row+1], func(row []*item) bool {
		return slices.ContainsFunc(row, func(i *item) bool { return s.buyerWord.MatchString(i.folded) || s.noTax.MatchString(i.folded) })
	})
}

// notTheBuyers takes ids that stand with the buyer in one place for his wherever else they stand, as among the particulars.
func notTheBuyers(all []identified) {
	buyers := map[string]bool{}
	for _, c := range all {
		buyers[c.id.value] = buyers[c.id.value] || c.score == ofBuyer
	}
	for i := range all {
		if buyers[all[i].id.value] {
			all[i].score = ofBuyer
		}
	}
}

// ofBuyer is the score of an id that stands with the buyer.
const ofBuyer = 0.3

// rather is another candidate than the best one, when that one's check digit is
// wrong and the block under a seller's label holds one that is not.
func (s *sheet) rather(all []identified, best int) int {
	if !all[best].id.wrong {
		return best
	}
	if s.underSellerLabel(all[best].it) {
		return best
	}
	for i, c := range all {
		if !c.id.wrong && c.score >= 0.8 && c.kind != businessNumber && s.underSellerLabel(c.it) {
			return i
		}
	}
	return best
}
