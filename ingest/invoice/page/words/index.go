package words

import (
	"slices"
	"strings"
)

// index finds the choices, of many, that a text may match: those of whose literals it holds one. It goes through the text once.
type index struct {
	// starts has a bit for each pair of letters that a literal may begin with: most pairs of a text begin none.
	starts   [1 << (2 * letterBits) / 64]uint64
	literals map[string][]literal // by their first two letters
	always   []int                // choices that need no literal
}

// literal is one of those of which a match of a choice must hold one.
type literal struct {
	text   string
	choice int
}

// letterBits of a letter of folded text tell it apart from nearly all others.
const letterBits = 6

func start(a, b byte) int { return int(a)&(1<<letterBits-1)<<letterBits | int(b)&(1<<letterBits-1) }

func newIndex(choices []choice) *index {
	x := &index{literals: map[string][]literal{}}
	for i, c := range choices {
		if c.need == nil {
			x.always = append(x.always, i)
		}
		for _, need := range c.need {
			at := start(need[0], need[1])
			x.starts[at/64] |= 1 << (at % 64)
			x.literals[need[:2]] = append(x.literals[need[:2]], literal{need, i})
		}
	}
	return x
}

// possible are the choices that a text may match, in no order.
func (x *index) possible(s string) []int {
	found := x.always[:len(x.always):len(x.always)]
	for i := 0; i+1 < len(s); i++ {
		at := start(s[i], s[i+1])
		if x.starts[at/64]&(1<<(at%64)) == 0 {
			continue
		}
		for _, l := range x.literals[s[i:i+2]] {
			if strings.HasPrefix(s[i:], l.text) && !slices.Contains(found, l.choice) {
				found = append(found, l.choice)
			}
		}
	}
	return found
}
