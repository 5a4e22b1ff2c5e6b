// Package migrate brings a database to the schema of this binary, and reports whether it is there: schemas/clickhouse
// says what the steps are, this package takes them, once each, one process at a time.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/sethvargo/go-retry"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
)

// topic is the pseudo-topic under whose hold the schema changes.
const topic = "migrations"

// defaultTimeout is how long Up waits for another process that migrates.
const defaultTimeout = 2 * time.Minute

const (
	askAgain = 250 * time.Millisecond // while another process migrates
	ddlLimit = 5 * time.Minute        // of one statement
	release  = 30 * time.Second       // for taking a hold down when the caller has no more time
)

// Options say how to migrate.
type Options struct {
	Target   clickhouse.Target
	Timeout  time.Duration // for another process that migrates; 0 is defaultTimeout
	Log      *slog.Logger
	Progress func(admin.Progress) // of work on rows, where a step or a new formula needs any; may be nil
}

// shard is one of several databases, and how to migrate it.
type shard struct {
	Options
	where       database.Options
	number, all int // from 0
	holder      string
}

func (s *shard) work() admin.Options {
	return admin.Options{Holder: s.holder, Shard: s.number, Shards: s.all, Log: s.Log, Progress: s.Progress}
}

// Up brings the database of each shard to this binary's schema, and its sums to this binary's formulas. It returns
// the names of the steps that were taken, none when all were. It makes a database that is missing. Two at once do no
// harm: the second waits for the first. It refuses a database that is newer than this binary, or whose steps are
// other than this binary's.
func Up(ctx context.Context, shards []database.Options, o Options) (taken []string, err error) {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	steps, err := clickhouse.Migrations(o.Target)
	if err != nil {
		return nil, err
	}
	for i, where := range shards {
		one := &shard{Options: o, where: where, number: i, all: len(shards), holder: fence.NewHolder("tallyhouse migrate")}
		more, err := one.migrate(ctx, steps)
		taken = append(taken, more...)
		if err != nil {
			return taken, fmt.Errorf("migrate database %s at %s: %w", where.Database, where.Addr, err)
		}
	}
	return taken, nil
}

func (s *shard) migrate(ctx context.Context, steps []clickhouse.Migration) (taken []string, err error) {
	if err := database.Create(ctx, s.where, s.Target.OnCluster()); err != nil {
		return nil, err
	}
	db, err := database.Open(s.where, 1)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	// The tables that holds need can't be made under a hold.
	for _, statement := range steps[0].Statements {
		if err := db.Exec(ctx, database.Statement{SQL: statement, Limit: ddlLimit}); err != nil {
			return nil, fmt.Errorf("prepare for migrations: %w", err)
		}
	}
	left, err := pending(ctx, db, steps)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		if taken, err = s.takeSteps(ctx, db, steps); err != nil {
			return taken, err
		}
	}
	for _, e := range store.All() {
		r, err := admin.Reform(ctx, db, e, s.work())
		if err != nil {
			return taken, fmt.Errorf("bring the sums of %s to this release: %w", e.Table, err)
		}
		if r.Slices > 0 {
			s.Log.Info("the sums are by this release's formula", "table", e.Table, "corrected", r.Corrected)
		}
	}
	if s.Target.Cluster != "" {
		if err := s.distribute(ctx, db); err != nil {
			return taken, err
		}
	}
	return taken, nil
}

// takeSteps takes the steps that are left while nobody else does, and while nobody writes to any table.
func (s *shard) takeSteps(ctx context.Context, db *database.Server, steps []clickhouse.Migration) (taken []string, err error) {
	hold, err := s.await(ctx, db)
	if err != nil {
		return nil, err
	}
	defer func() {
		ending, stop := context.WithTimeout(context.WithoutCancel(ctx), release)
		defer stop()
		err = errors.Join(err, hold.Release(ending, db))
	}()
	left, err := pending(ctx, db, steps) // another process may have been first
	if err != nil || len(left) == 0 {
		return nil, err
	}
	change, err := admin.BeginSchemaChange(ctx, db, s.work())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, change.End(ctx)) }()
	for _, m := range left {
		s.Log.Info("migrating the database", "version", m.Version, "step", m.Name)
		if err := take(ctx, db, hold, change, m); err != nil {
			return taken, fmt.Errorf("step %04d_%s: %w", m.Version, m.Name, err)
		}
		taken = append(taken, fmt.Sprintf("%04d_%s", m.Version, m.Name))
	}
	return taken, nil
}

// await takes the hold, waiting for whoever has it.
func (s *shard) await(ctx context.Context, db *database.Server) (*fence.Hold, error) {
	reported := ""
	var hold *fence.Hold
	pauses := retry.WithMaxDuration(s.Timeout, retry.NewConstant(askAgain))
	err := retry.Do(ctx, pauses, func(ctx context.Context) (err error) {
		hold, err = fence.Take(ctx, db, topic, []int32{0}, s.holder)
		var other *fence.Held
		switch {
		case errors.As(err, &other):
			if reported != other.Owner {
				s.Log.Info("another process migrates this database: waiting for it", "holder",
					fence.Holder(other.Owner), "since", other.Since)
				reported = other.Owner
			}
		case !errors.Is(err, fence.ErrLostRace):
			return err
		}
		return retry.RetryableError(fmt.Errorf("waited %s: %w", s.Timeout, err))
	})
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("wait for another migration: %w", err)
	}
	return hold, err
}

