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
	if !certain(name) && likeliest != nil && s.otherIDInBlock(likeliest, own) {
		taxID, idAt = s.taxID(own, buyers, windowed, nil) // the likeliest is whom the letter is for
	}
	if certain(name) && (!certain(taxID) || s.inAnothersLine(idAt, Key(name.Value))) {
		known := &named{name: name.Value, key: Key(name.Value), score: name.Evidence.Confidence}
		known.form = s.legalForm.MatchString(foldText(name.Value))
		if again, at := s.taxID(own, buyers, windowed, known); certain(again) {
			taxID, idAt = again, at
		}
	}
	if certain(name) && s.ofPayer(taxID, idAt, name.Value) {
		return nil, nil, name
	}
	return taxID, idAt, name
}

// ofPayer reports whether a tax number stands among what an authority says of its notice, in the upper half of the page and apart from its
// own name: it is that under which the authority knows who pays.
func (s *sheet) ofPayer(taxID *fields.Text, at *item, authority string) bool {
	return certain(taxID) && taxID.Evidence.Rule == taxNumber && s.publicBody.MatchString(foldText(authority)) &&
		at.y < s.heights[at.page-1]/2 && s.blockOwner(at, Key(authority), true) != ownSeller
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
		switch {
		case c.score <= 0.5:
		case key == "" && s.addressee(c.it, supplier):
			c.score -= 0.2
		case key != "" && !c.ours && !c.behalf:
			c.score += s.owned(c.it, key, sure, supplier.form)
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
	if sure {
		best = s.inLine(all, s.underName(all, best, key), key)
	}
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

// idsIn finds tax ids in an item: by their shape, or by a label before them.
func (s *sheet) idsIn(it *item, buyers map[*item]bool) []identified {
	var out []identified
	left := s.left(it)
	context := func(start int) string {
		c := it.folded[:start]
		if strings.Trim(c, " :.") == "" && left != nil {
			c = left.folded
		}
		if strings.Trim(it.folded[:start], " :.") == "" && !s.vatLabel.MatchString(c) {
			if above := s.above(it); above != nil && s.vatLabel.MatchString(above.folded) {
				c = above.folded
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
		if s.buyerWord.MatchString(lastWords(before)) || buyers[it] || s.amongBuyersFields(it) ||
			s.labelledLeft(it) && buyers[left] && before == left.folded {
			c.score = ofBuyer
		} else if s.noTax.MatchString(lastClause(it.folded[:id.start])) {
			c.score -= 0.12 // "tax due by the buyer, ATU…": his, where another one is printed
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
	if len(out) == 0 && s.bareSpanish(it) {
		judge(taxID{end: len(it.folded), value: it.key, valid: true}, 0.84, "tax id under the name")
	}
	if len(out) > 0 {
		return out
	}
	for _, m := range s.vatLabel.FindAllStringIndex(it.folded, 4) {
		id, at, ok := s.labelledID(it, m[1], s.idShape)
		if !ok {
			id, at, ok = s.ofLiechtenstein(it, m[1])
		}
		if ok {
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
	m, kind := s.taxNumberLabel.FindStringIndex(it.folded), taxNumber
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

// bareSpanish reports whether an item is nothing but a Spanish tax id, by its check, between a company's name and its address: programs
// print them without a label or country there.
func (s *sheet) bareSpanish(it *item) bool {
	if len(it.key) != 9 || !spanishID.MatchString(it.key) || len(it.key) != len(strings.TrimSpace(it.folded)) || !checkSpain(it.key) {
		return false
	}
	above := s.above(it)
	return above != nil && absFloat(above.x0-it.x0) < 1 && s.legalForm.MatchString(above.folded) && s.addressBelow(it)
}

// spanishID is the shape of a company's tax id in Spain.
var spanishID = regexp.MustCompile(`^[A-HJNP-SUVW]\d{7}[0-9A-J]$`)

// ofLiechtenstein reads the five figures that number who pays tax in Liechtenstein, behind a label or in the item to its right, where a
// telephone number, a postal code or an account of that country is printed, or its name.
func (s *sheet) ofLiechtenstein(it *item, from int) (taxID, *item, bool) {
	at := it
	if strings.Trim(it.folded[from:], " :.#-") == "" {
		if at, from = s.right(it), 0; at == nil {
			return taxID{}, nil, false
		}
	}
	m := fiveFigures.FindStringSubmatchIndex(at.folded[from:])
	if m == nil || !slices.ContainsFunc(s.rows, func(row []*item) bool {
		return slices.ContainsFunc(row, func(o *item) bool { return liechtenstein.MatchString(o.folded) })
	}) {
		return taxID{}, nil, false
	}
	id := at.folded[from+m[2] : from+m[3]]
	return taxID{start: from + m[2], end: from + m[3], value: compact(id)}, at, true
}

var (
	fiveFigures   = regexp.MustCompile(`^[ :.#-]*(\d{2} ?\d{3})(?:$|[^\d %.,/-]|[.,)] *(?:$|[^\d]))`)
	liechtenstein = regexp.MustCompile(`\bliechtenstein\b|\bfl[ -]*9\d{3}\b|\+ ?423\b|\bli\d{2} ?\d{4}`)
)

// labelledID reads the identifier behind a label or in the item to its right.
func (s *sheet) labelledID(it *item, from int, shape *words.Pattern) (taxID, *item, bool) {
	start := from
	from = pastRemark(it.folded, from)
	at, rest := it, untilWord(it.folded[from:])
	if strings.Trim(rest, " :.#-") == "" {
		if at = s.right(it); at == nil {
			at = s.nextLine(it)
		}
		if at == nil {
			at = s.idUnder(it, shape)
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
	if len(c) < 8 || len(c) > 16 || s.looksLikeDate(value) || greekID.MatchString(it.folded[:start]) && (len(c) != 9 || !allDigits(c)) {
		return taxID{}, nil, false
	}
	if !strings.Contains(value, "/") {
		value = c
	}
	return taxID{start: from + m[2], end: from + m[3], value: value}, at, true
}

// idUnder is the line right below a label that stands alone, if it is nothing but an identifier.
func (s *sheet) idUnder(label *item, shape *words.Pattern) *item {
	below := s.lineBelow(label)
	if below == nil || s.taxNumberLabel.MatchString(below.folded) {
		return nil
	}
	if m := shape.FindStringIndex(below.folded); m == nil || m[0] > 0 || m[1] < len(below.folded) {
		return nil
	}
	return below
}

// greekID is ΑΦΜ, the label of Greek tax ids. The Dutch authority AFM, whose numbers are shorter, is folded alike.
var greekID = regexp.MustCompile(`\ba\.? ?f\.? ?m[. :]*$`)

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

// taxNumber is the kind of a number by which a tax office knows somebody, without a check.
const taxNumber = "tax number"

// businessNumber is the kind of a number that stands for a tax id where there is none.
const businessNumber = "business number"

func lastWords(s string) string {
	if len(s) > 40 {
		s = s[len(s)-40:]
	}
	return s
}
