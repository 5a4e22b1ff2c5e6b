package events

import (
	"fmt"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// Reader reads message after message of one topic as Decode does, by the same tables, into memory that it uses again:
// once that has grown it asks for none. It may not be used by two goroutines at the same time.
type Reader struct {
	codec   *codec
	decoder decoder
	written []byte
}

// NewReader makes a Reader. The error wraps ErrUnknownTopic for a topic that carries no entity.
func NewReader(topic Topic) (*Reader, error) {
	c := codecs.of(topic)
	if c == nil {
		return nil, fmt.Errorf("read messages of %s: %w", quoted(string(topic)), ErrUnknownTopic)
	}
	return &Reader{codec: c, decoder: decoder{topic: topic, again: true}}, nil
}

// Read is Decode, and the event's ContentHash with it. The event shares memory with value and with the Reader: it is
// good until value changes or the next message is read.
func (r *Reader) Read(key, value []byte) (Event, uint64, error) {
	if value == nil {
		return Event{}, 0, ErrTombstone
	}
	value = Unframed(value)
	d := &r.decoder
	for _, s := range d.spares {
		s.reset()
	}
	// Nobody sees the string after value has changed.
	*d = decoder{text: unsafe.String(unsafe.SliceData(value), len(value)), topic: d.topic, again: true, spares: d.spares}
	e, err := r.codec.read(d, key, value)
	switch {
	case err != nil:
		return Event{}, 0, err
	case e.Data == nil:
		return e, deleteHash(), nil
	case d.dataAsWritten: // most are: it need not be written to know what would be
		return e, xxhash.Sum64String(d.data), nil
	}
	r.written = r.codec.data(r.written[:0], e.Data)
	return e, xxhash.Sum64(r.written), nil
}

// spare is a Reader's memory for values of one type.
type spare interface{ reset() }

type spareOf[V any] struct{ values []V }

func (s *spareOf[V]) reset() { s.values = s.values[:0] }

// many is where a decoder appends the values of a list, from begin on: to the list itself, or behind what a Reader's
// memory already holds. A list of Vs has no Vs within.
func many[V any](d *decoder, list *[]V) (values *[]V, begin int) {
	if !d.again {
		return list, 0
	}
	for _, s := range d.spares {
		if s, ok := s.(*spareOf[V]); ok {
			return &s.values, len(s.values)
		}
	}
	s := new(spareOf[V])
	d.spares = append(d.spares, s)
	return &s.values, 0
}

// one is an empty value.
func one[V any](d *decoder) *V {
	if !d.again {
		return new(V)
	}
	values, begin := many[V](d, nil)
	var none V
	*values = append(*values, none)
	return &(*values)[begin]
}
