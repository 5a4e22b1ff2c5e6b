package page

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/words"
)

// identified is a tax id on the sheet with what speaks for its owner.
type identified struct {
	id    taxID
	it    *item
	row   int
	score float64
	kind  string
	ours  bool // as it is called: "our tax number"
	// behalf: words say that it is whom an agent bills for.
	behalf bool
}

// idAndName reads the supplier's tax id and name, each of which tells something of the other. Where the name becomes certain without the
// id, that is looked for again.
func (s *sheet) idAndName(own Own, buyers map[*item]bool) (taxID *fields.Text, idAt *item, name *fields.Text) {
	windowed := maps.Clone(buyers)
	likeliest := s.supplierNamed(own, windowed, nil) // which finds out, too, what stands below the sender's line
	taxID, idAt = s.taxID(own, buyers, windowed, likeliest)
	name = s.supplier(own, buyers, idAt)
	if certain(name) && !certain(taxID) {
		known := &named{name: name.Value, key: Key(name.Value), score: name.Evidence.Confidence, form: s.legalForm.MatchString(foldText(name.Value))}
		if again, at := s.taxID(own, buyers, windowed, known); certain(again) {
			return again, at, name
		}
	}
	return taxID, idAt, name
}

// taxID reads the supplier's VAT id, else his tax number; the supplier may be unknown. What stands below the sender's line is windowed.
func (s *sheet) taxID(own Own, buyers, windowed map[*item]bool, supplier *named) (*fields.Text, *item) {
	var all []identified
	for _, row := range s.rows {
		for _, it := range row {
			all = append(all, s.idsIn(it, buyers)...)
		}
	}
	ownPaper := s.selfBilled(own, buyers)
	for i, c := range all {
		if !ownPaper && windowed[c.it] && !buyers[c.it] && s.addressee(c.it, supplier) {
			all[i].score = ofBuyer
		}
	}
	notTheBuyers(all)
	s.ofSelfBilled(all)
	var key string
	sure := false // of the name
	if supplier != nil && supplier.score >= 0.7 {
		key, sure = compact(foldText(supplier.name)), supplier.score >= 0.9
	}
	best := -1
	for i := range all {
		c := &all[i]
		if own.isID(c.id.value) {
			continue
		}
		if c.score > 0.5 && key != "" && !c.ours && !c.behalf {
			switch s.blockOwner(c.it, key, sure) {
			case ownSeller:
				c.score += 0.05
			case ownOther:
				if supplier.form || !s.imprintOf(c.it) { // else a mark heads the letter, and the company behind it stands here
					c.score -= 0.15
				}
			case ownBlock:
				c.score -= 0.25
			}
		}
		if key == "" && c.score > 0.5 && s.addressee(c.it, supplier) {
			c.score -= 0.2
		}
		if best < 0 || c.score > all[best].score+0.001 {
			best = i
		}
	}
	if best < 0 || all[best].score < 0.5 {
		return nil, nil
	}
	for _, c := range all {
		if !own.isID(c.id.value) {
			s.couldBe(fields.SupplierTaxID, c.id.value, c.it, c.kind, c.score)
		}
	}
	if key != "" {
		best = s.closest(all, best, key)
	}
	best = s.rather(all, best)
	score := all[best].score
	if low := s.lowest(all, best); low >= 0 {
		best = low
	} else if slices.ContainsFunc(all, func(c identified) bool {
		return c.kind == all[best].kind && c.id.value != all[best].id.value && c.score > score-nearScore && !own.isID(c.id.value)
	}) {
		score -= 0.2
	}
	c := all[best]
	return &fields.Text{Value: c.id.value, Evidence: s.evidence(c.it, c.kind, min(score, 0.99))}, c.it
}

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

// underSellerLabel reports whether an item, or the label left of it, stands in the
// block of lines under a seller's label.
func (s *sheet) underSellerLabel(it *item) bool {
	left := s.left(it)
	if !s.labelledLeft(it) {
		left = nil
	}
	last := it
	for r := it.row; r >= max(0, it.row-12); r-- {
		row := s.rows[r]
		if row[0].page != it.page || last.y-row[0].y > 2.9*maxFloat(it.size, 7) {
			return false
		}
		last = row[0]
		for _, c := range row {
			if absFloat(c.x0-it.x0) > 12 && (left == nil || absFloat(c.x0-left.x0) > 12) {
				continue
			}
			if s.sellerLabel.MatchString(c.folded) {
				return true
			}
			if s.buyerLabel.MatchString(c.folded) && !s.contact.MatchString(c.folded) {
				return false
			}
		}
	}
	return false
}

