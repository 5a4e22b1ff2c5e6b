package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tallyhouse/analytics"
	"tallyhouse/ingest/admin/recompute"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
)

// migrating is the name of the work in streams, and the command that completes it.
const migrating = "`tallyhouse migrate`"

// forMigration is why both parts of a migration begin. Neither needs the server that wrote the database: a backup of an older release, or
// one that was made in the middle of other work, comes to this release first and is adopted then.
func forMigration() purpose {
	return purpose{work: migrating, ends: []string{rebuilding, adopting}, moved: true, older: true, formula: true}
}

// A SchemaChange keeps the writers of all topics out while statements change their tables: one that went on would
// write as it knew them. After it, and until Reform has been to a topic, nobody writes to it.
type SchemaChange struct{ sessions []*Session }

// BeginSchemaChange holds every topic that the database follows, and writes the work down. End it.
func BeginSchemaChange(ctx context.Context, db Database, o Options) (c *SchemaChange, err error) {
	c = &SchemaChange{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.End(ctx))
		}
	}()
	followed, err := exists(ctx, db, "streams")
	if err != nil || !followed {
		return c, err
	}
	for _, e := range store.All() {
		s, err := begin(ctx, db, e, forMigration(), o)
		if err != nil {
			return c, fmt.Errorf("keep the writers of %s out: %w", e.Topic, err)
		}
		if s != nil {
			c.sessions = append(c.sessions, s)
		}
	}
	for _, s := range c.sessions { // after the last could have been refused
		if err := s.start(ctx, migrating); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Check is nil while all the holds count.
func (c *SchemaChange) Check(ctx context.Context) error {
	for _, s := range c.sessions {
		if err := s.hold.Check(ctx, s.db); err != nil {
			return err
		}
	}
	return nil
}

// End takes the holds down.
func (c *SchemaChange) End(ctx context.Context) (err error) {
	for _, s := range c.sessions {
		err = errors.Join(err, s.End(ctx))
	}
	return err
}

// notFilled is the position of a view that starts beside rows, in every partition that has any: where no batch
// begins, so that nobody takes the view for one that missed the last.
var notFilled = analytics.Int(-1 << 62)

// BeforeView is called before a table gets its view. When the table has rows, the view's positions then say that it
// has to be filled, which Reform does.
func (c *SchemaChange) BeforeView(ctx context.Context, e *store.Entity) error {
	for _, s := range c.sessions {
		if s.entity.Table != e.Table {
			continue
		}
		there, err := exists(ctx, s.db, clickhouse.Trigger(e.Table))
		if err != nil || there {
			return err
		}
		if err := s.markNotFilled(ctx); err != nil {
			return fmt.Errorf("mark the view of %s as one that has to be filled: %w", e.Table, err)
		}
	}
	return nil
}

func (s *Session) markNotFilled(ctx context.Context) error {
	return s.statement(ctx, func() error {
		at, err := position.Read(ctx, s.db, s.entity, s.partitions)
		if err != nil {
			return err
		}
		marks := recompute.NewBatch()
		for _, p := range s.partitions {
			if at[p].State > 0 && at[p].View.Sign() == 0 {
				marks.AddPosition(s.entity.Table, p, notFilled, analytics.Int128{})
			}
		}
		if marks.Rows() == 0 {
			return nil
		}
		return s.add(ctx, marks)
	})
}

// isFilled reports whether no view's position says that it has to be filled.
func (s *Session) isFilled(ctx context.Context) (bool, error) {
	at, err := position.Read(ctx, s.db, s.entity, s.partitions)
	for _, p := range s.partitions {
		if err == nil && at[p].View.Sign() < 0 {
			return false, nil
		}
	}
	return err == nil, err
}

// Reform brings a topic's tables to what this binary knows: it notes the schema, and rebuilds the sums when they are
// by another formula or when their view is new. No row of the table changes. It does nothing where that is done
// already.
func Reform(ctx context.Context, db Database, e *store.Entity, o Options) (r Rebuilt, err error) {
	r.Table = e.Table
	stream, known, err := position.ReadStream(ctx, db, string(e.Topic))
	if err != nil || !known || isReformed(stream, e) {
		return r, err
	}
	s, err := begin(ctx, db, e, forMigration(), o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	if isReformed(s.stream, e) {
		return r, nil // another process was first
	}
	if s.stream.Formula == e.Formula && !slices.Contains(forMigration().ends, s.stream.Work) {
		filled, err := s.isFilled(ctx)
		if err != nil {
			return r, err
		}
		if filled {
			return r, s.finish(ctx)
		}
	}
	if err := s.stateIsWhole(ctx); err != nil {
		return r, err
	}
	return s.rebuild(ctx, migrating)
}

func isReformed(stream position.Stream, e *store.Entity) bool {
	return stream.Formula == e.Formula && stream.Schema == clickhouse.Version && stream.Work != migrating
}

func exists(ctx context.Context, db Database, table string) (found bool, err error) {
	q := database.Query{SQL: "SELECT count() > 0 FROM system.tables WHERE database = {database:String} AND name = {table:String}",
		Params: database.Params{"database": db.Name(), "table": table}}
	if err := db.Row(ctx, q, &found); err != nil {
		return false, fmt.Errorf("look for the table %s: %w", table, err)
	}
	return found, nil
}
