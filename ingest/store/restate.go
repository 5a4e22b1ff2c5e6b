package store

import (
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/ingest/store/database"
)

// MaxRestatement is how often an entity's version can be re-stated.
const MaxRestatement = restatements - 1

// Restatement returns how often the row's version was re-stated.
func Restatement(rowVersion uint64) int { return int(rowVersion % restatements) }

// Restated collects what rows contribute by another formula, for one insert that re-states them.
type Restated struct {
	entity     *Entity
	project    proto.ColStr
	id         proto.ColStr
	rowVersion proto.ColUInt64
	after      group
}

// NewRestated makes an empty collection.
func (e *Entity) NewRestated() *Restated {
	return &Restated{entity: e, after: newGroup(e.Shape)}
}

// Append adds the row of an entity, as it is identified now, with its new contributions.
func (r *Restated) Append(project, id string, rowVersion uint64, c analytics.Contributions) {
	r.project.Append(project)
	r.id.Append(id)
	r.rowVersion.Append(rowVersion)
	r.after.append(c, 1)
}

// Rows is how many rows are collected.
func (r *Restated) Rows() int { return r.project.Rows() }

// Batch is the collection as an insert brings it along.
func (r *Restated) Batch() database.Batch {
	b := Block{columns: database.Batch{
		{Name: "new_project", Data: &r.project}, {Name: "new_id", Data: &r.id}, {Name: "new_version", Data: &r.rowVersion},
	}}
	r.after.addTo(&b, "new")
	return b.columns
}

// Restate is the statement that gives the rows of a batch their new contributions: each row once more, its restatement one higher, the
// old contributions in before and the new in after. where picks a part of the table that has them all.
func (e *Entity) Restate(where, condition string) string {
	into := []string{"tenant", "project", "id", "row_version", "deleted", "at"}
	from := []string{"tenant", "project", "id", "row_version + 1", "deleted", "at"}
	for _, c := range e.Columns {
		into, from = append(into, c.Name), append(from, c.Name)
	}
	for _, c := range []string{"src_partition", "src_offset", "batch_first", "key_hash", "content_hash", "moved"} {
		into, from = append(into, c), append(from, c)
	}
	for i, m := range e.members() {
		into = append(into, "`before."+m+"`", "`after."+m+"`")
		before := "`after." + m + "`"
		if i == 0 || i > len(e.Shape.Keys) { // position and the sums
			before = "arrayMap(summand -> -summand, " + before + ")"
		}
		from = append(from, before, "new_"+m)
	}
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM (SELECT * FROM %[1]s FINAL WHERE %[4]s AND id IN (SELECT new_id FROM batch)) AS old"+
		" INNER JOIN batch ON old.project = batch.new_project AND old.id = batch.new_id AND old.row_version = batch.new_version WHERE %[5]s",
		e.Table, strings.Join(into, ", "), strings.Join(from, ", "), where, condition)
}