// owner is whose block of lines an identifier stands in.
type owner int

const (
	ownUnknown owner = iota
	ownSeller
	ownOther // another company's
	ownBlock // that of an address under another name
)

// blockOwner looks at the rows right above an item, in its column and, in the
// foot of a page, at the beginning of the row: is it the block of the supplier,
// whose name is given in its comparable form, or of another company? sure is that he is known well enough for any other name to be
// another's.
func (s *sheet) blockOwner(it *item, key string, sure bool) owner {
	last, start := it, s.lineStart(it)
	other := ownUnknown
	if sure && s.namedBlock(it, key) {
		return ownBlock
	}
	foot := it.y > s.heights[it.page-1]*0.7
	for r, n := it.row, 0; r >= 0 && n < 10; r-- {
		row := s.rows[r]
		if row[0].page != it.page || last.y-row[0].y > 2.6*maxFloat(last.size, 7) {
			break
		}
		n++
		for _, c := range row {
			inBlock := aligned(c, it) || aligned(c, start)
			if !inBlock && !(c.col == 0 && foot) && c != it {
				continue
			}
			if c.names(key) {
				return ownSeller
			}
			if inBlock && s.legalForm.MatchString(c.folded) && s.nameLike(s.cleanName(s.firstPart(c.text()))) {
				other = ownOther
			}
		}
		last = row[0]
	}
	return other
}

// imprintOf reports whether an item in the lower half of a page begins with a company's name.
func (s *sheet) imprintOf(it *item) bool {
	return it.y > s.heights[it.page-1]/2 && s.legalForm.MatchString(foldText(s.firstPart(it.text())))
}

// namedBlock reports whether an item in the upper half of a page stands in the block of an address that a name tops, and the name given in
// its comparable form isn't in it.
func (s *sheet) namedBlock(it *item, key string) bool {
	top := s.blockTop(it)
	if top == it || it.y > s.heights[it.page-1]/2 || !s.addressBelow(top) || !s.nameLike(s.cleanName(s.firstPart(top.text()))) {
		return false
	}
	return !slices.ContainsFunc(s.rows[top.row:it.row+1], func(row []*item) bool {
		return slices.ContainsFunc(row, func(c *item) bool {
			return aligned(c, it) && c.names(key)
		})
	})
}

// addressee reports whether an item in the upper half of a page stands in the block of an address that holds neither the likeliest name of
// the supplier nor a way to reach whom it names: so those are printed whom letters are for.
func (s *sheet) addressee(it *item, likeliest *named) bool {
	top := s.blockTop(it)
	if top == it || it.y > s.heights[it.page-1]/2 || !s.addressBelow(top) {
		return false
	}
	return !slices.ContainsFunc(s.block(top), func(b *item) bool {
		return likeliest != nil && b.names(likeliest.key) || withContact(b.folded) || s.withAccount(b.folded)
	})
}

// blockTop is the first line of the block that an item stands in: lines one below the other with one left edge.
func (s *sheet) blockTop(it *item) *item {
	top := it
	for r := it.row - 1; r >= 0 && r >= it.row-2*maxBlock && s.rows[r][0].page == it.page; r-- {
		const leading = 2.2 // of the larger line: names are set larger than what is below them
		if row := s.rows[r]; top.y-row[0].y > leading*maxFloat(top.size, max(row[0].size, 7)) {
			break
		}
		for _, above := range s.rows[r] {
			if absFloat(above.x0-top.x0) < 3 {
				top = above
				break
			}
		}
	}
	return top
}

