// Package recompute finds where the sums are not what the rows of their state table say, by this binary's formula.
// Rebuild corrects what it finds, verify reports it.
package recompute

import (
	"context"
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
	Astray          string   // the stored keys, where the roll has none of this form: nothing is wanted of them
	Want, Have      Amounts
}

// text is what the column keys has of the sum.
func (d *Difference) text() string {
	if d.Astray != "" {
		return d.Astray
	}
	return string(clickhouse.AppendKeys(nil, d.Roll.Roll(), d.Keys))
}

// lacks is what is to be added to the sum.
func (d *Difference) lacks() (lacks Amounts) {
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

// Ranges cuts all that the table and its sums hold into ranges of about so many rows, more where a single project has
// more. Projects that only the sums have are among them.
func Ranges(ctx context.Context, db keyrange.Database, e *store.Entity, rows uint64) ([]keyrange.Range, error) {
	return keyrange.Cut(ctx, db, rows, rolls(e), keyrange.Source{Table: e.Table}, keyrange.Source{Table: "sums", Condition: ofRolls})
}

// ofRolls is the condition that a row of sums is of one of the entity's rolls; rolls are its parameters.
const ofRolls = `roll IN {rolls:Array(String)}`

func rolls(e *store.Entity) database.Params {
	var names []string
	for _, id := range e.Rolls() {
		names = append(names, id.Roll().Name)
	}
	return database.Params{"rolls": database.Texts(names)}
}

// scanLimit bounds one scan of a slice.
const scanLimit = time.Hour

// Slice recomputes the sums of the projects in a range, and hands out those that differ. Its memory grows with the
// number of sums in the range, not of rows: some 120 bytes for each. rows is how many rows of the state table it
// read.
func Slice(ctx context.Context, db Database, e *store.Entity, part keyrange.Range,
	each func(*Difference) error) (rows uint64, err error) {
	s := newSlice(part.Tenant)
	if rows, err = s.expect(ctx, db, e, part); err != nil {
		return rows, err
	}
	if err := s.compare(ctx, db, e, part, each); err != nil {
		return rows, err
	}
	return rows, s.missing(each)
}

// Check finds out whether all rows of a range can contribute by this binary's formula: an ErrRefused names one that
// can't.
func Check(ctx context.Context, db Database, e *store.Entity, part keyrange.Range) error {
	_, err := contributions(ctx, db, e, part, func(string, analytics.Contribution) {})
	return err
}

// contributions computes what the rows of a range contribute, entity by entity.
func contributions(ctx context.Context, db Database, e *store.Entity, part keyrange.Range,
	each func(project string, c analytics.Contribution)) (rows uint64, err error) {
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
			each(row.Project, c)
		}
		return nil
	})
	if err != nil {
		return rows, fmt.Errorf("read %s: %w", e.Table, err)
	}
	return rows, nil
}

// slice holds the sums of some projects of a tenant.
type slice struct {
	tenant  string
	numbers map[string]uint32 // of texts, which many sums share
	texts   []string          // by number
	places  map[key]uint32    // of a sum among the amounts of its roll
	amounts map[clickhouse.RollID][]analytics.Int128
}

// key tells a sum from others, by the numbers of its texts.
type key struct {
	roll    clickhouse.RollID
	project uint32
	keys    [clickhouse.MaxRollKeys]uint32
}

func newSlice(tenant string) *slice {
	return &slice{
		tenant: tenant, numbers: map[string]uint32{}, places: map[key]uint32{},
		amounts: map[clickhouse.RollID][]analytics.Int128{},
	}
}

// expect adds up what the rows contribute.
func (s *slice) expect(ctx context.Context, db Database, e *store.Entity, part keyrange.Range) (rows uint64, err error) {
	return contributions(ctx, db, e, part, func(project string, c analytics.Contribution) {
		of := s.number(project)
		for i := range c {
			roll := c[i].Roll.Roll()
			k := key{roll: c[i].Roll, project: of}
			for j := range roll.Keys {
				k.keys[j] = s.number(c[i].Keys[j])
			}
			amounts := s.sum(k)
			for j := range roll.Amounts {
				amounts[j] = amounts[j].Add(analytics.Int(c[i].Amounts[j]))
			}
		}
	})
}

// number is that of a text.
func (s *slice) number(text string) uint32 {
	n, known := s.numbers[text]
	if !known {
		text = strings.Clone(text) // it may be part of a block
		n = uint32(len(s.texts))
		s.numbers[text], s.texts = n, append(s.texts, text)
	}
	return n
}

// sum finds the amounts of a sum, which are 0 when it is new.
func (s *slice) sum(k key) []analytics.Int128 {
	width := len(k.roll.Roll().Amounts)
	all := s.amounts[k.roll]
	place, known := s.places[k]
	if !known {
		place = uint32(len(all) / width)
		all = append(all, make([]analytics.Int128, width)...)
		s.places[k], s.amounts[k.roll] = place, all
	}
	return all[int(place)*width : (int(place)+1)*width]
}

// compare reads what the table sums holds, and hands out what differs. What it has seen is set to 0.
func (s *slice) compare(ctx context.Context, db Database, e *store.Entity, part keyrange.Range, each func(*Difference) error) error {
	stored := new(stored)
	q := database.Query{SQL: stored.query(), Params: part.Params().With(rolls(e)), Limit: scanLimit}
	err := db.Scan(ctx, q, stored.results(), func() error {
		for i := range stored.rows() {
			d, known := stored.sum(i)
			if !known {
				continue
			}
			d.Tenant = s.tenant
			if amounts := s.known(d); amounts != nil {
				copy(d.Want[:], amounts)
				clear(amounts)
			}
			if d.Want != d.Have {
				if err := each(d); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the sums of %s: %w", e.Table, err)
	}
	return nil
}

// known finds the amounts that are expected of a sum that is stored, nil when none are.
func (s *slice) known(d *Difference) []analytics.Int128 {
	if d.Astray != "" {
		return nil
	}
	k := key{roll: d.Roll}
	var known bool
	if k.project, known = s.numbers[d.Project]; !known {
		return nil
	}
	for i, text := range d.Keys {
		if k.keys[i], known = s.numbers[text]; !known {
			return nil
		}
	}
	if _, known = s.places[k]; !known {
		return nil
	}
	return s.sum(k)
}

// missing hands out what compare has not seen.
func (s *slice) missing(each func(*Difference) error) error {
	for k := range s.places {
		d := &Difference{Roll: k.roll, Tenant: s.tenant, Project: s.texts[k.project]}
		copy(d.Want[:], s.sum(k))
		if d.Want == d.Have {
			continue
		}
		for i := range k.roll.Roll().Keys {
			d.Keys = append(d.Keys, s.texts[k.keys[i]])
		}
		if err := each(d); err != nil {
			return err
		}
	}
	return nil
}
