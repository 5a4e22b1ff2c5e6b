package store

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// stream holds what one column, or one part of it, has for each row, as it travels: width bytes a row, or up to where
// ends says.
type stream struct {
	width int
	data  []byte
	ends  []uint32 // of the rows' bytes, where width is 0
}

func (s *stream) row(i uint32) []byte {
	if s.width > 0 {
		return s.data[int(i)*s.width:][:s.width]
	}
	if i == 0 {
		return s.data[:s.ends[0]]
	}
	return s.data[s.ends[i-1]:s.ends[i]]
}

func (s *stream) endRow() {
	if s.width == 0 {
		s.ends = append(s.ends, uint32(len(s.data)))
	}
}

func (s *stream) reset() { s.data, s.ends = s.data[:0], s.ends[:0] }

func (s *stream) text(v string) {
	s.data = binary.AppendUvarint(s.data, uint64(len(v)))
	s.data = append(s.data, v...)
}

func (s *stream) bytes(v []byte) {
	s.data = binary.AppendUvarint(s.data, uint64(len(v)))
	s.data = append(s.data, v...)
}

func (s *stream) bool(v bool) {
	if v {
		s.data = append(s.data, 1)
	} else {
		s.data = append(s.data, 0)
	}
}

func (s *stream) uint64(v uint64)      { s.data = binary.LittleEndian.AppendUint64(s.data, v) }
func (s *stream) uint32(v uint32)      { s.data = binary.LittleEndian.AppendUint32(s.data, v) }
func (s *stream) integer(v int64)      { s.uint64(uint64(v)) }
func (s *stream) date(v calendar.Date) { s.uint32(uint32(v)) }
func (s *stream) instant(v time.Time)  { s.integer(micros(v)) }
func (s *stream) present(ok bool) bool { s.bool(!ok); return ok }

// appendInOrder appends the rows' bytes in an order of the rows.
func (s *stream) appendInOrder(b *proto.Buffer, order []uint32) {
	if s.width == 0 {
		for _, i := range order {
			b.Buf = append(b.Buf, s.row(i)...)
		}
		return
	}
	begin := len(b.Buf)
	b.Buf = slices.Grow(b.Buf, len(order)*s.width)[:begin+len(order)*s.width]
	out := b.Buf[begin:]
	switch s.width {
	case 1:
		for n, i := range order {
			out[n] = s.data[i]
		}
	case 8:
		for n, i := range order {
			*(*[8]byte)(out[8*n:]) = [8]byte(s.data[8*int(i):])
		}
	default:
		for n, i := range order {
			copy(out[n*s.width:], s.row(i))
		}
	}
}

// micros is an instant as DateTime64(6) counts it. The zero time stands for none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// wire is a column of a batch in the form in which it is sent: rows are appended one behind the other and sent in the
// order of the table's key. It asks for no memory once its streams have grown.
type wire struct {
	kind   *columnKind
	values stream
	nulls  stream // of a Nullable, or of the elements of an array of them
	counts stream // elements of each row of an array, 4 bytes
	order  *[]uint32
}

func newWire(k *columnKind, order *[]uint32) *wire {
	w := &wire{kind: k, order: order, nulls: stream{width: 1}, counts: stream{width: 4}}
	if k.array {
		w.nulls.width = 0
	} else {
		w.values.width = k.width
	}
	return w
}

func (w *wire) reset() {
	w.values.reset()
	w.nulls.reset()
	w.counts.reset()
}

// endRow ends a row that has that many elements, in an array.
func (w *wire) endRow(elements int) {
	w.values.endRow()
	if w.kind.array {
		w.counts.uint32(uint32(elements))
		w.nulls.endRow()
	}
}

// Type implements proto.ColInput.
func (w *wire) Type() proto.ColumnType { return w.kind.name }

// Rows implements proto.ColInput.
func (w *wire) Rows() int { return len(*w.order) }

