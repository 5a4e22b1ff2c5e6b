package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	partitionFetch = 1 << 20 // bytes fetched of a partition at a time; a larger message comes alone
	maxPoll        = 10_000  // records handed over at once
)

// Partition names one partition of a topic.
type Partition struct {
	Topic  string
	Number int32
}

func (p Partition) String() string { return fmt.Sprintf("%s/%d", p.Topic, p.Number) }

// ReadCommitted are the options of a client that reads committed messages alone, and never begins anywhere by itself.
// Control records come along, so that a position passes them.
func ReadCommitted() []kgo.Opt {
	return []kgo.Opt{
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.KeepControlRecords(),
	}
}

// PassUnread has a Bounded client go on after a failure of one partition, where that is no more than unpacking: behind messages that nobody
// can unpack (the worker has a dead letter for those of its topics), or with those for which there was no memory left.
// next is the next offset, 0 where that is no other one than before.
func PassUnread(client *kgo.Client, failed kgo.FetchError) (next int64, passed bool) {
	if errors.Is(failed.Err, ErrLater) {
		return 0, true
	}
	large, ok := errors.AsType[*kgo.ErrDecompressTooLarge](failed.Err)
	if !ok {
		return 0, false
	}
	client.SetOffsets(map[string]map[int32]kgo.EpochOffset{failed.Topic: {failed.Partition: {Epoch: large.Epoch, Offset: large.NextOffset}}})
	return large.NextOffset, true
}

// Reader reads the committed messages of some partitions. It is for one goroutine.
type Reader struct{ client *kgo.Client }

// NewReader makes a reader that begins with these offsets, on the cluster that the options name. It must be closed.
func NewReader(options []kgo.Opt, from map[Partition]int64) (*Reader, error) {
	offsets := make(map[string]map[int32]kgo.Offset)
	for p, offset := range from {
		if offsets[p.Topic] == nil {
			offsets[p.Topic] = make(map[int32]kgo.Offset)
		}
		offsets[p.Topic][p.Number] = kgo.NewOffset().At(offset)
	}
	bounded, err := Bounded()
	if err != nil {
		return nil, err
	}
	all := append(append(options[:len(options):len(options)], ReadCommitted()...), bounded...)
	client, err := kgo.NewClient(append(all, kgo.ConsumePartitions(offsets),
		kgo.FetchMaxPartitionBytes(partitionFetch))...)
	if err != nil {
		return nil, fmt.Errorf("connect to Kafka: %w", err)
	}
	return &Reader{client}, nil
}

// Close ends the reader's connections.
func (r *Reader) Close() { r.client.Close() }

// Poll waits for messages, hands each to take, in the order of each partition, and returns how far that brought the
// partitions: their next offsets, of none where it only made room for what comes next. It keeps no message, passes those that
// nobody can unpack, and fails with the context's error when that ends first.
func (r *Reader) Poll(ctx context.Context, take func(*kgo.Record) error) (map[Partition]int64, error) {
	fetched := Poll(ctx, r.client, maxPoll)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read from Kafka: %w", err)
	}
	next, passed := make(map[Partition]int64), make(map[Partition]int64)
	for _, failed := range fetched.Errors() {
		behind, ok := PassUnread(r.client, failed)
		if !ok {
			return nil, fmt.Errorf("read partition %d of %s: %w", failed.Partition, failed.Topic, Failed(failed.Err))
		}
		if behind > 0 {
			passed[Partition{failed.Topic, failed.Partition}] = behind
		}
	}
	for records := fetched.RecordIter(); !records.Done(); {
		record := records.Next()
		if !record.Attrs.IsControl() {
			if err := take(record); err != nil {
				return nil, err
			}
		}
		next[Partition{record.Topic, record.Partition}] = record.Offset + 1
	}
	maps.Copy(next, passed)
	return next, nil
}
