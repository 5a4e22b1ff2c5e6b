package admin

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"tallyhouse/analytics"
	"tallyhouse/ingest/admin/keyrange"
	"tallyhouse/ingest/admin/recompute"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
)

// rebuilding is the name of the work in streams, and the command that does it again.
const rebuilding = "`tallyhouse rebuild`"

// rangeRows is how many rows of table and sums together one slice takes up, unless a single project has more.
const rangeRows = 200_000

// Rebuilt says what a rebuild found.
type Rebuilt struct {
	Table     string
	Slices    int    // of the key
	Corrected uint64 // sums that were wrong
}

// Rebuild makes the sums of a table hold exactly what its rows contribute by this binary's formula. It takes nothing away that readers
// see: slice by slice it adds what is lacking, or too much with a minus, in one statement each, the positions last. Doing it again is
// harmless, and is what to do after it was interrupted: nobody writes to the table before.
func Rebuild(ctx context.Context, db *database.Server, e *store.Entity, o Options) (r Rebuilt, err error) {
	r.Table = e.Table
	if !e.Contributes() {
		return r, nil
	}
	s, err := Begin(ctx, db, e, rebuilding, nil, o)
	if err != nil || s == nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	if err := s.stateIsWhole(ctx); err != nil {
		return r, err
	}
	return s.rebuild(ctx, rebuilding, func(*position.Stream) {})
}

const brokenState = `
SELECT name FROM system.detached_parts WHERE database = {database:String} AND table = {table:String} AND startsWith(reason, 'broken') ORDER BY name LIMIT 1`

// stateIsWhole is nil when no part of the state table was put aside as broken: what is lost there, a rebuild would bless.
func (s *Session) stateIsWhole(ctx context.Context) error {
	var part string
	q := database.Query{SQL: brokenState, Params: database.Params{"database": s.db.Name(), "table": s.entity.Table}}
	if err := s.db.Rows(ctx, q, func(scan func(...any) error) error { return scan(&part) }); err != nil {
		return fmt.Errorf("look for broken parts of %s: %w", s.entity.Table, err)
	}
	if part != "" {
		return position.Refuse("part %s of %s is detached as broken: its rows are lost to the database, and a rebuild would take that for the truth. Restore a backup and run "+
			"`tallyhouse adopt`, or ingest into an empty database from the log (another --clickhouse-database, `tallyhouse migrate`, and the workers with another --group)", part, s.entity.Table)
	}
	return nil
}

// rebuild does the work under a name: first it writes the work and a new life, so that no head of before is believed; last it writes what
// done changes, and takes the work out.
func (s *Session) rebuild(ctx context.Context, work string, done func(*position.Stream)) (Rebuilt, error) {
	r := Rebuilt{Table: s.entity.Table}
	ranges, err := recompute.Ranges(ctx, s.db, s.entity, rangeRows)
	if err != nil {
		return r, err
	}
	p := Progress{Work: "rebuild " + s.entity.Table}
	for _, part := range ranges {
		p.Total += part.Rows
	}
	if s.stream.Formula != s.entity.Formula {
		for _, part := range ranges {
			if err := recompute.Check(ctx, s.db, s.entity, part); err != nil {
				return r, err
			}
		}
	}
	err = s.write(ctx, func(next *position.Stream) {
		next.Work, next.Worker, next.Life = work, fence.Holder(s.options.Holder), position.NewLife()
	})
	if err != nil {
		return r, err
	}
	s.options.progress(p)
	for _, part := range ranges {
		corrected, err := s.correct(ctx, part)
		if err != nil {
			return r, fmt.Errorf("rebuild the sums of %s, tenant %q, projects %q to %q: %w", s.entity.Table, part.Tenant, part.From, part.To, err)
		}
		r.Slices++
		r.Corrected += corrected
		p.Done += part.Rows
		s.options.progress(p)
	}
	if err := s.correctPositions(ctx); err != nil {
		return r, fmt.Errorf("rebuild the positions of the view of %s: %w", s.entity.Table, err)
	}
	return r, s.write(ctx, func(next *position.Stream) {
		next.Work, next.Worker, next.Formula, next.Schema = "", "", s.entity.Formula, clickhouse.Version
		done(next)
	})
}

// correct adds to the sums of a slice what they lack. After a doubt the slice is computed anew: what landed is then as it should be.
func (s *Session) correct(ctx context.Context, part keyrange.Range) (corrected uint64, err error) {
	err = s.statement(ctx, func() error {
		lacking := recompute.NewBatch()
		_, err := recompute.Slice(ctx, s.db, s.entity, part, func(d *recompute.Difference) error {
			lacking.Add(d)
			return nil
		})
		if err != nil || lacking.Rows() == 0 {
			return err
		}
		if err := s.add(ctx, lacking); err != nil {
			return err
		}
		corrected += uint64(lacking.Rows())
		return nil
	})
	return corrected, err
}

// add inserts rows into sums, all or none.
func (s *Session) add(ctx context.Context, rows *recompute.Batch) error {
	columns := strings.Join(clickhouse.SumColumns(), ", ")
	written, err := s.insert(ctx, database.Statement{
		SQL:   fmt.Sprintf("INSERT INTO sums (%s) SELECT %s FROM batch WHERE %s", columns, columns, conditions),
		Batch: rows.Columns(),
	})
	if err == nil && !written {
		err = position.ErrNotWritten
	}
	return err
}

// correctPositions brings the view's positions to those of the table. They come last: until then the view says of itself that it isn't
// what it should be, if that is what it said before.
func (s *Session) correctPositions(ctx context.Context) error {
	return s.statement(ctx, func() error {
		at, err := position.Read(ctx, s.db, s.entity, s.partitions)
		if err != nil {
			return err
		}
		lacking := recompute.NewBatch()
		for _, p := range s.partitions {
			if at[p].Level() {
				continue
			}
			state := new(big.Int).SetUint64(at[p].State)
			length, err := analytics.Int128FromBig(new(big.Int).Sub(state, at[p].View))
			if err != nil {
				return err
			}
			squares, err := analytics.Int128FromBig(new(big.Int).Sub(new(big.Int).Mul(state, state), at[p].Squares))
			if err != nil {
				return err
			}
			lacking.AddPosition(s.entity.Table, p, length, squares)
		}
		if lacking.Rows() == 0 {
			return nil
		}
		return s.add(ctx, lacking)
	})
}
