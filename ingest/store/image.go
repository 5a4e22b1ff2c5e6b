package store

import (
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
)

// Images are rows of the state table, read back: what each contributes as it is stored, and what its image says that it should. They
// hold one block of a result at a time.
type Images struct {
	entity     *Entity
	tenant     proto.ColStr
	project    proto.ColStr
	id         proto.ColStr
	rowVersion proto.ColUInt64
	deleted    proto.ColBool
	fields     map[string]proto.Column
	after      group
}

// NewImages makes room for rows of an entity that contributes to views.
func (e *Entity) NewImages() *Images {
	m := &Images{entity: e, fields: map[string]proto.Column{}, after: newGroup(e.Shape)}
	for _, c := range e.Columns {
		m.fields[c.Name] = c.fill().column().(proto.Column) // every column type of ch-go reads as it writes
	}
	return m
}

// Select is the statement that reads the newest rows, in the order of the key, under a condition.
func (m *Images) Select(where string) string {
	columns := []string{"CAST(tenant, 'String') AS of", "project", "id", "row_version", "deleted"}
	for _, c := range m.entity.Columns {
		// As the type that the block has: without LowCardinality.
		columns = append(columns, fmt.Sprintf("CAST(%s, '%s') AS image_%[1]s", c.Name, m.fields[c.Name].Type()))
	}
	for _, member := range m.entity.members() {
		columns = append(columns, fmt.Sprintf("`after.%s` AS after_%[1]s", member))
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + m.entity.Table + " FINAL WHERE " + where + " ORDER BY tenant, project, id"
}

// Results are the columns that a result of Select is read into.
func (m *Images) Results() proto.Results {
	all := proto.Results{
		{Name: "of", Data: &m.tenant}, {Name: "project", Data: &m.project}, {Name: "id", Data: &m.id}, {Name: "row_version", Data: &m.rowVersion},
		{Name: "deleted", Data: &m.deleted},
	}
	for _, c := range m.entity.Columns {
		all = append(all, proto.ResultColumn{Name: "image_" + c.Name, Data: m.fields[c.Name]})
	}
	all = append(all, proto.ResultColumn{Name: "after_position", Data: m.after.at})
	for i, k := range m.entity.Shape.Keys {
		all = append(all, proto.ResultColumn{Name: "after_" + k, Data: m.after.keys[i]})
	}
	for i, s := range m.entity.Shape.Sums {
		all = append(all, proto.ResultColumn{Name: "after_" + s, Data: m.after.sums[i]})
	}
	return all
}

// Rows is how many rows the block has.
func (m *Images) Rows() int { return m.tenant.Rows() }

// Row is the identity of row i.
func (m *Images) Row(i int) (tenant, project, id string, rowVersion uint64) {
	return m.tenant.Row(i), m.project.Row(i), m.id.Row(i), m.rowVersion.Row(i)
}

// Stored are the contributions that row i carries.
func (m *Images) Stored(i int) analytics.Contributions { return m.after.row(i) }

// Computed are the contributions that row i should carry: none for a deleted entity, or one that went to another project.
func (m *Images) Computed(i int) (analytics.Contributions, error) {
	if m.deleted.Row(i) {
		return analytics.Contributions{}, nil
	}
	return m.entity.Contributions(m.id.Row(i), m.entity.restore(image{m, i}))
}

// row is what one row's group has, entry by entry.
func (g *group) row(i int) (c analytics.Contributions) {
	keys := make([][]string, len(g.keys))
	for j, k := range g.keys {
		keys[j] = k.Row(i)
	}
	sums := make([][]int64, len(g.sums))
	for j, s := range g.sums {
		sums[j] = s.Row(i)
	}
	if len(sums) == 0 || len(sums[0]) == 0 {
		return c
	}
	for entry := range sums[0] {
		for j := range keys {
			c.Keys = append(c.Keys, keys[j][entry])
		}
		for j := range sums {
			c.Sums = append(c.Sums, sums[j][entry])
		}
	}
	return c
}

// image is one row's after image, of which an entity restores as much of its payload as contributes.
type image struct {
	all *Images
	row int
}

func (m image) project() string { return m.all.project.Row(m.row) }

// read is the value of a column. V is what the column is made of, which a test holds for every entity.
func read[V any](m image, column string) V {
	return m.all.fields[column].(interface{ Row(int) V }).Row(m.row)
}
