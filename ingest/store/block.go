package store

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/ingest/store/database"
)

// PositionKey is the project of a partition's position row.
func PositionKey(partition int32) string { return "#" + strconv.Itoa(int(partition)) }

// Block collects rows for one insert, column by column.
type Block struct {
	entity      *Entity
	tenant      *proto.ColStr
	project     *proto.ColStr
	id          *proto.ColStr
	rowVersion  *proto.ColUInt64
	deleted     *proto.ColBool
	at          instants
	image       []filler
	srcOffset   *proto.ColUInt64
	keyHash     *proto.ColUInt32
	contentHash *proto.ColUInt64
	moved       *proto.ColBool
	before      group
	after       group
	columns     database.Batch
}

// NewBlock makes an empty block for rows of the entity.
func (e *Entity) NewBlock() *Block {
	b := &Block{
		entity: e, tenant: new(proto.ColStr), project: new(proto.ColStr), id: new(proto.ColStr), rowVersion: new(proto.ColUInt64), deleted: new(proto.ColBool),
		at: newInstants(), srcOffset: new(proto.ColUInt64), keyHash: new(proto.ColUInt32), contentHash: new(proto.ColUInt64), moved: new(proto.ColBool),
	}
	b.add("tenant", b.tenant)
	b.add("project", b.project)
	b.add("id", b.id)
	b.add("row_version", b.rowVersion)
	b.add("deleted", b.deleted)
	b.add("at", b.at)
	for _, c := range e.Columns {
		f := c.fill()
		b.image = append(b.image, f)
		b.add(c.Name, f.column())
	}
	b.add("src_offset", b.srcOffset)
	b.add("key_hash", b.keyHash)
	b.add("content_hash", b.contentHash)
	b.add("moved", b.moved)
	if e.Contributes() {
		b.before = newGroup(e.Shape)
		b.after = newGroup(e.Shape)
		b.before.addTo(b, "before")
		b.after.addTo(b, "after")
	}
	return b
}

func (b *Block) add(name string, c proto.ColInput) {
	b.columns = append(b.columns, proto.InputColumn{Name: name, Data: c})
}

// Rows is how many rows the block holds.
func (b *Block) Rows() int { return b.tenant.Rows() }

// Reset empties the block, which keeps its memory for the next rows. A block whose insert failed is not used again.
func (b *Block) Reset() {
	for _, c := range b.columns {
		c.Data.(interface{ Reset() }).Reset()
	}
}

// Batch is the block as the data of an insert.
func (b *Block) Batch() database.Batch { return b.columns }

// Append adds a row.
func (b *Block) Append(r Row) {
	b.tenant.Append(r.Tenant)
	b.project.Append(r.Project)
	b.id.Append(r.ID)
	b.rowVersion.Append(r.RowVersion)
	b.deleted.Append(r.Deleted)
	b.at.Append(r.At)
	for _, f := range b.image {
		f.append(r.Data)
	}
	b.srcOffset.Append(r.SrcOffset)
	b.keyHash.Append(r.KeyHash)
	b.contentHash.Append(r.ContentHash)
	b.moved.Append(r.Moved)
	if !b.entity.Contributes() {
		return
	}
	if r.position {
		b.before.position(-int64(r.first))
		b.after.position(int64(r.next))
		return
	}
	b.before.append(r.Before, -1)
	b.after.append(r.After, 1)
}

// Insert is the statement that moves the block into the state table, under a condition. Its parameters are partition and first, the
// position at which the batch begins, besides those of the condition.
func (e *Entity) Insert(condition string) string {
	into := []string{"tenant", "project", "id", "row_version", "deleted", "at"}
	for _, c := range e.Columns {
		into = append(into, c.Name)
	}
	into = append(into, "src_offset", "key_hash", "content_hash", "moved")
	from := strings.Join(into, ", ")
	for _, when := range []string{"before", "after"} {
		for _, m := range e.members() {
			into = append(into, "`"+when+"."+m+"`")
			from += ", " + when + "_" + m
		}
	}
	return fmt.Sprintf("INSERT INTO %s (%s, src_partition, batch_first) SELECT %s, {partition:UInt32}, {first:UInt64} FROM batch WHERE %s",
		e.Table, strings.Join(into, ", "), from, condition)
}

// members of a contribution, position first.
func (e *Entity) members() []string {
	if !e.Contributes() {
		return nil
	}
	all := append([]string{"position"}, e.Shape.Keys...)
	return append(all, e.Shape.Sums...)
}

