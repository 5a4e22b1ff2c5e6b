package admin

import (
	"context"
	"errors"
	"fmt"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/position"
	kafkalog "tallyhouse/schemas/kafka"
)

// Resized tells from which number of partitions to which a database followed its topic.
type Resized struct{ From, To int }

// Resize lets a database follow its topic to another number of partitions: it holds the old and the new ones, mends,
// and writes the new number down with a new life, in one statement. Writers then re-route what lies in the wrong
// partition. It does nothing when the number is right, or when the database knows nothing of the topic yet. log is
// the topic as it is now.
func Resize(ctx context.Context, db Database, e *store.Entity, log kafkalog.Identity, o Options) (r Resized, err error) {
	stream, known, err := position.ReadStream(ctx, db, string(e.Topic))
	if err != nil || !known {
		return Resized{To: log.Partitions}, err
	}
	r = Resized{From: int(stream.Partitions), To: log.Partitions}
	if r.From == r.To && stream.Work == "" {
		return r, nil
	}
	s, err := beginMended(ctx, db, e, purpose{more: partitions(log.Partitions, nil)}, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	r.From = int(s.stream.Partitions)
	if r.From == r.To {
		return r, nil // another process was first
	}
	if err := s.stream.CheckIdentity(e, position.Installation{Log: log, Server: s.server, Shard: o.Shard, Shards: o.Shards}); err != nil {
		return r, err
	}
	switch {
	case r.To < r.From:
		return r, position.Refuse("%s has %d partitions, fewer than the %d that the database knows of: Kafka never takes partitions "+
			"away, so this is another topic", e.Topic, r.To, r.From)
	case r.From%o.Shards != 0 || r.To%o.Shards != 0:
		return r, position.Refuse("%s goes from %d partitions to %d, and a partition lies on the shard of its number modulo %d: "+
			"entities would move between shards unless both numbers are multiples of %[4]d; ingest into empty databases instead",
			e.Topic, r.From, r.To, o.Shards)
	}
	if err := s.consistent(ctx); err != nil {
		return r, err
	}
	if err := s.write(ctx, func(next *position.Stream) { next.Partitions, next.Life = uint32(r.To), position.NewLife() }); err != nil {
		return r, fmt.Errorf("resize %s: %w", e.Topic, err)
	}
	return r, nil
}
