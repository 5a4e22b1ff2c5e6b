package page

import (
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/fields"
)

// named is a candidate for the supplier's name.
type named struct {
	name   string
	key    string // its comparable form
	whole  string // that of the full name that it is a short form of, else its own
	form   bool   // it has a legal form or is a public body's
	person bool   // it is a person's
	ties   map[tie]bool
	it     *item
	rule   string
	how    string  // the rule found it
	share  float64 // how probable it is, before calibration
	score  float64 // after it, of what was chosen
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
	if a := s.addressed(all); a != nil {
		a.score = fromAddress
		return a, all
	}
	whole := s.wholeName(choice.Index, all)
	likeliest := all[choice.Index]
	likeliest.name, likeliest.it = all[whole].name, all[whole].it
	if i := s.theImprinted(all, &likeliest, buyers); i >= 0 {
		all[i].score = fromImprint
		return &all[i], all
	}
	if i := s.theSender(all, &likeliest); i >= 0 {
		all[i].score = fromImprint
		return &all[i], all
	}
	if i := s.theSigned(all, &likeliest); i >= 0 {
		all[i].score = fromImprint
		return &all[i], all
	}
	judged, c := &all[choice.Index], likeliest
	if i := s.insteadOf(&likeliest, all, buyers); i >= 0 {
		whole, judged, c = i, &all[i], all[i]
	}
	c.score = choice.Probability
	switch {
	case likeliest.rule == ruleSeller || s.settled(judged, &all[choice.Index], all, own, buyers): // a seller's label says so by itself
		weighed[whole].Stated = true
	default: // whatever such names were elsewhere
		if i := s.thePerson(all, buyers); i >= 0 {
			all[i].score = fromImprint
			return &all[i], all
		}
		c.score = min(c.score, undecided)
	}
	return &c, all
}

// wholeName is where the full name stands that the likeliest is a short form of, else where that does.
func (s *sheet) wholeName(likeliest int, all []named) int {
	at, c := likeliest, &all[likeliest]
	if i := slices.IndexFunc(all, func(o named) bool { return o.key == c.whole }); i >= 0 && c.key != c.whole {
		at = i
	}
	short := all[at].name
	if s.legalForm.MatchString(foldText(short)) {
		return at
	}
	for i, o := range all {
		if len(o.name) > len(short) && len(o.name) < 3*len(short)+12 && s.legalForm.MatchString(foldText(o.name)) &&
			strings.HasPrefix(o.key, c.key) {
			return i
		}
	}
	return at
}

// inLaw reports whether a name is one in law: with a legal form, or a public body's.
func (v *vocabulary) inLaw(name string) bool {
	folded := foldText(name)
	return v.legalForm.MatchString(folded) || v.publicBody.MatchString(folded)
}

// formBehind reports whether the line that begins with a name goes on with its legal form and capital: "Matériaux du Sud — Société par
// actions simplifiée au capital de 3 240 000 €".
func (s *sheet) formBehind(name string, it *item) bool {
	rest, begins := strings.CutPrefix(it.text(), name)
	if !begins {
		return false
	}
	folded := strings.TrimLeft(foldText(rest), " ,–—-")
	capital, form := s.capital.FindStringIndex(folded), s.legalForm.FindStringIndex(folded)
	return capital != nil && form != nil && form[0] == 0 && strings.TrimSpace(folded[form[1]:max(form[1], capital[0])]) == ""
}

// maxNames bounds the candidates for the supplier's name.
const maxNames = 200

// names finds the names that may be the supplier's.
func (s *sheet) names(own Own, buyers map[*item]bool, idAt *item) []named {
	var all []named
	second := s.secondLines()
	add := func(name string, it *item, rule, how string) {
		if first := second[it]; first != nil && Key(name) == Key(s.firstPart(it.text())) {
			name, it = first.text()+" "+name, first
		}
		if loc := s.sellerPhrase.FindStringIndex(foldText(name)); loc != nil { // "Sold by Berger Bau GmbH"
			name = string([]rune(strings.Join(strings.Fields(name), " "))[loc[1]:])
		}
		if loc := s.whose(foldText(name)); loc != nil { // "Glasmann is a brand of Berger Bau GmbH"
			name = string([]rune(strings.Join(strings.Fields(name), " "))[loc[1]:])
		}
		name = s.cleanName(s.throughForm(name))
		if rule != ruleSeller && (s.placeOfDate(it) || s.buyersName(name)) {
			return
		}
		// What a seller's label names is a name, however odd.
		label := strings.HasSuffix(strings.TrimSpace(it.folded), ":") && len(splitReturn(it.text())) == 1 // not "Berger GmbH · 1010 Wien · UID:"
		others := label || s.announcesSum(it) || s.besideAccount(it) || s.brokenBank(name, it)
		if s.townLine.MatchString(it.folded) || rule != ruleSeller && others {
			return
		}
		said := strings.Trim(foldText(name), " .:#")
		title := s.titleAlone.MatchString(said) || slices.Contains(s.numberWords, said)
		if title || rule != ruleSeller && (s.townOfLetter(name) || s.belowTown(name, it)) {
			return
		}
		labelled := how == byName && letterWord.MatchString(name) && len([]rune(name)) <= 70
		// The legal notice has it already.
		if rule == ruleImprint && slices.ContainsFunc(all, func(c named) bool { return c.it == it && c.name == name }) {
			return
		}
		if len(all) < maxNames && (labelled || s.nameLike(name)) && !own.isName(name) {
			form := s.inLaw(name) || s.formBehind(name, it)
			all = append(all, named{name: name, key: Key(name), form: form, person: s.person(name), it: it, rule: rule, how: how})
		}
	}
	s.sellerLabels(add)
	addressed := s.returnAddress(add, buyers)
	s.nearTaxID(idAt, buyers, add)
	s.letterhead(buyers, addressed, s.onlyBlock(buyers), add)
	s.accountHolder(add)
	s.legalNotice(buyers, add)
	s.footBlock(buyers, add)
	for _, it := range s.sideColumn() {
		rest := slices.ContainsFunc(all, func(c named) bool { return strings.HasSuffix(c.key, it.key) }) // of a name over two lines
		if !rest && !buyers[it] && s.legalForm.MatchString(it.folded) {
			add(s.firstPart(it.text()), it, "column of its own", "")
		}
	}
	s.imprint(buyers, add)
	s.sentences(buyers, add)
	s.signers(buyers, add)
	s.addressees(add)
	all = s.withoutBuyers(all)
	s.group(all)
	return all
}

