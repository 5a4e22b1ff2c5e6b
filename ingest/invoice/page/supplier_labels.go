package page

import (
	"strings"
	"unicode"
)

// addName takes a name that a rule found, where it found it, and how.
type addName func(name string, it *item, rule, how string)

// Rules that find names and that judging them asks for.
const (
	ruleSeller     = "seller label"
	ruleReturn     = "return address"
	ruleLetterhead = "letterhead"
	ruleImprint    = "imprint"
	ruleSentence   = "sentence"
	ruleHolder     = "account holder"
	ruleSigned     = "signature"
	ruleIDBlock    = "block of the tax id"
	ruleIDLine     = "line of the tax id"

	// byName is how a rule finds what a label "name" in the seller's block announces.
	byName = "name in its block"
	// onlyParty is how the letterhead finds the name over the one address that isn't the buyer's.
	onlyParty = "only block"
	// byRegister is how the imprint finds a name with a register or account behind it, but no tax id.
	byRegister = "a register behind it"
)

// sellerLabels reads the name behind, beside or under "Verkäufer", "Sold by" …
func (s *sheet) sellerLabels(add addName) {
	for _, row := range s.rows {
		for _, it := range row {
			loc := s.sellerLabel.FindStringIndex(it.folded)
			if loc == nil {
				loc = s.sellerPhrased(it)
			}
			if it == s.from {
				loc = []int{0, len(it.runes)}
			}
			add := add
			if loc == nil {
				loc, add = s.payeeLabel.FindStringIndex(it.folded), s.companies(add)
			}
			if loc == nil {
				continue
			}
			if rest := quoted(strings.TrimSpace(string(it.runes[loc[1]:]))); rest != "" {
				for _, below := range s.below(it, 1.2) {
					if below.x0 > it.x0 && s.legalForm.MatchString(below.folded) && s.formAlone(below.folded) { // "Payable to Applied Research", "Company"
						rest += " " + below.text()
					}
				}
				add(s.firstPart(rest), it, ruleSeller, "behind it")
				continue
			}
			if s.sellerBlock(it, add) {
				continue
			}
			if r := s.right(it); r != nil && !s.labelsBuyer(r) {
				name := r.text()
				if next := s.wrapped(r); next != nil {
					name += " " + next.text()
				}
				add(s.firstPart(name), r, ruleSeller, "right of it")
			}
		}
	}
}

// companies adds none but names with a legal form.
func (s *sheet) companies(add addName) addName {
	return func(name string, it *item, rule, how string) {
		if s.legalForm.MatchString(foldText(name)) {
			add(name, it, rule, how)
		}
	}
}

// sellerPhrased is where a phrase that a seller's name follows stands in an item: no "make payment to our account".
func (s *sheet) sellerPhrased(it *item) []int {
	loc := s.sellerPhrase.FindStringIndex(it.folded)
	if loc == nil {
		return nil
	}
	rest := strings.TrimSpace(string(it.runes[loc[1]:]))
	if rest == "" || unicode.IsLower([]rune(rest)[0]) && !s.legalForm.MatchString(foldText(rest)) {
		return nil
	}
	return loc
}

// quoted is what stands between the quotation marks that a text begins with, else all of it.
func quoted(s string) string {
	const marks = `"“”„«»`
	if rest := strings.TrimLeft(s, marks); rest != s {
		if end := strings.IndexAny(rest, marks); end > 0 {
			return rest[:end]
		}
	}
	return s
}

// sellerBlock reads a name in the lines under a seller's label.
func (s *sheet) sellerBlock(label *item, add addName) bool {
	last := label
	for r, n := label.row+1, 0; r < len(s.rows) && n < 7; r++ {
		row := s.rows[r]
		if row[0].page != label.page || row[0].y-last.y > 3.5*maxFloat(last.size, 7) {
			return false
		}
		for _, it := range row {
			ends := absFloat(it.x1-label.x1) < 3 // set to the right
			if it.x0 < label.x0-6 && !ends || it.x0 > label.x0+40 && !aligned(label, it) {
				continue
			}
			last = it
			n++
			if s.labelsBuyer(it) {
				return false
			}
			if s.behindNameLabel(it, add) {
				return true
			}
			if s.blockLabel.MatchString(it.folded) || strings.Contains(it.folded, ":") {
				break
			}
			if name := s.withFormBelow(it); s.nameLike(s.cleanName(name)) {
				add(name, it, ruleSeller, "below it")
				return true
			}
			break
		}
	}
	return false
}

