package reader

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	schema "tallyhouse/schemas/clickhouse"
)

// rollInSQL finds the rolls that a statement names, by how the keys of their sums begin; rangeInSQL ranges of rolls.
var (
	rollInSQL  = regexp.MustCompile(`'(\w+)\\0'`)
	rangeInSQL = regexp.MustCompile(`keys >= '(\w+)\\0' AND keys < '(\w+)\\x01'`)
)

// What no endpoint reads is not summed: each change would pay for it.
func TestEveryRollIsRead(t *testing.T) {
	read := map[string]bool{}
	for _, q := range queries(t) {
		if !strings.Contains(q.SQL, "FROM sums") {
			continue
		}
		for _, named := range rangeInSQL.FindAllStringSubmatch(q.SQL, -1) {
			for _, roll := range budgetRolls {
				read[roll] = read[roll] || roll >= named[1] && roll <= named[2]
			}
		}
		for _, named := range rollInSQL.FindAllStringSubmatch(q.SQL, -1) {
			read[named[1]] = true
		}
	}
	for _, id := range schema.Rolls() {
		if name := id.Roll().Name; !read[name] {
			t.Errorf("no statement reads the roll %s", name)
		}
		delete(read, id.Roll().Name)
	}
	for name := range read {
		t.Errorf("a statement reads a roll %s, which nobody writes", name)
	}
}

// Between the rolls that one statement reads there are none that it doesn't need: the engine would read their rows, too.
func TestRollsThatAreReadTogetherLieBesideEachOther(t *testing.T) {
	for _, rolls := range [][]string{budgetRolls, estimateRolls} {
		for _, id := range schema.Rolls() {
			name := id.Roll().Name
			between := name >= slices.Min(rolls) && name <= slices.Max(rolls)
			_, ofFacilities := entryRolls[name] // their sums lie in the project of a facility
			if between && !ofFacilities && !slices.Contains(rolls, name) {
				t.Errorf("the roll %s lies between those of %v", name, rolls)
			}
		}
	}
}
