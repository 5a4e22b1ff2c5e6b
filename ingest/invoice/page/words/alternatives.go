package words

import (
	"regexp/syntax"
	"slices"
)

// mostParts is how many alternatives an expression is taken apart into at most: looking for the literal of each has a price, too.
const mostParts = 4000

// alternatives are expressions of which a text matches one where it matches re: "^(?:a|b) no" is "^a no" and "^b no". Words behind
// one another are taken apart at the place where most can stand.
func alternatives(re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpCapture:
		return alternatives(re.Sub[0]) // what a group holds is asked of the whole expression
	case syntax.OpAlternate:
		var all []*syntax.Regexp
		for _, sub := range re.Sub {
			all = append(all, alternatives(sub)...)
		}
		return all
	case syntax.OpCharClass:
		return letters(re) // "no|nr" is parsed as "n[or]"
	case syntax.OpConcat:
		at, words := 0, []*syntax.Regexp(nil)
		for i, sub := range re.Sub {
			if of := alternatives(sub); len(of) > len(words) {
				at, words = i, of
			}
		}
		if len(words) < 2 {
			break
		}
		var all []*syntax.Regexp
		for _, word := range words {
			all = append(all, joined(re.Sub[:at], word, re.Sub[at+1:]))
		}
		return all
	}
	return []*syntax.Regexp{re}
}

// letters are a literal for each letter of a small class.
func letters(class *syntax.Regexp) []*syntax.Regexp {
	const most = 4
	var all []*syntax.Regexp
	for i := 0; i < len(class.Rune); i += 2 {
		for r := class.Rune[i]; r <= class.Rune[i+1]; r++ {
			if len(all) == most {
				return []*syntax.Regexp{class}
			}
			all = append(all, &syntax.Regexp{Op: syntax.OpLiteral, Flags: class.Flags, Rune: []rune{r}})
		}
	}
	return all
}

// joined is one expression behind the other. Letters that come together are one literal again, so that a filter knows all of them.
func joined(before []*syntax.Regexp, word *syntax.Regexp, behind []*syntax.Regexp) *syntax.Regexp {
	middle := []*syntax.Regexp{word}
	if word.Op == syntax.OpConcat {
		middle = word.Sub
	}
	out := &syntax.Regexp{Op: syntax.OpConcat}
	for _, sub := range slices.Concat(before, middle, behind) {
		if n := len(out.Sub); n > 0 && sub.Op == syntax.OpLiteral && out.Sub[n-1].Op == syntax.OpLiteral && out.Sub[n-1].Flags == sub.Flags {
			literal := *out.Sub[n-1]
			literal.Rune = slices.Concat(literal.Rune, sub.Rune)
			out.Sub[n-1] = &literal
			continue
		}
		out.Sub = append(out.Sub, sub)
	}
	return out
}
