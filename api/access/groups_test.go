package access

import (
	"slices"
	"testing"
)

func TestEveryGroupHasItsName(t *testing.T) {
	if names := All.Names(); len(names) != len(groupNames) || !slices.Equal(names, groupNames[:]) {
		t.Errorf("all groups are %v, the names are %v", names, groupNames)
	}
	for i, name := range groupNames {
		if groups := groupsNamed([]string{name, "unknown"}); groups != 1<<i || !slices.Equal(groups.Names(), []string{name}) {
			t.Errorf("%s is %b", name, groups)
		}
	}
}
