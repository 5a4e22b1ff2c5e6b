package page

import (
	"slices"
	"strings"
)

// Own names the company that receives the invoices: never the supplier.
type Own struct {
	Names  []string
	VATIDs []string
}

func (o Own) isName(name string) bool {
	n := compact(foldText(name))
	for _, own := range o.Names {
		c := compact(foldText(own))
		if len(c) >= 4 && n != "" && (strings.Contains(n, c) || len(n) >= 5 && strings.Contains(c, n)) {
			return true
		}
	}
	return false
}

func (o Own) isID(id string) bool {
	for _, own := range o.VATIDs {
		if compact(own) != "" && (compact(own) == compact(id) || strings.HasSuffix(compact(own), compact(id)) &&
			len(compact(id)) >= 8) {
			return true
		}
	}
	return false
}

// buyers marks the items that belong to the recipient: under or beside a label
// that names him, and the address window under a return-address line.
func (s *sheet) buyers() map[*item]bool {
	out := map[*item]bool{}
	for _, row := range s.rows {
		for _, it := range row {
			s.markOwner(it, out)
			if s.buyerLine(it) {
				out[it] = true
				continue
			}
			if s.labelsBuyer(it) && !s.labelsSeller(it) {
				if s.contact.MatchString(it.folded) && s.underSellerLabel(it) {
					continue
				}
				out[it] = true
				if s.contact.MatchString(it.folded) && s.amongParticulars(it) {
					out[s.right(it)] = true
					continue
				}
				// "Contact: Mrs Miller, 0123 456" is a line of whatever block it stands in, "Customer: D 2319" one of particulars.
				if !s.contactLine.MatchString(it.folded) && !s.codeBeside(it) {
					s.markBlock(it, out)
				}
			}
		}
	}
	// "z. Hd." stands under the recipient's name, "Frau Anna Berger" under or over that of her company.
	for _, row := range s.rows {
		for _, it := range row {
			if !s.attention.MatchString(it.folded) && !s.polite(it) {
				continue
			}
			for r := it.row - 1; r >= max(0, it.row-3); r-- {
				for _, above := range s.rows[r] {
					if above.page == it.page && absFloat(above.x0-it.x0) < 3 &&
						it.y-above.y < 1.9*maxFloat(it.size, 7) {
						out[above] = true
					}
				}
			}
			out[it] = true
			s.restOfAddress(it, out)
		}
	}
	return out
}

// polite reports whether an item is a person's name behind a word of politeness, as addresses have it and letterheads don't, over the rest
// of an address that tells no way to reach the person.
func (s *sheet) polite(it *item) bool {
	loc := s.honorific.FindStringIndex(it.folded)
	if loc == nil || !s.person(string(it.runes[loc[1]:])) || it.y > s.heights[it.page-1]/2 || !s.addressBelow(it) {
		return false
	}
	return !slices.ContainsFunc(s.block(it), func(b *item) bool { return withContact(b.folded) || s.withAccount(b.folded) })
}

// restOfAddress marks the lines right below one that says whose attention an address is for, with its left edge.
func (s *sheet) restOfAddress(from *item, out map[*item]bool) {
	const leading = 1.9
	last := from
	for r := from.row + 1; r < len(s.rows) && s.rows[r][0].page == from.page && s.rows[r][0].y-last.y < leading*maxFloat(last.size, 7); r++ {
		for _, it := range s.rows[r] {
			if absFloat(it.x0-from.x0) < 3 && !s.labelsSeller(it) {
				out[it], last = true, it
			}
		}
	}
}

// amongParticulars reports whether a label and its value stand in a table of such: below others in the same two columns.
func (s *sheet) amongParticulars(it *item) bool {
	right := s.right(it)
	if right == nil || it.row == 0 {
		return false
	}
	above := s.rows[it.row-1]
	return it.col+1 < len(above) && above[0].page == it.page && it.y-above[0].y < 2.9*maxFloat(it.size, 7) &&
		absFloat(above[it.col].x0-it.x0) < 3 && absFloat(above[it.col+1].x0-right.x0) < 3
}

// markOwner marks the lines of an address above a tax id that is said to be the buyer's: "NIF do cliente: 584532407", "Ihre UID:
// ATU12345675".
func (s *sheet) markOwner(it *item, out map[*item]bool) {
	id := s.vatLabel.FindStringIndex(it.folded)
	if id == nil {
		return
	}
	yours := s.yours.FindStringIndex(it.folded[:id[0]])
	called := id[0] == 0 && s.buyerWord.MatchString(it.folded) || yours != nil && yours[0] == 0 && !s.saysSelfBilled()
	if !called {
		return
	}
	block := []*item{it}
	for r := it.row - 1; r >= max(0, it.row-maxBlock); r-- {
		last := block[len(block)-1]
		if s.rows[r][0].page != it.page || last.y-s.rows[r][0].y > 2.9*maxFloat(last.size, 7) {
			break
		}
		if !slices.ContainsFunc(s.rows[r], (*item).words) {
			break // a line across
		}
		for _, above := range s.rows[r] {
			if absFloat(above.x0-it.x0) < 3 {
				block = append(block, above)
			}
		}
	}
	if s.addressBelow(block[len(block)-1]) {
		for _, b := range block {
			out[b] = true
		}
	}
}

// buyerLine reports whether an item is an address in one line behind a label of who buys: "Customer Lofts Ltd, 7 Mill Lane, Bath".
func (s *sheet) buyerLine(it *item) bool {
	const fewest = 3 // parts
	parts := splitReturn(it.text())
	return len(parts) >= fewest && s.buyerPhrase.MatchString(it.folded) && slices.ContainsFunc(parts[1:], func(p string) bool {
		folded := foldText(p)
		return s.postalCity.MatchString(folded) || s.street.MatchString(folded)
	})
}

