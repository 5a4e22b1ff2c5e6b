package page

import (
	"slices"
	"strings"
)

// signers adds the companies for which a letter is signed, and the persons who sign it under their own head, however that is written.
func (s *sheet) signers(buyers map[*item]bool, add addName) {
	for _, it := range s.signatures {
		name := strings.Join(strings.Fields(s.firstPart(it.text())), " ") // as it is folded
		if loc := s.ownHand.FindStringIndex(foldText(name)); loc != nil {
			name = string([]rune(name)[:loc[0]])
		}
		if s.legalForm.MatchString(foldText(name)) && !buyers[it] {
			add(name, it, ruleSigned, "")
		}
		if !strings.Contains(name, " ") { // a surname alone
			continue
		}
		for _, row := range s.rows[:it.row] {
			for _, head := range row {
				if s.inHead(head) && head.key != it.key && s.signs(named{name: head.text(), key: head.key}, it) {
					add(name, head, ruleSigned, "in the head")
				}
			}
		}
	}
}

// closings finds the lines below how letters close.
func (s *sheet) closings() (out []*item) {
	const lines, gap, most = 3, 6, 20 // lines of a signature, lines that it needs to be written by hand, of all
	for _, row := range s.rows {
		for _, closing := range row {
			if !s.closing.MatchString(closing.folded) || len(out) > most {
				continue
			}
			last, n := closing, 0
			for _, below := range s.rows[closing.row+1:] {
				if below[0].page != closing.page || below[0].y-last.y > gap*maxFloat(last.size, 7) || n == lines {
					break
				}
				if at := slices.IndexFunc(below, func(it *item) bool { return sameEdge(it, closing) }); at >= 0 {
					out, last, n = append(out, below[at]), below[at], n+1
				}
			}
		}
	}
	return out
}

// signs reports whether a signature is a name's: it begins with it, or, of a person, is the last word of it or ends with the last two,
// whatever titles stand before them, and that it is by his own hand behind them.
func (v *vocabulary) signs(c named, it *item) bool {
	const shortest = 5 // letters
	words := strings.Fields(c.name)
	key := it.key
	if loc := v.ownHand.FindStringIndex(it.folded); loc != nil {
		key = compact(it.folded[:loc[0]])
	}
	switch {
	case len(key) < shortest || len(c.key) < shortest:
		return false
	case strings.HasPrefix(key, c.key):
		return true
	case c.form || len(words) < 2:
		return false
	}
	return strings.HasSuffix(c.key, key) || strings.HasSuffix(key, Key(strings.Join(words[len(words)-2:], " ")))
}
