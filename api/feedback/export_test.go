package feedback

import (
	"slices"
	"time"
)

// Rule lets tests ask which messages count.
type Rule = rule

// Add is rule.add.
func (r rule) Add(by, id string, at time.Time) bool { return r.add(by, id, at) }

// Held is how many messages are held.
func (r rule) Held() (n int) {
	for _, all := range r {
		n += len(all)
	}
	return n
}

// Full is rule.full.
func (r rule) Full(by string, now time.Time) (wait time.Duration, full bool) { return r.full(by, now) }

// Clone is a rule that has heard the same of the caller.
func (r rule) Clone(by string) Rule { return Rule{by: slices.Clone(r[by])} }
