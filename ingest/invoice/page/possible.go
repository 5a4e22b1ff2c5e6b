package page

import (
	"cmp"
	"math"
	"slices"

	"tallyhouse/ingest/invoice/fields"
)

// possibility is a value that a field could have had.
type possibility struct {
	value string // of an amount: its minor units
	item  *item
	rule  string
	score float64
}

// couldBe notes what a field could have been.
func (s *sheet) couldBe(field, value string, at *item, rule string, score float64) {
	const most = 100 // more are noise
	if len(s.possible[field]) < most {
		s.possible[field] = append(s.possible[field], possibility{value, at, rule, score})
	}
}

// others are what the fields could have been but for their values, the likeliest first, each value once. Nothing of
// them is certain, or it would be the value.
func (s *sheet) others(values map[string]string) []fields.Possible {
	var out []fields.Possible
	for _, field := range fields.Names() {
		seen := map[string]bool{values[field]: true}
		all := s.possible[field]
		slices.SortStableFunc(all, func(a, b possibility) int { return cmp.Compare(b.score, a.score) })
		n := 0
		for _, p := range all {
			if seen[p.value] || n == fields.MaxPossible {
				continue
			}
			seen[p.value] = true
			n++
			below := math.Max(0, math.Min(p.score, fields.Certain-0.01))
			out = append(out, fields.Possible{Field: field, Value: p.value, Evidence: s.evidence(p.item, p.rule, below)})
		}
	}
	return out
}

// Letters stand so far above and below their baseline, in parts of their size.
const ascent, descent = 0.8, 0.22

// box is where an item is on its page; nil where the text runs across it.
func (s *sheet) box(it *item) *fields.Box {
	p := s.pages[it.page]
	if p.Turned || it.aside || !(p.Width > 0 && p.Height > 0) {
		return nil
	}
	part := func(v, of float64) float64 { return math.Round(math.Max(0, math.Min(v/of, 1))*1e4) / 1e4 }
	return &fields.Box{
		Left: part(it.x0-p.Left, p.Width), Right: part(it.x1-p.Left, p.Width),
		Top: part(it.y-ascent*it.size, p.Height), Bottom: part(it.y+descent*it.size, p.Height),
	}
}
