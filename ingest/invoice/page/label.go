package page

import (
	"math"
	"strings"
)

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
	if left := s.aside(it); len(said) < shortestLabel && left != nil {
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

// aside is what stands where a label on the left of an item does: the item before it in its row, or a text without figures in the
// line right above that begins nearer to it and has nothing behind it.
func (s *sheet) aside(it *item) *item {
	left := s.left(it)
	from := math.Inf(-1)
	if left != nil {
		from = left.x1
	}
	for r := it.row - 1; r >= max(0, it.row-2); r-- {
		row := s.rows[r]
		if row[0].page != it.page || it.y-row[0].y > 1.5*max(it.size, 7) {
			break
		}
		last := row[len(row)-1]
		if last.x0 > from && last.x0 <= it.x0+3 && hasLetters(last.folded) && !hasDigit(last.folded) {
			return last
		}
	}
	return left
}

// lower is the item in one of the next lines that another stands aside of.
func (s *sheet) lower(label *item) *item {
	for r := label.row + 1; r < len(s.rows) && r <= label.row+2; r++ {
		for _, it := range s.rows[r] {
			if s.aside(it) == label {
				return it
			}
		}
	}
	return nil
}
