package recompute

import (
	"encoding/binary"
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
)

// Batch collects rows for sums, for one insert.
type Batch struct {
	keys     []*texts           // clickhouse.SumKeys
	position [2]proto.ColInt128 // and squares
	amounts  []*proto.ColInt128 // clickhouse.SumAmounts
}

// NewBatch makes an empty batch.
func NewBatch() *Batch {
	b := new(Batch)
	for range clickhouse.SumKeys() {
		b.keys = append(b.keys, new(texts))
	}
	for range clickhouse.SumAmounts() {
		b.amounts = append(b.amounts, new(proto.ColInt128))
	}
	return b
}

// Rows is how many rows the batch has.
func (b *Batch) Rows() int { return b.position[0].Rows() }

// Add adds what a sum lacks.
func (b *Batch) Add(d *Difference) {
	roll, lacks := d.Roll.Roll(), d.Lacks()
	for i, column := range clickhouse.SumKeys() {
		text := ""
		switch at := slices.Index(roll.Keys, column); {
		case column == "roll":
			text = roll.Name
		case column == "tenant":
			text = d.Tenant
		case column == "project":
			text = d.Project
		case at >= 0:
			text = d.Keys[at]
		}
		b.keys[i].add(text)
	}
	b.position[0].Append(proto.Int128{})
	b.position[1].Append(proto.Int128{})
	for i, column := range clickhouse.SumAmounts() {
		var v analytics.Int128
		if at := slices.Index(roll.Amounts, column); at >= 0 {
			v = lacks[at]
		}
		b.amounts[i].Append(wide(v))
	}
}

// AddPosition adds what the position of a partition's view lacks.
func (b *Batch) AddPosition(table string, partition int32, position, squares analytics.Int128) {
	for i, column := range clickhouse.SumKeys() {
		text := ""
		if column == "project" {
			text = clickhouse.ViewPositionProject(table, partition)
		}
		b.keys[i].add(text)
	}
	b.position[0].Append(wide(position))
	b.position[1].Append(wide(squares))
	for _, a := range b.amounts {
		a.Append(proto.Int128{})
	}
}

func wide(v analytics.Int128) proto.Int128 {
	high, low := v.Words()
	return proto.Int128{High: uint64(high), Low: low}
}

// Columns names the columns that a batch fills: all of sums.
func Columns() []string {
	return slices.Concat(clickhouse.SumKeys(), []string{"position", "squares"}, clickhouse.SumAmounts())
}

// Columns are the batch as an insert brings it along.
func (b *Batch) Columns() database.Batch {
	var all database.Batch
	for i, name := range clickhouse.SumKeys() {
		all = append(all, proto.InputColumn{Name: name, Data: b.keys[i]})
	}
	all = append(all, proto.InputColumn{Name: "position", Data: &b.position[0]}, proto.InputColumn{Name: "squares", Data: &b.position[1]})
	for i, name := range clickhouse.SumAmounts() {
		all = append(all, proto.InputColumn{Name: name, Data: b.amounts[i]})
	}
	return all
}

// texts is a column of texts in the form in which it is sent. Most are empty: proto.ColStr takes 16 bytes for each,
// this one.
type texts struct {
	rows int
	sent []byte
}

func (t *texts) add(text string) {
	t.rows++
	t.sent = append(binary.AppendUvarint(t.sent, uint64(len(text))), text...)
}

// Type implements proto.ColInput.
func (t *texts) Type() proto.ColumnType { return proto.ColumnTypeString }

// Rows implements proto.ColInput.
func (t *texts) Rows() int { return t.rows }

// EncodeColumn implements proto.ColInput.
func (t *texts) EncodeColumn(b *proto.Buffer) { b.PutRaw(t.sent) }

// WriteColumn implements proto.ColInput.
func (t *texts) WriteColumn(w *proto.Writer) { w.ChainWrite(t.sent) }
