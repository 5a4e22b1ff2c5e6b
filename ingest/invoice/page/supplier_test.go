package page

import "testing"

// Given a name at the top that is the likeliest, then one under the seller's label and its own outdoes it when it is
// nearly as likely: portals set their own name above the parties.
func TestALabelledSupplierOutdoesThePortal(t *testing.T) {
	labelled := named{key: "acme", rule: ruleSeller, how: byName, share: 0.4}
	portal := named{key: "portal", rule: ruleLetterhead, share: 0.5}
	for name, c := range map[string]struct {
		seller, likeliest named
		want              bool
	}{
		"barely likelier":           {labelled, portal, true},
		"much likelier":             {labelled, named{key: "portal", rule: ruleLetterhead, share: 0.7}, false},
		"labelled itself":           {labelled, named{key: "other", rule: ruleSeller, share: 0.5}, false},
		"without a label of a name": {named{key: "acme", rule: ruleSeller, share: 0.4}, portal, false},
		"the same name":             {labelled, named{key: "acme", rule: ruleLetterhead, share: 0.5}, false},
	} {
		if got := c.seller.outdoes(&c.likeliest); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
