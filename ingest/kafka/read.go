package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Identity is what makes a topic this one and no other.
type Identity struct {
	Cluster    string // id of the Kafka cluster
	Topic      string // Kafka's UUID of the topic: one made anew has another
	Partitions int
}

// ErrUnknown says that a topic does not exist.
var ErrUnknown = errors.New("the topic does not exist; run `tallyhouse topics` to create it")

// Identities asks the cluster, not a cache, for the identity of each topic.
func Identities(ctx context.Context, client *kgo.Client, names ...string) (map[string]Identity, error) {
	ctx, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	r, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("ask Kafka for the identity of topics: %w", err)
	}
	all := map[string]Identity{}
	for _, t := range r.Topics {
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case errors.Is(err, kerr.UnknownTopicOrPartition) && t.Topic != nil:
			return nil, fmt.Errorf("%s: %w", *t.Topic, ErrUnknown)
		case err != nil || t.Topic == nil:
			return nil, fmt.Errorf("ask Kafka for the identity of topics: %w", err)
		}
		id := Identity{Topic: uuid.UUID(t.TopicID).String(), Partitions: len(t.Partitions)}
		if r.ClusterID != nil {
			id.Cluster = *r.ClusterID
		}
		all[*t.Topic] = id
	}
	return all, nil
}

// Range is what a partition's log holds at a moment: offsets from Start up to, but without, End. Nothing behind End is committed yet.
type Range struct{ Start, End int64 }

// Ranges asks for the log of each partition of a topic.
func Ranges(ctx context.Context, client *kgo.Client, topic string) ([]Range, error) {
	ids, err := Identities(ctx, client, topic)
	if err != nil {
		return nil, err
	}
	all := make([]Range, ids[topic].Partitions)
	const first, end = -2, -1 // Kafka's special timestamps
	for i := range all {
		if all[i].Start, err = offset(ctx, client, topic, i, first); err == nil {
			all[i].End, err = offset(ctx, client, topic, i, end)
		}
		if err != nil {
			return nil, fmt.Errorf("ask for the log of %s partition %d: %w", topic, i, err)
		}
	}
	return all, nil
}

func offset(ctx context.Context, client *kgo.Client, topic string, partition int, at int64) (int64, error) {
	ctx, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	const readCommitted = 1
	req := kmsg.NewPtrListOffsetsRequest()
	req.IsolationLevel = readCommitted
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp = int32(partition), at
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	r, err := req.RequestWith(ctx, client)
	if err != nil {
		return 0, err
	}
	if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
		return 0, errors.New("the broker answered for other partitions")
	}
	found := r.Topics[0].Partitions[0]
	return found.Offset, kerr.ErrorForCode(found.ErrorCode)
}

const (
	readTimeout    = 30 * time.Second // without anything new
	partitionFetch = 1 << 20          // bytes fetched of a partition at a time; a larger message comes alone
)

// Read hands each committed message of a topic to each, up to the end that the log has at the call, in the order of each
// partition. It keeps no message.
func Read(ctx context.Context, c Cluster, topic string, each func(*kgo.Record) error) error {
	admin, err := kgo.NewClient(c.Reading...)
	if err != nil {
		return fmt.Errorf("read %s: %w", topic, err)
	}
	ranges, err := Ranges(ctx, admin, topic)
	admin.Close()
	switch {
	case errors.Is(err, ErrUnknown):
		return err
	case err != nil:
		return c.unreachable(err)
	}
	left := map[int32]int64{} // partition -> end
	from := map[int32]kgo.Offset{}
	for i, r := range ranges {
		if r.Start < r.End {
			left[int32(i)], from[int32(i)] = r.End, kgo.NewOffset().At(r.Start)
		}
	}
	if len(left) == 0 {
		return nil
	}
	client, err := c.reader(map[string]map[int32]kgo.Offset{topic: from})
	if err != nil {
		return fmt.Errorf("read %s: %w", topic, err)
	}
	defer client.Close()
	for len(left) > 0 {
		fetched, err := poll(ctx, client)
		if err != nil {
			return fmt.Errorf("read %s: %w", topic, err)
		}
		for iter := fetched.RecordIter(); !iter.Done(); {
			r := iter.Next()
			end, ok := left[r.Partition]
			if !ok {
				continue
			}
			if r.Offset < end && !r.Attrs.IsControl() {
				if err := each(r); err != nil {
					return err
				}
			}
			if r.Offset+1 >= end {
				delete(left, r.Partition)
			}
		}
	}
	return nil
}

// reader is a client that reads committed records from given offsets on, and never begins anywhere else by itself. Control records
// come along, so that the reading passes them.
func (c Cluster) reader(from map[string]map[int32]kgo.Offset) (*kgo.Client, error) {
	return kgo.NewClient(append(c.Reading[:len(c.Reading):len(c.Reading)],
		kgo.ConsumePartitions(from),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(),
		kgo.FetchMaxPartitionBytes(partitionFetch),
	)...)
}

func poll(ctx context.Context, client *kgo.Client) (kgo.Fetches, error) {
	ctx, stop := context.WithTimeout(ctx, readTimeout)
	defer stop()
	fetched := client.PollFetches(ctx)
	return fetched, fetched.Err()
}
