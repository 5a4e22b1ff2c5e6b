package admin

import (
	"context"
	"errors"
	"fmt"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// adopting is the name of the work in streams, and the command that completes it.
const adopting = "`tallyhouse adopt`"

// Log is a topic as the cluster has it.
type Log struct {
	kafkalog.Identity
	Ranges []kafkalog.Range // of each partition
}

// Adoption says what the database that is adopted shall go on with.
type Adoption struct {
	Logs       map[events.Topic]Log
	AcceptGaps bool // go on behind messages that the log no longer has
}

// Adopt takes over a database that was restored from a backup, in its place or elsewhere, or moved to another server.
// It believes the rows of the state tables and rebuilds all sums: positions don't show which corrections the restored
// ones lack. So it completes a rebuild in whose middle the backup was made, too. It refuses, before it changes anything,
// when a log doesn't belong to its table, or begins behind the table's position, unless gaps are accepted. Running it
// again is harmless, and is what to do after it was interrupted.
func Adopt(ctx context.Context, db Database, a Adoption, o Options) (all []Rebuilt, err error) {
	var wrong []error
	for _, e := range store.All() {
		stream, known, err := position.ReadStream(ctx, db, string(e.Topic))
		if err != nil {
			return nil, err
		}
		if known {
			wrong = append(wrong, a.compare(ctx, db, e, stream))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	broken, err := brokenParts(ctx, db, sums)
	if err != nil {
		return nil, err
	}
	for _, e := range store.All() {
		r, err := a.adopt(ctx, db, e, o)
		if err != nil {
			return all, fmt.Errorf("adopt %s: %w", e.Table, err)
		}
		all = append(all, r)
	}
	return all, dropParts(ctx, db, sums, broken)
}

func (a Adoption) adopt(ctx context.Context, db Database, e *store.Entity, o Options) (r Rebuilt, err error) {
	s, err := begin(ctx, db, e, purpose{work: adopting, ends: []string{rebuilding}, moved: true, formula: true}, o)
	if err != nil || s == nil {
		return Rebuilt{Table: e.Table}, err
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	if err := a.compare(ctx, db, e, s.stream); err != nil { // what was read before may have changed before the hold
		return Rebuilt{Table: e.Table}, err
	}
	if err := s.stateIsWhole(ctx); err != nil {
		return Rebuilt{Table: e.Table}, err
	}
	return s.rebuild(ctx, adopting)
}

// compare is nil when a table can go on with its log.
func (a Adoption) compare(ctx context.Context, db Database, e *store.Entity, stream position.Stream) error {
	log := a.Logs[e.Topic]
	err := stream.CheckIdentity(e, position.Installation{
		Log: log.Identity, Server: stream.Server, Shard: int(stream.Shard), Shards: int(stream.Shards),
	})
	if err != nil {
		return err
	}
	at, err := position.Read(ctx, db, e, partitions(int(stream.Partitions), nil))
	if err != nil {
		return err
	}
	var wrong []error
	for p := range int32(stream.Partitions) {
		if int(p) >= len(log.Ranges) {
			return position.Refuse("%s has %d partitions, the database knows of %d: this is another topic",
				e.Topic, len(log.Ranges), stream.Partitions)
		}
		if !stream.Keeps(p) {
			continue // how far it has come is known on its own shard
		}
		first, next := uint64(log.Ranges[p].Start), uint64(log.Ranges[p].End)
		switch state := at[p].State; {
		case state > next:
			wrong = append(wrong, position.Refuse("%s partition %d: the database has come to offset %d, the log ends at %d: it is another "+
				"log than the one that was ingested, ingest it into an empty database", e.Topic, p, state, next))
		case stream.IsGap(p, state, first) && !a.AcceptGaps:
			wrong = append(wrong, position.Refuse("%s partition %d: the database has come to offset %d, the log begins at %d: the messages "+
				"between are gone from it. With --accept-gaps the worker goes on behind them, and `tallyhouse verify` lists what has to be "+
				"sent again from its source", e.Topic, p, state, first))
		}
	}
	return errors.Join(wrong...)
}