// announcesSum reports whether an item is the label of a sum on its right or below it: "VALOR A PAGAR".
func (s *sheet) announcesSum(it *item) bool {
	if r, _ := s.roleOf(strings.Trim(it.folded, " .:")); r == roleNone || s.legalForm.MatchString(it.folded) {
		return false
	}
	money := func(other *item) bool { return other != nil && len(moneyOf(other)) > 0 }
	return money(s.right(it)) || slices.ContainsFunc(s.below(it, 1.6), money)
}

// besideAccount reports whether an item stands alone right below an account, in its column and without an address: so the bank is named
// that keeps the account.
func (s *sheet) besideAccount(it *item) bool {
	if it.row == 0 || s.addressBelow(it) || s.withTaxID(it.folded) {
		return false
	}
	return slices.ContainsFunc(s.rows[it.row-1], func(above *item) bool {
		near := above.page == it.page && absFloat(above.x0-it.x0) < 3 && it.y-above.y < 2.2*maxFloat(it.size, 7)
		return near && s.onlyAccount(above.folded) && len(s.placesOf(named{it: it, key: it.key})) == 1
	})
}

// brokenBank reports whether a name that begins an item is the rest of a bank's in the line above, before the account: "… bei der
// Volksbank" over "Mittelhessen, IBAN …".
func (s *sheet) brokenBank(name string, it *item) bool {
	above := s.above(it)
	return above != nil && absFloat(above.x0-it.x0) < 3 && strings.HasPrefix(it.key, Key(name)) &&
		s.bank.MatchString(lastWord(above.folded)) && s.withAccount(it.folded)
}

// onlyAccount reports whether a text is an account and its label.
func (v *vocabulary) onlyAccount(folded string) bool {
	m := bareAccount.FindStringIndex(folded)
	return m != nil && len(strings.Trim(folded[:m[0]], " .:")) <= len("bankkonto") && !hasLetters(folded[m[1]:])
}

// placeOfDate reports whether an item is the place and day of a letter: "Boston, 3 May 2026", not "Lofts Ltd - due 3 May 2026".
func (s *sheet) placeOfDate(it *item) bool {
	if len(it.dates) == 0 {
		return false
	}
	place := it.folded[:it.dates[0].start]
	return s.placeAndDate.MatchString(place) && !s.legalForm.MatchString(place)
}

// townOfLetter reports whether a name is the place where the letter was written: "Split" in "Split, 16.03.2026".
func (s *sheet) townOfLetter(name string) bool {
	town := foldText(name)
	return slices.ContainsFunc(s.rows, func(row []*item) bool {
		return slices.ContainsFunc(row, func(it *item) bool { return strings.HasPrefix(it.folded, town+",") && s.placeOfDate(it) })
	})
}

// belowTown reports whether a name without a legal form stands right below the town of an address, or below what does: so provinces
// and countries do.
func (s *sheet) belowTown(name string, it *item) bool {
	const lines, leading = 2, 2.0
	if s.legalForm.MatchString(foldText(name)) {
		return false
	}
	for range lines {
		above := s.above(it)
		if above == nil || it.y-above.y > leading*it.size || !sameEdge(above, it) || it.size >= larger*above.size {
			return false
		}
		if s.postalCity.MatchString(above.folded) {
			return true
		}
		it = above
	}
	return false
}

// buyersName reports whether a name begins with a label of who buys: "Customer Lofts Ltd".
func (s *sheet) buyersName(name string) bool {
	const shortest = 6 // letters of such a label; shorter words begin names, too
	m := s.buyerPhrase.FindStringIndex(foldText(name))
	return m != nil && m[1] > shortest+1
}
