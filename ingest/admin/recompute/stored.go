package recompute

import (
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/ingest/admin/keyrange"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/clickhouse"
)

// stored are rows of the table sums, added up by the keys that their rolls have. It holds one block of a result at a
// time.
type stored struct {
	entity  *store.Entity
	project proto.ColStr
	roll    proto.ColStr
	keys    [clickhouse.MaxRollKeys]proto.ColStr
	amounts [clickhouse.MaxRollAmounts]proto.ColInt128
}

func newStored(e *store.Entity) *stored { return &stored{entity: e} }

// query adds up the sums of a range. Columns that a roll doesn't have do not tell its sums apart, whatever is in them.
func (s *stored) query() string {
	columns, by := []string{"project AS of_project", "roll AS of_roll"}, []string{"of_project", "of_roll"}
	for i, k := range clickhouse.SumKeys()[inEveryKey:] {
		having := []string{"''"}
		for _, id := range s.entity.Rolls() {
			if id.Roll().KeyPlaces()[i] != clickhouse.None {
				having = append(having, "'"+id.Roll().Name+"'")
			}
		}
		columns = append(columns, fmt.Sprintf("if(roll IN (%s), %s, '') AS of_%[2]s", strings.Join(having, ", "), k))
		by = append(by, "of_"+k)
	}
	for _, a := range clickhouse.SumAmounts() {
		columns = append(columns, fmt.Sprintf("sum(%s) AS sum_%[1]s", a))
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM sums WHERE " + keyrange.Where + " AND " + ofRolls +
		" GROUP BY " + strings.Join(by, ", ")
}

// results are the columns that a result of the query is read into, in its order.
func (s *stored) results() proto.Results {
	all := proto.Results{{Name: "of_project", Data: &s.project}, {Name: "of_roll", Data: &s.roll}}
	for i, k := range clickhouse.SumKeys()[inEveryKey:] {
		all = append(all, proto.ResultColumn{Name: "of_" + k, Data: &s.keys[i]})
	}
	for i, a := range clickhouse.SumAmounts() {
		all = append(all, proto.ResultColumn{Name: "sum_" + a, Data: &s.amounts[i]})
	}
	return all
}

func (s *stored) rows() int { return s.project.Rows() }

// sum is row i; known is false for a roll that this binary doesn't know.
func (s *stored) sum(i int) (d *Difference, known bool) {
	id, known := clickhouse.RollNamed(s.roll.Row(i))
	if !known {
		return nil, false
	}
	roll := id.Roll()
	d = &Difference{Roll: id, Project: s.project.Row(i), Keys: make([]string, len(roll.Keys))}
	for column, at := range roll.KeyPlaces() {
		if at != clickhouse.None {
			d.Keys[at] = s.keys[column].Row(i)
		}
	}
	for column, at := range roll.AmountPlaces() {
		if at != clickhouse.None {
			v := s.amounts[column].Row(i)
			d.Have[at] = analytics.NewInt128(int64(v.High), v.Low)
		}
	}
	return d, true
}
