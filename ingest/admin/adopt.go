package admin

import (
	"context"
	"errors"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
)

// adopting is the name of the work in streams, and the command that does it again.
const adopting = "`tallyhouse adopt`"

// Adopt takes over a database that was restored from a backup, or moved to another server: it believes the rows and rebuilds all sums,
// because positions don't show which corrections a restored table lacks.
func Adopt(ctx context.Context, db *database.Server, e *store.Entity, in position.Installation, o Options) (r Rebuilt, err error) {
	r.Table = e.Table
	o.Moves = true
	s, err := Begin(ctx, db, e, adopting, nil, o)
	if err != nil || s == nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	server := in
	server.Server = s.stream.Server // that one is allowed to differ
	if err := s.stream.CheckIdentity(e, server); err != nil {
		return r, err
	}
	return s.rebuild(ctx, adopting, func(next *position.Stream) { next.Server = s.server })
}
