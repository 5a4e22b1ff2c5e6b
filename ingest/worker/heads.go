package worker

import (
	"encoding/binary"
	"errors"
	"fmt"

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
	for i := range c {
		s := &c[i]
		roll := s.Roll.Roll()
		b = append(b, byte(s.Roll))
		for _, key := range s.Keys[:len(roll.Keys)] {
			if key == id {
				b = append(b, own)
				continue
			}
			n, err := h.texts.NumberString(key)
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

// A sum's key within a batch is the number of its tenant and its project, the number of its roll and the roll's keys,
// as in a head; but an own id is written out: twice its length and one more, then the text.

// summands reads the summands of a contribution one by one.
type summands struct {
	rest    []byte
	id      string // of the entity
	roll    clickhouse.RollID
	amounts [clickhouse.MaxRollAmounts]int64
}

// next appends the roll and the keys of the next summand to a sum's key and reads its amounts; ok is false behind the
// last one.
func (s *summands) next(key []byte) (_ []byte, ok bool) {
	if len(s.rest) == 0 {
		return key, false
	}
	s.roll = clickhouse.RollID(s.rest[0])
	roll := s.roll.Roll()
	key = append(key, s.rest[0])
	s.rest = s.rest[1:]
	for range roll.Keys {
		if s.rest[0] == own {
			key = binary.AppendUvarint(key, uint64(len(s.id))<<1|1)
			key = append(key, s.id...)
			s.rest = s.rest[1:]
			continue
		}
		n := 1
		for s.rest[n-1] >= 0x80 {
			n++
		}
		key = append(key, s.rest[:n]...)
		s.rest = s.rest[n:]
	}
	for i := range roll.Amounts {
		amount, n := binary.Varint(s.rest)
		s.amounts[i] = amount
		s.rest = s.rest[n:]
	}
	return key, true
}

// sumKey appends the parts of a sum's key that all summands of an entity share.
func sumKey(key []byte, tenant, project uint32) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(key, uint64(tenant)), uint64(project))
}

// spell takes a sum's key apart: the texts of tenant, project and keys.
func (h *heads) spell(key []byte, keys [][]byte) (roll clickhouse.RollID, tenant, project []byte, _ [][]byte) {
	number := func() uint64 {
		n, size := binary.Uvarint(key)
		key = key[size:]
		return n
	}
	tenant = h.texts.Text(uint32(number()))
	project = h.texts.Text(uint32(number()))
	roll, key = clickhouse.RollID(key[0]), key[1:]
	for range roll.Roll().Keys {
		n := number()
		if n&1 == 0 {
			keys = append(keys, h.texts.Text(uint32(n>>1)))
			continue
		}
		keys = append(keys, key[:n>>1])
		key = key[n>>1:]
	}
	return roll, tenant, project, keys
}
