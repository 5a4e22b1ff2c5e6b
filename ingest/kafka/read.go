package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	kafkalog "tallyhouse/schemas/kafka"
)

// readTimeout is how long Read waits when nothing new comes.
const readTimeout = 30 * time.Second

// Read calls each with every committed message of a topic, up to the end that the log has at the call, in the order of
// each partition. It keeps no message.
func Read(ctx context.Context, c Cluster, topic string, each func(*kgo.Record) error) error {
	return ReadSince(ctx, c, topic, time.Time{}, each)
}

// ReadSince is Read without most of the messages that were sent before an instant; the zero one leaves out none.
func ReadSince(ctx context.Context, c Cluster, topic string, since time.Time, each func(*kgo.Record) error) error {
	ranges, err := c.ranges(ctx, topic, since)
	switch {
	case errors.Is(err, kafkalog.ErrUnknown):
		return err
	case err != nil:
		return c.unreachable(err)
	}
	return c.read(ctx, topic, ranges, each)
}

// ReadOn is Read from an offset of each partition, by number, or from what the log still has: for whoever reads on again
// and again. It returns what the partitions hold, whose ends are the offsets of the next call.
func ReadOn(ctx context.Context, c Cluster, topic string, from []int64, each func(*kgo.Record) error) ([]kafkalog.Range, error) {
	ranges, err := c.ranges(ctx, topic, time.Time{})
	switch {
	case errors.Is(err, kafkalog.ErrUnknown):
		return nil, err
	case err != nil:
		return nil, c.unreachable(err)
	}
	left := slices.Clone(ranges)
	for number := range min(len(from), len(left)) {
		left[number].Start = max(left[number].Start, from[number])
	}
	return ranges, c.read(ctx, topic, left, each)
}

// read calls each with the committed messages of these ranges of a topic's partitions.
func (c Cluster) read(ctx context.Context, topic string, ranges []kafkalog.Range, each func(*kgo.Record) error) error {
	from, left := map[kafkalog.Partition]int64{}, map[kafkalog.Partition]int64{} // left: the ends that have not been reached
	for number, r := range ranges {
		if r.Start < r.End {
			p := kafkalog.Partition{Topic: topic, Number: int32(number)}
			from[p], left[p] = r.Start, r.End
		}
	}
	if len(left) == 0 {
		return nil
	}
	reader, err := kafkalog.NewReader(c.Reading, from)
	if err != nil {
		return fmt.Errorf("read %s: %w", topic, err)
	}
	defer reader.Close()
	for len(left) > 0 {
		next, err := poll(ctx, reader, func(r *kgo.Record) error {
			if r.Offset >= left[kafkalog.Partition{Topic: r.Topic, Number: r.Partition}] {
				return nil
			}
			return each(r)
		})
		if err != nil {
			return err
		}
		for p, offset := range next {
			if offset >= left[p] {
				delete(left, p)
			}
		}
	}
	return nil
}

// followed is how many messages Follow takes at a time.
const followed = 1000

// Follow calls each with every committed message of a topic that was sent since an instant, in the order of each
// partition, then with those that come, also in new partitions, until the context ends or each fails. Whatever its error,
// another call gives the same messages again.
func Follow(ctx context.Context, c Cluster, topic string, since time.Time, each func(*kgo.Record) error) error {
	bounded, err := kafkalog.Bounded()
	if err != nil {
		return fmt.Errorf("follow %s: %w", topic, err)
	}
	client, err := kgo.NewClient(append(slices.Concat(c.Reading, bounded), kgo.ConsumeTopics(topic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AfterMilli(since.UnixMilli())))...)
	if err != nil {
		return fmt.Errorf("follow %s: connect to Kafka: %w", topic, err)
	}
	defer client.Close()
	for {
		fetched := kafkalog.Poll(ctx, client, followed)
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("follow %s: %w", topic, err)
		}
		for _, failed := range fetched.Errors() {
			if _, passed := kafkalog.PassUnread(client, failed); passed {
				continue
			}
			return fmt.Errorf("follow partition %d of %s: %w", failed.Partition, topic, kafkalog.Failed(failed.Err))
		}
		for records := fetched.RecordIter(); !records.Done(); {
			if err := each(records.Next()); err != nil {
				return err
			}
		}
	}
}

// ranges are what the partitions of a topic hold now of the messages since an instant.
func (c Cluster) ranges(ctx context.Context, topic string, since time.Time) ([]kafkalog.Range, error) {
	client, err := kgo.NewClient(c.Reading...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ids, err := kafkalog.Identities(ctx, client, topic)
	if err != nil {
		return nil, err
	}
	all, err := kafkalog.Ranges(ctx, client, ids)
	if err != nil || since.IsZero() {
		return all[topic], err
	}
	first, err := kafkalog.Since(ctx, client, topic, ids[topic], since)
	for number, offset := range first {
		all[topic][number].Start = max(all[topic][number].Start, offset)
	}
	return all[topic], err
}

func poll(ctx context.Context, reader *kafkalog.Reader, take func(*kgo.Record) error) (map[kafkalog.Partition]int64, error) {
	ctx, stop := context.WithTimeout(ctx, readTimeout)
	defer stop()
	return reader.Poll(ctx, take)
}
