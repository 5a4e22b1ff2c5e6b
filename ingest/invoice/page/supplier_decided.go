package page

import (
	"slices"
	"strings"
	"unicode"
)

// outdoes reports whether two labels announce a name, the seller's and its own, while the likeliest, at the top of the
// page, has none and is barely likelier, or not much where it is nothing but placed there: there portals and marketplaces set their own
// name, and forms what they are. Nor is whom to ask, further down in the seller's block, the seller.
func (c named) outdoes(likeliest *named) bool {
	const barely, placed = 1.5, 3
	inHead := likeliest.ties[tieHead] && likeliest.onlyPlaced() && !likeliest.form
	switch {
	case c.how != byName || c.whole == likeliest.whole:
		return false
	case likeliest.rule == ruleLetterhead && (likeliest.share <= barely*c.share || inHead && likeliest.share <= placed*c.share):
		return true
	case !c.form || likeliest.form:
		return false
	}
	lines := likeliest.it.row - c.it.row
	return likeliest.it.page == c.it.page && lines > 0 && lines < 2*maxBlock
}

// paid reports whether a name that heads the letter is that of who is to be paid, while the likeliest name is not, and stands at
// the foot alone or has no legal form: what makes invoices may print its own there.
func (c named) paid(likeliest *named) bool {
	return c.whole != likeliest.whole && c.ties[tieHolder] && c.ties[tieHead] && !likeliest.ties[tieHolder] &&
		(!likeliest.ties[tieHead] || !likeliest.form)
}

// rather reports whether a name of the same party is tied to the issuer by more than the likeliest, or alone printed again: that says
// what he is, as "Studio legale" over "Avv. Paola Ricci". Nor is a phrase below a name the name.
func (c named) rather(likeliest *named) bool {
	const more = 2
	again := c.ties[tieAgain] && !likeliest.ties[tieAgain]
	described := !likeliest.form && phrase(likeliest.name) && !phrase(c.name) && !likeliest.person // some write all in small letters
	return c.whole != likeliest.whole && !likeliest.ties[tieLabel] && (c.form || !likeliest.form) &&
		(again || described || len(c.ties) >= len(likeliest.ties)+more) && sameParty(c.it, likeliest.it)
}

// told reports whether words say that a company whose line holds the tax id issued the invoice, or runs the business whose mark is
// likeliest.
func (c named) told(likeliest *named) bool {
	return c.ties[tieLabel] && c.form && c.ties[tieID] && !likeliest.form && c.whole != likeliest.whole
}

// employs reports whether a company's name stands right over or below the likeliest, a person's: that is who runs it or works there.
func (c named) employs(likeliest *named) bool {
	return c.form && !likeliest.form && likeliest.person && !likeliest.ties[tieLabel] && c.ties[tieID] && sameParty(c.it, likeliest.it)
}

// trader reports whether a name begins the sender's line right below the likeliest, a mark that ends alike: the person who trades under
// it is the supplier, for the mark isn't one in law.
func (c named) trader(likeliest *named) bool {
	return c.rule == ruleReturn && c.how == "" && c.it.row == likeliest.it.row+1 && likeliest.it.size >= larger*c.it.size &&
		namesake(&c, likeliest) && c.whole != likeliest.whole
}

// signed reports whether a person whose name stands right over or below the likeliest, which is none in law, signs the letter: that one
// says what the person does, "Architektin" below "DI Judith Thalhammer". A head in small letters is spelled as its person signs.
func (c named) signed(likeliest *named) bool {
	if c.rule == ruleSigned && c.it == likeliest.it {
		return likeliest.name == strings.ToLower(likeliest.name) && c.name != likeliest.name
	}
	return c.ties[tieSigned] && c.ties[tieHead] && !likeliest.ties[tieSigned] && !likeliest.form && c.whole != likeliest.whole &&
		sameParty(c.it, likeliest.it)
}

// phrase reports whether a name goes on in small words, as slogans do and what somebody is licensed for: "Construire avec passion".
func phrase(name string) bool {
	const fewest, shortest = 2, 4 // words, and their letters: shorter ones join names
	small := 0
	for _, word := range strings.Fields(name) {
		if r := []rune(word); len(r) >= shortest && unicode.IsLower(r[0]) {
			small++
		}
	}
	return small >= fewest
}

// fromImprint is how sure it is that a company whose line holds its tax id and its account or register's entry is the supplier.
const fromImprint = 0.9

