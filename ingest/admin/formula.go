package admin

import (
	"context"
	"errors"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
)

// reforming is the name of the work in streams, and the command that does it again.
const reforming = "the rebuild by another formula, by `tallyhouse migrate`"

// Reform rebuilds the sums of a table by this binary's formula, if they are by another one's. No row of the table changes.
func Reform(ctx context.Context, db *database.Server, e *store.Entity, o Options) (r Rebuilt, err error) {
	r.Table = e.Table
	stream, known, err := position.ReadStream(ctx, db, string(e.Topic))
	if err != nil || !known || stream.Formula == e.Formula && stream.Work != reforming {
		return r, err
	}
	s, err := Begin(ctx, db, e, reforming, nil, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	if s.stream.Formula == e.Formula && s.stream.Work == "" {
		return r, nil // another process was first
	}
	if err := s.stateIsWhole(ctx); err != nil {
		return r, err
	}
	return s.rebuild(ctx, reforming, func(*position.Stream) {})
}
