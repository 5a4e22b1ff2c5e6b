package latest

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
)

// maxText is how long a text can be, in bytes.
const maxText = 1<<24 - 1

const maxTexts = 1 << 31

// Texts gives texts that repeat (projects, nodes, contractors, currencies) small numbers, in the order in which they
// come. Number 0 is the empty text, and all are below 2^31.
type Texts struct {
	arena  *arena
	index  index
	seed   maphash.Seed
	blocks []uint32 // of spans, in cache lines
	count  uint32   // of texts, the empty one with them
}

// A span says where a text lies: the place in the upper 40 bits, the length in the others. Those of 4,096 texts make a
// block.
const (
	spanBytes  = 8
	blockSpans = 1 << 12
	blockBytes = blockSpans * spanBytes
	lengthBits = 24
)

// NewTexts makes a dictionary of the empty text. Close gives its memory back.
func NewTexts(o Options) (*Texts, error) {
	a, err := newArena(o)
	if err != nil {
		return nil, err
	}
	x := &Texts{arena: a, index: index{arena: a}, seed: maphash.MakeSeed(), count: 1}
	if err := x.index.reset(); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return x, nil
}

// Number is a text's number, a new one if the text is new. After an error (ErrFull, errTooLong, ErrClosed, or that of a
// full disk) the dictionary is as it was.
func (x *Texts) Number(text []byte) (uint32, error) {
	return number(x, maphash.Bytes(x.seed, text), text)
}

// NumberString is the number of a text that is a string.
func (x *Texts) NumberString(text string) (uint32, error) {
	return number(x, maphash.String(x.seed, text), text)
}

func number[T []byte | string](x *Texts, hash uint64, text T) (uint32, error) {
	switch {
	case x.index.directory == nil:
		return 0, ErrClosed
	case len(text) == 0:
		return 0, nil
	case len(text) > maxText:
		return 0, errTooLong
	}
	tag := uint32(hash >> 32)
	for s := x.index.find(tag); ; {
		n := s.value()
		if n == 0 {
			break
		}
		if string(x.Text(n)) == string(text) {
			return n, nil
		}
	}

	n := x.count
	if n == maxTexts {
		return 0, ErrFull
	}
	if err := x.index.room(tag); err != nil {
		return 0, err
	}
	if n/blockSpans == uint32(len(x.blocks)) {
		at, err := x.arena.take(blockBytes, cacheLine)
		if err != nil {
			return 0, err
		}
		x.blocks = append(x.blocks, uint32(at/cacheLine))
	}
	at, err := x.arena.take(int64(len(text)), 1)
	if err != nil {
		return 0, err
	}
	copy(x.arena.bytes[at:], text)
	binary.LittleEndian.PutUint64(x.span(n), uint64(at)<<lengthBits|uint64(len(text)))
	x.index.add(tag, n)
	x.count++
	return n, nil
}

// Text is the text of a number, nil for the empty one and for a number that was never given. It is good until the next
// Number of a new text, Reset or Close.
func (x *Texts) Text(n uint32) []byte {
	if n == 0 || n >= x.count {
		return nil
	}
	span := binary.LittleEndian.Uint64(x.span(n))
	at, length := span>>lengthBits, span&maxText
	return x.arena.bytes[at : at+length : at+length]
}

func (x *Texts) span(n uint32) []byte {
	return x.arena.bytes[int64(x.blocks[n/blockSpans])*cacheLine+int64(n%blockSpans)*spanBytes:]
}

// Len is how many texts have numbers, the empty one with them: the next new text's number.
func (x *Texts) Len() int { return int(x.count) }

// Bytes is how much memory texts and index use, and how much is taken from the file system.
func (x *Texts) Bytes() (used, taken int64) { return x.arena.used, x.arena.taken() }

// Reset forgets all texts and keeps the memory for others. Every number but 0 means nothing any more.
func (x *Texts) Reset() {
	if x.index.directory == nil {
		return
	}
	x.arena.reset()
	x.blocks, x.count = x.blocks[:0], 1
	_ = x.index.reset() // its first segment fits where the first one was
}

// Close gives the memory back. After it the dictionary is empty and takes nothing.
func (x *Texts) Close() error {
	x.blocks, x.count, x.index = nil, 1, index{}
	x.arena.used = 0
	return x.arena.close()
}
