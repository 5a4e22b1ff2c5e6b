package analytics

// grouped returns the values of lists that share a key, which those without one don't: groups in the order in which their keys
// came first, the values of each in theirs, and where the group of a key is.
func grouped[K comparable, V any](lists [][]V, key func(v *V) (k K, ok bool)) (groups [][]*V, places map[K]int) {
	const none = -1
	values := 0
	for _, list := range lists {
		values += len(list)
	}
	of, sizes, total := make([]int, 0, values), []int(nil), 0
	places = make(map[K]int)
	for _, list := range lists {
		for i := range list {
			k, ok := key(&list[i])
			if !ok {
				of = append(of, none)
				continue
			}
			at, known := places[k]
			if !known {
				at = len(sizes)
				places[k], sizes = at, append(sizes, 0)
			}
			of = append(of, at)
			sizes[at]++
			total++
		}
	}
	groups, room := make([][]*V, len(sizes)), make([]*V, total)
	for at, size := range sizes {
		groups[at], room = room[:0:size], room[size:]
	}
	for _, list := range lists {
		for i := range list {
			if at := of[i]; at != none {
				groups[at] = append(groups[at], &list[i])
			}
		}
		of = of[len(list):]
	}
	return groups, places
}
