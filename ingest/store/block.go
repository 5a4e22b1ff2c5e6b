package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
)

// Row is one line for the state table.
type Row struct {
	Tenant      string
	Project     string
	ID          string
	Version     uint64 // of the entity; of a position row the position
	Deleted     bool
	At          time.Time
	Data        any // the payload; nil for a deleted or moved entity and for a position row
	SrcOffset   uint64
	KeyHash     uint32
	ContentHash uint64
	Moved       bool
}

// Block collects the rows of one insert, column by column, in the form in which they are sent. It asks for no memory
// once it has grown, and is used again after Reset.
type Block struct {
	entity *Entity
	rows   uint32
	order  []uint32 // in which rows are sent
	gone   []uint32 // rows that a later one of the same entity replaced

	tenant, project, id, rowVersion, deleted, at *wire
	image                                        []*wire
	srcOffset, keyHash, contentHash, moved       *wire
	deltas                                       *deltas
	sorting                                      sorting
	columns                                      database.Batch
	all                                          []*wire
}

// NewBlock makes an empty block for rows of the entity.
func (e *Entity) NewBlock() *Block {
	b := &Block{entity: e}
	b.tenant = b.add("tenant", textKind)
	b.project = b.add("project", textKind)
	b.id = b.add("id", textKind)
	b.rowVersion = b.add("row_version", uint64Kind)
	b.deleted = b.add("deleted", boolKind)
	b.at = b.add("at", instantKind)
	for _, c := range e.Columns {
		b.image = append(b.image, b.add(c.Name, c.kind))
	}
	b.srcOffset = b.add("src_offset", uint64Kind)
	b.keyHash = b.add("key_hash", uint32Kind)
	b.contentHash = b.add("content_hash", uint64Kind)
	b.moved = b.add("moved", boolKind)
	if e.Contributes() {
		b.deltas = newDeltas(&b.order)
		b.columns = append(b.columns, proto.InputColumn{Name: "delta", Data: b.deltas})
	}
	return b
}

func (b *Block) add(name string, k *columnKind) *wire {
	w := newWire(k, &b.order)
	b.all = append(b.all, w)
	b.columns = append(b.columns, proto.InputColumn{Name: name, Data: w})
	return w
}

// Rows is how many rows will be sent, once Sort has put them in order.
func (b *Block) Rows() int { return int(b.rows) - len(b.gone) }

// Bytes is how many bytes the rows take.
func (b *Block) Bytes() (n int) {
	for _, w := range b.all {
		n += len(w.values.data) + len(w.nulls.data)
	}
	return n
}

// Reset empties the block, which keeps its memory for the next rows. A block whose insert failed is not used again.
func (b *Block) Reset() {
	for _, w := range b.all {
		w.reset()
	}
	if b.deltas != nil {
		b.deltas.reset()
	}
	b.rows, b.order, b.gone = 0, b.order[:0], b.gone[:0]
}

// Append adds a row and returns its number.
func (b *Block) Append(r *Row) (number uint32) {
	b.tenant.values.text(r.Tenant)
	b.project.values.text(r.Project)
	b.id.values.text(r.ID)
	b.rowVersion.values.uint64(r.Version)
	b.deleted.values.bool(r.Deleted)
	b.at.values.instant(r.At)
	for _, w := range []*wire{b.tenant, b.project, b.id} {
		w.values.endRow()
	}
	for i := range b.entity.Columns {
		b.entity.Columns[i].put(b.image[i], r.Data)
	}
	b.srcOffset.values.uint64(r.SrcOffset)
	b.keyHash.values.uint32(r.KeyHash)
	b.contentHash.values.uint64(r.ContentHash)
	b.moved.values.bool(r.Moved)
	b.rows++
	return b.rows - 1
}

// ID is the id of a row by its number, also of one that was dropped. It is good until the next Append.
func (b *Block) ID(number uint32) []byte { return textOf(b.id.values.row(number)) }

// Drop leaves a row out: a later one replaces it.
func (b *Block) Drop(number uint32) { b.gone = append(b.gone, number) }

// AppendPosition adds the position row of a batch that brings a partition to next, whose last message has the leader epoch, -1
// where that isn't known. It is the first of the batch's summands, too: a batch whose changes add nothing still moves the view.
func (b *Block) AppendPosition(partition int32, next uint64, epoch int32, at time.Time) {
	b.Append(&Row{
		Project: clickhouse.PositionProject(partition), Version: next, SrcOffset: next - 1, At: at, KeyHash: clickhouse.StoredEpoch(epoch),
	})
	if b.deltas != nil {
		b.deltas.position(clickhouse.ViewPositionProject(b.entity.Table, partition))
	}
}

// AddDelta adds what the batch changes in one sum. keys and amounts are in the order of the roll's.
func (b *Block) AddDelta(roll clickhouse.RollID, tenant, project []byte, keys [][]byte, amounts []int64) {
	b.deltas.add(roll, tenant, project, keys, amounts)
}

// Deltas is how many summands the position row carries.
func (b *Block) Deltas() int {
	if b.deltas == nil {
		return 0
	}
	return b.deltas.rows
}

// Sort puts the rows in the order of the table's key, which the server would have to do otherwise.
func (b *Block) Sort() { b.order = b.sorting.sort(b) }

// Batch is the block as the data of an insert.
func (b *Block) Batch() database.Batch { return b.columns }

// Insert is the statement that moves the block into the state table, under a condition. Its parameters are partition
// and first, the position at which the batch begins, besides those of the condition.
func (e *Entity) Insert(condition string) string {
	into := []string{"tenant", "project", "id", "row_version", "deleted", "at"}
	for _, c := range e.Columns {
		into = append(into, c.Name)
	}
	into = append(into, "src_offset", "key_hash", "content_hash", "moved")
	if e.Contributes() {
		into = append(into, "delta")
	}
	columns := strings.Join(into, ", ")
	return fmt.Sprintf("INSERT INTO %s (%s, src_partition, batch_first) SELECT %s, {partition:UInt32}, {first:UInt64} FROM batch WHERE %s",
		e.Table, columns, columns, condition)
}
