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
	shapes   shapes     // of the contributions in table
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
	h.shapes.reset()
}

// summand is one part of a contribution, its keys by the numbers of their texts.
type summand struct {
	roll    clickhouse.RollID
	keys    [clickhouse.MaxRollKeys]uint32
	amounts [clickhouse.MaxRollAmounts]int64
}

// own stands for a key that is the entity's own id, which would fill the dictionary with texts that come once.
const own = ^uint32(0)

// numbered appends the summands of a contribution of the entity with this id.
func (h *heads) numbered(all []summand, id string, c analytics.Contribution) ([]summand, error) {
	h.seen = h.seen[:0]
	for i := range c {
		s := summand{roll: c[i].Roll, amounts: c[i].Amounts}
		for k, key := range c[i].Keys[:len(s.roll.Roll().Keys)] {
			if key == id {
				s.keys[k] = own
				continue
			}
			var err error
			if s.keys[k], err = h.number(key); err != nil {
				return all, fmt.Errorf("remember a key of the sums: %w", err)
			}
		}
		all = append(all, s)
	}
	return all, nil
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

// differing leaves out what two contributions have in common at their beginnings and ends: most changes of an entity
// leave most of it as it is.
func differing(a, b []summand) (restOfA, restOfB []summand) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// A sum's key within a batch is the number of its tenant and its project, the number of its roll and twice the number of
// each of the roll's keys. An own id is written out: twice its length and one more, then the text.

// sumKey appends the parts of a sum's key that all summands of an entity share.
func sumKey(key []byte, tenant, project uint32) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(key, uint64(tenant)), uint64(project))
}

// appendKey appends the summand's part of a sum's key. id is the entity's.
func (s *summand) appendKey(key []byte, id string) []byte {
	key = append(key, byte(s.roll))
	for _, n := range s.keys[:len(s.roll.Roll().Keys)] {
		if n == own {
			key = append(binary.AppendUvarint(key, uint64(len(id))<<1|1), id...)
		} else {
			key = binary.AppendUvarint(key, uint64(n)<<1)
		}
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
