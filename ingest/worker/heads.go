package worker

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"tallyhouse/analytics"
	"tallyhouse/ingest/worker/delta"
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

// A sum's key within a batch is the numbers of its tenant, its project, its roll and its roll's keys. The place of an
// entity among the batch's changes stands for its own id, with the highest bit.
const (
	tenantPart, projectPart, rollPart, keyParts = 0, 1, 2, 3

	ownBit = 1 << 31
)

// sumKey is the key of a summand's sum. change is the entity's place.
func (s *summand) sumKey(tenant, project, change uint32) delta.Key {
	key := delta.Key{tenantPart: tenant, projectPart: project, rollPart: uint32(s.roll)}
	for i, n := range s.keys {
		if n == own {
			n = ownBit | change
		}
		key[keyParts+i] = n
	}
	return key
}

// compareKeys compares two sums' keys by their texts: tenant, project, name of the roll, keys.
func compareKeys(a, b *delta.Key, text func(part uint32) []byte) int {
	if a[rollPart] != b[rollPart] {
		rollA, rollB := clickhouse.RollID(a[rollPart]), clickhouse.RollID(b[rollPart])
		return cmp.Or(bytes.Compare(text(a[tenantPart]), text(b[tenantPart])), bytes.Compare(text(a[projectPart]), text(b[projectPart])),
			strings.Compare(rollA.Roll().Name, rollB.Roll().Name))
	}
	for i := range a { // the roll is the same
		if a[i] != b[i] {
			if c := bytes.Compare(text(a[i]), text(b[i])); c != 0 {
				return c
			}
		}
	}
	return 0
}
