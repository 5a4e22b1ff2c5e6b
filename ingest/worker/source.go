package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
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
	memory  *fetchMemory

	// Of the goroutine that polls:
	later []*buffer // are read on when there is memory for it
	full  time.Time // since when there is none for them
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
	s := &source{buffers: map[kafkalog.Partition]*buffer{}}
	var err error
	if s.memory, err = newFetchMemory(func() { s.do(func() {}) }); err != nil {
		return nil, err
	}
	s.client, err = kgo.NewClient(append(slices.Concat(cluster.Reading, kafkalog.ReadCommitted(), s.memory.unpacking.Options()),
		kgo.FetchMaxPartitionBytes(fetchBytes),
		kgo.FetchMaxBytes(512<<20),
		kgo.BrokerMaxReadBytes(1<<30),
		kgo.FetchMaxWait(fetchWait),
		kgo.MaxConcurrentFetches(4),
		kgo.MetadataMinAge(250*time.Millisecond),
		kgo.WithPools(s.memory),
	)...)
	if err != nil {
		return nil, fmt.Errorf("prepare to read from Kafka: %w", err)
	}
	return s, nil
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
		s.readOn()
		look := func() {}
		if len(s.later) > 0 {
			polling, look = context.WithTimeout(polling, fetchWait)
		}
		fetches := s.client.PollFetches(polling)
		look()
		wake()
		fetches.EachPartition(s.deliver)
		if s.memory.unpacking.Left() <= 0 {
			s.wait(s.readers()...)
		}
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
	failed := s.memory.unpacking.Explain(tp, p.Err)
	if errors.Is(failed, kafkalog.ErrLater) { // the rest is fetched again
		failed = nil
		s.wait(b)
	}
	if b.add(p.Records, p.LastStableOffset, failed) {
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
		b.fail(why)
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
	s.do(func() { s.begin(b, kgo.NewOffset().At(int64(offset)).WithEpoch(epoch)) })
	return b
}

// close ends the reading of a partition, unless a newer buffer took it over, and gives the memory of what was not taken back.
func (b *buffer) close() {
	b.mu.Lock()
	records := b.records
	b.records, b.bytes, b.closed = nil, 0, true
	b.mu.Unlock()
	recycle(records)
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
		if current && !slices.Contains(s.later, b) {
			s.client.ResumeFetchPartitions(map[string][]int32{b.tp.Topic: {b.tp.Number}})
		}
	})
}

// reread goes on at an offset whose records were dropped, if this still is the partition's buffer.
func (s *source) reread(b *buffer, from *kgo.EpochOffset) {
	s.do(func() {
		s.mu.Lock()
		current := s.buffers[b.tp] == b
		s.mu.Unlock()
		if !current || !b.lacks(from) {
			return
		}
		s.later = slices.DeleteFunc(s.later, func(other *buffer) bool { return other == b })
		s.begin(b, kgo.NewOffset().At(from.Offset).WithEpoch(from.Epoch))
	})
}

// begin has a buffer read from an offset on, and nothing else.
func (s *source) begin(b *buffer, from kgo.Offset) {
	of := map[string][]int32{b.tp.Topic: {b.tp.Number}}
	s.client.RemoveConsumePartitions(of)
	s.client.ResumeFetchPartitions(of)
	b.begin()
	s.mu.Lock()
	s.buffers[b.tp] = b
	s.mu.Unlock()
	s.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{b.tp.Topic: {b.tp.Number: from}})
}

// readers are the buffers that are read.
func (s *source) readers() []*buffer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.buffers))
}

// wait has buffers wait until there is memory for what is behind them in their logs.
func (s *source) wait(buffers ...*buffer) {
	waiting := map[string][]int32{}
	for _, b := range buffers {
		if !slices.Contains(s.later, b) {
			s.later = append(s.later, b)
			waiting[b.tp.Topic] = append(waiting[b.tp.Topic], b.tp.Number)
		}
	}
	s.memory.awaited.Store(true)
	if len(waiting) > 0 { // none would be a question
		s.client.PauseFetchPartitions(waiting)
	}
}

const (
	// roomBytes is what a fetch of one partition is expected to unpack to.
	roomBytes = 2 << 20
	// roomPatience is how long those wait that nobody gives memory back for.
	roomPatience = 500 * time.Millisecond
)

