package worker

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"tallyhouse/ingest/worker/delta"
	"tallyhouse/schemas/clickhouse"
)

// order brings the sums of a batch into the order of the table sums, so that the server has nothing to sort. Keys are
// made of numbers of texts, which say nothing of how the texts compare. But a batch has far fewer texts than sums: the
// texts are sorted, and the sums by the ranks of theirs, each among those that stand in the same part of the keys: few
// bits say that much. It keeps its memory.
type order struct {
	rolls   []uint32 // the rank of each roll by its name
	ranks   []uint32 // by number of a text: its rank among those of the batch, from 1 on; 0 outside of it
	texts   []numbered
	parts   [delta.Parts]ranksOfPart
	entries []ranked
	spare   []ranked
}

// numbered is a text of the batch.
type numbered struct {
	text   []byte
	number uint32
}

// ranksOfPart are, by rank among all texts, those among the texts that a part of the keys has.
type ranksOfPart struct {
	among []uint32
	width int // bits of the greatest
}

// ranked is an entry of the sums and what of its key's ranks fits into 64 bits, the first part highest.
type ranked struct {
	ranks uint64
	entry uint32
}

func newOrder() *order {
	o := &order{}
	all := clickhouse.Rolls()
	for _, roll := range all {
		rank := uint32(0)
		for _, other := range all {
			if strings.Compare(other.Roll().Name, roll.Roll().Name) < 0 {
				rank++
			}
		}
		o.rolls = append(o.rolls, rank)
	}
	return o
}

// of lists the entries of sums in the table's order, good until the next call. text is that of a part of a key, but for
// the roll; numbers of texts that repeat are below texts.
func (o *order) of(sums *delta.Sums, texts int, text func(part uint32) []byte) []ranked {
	o.rank(sums, texts, text)
	o.rankParts(sums)
	o.entries = o.entries[:0]
	width := 0
	for n, key := range sums.Entries() {
		r := ranked{entry: n}
		width = 0
		for i, part := range key {
			rank, own := o.rankOf(i, part)
			p := &o.parts[i]
			if width += p.width; own || width > 64 {
				break // an own id, which has no rank, or no room: the texts decide
			}
			r.ranks |= uint64(p.among[rank]) << (64 - width)
		}
		o.entries = append(o.entries, r)
	}
	o.sort()
	for rest := o.entries; len(rest) > 0; {
		alike := 1
		for alike < len(rest) && rest[alike].ranks == rest[0].ranks {
			alike++
		}
		if alike > 1 {
			slices.SortFunc(rest[:alike], func(a, b ranked) int {
				x, _ := sums.Entry(a.entry)
				y, _ := sums.Entry(b.entry)
				return compareKeys(x, y, text)
			})
		}
		rest = rest[alike:]
	}
	for _, t := range o.texts {
		o.ranks[t.number] = 0
	}
	return o.entries
}

// rankOf is the rank of a part of a key among all texts or rolls, unless it is an entity's own id.
func (o *order) rankOf(i int, part uint32) (rank uint32, own bool) {
	switch {
	case i == rollPart:
		return o.rolls[part], false
	case part&ownBit != 0:
		return 0, true
	}
	return o.ranks[part], false
}

// rank sorts the texts of all keys.
func (o *order) rank(sums *delta.Sums, texts int, text func(part uint32) []byte) {
	if missing := texts - len(o.ranks); missing > 0 {
		o.ranks = append(o.ranks, make([]uint32, missing)...)
	}
	o.texts = o.texts[:0]
	for _, key := range sums.Entries() {
		for i, part := range key {
			if i != rollPart && part != 0 && part&ownBit == 0 && o.ranks[part] == 0 {
				o.ranks[part] = 1
				o.texts = append(o.texts, numbered{text(part), part})
			}
		}
	}
	slices.SortFunc(o.texts, func(a, b numbered) int { return bytes.Compare(a.text, b.text) })
	for i, t := range o.texts {
		o.ranks[t.number] = uint32(i) + 1
	}
}

// rankParts ranks the texts of each part of the keys among each other.
func (o *order) rankParts(sums *delta.Sums) {
	for i := range o.parts {
		p := &o.parts[i]
		p.among = slices.Grow(p.among[:0], max(len(o.texts)+1, len(o.rolls)))[:max(len(o.texts)+1, len(o.rolls))]
		clear(p.among)
	}
	for _, key := range sums.Entries() {
		for i, part := range key {
			if rank, own := o.rankOf(i, part); !own {
				o.parts[i].among[rank] = 1
			}
		}
	}
	for i := range o.parts {
		p, before := &o.parts[i], uint32(0)
		for rank, seen := range p.among {
			p.among[rank] = before
			before += seen
		}
		p.width = bits.Len32(max(before, 1) - 1)
	}
}

// sort sorts the entries by their ranks, digit by digit from the lowest: a digit that all have in common costs nothing.
func (o *order) sort() {
	const (
		few       = 64 // are sorted sooner by comparing
		digitBits = 8
	)
	if len(o.entries) < few {
		slices.SortFunc(o.entries, func(a, b ranked) int { return cmp.Compare(a.ranks, b.ranks) })
		return
	}
	o.spare = slices.Grow(o.spare[:0], len(o.entries))[:len(o.entries)]
	for shift := 0; shift < 64; shift += digitBits {
		var places [1 << digitBits]int
		for i := range o.entries {
			places[byte(o.entries[i].ranks>>shift)]++
		}
		if places[byte(o.entries[0].ranks>>shift)] == len(o.entries) {
			continue
		}
		before := 0
		for digit, n := range places {
			places[digit] = before
			before += n
		}
		for i := range o.entries {
			digit := byte(o.entries[i].ranks >> shift)
			o.spare[places[digit]] = o.entries[i]
			places[digit]++
		}
		o.entries, o.spare = o.spare, o.entries
	}
}
