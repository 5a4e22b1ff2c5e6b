package words

import (
	"cmp"
	"fmt"
	"iter"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// Pattern finds words in folded text. It is one regular expression or, for lists
// of words, several of which any may match.
type Pattern struct {
	choices []choice
	// parts match together what the one expression matches: one part for each of the many words of which it asks for
	// one. Each is small and mostly passed over; what can't be passed over stays together. Nil where it asks for no such words.
	parts []choice
	index func() *index // of the smallest of these

	matched recent[bool]
	found   recent[[]int]
}

// choice is a regular expression with a filter before it: texts that hold none of
// the literals of which every match must hold one are passed over at once. Most
// of a page is such text.
type choice struct {
	re   func() *regexp.Regexp
	need []string
}

// compile makes a choice of an expression, and its tree. Of several matches at one place the longest counts, or else the one
// that the expression names first.
func compile(expression string, longest bool) (choice, *syntax.Regexp, error) {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return choice{}, nil, fmt.Errorf("compiling pattern: %w", err)
	}
	return newChoice(newSpeller(), tree, longest, func() string { return expression }), tree, nil
}

// partsOf are parts of an expression of whose matches the longest count; nil where it isn't worth taking it apart.
func partsOf(tree *syntax.Regexp) (parts []choice) {
	spell, always := newSpeller(), &syntax.Regexp{Op: syntax.OpAlternate}
	for _, alternative := range alternatives(tree) {
		if part := newChoice(spell, alternative, true, alternative.String); part.need != nil {
			parts = append(parts, part)
		} else {
			always.Sub = append(always.Sub, alternative)
		}
	}
	if len(parts) < 2 || len(parts) > mostParts {
		return nil
	}
	if len(always.Sub) > 0 {
		parts = append(parts, newChoice(spell, always, true, always.String))
	}
	return parts
}

// newChoice leaves the compiling until a text may match: a page speaks one language of many.
func newChoice(spell *speller, tree *syntax.Regexp, longest bool, expression func() string) choice {
	c := choice{re: sync.OnceValue(func() *regexp.Regexp {
		re := regexp.MustCompile(expression()) // it was parsed
		if longest {
			re.Longest()
		}
		return re
	})}
	if need := spell.required(tree); shortest(need) >= shortestNeed {
		c.need = need
	}
	return c
}

func (c choice) possible(s string) bool {
	if c.need == nil {
		return true
	}
	for _, n := range c.need {
		if strings.Contains(s, n) {
			return true
		}
	}
	return false
}

// newPattern makes a pattern of choices and of the parts of the only one, if it was taken apart.
func newPattern(choices, parts []choice) *Pattern {
	p := &Pattern{choices: choices, parts: parts}
	p.index = sync.OnceValue(func() *index { return newIndex(p.smallest()) })
	return p
}

// smallest are the smallest expressions that match together where the pattern does.
func (p *Pattern) smallest() []choice {
	if p.parts != nil {
		return p.parts
	}
	return p.choices
}

// possible are those of the smallest expressions that a text may match.
func (p *Pattern) possible(s string) iter.Seq[*regexp.Regexp] {
	return func(yield func(*regexp.Regexp) bool) {
		for _, i := range p.index().possible(s) {
			if !yield(p.smallest()[i].re()) {
				return
			}
		}
	}
}

// MatchString reports whether s holds a match.
func (p *Pattern) MatchString(s string) bool { return p.matched.of(s, p.match) }

func (p *Pattern) match(s string) bool {
	for re := range p.possible(s) {
		if re.MatchString(s) {
			return true
		}
	}
	return false
}

// FindStringIndex returns where the first match begins and ends, the longest of
// several at one place; nil when there is none.
func (p *Pattern) FindStringIndex(s string) []int { return p.found.of(s, p.find) }

func (p *Pattern) find(s string) []int {
	var best []int
	for re := range p.possible(s) {
		if m := re.FindStringIndex(s); m != nil && (best == nil || before(m, best) < 0) {
			best = m
		}
	}
	return best
}

// FindAllStringIndex returns the first n matches that do not overlap, from left
// to right.
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	var all [][]int
	for re := range p.possible(s) {
		all = append(all, re.FindAllStringIndex(s, n)...)
	}
	slices.SortFunc(all, before)
	if p.parts != nil && overlap(all) {
		return p.choices[0].re().FindAllStringIndex(s, n) // a part that lost may match further on, too
	}
	var out [][]int
	for _, m := range all {
		if len(out) < n && (len(out) == 0 || m[0] >= out[len(out)-1][1]) {
			out = append(out, m)
		}
	}
	return out
}

// overlap reports whether one of some matches in their order ends behind the beginning of the next.
func overlap(matches [][]int) bool {
	for i := 1; i < len(matches); i++ {
		if matches[i][0] < matches[i-1][1] {
			return true
		}
	}
	return false
}

// before orders matches: the leftmost first, of several there the longest.
func before(a, b []int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(b[1], a[1])) }

// ReplaceAllString replaces every match.
func (p *Pattern) ReplaceAllString(s, with string) string {
	for _, c := range p.choices {
		if c.possible(s) {
			s = c.re().ReplaceAllString(s, with)
		}
	}
	return s
}

// FindStringSubmatchIndex returns where the first match and its groups begin and
// end; nil when there is none.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	if all := p.FindAllStringSubmatchIndex(s, 1); len(all) > 0 {
		return all[0]
	}
	return nil
}

// FindAllStringSubmatchIndex is FindStringSubmatchIndex for the first n matches
// of each choice.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	var all [][]int
	for _, c := range p.choices {
		if c.possible(s) {
			all = append(all, c.re().FindAllStringSubmatchIndex(s, n)...)
		}
	}
	slices.SortStableFunc(all, before)
	return all
}
