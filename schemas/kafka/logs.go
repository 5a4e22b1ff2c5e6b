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

// Kafka's special timestamps, for who reads committed messages.
const (
	logStart = -2
	logEnd   = -1
)

// Logs asks for the logs of some partitions of a topic, all at once.
func Logs(ctx context.Context, client *kgo.Client, topic string, partitions []int32) map[int32]Log {
	of := map[string][]int32{topic: partitions}
	starts, ends := listOffsets(ctx, client, of, logStart), listOffsets(ctx, client, of, logEnd)
	all := make(map[int32]Log, len(partitions))
	for _, p := range partitions {
		start, end := starts[Partition{topic, p}], ends[Partition{topic, p}]
		log := Log{Range: Range{Start: start.offset, End: end.offset}}
		if err := errors.Join(start.err, end.err); err != nil {
			log.Err = fmt.Errorf("ask for the log of %s partition %d: %w", topic, p, Failed(err))
		}
		all[p] = log
	}
	return all
}

// Ends asks where the committed parts of some logs end, all at once. Those that give no answer are left out.
func Ends(ctx context.Context, client *kgo.Client, partitions []Partition) map[Partition]uint64 {
	of := map[string][]int32{}
	for _, p := range partitions {
		of[p.Topic] = append(of[p.Topic], p.Number)
	}
	ends := map[Partition]uint64{}
	for p, end := range listOffsets(ctx, client, of, logEnd) {
		if end.err == nil {
			ends[p] = uint64(end.offset)
		}
	}
	return ends
}

type offsetOrError struct {
	offset int64
	err    error
}

// listOffsets asks each leader where its partitions have their first message of a timestamp or later.
func listOffsets(ctx context.Context, client *kgo.Client, partitions map[string][]int32, at int64) map[Partition]offsetOrError {
	ctx, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	const readCommitted = 1
	req := kmsg.NewPtrListOffsetsRequest()
	req.IsolationLevel = readCommitted
	all := map[Partition]offsetOrError{}
	for topic, numbers := range partitions {
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = topic
		for _, p := range numbers {
			of := kmsg.NewListOffsetsRequestTopicPartition()
			of.Partition, of.Timestamp = p, at
			t.Partitions = append(t.Partitions, of)
		}
		req.Topics = append(req.Topics, t)
	}
	if len(req.Topics) == 0 {
		return all
	}
	unanswered := errors.New("the broker did not answer for it")
	for _, shard := range client.RequestSharded(ctx, req) { // a request to each leader
		if shard.Err != nil {
			unanswered = shard.Err
			continue
		}
		for _, t := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range t.Partitions {
				all[Partition{t.Topic, p.Partition}] = offsetOrError{p.Offset, kerr.ErrorForCode(p.ErrorCode)}
			}
		}
	}
	for topic, numbers := range partitions {
		for _, p := range numbers {
			if _, ok := all[Partition{topic, p}]; !ok {
				all[Partition{topic, p}] = offsetOrError{err: unanswered}
			}
		}
	}
	return all
}
