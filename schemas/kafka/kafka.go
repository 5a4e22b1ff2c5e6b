// Package kafka is what writer and reader both must know of the log: what identifies a topic, where its partitions
// begin and end, and how committed messages are read from an offset on. It decides nothing: who reads what, and why, is
// up to its callers.
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

// requestTimeout bounds one request to the cluster. A caller that can't wait that long gives a context with a deadline.
const requestTimeout = 30 * time.Second

// ErrUnknown says that a topic does not exist.
var ErrUnknown = errors.New("the topic does not exist; run `tallyhouse topics` to create it")

// Identity is what makes a topic this one and no other.
type Identity struct {
	Cluster    string // id of the Kafka cluster
	Topic      string // Kafka's UUID of the topic: one made anew has another
	Partitions int    // how many there are, numbered from 0
}

// Identities asks the cluster, not a cache, for the identity of each topic. A topic that does not exist is an
// ErrUnknown.
func Identities(ctx context.Context, client *kgo.Client, topics ...string) (map[string]Identity, error) {
	ctx, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	request := kmsg.NewPtrMetadataRequest()
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		request.Topics = append(request.Topics, t)
	}
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("ask Kafka for the identity of topics: %w", Failed(err))
	}
	all := make(map[string]Identity, len(topics))
	for _, t := range response.Topics {
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case t.Topic == nil:
			return nil, errors.New("ask Kafka for the identity of topics: the answer names no topic")
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			return nil, fmt.Errorf("%s: %w", *t.Topic, ErrUnknown)
		case err != nil:
			return nil, fmt.Errorf("ask Kafka for the identity of %s: %w", *t.Topic, err)
		}
		id := Identity{Topic: uuid.UUID(t.TopicID).String(), Partitions: len(t.Partitions)}
		if response.ClusterID != nil {
			id.Cluster = *response.ClusterID
		}
		all[*t.Topic] = id
	}
	return all, nil
}

// Range is what a partition's log holds at a moment: offsets from Start up to, but without, End. Nothing behind End is
// committed yet (Kafka calls it the last stable offset).
type Range struct{ Start, End int64 }

// Ranges asks for the log of every partition of the topics, by topic and number of the partition.
func Ranges(ctx context.Context, client *kgo.Client, topics map[string]Identity) (map[string][]Range, error) {
	all := make(map[string][]Range, len(topics))
	for topic, id := range topics {
		all[topic] = make([]Range, id.Partitions)
	}
	err := offsets(ctx, client, topics, logStart,
		func(topic string, partition int32, offset int64) { all[topic][partition].Start = offset })
	if err != nil {
		return nil, err
	}
	err = offsets(ctx, client, topics, logEnd,
		func(topic string, partition int32, offset int64) { all[topic][partition].End = offset })
	return all, err
}

// Since asks for the first offset of each partition of a topic whose message was sent at the instant or later; where
// there is none, it is the end of the log.
func Since(ctx context.Context, client *kgo.Client, topic string, id Identity, at time.Time) ([]int64, error) {
	topics := map[string]Identity{topic: id}
	logs, err := Ranges(ctx, client, topics)
	if err != nil {
		return nil, err
	}
	first := make([]int64, id.Partitions)
	err = offsets(ctx, client, topics, at.UnixMilli(), func(_ string, partition int32, offset int64) {
		if first[partition] = offset; offset < 0 {
			first[partition] = logs[topic][partition].End
		}
	})
	return first, err
}

// offsets asks where every partition has its first message of a timestamp or later, or for one of its ends.
func offsets(ctx context.Context, client *kgo.Client, topics map[string]Identity, timestamp int64,
	found func(topic string, partition int32, offset int64)) error {
	of := make(map[string][]int32, len(topics))
	for topic, id := range topics {
		for number := range id.Partitions {
			of[topic] = append(of[topic], int32(number))
		}
	}
	answers := listOffsets(ctx, client, of, timestamp, ofCommitted)
	for topic, numbers := range of {
		for _, number := range numbers {
			answer := answers[Partition{topic, number}]
			if answer.err != nil {
				return fmt.Errorf("ask Kafka where partition %d of %s begins or ends: %w", number, topic, Failed(answer.err))
			}
			found(topic, number, answer.offset)
		}
	}
	return nil
}
