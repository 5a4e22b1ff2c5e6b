package page

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tallyhouse/ingest/invoice/fields"
)

var (
	returnSep  = regexp.MustCompile(` ?[·•|●∙▪◦◆♦*⋅・] ?|, | [-–—] |  +`)
	letterWord = regexp.MustCompile(`[\p{L}]{2,}`)
)

// named is a candidate for the supplier's name.
type named struct {
	name  string
	it    *item
	rule  string
	score float64
}

// supplier reads who issued the invoice.
func (s *sheet) supplier(own Own, buyers map[*item]bool, idAt *item) *fields.Text {
	c, all := s.rankedNames(own, buyers, idAt)
	for _, other := range all {
		s.couldBe(fields.SupplierName, other.name, other.it, other.rule, other.score)
	}
	if c != nil {
		return &fields.Text{Value: c.name, Evidence: s.evidence(c.it, c.rule, min(c.score, 0.99))}
	}
	return nil
}

// maxNames bounds the candidates for the supplier's name.
const maxNames = 200

// supplierNamed ranks the names that the rules find; idAt, where the supplier's
// tax id stands, may be unknown.
func (s *sheet) supplierNamed(own Own, buyers map[*item]bool, idAt *item) *named {
	c, _ := s.rankedNames(own, buyers, idAt)
	return c
}

// rankedNames is supplierNamed with all names that were found.
func (s *sheet) rankedNames(own Own, buyers map[*item]bool, idAt *item) (*named, []named) {
	var all []named
	add := func(name string, it *item, rule string, score float64) {
		name = s.cleanName(name)
		// What a seller's label names is a name, however odd.
		if s.townLine.MatchString(it.folded) || rule != "seller label" && strings.HasSuffix(strings.TrimSpace(it.folded), ":") {
			return
		}
		labelled := rule == "seller label" && score >= 0.97 && letterWord.MatchString(name) && len([]rune(name)) <= 70
		if len(all) < maxNames && (labelled || s.nameLike(name)) && !own.isName(name) {
			all = append(all, named{name, it, rule, score})
		}
	}
	s.sellerLabels(add)
	addressed := s.returnAddress(add, buyers)
	s.nearTaxID(idAt, buyers, add)
	s.letterhead(buyers, addressed, s.onlyBlock(buyers), add)
	s.accountHolder(add)
	s.legalNotice(buyers, add)
	s.footBlock(buyers, add)
	best := -1
	single := append([]named{}, all...)
	domain := slices.ContainsFunc(all, s.ownsDomain)
	for i := range all {
		all[i].score += s.support(all[i]) + agreement(all[i], single)
		if domain && all[i].rule == "letterhead" && s.inWindow(all[i].it) && !s.ownsDomain(all[i]) {
			all[i].score -= 0.2 // who is written to, not who writes
		}
		if s.isBuyer(all[i], buyers) {
			all[i].score -= 0.35
		}
		if best < 0 || all[i].score > all[best].score+0.001 {
			best = i
		}
	}
	if best < 0 {
		return nil, nil
	}
	c := all[best]
	for _, other := range all {
		// The full name rather than a short form of it.
		if other.score >= 0.7 && len(other.name) > len(c.name) && len(other.name) < 3*len(c.name)+12 &&
			s.legalForm.MatchString(foldText(other.name)) && !s.legalForm.MatchString(foldText(c.name)) &&
			strings.HasPrefix(compact(foldText(other.name)), compact(foldText(c.name))) {
			c.name, c.it = other.name, other.it
		}
	}
	for _, other := range all {
		if other.score > c.score-0.02 && !sameName(other.name, c.name) {
			c.score -= 0.04
			break
		}
	}
	return &c, all
}

// agreement is what other rules that found the same name add.
func agreement(c named, all []named) float64 {
	rules := map[string]bool{c.rule: true}
	bonus := 0.0
	for _, other := range all {
		if !rules[other.rule] && compact(foldText(other.name)) == compact(foldText(c.name)) {
			rules[other.rule] = true
			bonus += 0.05
		}
	}
	return min(bonus, 0.12)
}

