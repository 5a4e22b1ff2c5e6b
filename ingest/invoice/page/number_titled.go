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
