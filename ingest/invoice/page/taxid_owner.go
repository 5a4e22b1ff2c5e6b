package page

import (
	"slices"
	"strings"
)

// Whose block of lines a tax id stands in.

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
			if s.labelsSeller(c) {
				return true
			}
			if s.labelsBuyer(c) && !s.contact.MatchString(c.folded) {
				return false
			}
		}
	}
	return false
}

// amongBuyersFields reports whether an item stands in rows of several labels with their values, as programs show e-invoices, under a
// heading that names the buyer.
func (s *sheet) amongBuyersFields(it *item) bool {
	const fewest, rows = 4, 10 // cells of such a row; rows of a party
	if len(s.rows[it.row]) < fewest {
		return false
	}
	for r := it.row - 1; r >= max(0, it.row-rows) && s.rows[r][0].page == it.page; r-- {
		heading := s.rows[r][0]
		if len(s.rows[r]) > 1 || strings.Contains(heading.folded, ":") || heading.x0 > s.rows[it.row][0].x0+3 {
			continue
		}
		switch {
		case s.labelsBuyer(heading):
			return true
		case s.labelsSeller(heading):
			return false
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

// owned is how much more or less likely an id is the supplier's by whose block it stands in. form: his name has a legal form; else it
// may be a mark that heads the letter, and the company behind it stands at its foot.
func (s *sheet) owned(it *item, key string, sure, form bool) float64 {
	switch s.blockOwner(it, key, sure) {
	case ownSeller:
		return 0.05
	case ownBlock:
		return -0.25
	case ownOther:
		if form || !s.imprintOf(it) {
			return -0.15
		}
	}
	return 0
}

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
			if c.names(key) && other == ownOther && len(splitReturn(c.text())) > 2 {
				return ownOther // the sender's line over another's address
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
	label := strings.HasSuffix(top.folded, ":") // of a number that stands apart from it
	if top == it || label || it.y > s.heights[it.page-1]/2 || !s.addressBelow(top) || !s.nameLike(s.cleanName(s.firstPart(top.text()))) {
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
