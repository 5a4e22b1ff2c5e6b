package admin

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"tallyhouse/analytics"
	"tallyhouse/ingest/admin/recompute"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
)

// addingView is the name of the work in streams.
const addingView = "a view that `tallyhouse migrate` adds"

// notYet is the position of a view that is being added, in every partition: no batch began there, so nobody mends it meanwhile.
var notYet = analytics.Int(-1 << 62)

// AddView makes the view of a table that may hold rows already: create is the statement that creates its trigger and does nothing when
// there is one. Doing it again after an interruption ends it right; until then nobody writes to the table.
func AddView(ctx context.Context, db *database.Server, e *store.Entity, create string, o Options) (err error) {
	s, err := Begin(ctx, db, e, addingView, nil, o)
	if err != nil {
		return err
	}
	if s == nil { // nobody ever wrote to the table
		return db.Exec(ctx, database.Statement{SQL: create, Limit: workLimit})
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	there, err := s.hasTrigger(ctx)
	if err != nil {
		return err
	}
	if !there {
		if err := s.markViews(ctx); err != nil {
			return err
		}
		if err := db.Exec(ctx, database.Statement{SQL: create, ID: s.hold.StatementID(db), Limit: workLimit}); err != nil {
			return fmt.Errorf("create the view of %s: %w", e.Table, err)
		}
		if err := s.hold.Check(ctx, db); err != nil {
			return err
		}
	}
	_, err = s.rebuild(ctx, addingView, func(*position.Stream) {})
	return err
}

func (s *Session) hasTrigger(ctx context.Context) (found bool, err error) {
	q := database.Query{SQL: "SELECT count() > 0 FROM system.tables WHERE database = {database:String} AND name = {name:String}",
		Params: database.Params{"database": s.db.Name(), "name": clickhouse.Trigger(s.entity.Table)}}
	if err := s.db.Row(ctx, q, &found); err != nil {
		return false, fmt.Errorf("look for the view of %s: %w", s.entity.Table, err)
	}
	return found, nil
}

// markViews gives the view positions that say not yet, where the table has rows and the view nothing.
func (s *Session) markViews(ctx context.Context) error {
	err := s.statement(ctx, func() error {
		at, err := position.Read(ctx, s.db, s.entity, s.partitions)
		if err != nil {
			return err
		}
		marks := recompute.NewBatch()
		for _, p := range s.partitions {
			if at[p].State > 0 && at[p].View.Cmp(new(big.Int)) == 0 {
				marks.AddPosition(s.entity.Table, p, notYet, analytics.Int128{})
			}
		}
		if marks.Rows() == 0 {
			return nil
		}
		return s.add(ctx, marks)
	})
	if err != nil {
		return fmt.Errorf("mark the view of %s as not filled yet: %w", s.entity.Table, err)
	}
	return nil
}
