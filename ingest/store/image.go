package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
)

// Images are rows of a state table, read back: what identifies them, and what they contribute. They hold one block of a
// result at a time.
type Images struct {
	entity       *Entity
	tenant       texts
	project      texts
	id           texts
	rowVersion   proto.ColUInt64
	deleted      proto.ColBool
	contentHash  proto.ColUInt64
	keyHash      proto.ColUInt32
	srcPartition proto.ColUInt32
	fields       []field // those that the contribution is computed from
	next         int     // the field that is likely to be read next: they are read in their order
	again        any     // the payload restored last: its memory may be used again
	nodes        []string
	amounts      []int64
}

type field struct {
	name   string
	column proto.Column
	typed  any // the column as what it is made of, once that was asked
}

// NewImages makes room for rows of an entity.
func (e *Entity) NewImages() *Images {
	m := &Images{entity: e, tenant: newTexts(), project: newTexts(), id: newTexts()}
	for _, name := range e.restored {
		for _, c := range e.Columns {
			if c.Name == name {
				m.fields = append(m.fields, field{name: name, column: c.kind.result()})
			}
		}
	}
	return m
}

// Select is the statement that reads rows under a condition. FINAL reads the newest of each entity alone. They come in
// no order.
func (m *Images) Select(final bool, where string) string {
	columns := []string{"CAST(tenant, 'String') AS of", "project", "id", "row_version", "deleted", "content_hash", "key_hash", "src_partition"}
	for _, f := range m.fields {
		// As the type that the block has: without LowCardinality.
		columns = append(columns, fmt.Sprintf("CAST(%s, '%s') AS image_%[1]s", f.name, f.column.Type()))
	}
	from := m.entity.Table
	if final {
		from += " FINAL"
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + from + " WHERE " + where
}

// Results are the columns that a result of Select is read into.
func (m *Images) Results() proto.Results {
	all := proto.Results{
		{Name: "of", Data: m.tenant}, {Name: "project", Data: m.project}, {Name: "id", Data: m.id},
		{Name: "row_version", Data: &m.rowVersion}, {Name: "deleted", Data: &m.deleted},
		{Name: "content_hash", Data: &m.contentHash}, {Name: "key_hash", Data: &m.keyHash},
		{Name: "src_partition", Data: &m.srcPartition},
	}
	for _, f := range m.fields {
		all = append(all, proto.ResultColumn{Name: "image_" + f.name, Data: f.column})
	}
	return all
}

// Rows is how many rows the block has.
func (m *Images) Rows() int { return m.tenant.Rows() }

// Image is what a row says of an entity's newest state, or of a partition's position.
type Image struct {
	Tenant, Project, ID string // parts of the block: good until the next
	Version             uint64 // of a position row the position
	Deleted             bool
	ContentHash         uint64
	KeyHash             uint32
	Partition           int32 // that the row was read from
}

// Row is row i.
func (m *Images) Row(i int) Image {
	return Image{
		Tenant: m.tenant.Row(i), Project: m.project.Row(i), ID: m.id.Row(i), Version: m.rowVersion.Row(i), Deleted: m.deleted.Row(i),
		ContentHash: m.contentHash.Row(i), KeyHash: m.keyHash.Row(i), Partition: int32(m.srcPartition.Row(i)),
	}
}

// Contribution appends what row i contributes by this binary's formula: nothing for a deleted entity, or one that went
// to another project. Its keys are parts of the block, too.
func (m *Images) Contribution(c analytics.Contribution, i int) (analytics.Contribution, error) {
	if m.deleted.Row(i) || !m.entity.Contributes() {
		return c, nil
	}
	m.again = m.entity.restore(image{m, i})
	return m.entity.Contribution(c, m.id.Row(i), m.again)
}

// image is one row's after image, of which an entity restores as much of its payload as contributes.
type image struct {
	all *Images
	row int
}

func (m image) project() string { return m.all.project.Row(m.row) }

// field is one of the fields.
func (m image) field(name string) *field {
	i := m.all.next
	if i == len(m.all.fields) || m.all.fields[i].name != name {
		i = slices.IndexFunc(m.all.fields, func(f field) bool { return f.name == name })
	}
	m.all.next = i + 1
	return &m.all.fields[i]
}

// values and lists are columns by what they are made of. A field keeps its own: to ask a column anew for each of ten
// million rows whether it is one took a twentieth of the time.
type (
	values[V any] struct{ rows interface{ Row(int) V } }
	lists[V any]  struct {
		rows interface{ RowAppend(int, []V) []V }
	}
)

// read is the value of a column. V is what the column is made of, which a test holds for every entity.
func read[V any](m image, column string) V {
	f := m.field(column)
	typed, ok := f.typed.(*values[V])
	if !ok {
		typed = &values[V]{f.column.(interface{ Row(int) V })}
		f.typed = typed
	}
	return typed.rows.Row(m.row)
}

// readList appends the elements of a column's array to a list.
func readList[V any](m image, column string, list []V) []V {
	f := m.field(column)
	typed, ok := f.typed.(*lists[V])
	if !ok {
		typed = &lists[V]{f.column.(interface{ RowAppend(int, []V) []V })}
		f.typed = typed
	}
	return typed.rows.RowAppend(m.row, list)
}
