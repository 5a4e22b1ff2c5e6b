package page

import (
	"slices"
	"strings"
	"unicode"
)

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
			if s.ofBank(first, it.folded) || s.endsList(it) {
				continue
			}
			switch {
			case near && company && it != id:
				add(s.withLineAbove(first, it), it, ruleIDBlock, "company")
			case company && it.col == 0 && !near && s.addressBelow(it) && s.endsAddress(id) && !s.tellsOfItself(it):
				continue // two columns: an addressee on the left
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

// withLineAbove is a name with the line above it, where it says itself no more than a trade and a legal form: "Hollmann Brandt" over
// "Rechtsanwälte PartG mbB".
func (s *sheet) withLineAbove(name string, it *item) string {
	const leading = 1.7
	first, _ := s.formIn(name)
	if first == nil || !s.trade.MatchString(strings.Trim(foldText(name)[:first[0]], " ,")) {
		return name
	}
	for r := it.row - 1; r >= 0 && s.rows[r][0].page == it.page; r-- {
		for _, above := range s.rows[r] {
			if it.y-above.y < leading*it.size && sameEdge(above, it) && absFloat(above.size-it.size) < 0.5 && !hasDigit(above.folded) &&
				!strings.Contains(above.folded, ":") && !s.legalForm.MatchString(above.folded) && s.nameLike(s.cleanName(above.text())) {
				return above.text() + " " + name
			}
		}
		if it.y-s.rows[r][0].y > leading*it.size {
			break
		}
	}
	return name
}

// endsList reports whether an item goes on with what the line above it lists, the members of a board say, and names no company.
func (s *sheet) endsList(it *item) bool {
	above := s.above(it)
	return above != nil && absFloat(above.x0-it.x0) < 1 && strings.HasSuffix(strings.TrimSpace(above.folded), ",") &&
		!s.legalForm.MatchString(it.folded)
}

// tellsOfItself reports whether a name's block says how to reach or pay who it is of, or where he is registered.
func (s *sheet) tellsOfItself(name *item) bool {
	return slices.ContainsFunc(s.block(name), func(it *item) bool {
		return withContact(it.folded) || s.withAccount(it.folded) || s.footMark.MatchString(it.folded)
	})
}

// endsAddress reports whether an item goes on with an address in its column.
func (s *sheet) endsAddress(it *item) bool {
	above := s.above(it)
	return above != nil && sameEdge(above, it) && (s.postalCity.MatchString(above.folded) || s.street.MatchString(above.folded))
}

// imprint reads the name at the beginning of a line that goes on with the number at court, tax id, account or address of
// its owner, wherever it stands: real letters print such a line below the text as often as at the foot.
func (s *sheet) imprint(buyers map[*item]bool, add addName) {
	for _, row := range s.rows {
		for _, it := range row {
			first := s.throughItsForm(s.sentencePart(s.firstPart(it.text())))
			rest := it.folded[min(len(it.folded), len([]rune(first))):]
			how, mark := s.identifiedBy(rest)
			if buyers[it] || how == "" || s.goesOnSentence(it) || s.ofBank(first, it.folded) ||
				s.buyerWord.MatchString(it.folded[:len(it.folded)-len(rest)+mark]) {
				continue
			}
			add(first, it, ruleImprint, how)
		}
	}
}

// goesOnSentence reports whether an item goes on in small letters with what the long line above it says: what it begins with is no name.
func (s *sheet) goesOnSentence(it *item) bool {
	above := s.above(it)
	return unicode.IsLower(it.runes[0]) && above != nil && absFloat(above.x0-it.x0) < 3 && len(above.folded) > maxLabelled/2 &&
		!strings.HasSuffix(strings.TrimSpace(above.folded), ".")
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
					if aligned(other, it) && !buyers[other] && !s.endsList(other) {
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
		if name := s.firstPart(it.text()); !buyers[it] && s.legalForm.MatchString(foldText(name)) && s.particulars(it) {
			add(name, it, footRule, "")
			continue
		}
		if it.y < s.heights[it.page-1]*0.85 || buyers[it] || !s.addressBelow(it) {
			continue
		}
		for r := max(0, it.row-3); r <= min(it.row+4, len(s.rows)-1); r++ {
			if s.marked(s.rows[r], it) {
				add(s.firstPart(s.withFormBelow(it)), it, footRule, "")
				break
			}
		}
	}
}

// footRule is the rule of names over an address or particulars at the foot.
const footRule = "block at the foot"

// particulars reports whether an item below the sums heads an address with a tax id and an account, as only who issues the invoice prints
// them.
func (s *sheet) particulars(it *item) bool {
	tells := s.tellsOf(it)
	return tells[tieID] && tells[tieAccount] && s.addressBelow(it) && s.belowSums(it)
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