// imprinted reports whether a company's line below the sums holds its tax id and its account or register's entry, or its block the only tax
// id of all, while nothing but its place ties the likeliest name to the issuer, a mark or trade name, a site's address, or whom the letter
// is for, or that is what a branch is called by its town.
func (s *sheet) imprinted(c, likeliest *named, buyers map[*item]bool) bool {
	told := c.form && c.ties[tieID]
	more := c.ties[tieAccount] || c.ties[tieRegister]
	inLine := strings.HasPrefix(c.it.key, c.key) && s.withTaxID(c.it.folded) && s.belowSums(c.it)
	branch := !likeliest.form && s.branch.MatchString(foldText(likeliest.name))
	inBlock := s.onlyIDIn(s.block(c.it)) && (branch || s.bareAddress(likeliest.it))
	if !told || !(inLine && more) && !inBlock || buyers[c.it] || s.saysSelfBilled() {
		return false
	}
	return c.whole != likeliest.whole && (branch || likeliest.onlyPlaced())
}

// onlyPlaced reports whether nothing but its place, or that it is printed again, ties a name to the issuer.
func (c named) onlyPlaced() bool { return c.onlyTied(tieHead, tieAgain) }

// onlyTied reports whether nothing but these ties a name to the issuer.
func (c named) onlyTied(to ...tie) bool {
	for t := range c.ties {
		if !slices.Contains(to, t) {
			return false
		}
	}
	return true
}

// onlyIDIn reports whether a block holds a VAT id, and nothing else does.
func (s *sheet) onlyIDIn(block []*item) bool {
	in := 0
	for _, row := range s.rows {
		for _, it := range row {
			switch {
			case len(s.vatIDs(it.folded)) == 0:
			case slices.Contains(block, it):
				in++
			default:
				return false
			}
		}
	}
	return in > 0
}

// belowSums reports whether several rows with sums stand above an item on its page.
func (s *sheet) belowSums(it *item) bool {
	const fewest = 3
	n := 0
	for _, row := range s.rows[:it.row] {
		if row[0].page == it.page && slices.ContainsFunc(row, func(i *item) bool {
			return slices.ContainsFunc(i.amounts, func(a amount) bool { return a.decimals == 2 })
		}) {
			n++
		}
	}
	return n >= fewest
}

// theImprinted is the one name that is imprinted, -1 where there is none, or several.
func (s *sheet) theImprinted(all []named, likeliest *named, buyers map[*item]bool) int {
	only := -1
	for i := range all {
		if !s.imprinted(&all[i], likeliest, buyers) {
			continue
		}
		if only >= 0 && all[only].whole != all[i].whole {
			return -1
		}
		only = i
	}
	return only
}

// theSender is the company that a column on the left edge of the first page names, where nothing but its place ties the likeliest
// name to the issuer; -1 where there is none.
func (s *sheet) theSender(all []named, likeliest *named) int {
	side := s.sideColumn()
	if len(side) == 0 || slices.Contains(side, likeliest.it) || len(likeliest.ties) != 1 || !likeliest.ties[tieHead] {
		return -1
	}
	sender := -1
	for i, c := range all {
		if c.form && slices.Contains(side, c.it) && (sender < 0 || len(c.name) > len(all[sender].name)) {
			sender = i
		}
	}
	return sender
}

// besideSender reports whether a column on the left edge of the first page tells the sender's tax id and account, and a name stands beside
// it that nothing but its place and a contact ties to the issuer: whom the letter is for.
func (s *sheet) besideSender(c *named) bool {
	side := s.sideColumn()
	if len(side) == 0 || slices.Contains(side, c.it) {
		return false
	}
	return c.placedOrReached()
}

// placedOrReached reports whether nothing but its place and a contact ties a name to the issuer.
func (c named) placedOrReached() bool { return c.onlyTied(tieHead, tieAgain, tieContact) }

// besideAnother reports whether two companies stand in one row and nothing but its place and a contact, which may be the buyer's, too, ties
// one to the issuer: no label says which of them is who.
func besideAnother(c *named, all []named) bool {
	return c.placedOrReached() && slices.ContainsFunc(all, func(o named) bool {
		return o.form && o.whole != c.whole && o.it != c.it && o.it.row == c.it.row && o.it.page == c.it.page
	})
}

// theSigned is the one company that signs the letter, where nothing but its place ties the likeliest name to the issuer: that may be whom
// the letter is for, or an agency of the company; -1 where there is none.
func (s *sheet) theSigned(all []named, likeliest *named) int {
	if !likeliest.onlyPlaced() || s.saysSelfBilled() {
		return -1
	}
	only := -1
	for i, c := range all {
		if !c.form || !slices.Contains(s.signatures, c.it) || !s.signs(c, c.it) {
			continue
		}
		if only >= 0 && all[only].whole != c.whole {
			return -1
		}
		only = i
	}
	return only
}

