package access

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/schemas/kafka"
)

// identities are what the cluster says about the topics of access, by topic.
type identities map[string]kafka.Identity

// describe asks the cluster for the topics.
func describe(ctx context.Context, client *kgo.Client) (identities, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var names []string
	for _, topic := range Topics() {
		names = append(names, string(topic))
	}
	return kafka.Identities(ctx, client, names...)
}

// ranges are where all partitions of the topics begin and end.
func (i identities) ranges(ctx context.Context, client *kgo.Client) (map[kafka.Partition]kafka.Range, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	byTopic, err := kafka.Ranges(ctx, client, i)
	if err != nil {
		return nil, err
	}
	all := make(map[kafka.Partition]kafka.Range)
	for topic, partitions := range byTopic {
		for number, r := range partitions {
			all[kafka.Partition{Topic: topic, Number: int32(number)}] = r
		}
	}
	return all, nil
}

// same is errChanged when a topic was created again or has another number of partitions.
func (i identities) same(now identities) error {
	for topic, was := range i {
		is := now[topic]
		if was.Topic != is.Topic {
			return fmt.Errorf("%w: %s was created again", errChanged, topic)
		}
		if was.Partitions != is.Partitions {
			return fmt.Errorf("%w: %s has %d partitions instead of %d", errChanged, topic, is.Partitions, was.Partitions)
		}
	}
	return nil
}
