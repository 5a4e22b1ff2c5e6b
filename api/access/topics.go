package access

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// partition names one partition of a topic.
type partition struct {
	topic  string
	number int32
}

// shape is what a cluster says about the topics: their ids and partitions.
type shape map[string]topicShape

type topicShape struct {
	id         [16]byte
	partitions []int32 // ascending
}

// same is errChanged when a topic was made anew or has another number of partitions.
func (s shape) same(now shape) error {
	for topic, was := range s {
		is := now[topic]
		if was.id != is.id {
			return fmt.Errorf("%w: %s was made anew", errChanged, topic)
		}
		if !slices.Equal(was.partitions, is.partitions) {
			return fmt.Errorf("%w: %s has %d partitions instead of %d", errChanged, topic, len(is.partitions), len(was.partitions))
		}
	}
	return nil
}

// describe asks the cluster for the topics.
func describe(ctx context.Context, client *kgo.Client) (shape, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	request := kmsg.NewPtrMetadataRequest()
	for _, topic := range Topics() {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(string(topic))
		request.Topics = append(request.Topics, t)
	}
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("ask Kafka for the topics of access: %w", err)
	}
	found := make(shape, len(response.Topics))
	for _, t := range response.Topics {
		name := ""
		if t.Topic != nil {
			name = *t.Topic
		}
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return nil, fmt.Errorf("topic %s: %w; `tallyhouse topics` makes missing topics", name, err)
		}
		numbers := make([]int32, 0, len(t.Partitions))
		for _, p := range t.Partitions {
			numbers = append(numbers, p.Partition)
		}
		slices.Sort(numbers)
		found[name] = topicShape{id: t.TopicID, partitions: numbers}
	}
	return found, nil
}

// The two ends of a partition that a consumer of committed messages can ask for, as Kafka numbers them.
const (
	earliest   int64 = -2
	lastStable int64 = -1
)

// offsets asks for one end of every partition.
func offsets(ctx context.Context, client *kgo.Client, of shape, end int64) (map[partition]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID = -1
	request.IsolationLevel = 1 // read committed: the end is the last stable offset
	asked := 0
	for topic, t := range of {
		wanted := kmsg.NewListOffsetsRequestTopic()
		wanted.Topic = topic
		for _, number := range t.partitions {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp = number, end
			wanted.Partitions = append(wanted.Partitions, p)
			asked++
		}
		request.Topics = append(request.Topics, wanted)
	}
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("ask Kafka for the ends of the topics of access: %w", err)
	}
	found := make(map[partition]int64, asked)
	for _, t := range response.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("ask Kafka for the end of partition %d of %s: %w", p.Partition, t.Topic, err)
			}
			found[partition{t.Topic, p.Partition}] = p.Offset
		}
	}
	if len(found) != asked {
		return nil, fmt.Errorf("ask Kafka for the ends of the topics of access: %d of %d partitions answered", len(found), asked)
	}
	return found, nil
}