func sameName(a, b string) bool {
	x, y := compact(foldText(a)), compact(foldText(b))
	return x == y || strings.Contains(x, y) || strings.Contains(y, x)
}

// sellerLabels reads the name behind, beside or under "Verkäufer", "Sold by" …
func (s *sheet) sellerLabels(add func(string, *item, string, float64)) {
	for _, row := range s.rows {
		for _, it := range row {
			loc := s.sellerLabel.FindStringIndex(it.folded)
			if loc == nil {
				loc = s.sellerPhrase.FindStringIndex(it.folded)
			}
			if loc == nil {
				continue
			}
			if rest := strings.TrimSpace(string(it.runes[loc[1]:])); rest != "" {
				add(s.firstPart(rest), it, "seller label", 0.95)
				continue
			}
			if s.sellerBlock(it, add) {
				continue
			}
			if r := s.right(it); r != nil && !s.buyerLabel.MatchString(r.folded) {
				name := r.text()
				if next := s.wrapped(r); next != nil {
					name += " " + next.text()
				}
				add(s.firstPart(name), r, "seller label", 0.93)
			}
		}
	}
}

// sellerBlock reads a name in the lines under a seller's label.
func (s *sheet) sellerBlock(label *item, add func(string, *item, string, float64)) bool {
	last := label
	for r, n := label.row+1, 0; r < len(s.rows) && n < 7; r++ {
		row := s.rows[r]
		if row[0].page != label.page || row[0].y-last.y > 3.5*maxFloat(last.size, 7) {
			return false
		}
		for _, it := range row {
			if it.x0 < label.x0-6 || it.x0 > label.x0+40 && !aligned(label, it) {
				continue
			}
			last = it
			n++
			if s.buyerLabel.MatchString(it.folded) {
				return false
			}
			if loc := s.nameLabel.FindStringIndex(it.folded); loc != nil &&
				(strings.Contains(it.folded[:loc[1]], ":") || loc[1] == len(it.folded)) {
				if rest := strings.TrimSpace(string(it.runes[loc[1]:])); rest != "" {
					add(rest, it, "seller label", 0.97)
					return true
				}
				if r := s.right(it); r != nil {
					name := r.text()
					if next := s.wrapped(r); next != nil && s.legalForm.MatchString(next.folded) &&
						!s.legalForm.MatchString(r.folded) {
						name += " " + next.text()
					}
					add(name, r, "seller label", 0.97)
					return true
				}
			}
			if s.blockLabel.MatchString(it.folded) || strings.Contains(it.folded, ":") {
				break
			}
			name := it.text()
			if next := s.wrapped(it); next != nil && !s.legalForm.MatchString(it.folded) &&
				s.legalForm.MatchString(next.folded) {
				name += " " + next.text()
			}
			if s.nameLike(s.cleanName(name)) {
				add(name, it, "seller label", 0.95)
				return true
			}
			break
		}
	}
	return false
}

// wrapped is the item right under another, in the same column without a label:
// the rest of a long name.
func (s *sheet) wrapped(it *item) *item {
	for _, b := range s.below(it, 1.1) {
		if absFloat(b.x0-it.x0) < 3 && !strings.Contains(b.folded, ":") && !hasDigit(b.folded) &&
			absFloat(b.size-it.size) < 1 {
			return b
		}
	}
	return nil
}

func absFloat(f float64) float64 {
	if f < 0 {
		return -f
	}
	return f
}

