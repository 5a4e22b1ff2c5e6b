package analytics

// grouped returns the values that share a key, which those without one don't: groups in the order in which their keys came
// first, the values of each in theirs, and where the group of a key is.
func grouped[K comparable, V any](values []V, key func(v *V) (k K, ok bool)) (groups [][]*V, places map[K]int) {
	const none = -1
	of, sizes, total := make([]int, len(values)), []int(nil), 0
	places = make(map[K]int)
	for i := range values {
		k, ok := key(&values[i])
		if !ok {
			of[i] = none
			continue
		}
		at, known := places[k]
		if !known {
			at = len(sizes)
			places[k], sizes = at, append(sizes, 0)
		}
		of[i] = at
		sizes[at]++
		total++
	}
	groups, room := make([][]*V, len(sizes)), make([]*V, total)
	for at, size := range sizes {
		groups[at], room = room[:0:size], room[size:]
	}
	for i, at := range of {
		if at != none {
			groups[at] = append(groups[at], &values[i])
		}
	}
	return groups, places
}
