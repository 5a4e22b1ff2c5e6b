package page

import (
	"slices"
	"strings"
)

// byTitleAlone is the one number that stands where a title's does, behind it in its line or alone in the cell right below; nil where two
// do, or a plain label announces another. Months and years are none.
func (s *sheet) byTitleAlone(all []*candidate) (own *candidate) {
	const fewest = 3 // figures
	for _, c := range all {
		if c.rule == numberLabel {
			return nil
		}
		behind := slices.Contains(c.features, titleBefore+" behind, at its beginning")
		below := slices.Contains(c.features, titleBefore+" below 0") && wholeNumber(c.at, c.value)
		period := monthOfYear.MatchString(c.value) || bareYear(c.value) || s.looksLikeDate(c.value)
		figures := len(c.key) - len(letters(strings.ToLower(c.key)))
		if !behind && !below || c.rule != titleBefore || period || figures < fewest {
			continue
		}
		if own != nil && own.key != c.key {
			return nil
		}
		own = c
	}
	return own
}

// labelledBeside is a number that a plain label announces, where what stands behind the title is a month: "Vorschreibung 12/2026".
func labelledBeside(c *candidate, all []*candidate) *candidate {
	if c.rule != titleBefore || !monthOfYear.MatchString(c.value) {
		return nil
	}
	if i := slices.IndexFunc(all, func(o *candidate) bool { return o.rule == numberLabel && o.key != c.key }); i >= 0 {
		return all[i]
	}
	return nil
}

// askedFor is the one number whose plain label is what a sentence asks to quote when paying: "Kassenzeichen: 5.0441", "unter Angabe des
// Kassenzeichens". Nil where a label of an invoice's number announces another.
func (s *sheet) askedFor(all []*candidate) (own *candidate) {
	const shortest = 5 // letters of such a label
	for _, c := range all {
		if c.rule == numberLabel || c.rule == titleNumber {
			return nil
		}
		start, end := c.span()
		label := letters(s.announcement(c.at, start, end))
		if c.rule != plainNumber || len(label) < shortest || s.byReference(c) || !s.quotes(label, c.at) {
			continue
		}
		if own != nil && own.key != c.key {
			return nil
		}
		own = c
	}
	return own
}

// quotes reports whether words other than an item's ask to quote what a label names.
func (s *sheet) quotes(label string, own *item) bool {
	return slices.ContainsFunc(s.rows, func(row []*item) bool {
		return slices.ContainsFunc(row, func(it *item) bool {
			asked := s.quoting.FindStringIndex(it.folded)
			return it != own && asked != nil && strings.Contains(letters(it.folded[asked[1]:]), label)
		})
	})
}
