// Package access knows who may see what: it holds users, memberships, keys and projects in memory, follows their
// changes on Kafka, turns a key into a Caller, and refuses to answer when it cannot be sure of what it knows.
package access

import (
	"math/bits"
	"slices"
)

// Groups is a set of field groups (docs/api.md#field-groups).
type Groups uint32

// The field groups, each a set of one.
const (
	Core Groups = 1 << iota
	Amounts
	Budget
	Payment
	Documents
	Accounting
	Tax
	Financial

	None Groups = 0
	All         = Core | Amounts | Budget | Payment | Documents | Accounting | Tax | Financial
)

// groupNames are the groups' names in the order of their bits. A test compares them with All.
var groupNames = [...]string{"core", "amounts", "budget", "payment", "documents", "accounting", "tax", "financial"}

// Has reports whether all groups of the other set are in this one.
func (g Groups) Has(other Groups) bool { return g&other == other }

// Names lists the groups of the set by name.
func (g Groups) Names() []string {
	names := make([]string, 0, bits.OnesCount32(uint32(g)))
	for i, name := range groupNames {
		if g&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// groupsNamed is the set of these groups; names that are none are left out.
func groupsNamed(names []string) Groups {
	var g Groups
	for _, name := range names {
		if i := slices.Index(groupNames[:], name); i >= 0 {
			g |= 1 << i
		}
	}
	return g
}

// roleAdmin is the role of administrators.
const roleAdmin = "admin"

// groupsOf are the groups that a role gives (docs/api.md#field-groups). Roles that are not known give nothing.
func groupsOf(role string) Groups {
	switch role {
	case roleAdmin, "user":
		return All
	case "guest":
		return Core
	}
	return None
}
