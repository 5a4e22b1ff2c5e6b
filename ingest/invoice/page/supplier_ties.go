package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// tie is a reason to take a name for that of who issued the letter, whatever its words and language. Ties of different kinds
// are found apart from one another: a name that many of them hold is hardly anybody else's.
type tie string

const (
	tieID       tie = "tax id"         // the supplier's stands in its block or line
	tieAccount  tie = "account"        // so does an account
	tieRegister tie = "register"       // or a register's entry
	tieContact  tie = "contact"        // or a mail address, site or telephone
	tieDomain   tie = "domain"         // the mail address or site bears it
	tieHolder   tie = "account holder" // it is said to own the account
	tieLabel    tie = "label"          // a seller's label or a sentence announces it, or a label the one other party
	tieReturn   tie = "return address" // it begins the sender's line
	tieSigned   tie = "signature"      // it stands alone below the sums, too
	tieFoot     tie = "foot"           // it is printed at the foot of a page
	tieAgain    tie = "again"          // it is printed in two places
	tieHead     tie = "head"           // it is set large, or above where windows are
)

// bareAccount is an account as it is printed, with its letters "IBAN" or without.
var bareAccount = regexp.MustCompile(`\b[a-z]{2}\d{2}(?:(?: ?[a-z]{4})?(?: ?\d{4}){3,6}| ?[a-z]{4}(?: ?\d{4}){2})`)

// withAccount reports whether an account is printed in a text.
func (v *vocabulary) withAccount(folded string) bool {
	return v.account.MatchString(folded) || bareAccount.MatchString(folded)
}

// withTaxID reports whether a tax id is printed in a text, or announced.
func (v *vocabulary) withTaxID(folded string) bool {
	return v.vatLabel.MatchString(folded) || len(v.vatIDs(folded)) > 0 || v.taxNumberLabel.MatchString(folded)
}

// phone is a telephone number as it is printed, abroad or at home.
var phone = regexp.MustCompile(`\+\d{2} ?\(?\d|\b(?:t|tel|tlf|tele?[fp]h?o+n[a-z]*|fon|phone|mob[a-z]*|gsm|` +
	`talr[a-z]*|thl[a-z]*)[.: ]+\(?\d|^0\d{2,4} ?[ /-] ?\d`)

// withContact reports whether a text tells how to reach somebody.
func withContact(folded string) bool {
	return strings.Contains(folded, "@") || strings.Contains(folded, "www.") || phone.MatchString(folded)
}

// ofBank reports whether a name is that of the bank in whose line an account stands: it is the sender's bank, not the sender.
func (v *vocabulary) ofBank(name string, line string) bool {
	return v.bank.MatchString(foldText(name)) && v.withAccount(line)
}

// block is an item and what stands in the lines below it: one below the other with one left edge, right edge or middle.
func (s *sheet) block(it *item) []*item {
	const next, gap = 2.2, 4.5 // lines
	out := []*item{it}
	last, aside := it, s.companyAside(it)
	for r := it.row + 1; r < len(s.rows) && len(out) < 2*maxBlock; r++ {
		row := s.rows[r]
		apart := (row[0].y - last.y) / maxFloat(last.size, 7)
		if row[0].page != it.page || apart > gap {
			break
		}
		for _, below := range row {
			if sameEdge(below, last) && (apart <= next || aside || s.goesOn(out, below)) {
				out, last = append(out, below), below
				break
			}
		}
	}
	return out
}

// companyAside reports whether an item, or the line below it, names a company in the sender's side column.
func (s *sheet) companyAside(it *item) bool {
	below := s.lineBelow(it)
	return (s.legalForm.MatchString(it.folded) || below != nil && s.legalForm.MatchString(below.folded)) && slices.Contains(s.sideColumn(), it)
}

// goesOn reports whether an address goes on behind a gap with what tells of whom it is, in its column and size.
func (s *sheet) goesOn(block []*item, below *item) bool {
	last := block[len(block)-1]
	town := func(it *item) bool { return s.postalCity.MatchString(it.folded) }
	if !slices.ContainsFunc(block[1:], town) || absFloat(below.x0-last.x0) > 1 || absFloat(below.size-last.size) > 0.5 {
		return false
	}
	return withContact(below.folded) || s.withTaxID(below.folded) || s.withAccount(below.folded) || s.footMark.MatchString(below.folded)
}

