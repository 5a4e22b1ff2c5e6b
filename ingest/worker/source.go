package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	kafkalog "tallyhouse/schemas/kafka"
)

// source reads the records of all partitions that the worker writes, committed ones only, and keeps each partition's in
// a buffer of bounded size. One goroutine alone polls and changes what is read, so that a record is never delivered to
// another buffer than the one that it was read for: a buffer is one attempt's reading, and what was read under an older
// attempt vanishes with its buffer.
type source struct {
	client  *kgo.Client
	mu      sync.Mutex
	buffers map[kafkalog.Partition]*buffer
	queue   []func()
	wake    context.CancelFunc
}

const (
	// fetchBytes bounds a fetch by what each partition adds to it: a bound on the whole response makes the embedded broker
	// lose the list of aborted transactions. A larger message comes alone.
	fetchBytes = 256 << 10
	// fetchWait bounds how long a fetch without records waits at the broker. There is one at a time for each broker, made of
	// the partitions that are read at that moment: one whose reading goes on is fetched when the one before is over. While
	// the busy partitions pause, that is one of idle ones.
	fetchWait = 50 * time.Millisecond
	// bufferBytes is where a partition's reading pauses; it goes on at half of it.
	bufferBytes = 1 << 20
)

func newSource(cluster kafka.Cluster) (*source, error) {
	client, err := kgo.NewClient(append(append(cluster.Reading[:len(cluster.Reading):len(cluster.Reading)], kafkalog.ReadCommitted()...),
		kgo.FetchMaxPartitionBytes(fetchBytes),
		kgo.FetchMaxBytes(512<<20),
		kgo.BrokerMaxReadBytes(1<<30),
		kgo.FetchMaxWait(fetchWait),
		kgo.MaxConcurrentFetches(4),
		kgo.MetadataMinAge(250*time.Millisecond),
		kgo.WithPools(&fetchMemory{}),
	)...)
	if err != nil {
		return nil, fmt.Errorf("prepare to read from Kafka: %w", err)
	}
	return &source{client: client, buffers: map[kafkalog.Partition]*buffer{}}, nil
}

// fetchMemory is what fetched batches are unpacked into. It comes back, cleared, when the last record of a batch is
// recycled; a record that isn't leaves its batch to the collector. A small batch gets none that is much larger than it
// needs: it would keep that for as long as one of its records waits.
type fetchMemory struct {
	bytes   kept[byte]
	records kept[kgo.Record]
}

const (
	mostUnpacked = 16 // times as long as the compressed batch may the memory be
	mostRecords  = 4  // times as many records
	smallBatch   = 4 << 10
	fewRecords   = 16
)

// GetDecompressBytes gives memory to unpack a batch into. Where it is too short it is left for longer one.
func (m *fetchMemory) GetDecompressBytes(compressed []byte, _ kgo.CompressionCodecType) []byte {
	return m.bytes.take(mostUnpacked*len(compressed) + smallBatch)
}

// PutDecompressBytes takes memory back.
func (m *fetchMemory) PutDecompressBytes(b []byte) { m.bytes.put(b) }

// GetRecords gives memory for n records.
func (m *fetchMemory) GetRecords(n int) []kgo.Record {
	if r := m.records.take(mostRecords*n + fewRecords); cap(r) >= n {
		return r
	}
	return make([]kgo.Record, n)
}

// PutRecords takes memory back.
func (m *fetchMemory) PutRecords(r []kgo.Record) { m.records.put(r) }

// kept is memory that waits to be used again. What isn't for a while is freed.
type kept[E any] struct {
	mu    sync.Mutex
	all   [][]E // shortest first
	freed *time.Timer
}

const (
	mostKept = 32
	keepFor  = 5 * time.Second
)

// put takes memory back; the shortest goes when there is too much.
func (k *kept[E]) put(s []E) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, _ := slices.BinarySearchFunc(k.all, cap(s), func(other []E, n int) int { return cmp.Compare(cap(other), n) })
	k.all = slices.Insert(k.all, at, s)
	if len(k.all) > mostKept {
		k.all = slices.Delete(k.all, 0, 1)
	}
	if k.freed == nil {
		k.freed = time.AfterFunc(keepFor, k.free)
	} else {
		k.freed.Reset(keepFor)
	}
}

// take gives the longest memory that has at most so many elements, nil if there is none.
func (k *kept[E]) take(most int) []E {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, _ := slices.BinarySearchFunc(k.all, most+1, func(other []E, n int) int { return cmp.Compare(cap(other), n) })
	if at == 0 {
		return nil
	}
	s := k.all[at-1]
	k.all = slices.Delete(k.all, at-1, at)
	return s
}

func (k *kept[E]) free() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = nil
}

// run delivers until the context ends.
func (s *source) run(ctx context.Context) {
	for ctx.Err() == nil {
		polling, wake := context.WithCancel(ctx)
		s.mu.Lock()
		queue := s.queue
		s.queue, s.wake = nil, wake
		s.mu.Unlock()
		for _, f := range queue {
			f()
		}
		fetches := s.client.PollFetches(polling)
		wake()
		fetches.EachPartition(s.deliver)
	}
	s.client.Close()
}

