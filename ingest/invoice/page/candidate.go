package page

import (
	"fmt"
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/model"
)

// candidate is a value that a field may have, and what is seen of it.
type candidate struct {
	value    string
	key      string // its comparable form
	at       *item
	from     int    // where it begins there
	rule     string // what announces it
	features []string
}

// noLabel is the rule of candidates that no known label announces.
const noLabel = "by its place"

// seen adds a feature if it is really there.
func (c *candidate) seen(really bool, feature string) {
	if really {
		c.features = append(c.features, feature)
	}
}

// seenOnce adds a feature unless it was seen.
func (c *candidate) seenOnce(feature string) { c.seen(!slices.Contains(c.features, feature), feature) }

// maxCandidates bounds the candidates for one field.
const maxCandidates = 300

// candidates are those of one field; what stands in one place is one of them, however many labels announce it.
type candidates struct {
	all   []*candidate
	known map[place]*candidate
}

// at returns the candidate that stands in an item from an offset on; nil when there are too many.
func (c *candidates) at(it *item, from int, value, key string) *candidate {
	where := place{item: it, from: from}
	if found := c.known[where]; found != nil {
		return found
	}
	if len(c.all) == maxCandidates {
		return nil
	}
	if c.known == nil {
		c.known = map[place]*candidate{}
	}
	found := &candidate{value: value, key: key, at: it, from: from, rule: noLabel}
	c.known[where] = found
	c.all = append(c.all, found)
	return found
}

// outdone marks the candidates without a good label where another has one.
func outdone(all []*candidate, labels ...string) {
	good := func(c *candidate) bool { return slices.Contains(labels, c.rule) }
	if slices.ContainsFunc(all, good) {
		for _, c := range all {
			c.seen(!good(c), "another has a good label")
			c.seen(!good(c) && c.rule == noLabel, "no label, while another has a good one")
		}
	}
}

// choose weighs the candidates for a field by what was learnt, and keeps them for who wants to see them all.
func (s *sheet) choose(field string, all []model.Candidate) model.Choice {
	s.considered[field] = all
	f := s.weights[field]
	return f.Choose(all)
}

// decide chooses the value of a field among its candidates, and notes the others as possible.
func (s *sheet) decide(field string, all []*candidate) (*fields.Text, *candidate) {
	weighed := make([]model.Candidate, len(all))
	for i, c := range all {
		weighed[i] = model.Candidate{Key: c.key, Features: c.features, Announced: c.rule != noLabel}
	}
	choice := s.choose(field, weighed)
	if choice.Index < 0 {
		return nil, nil
	}
	for i, c := range all {
		s.couldBe(field, c.value, c.at, c.rule, choice.Shares[i])
	}
	c := all[choice.Index]
	return &fields.Text{Value: c.value, Evidence: s.evidence(c.at, c.rule, choice.Probability)}, c
}

// lookAround adds what is seen of a value between two offsets of an item: its place, and, where no known label announces
// it, the words beside and above it.
func (s *sheet) lookAround(c *candidate, start, end int) {
	it := c.at
	before, behind := partAround(it.folded, start, end)
	if s.copyMark.MatchString(behind) {
		behind = "" // "FS-517/26 original"
	}
	c.seen(hasLetters(before), "words before it")
	c.seen(hasLetters(behind), "words behind it")
	c.seen(strings.Trim(before, " :.#") == "" && strings.Trim(behind, " .,") == "", "alone in its cell")
	left, above := s.left(it), s.above(it)
	beside := left != nil && hasLetters(left.folded)
	c.seen(!hasLetters(before) && beside && hasDigit(left.folded), "figures on the left")
	c.seen(!hasLetters(before) && !beside, "no words on the left")
	c.seen(above != nil && hasDigit(above.folded), "figures above")
	if c.rule == noLabel {
		switch {
		case hasLetters(before):
			c.words("before", before)
		case beside:
			c.words("left", left.folded)
		}
		if above != nil {
			c.words("above", above.folded)
		}
	}
	median := s.median
	c.seen(it.size >= larger*median, "large")
	c.seen(it.size < 0.9*median, "small")
	c.seen(it.page > 1, "later page")
	c.seen(true, fmt.Sprintf("in tenth %d of the page", int(10*it.y/max(s.heights[it.page-1], 1))))
	c.seen(true, fmt.Sprintf("in third %d of the width", int(3*it.x0/max(s.widths[it.page], 1))))
	c.seen(true, fmt.Sprintf("%d cells in its row", min(len(s.rows[it.row]), 6)))
}

// partAround is what stands before and behind a value in its part of a line: "Kelt: 2026. 03. 03. | Teljesítés: 2026. 02. 28." has two.
func partAround(folded string, start, end int) (before, behind string) {
	before, behind = folded[:start], folded[end:]
	for _, mark := range []string{" | ", " ~ "} { // "·" and "•" are folded so
		if i := strings.LastIndex(before, mark); i >= 0 {
			before = before[i+len(mark):]
		}
		behind, _, _ = strings.Cut(behind, mark)
	}
	return before, behind
}

// above is the nearest item with letters right above an item, in its column.
func (s *sheet) above(it *item) *item {
	for r := it.row - 1; r >= max(0, it.row-2); r-- {
		for _, other := range s.rows[r] {
			if other.page == it.page && aligned(other, it) && hasLetters(other.folded) && it.y-other.y < 2.5*max(it.size, 7) {
				return other
			}
		}
	}
	return nil
}

// maxWords is how many of the words nearest to a value are looked at, and affix how much of their beginnings and ends:
// enough to know them in other compounds and languages.
const (
	maxWords = 4
	affix    = 4
)

// words adds the beginnings and ends of the last words of a text.
func (c *candidate) words(where, folded string) {
	all := strings.FieldsFunc(folded, func(r rune) bool { return r < 'a' || r > 'z' })
	for _, w := range all[max(0, len(all)-maxWords):] {
		c.seen(len(w) > 1, where+" "+w[:min(len(w), affix)]+"-")
		c.seen(len(w) > affix+1, where+" -"+w[max(0, len(w)-affix):])
	}
}
