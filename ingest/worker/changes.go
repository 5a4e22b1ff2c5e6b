package worker

import "tallyhouse/ingest/worker/latest"

// changeIndex finds an entity's change among those of a batch. It is asked for each message, mostly for an entity that isn't there:
// that is one look into few, flat bytes, where a map would hold the keys once more. It keeps its memory.
type changeIndex struct {
	slots []uint32 // open-addressed: the place in changes + 1; 0 is free, as at least half of them are
}

const firstSlots = 1 << 8

// find is the place of an entity's change.
func (x *changeIndex) find(changes []change, key latest.Key) (place int, ok bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	for i := x.home(key); x.slots[i] != 0; i = (i + 1) & (len(x.slots) - 1) {
		if place := int(x.slots[i]) - 1; changes[place].key == key {
			return place, true
		}
	}
	return 0, false
}

// home is where the search for a key begins. Keys are hashes that nobody can foresee.
func (x *changeIndex) home(key latest.Key) int { return int(key[0]) & (len(x.slots) - 1) }

// add makes the last of the changes one that is found.
func (x *changeIndex) add(changes []change) {
	if 2*len(changes) > len(x.slots) {
		x.slots = make([]uint32, max(firstSlots, 2*len(x.slots)))
		for place := range changes {
			x.put(changes[place].key, place)
		}
		return
	}
	last := len(changes) - 1
	x.put(changes[last].key, last)
}

func (x *changeIndex) put(key latest.Key, place int) {
	i := x.home(key)
	for x.slots[i] != 0 {
		i = (i + 1) & (len(x.slots) - 1)
	}
	x.slots[i] = uint32(place) + 1
}

func (x *changeIndex) reset() { clear(x.slots) }