func (s *source) deliver(p kgo.FetchTopicPartition) {
	tp := kafkalog.Partition{Topic: p.Topic, Number: p.Partition}
	s.mu.Lock()
	b := s.buffers[tp]
	s.mu.Unlock()
	if b == nil {
		return
	}
	if b.add(p.Records, p.LastStableOffset, p.Err) {
		s.client.PauseFetchPartitions(map[string][]int32{tp.Topic: {tp.Number}})
	}
	if errors.Is(p.Err, kerr.UnknownTopicID) {
		s.forget(tp.Topic, p.Err)
	}
}

// forget drops what the client believes of a topic that was made anew: it would ask for the old one for ever. Nobody's reading
// of the topic goes on; whoever opens a partition of it then asks anew.
func (s *source) forget(topic string, why error) {
	var all []*buffer
	s.mu.Lock()
	for tp, b := range s.buffers {
		if tp.Topic == topic {
			all = append(all, b)
		}
	}
	s.mu.Unlock()
	for _, b := range all { // a buffer's lock is never taken within the source's
		b.add(nil, 0, why)
	}
	s.client.PurgeTopicsFromClient(topic)
}

// do queues f for the goroutine that polls.
func (s *source) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, f)
	if s.wake != nil {
		s.wake()
	}
}

// open begins to read a partition at an offset, in a buffer of its own; an older buffer of the partition ends. epoch is the leader
// epoch of the message before: where the log was cut there since, the reading ends with a *kgo.ErrDataLoss. -1 checks nothing. end
// is where the log's committed part ends, as far as is known yet.
func (s *source) open(tp kafkalog.Partition, offset uint64, epoch int32, end int64) *buffer {
	b := &buffer{source: s, tp: tp, signal: make(chan struct{}, 1), end: end}
	s.do(func() {
		of := map[string][]int32{tp.Topic: {tp.Number}}
		s.client.RemoveConsumePartitions(of)
		s.client.ResumeFetchPartitions(of)
		s.mu.Lock()
		s.buffers[tp] = b
		s.mu.Unlock()
		from := kgo.NewOffset().At(int64(offset)).WithEpoch(epoch)
		s.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{tp.Topic: {tp.Number: from}})
	})
	return b
}

// close ends the reading of a partition, unless a newer buffer took it over.
func (b *buffer) close() {
	s := b.source
	s.do(func() {
		s.mu.Lock()
		current := s.buffers[b.tp] == b
		if current {
			delete(s.buffers, b.tp)
		}
		s.mu.Unlock()
		if current {
			s.client.RemoveConsumePartitions(map[string][]int32{b.tp.Topic: {b.tp.Number}})
		}
	})
}

// resume goes on reading a partition, if this still is its buffer.
func (s *source) resume(b *buffer) {
	s.do(func() {
		s.mu.Lock()
		current := s.buffers[b.tp] == b
		s.mu.Unlock()
		if current {
			s.client.ResumeFetchPartitions(map[string][]int32{b.tp.Topic: {b.tp.Number}})
		}
	})
}

// buffer is what was read of one partition and not yet written.
type buffer struct {
	source *source
	tp     kafkalog.Partition
	signal chan struct{}

	mu      sync.Mutex
	records []*kgo.Record
	bytes   int
	paused  bool
	end     int64 // where the log's committed part ended at the last fetch, or before
	err     error
}

// add queues what was fetched and reports whether reading must pause.
func (b *buffer) add(records []*kgo.Record, end int64, err error) (pause bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil { // reading ends with an error: what comes behind it may lie before it
		b.records = append(b.records, records...)
		for _, r := range records {
			b.bytes += size(r)
		}
	}
	if end > 0 {
		b.end = end
	}
	if err != nil && b.err == nil && !errors.Is(err, context.Canceled) {
		b.err = err
	}
	select {
	case b.signal <- struct{}{}:
	default:
	}
	pause = b.bytes > bufferBytes && !b.paused
	b.paused = b.paused || pause
	return pause
}

// take returns what has been read, at most limit records, or the error with which reading ended. It doesn't wait.
func (b *buffer) take(limit int) ([]*kgo.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.records) == 0 {
		return nil, b.err
	}
	n := min(limit, len(b.records))
	taken := b.records[:n:n]
	b.records = b.records[n:]
	for _, r := range taken {
		b.bytes -= size(r)
	}
	if len(b.records) == 0 {
		b.records = nil // so that the taken ones can be freed
	}
	if b.paused && b.bytes < bufferBytes/2 {
		b.paused = false
		b.source.resume(b)
	}
	return taken, nil
}

// lag is how many offsets lie between a position and the log's end.
func (b *buffer) lag(position uint64) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, b.end-int64(position))
}

// size is what a record takes in memory, roughly. Its headers are nobody's business here, and yet come with it.
func size(r *kgo.Record) int {
	n := len(r.Key) + len(r.Value) + 200
	for i := range r.Headers {
		n += len(r.Headers[i].Key) + len(r.Headers[i].Value) + 40
	}
	return n
}

// putBack returns records that were taken and did not fit.
func (b *buffer) putBack(records []*kgo.Record) {
	if len(records) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records = append(records[:len(records):len(records)], b.records...)
	for _, r := range records {
		b.bytes += size(r)
	}
	select {
	case b.signal <- struct{}{}:
	default:
	}
}
