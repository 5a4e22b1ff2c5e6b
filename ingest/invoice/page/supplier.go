package page

import (
	"fmt"
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/model"
)

// named is a candidate for the supplier's name.
type named struct {
	name  string
	key   string // its comparable form
	whole string // that of the full name that it is a short form of, else its own
	form  bool   // it has a legal form
	ties  map[tie]bool
	it    *item
	rule  string
	how   string  // the rule found it
	share float64 // how probable it is, before calibration
	score float64 // after it, of what was chosen
}

// supplier reads who issued the invoice; idAt, where the supplier's tax id stands, may be unknown.
func (s *sheet) supplier(own Own, buyers map[*item]bool, idAt *item) *fields.Text {
	c, all := s.rankedNames(own, buyers, idAt)
	for _, other := range all {
		s.couldBe(fields.SupplierName, other.name, other.it, other.rule, other.score)
	}
	if c == nil {
		return nil
	}
	return &fields.Text{Value: c.name, Evidence: s.evidence(c.it, c.rule, c.score)}
}

// outdoes reports whether two labels announce a name, the seller's and its own, while the likeliest, at the top of the
// page, has none and is barely likelier: there portals and marketplaces set their own name. Nor is whom to ask, further down in the
// seller's block, the seller.
func (c named) outdoes(likeliest *named) bool {
	const barely = 1.5
	switch {
	case c.how != byName || c.whole == likeliest.whole:
		return false
	case likeliest.rule == ruleLetterhead && likeliest.share <= barely*c.share:
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
// what he is, as "Studio legale" over "Avv. Paola Ricci".
func (c named) rather(likeliest *named) bool {
	const more = 2
	again := c.ties[tieAgain] && !likeliest.ties[tieAgain]
	return c.whole != likeliest.whole && !likeliest.ties[tieLabel] && (again || len(c.ties) >= len(likeliest.ties)+more) &&
		sameParty(c.it, likeliest.it)
}

// imprinted reports whether a company's line below the sums holds its tax id and its account or register's entry, while nothing but
// its place ties the likeliest name to the issuer: a mark or trade name, a site's address, or whom the letter is for.
func (s *sheet) imprinted(c, likeliest *named, buyers map[*item]bool) bool {
	told := c.form && c.ties[tieID] && (c.ties[tieAccount] || c.ties[tieRegister])
	inLine := strings.HasPrefix(c.it.key, c.key) && s.withTaxID(c.it.folded)
	if !told || !inLine || buyers[c.it] || !s.belowSums(c.it) || s.saysSelfBilled() {
		return false
	}
	for t := range likeliest.ties {
		if t != tieHead && t != tieAgain {
			return false
		}
	}
	return c.whole != likeliest.whole
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

// maxNames bounds the candidates for the supplier's name.
const maxNames = 200

// names finds the names that may be the supplier's.
func (s *sheet) names(own Own, buyers map[*item]bool, idAt *item) []named {
	var all []named
	add := func(name string, it *item, rule, how string) {
		if loc := s.sentBy.FindStringIndex(foldText(name)); loc != nil { // "Glasmann is a brand of Berger Bau GmbH"
			name = string([]rune(strings.Join(strings.Fields(name), " "))[loc[1]:])
		}
		name = s.cleanName(s.throughForm(name))
		if rule != ruleSeller && (s.placeOfDate(it) || s.buyersName(name)) {
			return
		}
		// What a seller's label names is a name, however odd.
		if s.townLine.MatchString(it.folded) || rule != ruleSeller && strings.HasSuffix(strings.TrimSpace(it.folded), ":") {
			return
		}
		if s.titleAlone.MatchString(strings.Trim(foldText(name), " .:")) || rule != ruleSeller && s.townOfLetter(name) {
			return
		}
		labelled := how == byName && letterWord.MatchString(name) && len([]rune(name)) <= 70
		// The legal notice has it already.
		if rule == ruleImprint && slices.ContainsFunc(all, func(c named) bool { return c.it == it && c.name == name }) {
			return
		}
		if len(all) < maxNames && (labelled || s.nameLike(name)) && !own.isName(name) {
			all = append(all, named{name: name, key: Key(name), form: s.legalForm.MatchString(foldText(name)), it: it, rule: rule, how: how})
		}
	}
	s.sellerLabels(add)
	addressed := s.returnAddress(add, buyers)
	s.nearTaxID(idAt, buyers, add)
	s.letterhead(buyers, addressed, s.onlyBlock(buyers), add)
	s.accountHolder(add)
	s.legalNotice(buyers, add)
	s.footBlock(buyers, add)
	s.imprint(buyers, add)
	s.sentences(buyers, add)
	s.addressees(add)
	s.group(all)
	return all
}

// placeOfDate reports whether an item is the place and day of a letter: "Boston, 3 May 2026".
func (s *sheet) placeOfDate(it *item) bool {
	return len(it.dates) > 0 && s.placeAndDate.MatchString(it.folded[:it.dates[0].start])
}

// townOfLetter reports whether a name is the place where the letter was written: "Split" in "Split, 16.03.2026".
func (s *sheet) townOfLetter(name string) bool {
	town := foldText(name)
	return slices.ContainsFunc(s.rows, func(row []*item) bool {
		return slices.ContainsFunc(row, func(it *item) bool { return strings.HasPrefix(it.folded, town+",") && s.placeOfDate(it) })
	})
}

// buyersName reports whether a name begins with a label of who buys: "Customer Lofts Ltd".
func (s *sheet) buyersName(name string) bool {
	const shortest = 6 // letters of such a label; shorter words begin names, too
	m := s.buyerPhrase.FindStringIndex(foldText(name))
	return m != nil && m[1] > shortest+1
}

// supplierNamed chooses among the names.
func (s *sheet) supplierNamed(own Own, buyers map[*item]bool, idAt *item) *named {
	c, _ := s.rankedNames(own, buyers, idAt)
	return c
}

// rankedNames is supplierNamed with all names that were found.
func (s *sheet) rankedNames(own Own, buyers map[*item]bool, idAt *item) (*named, []named) {
	all := s.names(own, buyers, idAt)
	s.tie(all, idAt)
	weighed := s.nameFeatures(all, buyers)
	for i, features := range tieFeatures(all) {
		weighed[i].Features = append(weighed[i].Features, features...)
	}
	choice := s.choose(fields.SupplierName, weighed)
	if choice.Index < 0 {
		return nil, nil
	}
	for i, share := range choice.Shares {
		all[i].share, all[i].score = share, share
	}
	c := all[choice.Index]
	c.score = choice.Probability
	if c.rule != ruleSeller && !s.settled(&c, all, own) { // whatever such names were elsewhere; a seller's label says so by itself
		c.score = min(c.score, undecided)
	}
	if i := slices.IndexFunc(all, func(o named) bool { return o.key == c.whole }); i >= 0 && c.key != c.whole {
		c.name, c.it = all[i].name, all[i].it
	}
	for _, other := range all {
		// The full name rather than a short form of it.
		if len(other.name) > len(c.name) && len(other.name) < 3*len(c.name)+12 &&
			s.legalForm.MatchString(foldText(other.name)) && !s.legalForm.MatchString(foldText(c.name)) &&
			strings.HasPrefix(other.key, c.key) {
			c.name, c.it = other.name, other.it
		}
	}
	if a := s.addressed(all); a != nil {
		a.score = fromAddress
		return a, all
	}
	if i := s.theImprinted(all, &c, buyers); i >= 0 {
		all[i].score = fromImprint
		return &all[i], all
	}
	footed := s.footed(&c, all)
	if i := slices.IndexFunc(all, func(o named) bool {
		return o.outdoes(&c) || o.paid(&c) || o.rather(&c) || footed && o.whole != c.whole && s.heads(&o, buyers)
	}); i >= 0 {
		c.name, c.it, c.rule = all[i].name, all[i].it, all[i].rule
	}
	return &c, all
}

// fromImprint is how sure it is that a company whose line holds its tax id and its account or register's entry is the supplier.
const fromImprint = 0.9

// fromAddress is how sure it is that whom a self-billed document is addressed to is the supplier.
const fromAddress = 0.9

// settled reports whether a name may be stated: it is likelier than not, and much likelier than any other, something ties it to the
// issuer, and the tax id of its block isn't another than the imprint's. On the buyer's own paper the imprint and the sender's line are his.
func (s *sheet) settled(c *named, all []named, own Own) bool {
	const (
		doubtful = 0.5
		ahead    = 2 // times the second best
	)
	likely, second := 0.0, map[string]float64{}
	for _, other := range all {
		mark := c.form && c.ties[tieID] && !other.form && s.inHead(other.it) // over whose company it is
		switch {
		case other.whole == c.whole || strings.Contains(other.whole, c.whole) || strings.Contains(c.whole, other.whole) ||
			sameParty(c.it, other.it) && !namesake(c, &other):
			likely += other.share
		case !mark:
			second[other.whole] += other.share
		}
	}
	for _, share := range second {
		if likely < ahead*share {
			return false
		}
	}
	if likely < doubtful || len(c.ties) == 0 {
		return false
	}
	if s.saysSelfBilled() && !c.ties[tieLabel] && (c.ties[tieFoot] || c.ties[tieReturn]) {
		return false
	}
	return !s.otherIDInBlock(c, own)
}

// saysSelfBilled reports whether words say that the buyer issued the document for the supplier.
func (s *sheet) saysSelfBilled() bool {
	return slices.ContainsFunc(s.rows, func(row []*item) bool {
		return slices.ContainsFunc(row, func(it *item) bool { return s.selfBilling.MatchString(it.folded) })
	})
}

// sameParty reports whether one of two names stands right over the other, with one left edge, right edge or middle, as a trade
// name over the company's and a profession below a person: both are the sender's.
func sameParty(a, b *item) bool {
	rows := a.row - b.row
	edges := absFloat(a.x0-b.x0) < 3 || absFloat(a.x1-b.x1) < 3 || absFloat(a.x0+a.x1-b.x0-b.x1) < 6
	return a.page == b.page && rows >= -1 && rows <= 1 && edges && absFloat(a.y-b.y) < 2*maxFloat(a.size, 7)
}

// namesake reports whether two names without a legal form end alike, as a trade name and the person who trades under it: either may be the
// name in law.
func namesake(a, b *named) bool {
	x, y := strings.Fields(foldText(a.name)), strings.Fields(foldText(b.name))
	return !a.form && !b.form && len(x) > 1 && len(y) > 1 && x[len(x)-1] == y[len(y)-1]
}

// group tells short forms of names, as logos and letterheads have them, from names: "WEISS & PARTNER" is "Weiss & Partner
// Rechtsanwälte OG" where that is printed, too, and no other name with a legal form holds the same words.
func (s *sheet) group(all []named) {
	for i := range all {
		c := &all[i]
		c.whole = c.key
		if s.domainWord(c.name) == "" && !initialsAlone(c.name) {
			continue
		}
		whole := c.key
		several := false
		for _, o := range all {
			full := s.legalForm.MatchString(foldText(o.name)) || slices.Contains([]string{ruleReturn, ruleImprint, ruleHolder, ruleSeller}, o.rule)
			if len(o.key) <= len(c.key) || !(full && s.shortens(c, &o)) && !s.abbreviates(c, &o) {
				continue
			}
			several = several || whole != c.key && !strings.Contains(o.key, whole) && !strings.Contains(whole, o.key)
			if len(o.key) > len(whole) {
				whole = o.key
			}
		}
		if !several {
			c.whole = whole
		}
	}
}

// shortens reports whether a name is made of words of a longer one.
func (s *sheet) shortens(short, long *named) bool {
	if s.legalForm.MatchString(foldText(short.name)) {
		return strings.HasPrefix(long.key, short.key)
	}
	if len(short.key) >= 6 && strings.HasPrefix(long.key, short.key) {
		return true
	}
	in := strings.Fields(foldText(long.name))
	for _, w := range strings.Fields(foldText(short.name)) {
		if len(compact(w)) > 1 && !slices.Contains(in, w) {
			return false
		}
	}
	return true
}

// Initials have so many letters.
const fewestInitials, mostInitials = 2, 5

func initialsAlone(s string) bool {
	return len(s) >= fewestInitials && len(s) <= mostInitials && strings.ToUpper(s) == s && letterWord.MatchString(s)
}

// abbreviates reports whether a name begins with the initials of a longer one and goes on as that does, if it goes on: "WAZV Obere Saale"
// is the "Wasser- und Abwasserzweckverband Obere Saale", "LARC" the "Lowland Applied Research Company".
func (s *sheet) abbreviates(short, long *named) bool {
	initials, rest, more := strings.Cut(short.name, " ")
	if !initialsAlone(initials) {
		return false
	}
	if !more {
		first := ""
		for _, w := range strings.Fields(foldText(long.name)) {
			first += w[:1]
		}
		return strings.ToUpper(first) == initials
	}
	end := Key(rest)
	begin, found := strings.CutSuffix(long.key, end)
	if !found || len(end) < 4 || !strings.HasPrefix(begin, initials[:1]) {
		return false
	}
	for _, letter := range initials {
		if _, begin, found = strings.Cut(begin, string(letter)); !found {
			return false
		}
	}
	return true
}

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

func absFloat(f float64) float64 {
	if f < 0 {
		return -f
	}
	return f
}
