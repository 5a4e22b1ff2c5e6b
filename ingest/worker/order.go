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
// texts are sorted, and the sums by the ranks of theirs. It keeps its memory.
type order struct {
	rolls   []uint64 // the rank of each roll by its name
	ranks   []uint64 // by number of a text: its rank among those of the batch, from 1 on; 0 outside of it
	texts   []numbered
	entries []ranked
}

// numbered is a text of the batch.
type numbered struct {
	text   []byte
	number uint64
}

// ranked is an entry of the sums and what of its key's ranks fits into 128 bits.
type ranked struct {
	high, low uint64
	entry     uint32
}

func newOrder() *order {
	o := &order{}
	all := clickhouse.Rolls()
	for _, roll := range all {
		rank := uint64(0)
		for _, other := range all {
			if strings.Compare(other.Roll().Name, roll.Roll().Name) < 0 {
				rank++
			}
		}
		o.rolls = append(o.rolls, rank)
	}
	return o
}

// of lists the entries of sums in the table's order, good until the next call.
func (o *order) of(sums *delta.Sums, h *heads) []ranked {
	o.rank(sums, h)
	textBits, rollBits := bits.Len(uint(len(o.texts))), bits.Len(uint(len(o.rolls)))
	o.entries = o.entries[:0]
	for n, key := range sums.Entries() {
		p := packer{}
		k := sumKeyReader{key}
		p.add(o.ranks[k.number()], textBits)
		p.add(o.ranks[k.number()], textBits)
		roll := k.roll()
		p.add(o.rolls[roll], rollBits)
		for range roll.Roll().Keys {
			text := k.number()
			if text&1 != 0 || !p.add(o.ranks[text>>1], textBits) {
				break // an own id, which has no rank, or no room: the texts decide
			}
		}
		o.entries = append(o.entries, ranked{p.high, p.low, n})
	}
	slices.SortFunc(o.entries, func(a, b ranked) int {
		if c := cmp.Compare(a.high, b.high); c != 0 {
			return c
		}
		if c := cmp.Compare(a.low, b.low); c != 0 {
			return c
		}
		x, _ := sums.Entry(a.entry)
		y, _ := sums.Entry(b.entry)
		return h.compareKeys(x, y)
	})
	for _, t := range o.texts {
		o.ranks[t.number] = 0
	}
	return o.entries
}

// rank sorts the texts of all keys.
func (o *order) rank(sums *delta.Sums, h *heads) {
	if missing := h.texts.Len() - len(o.ranks); missing > 0 {
		o.ranks = append(o.ranks, make([]uint64, missing)...)
	}
	o.texts = o.texts[:0]
	add := func(number uint64) {
		if number != 0 && o.ranks[number] == 0 {
			o.ranks[number] = 1
			o.texts = append(o.texts, numbered{h.texts.Text(uint32(number)), number})
		}
	}
	for _, key := range sums.Entries() {
		k := sumKeyReader{key}
		add(k.number())
		add(k.number())
		for range k.roll().Roll().Keys {
			if text := k.number(); text&1 == 0 {
				add(text >> 1)
			} else {
				k.own(text)
			}
		}
	}
	slices.SortFunc(o.texts, func(a, b numbered) int { return bytes.Compare(a.text, b.text) })
	for i, t := range o.texts {
		o.ranks[t.number] = uint64(i) + 1
	}
}

// packer joins numbers into one of 128 bits, the first ones highest.
type packer struct {
	high, low uint64
	used      int
}

// add reports whether a number of so many bits still fits; when it doesn't nothing else does.
func (p *packer) add(number uint64, width int) bool {
	const half = 64
	if p.used+width > 2*half {
		p.used = 2 * half
		return false
	}
	p.used += width
	if p.used <= half {
		p.high |= number << (half - p.used)
	} else {
		p.high |= number >> (p.used - half)
		p.low |= number << (2*half - p.used)
	}
	return true
}
