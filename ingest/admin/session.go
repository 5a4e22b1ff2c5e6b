// Package admin is the work on tables that keeps their writers out: filling a view anew, adding one, re-stating what every row
// contributes, following a topic that got more partitions. All of it is done under a hold, by conditional statements, so that the
// process may die at any point: the same command, run again, completes the work.
package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/sethvargo/go-retry"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
)

// Options say who works, and who is told of it.
type Options struct {
	Holder   string // fence.NewHolder; whoever is kept out reads it
	Log      *slog.Logger
	Progress func(Progress) // may be nil
	Moves    bool           // the database was moved or restored: what it says of its server and its view's positions is not believed
}

// Progress says how far a piece of work has come.
type Progress struct {
	Work        string
	Done, Total uint64 // rows
}

func (o Options) progress(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}

const (
	holdTries = 20 // against writers that put up fences at the same moment
	holdPause = 200 * time.Millisecond
	doubts    = 5 // statements in doubt, in a row, before the work is given up
	workLimit = 10 * time.Minute
	ending    = time.Minute // for taking the hold down when the caller has no more time
)

// Session is a hold on all partitions of a topic, with which its tables are worked on.
type Session struct {
	db         *database.Server
	entity     *store.Entity
	options    Options
	partitions []int32
	hold       *fence.Hold
	server     string
	stream     position.Stream
}

// Begin holds all partitions that the database knows of the entity's topic, and those of more, gives the view a batch that it missed,
// and returns when nothing writes to the tables any more. It returns nil when nothing was ever written there: there is nothing to hold.
// End it.
//
// What the database knows of the topic counts as it is under the hold: a resize that came before it has partitions held that nobody
// asked for. own is the name of the session's work under which streams says what is in progress; any other work is refused.
func Begin(ctx context.Context, db *database.Server, e *store.Entity, own string, more []int32, o Options) (*Session, error) {
	stream, known, err := position.ReadStream(ctx, db, string(e.Topic))
	if err != nil || !known {
		return nil, err
	}
	s := &Session{db: db, entity: e, options: o}
	if s.server, err = position.ServerUUID(ctx, db); err != nil {
		return nil, err
	}
	for wanted := partitions(int(stream.Partitions), more); ; wanted = partitions(int(s.stream.Partitions), more) {
		s.partitions = wanted
		if err := s.take(ctx); err != nil {
			return nil, err
		}
		if s.stream, _, err = position.ReadStream(ctx, db, string(e.Topic)); err != nil {
			return nil, errors.Join(err, s.End(ctx))
		}
		if slices.Equal(partitions(int(s.stream.Partitions), more), wanted) {
			break
		}
	}
	if err := s.prepare(ctx, own); err != nil {
		return nil, errors.Join(err, s.End(ctx))
	}
	return s, nil
}

func partitions(n int, more []int32) []int32 {
	all := slices.Clone(more)
	for p := range int32(n) {
		all = append(all, p)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// take puts up the hold, and tries again when writers were quicker.
func (s *Session) take(ctx context.Context) error {
	pauses := retry.WithMaxRetries(holdTries, retry.NewConstant(holdPause))
	return retry.Do(ctx, pauses, func(ctx context.Context) (err error) {
		s.hold, err = fence.Take(ctx, s.db, string(s.entity.Topic), s.partitions, s.options.Holder)
		if errors.Is(err, fence.ErrLostRace) {
			return retry.RetryableError(err)
		}
		return err
	})
}

// prepare checks and mends the tables as a writer would, once it is certain that nobody writes.
func (s *Session) prepare(ctx context.Context, own string) error {
	if s.stream.Work != "" && s.stream.Work != own {
		return position.Refuse("%s on %s is in progress since %s by %s: run it again, to its end, before anything else", s.stream.Work, s.entity.Topic,
			s.stream.Since.UTC().Format(time.RFC3339), s.stream.Worker)
	}
	if s.options.Moves {
		return nil
	}
	if s.stream.Server != s.server {
		return position.Refuse("this database was written by ClickHouse server %s, this one is %s: connect to that server, or run `tallyhouse adopt` if it was moved or restored",
			s.stream.Server, s.server)
	}
	if err := s.mend(ctx); err != nil {
		return err
	}
	return s.hold.Check(ctx, s.db)
}

// mend gives the view the batches that it missed. One whose position is inconsistent is left as it is: rebuild mends that.
func (s *Session) mend(ctx context.Context) error {
	at, err := position.Read(ctx, s.db, s.entity, s.partitions)
	if err != nil {
		return err
	}
	for _, p := range s.partitions {
		if !at[p].Missed() {
			continue
		}
		s.options.Log.Warn("a view missed the last batch: it is mended", "table", s.entity.Table, "partition", p, "from", at[p].First, "to", at[p].State)
		err := s.statement(ctx, func() error {
			now, err := position.Read(ctx, s.db, s.entity, []int32{p})
			if err != nil || !now[p].Missed() {
				return err // a statement in doubt has landed
			}
			return position.Mend(ctx, s.db, s.entity, s.hold.StatementID(s.db), p, now[p], s.server, fence.HoldCounts, s.hold.Params())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Consistent is nil when the view has what its table has, in every partition; a *position.Inconsistent otherwise.
func (s *Session) Consistent(ctx context.Context) error {
	at, err := position.Read(ctx, s.db, s.entity, s.partitions)
	if err != nil {
		return err
	}
	for _, p := range s.partitions {
		if what := at[p].Inconsistency(); what != "" {
			return &position.Inconsistent{Topic: string(s.entity.Topic), Partition: p, What: what}
		}
	}
	return nil
}

// statement does a step of the work that ends in one conditional statement. When that is in doubt, the hold is put up anew, which
// kills what may still run, and the step is computed anew. A hold that was lost ends the work.
func (s *Session) statement(ctx context.Context, step func() error) error {
	for doubt := 1; ; doubt++ {
		err := step()
		if err == nil {
			return nil
		}
		if lost := s.hold.Check(ctx, s.db); lost != nil {
			return errors.Join(lost, err)
		}
		if ctx.Err() != nil || doubt == doubts {
			return err
		}
		s.options.Log.Warn("a statement is in doubt: the hold is put up anew and the step done again", "topic", s.entity.Topic, "error", err)
		if err := s.take(ctx); err != nil {
			return err
		}
	}
}

// insert runs one statement of the work: conditional on the hold and the server. It reports whether rows were written; none means that
// there were none to write, because the hold still counts afterwards.
func (s *Session) insert(ctx context.Context, st database.Statement) (written bool, err error) {
	st.ID, st.Limit = s.hold.StatementID(s.db), workLimit
	st.Params = st.Params.With(s.hold.Params(), database.Params{"server": s.server})
	n, err := s.db.Insert(ctx, st)
	if err != nil || n > 0 {
		return n > 0, err
	}
	return false, s.hold.Check(ctx, s.db)
}

// conditions are those of each of the work's statements. insert gives their parameters.
const conditions = fence.HoldCounts + " AND " + position.SameServer

// End takes the hold down, after what may still run is dead, also when the context is over.
func (s *Session) End(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer stop()
	return s.hold.Release(ctx, s.db)
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
