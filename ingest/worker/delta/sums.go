// Package delta sums what a batch changes: each changed entity's contribution now, less the one that its head gave
// before.
package delta

import (
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
)

const (
	// measures is how many amounts an entry can have.
	measures = 4
	// Parts is how many numbers a key has.
	Parts = 8
	// MaxEntries is the greatest limit that New takes.
	MaxEntries = 1 << 20
	// maxRolls is the greatest number of rolls that New takes.
	maxRolls = 1 << 8

	maxMagnitude = 1<<62 - 1
)

// What Add refuses, each without having added anything.
var (
	errOverflow = errors.New("the absolute amounts of a measure reach 2^62")
	errFull     = errors.New("the limit of entries is reached")
	errInvalid  = errors.New("not a roll, key and amounts that can be summed")
)

// Magnitudes are the absolute amounts of each measure of a roll together, whatever their keys and signs. They stop at
// the greatest number.
type Magnitudes [measures]uint64

// Add counts amounts in; those beyond measures are not looked at.
func (m *Magnitudes) Add(amounts []int64) {
	for i, a := range amounts[:min(len(amounts), measures)] {
		u := uint64(a)
		if a < 0 {
			u = -u
		}
		if m[i] += u; m[i] < u {
			m[i] = ^uint64(0)
		}
	}
}

// Key tells sums apart: what the caller numbered, such as tenant, project, roll and the roll's keys.
type Key [Parts]uint32

// Sums are the sums of a batch by key. No sum can overflow, because the absolute amounts of each measure of a roll stay below 2^62 over
// the whole batch. Sums may not be used by two goroutines at the same time.
type Sums struct {
	limit   int
	seed    maphash.Seed
	slots   []uint64 // open-addressed: the upper half of the key's hash, the entry's number + 1; 0 is free
	entries []entry
	live    int          // entries that aren't zero
	summed  []Magnitudes // by roll
}

// entry takes a cache line of 64 bytes.
type entry struct {
	key     Key
	amounts [measures]int64
}

const firstSlots = 1 << 8

// New makes empty sums of rolls numbered from 0, with at most so many entries, those included that came to zero.
func New(rolls, limit int) (*Sums, error) {
	if rolls < 1 || rolls > maxRolls {
		return nil, fmt.Errorf("%d rolls are not between 1 and %d", rolls, maxRolls)
	}
	if limit < 1 || limit > MaxEntries {
		return nil, fmt.Errorf("a limit of %d entries is not between 1 and %d", limit, MaxEntries)
	}
	return &Sums{limit: limit, seed: maphash.MakeSeed(), slots: make([]uint64, firstSlots), summed: make([]Magnitudes, rolls)}, nil
}

// Fits reports whether so many more entries can be added, with keys and amounts that Add takes, and amounts of these
// magnitudes together, by roll; missing ones are zero. An empty batch has room for every entity: before and after, each
// below 2^61.
func (s *Sums) Fits(entries int, more []Magnitudes) bool {
	if entries > s.limit-len(s.entries) || len(more) > len(s.summed) {
		return false
	}
	for roll := range more {
		if !s.bears(roll, &more[roll]) {
			return false
		}
	}
	return true
}

func (s *Sums) bears(roll int, more *Magnitudes) bool {
	for i, m := range more {
		if m > maxMagnitude-s.summed[roll][i] {
			return false
		}
	}
	return true
}

// Add adds amounts to a key's, or takes them away: sign is 1 or -1. The key must be one of this roll alone. Missing
// amounts are zero. The errors are errOverflow, errFull and errInvalid (a sign, roll or number of amounts that cannot be).
func (s *Sums) Add(roll int, key *Key, amounts []int64, sign int64) error {
	if len(amounts) > measures || roll < 0 || roll >= len(s.summed) || sign != 1 && sign != -1 {
		return errInvalid
	}
	var magnitudes Magnitudes
	magnitudes.Add(amounts)
	if magnitudes == (Magnitudes{}) {
		return nil
	}
	if !s.bears(roll, &magnitudes) {
		return errOverflow
	}
	n, err := s.entry(key)
	if err != nil {
		return err
	}
	e := &s.entries[n]
	if e.amounts != ([measures]int64{}) {
		s.live--
	}
	for i, a := range amounts {
		e.amounts[i] += sign * a
		s.summed[roll][i] += magnitudes[i]
	}
	if e.amounts != ([measures]int64{}) {
		s.live++
	}
	return nil
}

// entry is the number of a key's entry, a new one if the key is new.
func (s *Sums) entry(key *Key) (uint32, error) {
	tag := uint32(maphash.Comparable(s.seed, *key) >> 32)
	i := int(tag) & (len(s.slots) - 1)
	for ; s.slots[i] != 0; i = (i + 1) & (len(s.slots) - 1) {
		if uint32(s.slots[i]>>32) != tag {
			continue
		}
		if n := uint32(s.slots[i]) - 1; s.entries[n].key == *key {
			return n, nil
		}
	}

	if len(s.entries) == s.limit {
		return 0, errFull
	}
	n := uint32(len(s.entries))
	s.entries = append(s.entries, entry{key: *key})
	s.slots[i] = uint64(tag)<<32 | uint64(n+1)
	if len(s.entries)*4 > len(s.slots)*3 {
		s.grow()
	}
	return n, nil
}

// grow doubles the slots, which leaves at least a quarter of them free at any time.
func (s *Sums) grow() {
	slots := make([]uint64, 2*len(s.slots))
	for _, slot := range s.slots {
		if slot == 0 {
			continue
		}
		i := int(slot>>32) & (len(slots) - 1)
		for slots[i] != 0 {
			i = (i + 1) & (len(slots) - 1)
		}
		slots[i] = slot
	}
	s.slots = slots
}

// Len is how many keys have an amount that isn't zero.
func (s *Sums) Len() int { return s.live }

// Entries are the entries that aren't zero, in the order in which their keys first came: the number and the key of
// each. See Entry for what may be done with the key.
func (s *Sums) Entries() iter.Seq2[uint32, *Key] {
	return func(yield func(uint32, *Key) bool) {
		for n := range s.entries {
			if s.entries[n].amounts == ([measures]int64{}) {
				continue
			}
			if !yield(uint32(n), &s.entries[n].key) {
				return
			}
		}
	}
}

// Entry is the key and the measures amounts of an entry by its number. They lie in the sums' own memory: they must not
// be changed, and are good until the next Add or Reset.
func (s *Sums) Entry(n uint32) (key *Key, amounts []int64) {
	return &s.entries[n].key, s.entries[n].amounts[:]
}

// Reset forgets all entries and keeps the memory for others.
func (s *Sums) Reset() {
	clear(s.slots)
	s.entries = s.entries[:0]
	clear(s.summed)
	s.live = 0
}

// Bytes is how much memory is held, whether in use or not.
func (s *Sums) Bytes() int64 {
	const slotBytes, entryBytes = 8, 4*Parts + 8*measures
	return int64(cap(s.slots))*slotBytes + int64(cap(s.entries))*entryBytes + int64(8*measures*cap(s.summed))
}
