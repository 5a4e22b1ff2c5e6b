package words

import (
	"regexp/syntax"
	"slices"
)

// shortestNeed is how long each literal must be that a match needs: a single letter is in nearly every text.
const shortestNeed = 2

// speller spells out expressions. It remembers them: the alternatives of an expression have most of it in common.
type speller struct {
	spelled map[*syntax.Regexp][]string
	needed  map[*syntax.Regexp][]string
}

func newSpeller() *speller {
	return &speller{spelled: map[*syntax.Regexp][]string{}, needed: map[*syntax.Regexp][]string{}}
}

// required returns literals of which every match of re contains at least one; nil when there is no such set.
func (s *speller) required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return s.matches(re)
	case syntax.OpCapture, syntax.OpPlus:
		return s.required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return s.required(re.Sub[0])
		}
	case syntax.OpConcat:
		best := s.longestRun(re.Sub)
		for _, sub := range re.Sub {
			best = better(best, s.requiredOnce(sub))
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			need := s.required(sub)
			if need == nil {
				return nil
			}
			all = append(all, need...)
		}
		return all
	}
	return nil
}

// requiredOnce is required of an expression that may be asked for again.
func (s *speller) requiredOnce(re *syntax.Regexp) []string {
	if re.Op == syntax.OpLiteral {
		return nil // a run has it
	}
	need, known := s.needed[re]
	if !known {
		need = s.required(re)
		s.needed[re] = need
	}
	return need
}

// longestRun are the texts that some expressions behind one another match together, of all runs the one whose shortest text is longest:
// of "s.?r.?o.?" it is "sro", "s.ro", "sr.o" and "s.r.o".
func (s *speller) longestRun(subs []*syntax.Regexp) []string {
	from, to, length, number := 0, 0, 0, 0
	for i := range subs {
		shortestText, texts := 0, 1
		for j := i; j < len(subs); j++ {
			of := s.matches(subs[j])
			if shortestText, texts = shortestText+shortest(of), texts*len(of); texts == 0 || texts > mostMatches {
				break
			}
			if shortestText > length || shortestText == length && texts < number {
				from, to, length, number = i, j+1, shortestText, texts
			}
		}
	}
	if length == 0 {
		return nil
	}
	run := []string{""}
	for _, sub := range subs[from:to] {
		run = behindEachOther(run, s.matches(sub))
	}
	return run
}

// better is the one of two sets of literals that more texts lack: whose shortest is longer, or which is smaller.
func better(a, b []string) []string {
	if shortest(b) > shortest(a) || shortest(b) == shortest(a) && len(b) > 0 && len(b) < len(a) {
		return b
	}
	return a
}

// mostMatches is how many texts an expression is spelled out into at most.
const mostMatches = 16

// matches are all texts that an expression matches, wherever they stand; nil where they aren't known or are many.
func (s *speller) matches(re *syntax.Regexp) []string {
	if re.Op == syntax.OpLiteral {
		if re.Flags&syntax.FoldCase != 0 {
			return nil
		}
		return []string{string(re.Rune)}
	}
	all, known := s.spelled[re]
	if !known {
		all = s.spell(re)
		s.spelled[re] = all
	}
	return all
}

func (s *speller) spell(re *syntax.Regexp) []string {
	var all []string
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary,
		syntax.OpNoWordBoundary:
		all = []string{""}
	case syntax.OpCharClass:
		for _, letter := range letters(re) {
			if letter.Op == syntax.OpLiteral {
				all = append(all, string(letter.Rune))
			}
		}
	case syntax.OpCapture:
		all = s.matches(re.Sub[0])
	case syntax.OpQuest:
		if of := s.matches(re.Sub[0]); of != nil {
			all = append(slices.Clone(of), "")
		}
	case syntax.OpConcat:
		all = []string{""}
		for _, sub := range re.Sub {
			of := s.matches(sub)
			if of == nil || len(all)*len(of) > mostMatches {
				return nil
			}
			all = behindEachOther(all, of)
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			of := s.matches(sub)
			if of == nil || len(all)+len(of) > mostMatches {
				return nil
			}
			all = append(all, of...)
		}
	}
	if len(all) > mostMatches {
		return nil
	}
	return all
}

// behindEachOther is each text of one list followed by each of another.
func behindEachOther(first, second []string) []string {
	all := make([]string, 0, len(first)*len(second))
	for _, a := range first {
		for _, b := range second {
			all = append(all, a+b)
		}
	}
	return all
}

// shortest is the length of the shortest of some texts; 0 of none.
func shortest(list []string) int {
	n := 0
	for i, s := range list {
		if i == 0 || len(s) < n {
			n = len(s)
		}
	}
	return n
}
