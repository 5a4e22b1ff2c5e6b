// Package recompute finds where the sums are not what the rows of their state table say, by this binary's formula. Rebuild mends what it
// finds, verify reports it.
package recompute

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/ingest/admin/keyrange"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
)

// Amounts are those of one sum, in the order of its roll's.
type Amounts [clickhouse.MaxRollAmounts]analytics.Int128

// Difference is a sum that is not what it should be.
type Difference struct {
	Roll            clickhouse.RollID
	Tenant, Project string
	Keys            []string // in the order of the roll's
	Want, Have      Amounts
}

// Lacks is what is to be added to the sum.
func (d *Difference) Lacks() (lacks Amounts) {
	for i := range lacks {
		lacks[i] = d.Want[i].Sub(d.Have[i])
	}
	return lacks
}

// ErrRefused says that a row cannot contribute by this binary's formula.
var ErrRefused = errors.New("cannot contribute by this release's formula")

// Database is what is asked.
type Database interface {
	Scan(ctx context.Context, q database.Query, into proto.Results, each func() error) error
}

// Ranges cuts all that the table and its sums hold into ranges of about so many rows, more where a single project has more.
func Ranges(ctx context.Context, db keyrange.Database, e *store.Entity, rows uint64) ([]keyrange.Range, error) {
	ranges, err := keyrange.Cut(ctx, db, rows, e.Table)
	if err != nil {
		return nil, err
	}
	summed, err := keyrange.CutWhere(ctx, db, rows, "sums", "roll IN {rolls:Array(String)}", database.Params{"rolls": rollNames(e)})
	if err != nil {
		return nil, err
	}
	return keyrange.Union(ranges, summed), nil
}

// rollNames are the names of the entity's rolls, as a parameter.
func rollNames(e *store.Entity) string {
	var names []string
	for _, id := range e.Rolls() {
		names = append(names, "'"+id.Roll().Name+"'")
	}
	return "[" + strings.Join(names, ",") + "]"
}

// scanLimit bounds one scan of a slice.
const scanLimit = time.Hour

// Slice recomputes the sums of the projects in a range, and hands out those that differ. Its memory grows with the number of sums in the
// range, not of rows. rows is how many rows of the state table it read.
func Slice(ctx context.Context, db Database, e *store.Entity, part keyrange.Range, each func(*Difference) error) (rows uint64, err error) {
	s := slice{tenant: part.Tenant, sums: map[string]*pair{}}
	if rows, err = s.expect(ctx, db, e, part); err != nil {
		return rows, err
	}
	if err := s.found(ctx, db, e, part); err != nil {
		return rows, err
	}
	for key, p := range s.sums {
		if p.want != p.have {
			if err := each(s.difference(key, p)); err != nil {
				return rows, err
			}
		}
	}
	return rows, nil
}

// Check finds out whether all rows of a range can contribute by this binary's formula: an ErrRefused names one that can't.
func Check(ctx context.Context, db Database, e *store.Entity, part keyrange.Range) error {
	s := slice{tenant: part.Tenant}
	_, err := s.expect(ctx, db, e, part)
	return err
}

// slice holds the sums of some projects of a tenant, by their keys: project, roll, the roll's keys.
type slice struct {
	tenant string
	sums   map[string]*pair // nil: nothing is added up
	key    []byte
}

type pair struct{ want, have Amounts }

// expect adds up what the rows contribute.
func (s *slice) expect(ctx context.Context, db Database, e *store.Entity, part keyrange.Range) (rows uint64, err error) {
	images := e.NewImages()
	var c analytics.Contribution
	q := database.Query{SQL: images.Select(true, keyrange.Where), Params: part.Params(), Limit: scanLimit}
	err = db.Scan(ctx, q, images.Results(), func() error {
		rows += uint64(images.Rows())
		for i := range images.Rows() {
			row := images.Row(i)
			if c, err = images.Contribution(c[:0], i); err != nil {
				return fmt.Errorf("%s %s/%s: %w: %w", e.Table, row.Tenant, row.ID, ErrRefused, err)
			}
			if s.sums == nil {
				continue
			}
			for j := range c {
				p := s.at(row.Project, c[j].Roll, c[j].Keys[:len(c[j].Roll.Roll().Keys)])
				for k, v := range c[j].Amounts {
					p.want[k] = p.want[k].Add(analytics.Int(v))
				}
			}
		}
		return nil
	})
	if err != nil {
		return rows, fmt.Errorf("read %s: %w", e.Table, err)
	}
	return rows, nil
}

// found reads what the sums hold.
func (s *slice) found(ctx context.Context, db Database, e *store.Entity, part keyrange.Range) error {
	keys, amounts := clickhouse.SumKeys()[1:], clickhouse.SumAmounts() // without the tenant
	texts, sums := make([]proto.ColStr, len(keys)), make([]proto.ColInt128, len(amounts))
	var results proto.Results
	var columns []string
	for i, k := range keys {
		columns = append(columns, "CAST("+k+", 'String') AS of_"+k)
		results = append(results, proto.ResultColumn{Name: "of_" + k, Data: &texts[i]})
	}
	for i, a := range amounts {
		columns = append(columns, "sum("+a+") AS sum_"+a)
		results = append(results, proto.ResultColumn{Name: "sum_" + a, Data: &sums[i]})
	}
	keyAt, amountAt := indexes(keys), indexes(amounts)
	q := database.Query{
		SQL: "SELECT " + strings.Join(columns, ", ") + " FROM sums WHERE " + keyrange.Where + " AND roll IN {rolls:Array(String)} GROUP BY " +
			strings.Join(keys, ", "),
		Params: part.Params().With(database.Params{"rolls": rollNames(e)}), Limit: scanLimit,
	}
	err := db.Scan(ctx, q, results, func() error {
		for i := range texts[0].Rows() {
			id, known := clickhouse.RollNamed(texts[keyAt["roll"]].Row(i))
			if !known {
				continue
			}
			var of []string
			for _, k := range id.Roll().Keys {
				of = append(of, texts[keyAt[k]].Row(i))
			}
			p := s.at(texts[keyAt["project"]].Row(i), id, of)
			for j, a := range id.Roll().Amounts {
				p.have[j] = p.have[j].Add(int128(sums[amountAt[a]].Row(i)))
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the sums of %s: %w", e.Table, err)
	}
	return nil
}

func indexes(of []string) map[string]int {
	at := map[string]int{}
	for i, name := range of {
		at[name] = i
	}
	return at
}

func int128(v proto.Int128) analytics.Int128 { return analytics.NewInt128(int64(v.High), v.Low) }

// at is the pair of a sum.
func (s *slice) at(project string, roll clickhouse.RollID, keys []string) *pair {
	s.key = appendText(append(s.key[:0], byte(roll)), project)
	for _, k := range keys {
		s.key = appendText(s.key, k)
	}
	p := s.sums[string(s.key)]
	if p == nil {
		p = new(pair)
		s.sums[string(s.key)] = p
	}
	return p
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func (s *slice) difference(key string, p *pair) *Difference {
	rest := []byte(key[1:])
	next := func() string {
		n, size := binary.Uvarint(rest)
		text := rest[size : size+int(n)]
		rest = rest[size+int(n):]
		return string(text)
	}
	d := &Difference{Roll: clickhouse.RollID(key[0]), Tenant: s.tenant, Project: next(), Want: p.want, Have: p.have}
	for range d.Roll.Roll().Keys {
		d.Keys = append(d.Keys, next())
	}
	return d
}
