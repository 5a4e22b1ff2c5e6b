// Package latest remembers the latest state of every entity of a partition, the head: enough to see whether a message
// is newer, and what to take back from the sums when it is. Heads lie in flat memory that the garbage collector doesn't
// know, in a mapped scratch file without a name: the kernel may write pages that nobody asks for to disk. Nothing of it
// outlives the process.
//
// A slice that a table or a dictionary gives out lies in that memory. It must not be changed, and must not be kept: see
// Table.Get and Texts.Text. What was kept may show other bytes, and reading it after Close ends the process. Neither
// type may be used by two goroutines at the same time.
package latest

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// maxContribution is how long a head's contribution can be, in bytes.
const maxContribution = 1<<23 - 1

// errTooLong is returned for a contribution longer than maxContribution, and for a text longer than maxText.
var errTooLong = errors.New("too long to be remembered")

// Head is the latest state of an entity.
type Head struct {
	Version      int64 // of the entity
	ContentHash  uint64
	Project      uint32 // number of the project's text
	Deleted      bool
	Contribution []byte // what it puts into the sums, as the caller encoded it
}

// Table holds the heads of a partition.
type Table struct {
	arena *arena
	index index
	heads int
	spare [roomClasses]uint32 // the first of the free rooms of a class, 0 if there is none; each begins with the place of the next
	freed int64               // bytes in them
	sink  uint64              // see Prefetch
}

// A head in memory: what of the key its tag doesn't say, content hash, and in as few bytes as they take version, project,
// length of the contribution with the deleted bit, then the contribution. Its room is of the class of its length, always.
const (
	secondAt, contentAt, versionAt = 4, 12, 20

	maxFixed = versionAt + 2*binary.MaxVarintLen64 + binary.MaxVarintLen32 // all but the contribution, at most
)

// New makes an empty table. Close gives its memory back.
func New(o Options) (*Table, error) {
	a, err := newArena(o)
	if err != nil {
		return nil, err
	}
	t := &Table{arena: a, index: index{arena: a}}
	if err := t.index.reset(); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return t, nil
}

// Get is the head of an entity. Its Contribution is good until the next Put, Reset or Close.
func (t *Table) Get(k Key) (Head, bool) {
	if t.heads == 0 {
		return Head{}, false
	}
	place := t.find(k)
	if place == 0 {
		return Head{}, false
	}
	h, _ := t.read(place)
	return h, true
}

// Put replaces the head of an entity. h.Contribution is copied, and may be what Get gave. After an error (ErrFull,
// errTooLong, ErrClosed, or that of a full disk) the table is as it was.
func (t *Table) Put(k Key, h Head) error {
	if t.index.directory == nil {
		return ErrClosed
	}
	if len(h.Contribution) > maxContribution {
		return errTooLong
	}
	class := classOf(sizeOf(h))
	place := t.find(k)
	switch {
	case place == 0:
		if err := t.index.room(tagOf(k)); err != nil {
			return err
		}
		added, err := t.take(class)
		if err != nil {
			return err
		}
		t.write(added, k, h)
		t.index.add(tagOf(k), added)
		t.heads++
	case class == t.classAt(place):
		t.write(place, k, h)
	default:
		moved, err := t.take(class)
		if err != nil {
			return err
		}
		t.write(moved, k, h)
		t.index.replace(tagOf(k), place, moved)
		t.free(place)
	}
	return nil
}

// Prefetch brings what Get needs for the keys into the processor's caches. Waiting for memory is most of what Get costs
// in a large table; here the waits for several keys overlap. It pays before runs of new heads as well, and changes
// nothing.
func (t *Table) Prefetch(keys []Key) {
	if t.heads == 0 {
		return
	}
	// The sum keeps the compiler from leaving out loads that nobody needs.
	const (
		together = 64 // more would push out of the first cache what came first
		mostly   = 48 // how long most heads are
	)
	var places [together]uint32
	var sum uint64
	for ; len(keys) > 0; keys = keys[min(together, len(keys)):] {
		some := keys[:min(together, len(keys))]
		for i := range some {
			s := t.index.find(tagOf(some[i]))
			sum += uint64(s.slots[s.next%segmentSlots*8])
		}
		for i := range some {
			s := t.index.find(tagOf(some[i]))
			places[i] = s.value()
		}
		for i := range some {
			if at := int64(places[i]) * unit; at > 0 {
				sum += uint64(t.arena.bytes[at])
				sum += uint64(t.arena.bytes[min(at+mostly, int64(len(t.arena.bytes)))-1])
			}
		}
	}
	t.sink = sum
}

// Len is how many heads there are.
func (t *Table) Len() int { return t.heads }

// Bytes is how much memory heads and index use, and how much is taken from the file system.
func (t *Table) Bytes() (used, taken int64) { return t.arena.used - t.freed, t.arena.taken() }