// returnAddress reads "Name · Street 1 · 1234 City", the line above the address
// window (DIN 5008) or the letterhead in one line, and marks the window below
// it as the buyer's.
func (s *sheet) returnAddress(add func(string, *item, string, float64), buyers map[*item]bool) map[*item]bool {
	found := map[*item]bool{}
	for _, row := range s.rows {
		for i, it := range row {
			if it.page > 1 {
				return found
			}
			text := it.text()
			if !returnSep.MatchString(text) && i+2 < len(row) {
				text = rowText(row[i:])
			}
			parts := splitReturn(text)
			if len(parts) < 2 || len([]rune(text)) > 150 {
				continue
			}
			name := parts[0]
			city := -1
			for k, p := range parts[1:] {
				if s.postalCity.MatchString(strings.TrimSpace(fold([]rune(p)))) {
					city = k + 1
				}
			}
			if city < 0 {
				continue
			}
			if s.street.MatchString(strings.TrimSpace(fold([]rune(name)))) &&
				!s.legalForm.MatchString(fold([]rune(name))) ||
				hasDigit(name) && !s.legalForm.MatchString(fold([]rune(name))) {
				continue
			}
			street := false
			for _, p := range parts[1:] {
				street = street || hasDigit(p)
			}
			if !street || buyers[it] {
				continue
			}
			score := 0.9
			if it.page == 1 && it.y > s.heights[0]*0.75 {
				score = 0.86
			}
			if len(parts) == 2 {
				score -= 0.05
			}
			add(name, it, "return address", score)
			found[it] = true
			if it.page == 1 && it.y < s.heights[0]*0.45 && len([]rune(text)) < 110 {
				s.column(it, buyers)
			}
		}
	}
	return found
}

func rowText(row []*item) string {
	parts := make([]string, len(row))
	for i, it := range row {
		parts[i] = it.text()
	}
	return strings.Join(parts, "  ")
}