// idsIn finds tax ids in an item: by their shape, or by a label before them.
func (s *sheet) idsIn(it *item, buyers map[*item]bool) []identified {
	var out []identified
	left := s.left(it)
	context := func(start int) string {
		c := it.folded[:start]
		if strings.Trim(c, " :.") == "" && left != nil {
			c = left.folded
		}
		if strings.Trim(it.folded[:start], " :.") == "" && !s.vatLabel.MatchString(c) && it.row > 0 {
			for _, above := range s.rows[it.row-1] {
				if above.page == it.page && aligned(above, it) && s.vatLabel.MatchString(above.folded) {
					c = above.folded
				}
			}
		}
		return c
	}
	judge := func(id taxID, base float64, kind string) {
		before := context(id.start)
		c := identified{id: id, it: it, row: it.row, score: base, kind: kind}
		if id.valid {
			c.score += 0.04
		}
		if c.behalf = s.onBehalf.MatchString(before); c.behalf {
			c.score += 0.12 // whom an agent bills for outdoes the agent
		}
		if s.buyerWord.MatchString(lastWords(before)) || buyers[it] ||
			s.labelledLeft(it) && buyers[left] && strings.Trim(it.folded[:id.start], " :.") == "" {
			c.score = ofBuyer
		}
		out = append(out, c)
	}
	ibanHere := strings.Contains(it.folded, "iban") && !strings.Contains(it.folded, "vat")
	for _, id := range s.vatIDs(it.folded) {
		labelled := s.vatLabel.MatchString(context(id.start))
		if !labelled && ibanHere && !id.valid {
			continue
		}
		switch {
		case labelled:
			judge(id, 0.93, "labelled vat id")
		case id.valid:
			judge(id, 0.86, "vat id")
		case s.underSellerLabel(it):
			judge(id, 0.84, "vat id of the seller's block")
		default:
			judge(id, 0.6, "vat id without label")
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, m := range s.vatLabel.FindAllStringIndex(it.folded, 4) {
		if id, at, ok := s.labelledID(it, m[1], s.idShape); ok {
			id.start = m[0]
			before := it.folded[:m[0]]
			c := identified{id: id, it: at, row: at.row, score: 0.88, kind: "labelled tax id"}
			if s.buyerWord.MatchString(lastWords(before)) ||
				s.buyerWord.MatchString(lastWords(it.folded[m[0]:m[1]])) || buyers[it] || buyers[at] {
				c.score = ofBuyer
			}
			out = append(out, c)
		}
	}
	if len(out) > 0 {
		return out
	}
	m, kind := s.taxNumberLabel.FindStringIndex(it.folded), "tax number"
	if m == nil {
		kind = businessNumber
		m = s.businessNumber.FindStringIndex(it.folded)
	}
	if m != nil {
		if id, at, ok := s.labelledID(it, m[1], s.digitsShape); ok && !buyers[it] &&
			!s.buyerWord.MatchString(lastWords(it.folded[:m[0]])) {
			c := identified{id: id, it: at, row: at.row, score: 0.82, kind: kind}
			if s.ours.MatchString(it.folded[:m[0]]) {
				c.score, c.ours = 0.9, true
			}
			out = append(out, c)
		}
	}
	return out
}

// labelledID reads the identifier behind a label or in the item to its right.
func (s *sheet) labelledID(it *item, from int, shape *words.Pattern) (taxID, *item, bool) {
	from = pastRemark(it.folded, from)
	at, rest := it, untilWord(it.folded[from:])
	if strings.Trim(rest, " :.#-") == "" {
		if at = s.right(it); at == nil {
			at = s.nextLine(it)
		}
		if at == nil {
			return taxID{}, nil, false
		}
		from, rest = 0, untilWord(at.folded)
	}
	m := shape.FindStringSubmatchIndex(rest)
	if m == nil && at != it {
		if at = s.lineBelow(it); at != nil { // a label over its value
			from, rest = 0, at.folded
			m = shape.FindStringSubmatchIndex(rest)
		}
	}
	if m == nil {
		return taxID{}, nil, false
	}
	if len(m) > 4 && m[2] < 0 { // the second way to write it
		m = m[2:]
	}
	value := strings.TrimSpace(strings.ToUpper(string(at.runes[from+m[2] : from+m[3]])))
	c := compact(value)
	if len(c) < 8 || len(c) > 16 || s.looksLikeDate(value) {
		return taxID{}, nil, false
	}
	if !strings.Contains(value, "/") {
		value = c
	}
	return taxID{start: from + m[2], end: from + m[3], value: value}, at, true
}

// wordBehind is a word set apart behind figures: "B73041824 - Tel. 961 418 273".
var wordBehind = regexp.MustCompile(`\d[ .,-]+[a-z]{3,}[ .:]`)

// untilWord is a text up to the first word behind figures: no identifier goes on behind one.
func untilWord(folded string) string {
	if loc := wordBehind.FindStringIndex(folded); loc != nil {
		return folded[:loc[0]+1]
	}
	return folded
}

// nextLine is the line of a paragraph that follows an item, the last of its own.
func (s *sheet) nextLine(it *item) *item {
	const short = 30 // labels of a table are
	if it.row+1 == len(s.rows) || it.col > 0 || len(it.runes) < short {
		return nil
	}
	next := s.rows[it.row+1][0]
	if next.page != it.page || absFloat(next.x0-it.x0) > 3 || absFloat(next.size-it.size) > 1 || next.y-it.y > 1.8*maxFloat(it.size, 7) {
		return nil
	}
	return next
}

// businessNumber is the kind of a number that stands for a tax id where there is none.
const businessNumber = "business number"

func lastWords(s string) string {
	if len(s) > 40 {
		s = s[len(s)-40:]
	}
	return s
}
