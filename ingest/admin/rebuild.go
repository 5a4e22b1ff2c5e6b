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

// rebuilding is the name of the work in streams, and the command that completes it.
const rebuilding = "`tallyhouse rebuild`"

const (
	// sliceRows is how many rows of table and sums together one slice has, unless a single project has more.
	sliceRows = 200_000
	// insertRows is how many sums one statement corrects: all of a slice, but for a large project that lost most of
	// its sums.
	insertRows = 100_000
)

// Rebuilt says what a rebuild found.
type Rebuilt struct {
	Table     string
	Slices    int    // of the key
	Corrected uint64 // sums that were wrong
}

// Rebuild makes the sums of some tables hold exactly what their rows contribute by this binary's formula: those of
// all tables when the server detached a part of sums as broken, which then is dropped. It takes nothing away that
// readers see: slice by slice it adds what is lacking, or too much with a minus, the positions last. Running it again
// is harmless, and is what to do after it was interrupted: nobody writes to the table before.
func Rebuild(ctx context.Context, db Database, entities []*store.Entity, o Options) (all []Rebuilt, err error) {
	broken, err := brokenParts(ctx, db, sums)
	if err != nil {
		return nil, err
	}
	if len(broken) > 0 {
		o.Log.Warn("parts of the sums are detached as broken: those of all tables are rebuilt", "parts", broken)
		entities = store.All()
	}
	for _, e := range entities {
		if !e.Contributes() {
			continue
		}
		r, err := rebuildTable(ctx, db, e, o)
		if err != nil {
			return all, fmt.Errorf("rebuild the sums of %s: %w", e.Table, err)
		}
		all = append(all, r)
	}
	return all, dropParts(ctx, db, sums, broken)
}

func rebuildTable(ctx context.Context, db Database, e *store.Entity, o Options) (r Rebuilt, err error) {
	r.Table = e.Table
	s, err := begin(ctx, db, e, purpose{work: rebuilding}, o)
	if err != nil || s == nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	if err := s.stateIsWhole(ctx); err != nil {
		return r, err
	}
	return s.rebuild(ctx, rebuilding)
}

// rebuild does the work under a name. First it writes the work and a new life, so that nobody goes on with heads of
// before; last it takes the work out. A row that the formula refuses is found before anything is written.
func (s *Session) rebuild(ctx context.Context, work string) (r Rebuilt, err error) {
	r.Table = s.entity.Table
	var slices []keyrange.Range
	if s.entity.Contributes() {
		if slices, err = recompute.Ranges(ctx, s.db, s.entity, sliceRows); err != nil {
			return r, err
		}
	}
	if s.stream.Formula != s.entity.Formula {
		if err := s.dryRun(ctx, slices); err != nil {
			return r, err
		}
	}
	if err := s.start(ctx, work); err != nil {
		return r, err
	}
	p := s.begun("rebuild", slices)
	for _, slice := range slices {
		corrected, err := s.correct(ctx, slice)
		if err != nil {
			return r, fmt.Errorf("%s: %w", slice, err)
		}
		r.Slices++
		r.Corrected += corrected
		p.Done += slice.Rows
		s.options.progress(p)
	}
	if err := s.correctPositions(ctx); err != nil {
		return r, fmt.Errorf("correct the positions of the view: %w", err)
	}
	return r, s.finish(ctx)
}

// begun tells of work that begins.
func (s *Session) begun(what string, slices []keyrange.Range) Progress {
	p := Progress{Work: what + " " + s.entity.Table}
	for _, slice := range slices {
		p.Total += slice.Rows
	}
	s.options.progress(p)
	return p
}

// start writes the work and a new life. Where it takes over what another command left, nobody knows any more by which formula the sums
// are: all of them are rebuilt, now or when the work is done again.
func (s *Session) start(ctx context.Context, work string) error {
	return s.write(ctx, func(next *position.Stream) {
		if next.Work != "" && next.Work != work {
			next.Formula = ""
		}
		next.Work, next.Worker, next.Life = work, fence.Holder(s.options.Holder), position.NewLife()
		if work == adopting {
			next.Server = s.server
		}
	})
}

// finish takes the work out: the tables are as this binary knows them.
func (s *Session) finish(ctx context.Context) error {
	return s.write(ctx, func(next *position.Stream) {
		next.Work, next.Worker = "", ""
		next.Formula, next.Schema = s.entity.Formula, clickhouse.Version
	})
}

// dryRun looks for rows that cannot contribute by this binary's formula.
func (s *Session) dryRun(ctx context.Context, slices []keyrange.Range) error {
	p := s.begun("check", slices)
	for _, slice := range slices {
		if err := recompute.Check(ctx, s.db, s.entity, slice); err != nil {
			return fmt.Errorf("%w; send a newer version of it that this release takes, with the release that wrote the sums, "+
				"and then try again", err)
		}
		p.Done += slice.Rows
		s.options.progress(p)
	}
	return nil
}

// correct adds to the sums of a slice what they lack. After a doubt the slice is computed anew: what landed is then
// as it should be.
func (s *Session) correct(ctx context.Context, slice keyrange.Range) (corrected uint64, err error) {
	err = s.statement(ctx, func() error {
		lacking := recompute.NewBatch()
		add := func() error {
			if lacking.Rows() == 0 {
				return nil
			}
			if err := s.add(ctx, lacking); err != nil {
				return err
			}
			corrected += uint64(lacking.Rows())
			lacking = recompute.NewBatch()
			return nil
		}
		_, err := recompute.Slice(ctx, s.db, s.entity, slice, func(d *recompute.Difference) error {
			lacking.Add(d)
			if lacking.Rows() < insertRows {
				return nil
			}
			return add()
		})
		if err != nil {
			return err
		}
		return add()
	})
	return corrected, err
}

// add inserts rows into sums, all or none, while the hold counts.
func (s *Session) add(ctx context.Context, rows *recompute.Batch) error {
	columns := strings.Join(clickhouse.SumColumns(), ", ")
	written, err := s.db.Insert(ctx, database.Statement{
		ID:     s.hold.StatementID(s.db),
		SQL:    fmt.Sprintf("INSERT INTO sums (%s) SELECT %s FROM batch WHERE %s", columns, columns, conditions),
		Params: s.conditionParams(),
		Batch:  rows.Columns(),
		Limit:  workLimit,
	})
	if err == nil && written == 0 {
		err = position.ErrNotWritten
	}
	return err
}

// correctPositions brings the view's positions to those of the table. They come last: until then the view goes on to
// say that it isn't what it should be, if it said so before.
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
