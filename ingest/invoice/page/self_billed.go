package page

import "slices"

// Where the buyer issues the document for his supplier (§ 14 (2) UStG, Article 224 of the VAT directive), the paper is his: its head, the
// sender's line and the imprint name him, and the letter is addressed to the supplier.

// ruleAddressee finds whom such a document is for, and so who supplied.
const ruleAddressee = "addressee of a self-billed invoice"

// addressees reads the names over the addresses in the window of a self-billed document.
func (s *sheet) addressees(add addName) {
	if !s.saysSelfBilled() {
		return
	}
	for _, row := range s.rows {
		for _, it := range row {
			if s.inWindow(it) && s.addressBelow(it) && !returnSep.MatchString(it.text()) && !s.wordOfInvoices(it.folded) {
				add(s.withFormBelow(it), it, ruleAddressee, "")
			}
		}
	}
}

// addressed is the one name over an address in the window that nothing ties to who issued the document, where words say that the buyer
// did: the one that a seller's label names, if it does. Nil where there is none, or several.
func (s *sheet) addressed(all []named) *named {
	if !s.saysSelfBilled() {
		return nil
	}
	addressee := func(whole string) bool {
		return slices.ContainsFunc(all, func(c named) bool { return c.rule == ruleAddressee && c.whole == whole })
	}
	labelled := slices.IndexFunc(all, func(c named) bool { return c.ties[tieLabel] })
	if labelled >= 0 {
		if c := &all[labelled]; c.rule == ruleSeller && addressee(c.whole) {
			return c
		}
		return nil
	}
	var only *named
	for i := range all {
		c := &all[i]
		if c.rule != ruleAddressee || c.ties[tieReturn] || c.ties[tieFoot] || c.ties[tieDomain] {
			continue
		}
		if only != nil && only.whole != c.whole && only.it.row < c.it.row {
			continue // a person or department below the name
		}
		only = c
	}
	return only
}

// underBuyerLabel reports whether a label of who is billed stands right above an item: "Rechnung an".
func (s *sheet) underBuyerLabel(it *item) bool {
	const leading = 2.2
	for r := it.row - 1; r >= 0 && r >= it.row-2; r-- {
		for _, above := range s.rows[r] {
			if above.page == it.page && absFloat(above.x0-it.x0) < 3 && it.y-above.y < leading*maxFloat(it.size, 7) {
				return s.buyerLabel.MatchString(above.folded)
			}
		}
	}
	return false
}

// ofSelfBilled gives the ids of a self-billed document to whose they are: "your VAT id" and one in the addressee's block are the
// supplier's, all others the buyer's. Labels of sellers say more.
func (s *sheet) ofSelfBilled(all []identified) {
	if !s.saysSelfBilled() || slices.ContainsFunc(all, func(c identified) bool { return s.underSellerLabel(c.it) }) {
		return
	}
	const suppliers = 0.9
	for i := range all {
		c := &all[i]
		top := s.blockTop(c.it)
		switch {
		case s.suppliersID(s.announcement(c.it, c.id.start, c.id.end)), s.inWindow(top) && top != c.it && s.addressBelow(top):
			c.score = suppliers
		default:
			c.score = ofBuyer
		}
	}
}

// fromAddress is how sure it is that whom a self-billed document is addressed to is the supplier.
const fromAddress = 0.9

// saysSelfBilled reports whether words say that the buyer issued the document for the supplier. Where a label says that the addressee is
// billed they speak of something else: "Für Altmetall: Gutschriftsverfahren".
func (s *sheet) saysSelfBilled() bool {
	among := func(what func(*item) bool) bool {
		return slices.ContainsFunc(s.rows, func(row []*item) bool { return slices.ContainsFunc(row, what) })
	}
	return among(func(it *item) bool { return s.selfBilling.MatchString(it.folded) }) &&
		!among(func(it *item) bool { return s.inWindow(it) && s.underBuyerLabel(it) && s.addressBelow(it) })
}

// suppliersID reports whether a label says that an id is the supplier's: "Ihre USt-IdNr.", "USt-IdNr. des Leistenden".
func (s *sheet) suppliersID(label string) bool {
	return s.yours.MatchString(label) || s.sellers.MatchString(label)
}
