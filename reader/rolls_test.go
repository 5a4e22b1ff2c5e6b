package reader

import (
	"regexp"
	"strings"
	"testing"

	schema "tallyhouse/schemas/clickhouse"
)

// rollInSQL finds the rolls that a statement names, by how the keys of their sums begin.
var rollInSQL = regexp.MustCompile(`'(\w+)\\0'`)

// What no endpoint reads is not summed: each change would pay for it.
func TestEveryRollIsRead(t *testing.T) {
	read := map[string]bool{}
	for _, q := range queries(t) {
		if !strings.Contains(q.SQL, "FROM sums") {
			continue
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
