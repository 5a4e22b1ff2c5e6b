package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/schemas/clickhouse"
)

// deltas is the column delta of a block: an array of tuples on the position row, which is the block's first row, and
// nothing on all others.
type deltas struct {
	order   *[]uint32
	rows    int      // entries
	texts   []stream // clickhouse.SumKeys
	amounts []stream
	name    proto.ColumnType
	keys    []byte                           // those of the entry that is added
	places  [][clickhouse.MaxRollAmounts]int // of the amounts, by the number of the roll
}

func newDeltas(order *[]uint32) *deltas {
	d := &deltas{
		order: order, texts: make([]stream, len(clickhouse.SumKeys())), amounts: make([]stream, len(clickhouse.SumAmounts())),
		name: proto.ColumnType(clickhouse.DeltaType()),
	}
	for _, id := range clickhouse.Rolls() {
		d.places = append(d.places, id.Roll().AmountPlaces())
	}
	return d
}

func (d *deltas) reset() {
	d.rows = 0
	for i := range d.texts {
		d.texts[i].reset()
	}
	for i := range d.amounts {
		d.amounts[i].reset()
	}
}

// position adds the entry that moves the view: that of a row, which the view makes its own position of.
func (d *deltas) position(project string) {
	d.rows++
	for i, text := range [...]string{"", project, ""} {
		d.texts[i].text(text)
	}
	for i := range d.amounts {
		d.amounts[i].integer(0)
	}
}

func (d *deltas) add(roll clickhouse.RollID, tenant, project []byte, keys [][]byte, amounts []int64) {
	d.rows++
	d.keys = clickhouse.AppendKeys(d.keys[:0], roll.Roll(), keys)
	for i, text := range [...][]byte{tenant, project, d.keys} {
		d.texts[i].bytes(text)
	}
	for i, at := range d.places[roll] {
		if at == clickhouse.None {
			d.amounts[i].integer(0)
		} else {
			d.amounts[i].integer(amounts[at])
		}
	}
}

// Type implements proto.ColInput.
func (d *deltas) Type() proto.ColumnType { return d.name }

// Rows implements proto.ColInput.
func (d *deltas) Rows() int { return len(*d.order) }

// EncodeColumn implements proto.ColInput: all entries are the first row's.
func (d *deltas) EncodeColumn(b *proto.Buffer) {
	d.encodeEnds(b)
	for i := range d.texts {
		b.PutRaw(d.texts[i].data)
	}
	for i := range d.amounts {
		b.PutRaw(d.amounts[i].data)
	}
}

// encodeEnds encodes where each row's entries end.
func (d *deltas) encodeEnds(b *proto.Buffer) {
	for range *d.order {
		b.PutUInt64(uint64(d.rows))
	}
}

// WriteColumn implements proto.ColInput. What is as it travels is sent from where it lies: a buffer of the connection
// would grow to its size, and stay.
func (d *deltas) WriteColumn(out *proto.Writer) {
	out.ChainBuffer(d.encodeEnds)
	for i := range d.texts {
		out.ChainWrite(d.texts[i].data)
	}
	for i := range d.amounts {
		out.ChainWrite(d.amounts[i].data)
	}
}
