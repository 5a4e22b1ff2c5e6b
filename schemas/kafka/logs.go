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

// Who asks Kafka where a log ends: behind an open transaction nothing is committed yet.
const (
	ofAll       = 0
	ofCommitted = 1
)

// Logs asks for the logs of some partitions of a topic, all at once.
func Logs(ctx context.Context, client *kgo.Client, topic string, partitions []int32) map[int32]Log {
	of := map[string][]int32{topic: partitions}
	starts, ends := listOffsets(ctx, client, of, logStart, ofCommitted), listOffsets(ctx, client, of, logEnd, ofCommitted)
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

// End is where a log ends at a moment.
type End struct {
	Committed uint64 // the offset of the first message of an open transaction, where there is one: nothing behind it is read
	Log       uint64
}

// Ends asks where some logs end, all at once. Those that give no answer are left out.
func Ends(ctx context.Context, client *kgo.Client, partitions []Partition) map[Partition]End {
	of := map[string][]int32{}
	for _, p := range partitions {
		of[p.Topic] = append(of[p.Topic], p.Number)
	}
	ends := map[Partition]End{}
	// In this order: what is committed between the two questions is not taken for what a transaction holds back for long.
	all, committed := listOffsets(ctx, client, of, logEnd, ofAll), listOffsets(ctx, client, of, logEnd, ofCommitted)
	for p, end := range all {
		if until := committed[p]; end.err == nil && until.err == nil {
			ends[p] = End{Committed: uint64(until.offset), Log: uint64(max(end.offset, until.offset))}
		}
	}
	return ends
}

type offsetOrError struct {
	offset int64
	err    error
}

// listOffsets asks each leader where its partitions have their first message of a timestamp or later, of all or of the committed part.
func listOffsets(ctx context.Context, client *kgo.Client, partitions map[string][]int32, at int64, of int8) map[Partition]offsetOrError {
	ctx, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	req := kmsg.NewPtrListOffsetsRequest()
	req.IsolationLevel = of
	all := map[Partition]offsetOrError{}
	for topic, numbers := range partitions {
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = topic
		for _, p := range numbers {
			asked := kmsg.NewListOffsetsRequestTopicPartition()
			asked.Partition, asked.Timestamp = p, at
			t.Partitions = append(t.Partitions, asked)
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
