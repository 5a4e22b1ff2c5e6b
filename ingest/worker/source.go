package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
)

// source reads the records of all partitions that the worker writes, committed ones only, and keeps each partition's in a feed of
// bounded size. One goroutine alone polls and changes what is read, so that a record is never delivered to another feed than the one
// that it was read for: a feed is one attempt's reading, and what was read under an older attempt vanishes with its feed.
type source struct {
	client *kgo.Client
	mu     sync.Mutex
	feeds  map[topicPartition]*feed
	orders []func()
	wake   context.CancelFunc
}

type topicPartition struct {
	topic     string
	partition int32
}

func (tp topicPartition) String() string { return fmt.Sprintf("%s/%d", tp.topic, tp.partition) }

const (
	// fetchBytes bounds a fetch by what each partition adds to it: a bound on the whole response makes the embedded broker lose the
	// list of aborted transactions. A larger message comes alone.
	fetchBytes = 512 << 10
	// feedBytes is where a partition's reading pauses; it goes on at half of it.
	feedBytes = 2 << 20
)

func newSource(cluster kafka.Cluster) (*source, error) {
	client, err := kgo.NewClient(append(cluster.Reading[:len(cluster.Reading):len(cluster.Reading)],
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(), // a position passes every marker
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxPartitionBytes(fetchBytes),
		kgo.FetchMaxBytes(512<<20),
		kgo.BrokerMaxReadBytes(1<<30),
		kgo.FetchMaxWait(500*time.Millisecond),
		kgo.MaxConcurrentFetches(4),
		kgo.MetadataMinAge(250*time.Millisecond),
	)...)
	if err != nil {
		return nil, fmt.Errorf("prepare to read from Kafka: %w", err)
	}
	return &source{client: client, feeds: map[topicPartition]*feed{}}, nil
}

// run delivers until the context ends.
func (s *source) run(ctx context.Context) {
	for ctx.Err() == nil {
		polling, wake := context.WithCancel(ctx)
		s.mu.Lock()
		orders := s.orders
		s.orders, s.wake = nil, wake
		s.mu.Unlock()
		for _, order := range orders {
			order()
		}
		fetches := s.client.PollFetches(polling)
		wake()
		fetches.EachPartition(s.deliver)
	}
	s.client.Close()
}

func (s *source) deliver(p kgo.FetchTopicPartition) {
	tp := topicPartition{p.Topic, p.Partition}
	s.mu.Lock()
	f := s.feeds[tp]
	s.mu.Unlock()
	if f == nil {
		return
	}
	if f.add(p.Records, p.LastStableOffset, p.Err) {
		s.client.PauseFetchPartitions(map[string][]int32{tp.topic: {tp.partition}})
	}
}

// order has f done by the goroutine that polls.
func (s *source) order(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orders = append(s.orders, f)
	if s.wake != nil {
		s.wake()
	}
}

// open begins to read a partition at an offset, in a feed of its own; an older feed of the partition ends.
func (s *source) open(tp topicPartition, offset uint64) *feed {
	f := &feed{source: s, tp: tp, signal: make(chan struct{}, 1)}
	s.order(func() {
		of := map[string][]int32{tp.topic: {tp.partition}}
		s.client.RemoveConsumePartitions(of)
		s.client.ResumeFetchPartitions(of)
		s.mu.Lock()
		s.feeds[tp] = f
		s.mu.Unlock()
		s.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{tp.topic: {tp.partition: kgo.NewOffset().At(int64(offset))}})
	})
	return f
}

// close ends the reading of a partition, unless a newer feed took it over.
func (f *feed) close() {
	s := f.source
	s.order(func() {
		s.mu.Lock()
		current := s.feeds[f.tp] == f
		if current {
			delete(s.feeds, f.tp)
		}
		s.mu.Unlock()
		if current {
			s.client.RemoveConsumePartitions(map[string][]int32{f.tp.topic: {f.tp.partition}})
		}
	})
}

// resume goes on reading a partition, if this still is its feed.
func (s *source) resume(f *feed) {
	s.order(func() {
		s.mu.Lock()
		current := s.feeds[f.tp] == f
		s.mu.Unlock()
		if current {
			s.client.ResumeFetchPartitions(map[string][]int32{f.tp.topic: {f.tp.partition}})
		}
	})
}

// feed is what was read of one partition and not yet written.
type feed struct {
	source *source
	tp     topicPartition
	signal chan struct{}

	mu      sync.Mutex
	records []*kgo.Record
	bytes   int
	paused  bool
	end     int64 // where the log's committed part ended at the last fetch
	err     error
}

// add queues what was fetched and tells whether the reading must pause.
func (f *feed) add(records []*kgo.Record, end int64, err error) (pause bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.records = append(f.records, records...)
	for _, r := range records {
		f.bytes += size(r)
	}
	if end > 0 {
		f.end = end
	}
	if err != nil && f.err == nil && !errors.Is(err, context.Canceled) {
		f.err = err
	}
	select {
	case f.signal <- struct{}{}:
	default:
	}
	pause = f.bytes > feedBytes && !f.paused
	f.paused = f.paused || pause
	return pause
}

// take gives what has been read, at most most records, or an error with which the reading ended. It doesn't wait.
func (f *feed) take(most int) ([]*kgo.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.records) == 0 {
		return nil, f.err
	}
	n := min(most, len(f.records))
	taken := f.records[:n:n]
	f.records = f.records[n:]
	for _, r := range taken {
		f.bytes -= size(r)
	}
	if len(f.records) == 0 {
		f.records = nil // lets the taken ones go with their reader
	}
	if f.paused && f.bytes < feedBytes/2 {
		f.paused = false
		f.source.resume(f)
	}
	return taken, nil
}

// lag is how many offsets lie between a position and the log's end.
func (f *feed) lag(position uint64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(0, f.end-int64(position))
}

// size is what a record takes in memory, roughly.
func size(r *kgo.Record) int { return len(r.Key) + len(r.Value) + 200 }

// putBack returns records that were taken and did not fit.
func (f *feed) putBack(records []*kgo.Record) {
	if len(records) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.records = append(records[:len(records):len(records)], f.records...)
	for _, r := range records {
		f.bytes += size(r)
	}
	select {
	case f.signal <- struct{}{}:
	default:
	}
}