// withoutBuyers leaves out names that a label gives to who buys, wherever else they stand, unless a seller's label names them, too.
func (s *sheet) withoutBuyers(all []named) []named {
	called := map[string]bool{}
	for _, row := range s.rows {
		for _, it := range row {
			called[Key(s.cleanName(s.calledBuyer(it)))] = true
		}
	}
	for _, c := range all {
		if c.rule == ruleSeller {
			called[c.key] = false
		}
	}
	return slices.DeleteFunc(all, func(c named) bool { return called[c.key] })
}

// calledBuyer is the name that a label of who buys announces, behind it or on its right; "" where it announces none. A "recipient" beside
// an account, or among the lines that it ends, is whom to pay.
func (s *sheet) calledBuyer(it *item) string {
	if s.besideAnAccount(it) || s.aboveItsAccount(it) {
		return ""
	}
	label := s.buyerPhrase.FindStringIndex(it.folded)
	alone := label == nil && strings.HasSuffix(it.folded, ":") && s.buyerLabel.MatchString(it.folded)
	switch r := s.right(it); {
	case label != nil && s.buyerWord.MatchString(it.folded[:label[1]-1]):
		return s.throughForm(s.firstPart(string(it.runes[label[1]-1:])))
	case alone && r != nil && s.buyerWord.MatchString(it.folded):
		return s.throughForm(r.text())
	}
	return ""
}

// besideAnAccount reports whether an account is printed in the row of an item, or in the next one above or below.
func (s *sheet) besideAnAccount(it *item) bool {
	return slices.ContainsFunc(s.rows[max(0, it.row-1):min(len(s.rows), it.row+2)], func(row []*item) bool {
		return slices.ContainsFunc(row, func(near *item) bool { return near.page == it.page && s.withAccount(near.folded) })
	})
}

// aboveItsAccount reports whether an account follows in the lines right below an item, each with its label, as the bank's.
func (s *sheet) aboveItsAccount(it *item) bool {
	const lines, gap = 3, 2.2
	last := it
	for range lines {
		below := s.below(last, gap)
		at := slices.IndexFunc(below, func(b *item) bool { return absFloat(b.x0-it.x0) < 3 })
		if at < 0 {
			return false
		}
		last = below[at]
		if s.withAccount(last.folded) {
			return true
		}
		if !strings.Contains(last.folded, ":") { // an address
			return false
		}
	}
	return false
}

// maxBlock is the most lines a party's block has.
const maxBlock = 9

// markBlock marks what stands right of a party's label and in its column below,
// until another label of a party, a gap, or the items.
func (s *sheet) markBlock(from *item, out map[*item]bool) {
	if r := s.right(from); r != nil && r.y == from.y && !s.labelsSeller(r) && r.x0-from.x1 < 190 {
		rest := strings.TrimRight(from.folded, " ")
		if strings.HasSuffix(rest, ":") || !s.columnBelow(from) {
			out[r] = true
			s.column(r, out)
		}
	}
	s.column(from, out)
}

// codeBeside reports whether what stands right of a label, in its line, has figures and is no name.
func (s *sheet) codeBeside(label *item) bool {
	r := s.right(label)
	return r != nil && r.y == label.y && hasDigit(r.folded) && !s.nameLike(s.cleanName(r.text()))
}

// columnBelow reports whether something stands close under an item.
func (s *sheet) columnBelow(it *item) bool {
	return len(s.below(it, 1.6)) > 0
}

func (s *sheet) column(from *item, out map[*item]bool) {
	last := from
	for r, n := from.row+1, 0; r < len(s.rows) && n < maxBlock; r++ {
		row := s.rows[r]
		apart := (row[0].y - last.y) / maxFloat(last.size, 7)
		if row[0].page != from.page || apart > 2.9 && !s.tellsBehindGap(row, from, apart) {
			return
		}
		for _, it := range row {
			flush := absFloat(it.x1-from.x1) < 3 // lines may end below one another
			if !flush && (it.x0 < from.x0-12 || it.x0 > from.x0+60 && !aligned(from, it)) {
				continue
			}
			if s.labelsSeller(it) || s.titleAlone.MatchString(strings.Trim(it.folded, " .:")) {
				return
			}
			out[it] = true
			for _, close := range row[it.col+1:] {
				if s.lineStart(close) == s.lineStart(it) {
					out[close] = true
				}
			}
			if flush || it.x0-from.x0 < 12 || aligned(from, it) {
				last = it
			}
			n++
			break
		}
	}
}

// tellsBehindGap reports whether a row behind a gap below an address goes on with its owner's tax id, or the number of a register above it,
// under a label with the seller's beside it. Below an address alone the sender's may stand.
func (s *sheet) tellsBehindGap(row []*item, label *item, apart float64) bool {
	const most = 4.5 // lines
	return apart <= most && slices.ContainsFunc(s.rows[label.row], s.labelsSeller) && slices.ContainsFunc(row, func(it *item) bool {
		next := s.lineBelow(it) // below the number of a register
		tells := s.withTaxID(it.folded) || s.blockLabel.MatchString(it.folded) && next != nil && s.withTaxID(next.folded)
		return absFloat(it.x0-label.x0) < 1 && tells
	})
}

func maxFloat(a, b float64) float64 {
	if a > b {
		return a
	}
	return b
}

func absFloat(f float64) float64 {
	if f < 0 {
		return -f
	}
	return f
}
