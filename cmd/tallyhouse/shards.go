package main

import (
	"context"
	"fmt"
	"runtime/debug"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
)

// shard is the database of a shard, and how a command works on it.
type shard struct {
	*database.Server
	work admin.Options
}

// openShards opens the database of each shard for the work of a command. They must be at this binary's schema.
func (s *shell) openShards(ctx context.Context, servers servers, command string) (shards []shard, stop func(), err error) {
	databases, err := servers.databases()
	if err != nil {
		return nil, nil, err
	}
	o := admin.Options{
		Holder: fence.NewHolder("tallyhouse " + command), Shards: len(databases), Log: s.log, Progress: s.progress(),
	}
	for i, db := range databases {
		if err := migrate.Check(ctx, db); err != nil {
			closeAll(databases)
			return nil, nil, err
		}
		o.Shard = i
		shards = append(shards, shard{db, o})
	}
	return shards, func() { closeAll(databases) }, nil
}

// rebuild corrects the sums of each shard, and prints what it corrected.
func (s *shell) rebuild(shards []shard, do func(shard) ([]admin.Rebuilt, error)) error {
	s.limitMemory(recomputeMemory)
	for _, shard := range shards {
		all, err := do(shard)
		for _, r := range all {
			fmt.Fprintf(s.out, "%s at %s: %d sums were corrected\n", r.Table, shard.Addr(), r.Corrected)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", shard.Addr(), err)
		}
	}
	return nil
}

// progress shows how far work on tables has come, one piece after the other.
func (s *shell) progress() func(admin.Progress) {
	shown := load.NewProgress(s.err, isTerminal(s.err))
	work := ""
	return func(p admin.Progress) {
		if p.Work != work || p.Done == 0 {
			work = p.Work
			shown.Stage(p.Work, int64(p.Total), "rows")
		}
		shown.Done(int64(p.Done))
		if p.Done >= p.Total {
			shown.End()
		}
	}
}

// recomputeMemory bounds the heap of a command that recomputes sums: enough for a project of a million records, whose
// summing takes some 230 MB.
const recomputeMemory = 400 << 20

// answeringMemory bounds the heap of what answers requests, as long as the answers that it gives at a time allow it.
const answeringMemory = 512 << 20

// collectLess lets the heap grow to five times what is in use before it is collected, unless GOGC is set, within a bound: answers of
// megabytes come and go, and collecting them takes up to two fifths of what they cost.
func (s *shell) collectLess(bytes int64) {
	s.limitMemory(bytes)
	if _, given := s.env["GOGC"]; !given {
		debug.SetGCPercent(400)
	}
}

// limitMemory bounds the heap, unless GOMEMLIMIT is set.
func (s *shell) limitMemory(bytes int64) {
	if _, given := s.env["GOMEMLIMIT"]; !given {
		debug.SetMemoryLimit(bytes)
	}
}
