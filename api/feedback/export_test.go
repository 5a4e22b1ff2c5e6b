package feedback

import "time"

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
