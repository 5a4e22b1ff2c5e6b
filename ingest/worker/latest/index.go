package latest

import "encoding/binary"

// A slot is 8 bytes: a tag in the upper half, a value in the lower. A free one is 0, and so no value is.
const (
	homeBits     = 12 // of a tag say where in a segment its search begins
	segmentSlots = 1 << homeBits
	segmentBytes = segmentSlots * 8
	segmentFull  = segmentSlots * 4 / 5
	maxDepth     = 32 - homeBits
	cacheLine    = 64
)

// index finds 32-bit values by 32-bit tags: an extendible hash table. A tag's highest bits choose a segment of
// open-addressed slots, its lowest the slot where the search begins. A full segment splits by one bit more, and no
// other is touched: growth never stops for longer than 4,096 slots take. Different entries may have the same tag: the
// caller looks at each of them.
type index struct {
	arena     *arena
	directory []entry // by a tag's highest bits
	shift     uint8   // 32 less how many bits those are
	segments  []segment
}

// entry and segment are the only parts on the Go heap: some 20 bytes for 2,000 slots in use.
type entry struct {
	place  uint32 // of the slots, in cache lines
	number uint32 // in segments
}

type segment struct {
	slots uint16 // in use
	depth uint8  // how many of a tag's highest bits chose it
}

func (x *index) reset() error {
	place, err := x.newSegment()
	if err != nil {
		return err
	}
	x.directory = append(x.directory[:0], entry{place: place})
	x.segments = append(x.segments[:0], segment{})
	x.shift = 32
	return nil
}

func (x *index) newSegment() (place uint32, err error) {
	at, err := x.arena.take(segmentBytes, cacheLine)
	if err != nil {
		return 0, err
	}
	clear(x.arena.bytes[at : at+segmentBytes])
	return uint32(at / cacheLine), nil
}

// slots are those of a segment.
func (x *index) slots(place uint32) *[segmentBytes]byte {
	return (*[segmentBytes]byte)(x.arena.bytes[int64(place)*cacheLine:])
}

// search goes through the entries of one tag.
type search struct {
	slots *[segmentBytes]byte
	tag   uint32
	next  uint32 // the slot to look at
	left  uint32 // slots not looked at
}

// find begins a search.
func (x *index) find(tag uint32) search {
	return search{x.slots(x.directory[tag>>x.shift].place), tag, tag, segmentSlots}
}

// value is the next value of the tag, 0 if there is none.
func (s *search) value() uint32 {
	for ; s.left > 0; s.left-- {
		slot := binary.LittleEndian.Uint64(s.slots[s.next%segmentSlots*8:])
		if slot == 0 {
			return 0
		}
		s.next++
		if uint32(slot>>32) == s.tag {
			s.left--
			return uint32(slot)
		}
	}
	return 0
}

// replace puts another value in the place of one that the tag has.
func (x *index) replace(tag, old, new uint32) {
	for s := x.find(tag); ; {
		switch s.value() {
		case old:
			slot := (s.next - 1) % segmentSlots * 8
			binary.LittleEndian.PutUint64(s.slots[slot:], uint64(tag)<<32|uint64(new))
			return
		case 0:
			return
		}
	}
}

// room makes sure that add finds a free slot. After an error the index is as it was.
func (x *index) room(tag uint32) error {
	for x.segments[x.directory[tag>>x.shift].number].slots >= segmentFull {
		if err := x.split(tag); err != nil {
			return err
		}
	}
	return nil
}

// add puts a value beside those that the tag has. There must be room.
func (x *index) add(tag, value uint32) {
	e := x.directory[tag>>x.shift]
	fill(x.slots(e.place), tag, value)
	x.segments[e.number].slots++
}

func fill(slots *[segmentBytes]byte, tag, value uint32) {
	for i := range uint32(segmentSlots) {
		slot := slots[(tag+i)%segmentSlots*8:][:8]
		if binary.LittleEndian.Uint64(slot) == 0 {
			binary.LittleEndian.PutUint64(slot, uint64(tag)<<32|uint64(value))
			return
		}
	}
}

// split gives half of a tag's segment to a new one.
func (x *index) split(tag uint32) error {
	e := x.directory[tag>>x.shift]
	depth := x.segments[e.number].depth
	if depth == maxDepth { // thousands of equal tags: keys that no hasher made
		return ErrFull
	}
	place, err := x.newSegment()
	if err != nil {
		return err
	}
	if 32-x.shift == depth {
		double := make([]entry, 0, 2*len(x.directory))
		for _, e := range x.directory {
			double = append(double, e, e)
		}
		x.directory, x.shift = double, x.shift-1
	}
	// Those that the old segment had are neighbours in the directory; the second half of them becomes the new one's.
	added := entry{place, uint32(len(x.segments))}
	x.segments = append(x.segments, segment{depth: depth + 1})
	kept := &x.segments[e.number]
	kept.depth++
	same := 1 << (32 - x.shift - depth)
	first := int(tag>>x.shift) &^ (same - 1)
	for i := first + same/2; i < first+same; i++ {
		x.directory[i] = added
	}

	// From behind a free slot on every entry is taken out and put in again: whatever can stand before it already does.
	from, to := x.slots(e.place), x.slots(place)
	start := uint32(0)
	for i := range uint32(segmentSlots) {
		if binary.LittleEndian.Uint64(from[i*8:]) == 0 {
			start = i
			break
		}
	}
	bit := uint32(1) << (31 - depth)
	for i := range uint32(segmentSlots) {
		at := from[(start+i)%segmentSlots*8:][:8]
		slot := binary.LittleEndian.Uint64(at)
		if slot == 0 {
			continue
		}
		clear(at)
		if t := uint32(slot >> 32); t&bit == 0 {
			fill(from, t, uint32(slot))
		} else {
			fill(to, t, uint32(slot))
			kept.slots--
			x.segments[added.number].slots++
		}
	}
	return nil
}