// footed reports whether a name stands at the foot of pages alone.
func (s *sheet) footed(c *named, all []named) bool {
	const foot = 0.75
	return !slices.ContainsFunc(all, func(o named) bool { return o.whole == c.whole && o.it.y < foot*s.heights[o.it.page-1] })
}

// heads reports whether a name has a letterhead of its own, with an address, a way to reach it, and a VAT id or a register's entry.
func (s *sheet) heads(c *named, buyers map[*item]bool) bool {
	const gap = 4 // of lines
	if !s.inHead(c.it) || buyers[c.it] || !s.addressBelow(c.it) || !c.ties[tieContact] {
		return false
	}
	last := c.it
	for _, row := range s.rows[c.it.row:] {
		for _, it := range row {
			if it.page != c.it.page || it.y-last.y > gap*maxFloat(last.size, 7) {
				return false
			}
			if absFloat(it.x0-c.it.x0) < 3 && !buyers[it] {
				if last = it; len(s.vatIDs(it.folded)) > 0 || s.footMark.MatchString(it.folded) {
					return true
				}
			}
		}
	}
	return false
}

// sold reports whether two labels in two places say of a company that it sells, while the likeliest name has none and stands below the
// head: that of the marketplace, which prints its own address, register and tax id.
func sold(c, likeliest *named, all []named) bool {
	if c.rule != ruleSeller || !c.form || likeliest.ties[tieLabel] || likeliest.ties[tieHead] || c.whole == likeliest.whole {
		return false
	}
	return slices.ContainsFunc(all, func(o named) bool { return o.rule == ruleSeller && o.whole == c.whole && o.it != c.it })
}

// overTheID reports whether a name in the head stands right over a tax id, as no other name has one, while the likeliest is none in law and
// is printed with a way to reach whom it names, below the head and nothing more: so forms tell who has ordered.
func (s *sheet) overTheID(c, likeliest *named, all []named, buyers map[*item]bool) bool {
	ordered := !likeliest.form && likeliest.onlyTied(tieContact, tieAgain)
	if !ordered || !c.ties[tieID] || !s.inHead(c.it) || buyers[c.it] || c.whole == likeliest.whole {
		return false
	}
	another := slices.ContainsFunc(all, func(o named) bool { return o.ties[tieID] && o.whole != c.whole })
	return !another && slices.ContainsFunc(s.below(c.it, 1.6), func(it *item) bool {
		return absFloat(it.x0-c.it.x0) < 3 && s.withTaxID(it.folded)
	})
}

// insteadOf is the name that is stated in place of the likeliest, -1 where that is itself.
func (s *sheet) insteadOf(likeliest *named, all []named, buyers map[*item]bool) int {
	footed := s.footed(likeliest, all)
	return slices.IndexFunc(all, func(o named) bool {
		return o.outdoes(likeliest) || o.paid(likeliest) || o.rather(likeliest) || o.trader(likeliest) || o.told(likeliest) ||
			o.signed(likeliest) || o.employs(likeliest) || o.professed(likeliest) || sold(&o, likeliest, all) ||
			s.overTheID(&o, likeliest, all, buyers) || footed && o.whole != likeliest.whole && s.heads(&o, buyers)
	})
}

// settled reports whether a name may be stated: it is likelier than not, and much likelier than any other, something ties it to the
// issuer, and the tax id of its block isn't another than the imprint's. What spoke for the likeliest name speaks for the one that is stated
// in its place. On the buyer's own paper the imprint and the sender's line are his.
func (s *sheet) settled(c, likeliest *named, all []named, own Own, buyers map[*item]bool) bool {
	const (
		doubtful = 0.5
		ahead    = 2 // times the second best
	)
	likely, second := 0.0, map[string]float64{}
	for _, other := range all {
		switch {
		case sameName(c, &other), sameName(likeliest, &other), s.owns(c, &other):
			likely += other.share
		case !s.marks(&other, c):
			second[other.whole] += other.share
		}
	}
	for _, share := range second {
		if likely < ahead*share {
			return false
		}
	}
	if likely < doubtful || len(c.ties) == 0 || s.loneAddressee(c, all) || s.rivalled(c, all, buyers) || s.besideSender(c) ||
		besideAnother(c, all) {
		return false
	}
	if s.saysSelfBilled() && !c.ties[tieLabel] && (c.ties[tieFoot] || c.ties[tieReturn]) {
		return false
	}
	return !s.otherIDInBlock(c, own)
}

