package recompute

import (
	"fmt"
	"slices"
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
	keys    map[string]*proto.ColStr    // by column
	amounts map[string]*proto.ColInt128 // by column
}

func newStored(e *store.Entity) *stored {
	s := &stored{entity: e, keys: map[string]*proto.ColStr{}, amounts: map[string]*proto.ColInt128{}}
	for _, id := range e.Rolls() {
		for _, k := range id.Roll().Keys {
			s.keys[k] = new(proto.ColStr)
		}
		for _, a := range id.Roll().Amounts {
			s.amounts[a] = new(proto.ColInt128)
		}
	}
	return s
}

// query adds up the sums of a range. Columns that a roll doesn't have do not tell its sums apart, whatever is in them.
func (s *stored) query() string {
	columns, by := []string{"project AS of_project", "CAST(roll, 'String') AS of_roll"}, []string{"of_project", "of_roll"}
	for _, k := range clickhouse.SumKeys() {
		if s.keys[k] == nil {
			continue
		}
		var having []string
		for _, id := range s.entity.Rolls() {
			if slices.Contains(id.Roll().Keys, k) {
				having = append(having, "'"+id.Roll().Name+"'")
			}
		}
		columns = append(columns, fmt.Sprintf("if(roll IN (%s), CAST(%s, 'String'), '') AS of_%[2]s", strings.Join(having, ", "), k))
		by = append(by, "of_"+k)
	}
	for _, a := range clickhouse.SumAmounts() {
		if s.amounts[a] != nil {
			columns = append(columns, fmt.Sprintf("sum(%s) AS sum_%[1]s", a))
		}
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM sums WHERE " + keyrange.Where + " AND " + ofRolls +
		" GROUP BY " + strings.Join(by, ", ")
}

// results are the columns that a result of the query is read into, in its order.
func (s *stored) results() proto.Results {
	all := proto.Results{{Name: "of_project", Data: &s.project}, {Name: "of_roll", Data: &s.roll}}
	for _, k := range clickhouse.SumKeys() {
		if column := s.keys[k]; column != nil {
			all = append(all, proto.ResultColumn{Name: "of_" + k, Data: column})
		}
	}
	for _, a := range clickhouse.SumAmounts() {
		if column := s.amounts[a]; column != nil {
			all = append(all, proto.ResultColumn{Name: "sum_" + a, Data: column})
		}
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
	d = &Difference{Roll: id, Project: s.project.Row(i)}
	for _, k := range id.Roll().Keys {
		d.Keys = append(d.Keys, s.keys[k].Row(i))
	}
	for j, a := range id.Roll().Amounts {
		v := s.amounts[a].Row(i)
		d.Have[j] = analytics.NewInt128(int64(v.High), v.Low)
	}
	return d, true
}
