package recompute

import (
	"encoding/binary"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
)

// Batch collects rows for sums, for one insert.
type Batch struct {
	keys    []*texts           // clickhouse.SumKeys
	amounts []*proto.ColInt128 // clickhouse.SumAmounts
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
func (b *Batch) Rows() int { return b.amounts[0].Rows() }

// Add adds what a sum lacks.
func (b *Batch) Add(d *Difference) {
	roll, lacks := d.Roll.Roll(), d.lacks()
	b.begin(d.Tenant, d.Project, d.text())
	for i, at := range roll.AmountPlaces() {
		var v analytics.Int128
		if at != clickhouse.None {
			v = lacks[at]
		}
		b.amounts[i].Append(wide(v))
	}
}

func (b *Batch) begin(tenant, project, keys string) {
	for i, text := range [...]string{tenant, project, keys} {
		b.keys[i].add(text)
	}
}

// AddPosition adds what the position of a partition's view lacks.
func (b *Batch) AddPosition(table string, partition int32, position, squares analytics.Int128) {
	b.begin("", clickhouse.ViewPositionProject(table, partition), "")
	for i, column := range clickhouse.SumAmounts() {
		var v analytics.Int128
		switch column {
		case clickhouse.AmountColumn("position"):
			v = position
		case clickhouse.AmountColumn("squares"):
			v = squares
		}
		b.amounts[i].Append(wide(v))
	}
}

func wide(v analytics.Int128) proto.Int128 {
	high, low := v.Words()
	return proto.Int128{High: uint64(high), Low: low}
}

// Columns are the batch as an insert brings it along: all columns of sums.
func (b *Batch) Columns() database.Batch {
	var all database.Batch
	for i, name := range clickhouse.SumKeys() {
		all = append(all, proto.InputColumn{Name: name, Data: b.keys[i]})
	}
	for i, name := range clickhouse.SumAmounts() {
		all = append(all, proto.InputColumn{Name: name, Data: b.amounts[i]})
	}
	return all
}

// texts is a column of texts in the form in which it is sent.
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
