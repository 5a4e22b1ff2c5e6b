package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
)

// notYet is the position of a view that is being added, in every partition: no batch began there, so nobody mends it meanwhile.
const notYet = -1 << 62

// AddView makes a view of a table that may hold rows already: create is the statement that creates its trigger and does nothing when
// there is one; its target exists. Doing it again after an interruption ends it right; until then writers of the table stop at the
// view's positions, and `tallyhouse rebuild` ends it too. A view whose definition changes is a new view with a target of a new name.
func AddView(ctx context.Context, db *database.Server, v clickhouse.View, create string, o Options) (err error) {
	e, err := entityOf(v)
	if err != nil {
		return err
	}
	s, err := Begin(ctx, db, e, "", nil, o)
	if err != nil {
		return err
	}
	if s == nil { // nobody ever wrote to the table
		return db.Exec(ctx, database.Statement{SQL: create, Limit: workLimit})
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	there, err := s.hasTrigger(ctx, v)
	if err != nil {
		return err
	}
	if !there {
		for _, p := range s.partitions {
			if err := s.mark(ctx, v, p); err != nil {
				return err
			}
		}
		if err := db.Exec(ctx, database.Statement{SQL: create, ID: s.hold.StatementID(db), Limit: workLimit}); err != nil {
			return fmt.Errorf("create view %s: %w", v.Name, err)
		}
		if err := s.hold.Check(ctx, db); err != nil {
			return err
		}
	}
	_, err = s.rebuild(ctx, v)
	return err
}

func entityOf(v clickhouse.View) (*store.Entity, error) {
	for _, e := range store.All() {
		if e.Table == v.Table {
			return e, nil
		}
	}
	return nil, fmt.Errorf("view %s is of table %s, which holds no entity", v.Name, v.Table)
}

func (s *Session) hasTrigger(ctx context.Context, v clickhouse.View) (found bool, err error) {
	q := database.Query{SQL: "SELECT count() > 0 FROM system.tables WHERE database = {database:String} AND name = {name:String}",
		Params: database.Params{"database": s.db.Name(), "name": v.Trigger()}}
	if err := s.db.Row(ctx, q, &found); err != nil {
		return false, fmt.Errorf("look for view %s: %w", v.Name, err)
	}
	return found, nil
}

// mark gives the target a position row that says not yet, unless it has one.
func (s *Session) mark(ctx context.Context, v clickhouse.View, p int32) error {
	var values []string
	for range v.Keys {
		values = append(values, "''")
	}
	for i := range v.Measures() {
		if i == 0 {
			values = append(values, "{position:Int64}")
			continue
		}
		values = append(values, "0")
	}
	err := s.statement(ctx, func() error {
		_, err := s.insert(ctx, database.Statement{
			SQL: fmt.Sprintf("INSERT INTO %[1]s (%[2]s) SELECT '', {key:String}, %[3]s WHERE (SELECT count() FROM %[1]s WHERE tenant = '' AND project = {key:String}) = 0 AND %[4]s",
				v.Name, strings.Join(v.Columns(), ", "), strings.Join(values, ", "), conditions),
			Params: database.Params{"key": store.PositionKey(p), "position": fmt.Sprint(notYet)},
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("mark view %s as not filled yet: %w", v.Name, err)
	}
	return nil
}
