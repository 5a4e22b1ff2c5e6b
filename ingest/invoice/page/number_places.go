package page

import (
	"math"
	"slices"
	"strings"
)

// numberPlaces lists where the number of a label may stand: where values do, at the beginning of the next line where the label ends a line
// of text, above it, as forms are filled in, where nothing else holds one, and a line lower on its right.
func (s *sheet) numberPlaces(f found) []place {
	all := s.places(f)
	if len(all) == 0 || all[0].item != f.item {
		if next := s.nextLine(f.item); next != nil && s.right(f.item) == nil {
			return append([]place{{next, 0, "behind"}}, all...)
		}
		if above := s.filledIn(f); above != nil {
			return append(all, place{above, 0, "above"})
		}
		if lower := s.lower(f.item); lower != nil && !slices.ContainsFunc(all, func(p place) bool { return p.item == lower }) {
			return append([]place{{lower, 0, "beside"}}, all...)
		}
	}
	return all
}

// filledIn is the item right above a label of its own, with its left or right edge and not smaller, where what else could be its value has
// no figures.
func (s *sheet) filledIn(f found) *item {
	label := f.item
	if label.row == 0 || !f.label.below {
		return nil
	}
	lower := math.Inf(1) // where the next text below is
	for _, p := range s.places(f) {
		switch {
		case !hasDigit(p.item.folded):
		case p.item.row == label.row || p.where == "beside":
			return nil
		default:
			lower = min(lower, p.item.y-label.y)
		}
	}
	for _, above := range s.rows[label.row-1] {
		if label.y-above.y >= lower {
			continue
		}
		edge := absFloat(above.x0-label.x0) < 3 || absFloat(above.x1-label.x1) < 3
		if above.page == label.page && edge && above.size >= label.size && label.y-above.y < 2.2*maxFloat(above.size, 7) {
			return above
		}
	}
	return nil
}

// dayBehind reports whether a day stands behind an offset of an item, behind a short word or a place: "FAKTURA 7, Kraków, dnia 10.6.2026".
func (s *sheet) dayBehind(it *item, end int) bool {
	const short = 12
	return slices.ContainsFunc(it.dates, func(d date) bool {
		if d.start < end {
			return false
		}
		place, behindComma := strings.CutPrefix(it.folded[end:d.start], ", ")
		return d.start-end < short || behindComma && s.placeAndDate.MatchString(place)
	})
}
