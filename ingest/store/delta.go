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
	order *[]uint32
	rows  int      // entries
	texts []stream // those of every table, then this one's own
	sums  []stream // between them
	own   int      // where its own texts begin
	name  proto.ColumnType

	keyAt    [][]int // by roll: the texts that its keys are
	amountAt [][]int // by roll: the sums that its amounts are
}

func newDeltas(table string, order *[]uint32) *deltas {
	common, amounts, own := clickhouse.DeltaKeys(), clickhouse.SumAmounts(), clickhouse.OwnKeys(table)
	keys := slices.Concat(common, own)
	d := &deltas{order: order, texts: make([]stream, len(keys)), sums: make([]stream, len(amounts)), own: len(common)}
	var members []string
	for _, k := range common {
		members = append(members, k+" String")
	}
	for _, a := range amounts {
		members = append(members, a+" Int64")
	}
	for _, k := range own {
		members = append(members, k+" String")
	}
	d.name = proto.ColumnType("Array(Tuple(" + strings.Join(members, ", ") + "))")
	for _, id := range clickhouse.Rolls() {
		var keyAt, amountAt []int
		for _, k := range id.Roll().Keys {
			keyAt = append(keyAt, slices.Index(keys, k))
		}
		for _, a := range id.Roll().Amounts {
			amountAt = append(amountAt, slices.Index(amounts, a))
		}
		d.keyAt, d.amountAt = append(d.keyAt, keyAt), append(d.amountAt, amountAt)
	}
	return d
}

func (d *deltas) reset() {
	d.rows = 0
	for i := range d.texts {
		d.texts[i].reset()
	}
	for i := range d.sums {
		d.sums[i].reset()
	}
}

// position adds the entry that moves the view: that of a row, which the view makes its own position of.
func (d *deltas) position(project string) {
	d.texts[0].text("")
	d.texts[1].text("")
	d.texts[2].text(project)
	d.rest(nil, nil, nil, nil)
}

func (d *deltas) add(roll clickhouse.RollID, tenant, project []byte, keys [][]byte, amounts []int64) {
	d.texts[0].text(roll.Roll().Name)
	d.texts[1].bytes(tenant)
	d.texts[2].bytes(project)
	d.rest(d.keyAt[roll], keys, d.amountAt[roll], amounts)
}

func (d *deltas) rest(keyAt []int, keys [][]byte, amountAt []int, amounts []int64) {
	d.rows++
	for i := 3; i < len(d.texts); i++ {
		if at := slices.Index(keyAt, i); at >= 0 {
			d.texts[i].bytes(keys[at])
		} else {
			d.texts[i].text("")
		}
	}
	for i := range d.sums {
		if at := slices.Index(amountAt, i); at >= 0 {
			d.sums[i].integer(amounts[at])
		} else {
			d.sums[i].integer(0)
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
	for i := range d.texts[:d.own] {
		b.PutRaw(d.texts[i].data)
	}
	for i := range d.sums {
		b.PutRaw(d.sums[i].data)
	}
	for i := range d.texts[d.own:] {
		b.PutRaw(d.texts[d.own+i].data)
	}
}

// WriteColumn implements proto.ColInput.
func (d *deltas) WriteColumn(out *proto.Writer) { out.ChainBuffer(d.EncodeColumn) }