// EncodeColumn implements proto.ColInput: the rows in their order.
func (w *wire) EncodeColumn(b *proto.Buffer) {
	order := *w.order
	if w.kind.array {
		end := uint64(0)
		for _, i := range order {
			end += uint64(binary.LittleEndian.Uint32(w.counts.row(i)))
			b.PutUInt64(end)
		}
	}
	if w.kind.nullable {
		w.nulls.appendInOrder(b, order)
	}
	w.values.appendInOrder(b, order)
}

// WriteColumn implements proto.ColInput.
func (w *wire) WriteColumn(out *proto.Writer) { out.ChainBuffer(w.EncodeColumn) }

// columnKind is a type of column: how it travels, and what reads it back.
type columnKind struct {
	name     proto.ColumnType
	width    int // bytes of an element, 0 for a text
	nullable bool
	array    bool
	result   func() proto.Column
}

// kinds are the types of columns that tables have. LowCardinality is the table's own business: the server makes it of a
// String.
var (
	textKind       = &columnKind{name: "String", result: func() proto.Column { return newTexts() }}
	boolKind       = &columnKind{name: "Bool", width: 1, result: func() proto.Column { return new(proto.ColBool) }}
	integerKind    = &columnKind{name: "Int64", width: 8, result: func() proto.Column { return new(proto.ColInt64) }}
	uint64Kind     = &columnKind{name: "UInt64", width: 8, result: func() proto.Column { return new(proto.ColUInt64) }}
	uint32Kind     = &columnKind{name: "UInt32", width: 4, result: func() proto.Column { return new(proto.ColUInt32) }}
	instantKind    = &columnKind{name: "DateTime64(6)", width: 8, result: func() proto.Column { return newInstants() }}
	textOrNullKind = &columnKind{name: "Nullable(String)", nullable: true, result: func() proto.Column {
		return proto.NewColNullable[string](newTexts())
	}}
	integerOrNullKind = &columnKind{name: "Nullable(Int64)", width: 8, nullable: true, result: func() proto.Column {
		return proto.NewColNullable[int64](new(proto.ColInt64))
	}}
	dateOrNullKind = &columnKind{name: "Nullable(Date32)", width: 4, nullable: true, result: func() proto.Column {
		return proto.NewColNullable[calendar.Date](newDates())
	}}
	instantOrNullKind = &columnKind{name: "Nullable(DateTime64(6))", width: 8, nullable: true, result: func() proto.Column {
		return proto.NewColNullable[time.Time](newInstants())
	}}
	textsKind = &columnKind{name: "Array(String)", array: true, result: func() proto.Column { return proto.NewArray[string](newTexts()) }}
	boolsKind = &columnKind{name: "Array(Bool)", width: 1, array: true, result: func() proto.Column {
		return proto.NewArray[bool](new(proto.ColBool))
	}}
	integersKind = &columnKind{name: "Array(Int64)", width: 8, array: true, result: func() proto.Column {
		return proto.NewArray[int64](new(proto.ColInt64))
	}}
	textsOrNullKind = &columnKind{name: "Array(Nullable(String))", nullable: true, array: true, result: func() proto.Column {
		return proto.NewArray[proto.Nullable[string]](proto.NewColNullable[string](newTexts()))
	}}
	datesOrNullKind = &columnKind{name: "Array(Nullable(Date32))", width: 4, nullable: true, array: true, result: func() proto.Column {
		return proto.NewArray[proto.Nullable[calendar.Date]](proto.NewColNullable[calendar.Date](newDates()))
	}}
)

// Column is a column of the after image and how a payload fills it.
type Column struct {
	Name string
	kind *columnKind
	put  func(w *wire, data any) // a row, but for its end: how many elements it has in an array
}

// column makes a Column whose rows are one value each. without is the value of rows that have no payload: deleted,
// moved, position.
func column[P, V any](name string, k *columnKind, of func(*P) V, put func(w *wire, v V)) Column {
	return Column{name, k, func(w *wire, data any) {
		var v V
		if data != nil {
			v = of(data.(*P))
		}
		put(w, v)
		w.values.endRow()
	}}
}

func textColumn[P any](name string, of func(*P) string) Column {
	return column(name, textKind, of, func(w *wire, v string) { w.values.text(v) })
}

