package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Log is what a partition's log holds at a moment, or why that could not be learnt: a partition may be without a leader
// while others are not.
type Log struct {
	Range
	Err error
}

// Logs asks for the logs of some partitions of a topic, all at once.
func Logs(ctx context.Context, client *kgo.Client, topic string, partitions []int32) map[int32]Log {
	const first, end = -2, -1 // Kafka's special timestamps
	starts, ends := partitionOffsets(ctx, client, topic, partitions, first), partitionOffsets(ctx, client, topic, partitions, end)
	all := make(map[int32]Log, len(partitions))
	for _, p := range partitions {
		log := Log{Range: Range{Start: starts[p].offset, End: ends[p].offset}}
		if err := errors.Join(starts[p].err, ends[p].err); err != nil {
			log.Err = fmt.Errorf("ask for the log of %s partition %d: %w", topic, p, err)
		}
		all[p] = log
	}
	return all
}

type offsetOrError struct {
	offset int64
	err    error
}

func partitionOffsets(ctx context.Context, client *kgo.Client, topic string, partitions []int32, at int64) map[int32]offsetOrError {
	ctx, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	const readCommitted = 1
	req := kmsg.NewPtrListOffsetsRequest()
	req.IsolationLevel = readCommitted
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	for _, p := range partitions {
		of := kmsg.NewListOffsetsRequestTopicPartition()
		of.Partition, of.Timestamp = p, at
		t.Partitions = append(t.Partitions, of)
	}
	req.Topics = append(req.Topics, t)
	all := map[int32]offsetOrError{}
	unanswered := errors.New("the broker did not answer for it")
	for _, shard := range client.RequestSharded(ctx, req) { // a request to each leader
		if shard.Err != nil {
			unanswered = shard.Err
			continue
		}
		for _, t := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range t.Partitions {
				all[p.Partition] = offsetOrError{p.Offset, kerr.ErrorForCode(p.ErrorCode)}
			}
		}
	}
	for _, p := range partitions {
		if _, ok := all[p]; !ok {
			all[p] = offsetOrError{err: unanswered}
		}
	}
	return all
}