// tie notes what ties each name to the issuer, wherever it is printed; idAt, where the supplier's tax id stands, may be unknown.
func (s *sheet) tie(all []named, idAt *item) {
	of := map[string]map[tie]bool{}
	for i := range all {
		c := &all[i]
		if of[c.whole] == nil {
			of[c.whole] = map[tie]bool{}
		}
		c.ties = of[c.whole]
		for _, t := range s.ties(*c, idAt) {
			c.ties[t] = true
		}
	}
}

// ties lists what ties one printed name to the issuer.
func (s *sheet) ties(c named, idAt *item) []tie {
	var out []tie
	seen := func(really bool, t tie) {
		if really {
			out = append(out, t)
		}
	}
	switch c.rule {
	case ruleSeller, ruleSentence:
		seen(true, tieLabel)
	case ruleHolder:
		seen(s.accountNear(c.it), tieHolder)
	case ruleIDBlock, ruleIDLine:
		seen(true, tieID)
	case ruleLetterhead:
		seen(c.how == onlyParty && !s.saysSelfBilled(), tieLabel) // else that is the buyer
	case ruleReturn:
		seen(!s.labelledLeft(c.it), tieReturn)
	}
	for _, it := range s.block(c.it) {
		if s.beginsAnothers(it, c) || s.buyerWord.MatchString(it.folded) {
			break
		}
		seen(it == idAt || idAt == nil && s.withTaxID(it.folded), tieID)
		seen(s.withAccount(it.folded), tieAccount)
		seen(s.footMark.MatchString(it.folded), tieRegister)
		seen(withContact(it.folded), tieContact)
	}
	seen(s.ownsDomain(c), tieDomain)
	places := s.placesOf(c)
	seen(len(places) > 1, tieAgain)
	for _, it := range places {
		height := s.heights[it.page-1]
		seen(it.y > 0.85*height, tieFoot)
		seen(it.key == c.key && it != c.it && it.y > 0.45*height && it.y <= 0.85*height && s.aloneInRow(it), tieSigned)
	}
	seen(slices.ContainsFunc(s.signatures, func(it *item) bool { return s.signs(c, it) }), tieSigned)
	seen(s.inHead(c.it), tieHead)
	return out
}

// beginsAnothers reports whether a line below a name begins another's: it names a company. Right below a name that may be the rest of it,
// or tell whose it is, unless it is a name and nothing else.
func (s *sheet) beginsAnothers(it *item, c named) bool {
	if it.row == c.it.row || !s.legalForm.MatchString(it.folded) || strings.Contains(it.key, c.key) {
		return false
	}
	text := it.text()
	alone := c.form && s.firstPart(text) == text && !s.formAlone(it.folded) && !torn(text) && !smallWord.MatchString(text)
	return alone || it.row > c.it.row+1
}

// smallWord is a word of a sentence within a name: "Ein Unternehmen der Berger Holding AG".
var smallWord = regexp.MustCompile(`(?:^| )\p{Ll}{3,} `)

// inHead reports whether an item stands where letterheads do: above the places of an address window, which begins 45 mm from the top of
// A4, right below what does, or large a little below.
func (s *sheet) inHead(it *item) bool {
	const window, head, lines = 0.14, 0.3, 2.6
	height := s.heights[it.page-1]
	if it.page > 1 || it.y > head*height {
		return false
	}
	follows := false
	if it.row > 0 {
		above := s.rows[it.row-1][0]
		follows = above.y < window*height && it.y-above.y < lines*maxFloat(it.size, 7)
	}
	return it.y < window*height || follows || it.size >= larger*s.median
}