// behindNameLabel reads what a label "name" announces, behind it or on its right.
func (s *sheet) behindNameLabel(it *item, add addName) bool {
	loc := s.nameLabel.FindStringIndex(it.folded)
	if loc == nil || !strings.Contains(it.folded[:loc[1]], ":") && loc[1] != len(it.folded) {
		return false
	}
	if rest := strings.TrimSpace(string(it.runes[loc[1]:])); rest != "" {
		if next := s.wrapped(it); next != nil && !s.legalForm.MatchString(foldText(rest)) && s.legalForm.MatchString(next.folded) {
			rest += " " + next.text()
		}
		add(rest, it, ruleSeller, byName)
		return true
	}
	r := s.right(it)
	if r != nil {
		add(s.withFormBelow(r), r, ruleSeller, byName)
	}
	return r != nil
}

// withFormBelow is a name with the legal form that stands on the line below it, or what of it stands there in brackets.
func (s *sheet) withFormBelow(it *item) string {
	next := s.wrapped(it)
	if next == nil {
		return it.text()
	}
	bracketed := strings.HasPrefix(next.folded, "(") && s.formAlone(strings.Trim(next.folded, "()"))
	if bracketed || !s.legalForm.MatchString(it.folded) && s.legalForm.MatchString(next.folded) {
		return it.text() + " " + next.text()
	}
	return it.text()
}

// sentences read the name in "You receive this invoice from …".
func (s *sheet) sentences(buyers map[*item]bool, add addName) {
	for _, row := range s.rows {
		for _, it := range row {
			loc := s.whose(it.folded)
			if loc == nil || buyers[it] {
				continue
			}
			rest := strings.Join(strings.Fields(string(it.runes[loc[1]:])), " ")
			if next := s.wrapped(it); next != nil && !s.legalForm.MatchString(foldText(rest)) {
				rest = strings.TrimSpace(rest + " " + next.text())
			}
			add(s.firstPart(s.throughForm(rest)), it, ruleSentence, "")
		}
	}
}

// whose is where words stand that say who issues the invoice, or, of what isn't a company itself, whose it is: "x.example is a shop of
// Berger Bau GmbH".
func (v *vocabulary) whose(folded string) []int {
	if loc := v.sentBy.FindStringIndex(folded); loc != nil {
		return loc
	}
	loc := v.belonging.FindStringIndex(folded)
	if loc == nil || v.legalForm.MatchString(folded[:loc[0]]) || !v.legalForm.MatchString(v.firstPart(folded[loc[1]:])) {
		return nil
	}
	return loc
}

// accountHolder reads the name behind "Account holder:", or without the colon where the account stands beside it.
func (s *sheet) accountHolder(add addName) {
	for _, row := range s.rows {
		for _, it := range row {
			loc := s.accountHolderLabel.FindStringIndex(it.folded)
			if loc == nil && s.withAccount(it.folded) {
				loc = s.accountHolderWord.FindStringIndex(it.folded)
			}
			if loc == nil {
				continue
			}
			name, at := string(it.runes[loc[1]:]), it
			if strings.Trim(name, " :") == "" {
				if at = s.besideOrBelow(it); at == nil {
					continue
				}
				name = at.text()
			}
			add(s.firstPart(name), at, ruleHolder, "")
		}
	}
}

// besideOrBelow is what a label announces: right below it what has a label "name" itself, else what is on its right.
func (s *sheet) besideOrBelow(label *item) *item {
	right := s.right(label)
	for _, below := range s.below(label, 1.6) {
		if right == nil || s.nameLabel.MatchString(below.folded) {
			return below
		}
	}
	return right
}
