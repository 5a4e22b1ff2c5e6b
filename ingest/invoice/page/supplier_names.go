package page

import (
	"slices"
	"strings"
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
				loc = s.sellerPhrase.FindStringIndex(it.folded)
			}
			if loc == nil {
				continue
			}
			if rest := strings.TrimSpace(string(it.runes[loc[1]:])); rest != "" {
				for _, below := range s.below(it, 1.2) {
					if below.x0 > it.x0 && s.formAlone(below.folded) { // "Payable to Applied Research", "Company"
						rest += " " + below.text()
					}
				}
				add(s.firstPart(rest), it, ruleSeller, "behind it")
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
				add(s.firstPart(name), r, ruleSeller, "right of it")
			}
		}
	}
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
					add(rest, it, ruleSeller, byName)
					return true
				}
				if r := s.right(it); r != nil {
					name := r.text()
					if next := s.wrapped(r); next != nil && s.legalForm.MatchString(next.folded) &&
						!s.legalForm.MatchString(r.folded) {
						name += " " + next.text()
					}
					add(name, r, ruleSeller, byName)
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
				add(name, it, ruleSeller, "below it")
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

// andBelow is the line that goes on with "and" below one with the same right edge or middle: letterheads are set on the right
// and centred, too.
func (s *sheet) andBelow(it *item) *item {
	if it.row+1 == len(s.rows) {
		return nil
	}
	for _, b := range s.rows[it.row+1] {
		edge := absFloat(b.x1-it.x1) < 3 || absFloat(b.x0+b.x1-it.x0-it.x1) < 6
		if torn(b.text()) && edge && b.page == it.page && b.y-it.y < 2*maxFloat(it.size, 7) && absFloat(b.size-it.size) < 1 {
			return b
		}
	}
	return nil
}

// returnAddress reads "Name · Street 1 · 1234 City", the line above the address
// window (DIN 5008) or the letterhead in one line, and marks the window below
// it as the buyer's.
func (s *sheet) returnAddress(add addName, buyers map[*item]bool) map[*item]bool {
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
			city := slices.ContainsFunc(parts[1:], func(p string) bool {
				f := strings.TrimSpace(fold([]rune(p)))
				return s.postalCity.MatchString(f) && !s.footMark.MatchString(f)
			})
			if !city || s.ofBank(name, fold([]rune(text))) {
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
			how := ""
			if len(parts) == 2 {
				how = "two parts"
			}
			add(name, it, ruleReturn, how)
			if above := s.over(it); above != nil && !s.legalForm.MatchString(foldText(name)) {
				add(s.firstPart(above.text()), above, ruleReturn, "over its line")
			}
			found[it] = true
			if it.page == 1 && it.y < s.heights[0]*0.45 && len([]rune(text)) < 110 {
				s.column(it, buyers)
			}
		}
	}
	return found
}

// over is the larger text or the company right over an item, in its column: the line below it says what it is and where.
func (s *sheet) over(it *item) *item {
	for r := it.row - 1; r >= max(0, it.row-2); r-- {
		for _, above := range s.rows[r] {
			if above.page == it.page && it.y-above.y < 2.2*maxFloat(above.size, 7) && absFloat(above.x0-it.x0) < 6 &&
				(above.size >= 1.15*it.size || s.legalForm.MatchString(above.folded)) {
				return above
			}
		}
	}
	return nil
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
func (s *sheet) nearTaxID(id *item, buyers map[*item]bool, add addName) {
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
			if s.ofBank(first, it.folded) {
				continue
			}
			switch {
			case near && company && it != id:
				add(first, it, ruleIDBlock, "company")
			case company && it.col == 0 && (r == id.row || id.y > s.heights[id.page-1]*0.4):
				add(first, it, ruleIDLine, "")
			case near && it != id && r < id.row && id.y > s.heights[id.page-1]*0.75:
				add(first, it, ruleIDBlock, "at the foot")
			case near && it != id && r < id.row:
				add(first, it, ruleIDBlock, "")
			}
		}
		last = row[0]
	}
}

// letterhead reads the first lines of the first page.
func (s *sheet) letterhead(buyers, addressed map[*item]bool, only *item, add addName) {
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
			how := ""
			switch {
			case it == only:
				how = onlyParty
			case lines == 1:
				how = "first line"
			case lines <= 5:
				how = "first lines"
			}
			if !s.list(it) {
				add(first, it, ruleLetterhead, how)
			}
			s.laterParts(first, it, add)
			s.overLines(first, it, buyers, add)
		}
	}
}

// list reports whether an item lists words or phrases without a figure or legal form among them: services, or partners.
func (s *sheet) list(it *item) bool {
	const fewest = 3
	return len(splitReturn(it.text())) >= fewest && !hasDigit(it.folded) && !s.legalForm.MatchString(it.folded)
}

// laterParts adds the names with a legal form behind the first part of a line that has none: "IBK | Ingenieurbüro Kaltwasser PartG".
func (s *sheet) laterParts(first string, it *item, add addName) {
	parts := splitReturn(it.text())
	if len(parts) < 2 || s.legalForm.MatchString(foldText(first)) {
		return
	}
	for _, part := range parts[1:] {
		if s.legalForm.MatchString(foldText(part)) && !s.ofBank(part, it.folded) {
			add(part, it, ruleLetterhead, "within its line")
		}
	}
}

