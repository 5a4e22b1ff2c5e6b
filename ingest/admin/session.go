// Package admin is the work on tables that keeps their writers out: correcting sums, computing them by another
// formula, changing the schema, adopting a database that was restored or moved, following a topic that got more
// partitions. All of it is done under a hold, by conditional statements, so that the process may die at any point:
// the same command, run again, completes the work.
package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/sethvargo/go-retry"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
)

// Options say who works, on which server, and who is told of it.
type Options struct {
	Holder        string // fence.NewHolder; whoever is kept out reads it
	Shard, Shards int    // which shard the server is, from 0, and how many there are
	Log           *slog.Logger
	Progress      func(Progress) // may be nil
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

// Database is what the work needs of its server.
type Database interface {
	Name() string
	Row(ctx context.Context, q database.Query, into ...any) error
	Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error
	Scan(ctx context.Context, q database.Query, into proto.Results, each func() error) error
	Exec(ctx context.Context, st database.Statement) error
	Insert(ctx context.Context, st database.Statement) (written uint64, err error)
	CheckSettings(ctx context.Context) error
}

// Session is a hold on all partitions of a topic, with which its tables are worked on.
type Session struct {
	db         Database
	entity     *store.Entity
	options    Options
	partitions []int32
	hold       *fence.Hold
	server     string
	stream     position.Stream
}

// purpose is why a session begins, and so what it may find.
type purpose struct {
	work    string   // under this name streams notes that it is in progress; "" for work that leaves nothing to complete
	ends    []string // other work that it completes as well, since it rebuilds the sums
	more    []int32  // partitions to hold besides those that the database knows of
	moved   bool     // another server may have written the database
	older   bool     // an older release may have written the tables
	formula bool     // the sums may be by another formula
}

// Begin holds all partitions that the database knows of the entity's topic, gives the view a batch that it missed,
// and returns when nothing writes to the tables any more. It returns nil when nobody ever wrote to them. End it.
func Begin(ctx context.Context, db Database, e *store.Entity, o Options) (*Session, error) {
	return beginMended(ctx, db, e, purpose{}, o)
}

func beginMended(ctx context.Context, db Database, e *store.Entity, why purpose, o Options) (*Session, error) {
	s, err := begin(ctx, db, e, why, o)
	if err != nil || s == nil {
		return nil, err
	}
	if err := s.mend(ctx); err != nil {
		return nil, errors.Join(err, s.End(ctx))
	}
	return s, nil
}

// begin is Begin for a purpose, and mends nothing.
func begin(ctx context.Context, db Database, e *store.Entity, why purpose, o Options) (*Session, error) {
	stream, known, err := position.ReadStream(ctx, db, string(e.Topic))
	if err != nil || !known {
		return nil, err
	}
	if err := db.CheckSettings(ctx); err != nil {
		return nil, err
	}
	s := &Session{db: db, entity: e, options: o, stream: stream}
	if s.server, err = position.ServerUUID(ctx, db); err != nil {
		return nil, err
	}
	// What streams says counts as it is under the hold: a resize that came before it has partitions that nobody asked
	// for. After the hold there is none, for it would need the same partitions.
	for {
		held := s.stream.Partitions
		s.partitions = partitions(int(held), why.more)
		if err := s.take(ctx); err != nil {
			return nil, err
		}
		if s.stream, _, err = position.ReadStream(ctx, db, string(e.Topic)); err != nil {
			return nil, errors.Join(err, s.End(ctx))
		}
		if s.stream.Partitions == held {
			break
		}
	}
	if err := s.check(why); err != nil {
		return nil, errors.Join(err, s.End(ctx))
	}
	return s, nil
}

// check compares what streams says with the purpose, this binary and the server, as a writer does.
func (s *Session) check(why purpose) error {
	found := s.stream
	if found.Work != "" && found.Work != why.work && !slices.Contains(why.ends, found.Work) {
		return position.Refuse("%s on %s is in progress since %s by %s: run it again, to its end, before anything else",
			found.Work, s.entity.Topic, found.Since.UTC().Format(time.RFC3339), found.Worker)
	}
	if why.moved {
		found.Server = s.server
	}
	if why.older {
		found.Schema = max(found.Schema, clickhouse.Version)
	}
	if why.formula {
		found.Formula = s.entity.Formula
	}
	err := found.CheckServer(position.Installation{Server: s.server, Shard: s.options.Shard, Shards: s.options.Shards})
	if err != nil {
		return err
	}
	return found.CheckBinary(s.entity)
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
	return retry.Do(ctx, pauses, func(ctx context.Context) error {
		hold, err := fence.Take(ctx, s.db, string(s.entity.Topic), s.partitions, s.options.Holder)
		switch {
		case err == nil:
			s.hold = hold
		case errors.Is(err, fence.ErrLostRace):
			return retry.RetryableError(err)
		}
		return err
	})
}

// mend gives the view the batches that it missed. An inconsistent one is left as it is: rebuild corrects it.
func (s *Session) mend(ctx context.Context) error {
	at, err := position.Read(ctx, s.db, s.entity, s.partitions)
	if err != nil {
		return err
	}
	for _, p := range s.partitions {
		if !at[p].Missed() {
			continue
		}
		s.options.Log.Warn("a view missed the last batch: it is mended",
			"table", s.entity.Table, "partition", p, "from", at[p].First, "to", at[p].State)
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

// consistent is nil when the view has what its table has, in every partition; a *position.Inconsistent otherwise.
func (s *Session) consistent(ctx context.Context) error {
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

// statement does a step of the work that ends in one conditional statement. When that is in doubt, the hold is put up
// anew, which kills what may still run, and the step is computed anew. A hold that was lost ends the work.
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

// conditions are those of each of the work's statements; conditionParams are their parameters.
const conditions = fence.HoldCounts + " AND " + position.SameServer

func (s *Session) conditionParams() database.Params {
	return s.hold.Params().With(database.Params{"server": s.server})
}

// End takes the hold down, after what may still run is dead, also when the context is over.
func (s *Session) End(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer stop()
	return s.hold.Release(ctx, s.db)
}

// write writes the topic's next revision in streams. What it changes must show in the life, or in the work.
func (s *Session) write(ctx context.Context, change func(*position.Stream)) error {
	topic, next := string(s.entity.Topic), s.stream
	change(&next)
	err := s.statement(ctx, func() error {
		now, _, err := position.ReadStream(ctx, s.db, topic)
		if err != nil {
			return err
		}
		if now.Revision > s.stream.Revision && now.Life == next.Life && now.Work == next.Work {
			s.stream = now // a statement in doubt has landed
			return nil
		}
		next.Revision = now.Revision + 1
		if err := position.WriteStream(ctx, s.db, topic, s.hold.StatementID(s.db), next, conditions, s.conditionParams()); err != nil {
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