// readOn has as many of those that wait go on as there is memory for: first those whose writers have nothing else to do.
func (s *source) readOn() {
	s.mu.Lock()
	s.later = slices.DeleteFunc(s.later, func(b *buffer) bool { return s.buffers[b.tp] != b })
	s.mu.Unlock()
	s.memory.awaited.Store(len(s.later) > 0)
	if len(s.later) == 0 {
		s.full = time.Time{}
		return
	}
	left := s.memory.unpacking.Left()
	if left <= 0 {
		s.makeRoom()
		return
	}
	s.full = time.Time{}
	slices.SortStableFunc(s.later, func(a, b *buffer) int { return cmp.Compare(min(a.held(), 1), min(b.held(), 1)) })
	n := min(len(s.later), int(1+left/roomBytes))
	going := map[string][]int32{}
	for _, b := range s.later[:n] {
		if !b.pauses() {
			going[b.tp.Topic] = append(going[b.tp.Topic], b.tp.Number)
		}
	}
	s.later = slices.Delete(s.later, 0, n)
	s.client.ResumeFetchPartitions(going)
}

// makeRoom gets memory back where that takes its time: what the client dropped, and, for a writer that has nothing to do, what was read
// for others that don't take it. They may wait for that writer themselves. It is read again when they come to it.
func (s *source) makeRoom() {
	now := time.Now()
	if s.full.IsZero() {
		s.full = now
	}
	if now.Sub(s.full) < roomPatience {
		return
	}
	s.full = now
	runtime.GC()
	if s.memory.unpacking.Left() > 0 || !slices.ContainsFunc(s.later, func(b *buffer) bool { return b.held() == 0 }) {
		return
	}
	largest := slices.SortedFunc(slices.Values(s.readers()), func(a, b *buffer) int { return cmp.Compare(b.held(), a.held()) })
	for dropped := 0; len(largest) > 0 && dropped < unpackedBytes/4; largest = largest[1:] {
		dropped += s.drop(largest[0])
	}
}

// drop lets go of what was read for a buffer, and returns how much that was.
func (s *source) drop(b *buffer) (bytes int) {
	bytes, records := b.drop()
	if bytes > 0 {
		s.client.PauseFetchPartitions(map[string][]int32{b.tp.Topic: {b.tp.Number}})
		recycle(records)
	}
	return bytes
}

func recycle(records []*kgo.Record) {
	for _, r := range records {
		r.Recycle()
	}
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
	closed  bool
	dropped *kgo.EpochOffset // where it has to be read again, once what is there has been taken
}

// add queues what was fetched and reports whether reading must pause.
func (b *buffer) add(records []*kgo.Record, end int64, err error) (pause bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if end > 0 {
		b.end = end
	}
	if b.closed || b.dropped != nil {
		recycle(records)
		return false
	}
	if b.err == nil { // reading ends with an error: what comes behind it may lie before it
		b.records = append(b.records, records...)
		for _, r := range records {
			b.bytes += size(r)
		}
	}
	if err != nil && b.err == nil && !errors.Is(err, context.Canceled) {
		b.err = err
	}
	b.tell()
	pause = b.bytes > bufferBytes && !b.paused
	b.paused = b.paused || pause
	return pause
}

// tell wakes the writer.
func (b *buffer) tell() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// fail ends the reading.
func (b *buffer) fail(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropped = nil
	if b.err == nil {
		b.err = why
	}
	b.tell()
}

// begin says that what comes is read from where it has to be.
func (b *buffer) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropped, b.paused = nil, false
}

// drop takes out what was read, unless the reading has ended behind it.
func (b *buffer) drop() (bytes int, records []*kgo.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.records) == 0 || b.err != nil {
		return 0, nil
	}
	bytes, records = b.bytes, b.records
	b.records, b.bytes, b.paused = nil, 0, true
	b.dropped = &kgo.EpochOffset{Offset: records[0].Offset, Epoch: records[0].LeaderEpoch}
	b.tell()
	return bytes, records
}

// lacks reports whether what was dropped then is still to be read again: whoever waits for it may ask more than once.
func (b *buffer) lacks(from *kgo.EpochOffset) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped == from
}

// held is how many bytes wait to be taken.
func (b *buffer) held() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}

// pauses reports whether the buffer has enough.
func (b *buffer) pauses() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paused
}

// some reports whether there is something to take.
func (b *buffer) some() bool { return b.held() > 0 }

// take returns what has been read, at most limit records, or the error with which reading ended. It doesn't wait.
func (b *buffer) take(limit int) ([]*kgo.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.records) == 0 {
		if b.dropped != nil && b.err == nil {
			b.source.reread(b, b.dropped)
		}
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
	if b.paused && b.bytes < bufferBytes/2 && b.dropped == nil {
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
	b.tell()
}
