package recompute

import (
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/ingest/admin/keyrange"
	"tallyhouse/schemas/clickhouse"
)

// stored are rows of the table sums, added up. It holds one block of a result at a time.
type stored struct {
	project proto.ColStr
	keys    proto.ColStr
	amounts [clickhouse.MaxRollAmounts]proto.ColInt128
}

// query adds up the sums of a range.
func (s *stored) query() string {
	columns := []string{"project AS of_project", "keys AS of_keys"}
	for _, a := range clickhouse.SumAmounts() {
		columns = append(columns, fmt.Sprintf("sum(%s) AS sum_%[1]s", a))
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM sums WHERE " + keyrange.Where + " AND " + ofRolls +
		" GROUP BY of_project, of_keys"
}

// results are the columns that a result of the query is read into, in its order.
func (s *stored) results() proto.Results {
	all := proto.Results{{Name: "of_project", Data: &s.project}, {Name: "of_keys", Data: &s.keys}}
	for i, a := range clickhouse.SumAmounts() {
		all = append(all, proto.ResultColumn{Name: "sum_" + a, Data: &s.amounts[i]})
	}
	return all
}

func (s *stored) rows() int { return s.project.Rows() }

// sum is row i; known is false for a roll that this binary doesn't know.
func (s *stored) sum(i int) (d *Difference, known bool) {
	text := s.keys.Row(i)
	name, keys, whole := clickhouse.CutKeys(text)
	id, known := clickhouse.RollNamed(name)
	if !known {
		return nil, false
	}
	roll := id.Roll()
	d = &Difference{Roll: id, Project: s.project.Row(i)}
	d.Keys = make([]string, len(roll.Keys))
	for place, at := range roll.KeyPlaces() {
		if at != clickhouse.None {
			d.Keys[at] = keys[place]
		} else if keys[place] != "" {
			whole = false
		}
	}
	if !whole {
		d.Keys, d.Astray = nil, text
	}
	for column, at := range roll.AmountPlaces() {
		if at != clickhouse.None {
			v := s.amounts[column].Row(i)
			d.Have[at] = analytics.NewInt128(int64(v.High), v.Low)
		}
	}
	return d, true
}