const noteStep = `
INSERT INTO migrations (version, name, sha256, applied_at)
SELECT {version:UInt32}, {name:String}, {sha256:String}, now64(3) WHERE ` + fence.HoldCounts

// take takes one step and writes it down. DDL can't be conditional: each statement does nothing when it was run
// before, and the holds are read again after each.
func take(ctx context.Context, db *database.Server, hold *fence.Hold, change *admin.SchemaChange, m clickhouse.Migration) error {
	for _, s := range m.Statements {
		if e := viewOf(s); e != nil {
			if err := change.BeforeView(ctx, e); err != nil {
				return err
			}
		}
		if err := db.Exec(ctx, database.Statement{SQL: s, ID: hold.StatementID(db), Limit: ddlLimit}); err != nil {
			return err
		}
		if err := errors.Join(hold.Check(ctx, db), change.Check(ctx)); err != nil {
			return err
		}
	}
	n, err := db.Insert(ctx, database.Statement{SQL: noteStep, ID: hold.StatementID(db), Params: hold.Params().With(database.Params{
		"version": strconv.Itoa(m.Version), "name": m.Name, "sha256": m.SHA256,
	})})
	if err == nil && n == 0 {
		err = position.ErrNotWritten
	}
	if err != nil {
		return fmt.Errorf("write it down: %w", err)
	}
	return nil
}

// viewOf is the entity whose view a statement creates, nil when it creates none.
func viewOf(statement string) *store.Entity {
	for _, e := range store.All() {
		if e.Contributes() && strings.HasPrefix(statement, "CREATE MATERIALIZED VIEW IF NOT EXISTS "+clickhouse.Trigger(e.Table)+" ") {
			return e
		}
	}
	return nil
}

// Database is what Check asks.
type Database interface {
	Name() string
	Exists(ctx context.Context) (bool, error)
	Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error
}

// ErrOutdated says that a database lacks steps of this binary's schema.
var ErrOutdated = errors.New("run `tallyhouse migrate`")

// Check reports whether the database is exactly at this binary's schema. It changes nothing.
func Check(ctx context.Context, db Database) error {
	steps, err := clickhouse.Migrations(clickhouse.Target{})
	if err != nil {
		return err
	}
	exists, err := db.Exists(ctx)
	if err != nil {
		return err
	}
	if !exists {
		return fmt.Errorf("there is no database %s yet: %w", db.Name(), ErrOutdated)
	}
	left, err := pending(ctx, db, steps)
	switch {
	case isMissing(err):
		return fmt.Errorf("database %s has no schema yet: %w", db.Name(), ErrOutdated)
	case err != nil:
		return err
	case len(left) > 0:
		var names []string
		for _, m := range left {
			names = append(names, fmt.Sprintf("%04d_%s", m.Version, m.Name))
		}
		return fmt.Errorf("database %s lacks %s: %w", db.Name(), strings.Join(names, ", "), ErrOutdated)
	}
	return nil
}

// pending are the steps that the database has not taken yet. The others must be what this binary knows them as.
func pending(ctx context.Context, db Database, steps []clickhouse.Migration) ([]clickhouse.Migration, error) {
	have := map[int]clickhouse.Migration{}
	var mismatches []error
	err := db.Rows(ctx, database.Query{SQL: "SELECT version, name, sha256 FROM migrations FINAL ORDER BY version"},
		func(scan func(...any) error) error {
			var version uint32
			var m clickhouse.Migration
			if err := scan(&version, &m.Name, &m.SHA256); err != nil {
				return err
			}
			m.Version = int(version)
			have[m.Version] = m
			switch {
			case m.Version >= len(steps):
				mismatches = append(mismatches, fmt.Errorf("the database has step %04d_%s, which this binary does not "+
					"know: it was migrated by a newer release, use that one", m.Version, m.Name))
			case m.SHA256 != steps[m.Version].SHA256:
				mismatches = append(mismatches, fmt.Errorf("step %04d_%s was taken in another form than this binary's "+
					"%04[1]d_%[3]s: a released step never changes; use the release that made the database",
					m.Version, m.Name, steps[m.Version].Name))
			}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("read the steps that the database has taken: %w", err)
	}
	if len(mismatches) > 0 {
		return nil, explain(ctx, db, mismatches)
	}
	var left []clickhouse.Migration
	for _, m := range steps {
		if _, ok := have[m.Version]; !ok {
			left = append(left, m)
		}
	}
	return left, nil
}

// hasSums asks for the table sums as this layout has it.
const hasSums = `SELECT count() > 0 FROM system.columns WHERE database = {database:String} AND table = 'sums' AND name = 'keys'`

// explain says why a database with other steps than this binary's can't be used.
func explain(ctx context.Context, db Database, mismatches []error) error {
	var sums bool
	q := database.Query{SQL: hasSums, Params: database.Params{"database": db.Name()}}
	if err := db.Rows(ctx, q, func(scan func(...any) error) error { return scan(&sums) }); err != nil {
		return fmt.Errorf("look for the table sums: %w", err)
	}
	if !sums {
		return fmt.Errorf("database %s has the tables of an old layout, which nothing converts: ingest the log into an empty "+
			"database (run `tallyhouse migrate` and everything else with another --clickhouse-database, the workers with another "+
			"--group)", db.Name())
	}
	return errors.Join(mismatches...)
}
