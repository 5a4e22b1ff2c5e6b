package page

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// pattern is a regular expression with a filter before it: texts that hold none
// of the literals that every match must hold are passed over at once. Most of a
// page is such text.
type pattern struct {
	re   *regexp.Regexp
	need []string
}

// compile panics on a wrong expression, as regexp.MustCompile does; it is meant
// for package variables.
func compile(expression string) *pattern {
	p := &pattern{re: regexp.MustCompile(expression)}
	if tree, err := syntax.Parse(expression, syntax.Perl); err == nil {
		if need := required(tree.Simplify()); shortest(need) >= 2 {
			p.need = need
		}
	}
	return p
}

// required returns literals of which every match of re contains at least one;
// nil when there is no such set.
func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if need := required(sub); shortest(need) > shortest(best) {
				best = need
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			need := required(sub)
			if need == nil {
				return nil
			}
			all = append(all, need...)
		}
		return all
	}
	return nil
}

func shortest(list []string) int {
	n := 0
	for i, s := range list {
		if i == 0 || len(s) < n {
			n = len(s)
		}
	}
	return n
}

func (p *pattern) possible(s string) bool {
	if p.need == nil {
		return true
	}
	for _, n := range p.need {
		if strings.Contains(s, n) {
			return true
		}
	}
	return false
}

func (p *pattern) MatchString(s string) bool { return p.possible(s) && p.re.MatchString(s) }

func (p *pattern) ReplaceAllString(s, with string) string {
	if !p.possible(s) {
		return s
	}
	return p.re.ReplaceAllString(s, with)
}

func (p *pattern) FindStringIndex(s string) []int {
	if !p.possible(s) {
		return nil
	}
	return p.re.FindStringIndex(s)
}

func (p *pattern) FindAllStringIndex(s string, n int) [][]int {
	if !p.possible(s) {
		return nil
	}
	return p.re.FindAllStringIndex(s, n)
}

func (p *pattern) FindStringSubmatch(s string) []string {
	if !p.possible(s) {
		return nil
	}
	return p.re.FindStringSubmatch(s)
}

func (p *pattern) FindStringSubmatchIndex(s string) []int {
	if !p.possible(s) {
		return nil
	}
	return p.re.FindStringSubmatchIndex(s)
}

func (p *pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	if !p.possible(s) {
		return nil
	}
	return p.re.FindAllStringSubmatchIndex(s, n)
}
