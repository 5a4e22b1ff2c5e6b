package store

import (
	"slices"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/schemas/clickhouse"
)

// deltas is the column delta of a block: an array of tuples on the position row, which is the block's first row, and
// nothing on all others.
type deltas struct {
	order   *[]uint32
	rows    int      // entries
	texts   []stream // tenant, project, roll, keys
	amounts []stream
	name    proto.ColumnType
	rolls   []placed // by number
}

// placed says where a roll's keys and amounts come in a table's deltas: for each of the deltas' own columns which one
// of the roll's it is, or none.
type placed struct{ keys, amounts []int }

const (
	none       = -1
	inEveryKey = 3 // tenant, project and roll
)

func newDeltas(table string, order *[]uint32) *deltas {
	keys, amounts := clickhouse.DeltaKeys(table), clickhouse.DeltaAmounts(table)
	d := &deltas{order: order, texts: make([]stream, len(keys)), amounts: make([]stream, len(amounts))}
	var members []string
	for _, k := range keys {
		members = append(members, k+" String")
	}
	for _, a := range amounts {
		members = append(members, a+" Int64")
	}
	d.name = proto.ColumnType("Array(Tuple(" + strings.Join(members, ", ") + "))")
	for _, id := range clickhouse.Rolls() {
		d.rolls = append(d.rolls, placed{
			keys: places(keys[inEveryKey:], id.Roll().Keys), amounts: places(amounts, id.Roll().Amounts),
		})
	}
	return d
}

// places are where each of the columns is among those that a roll has, which slices.Index says: none where it isn't.
func places(columns, has []string) []int {
	at := make([]int, len(columns))
	for i, c := range columns {
		at[i] = slices.Index(has, c)
	}
	return at
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
	d.texts[0].text("")
	d.texts[1].text(project)
	for i := range d.texts[2:] {
		d.texts[2+i].text("")
	}
	for i := range d.amounts {
		d.amounts[i].integer(0)
	}
}

func (d *deltas) add(roll clickhouse.RollID, tenant, project []byte, keys [][]byte, amounts []int64) {
	d.rows++
	d.texts[0].bytes(tenant)
	d.texts[1].bytes(project)
	d.texts[2].text(roll.Roll().Name)
	placed := &d.rolls[roll]
	for i, at := range placed.keys {
		if at == none {
			d.texts[inEveryKey+i].text("")
		} else {
			d.texts[inEveryKey+i].bytes(keys[at])
		}
	}
	for i, at := range placed.amounts {
		if at == none {
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
	for range *d.order {
		b.PutUInt64(uint64(d.rows))
	}
	for i := range d.texts {
		b.PutRaw(d.texts[i].data)
	}
	for i := range d.amounts {
		b.PutRaw(d.amounts[i].data)
	}
}

// WriteColumn implements proto.ColInput.
func (d *deltas) WriteColumn(out *proto.Writer) { out.ChainBuffer(d.EncodeColumn) }