func splitReturn(text string) []string {
	var out []string
	for _, p := range returnSep.Split(text, -1) {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// nearTaxID reads the name above or left of the supplier's tax id: in the
// footer's or the letterhead's block.
func (s *sheet) nearTaxID(id *item, buyers map[*item]bool, add func(string, *item, string, float64)) {
	if id == nil {
		return
	}
	last := id
	for r, n := id.row, 0; r >= 0 && n < 8; r-- {
		row := s.rows[r]
		if row[0].page != id.page || last.y-row[0].y > 3*maxFloat(last.size, 7) {
			break
		}
		n++
		for _, it := range row {
			if buyers[it] {
				continue
			}
			near := aligned(it, id)
			company := s.legalForm.MatchString(it.folded)
			first := s.firstPart(it.text())
			switch {
			case near && company && it != id:
				add(first, it, "block of the tax id", 0.84)
			case company && it.col == 0 && r < id.row+1:
				add(first, it, "line of the tax id", 0.8)
			case near && it != id && r < id.row && id.y > s.heights[id.page-1]*0.75:
				add(first, it, "block of the tax id", 0.74)
			case near && it != id && r < id.row:
				add(first, it, "block of the tax id", 0.7)
			}
		}
		last = row[0]
	}
}

// letterhead reads the first lines of the first page.
func (s *sheet) letterhead(buyers, addressed map[*item]bool, only *item, add func(string, *item, string, float64)) {
	lines := 0
	for _, row := range s.rows {
		if row[0].page != 1 || row[0].y > s.heights[0]*0.4 || lines > 14 {
			return
		}
		lines++
		for _, it := range row {
			if buyers[it] || addressed[it] {
				continue
			}
			first := s.firstPart(it.text())
			score := 0.6
			if s.legalForm.MatchString(foldText(first)) {
				score = 0.78
			}
			if lines > 5 {
				score -= 0.06
			}
			if it.size >= 13 && lines <= 4 {
				score += 0.06
			}
			if s.addressBelow(it) {
				score += 0.08
				if lines <= 3 {
					score += 0.08
				}
			} else if lines == 1 && it.col == 0 && s.contactBelow(it) {
				score += 0.14
			}
			if it == only {
				score += 0.1
			}
			add(first, it, "letterhead", score)
		}
	}
}

// onlyBlock is the name over the one address in the head of the first page that is not the buyer's, where a label
// says which is his: an invoice names two parties.
func (s *sheet) onlyBlock(buyers map[*item]bool) *item {
	var only *item
	labelled := false
	for _, row := range s.rows {
		if row[0].page != 1 || row[0].y > s.heights[0]*0.5 {
			break
		}
		for _, it := range row {
			if !s.nameLike(s.cleanName(s.firstPart(it.text()))) || s.titleAlone.MatchString(strings.Trim(it.folded, " .:")) {
				continue
			}
			if buyers[it] {
				labelled = labelled || s.addressBelow(it) || s.legalForm.MatchString(it.folded)
				continue
			}
			if !s.addressBelow(it) {
				continue
			}
			if only != nil && it.row > only.row+1 {
				return nil
			}
			only = it // the name next to the address
		}
	}
	if !labelled {
		return nil
	}
	return only
}

// addressBelow reports whether a street or a city follows in the column.
func (s *sheet) addressBelow(it *item) bool {
	for _, b := range s.below(it, 3.2) {
		if absFloat(b.x0-it.x0) > 12 && absFloat(b.x1-it.x1) > 12 {
			continue
		}
		if s.street.MatchString(b.folded) || s.postalCity.MatchString(b.folded) {
			return true
		}
	}
	return false
}

// legalNotice reads the name on or right above the line that states seat,
// capital or register at the foot of a page.
func (s *sheet) legalNotice(buyers map[*item]bool, add func(string, *item, string, float64)) {
	for _, row := range s.rows {
		for _, it := range row {
			if it.y < s.heights[it.page-1]*0.7 || !s.register.MatchString(it.folded) || buyers[it] {
				continue
			}
			if loc := s.capital.FindStringIndex(it.folded); loc != nil {
				add(s.firstPart(string(it.runes[:loc[0]])), it, "legal notice", 0.76)
			}
			// "Harrow & Lane Ltd. Company No. 01234567."
			first, _, _ := strings.Cut(s.firstPart(it.text()), ". ")
			add(first, it, "legal notice", 0.7)
			for r := it.row - 1; r >= max(0, it.row-3); r-- {
				above := s.rows[r]
				if above[0].page != it.page || it.y-above[0].y > 5*maxFloat(it.size, 7) {
					break
				}
				for _, other := range above {
					if aligned(other, it) && !buyers[other] {
						add(s.firstPart(other.text()), other, "legal notice", 0.8)
					}
				}
			}
		}
	}
}

// footBlock reads the name over an address at the foot of a page, when bank or
// tax or register stand beside it: letters without a letterhead name their sender there.
func (s *sheet) footBlock(buyers map[*item]bool, add func(string, *item, string, float64)) {
	for _, row := range s.rows {
		it := row[0]
		if it.y < s.heights[it.page-1]*0.85 || buyers[it] || !s.addressBelow(it) {
			continue
		}
		for r := max(0, it.row-3); r <= min(it.row+4, len(s.rows)-1); r++ {
			if s.marked(s.rows[r], it) {
				score := 0.93
				if !s.legalForm.MatchString(it.folded) {
					score = 0.87
				}
				add(s.firstPart(it.text()), it, "block at the foot", score)
				break
			}
		}
	}
}

// marked reports whether a row beside a foot's name holds what only its owner prints.
func (s *sheet) marked(row []*item, name *item) bool {
	for _, it := range row {
		if it.page == name.page && it != name && (s.footMark.MatchString(it.folded) ||
			s.vatLabel.MatchString(it.folded) || s.taxNumberLabel.MatchString(it.folded)) &&
			!s.buyerWord.MatchString(it.folded) {
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

func (s *sheet) accountHolder(add func(string, *item, string, float64)) {
	for _, row := range s.rows {
		for _, it := range row {
			if loc := s.accountHolderLabel.FindStringIndex(it.folded); loc != nil {
				name := string(it.runes[loc[1]:])
				if strings.TrimSpace(name) == "" {
					if r := s.right(it); r != nil {
						name = r.text()
					}
				}
				add(s.firstPart(name), it, "account holder", 0.66)
			}
		}
	}
}

// support is what the rest of the document says for a name: it occurs again,
// it owns the mail or web domain, it has a legal form.
func (s *sheet) support(c named) float64 {
	key := compact(foldText(c.name))
	if len(key) < 4 {
		return 0
	}
	again := 0
	for _, row := range s.rows {
		for _, it := range row {
			k := it.key
			if it != c.it && strings.Contains(k, key) && !s.buyerLabel.MatchString(it.folded) {
				again++
			}
		}
	}
	score := 0.0
	if s.ownsDomain(c) {
		score += 0.08
	}
	if again > 0 {
		score += 0.06 + 0.02*float64(min(again, 3))
	}
	if s.legalForm.MatchString(foldText(c.name)) {
		score += 0.03
	}
	return score
}

// ownsDomain reports whether a mail address or site on the sheet bears the name.
func (s *sheet) ownsDomain(c named) bool {
	word := s.domainWord(c.name)
	if word == "" {
		return false
	}
	for _, row := range s.rows {
		for _, it := range row {
			if (strings.Contains(it.folded, "@") || strings.Contains(it.folded, "www.") || strings.Contains(it.folded, "http")) &&
				strings.Contains(strings.NewReplacer("-", "", " ", "").Replace(it.folded), word) {
				return true
			}
		}
	}
	return false
}

// inWindow reports whether an item stands where a letter's window shows the address of the recipient.
func (s *sheet) inWindow(it *item) bool {
	return it.page == 1 && it.x0 < s.width(1)/3 && it.y > s.heights[0]*0.08 && it.y < s.heights[0]*0.35
}

// domainWord is the longest word of a name, as it would stand in a domain.
func (v *vocabulary) domainWord(name string) string {
	best := ""
	for _, w := range letterWord.FindAllString(name, -1) {
		if f := fold([]rune(w)); len(f) > len(best) && len(f) >= 4 && !strings.Contains(f, "~") &&
			!v.legalForm.MatchString(f) {
			best = f
		}
	}
	return best
}

func (s *sheet) isBuyer(c named, buyers map[*item]bool) bool {
	key := compact(foldText(c.name))
	for it := range buyers {
		if k := compact(it.folded); k == key || len(key) > 6 && strings.HasPrefix(k, key) {
			return c.rule != "seller label" && c.rule != "return address"
		}
	}
	return false
}

// firstPart cuts an address off behind the name.
func (v *vocabulary) firstPart(s string) string {
	parts := splitReturn(s)
	if len(parts) == 0 {
		return s
	}
	name := parts[0]
	for _, p := range parts[1:] {
		// "Contoso, Ltd." and "Müller, Meier & Co. KG" are one name.
		f := fold([]rune(p))
		if !strings.Contains(s, name+", "+p) || hasDigit(p) || !v.legalForm.MatchString(f) || len(p) > 22 {
			break
		}
		name += ", " + p
	}
	return name
}

func (v *vocabulary) cleanName(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if loc := v.capital.FindStringIndex(fold([]rune(s))); loc != nil {
		s = string([]rune(s)[:loc[0]])
	}
	f := fold([]rune(s))
	if loc := v.nameLabel.FindStringIndex(f); loc != nil && strings.Contains(f[:loc[1]], ":") {
		s = string([]rune(s)[loc[1]:])
	}
	s = strings.TrimPrefix(s, "LOGO ")
	return strings.Trim(s, " ,;:|·•●-–*")
}

// nameLike reports whether a text can name a company or a person.
func (v *vocabulary) nameLike(s string) bool {
	r := []rune(s)
	if len(r) < 2 || len(r) > 70 || !letterWord.MatchString(s) {
		return false
	}
	f := fold(r)
	letters, digits := 0, 0
	for _, c := range r {
		if unicode.IsLetter(c) {
			letters++
		} else if isDigit(c) {
			digits++
		}
	}
	if letters*2 < len(r) || digits > 6 || strings.HasSuffix(strings.TrimSpace(s), ":") ||
		strings.Contains(s, ": ") || strings.Contains(s, " :") {
		return false
	}
	company := v.legalForm.MatchString(f)
	if bare := v.legalForm.ReplaceAllString(" "+f+" ", " "); !letterWord.MatchString(bare) {
		return false // a legal form alone
	}
	if len(v.dates(f)) > 0 || !company && (v.street.MatchString(f) || v.postalCity.MatchString(f) || digits > 2) {
		return false
	}
	if v.neverAName.MatchString(f) || !company && v.notAName.MatchString(f) {
		return false
	}
	if len(strings.Fields(s)) > 9 || unicode.IsLower(r[0]) && !company && len(strings.Fields(s)) > 2 {
		return false
	}
	return true
}
