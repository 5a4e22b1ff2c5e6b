package admin

import (
	"context"
	"errors"
	"fmt"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/position"
)

// Resized says from which number of partitions to which a database followed its topic.
type Resized struct{ From, To int }

// Resize lets a database follow its topic to another number of partitions: it holds the old and the new ones, mends, and writes the
// new number down with a new life, in one statement. Writers then re-route what lies in the wrong partition. It does nothing when the
// number is right, or when the database knows nothing of the topic yet. in is the topic as it is now, and which shard the server is.
func Resize(ctx context.Context, db *database.Server, e *store.Entity, in position.Installation, o Options) (r Resized, err error) {
	stream, known, err := position.ReadStream(ctx, db, string(e.Topic))
	r = Resized{From: int(stream.Partitions), To: in.Log.Partitions}
	if err != nil || !known {
		return Resized{To: in.Log.Partitions}, err
	}
	if r.From == r.To && stream.Work == "" {
		return r, nil
	}
	s, err := Begin(ctx, db, e, "", partitions(in.Log.Partitions, nil), o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.End(ctx)) }()
	r.From = int(s.stream.Partitions)
	in.Server = s.server
	if err := s.stream.CheckIdentity(e, in); err != nil {
		return r, err
	}
	if err := s.stream.CheckBinary(e); err != nil {
		return r, err
	}
	switch {
	case r.To < r.From:
		return r, position.Refuse("%s has %d partitions, fewer than the %d that the database knows of: Kafka never takes partitions away, so this is another topic", e.Topic, r.To, r.From)
	case r.From%in.Shards != 0 || r.To%in.Shards != 0:
		return r, position.Refuse("%s goes from %d partitions to %d, and %d shards keep a partition by its number: entities would move between shards unless both are multiples of %[4]d; "+
			"ingest into empty databases instead", e.Topic, r.From, r.To, in.Shards)
	}
	if err := s.Consistent(ctx); err != nil {
		return r, err
	}
	if err := s.write(ctx, func(next *position.Stream) { next.Partitions, next.Life = uint32(r.To), position.NewLife() }); err != nil {
		return r, fmt.Errorf("resize %s: %w", e.Topic, err)
	}
	return r, nil
}