func boolColumn[P any](name string, of func(*P) bool) Column {
	return column(name, boolKind, of, func(w *wire, v bool) { w.values.bool(v) })
}

func integerColumn[P any](name string, of func(*P) int64) Column {
	return column(name, integerKind, of, func(w *wire, v int64) { w.values.integer(v) })
}

func textOrNull[P any](name string, of func(*P) events.Opt[string]) Column {
	return column(name, textOrNullKind, of, func(w *wire, v events.Opt[string]) {
		w.nulls.present(v.Ok)
		w.values.text(v.V)
	})
}

func integerOrNull[P any](name string, of func(*P) events.Opt[int64]) Column {
	return column(name, integerOrNullKind, of, func(w *wire, v events.Opt[int64]) {
		w.nulls.present(v.Ok)
		w.values.integer(v.V)
	})
}

func dateOrNull[P any](name string, of func(*P) events.Opt[calendar.Date]) Column {
	return column(name, dateOrNullKind, of, func(w *wire, v events.Opt[calendar.Date]) {
		w.nulls.present(v.Ok)
		w.values.date(v.V)
	})
}

func instantOrNull[P any](name string, of func(*P) events.Opt[time.Time]) Column {
	return column(name, instantOrNullKind, of, func(w *wire, v events.Opt[time.Time]) {
		w.nulls.present(v.Ok)
		w.values.instant(v.V)
	})
}

// jsonColumn is a text that is written in place.
func jsonColumn[P any](name string, of func(b []byte, p *P) []byte) Column {
	return Column{name, textKind, func(w *wire, data any) {
		p, _ := data.(*P)
		if p == nil {
			p = new(P)
		}
		// The length stands before the text and is known after it: room for most lengths is left free.
		at := len(w.values.data)
		w.values.data = append(w.values.data, 0)
		w.values.data = of(w.values.data, p)
		if n := len(w.values.data) - at - 1; n < 0x80 {
			w.values.data[at] = byte(n)
		} else {
			var head [binary.MaxVarintLen64]byte
			more := binary.PutUvarint(head[:], uint64(n)) - 1
			w.values.data = append(w.values.data, head[:more]...)
			copy(w.values.data[at+1+more:], w.values.data[at+1:at+1+n])
			copy(w.values.data[at:], head[:more+1])
		}
		w.endRow(0)
	}}
}

// Lists of a payload are kept as arrays side by side, one for each member of their elements.

func list[P, E any](name string, k *columnKind, of func(*P) []E, put func(w *wire, e *E)) Column {
	return Column{name, k, func(w *wire, data any) {
		if data == nil {
			w.endRow(0)
			return
		}
		all := of(data.(*P))
		for i := range all {
			put(w, &all[i])
		}
		w.endRow(len(all))
	}}
}

func textsColumn[P, E any](name string, elements func(*P) []E, of func(*E) string) Column {
	return list(name, textsKind, elements, func(w *wire, e *E) { w.values.text(of(e)) })
}

func integersColumn[P, E any](name string, elements func(*P) []E, of func(*E) int64) Column {
	return list(name, integersKind, elements, func(w *wire, e *E) { w.values.integer(of(e)) })
}

func boolsColumn[P, E any](name string, elements func(*P) []E, of func(*E) bool) Column {
	return list(name, boolsKind, elements, func(w *wire, e *E) { w.values.bool(of(e)) })
}

func textsOrNull[P, E any](name string, elements func(*P) []E, of func(*E) events.Opt[string]) Column {
	return list(name, textsOrNullKind, elements, func(w *wire, e *E) {
		v := of(e)
		w.nulls.present(v.Ok)
		w.values.text(v.V)
	})
}

func datesOrNull[P, E any](name string, elements func(*P) []E, of func(*E) events.Opt[calendar.Date]) Column {
	return list(name, datesOrNullKind, elements, func(w *wire, e *E) {
		v := of(e)
		w.nulls.present(v.Ok)
		w.values.date(v.V)
	})
}

func itself(text *string) string { return *text }
