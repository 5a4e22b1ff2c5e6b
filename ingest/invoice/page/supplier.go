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
	if i := slices.IndexFunc(all, func(o named) bool { return o.outdoes(c) }); i >= 0 {
		c.name, c.it, c.rule = all[i].name, all[i].it, all[i].rule
	}
	return &fields.Text{Value: c.name, Evidence: s.evidence(c.it, c.rule, c.score)}
}

// outdoes reports whether two labels announce a name, the seller's and its own, while the likeliest, at the top of the
// page, has none and is barely likelier: there portals and marketplaces set their own name.
func (c named) outdoes(likeliest *named) bool {
	const barely = 1.5
	return c.how == byName && likeliest.rule == ruleLetterhead && c.whole != likeliest.whole && likeliest.share <= barely*c.share
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
		// What a seller's label names is a name, however odd.
		if s.townLine.MatchString(it.folded) || rule != ruleSeller && strings.HasSuffix(strings.TrimSpace(it.folded), ":") {
			return
		}
		if s.titleAlone.MatchString(strings.Trim(foldText(name), " .:")) {
			return
		}
		labelled := how == byName && letterWord.MatchString(name) && len([]rune(name)) <= 70
		// The legal notice has it already.
		if rule == ruleImprint && slices.ContainsFunc(all, func(c named) bool { return c.it == it && c.name == name }) {
			return
		}
		if len(all) < maxNames && (labelled || s.nameLike(name)) && !own.isName(name) {
			all = append(all, named{name: name, key: compact(foldText(name)), it: it, rule: rule, how: how})
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
	s.group(all)
	return all
}

// supplierNamed chooses among the names.
func (s *sheet) supplierNamed(own Own, buyers map[*item]bool, idAt *item) *named {
	c, _ := s.rankedNames(own, buyers, idAt)
	return c
}

// rankedNames is supplierNamed with all names that were found.
func (s *sheet) rankedNames(own Own, buyers map[*item]bool, idAt *item) (*named, []named) {
	all := s.names(own, buyers, idAt)
	choice := s.choose(fields.SupplierName, s.nameFeatures(all, buyers))
	if choice.Index < 0 {
		return nil, nil
	}
	for i, share := range choice.Shares {
		all[i].share, all[i].score = share, share
	}
	c := all[choice.Index]
	c.score = choice.Probability
	likely := 0.0
	for _, other := range all {
		if other.whole == c.whole {
			likely += other.share
		}
	}
	const doubtful = 0.4
	if likely < doubtful && c.rule != ruleSeller { // whatever such names were elsewhere; a seller's label says so by itself
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
	return &c, all
}

// group tells short forms of names, as logos and letterheads have them, from names: "WEISS & PARTNER" is "Weiss & Partner
// Rechtsanwälte OG" where that is printed, too, and no other name with a legal form holds the same words.
func (s *sheet) group(all []named) {
	full := slices.DeleteFunc(slices.Clone(all), func(c named) bool { return !s.legalForm.MatchString(foldText(c.name)) })
	for i := range all {
		c := &all[i]
		c.whole = c.key
		if s.domainWord(c.name) == "" {
			continue
		}
		whole := c.key
		several := false
		for _, o := range full {
			if len(o.key) <= len(c.key) || !s.shortens(c, &o) {
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

// nameFeatures says what is seen of each name.
func (s *sheet) nameFeatures(all []named, buyers map[*item]bool) []model.Candidate {
	domain := slices.ContainsFunc(all, s.ownsDomain)
	company := slices.ContainsFunc(all, func(c named) bool { return s.legalForm.MatchString(foldText(c.name)) })
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
	var out []model.Candidate
	for _, c := range all {
		features := []string{"rule " + c.rule, "rule " + c.rule + " " + c.how}
		seen := func(really bool, feature string) {
			if really {
				features = append(features, feature)
			}
		}
		form := s.legalForm.MatchString(foldText(c.name))
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
		folded := fold([]rune(c.name))
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
		seen(true, fmt.Sprintf("%d words", min(len(strings.Fields(c.name)), 5)))
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
	if len(c.key) < 4 {
		return 0, false
	}
	for _, row := range s.rows {
		for _, it := range row {
			if it != c.it && strings.Contains(it.key, c.key) && !s.buyerLabel.MatchString(it.folded) {
				n++
				foot = foot || it.y > s.heights[it.page-1]*0.85
			}
		}
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