// loneAddressee reports whether nothing but its place ties a name without a legal form to the issuer, over an address alone, and nobody
// else has one: where the letterhead is a picture that is whom the letter is for.
func (s *sheet) loneAddressee(c *named, all []named) bool {
	const large = 1.3 // letterheads are
	if c.form || len(c.ties) != 1 || !c.ties[tieHead] || !s.bareAddress(c.it) || c.it.row == 0 && c.it.size >= large*s.median {
		return false
	}
	town := func(it *item) bool { return s.postalCity.MatchString(it.folded) }
	return !slices.ContainsFunc(all, func(o named) bool {
		other := o.whole != c.whole && !slices.Contains(s.block(c.it), o.it)
		return other && (town(o.it) || slices.ContainsFunc(s.block(o.it)[1:], town))
	})
}

// rivalled reports whether nothing tells a name at the top of a page from another one with an address and a tax id: no label of
// either, no more in its lines than in those of the other, nothing outside of them. It may be whom the letter is for, as who stands below
// it on the left is.
func (s *sheet) rivalled(c *named, all []named, buyers map[*item]bool) bool {
	for _, t := range []tie{tieDomain, tieHolder, tieLabel, tieReturn, tieSigned, tieFoot, tieAgain} {
		if c.ties[t] {
			return false
		}
	}
	town := func(it *item) bool { // a letterhead may have it all in one line
		return s.postalCity.MatchString(it.folded) && len(splitReturn(it.text())) == 1
	}
	if s.above(c.it) != nil || s.labelledLeft(c.it) || !slices.ContainsFunc(s.block(c.it), town) {
		return false
	}
	told := len(s.tellsOf(c.it))
	own := s.block(c.it)
	foot := own[len(own)-1].row
	return slices.ContainsFunc(all, func(o named) bool {
		lines := s.block(o.it)
		addressee := o.it.row > foot && s.inWindow(o.it)
		apart := !slices.Contains(own, o.it) && !slices.Contains(lines, c.it)
		if sameName(c, &o) || addressee || !apart || !s.addressBelow(o.it) {
			return false
		}
		labelled := slices.ContainsFunc(lines, func(it *item) bool {
			folded := strings.ReplaceAll(it.folded, ".", " ") // "Spett. Villa SRL"
			return buyers[it] || s.buyerPhrase.MatchString(folded) || s.withTaxID(it.folded) && s.buyerWord.MatchString(it.folded)
		})
		other := s.tellsOf(o.it)
		return !labelled && other[tieID] && len(other) >= told
	})
}

// tellsOf is what the lines of a name tell of whom it names.
func (s *sheet) tellsOf(it *item) map[tie]bool {
	out := map[tie]bool{}
	for _, b := range s.block(it) {
		if s.withTaxID(b.folded) {
			out[tieID] = true
		}
		if s.withAccount(b.folded) {
			out[tieAccount] = true
		}
		if s.footMark.MatchString(b.folded) {
			out[tieRegister] = true
		}
		if withContact(b.folded) {
			out[tieContact] = true
		}
	}
	return out
}

// sameName reports whether one of two names holds the other, or they are the same party's, one right over the other.
func sameName(c, other *named) bool {
	return strings.Contains(other.whole, c.whole) || strings.Contains(c.whole, other.whole) ||
		sameParty(c.it, other.it) && !namesake(c, other)
}

// marks reports whether a name without a legal form stands in the head, as a mark does over whose company it is.
func (s *sheet) marks(mark, of *named) bool {
	return of.form && of.ties[tieID] && !mark.form && s.inHead(mark.it)
}

// sameParty reports whether one of two names stands right over the other, with one left edge, right edge or middle, as a trade
// name over the company's and a profession below a person: both are the sender's.
func sameParty(a, b *item) bool {
	rows := a.row - b.row
	return rows >= -1 && rows <= 1 && sameEdge(a, b) && absFloat(a.y-b.y) < 2*maxFloat(a.size, 7)
}

// sameEdge reports whether two items of a page have one left edge, right edge or middle.
func sameEdge(a, b *item) bool {
	edges := absFloat(a.x0-b.x0) < 3 || absFloat(a.x1-b.x1) < 3 || absFloat(a.x0+a.x1-b.x0-b.x1) < 6
	return a.page == b.page && edges
}

// owns reports whether a person, as the owner of the line says, trades under a name that ends alike: "Inh. Josef Berger" below "Elektro
// Berger".
func (s *sheet) owns(c, mark *named) bool {
	before, _, _ := strings.Cut(c.it.folded, foldText(c.name))
	return namesake(c, mark) && before != c.it.folded && (s.beforeName.MatchString(before) || s.owner.MatchString(" "+before))
}

// namesake reports whether two names without a legal form end alike, as a trade name and the person who trades under it: either may be the
// name in law.
func namesake(a, b *named) bool {
	x, y := strings.Fields(foldText(a.name)), strings.Fields(foldText(b.name))
	return !a.form && !b.form && len(x) > 1 && len(y) > 1 && x[len(x)-1] == y[len(y)-1]
}
