package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/ingest/admin/keyrange"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
)

// restating is the name of the work in streams, and the command that does it again.
const restating = "the re-statement by `tallyhouse migrate`"

// Restated says what a re-statement did.
type Restated struct {
	Rows  uint64 // that contribute something else by the new formula
	Views []Rebuilt
}

// Restate makes the rows of a table carry what they contribute by this binary's formula, and its views their sums. It does nothing
// when they do already. It notes in streams that it is under way, with a new life, before it changes anything, and takes that back with
// its last statement: a writer, a rebuild or a resize in between is refused, and only doing it again, to the end, ends it.
func Restate(ctx context.Context, db *database.Server, e *store.Entity, o Options) (r Restated, err error) {
	stream, known, err := position.ReadStream(ctx, db, string(e.Topic))
	if err != nil || !known || stream.Formula == store.Formula && stream.Work != restating {
		return Restated{}, err
	}
	if stream.Formula > store.Formula {
		return Restated{}, position.Refuse("the rows of %s carry contributions by formula %d, this binary knows formula %d: use the newer binary", e.Topic, stream.Formula, store.Formula)
	}
	s, err := Begin(ctx, db, e, restating, nil, o)
	if err != nil {
		return Restated{}, err
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	if s.stream.Formula == store.Formula && s.stream.Work == "" {
		return Restated{}, nil // another process was first
	}
	if s.stream.Work == "" {
		if err := s.Consistent(ctx); err != nil {
			return Restated{}, err
		}
	}
	if err := s.write(ctx, func(next *position.Stream) {
		next.Work, next.Worker, next.Life = restating, fence.Holder(o.Holder), position.NewLife()
	}); err != nil {
		return Restated{}, err
	}
	if e.Contributes() {
		if r, err = s.restate(ctx); err != nil {
			return r, err
		}
	}
	return r, s.write(ctx, func(next *position.Stream) { next.Work, next.Worker, next.Formula = "", "", store.Formula })
}

// write writes the topic's next revision in streams.
func (s *Session) write(ctx context.Context, change func(*position.Stream)) error {
	next := s.stream
	change(&next)
	err := s.statement(ctx, func() error {
		now, _, err := position.ReadStream(ctx, s.db, string(s.entity.Topic))
		if err != nil {
			return err
		}
		if now.Revision > s.stream.Revision && now.Life == next.Life && now.Work == next.Work {
			s.stream = now // a statement in doubt has landed
			return nil
		}
		next.Revision = now.Revision + 1
		if err := position.WriteStream(ctx, s.db, string(s.entity.Topic), s.hold.StatementID(s.db), next, fence.HoldCounts, s.hold.Params()); err != nil {
			return err
		}
		s.stream = next
		return nil
	})
	if err != nil {
		return fmt.Errorf("note the work on %s: %w", s.entity.Topic, err)
	}
	return nil
}

// Limits of one insert, like those of a batch: its amounts are summed in 64 bits and its rows make one block.
const (
	maxRestated      = 50_000
	maxContributions = 400_000
	maxAbsolute      = 1 << 62 // of one measure, before and after together, exclusive
	scanLimit        = 6 * time.Hour
)

func (s *Session) restate(ctx context.Context) (r Restated, err error) {
	ranges, err := keyrange.Cut(ctx, s.db, rangeRows, s.entity.Table)
	if err != nil {
		return r, err
	}
	p := Progress{Work: "re-state " + s.entity.Table}
	for _, part := range ranges {
		p.Total += part.Rows
	}
	s.options.progress(p)
	for _, part := range ranges {
		err := s.statement(ctx, func() error {
			// After a doubt the range begins anew: what landed is then as it should be and is left out.
			restated, err := s.restateRange(ctx, part)
			r.Rows += restated
			return err
		})
		if err != nil {
			return r, fmt.Errorf("re-state %s, tenant %q, projects %q to %q: %w", s.entity.Table, part.Tenant, part.From, part.To, err)
		}
		p.Done += part.Rows
		s.options.progress(p)
	}
	for _, v := range s.entity.Views() {
		rebuilt, err := s.rebuild(ctx, v)
		if err != nil {
			return r, err
		}
		r.Views = append(r.Views, rebuilt)
	}
	return r, nil
}

// restateRange re-states the rows of a range that contribute something else than they carry.
func (s *Session) restateRange(ctx context.Context, part keyrange.Range) (restated uint64, err error) {
	rows := s.entity.NewImages()
	pending := newPending(s.entity)
	flush := func() error {
		if pending.rows.Rows() == 0 {
			return nil
		}
		narrowed := part
		narrowed.From, narrowed.To = pending.first, pending.last
		written, err := s.insert(ctx, database.Statement{
			SQL: s.entity.Restate(keyrange.Where, conditions), Params: narrowed.Params(), Batch: pending.rows.Batch(),
		})
		if err == nil && !written {
			err = position.ErrNotWritten
		}
		if err != nil {
			return err
		}
		restated += uint64(pending.rows.Rows())
		pending = newPending(s.entity)
		return nil
	}
	q := database.Query{SQL: rows.Select(keyrange.Where), Params: part.Params(), Limit: scanLimit}
	err = s.db.Scan(ctx, q, rows.Results(), func() error {
		for i := range rows.Rows() {
			tenant, project, id, version := rows.Row(i)
			stored := rows.Stored(i)
			computed, err := rows.Computed(i)
			if err != nil {
				return fmt.Errorf("%s %s/%s cannot contribute by the new formula: %w", s.entity.Table, tenant, id, err)
			}
			if stored.Equal(computed) {
				continue
			}
			if store.Restatement(version) == store.MaxRestatement {
				return fmt.Errorf("%s %s/%s was re-stated %d times already: ingest anew, into an empty database", s.entity.Table, tenant, id, store.MaxRestatement)
			}
			if !pending.fits(stored, computed) {
				if err := flush(); err != nil {
					return err
				}
				pending.fits(stored, computed)
			}
			pending.add(project, id, version, computed)
		}
		return nil
	})
	if err != nil {
		return restated, err
	}
	return restated, flush()
}

// pending are rows for one insert.
type pending struct {
	rows          *store.Restated
	contributions int
	absolute      []int64
	first, last   string // projects
}

func newPending(e *store.Entity) *pending {
	return &pending{rows: e.NewRestated(), absolute: make([]int64, len(e.Shape.Sums))}
}

// fits counts a row's contributions in, if the insert stays within its limits; a row alone always does.
func (p *pending) fits(parts ...analytics.Contributions) bool {
	n, grown := p.contributions, append([]int64(nil), p.absolute...)
	for _, c := range parts {
		n += len(c.Sums) / len(grown)
		for i, v := range c.Sums {
			sum := grown[i%len(grown)] + max(v, -v)
			if sum < 0 || sum >= maxAbsolute {
				return false
			}
			grown[i%len(grown)] = sum
		}
	}
	if p.rows.Rows() > 0 && (n > maxContributions || p.rows.Rows() >= maxRestated) {
		return false
	}
	p.contributions, p.absolute = n, grown
	return true
}

func (p *pending) add(project, id string, version uint64, c analytics.Contributions) {
	if p.rows.Rows() == 0 {
		p.first = project
	}
	p.last = project
	p.rows.Append(project, id, version, c)
}