// overLines joins a name that is set on two lines: its legal form stands on the second, or "&" between them.
func (s *sheet) overLines(first string, it *item, buyers map[*item]bool, add addName) {
	next := s.wrapped(it)
	if next == nil {
		next = s.andBelow(it)
	}
	if next == nil || buyers[next] || s.buyersName(it.text()) ||
		s.right(it) != nil && hasDigit(s.right(it).folded) || // labels with their values
		s.right(next) != nil && hasDigit(s.right(next).folded) || first != it.text() || strings.Contains(it.folded, ":") ||
		s.titleAlone.MatchString(strings.Trim(it.folded, " .:")) {
		return
	}
	rest := s.firstPart(next.text())
	if strings.HasPrefix(Key(rest), it.key) { // a mark over the name that begins with it
		return
	}
	if s.legalForm.MatchString(it.folded) {
		if strings.HasPrefix(rest, "&") && s.legalForm.MatchString(foldText(rest)) { // "Leitner GmbH" over "& Co KG"
			add(first+" "+rest, it, ruleLetterhead, "form on a second line")
		}
		return
	}
	switch {
	case s.legalForm.MatchString(foldText(rest)) && !s.nameLike(s.cleanName(rest)):
		add(first+" "+rest, it, ruleLetterhead, "form on a second line") // a form alone
	case torn(strings.TrimSpace(first)) || torn(rest):
		add(first+" "+rest, it, ruleLetterhead, "torn")
	case s.legalForm.MatchString(foldText(rest)):
		add(first+" "+rest, it, ruleLetterhead, "over two lines")
	}
}

// imprint reads the name at the beginning of a line that goes on with the number at court, tax id, account or address of
// its owner, wherever it stands: real letters print such a line below the text as often as at the foot.
func (s *sheet) imprint(buyers map[*item]bool, add addName) {
	for _, row := range s.rows {
		for _, it := range row {
			first := s.sentencePart(s.firstPart(it.text()))
			rest := it.folded[min(len(it.folded), len([]rune(first))):]
			how, mark := s.identifiedBy(rest)
			if buyers[it] || how == "" || s.ofBank(first, it.folded) || s.buyerWord.MatchString(it.folded[:len(it.folded)-len(rest)+mark]) {
				continue
			}
			add(first, it, ruleImprint, how)
		}
	}
}

// identifiedBy tells what identifies the owner of a line in what follows his name, and where that begins; "" where nothing does.
func (s *sheet) identifiedBy(rest string) (how string, at int) {
	first := func(all ...[]int) int {
		at := len(rest)
		for _, m := range all {
			if m != nil {
				at = min(at, m[0])
			}
		}
		return at
	}
	for _, id := range s.vatIDs(rest) {
		return "a tax id behind it", first([]int{id.start}, s.vatLabel.FindStringIndex(rest))
	}
	if at := first(s.vatLabel.FindStringIndex(rest), s.taxNumberLabel.FindStringIndex(rest)); at < len(rest) {
		return "a tax id behind it", at
	}
	if at := first(s.footMark.FindStringIndex(rest)); at < len(rest) {
		return byRegister, at
	}
	return "", 0
}

// sentencePart cuts off what follows a name with a legal form in a sentence of its own: "Harrow & Lane Ltd. Company No. 01234567."
func (s *sheet) sentencePart(name string) string {
	first, _, more := strings.Cut(name, ". ")
	if more && s.legalForm.MatchString(foldText(first)) {
		return first
	}
	return name
}

// sentences read the name in "You receive this invoice from …".
func (s *sheet) sentences(buyers map[*item]bool, add addName) {
	for _, row := range s.rows {
		for _, it := range row {
			loc := s.sentBy.FindStringIndex(it.folded)
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
func (s *sheet) legalNotice(buyers map[*item]bool, add addName) {
	for _, row := range s.rows {
		for _, it := range row {
			if it.y < s.heights[it.page-1]*0.7 || !s.register.MatchString(it.folded) || buyers[it] {
				continue
			}
			if loc := s.capital.FindStringIndex(it.folded); loc != nil {
				add(s.firstPart(string(it.runes[:loc[0]])), it, "legal notice", "before the capital")
			}
			// "Harrow & Lane Ltd. Company No. 01234567."
			first, _, _ := strings.Cut(s.firstPart(it.text()), ". ")
			add(first, it, "legal notice", "")
			for r := it.row - 1; r >= max(0, it.row-3); r-- {
				above := s.rows[r]
				if above[0].page != it.page || it.y-above[0].y > 5*maxFloat(it.size, 7) {
					break
				}
				for _, other := range above {
					if aligned(other, it) && !buyers[other] {
						add(s.firstPart(other.text()), other, "legal notice", "above")
					}
				}
			}
		}
	}
}

// footBlock reads the name over an address at the foot of a page, when bank or
// tax or register stand beside it: letters without a letterhead name their sender there.
func (s *sheet) footBlock(buyers map[*item]bool, add addName) {
	for _, row := range s.rows {
		it := row[0]
		if it.y < s.heights[it.page-1]*0.85 || buyers[it] || !s.addressBelow(it) {
			continue
		}
		for r := max(0, it.row-3); r <= min(it.row+4, len(s.rows)-1); r++ {
			if s.marked(s.rows[r], it) {
				add(s.firstPart(it.text()), it, "block at the foot", "")
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
