package admin

import (
	"context"
	"errors"
	"fmt"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
	kafkalog "tallyhouse/schemas/kafka"
)

// Resized says from which number of partitions to which a database followed its topic.
type Resized struct{ From, To int }

// Resize lets a database follow its topic to another number of partitions: it holds the old and the new ones, mends, and writes the
// new number down with a new life, in one statement. Writers then re-route what lies in the wrong partition. It does nothing when the
// number is right, or when the database knows nothing of the topic yet.
func Resize(ctx context.Context, db *database.Server, e *store.Entity, log kafkalog.Identity, o Options) (r Resized, err error) {
	stream, known, err := position.ReadStream(ctx, db, string(e.Topic))
	r = Resized{From: int(stream.Partitions), To: log.Partitions}
	if err != nil || !known {
		return Resized{To: log.Partitions}, err
	}
	if r.From == r.To && stream.Work == "" {
		return r, nil
	}
	s, err := Begin(ctx, db, e, "", partitions(log.Partitions, nil), o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	r.From = int(s.stream.Partitions)
	asked := s.stream
	asked.Partitions = uint32(log.Partitions) // everything else must fit
	if err := asked.Check(string(e.Topic), log, s.server); err != nil {
		return r, err
	}
	if log.Partitions < r.From {
		return r, position.Refuse("%s has %d partitions, fewer than the %d that the database knows of: Kafka never takes partitions away, so this is another topic", e.Topic, log.Partitions, r.From)
	}
	if err := s.Consistent(ctx); err != nil {
		return r, err
	}
	if err := s.write(ctx, func(next *position.Stream) { next.Partitions, next.Life = uint32(log.Partitions), position.NewLife() }); err != nil {
		return r, fmt.Errorf("resize %s: %w", e.Topic, err)
	}
	return r, nil
}