// placesOf is where a name stands.
func (s *sheet) placesOf(c named) []*item {
	out := []*item{c.it}
	if len(c.key) < 4 {
		return out
	}
	for _, row := range s.rows {
		for _, it := range row {
			if it != c.it && strings.Contains(it.key, c.key) && !s.buyerLabel.MatchString(it.folded) {
				out = append(out, it)
			}
		}
	}
	return out
}

// accountNear reports whether an account is printed within some lines of an item.
func (s *sheet) accountNear(it *item) bool {
	const lines = 3
	for _, row := range s.rows[max(0, it.row-lines):min(len(s.rows), it.row+lines+1)] {
		if row[0].page == it.page && slices.ContainsFunc(row, func(i *item) bool { return s.withAccount(i.folded) }) {
			return true
		}
	}
	return false
}

func (s *sheet) aloneInRow(it *item) bool { return len(s.rows[it.row]) == 1 }

// labelledLeft reports whether a short text without figures, which is no name, stands on the left of an item: its label.
func (s *sheet) labelledLeft(it *item) bool {
	left := s.left(it)
	return left != nil && len(left.folded) < 28 && !hasDigit(left.folded) && !s.legalForm.MatchString(left.folded)
}

// bareAddress reports whether an item tops an address and nothing else: no way to reach whom it names, no tax id, account or
// register. So addressees are printed.
func (s *sheet) bareAddress(it *item) bool {
	if !s.addressBelow(it) {
		return false
	}
	return !slices.ContainsFunc(s.block(it), func(b *item) bool {
		return withContact(b.folded) || s.withTaxID(b.folded) || s.withAccount(b.folded) || s.footMark.MatchString(b.folded)
	})
}

// otherIDInBlock reports whether the block of a name holds a tax id that is another than that of the imprint, where account or register
// stand beside it, or of the account's line below the sums: then the name is that of whom the letter is for. On the own company's paper
// the imprint is its own.
func (s *sheet) otherIDInBlock(c *named, own Own) bool {
	const foot = 0.75
	imprint := ""
	for _, row := range s.rows {
		folded := fold([]rune(rowText(row)))
		if row[0].y < foot*s.heights[row[0].page-1] {
			if !s.withAccount(folded) || !s.belowSums(row[0]) {
				continue
			}
		} else if below := s.below(row[0], 1.6); len(row) == 1 && len(below) > 0 && sameEdge(below[0], row[0]) &&
			s.withAccount(below[0].folded) {
			folded += " " + below[0].folded // his account has a line of its own
		}
		if slices.ContainsFunc(row, func(it *item) bool { return own.isName(s.firstPart(it.text())) }) {
			return false
		}
		if !s.buyerWord.MatchString(folded) && (s.withAccount(folded) || s.footMark.MatchString(folded)) {
			for _, id := range s.vatIDs(folded) {
				imprint = id.value
			}
		}
	}
	if imprint == "" {
		return false
	}
	other := false
	for _, it := range s.block(c.it) {
		for _, id := range s.vatIDs(it.folded) {
			if id.value == imprint {
				return false
			}
			other = true
		}
	}
	return other
}

// otherAddresses reports whether other names of an address stand above, beside and below a name on its page.
func otherAddresses(c named, addressed []named) (above, beside, below bool) {
	const apart = 3 // rows
	for _, o := range addressed {
		if o.whole == c.whole || o.it.page != c.it.page {
			continue
		}
		switch between := o.it.row - c.it.row; {
		case between < -apart:
			above = true
		case between > apart:
			below = true
		case !aligned(o.it, c.it):
			beside = true
		}
	}
	return above, beside, below
}

// tieFeatures says of each name what ties it to the issuer, how much that is, and whether another has more.
func tieFeatures(all []named) [][]string {
	const most = 5
	best := 0
	for _, c := range all {
		best = max(best, len(c.ties))
	}
	out := make([][]string, len(all))
	for i, c := range all {
		out[i] = []string{fmt.Sprintf("%d ties", min(len(c.ties), most)), fmt.Sprintf("%d ties less than another", min(best-len(c.ties), most))}
		for t := range c.ties {
			out[i] = append(out[i], "tied by "+string(t))
		}
		slices.Sort(out[i])
	}
	return out
}
