package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tallyhouse/ingest/admin/keyrange"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
)

// rangeRows is how many rows of table and view together one statement takes up, unless a single project has more.
const rangeRows = 500_000

// Rebuilt says what a rebuild found.
type Rebuilt struct {
	View      string
	Ranges    int // of the key
	Corrected int // of those, the ones where something was wrong
}

// Rebuild makes a view hold exactly what a recomputation from its table gives. It never takes anything away that readers see: range by
// range it adds what is lacking, or too much with a minus, in one statement each, the positions last. Doing it again is harmless, and
// is what to do after it was interrupted.
func Rebuild(ctx context.Context, db *database.Server, view string, o Options) (r Rebuilt, err error) {
	v, e, err := find(view)
	if err != nil {
		return Rebuilt{}, err
	}
	s, err := Begin(ctx, db, e, "", nil, o)
	if err != nil || s == nil {
		return Rebuilt{View: view}, err
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	return s.rebuild(ctx, v)
}

// UnknownView says that there is no view of a name.
type UnknownView struct{ Name string }

func (u *UnknownView) Error() string {
	var names []string
	for _, v := range clickhouse.Views() {
		names = append(names, v.Name)
	}
	return fmt.Sprintf("there is no view %q; there are %s", u.Name, strings.Join(names, ", "))
}

func find(view string) (clickhouse.View, *store.Entity, error) {
	v, ok := clickhouse.ViewNamed(view)
	if !ok {
		return clickhouse.View{}, nil, &UnknownView{view}
	}
	e, err := entityOf(v)
	return v, e, err
}

func (s *Session) rebuild(ctx context.Context, v clickhouse.View) (Rebuilt, error) {
	r := Rebuilt{View: v.Name}
	ranges, err := keyrange.Cut(ctx, s.db, rangeRows, v.Table, v.Name)
	if err != nil {
		return r, err
	}
	p := Progress{Work: "rebuild " + v.Name}
	for _, part := range ranges {
		p.Total += part.Rows
	}
	s.options.progress(p)
	// The positions come last: until then the view says of itself that it isn't what it should be, if that is what it said before.
	for _, part := range append(ranges, keyrange.Positions()) {
		corrected, err := s.correct(ctx, v, part)
		if err != nil {
			return r, fmt.Errorf("rebuild %s, tenant %q, projects %q to %q: %w", v.Name, part.Tenant, part.From, part.To, err)
		}
		r.Ranges++
		if corrected {
			r.Corrected++
		}
		p.Done += part.Rows
		s.options.progress(p)
	}
	return r, nil
}

// correct adds to a range of a view what it lacks.
func (s *Session) correct(ctx context.Context, v clickhouse.View, part keyrange.Range) (corrected bool, err error) {
	columns := strings.Join(v.Columns(), ", ")
	err = s.statement(ctx, func() error {
		written, err := s.insert(ctx, database.Statement{
			SQL: fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM (%s) WHERE %s",
				v.Name, columns, columns, v.Correction(keyrange.Where), conditions),
			Params: part.Params(),
		})
		corrected = corrected || written
		return err
	})
	return corrected, err
}
