package page

// fromAndTo are the two short labels over the parties, "From" and "To", "De" and "Para", in one row or in one column: either word alone is
// part of names and sentences. Both are nil where there is no such pair, or more.
func (s *sheet) fromAndTo() (from, to *item) {
	const half = 0.5
	for _, row := range s.rows {
		for _, it := range row {
			switch {
			case it.page > 1 || it.y > half*s.heights[0] || len(s.below(it, 3)) == 0:
			case s.fromWhom.MatchString(it.folded):
				if from != nil {
					return nil, nil
				}
				from = it
			case to == nil && from != nil && s.toWhom.MatchString(it.folded) && (it.row == from.row || absFloat(it.x0-from.x0) < 3):
				to = it
			}
		}
	}
	if to == nil {
		return nil, nil
	}
	return from, to
}

// labelsSeller reports whether an item is a label of who sells.
func (s *sheet) labelsSeller(it *item) bool {
	return it == s.from || s.sellerLabel.MatchString(it.folded)
}

// labelsBuyer reports whether an item is a label of who buys.
func (s *sheet) labelsBuyer(it *item) bool { return it == s.to || s.buyerLabel.MatchString(it.folded) }
