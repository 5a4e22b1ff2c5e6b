package page

import (
	"math"
	"slices"
	"strings"
)

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
			if buyers[it] || !s.sendersLine(text, parts) {
				continue
			}
			if !s.legalForm.MatchString(foldText(parts[0])) && s.legalForm.MatchString(foldText(parts[1])) {
				parts = parts[1:] // "am Domplatz · Hotelbetriebe Reuß KG · Domstraße 4 · 93047 Regensburg"
			}
			add(parts[0], it, ruleReturn, shapeOfSendersLine(parts))
			if above := s.over(it); above != nil && !s.legalForm.MatchString(foldText(parts[0])) {
				add(s.firstPart(above.text()), above, ruleReturn, "over its line")
			}
			found[it] = true
			if it.page == 1 && it.y < s.heights[0]*0.45 && len([]rune(text)) < 110 {
				s.column(it, buyers)
				if addressee := s.inWindowOf(it); addressee != nil && !s.saysSelfBilled() {
					buyers[addressee] = true
					s.column(addressee, buyers)
				}
			}
		}
	}
	return found
}

// inWindowOf is the top of the address behind the zone for remarks that an address window leaves below the small line of the sender
// (DIN 5008, form B); nil where none stands there.
func (s *sheet) inWindowOf(line *item) *item {
	const zone, smaller = 45, 0.85 // points; of the address' size
	for r := line.row + 1; r < len(s.rows) && s.rows[r][0].page == line.page && s.rows[r][0].y-line.y < zone; r++ {
		for _, it := range s.rows[r] {
			if absFloat(it.x0-line.x0) < 3 {
				if line.size < smaller*it.size && s.addressBelow(it) {
					return it
				}
				return nil
			}
		}
	}
	return nil
}

// sendersLine reports whether the parts of a line are a name, a street and a city.
func (s *sheet) sendersLine(text string, parts []string) bool {
	if len(parts) < 2 || len([]rune(text)) > 150 || s.ofBank(parts[0], fold([]rune(text))) {
		return false
	}
	name := strings.TrimSpace(fold([]rune(parts[0])))
	if !s.legalForm.MatchString(name) && (s.street.MatchString(name) || hasDigit(name)) {
		return false
	}
	return slices.ContainsFunc(parts[1:], hasDigit) && slices.ContainsFunc(parts[1:], func(p string) bool {
		f := strings.TrimSpace(fold([]rune(p)))
		return s.postalCity.MatchString(f) && !s.footMark.MatchString(f)
	})
}

// shapeOfSendersLine tells lines apart that may begin with something else than a name: "Canal Wharf, Skipton, North Yorkshire BD23 1RT"
// has no part with a street, so its first one may be where the house stands.
func shapeOfSendersLine(parts []string) string {
	numbered := 0
	for _, p := range parts[1:] {
		if hasDigit(p) {
			numbered++
		}
	}
	switch {
	case len(parts) == 2:
		return "two parts"
	case numbered < 2:
		return "no street"
	}
	return ""
}

