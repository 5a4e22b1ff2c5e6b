package worker

import (
	"encoding/binary"

	"tallyhouse/schemas/clickhouse"
)

// A contribution in a head is a shape and the values that fill it. The summands of an entity name the same few keys and
// amounts again and again, in the same way as those of thousands of others: a record's node stands in up to four of
// them. The shape says which, and is kept once, by its number; the head has each value once. A shape is, for each summand,
// its roll and a byte for each key and amount; the values are numbers of texts and zigzag amounts of varying length. A
// long shape, or one too many, stands in the head itself, behind a number 0 and its length.
type shapes struct {
	numbers map[string]uint32
	all     []string // by number, from 1 on
	shape   []byte   // being made
	values  []byte
}

const (
	longestShape = 96
	mostShapes   = 1 << 12

	// What a byte of a shape says of a key or an amount.
	zero    = 0 // the empty text, the amount 0
	unit    = 1 // the entity's own id, the amount 1
	another = 2 // the next value
	again   = 3 // and more: a value that was there

	// remembered is how many keys, and how many amounts, are known again.
	remembered = 8
)

func (s *shapes) reset() {
	clear(s.numbers)
	s.all = s.all[:0]
}

// pack appends a contribution to b as a head keeps it.
func (s *shapes) pack(b []byte, c []summand) []byte {
	if len(c) == 0 {
		return b
	}
	s.shape, s.values = s.shape[:0], s.values[:0]
	var keys known[uint32]
	var amounts known[int64]
	for i := range c {
		roll := c[i].roll.Roll()
		s.shape = append(s.shape, byte(c[i].roll))
		for _, key := range c[i].keys[:len(roll.Keys)] {
			code := keys.code(key, own)
			if s.shape = append(s.shape, code); code == another {
				s.values = binary.AppendUvarint(s.values, uint64(key))
			}
		}
		for _, amount := range c[i].amounts[:len(roll.Amounts)] {
			code := amounts.code(amount, 1)
			if s.shape = append(s.shape, code); code == another {
				s.values = binary.AppendVarint(s.values, amount)
			}
		}
	}
	number := s.number()
	if b = binary.AppendUvarint(b, uint64(number)); number == 0 {
		b = append(binary.AppendUvarint(b, uint64(len(s.shape))), s.shape...)
	}
	return append(b, s.values...)
}

// number is the number of the shape, 0 if it gets none.
func (s *shapes) number() uint32 {
	n, ok := s.numbers[string(s.shape)]
	if ok || len(s.shape) > longestShape || len(s.all) == mostShapes {
		return n
	}
	if s.numbers == nil {
		s.numbers = map[string]uint32{}
	}
	shape := string(s.shape)
	s.all = append(s.all, shape)
	s.numbers[shape] = uint32(len(s.all))
	return uint32(len(s.all))
}

// unpack appends the summands of a packed contribution.
func (s *shapes) unpack(all []summand, packed []byte) []summand {
	if len(packed) == 0 {
		return all
	}
	number, n := binary.Uvarint(packed)
	packed = packed[n:]
	if number == 0 {
		length, n := binary.Uvarint(packed)
		shape := packed[n:][:length]
		return fill(all, shape, packed[n+int(length):])
	}
	return fill(all, s.all[number-1], packed)
}

// fill appends the summands of a shape with these values.
func fill[S string | []byte](all []summand, shape S, values []byte) []summand {
	var keys known[uint32]
	var amounts known[int64]
	for at := 0; at < len(shape); {
		s := summand{roll: clickhouse.RollID(shape[at])}
		roll := s.roll.Roll()
		at++
		for i := range roll.Keys {
			code := shape[at+i]
			if code != another {
				s.keys[i] = keys.value(code, own)
				continue
			}
			key, n := binary.Uvarint(values)
			values = values[n:]
			s.keys[i] = uint32(key)
			keys.add(uint32(key))
		}
		at += len(roll.Keys)
		for i := range roll.Amounts {
			code := shape[at+i]
			if code != another {
				s.amounts[i] = amounts.value(code, 1)
				continue
			}
			amount, n := binary.Varint(values)
			values = values[n:]
			s.amounts[i] = amount
			amounts.add(amount)
		}
		at += len(roll.Amounts)
		all = append(all, s)
	}
	return all
}

// known are the first values of a contribution that are neither zero nor the unit.
type known[V uint32 | int64] struct {
	values [remembered]V
	count  int
}

// code is what a shape says of a value, which is known from then on.
func (k *known[V]) code(v, one V) byte {
	switch v {
	case 0:
		return zero
	case one:
		return unit
	}
	for i, other := range k.values[:k.count] {
		if other == v {
			return again + byte(i)
		}
	}
	k.add(v)
	return another
}

func (k *known[V]) add(v V) {
	if k.count < remembered {
		k.values[k.count] = v
		k.count++
	}
}

// value is the one that a code stands for, unless that is another.
func (k *known[V]) value(code byte, one V) V {
	switch code {
	case zero:
		return 0
	case unit:
		return one
	}
	return k.values[code-again]
}