// Reset forgets all heads and keeps the memory for others.
func (t *Table) Reset() {
	if t.index.directory == nil {
		return
	}
	t.arena.reset()
	t.heads, t.freed = 0, 0
	clear(t.spare[:])
	_ = t.index.reset() // its first segment fits where the first one was
}

// Close gives the memory back. After it the table is empty and takes nothing.
func (t *Table) Close() error {
	t.heads, t.freed, t.index = 0, 0, index{}
	t.arena.used = 0
	return t.arena.close()
}

func tagOf(k Key) uint32 { return uint32(k[0] >> 32) }

// at is the memory from a head's place on.
func (t *Table) at(place uint32) []byte { return t.arena.bytes[int64(place)*unit:] }

// find is the place of an entity's head, 0 if there is none.
func (t *Table) find(k Key) uint32 {
	s := t.index.find(tagOf(k))
	for {
		place := s.value()
		if place == 0 {
			return 0
		}
		m := t.at(place)
		if binary.LittleEndian.Uint32(m) == uint32(k[0]) && binary.LittleEndian.Uint64(m[secondAt:]) == k[1] {
			return place
		}
	}
}

// sizeOf is how many bytes a head takes.
func sizeOf(h Head) int {
	return versionAt + varintBytes(uint64(h.Version)) + varintBytes(uint64(h.Project)) + varintBytes(metaOf(h)) + len(h.Contribution)
}

func varintBytes(n uint64) int { return (bits.Len64(n|1) + 6) / 7 }

// metaOf is the length of the contribution with the deleted bit.
func metaOf(h Head) uint64 {
	meta := uint64(len(h.Contribution)) << 1
	if h.Deleted {
		meta |= 1
	}
	return meta
}

// read is the head at a place, and how many bytes it takes.
func (t *Table) read(place uint32) (h Head, size int) {
	m := t.at(place)
	version, n := binary.Uvarint(m[versionAt:])
	at := versionAt + n
	project, n := binary.Uvarint(m[at:])
	at += n
	meta, n := binary.Uvarint(m[at:])
	at += n
	size = at + int(meta>>1)
	return Head{
		Version: int64(version), ContentHash: binary.LittleEndian.Uint64(m[contentAt:]), Project: uint32(project),
		Deleted: meta&1 != 0, Contribution: m[at:size:size],
	}, size
}

func (t *Table) write(place uint32, k Key, h Head) {
	m := t.at(place)
	// The contribution first: it may lie in this very place.
	copy(m[sizeOf(h)-len(h.Contribution):], h.Contribution)
	binary.LittleEndian.PutUint32(m, uint32(k[0]))
	binary.LittleEndian.PutUint64(m[secondAt:], k[1])
	binary.LittleEndian.PutUint64(m[contentAt:], h.ContentHash)
	at := versionAt + binary.PutUvarint(m[versionAt:], uint64(h.Version))
	at += binary.PutUvarint(m[at:], uint64(h.Project))
	binary.PutUvarint(m[at:], metaOf(h))
}

func (t *Table) classAt(place uint32) uint8 {
	_, size := t.read(place)
	return classOf(size)
}

// take finds room for a head of a class: one that was freed, or new memory.
func (t *Table) take(class uint8) (place uint32, err error) {
	if place = t.spare[class]; place != 0 {
		t.spare[class] = binary.LittleEndian.Uint32(t.at(place))
		t.freed -= roomOf(class)
		return place, nil
	}
	at, err := t.arena.take(roomOf(class), unit)
	return uint32(at / unit), err
}

// free makes a head's room one for others of its class.
func (t *Table) free(place uint32) {
	class := t.classAt(place)
	binary.LittleEndian.PutUint32(t.at(place), t.spare[class])
	t.spare[class] = place
	t.freed += roomOf(class)
}

// A class is how much room a head has: up to 512 bytes a whole number of units, from there on one of eight sizes for
// each doubling.
const (
	roomClasses  = 1 << 8 // more than maxContribution needs
	doublingBits = 3
	exactUnits   = 1 << (2 * doublingBits)
)

func classOf(bytes int) uint8 {
	units := uint32(bytes+unit-1) / unit
	if units <= exactUnits {
		return uint8(units)
	}
	shift := bits.Len32(units-1) - 1 - doublingBits // leaves the highest four bits
	return uint8(exactUnits + 1 + (shift-doublingBits)<<doublingBits + int((units-1)>>shift) - 1<<doublingBits)
}

// roomOf is how many bytes a class has.
func roomOf(class uint8) int64 {
	if class <= exactUnits {
		return int64(class) * unit
	}
	c := int64(class) - exactUnits - 1
	eighths := c%(1<<doublingBits) + 1<<doublingBits + 1
	return eighths << (c>>doublingBits + doublingBits) * unit
}
