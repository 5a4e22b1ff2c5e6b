package worker

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tallyhouse/analytics"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/clickhouse"
)

// heads are the latest states of a partition's entities, and how far they have come. They are loaded from the state
// table when the partition comes, follow every batch that counted, and are given up with the partition.
type heads struct {
	hasher   *latest.Hasher
	table    *latest.Table
	texts    *latest.Texts
	life     string // of the stream; "" while they are worth nothing
	position uint64
	seen     []seenText // see number
}

func newHeads(o latest.Options) (*heads, error) {
	table, err := latest.New(o)
	if err != nil {
		return nil, fmt.Errorf("take memory for heads: %w", err)
	}
	texts, err := latest.NewTexts(o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take memory for the texts of heads: %w", err), table.Close())
	}
	return &heads{hasher: latest.NewHasher(), table: table, texts: texts}, nil
}

func (h *heads) close() error { return errors.Join(h.table.Close(), h.texts.Close()) }

// forget makes them worth nothing.
func (h *heads) forget() {
	h.life, h.position = "", 0
	h.table.Reset()
	h.texts.Reset()
}

// A contribution in a head is its summands, one behind the other: the number of the roll, the keys, the amounts. A key
// is twice the number of its text, or own where it is the entity's own id, which would fill the dictionary with texts
// that come once. Amounts are zigzag.
const own = 1

// encode appends a contribution of the entity with this id.
func (h *heads) encode(b []byte, id string, c analytics.Contribution) ([]byte, error) {
	h.seen = h.seen[:0]
	for i := range c {
		s := &c[i]
		roll := s.Roll.Roll()
		b = append(b, byte(s.Roll))
		for _, key := range s.Keys[:len(roll.Keys)] {
			if key == id {
				b = append(b, own)
				continue
			}
			n, err := h.number(key)
			if err != nil {
				return b, fmt.Errorf("remember a key of the sums: %w", err)
			}
			b = binary.AppendUvarint(b, uint64(n)<<1)
		}
		for _, amount := range s.Amounts[:len(roll.Amounts)] {
			b = binary.AppendVarint(b, amount)
		}
	}
	return b, nil
}

// seenText is a text with its number.
type seenText struct {
	text   string
	number uint32
}

// number is the number of a key's text. The summands of one entity have much the same keys, so the last few are looked
// at first.
func (h *heads) number(text string) (uint32, error) {
	if text == "" {
		return 0, nil
	}
	const few = 8
	for i := range h.seen {
		if h.seen[i].text == text {
			return h.seen[i].number, nil
		}
	}
	n, err := h.texts.NumberString(text)
	if err == nil && len(h.seen) < few {
		h.seen = append(h.seen, seenText{text, n})
	}
	return n, err
}

// summand is one part of a contribution in a head.
type summand struct {
	encoded []byte // all of it
	roll    clickhouse.RollID
	keys    []byte
	owns    bool // one of the keys is the entity's own id
	amounts [clickhouse.MaxRollAmounts]int64
}

// summandsOf appends the parts of a contribution, which they share memory with.
func summandsOf(all []summand, contribution []byte) []summand {
	for rest := contribution; len(rest) > 0; {
		s := summand{roll: clickhouse.RollID(rest[0])}
		roll, at := s.roll.Roll(), 1
		for range roll.Keys {
			s.owns = s.owns || rest[at] == own
			for rest[at] >= 0x80 {
				at++
			}
			at++
		}
		s.keys = rest[1:at]
		for i := range roll.Amounts {
			amount, n := binary.Varint(rest[at:])
			s.amounts[i] = amount
			at += n
		}
		s.encoded, rest = rest[:at], rest[at:]
		all = append(all, s)
	}
	return all
}

// differing leaves out what two contributions have in common at their beginnings and ends: most changes of an entity
// leave most of it as it is.
func differing(a, b []summand) (restOfA, restOfB []summand) {
	for len(a) > 0 && len(b) > 0 && bytes.Equal(a[0].encoded, b[0].encoded) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && bytes.Equal(a[len(a)-1].encoded, b[len(b)-1].encoded) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// A sum's key within a batch is the number of its tenant and its project, the number of its roll and the roll's keys,
// as in a head; but an own id is written out: twice its length and one more, then the text.

// sumKey appends the parts of a sum's key that all summands of an entity share.
func sumKey(key []byte, tenant, project uint32) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(key, uint64(tenant)), uint64(project))
}

// appendKey appends the summand's part of a sum's key. id is the entity's.
func (s *summand) appendKey(key []byte, id string) []byte {
	key = append(key, byte(s.roll))
	if !s.owns {
		return append(key, s.keys...)
	}
	for rest := s.keys; len(rest) > 0; {
		n := 1
		for rest[n-1] >= 0x80 {
			n++
		}
		if rest[0] == own {
			key = append(binary.AppendUvarint(key, uint64(len(id))<<1|1), id...)
		} else {
			key = append(key, rest[:n]...)
		}
		rest = rest[n:]
	}
	return key
}

// sumKeyReader takes a sum's key apart: number of the tenant, number of the project, roll, keys.
type sumKeyReader struct{ rest []byte }

func (k *sumKeyReader) number() uint64 {
	n, size := binary.Uvarint(k.rest)
	k.rest = k.rest[size:]
	return n
}

func (k *sumKeyReader) roll() clickhouse.RollID {
	roll := clickhouse.RollID(k.rest[0])
	k.rest = k.rest[1:]
	return roll
}

// own is the text that is written out behind an odd number.
func (k *sumKeyReader) own(number uint64) []byte {
	text := k.rest[:number>>1]
	k.rest = k.rest[number>>1:]
	return text
}

// spell takes a sum's key apart: the texts of tenant, project and keys.
func (h *heads) spell(key []byte, keys [][]byte) (roll clickhouse.RollID, tenant, project []byte, _ [][]byte) {
	k := sumKeyReader{key}
	tenant = h.texts.Text(uint32(k.number()))
	project = h.texts.Text(uint32(k.number()))
	roll = k.roll()
	for range roll.Roll().Keys {
		if n := k.number(); n&1 == 0 {
			keys = append(keys, h.texts.Text(uint32(n>>1)))
		} else {
			keys = append(keys, k.own(n))
		}
	}
	return roll, tenant, project, keys
}

// compareKeys compares two sums' keys by their texts: tenant, project, name of the roll, keys.
func (h *heads) compareKeys(a, b []byte) int {
	var keysOfA, keysOfB [clickhouse.MaxRollKeys][]byte
	rollA, tenantA, projectA, restA := h.spell(a, keysOfA[:0])
	rollB, tenantB, projectB, restB := h.spell(b, keysOfB[:0])
	if c := cmp.Or(bytes.Compare(tenantA, tenantB), bytes.Compare(projectA, projectB)); c != 0 || rollA != rollB {
		return cmp.Or(c, strings.Compare(rollA.Roll().Name, rollB.Roll().Name))
	}
	return slices.CompareFunc(restA, restB, bytes.Compare)
}
