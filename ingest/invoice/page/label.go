package page

import "strings"

const (
	// shortestLabel leaves out the codes of currencies.
	shortestLabel = 4
	longestLabel  = 60
)

// label is the words that announce the figures of an item, in small letters alone: before them, else on their left, else above
// them; "" where there are neither figures nor words.
func (s *sheet) label(it *item) string {
	if !hasDigit(it.folded) {
		return ""
	}
	said := letters(it.folded[:strings.IndexFunc(it.folded, isFigure)])
	if left := s.left(it); len(said) < shortestLabel && left != nil {
		said = letters(left.folded)
	}
	if above := s.above(it); len(said) < shortestLabel && above != nil {
		said = letters(above.folded)
	}
	if len(said) < shortestLabel {
		return ""
	}
	return said[:min(len(said), longestLabel)]
}

func isFigure(r rune) bool { return r >= '0' && r <= '9' }

func letters(folded string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, folded)
}