// group is before.* or after.*: arrays of one length per row.
type group struct {
	shape analytics.Shape
	at    *proto.ColArr[int64] // position
	keys  []*proto.ColArr[string]
	sums  []*proto.ColArr[int64]
}

func newGroup(s analytics.Shape) group {
	g := group{shape: s, at: proto.NewArray[int64](new(proto.ColInt64))}
	for range s.Keys {
		g.keys = append(g.keys, proto.NewArray[string](new(proto.ColStr)))
	}
	for range s.Sums {
		g.sums = append(g.sums, proto.NewArray[int64](new(proto.ColInt64)))
	}
	return g
}

func (g *group) addTo(b *Block, when string) {
	b.add(when+"_position", g.at)
	for i, k := range g.shape.Keys {
		b.add(when+"_"+k, g.keys[i])
	}
	for i, s := range g.shape.Sums {
		b.add(when+"_"+s, g.sums[i])
	}
}

// append adds one row's entries, their sums times sign.
func (g *group) append(c analytics.Contributions, sign int64) {
	k, s := len(g.keys), len(g.sums)
	for i := range len(c.Sums) / s {
		g.at.Data.Append(0)
		for j := range k {
			g.keys[j].Data.Append(c.Keys[i*k+j])
		}
		for j := range s {
			g.sums[j].Data.Append(sign * c.Sums[i*s+j])
		}
	}
	g.endRow()
}

// position adds a row whose one entry is a position and nothing else.
func (g *group) position(p int64) {
	g.at.Data.Append(p)
	for _, key := range g.keys {
		key.Data.Append("")
	}
	for _, sum := range g.sums {
		sum.Data.Append(0)
	}
	g.endRow()
}

func (g *group) endRow() {
	end := uint64(g.at.Data.Rows())
	g.at.Offsets.Append(end)
	for _, key := range g.keys {
		key.Offsets.Append(end)
	}
	for _, sum := range g.sums {
		sum.Offsets.Append(end)
	}
}

// Column is a column of the after image and how a payload fills it.
type Column struct {
	Name string
	fill func() filler
}

type filler interface {
	column() proto.ColInput
	append(data any)
}

type fillerOf[P, V any] struct {
	values interface {
		proto.ColInput
		Append(V)
	}
	of func(*P) V
}

func (f fillerOf[P, V]) column() proto.ColInput { return f.values }

func (f fillerOf[P, V]) append(data any) {
	if data == nil {
		var none V
		f.values.Append(none)
		return
	}
	f.values.Append(f.of(data.(*P)))
}

func textColumn[P any](name string, of func(*P) string) Column {
	return Column{name, func() filler { return fillerOf[P, string]{new(proto.ColStr), of} }}
}

func boolColumn[P any](name string, of func(*P) bool) Column {
	return Column{name, func() filler { return fillerOf[P, bool]{new(proto.ColBool), of} }}
}

func textOrNull[P any](name string, of func(*P) proto.Nullable[string]) Column {
	return Column{name, func() filler {
		return fillerOf[P, proto.Nullable[string]]{proto.NewColNullable[string](new(proto.ColStr)), of}
	}}
}

func integerOrNull[P any](name string, of func(*P) proto.Nullable[int64]) Column {
	return Column{name, func() filler {
		return fillerOf[P, proto.Nullable[int64]]{proto.NewColNullable[int64](new(proto.ColInt64)), of}
	}}
}

func dateOrNull[P any](name string, of func(*P) proto.Nullable[time.Time]) Column {
	return Column{name, func() filler {
		return fillerOf[P, proto.Nullable[time.Time]]{proto.NewColNullable[time.Time](new(proto.ColDate32)), of}
	}}
}

func instantOrNull[P any](name string, of func(*P) proto.Nullable[time.Time]) Column {
	return Column{name, func() filler {
		return fillerOf[P, proto.Nullable[time.Time]]{proto.NewColNullable[time.Time](newInstants()), of}
	}}
}

func textsColumn[P any](name string, of func(*P) []string) Column {
	return Column{name, func() filler { return fillerOf[P, []string]{proto.NewArray[string](new(proto.ColStr)), of} }}
}

func integersColumn[P any](name string, of func(*P) []int64) Column {
	return Column{name, func() filler { return fillerOf[P, []int64]{proto.NewArray[int64](new(proto.ColInt64)), of} }}
}
