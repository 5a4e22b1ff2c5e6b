package worker

import (
	"testing"

	"tallyhouse/ingest/worker/latest"
)

// Given changes of so many entities, some of whose searches begin at one place, then each is found at its own place while they come
// and after all have come, and no other is; after a reset none is.
func TestAChangeIsFoundAtItsPlace(t *testing.T) {
	const alike = 40
	key := func(n int) latest.Key { return latest.Key{uint64(n / alike * 977), uint64(n)} }
	var x changeIndex
	for _, n := range []int{0, 1, firstSlots / 2, firstSlots/2 + 1, 20 * firstSlots, 3} { // again and again, in the same memory
		var changes []change
		for place := range n {
			if _, found := x.find(changes, key(place)); found {
				t.Fatalf("change %d of %d is found before it came", place, n)
			}
			changes = append(changes, change{key: key(place)})
			x.add(changes)
		}
		for place := range n {
			if at, found := x.find(changes, key(place)); !found || at != place {
				t.Fatalf("change %d of %d is found at %d (%t)", place, n, at, found)
			}
		}
		if at, found := x.find(changes, key(n)); found {
			t.Fatalf("what isn't among %d changes is found at %d", n, at)
		}
		x.reset()
		if at, found := x.find(changes, key(0)); found {
			t.Fatalf("after a reset of %d changes one is found at %d", n, at)
		}
	}
}