// over is the larger text or the company right over an item, in its column: the line below it says what it is and where.
func (s *sheet) over(it *item) *item {
	for r := it.row - 1; r >= max(0, it.row-2); r-- {
		for _, above := range s.rows[r] {
			if above.page == it.page && it.y-above.y < 2.2*maxFloat(above.size, 7) && absFloat(above.x0-it.x0) < 6 &&
				(above.size >= larger*it.size || s.legalForm.MatchString(above.folded)) {
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
			if !s.list(it) && !s.describes(it) {
				add(first, it, ruleLetterhead, how)
			}
			s.laterParts(first, it, add)
			s.overLines(first, it, buyers, add)
			s.stacked(it, add)
		}
	}
}

// describes reports whether an item stands right below a company's name, no larger, and has no name in law itself: it says what the company
// does, who works there, or which department is meant. So does a line of the address below a name whose legal form has a line of its own.
func (s *sheet) describes(it *item) bool {
	if it.row == 0 || s.inLaw(it.text()) {
		return false
	}
	for n, above := 0, s.lineAbove(it); n < maxBlock && above != nil; n, above = n+1, s.lineAbove(above) {
		if s.legalForm.MatchString(above.folded) && s.formAlone(above.folded) {
			return true
		}
	}
	const gap = 3 // lines
	return slices.ContainsFunc(s.rows[it.row-1], func(above *item) bool {
		return sameEdge(above, it) && it.y-above.y < gap*above.size && above.size >= it.size &&
			s.legalForm.MatchString(above.folded) && s.nameLike(s.cleanName(above.text()))
	})
}

// lineAbove is the line right above an item, with its left edge and size.
func (s *sheet) lineAbove(it *item) *item {
	const leading = 1.7
	above := s.above(it)
	if above == nil || absFloat(above.x0-it.x0) > 1 || absFloat(above.size-it.size) > 0.5 || it.y-above.y > leading*it.size {
		return nil
	}
	return above
}

// stacked adds a name whose words stand one below the other, as designers set them, where it is printed in one line, too.
func (s *sheet) stacked(it *item, add addName) {
	const most = 5 // words
	joined := it.key
	for n, last := 1, it; n < most; n++ {
		next := s.wrapped(last)
		if next == nil || strings.Contains(strings.TrimSpace(last.folded), " ") {
			return
		}
		joined, last = joined+next.key, next
		for _, row := range s.rows[last.row+1:] {
			for _, whole := range row {
				if whole.key == joined && strings.Contains(whole.folded, " ") {
					add(whole.text(), it, ruleLetterhead, "one word a line")
					return
				}
			}
		}
	}
}

// secondLines finds the companies' lines in the head that go on with the name in the line above, which is printed in one line elsewhere or
// set in the same large letters, by that line: "Dr. Ada Wild & Partner" over "Rechtsanwälte OG".
func (s *sheet) secondLines() map[*item]*item {
	out := map[*item]*item{}
	for _, row := range s.rows {
		for _, it := range row {
			if !s.inHead(it) || s.legalForm.MatchString(it.folded) || !s.nameLike(it.text()) {
				continue
			}
			for _, next := range s.nearBelow(it) {
				if s.legalForm.MatchString(next.folded) && (s.oneLetterhead(it, next) || s.inOneLine(it.key+Key(s.firstPart(next.text())))) {
					out[next] = it
				}
			}
		}
	}
	return out
}

// oneLetterhead reports whether two lines are set in the same large letters from one left edge.
func (s *sheet) oneLetterhead(it, next *item) bool {
	const leading = 1.35
	return it.size >= larger*s.median && absFloat(it.size-next.size) < 0.2 && absFloat(it.x0-next.x0) < 1 && next.y-it.y < leading*it.size
}

// nearBelow is what stands in the next line of an item's text, with one left edge, right edge or middle, whatever stands beside it.
func (s *sheet) nearBelow(it *item) (out []*item) {
	const leading = 1.7
	for _, row := range s.rows[it.row+1:] {
		if row[0].page != it.page || row[0].y-it.y > leading*maxFloat(it.size, 7) {
			break
		}
		for _, below := range row {
			if sameEdge(below, it) && below.y > it.y {
				out = append(out, below)
			}
		}
	}
	return out
}

// inOneLine reports whether one item holds a name, in its comparable form.
func (s *sheet) inOneLine(key string) bool {
	return slices.ContainsFunc(s.rows, func(row []*item) bool {
		return slices.ContainsFunc(row, func(it *item) bool { return strings.Contains(it.key, key) })
	})
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
	if surname := s.surnameBelow(it); surname != nil && !buyers[it] {
		add(it.text()+" "+surname.text(), it, ruleLetterhead, "over two lines")
		return
	}
	next := s.wrapped(it)
	if next == nil {
		next = s.andBelow(it)
	}
	if next == nil || buyers[next] || s.buyersName(it.text()) ||
		s.labelsValue(it) || s.labelsValue(next) || first != it.text() || strings.Contains(it.folded, ":") ||
		s.titleAlone.MatchString(strings.Trim(it.folded, " .:")) {
		return
	}
	rest := s.firstPart(next.text())
	runs := s.person(first) && slices.Contains(strings.Fields(foldText(rest)), foldText(lastWord(first))) // "Jan Egger" over "Egger & Co KG"
	if runs || strings.HasPrefix(Key(rest), it.key) || s.formFirst(rest) {
		return // a mark over the name that begins with it, or over a whole name
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
	case s.legalForm.MatchString(foldText(rest)) && s.nameLike(s.cleanName(first)): // not a label over a name
		add(first+" "+rest, it, ruleLetterhead, "over two lines")
	}
}

// formFirst reports whether a name begins with its legal form, as in "SRL Lhoest & Fils": nothing before it is a part of it.
func (s *sheet) formFirst(name string) bool {
	loc := s.legalForm.FindStringIndex(foldText(name))
	if loc == nil || strings.TrimSpace(foldText(name)[:loc[0]]) != "" {
		return false
	}
	runes := []rune(name)
	return s.nameLike(strings.TrimSpace(string(runes[min(loc[1], len(runes)):])))
}

// labelsValue reports whether figures stand right of an item, in letters about as large: it is their label.
func (s *sheet) labelsValue(it *item) bool {
	right := s.right(it)
	return right != nil && hasDigit(right.folded) && it.size < larger*right.size
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
			if !s.addressBelow(it) || phrase(it.text()) && !s.legalForm.MatchString(it.folded) {
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

// sideColumn is what stands in a narrow column along the left edge of the first page, where it tells the tax id, and the account or
// register, of whom it names: the sender's, as designers set letterheads. In ordinary letters text begins at that edge, too.
func (s *sheet) sideColumn() []*item {
	const width, fewest = 1.0 / 3, 6
	var side []*item
	left, right := math.Inf(1), 0.0
	for _, row := range s.rows {
		if row[0].page == 1 {
			left = min(left, row[0].x0)
		}
	}
	for _, row := range s.rows {
		if it := row[0]; it.page == 1 && !it.aside && it.x0 < left+3 {
			side, right = append(side, it), max(right, it.x1)
		}
	}
	if len(side) < fewest || right-left > width*s.widths[1] {
		return nil
	}
	for _, row := range s.rows {
		for _, it := range row {
			if it.page == 1 && !it.aside && it.x0 >= left+3 && it.x0 < right {
				return nil // not a column of its own
			}
		}
	}
	tells := func(what func(string) bool) bool {
		return slices.ContainsFunc(side, func(it *item) bool { return what(it.folded) })
	}
	if !tells(s.withTaxID) || !tells(s.withAccount) && !tells(s.footMark.MatchString) {
		return nil
	}
	return side
}
