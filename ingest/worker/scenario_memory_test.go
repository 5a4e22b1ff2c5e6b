package worker

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// packed sends messages to a partition of the topic of records in one compressed batch.
func (s *scenario) packed(partition int32, messages ...message) {
	s.t.Helper()
	client, err := kgo.NewClient(append(s.cluster.Reading[:len(s.cluster.Reading):len(s.cluster.Reading)],
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.ZstdCompression()), kgo.ProducerLinger(time.Minute),
		kgo.MaxBufferedRecords(2*kafkalog.PackedTogether), kgo.ProducerBatchMaxBytes(2*kafkalog.UnpackedBytes),
		kgo.BrokerMaxWriteBytes(4*kafkalog.UnpackedBytes))...)
	if err != nil {
		s.t.Fatal(err)
	}
	defer client.Close()
	failed := kgo.AbortingFirstErrPromise(client)
	for _, m := range messages {
		r := &kgo.Record{Topic: string(events.Records), Partition: partition, Key: []byte(m.key), Value: m.value}
		client.Produce(s.t.Context(), r, failed.Promise())
	}
	if err := errors.Join(client.Flush(s.t.Context()), failed.Err()); err != nil { // it lingers until it is flushed
		s.t.Fatal(err)
	}
}

// mostHeld notes how much memory a source has out for what it fetched, until the most of it is asked for.
func mostHeld(s *source) (most func() int64) {
	stop, n := make(chan struct{}), int64(0)
	var looking sync.WaitGroup
	looking.Go(func() {
		for {
			n = max(n, s.memory.unpacking.Held())
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	return func() int64 { close(stop); looking.Wait(); return n }
}

// mostAtOnce is what a source may have out: its bound, and the batch with which that is reached.
const mostAtOnce = unpackedBytes + 2*kafkalog.UnpackedBytes

func wide(m message) message {
	m.value = append(m.value, bytes.Repeat([]byte(" "), 1<<20-len(m.value))...)
	return m
}

// Given batches on all partitions, each within what one may unpack to, which come in one fetch and together unpack to far more memory than
// there is, valid ones and ones that are refused, then no more of it is taken at a time than the bound allows, and all are taken in.
func TestScenarioManyBatchesThatUnpackToMuch(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	huge := message{key: "demo/" + ids(0, 1)[0], value: make([]byte, 30<<20)}
	const refused, batches, together = 8, 2, 28
	for range refused {
		s.packed(0, huge)
	}
	for p := range int32(testPartitions) {
		of := ids(p, batches*together)
		for i := range batches {
			var all []message
			for _, id := range of[i*together : (i+1)*together] {
				all = append(all, wide(record(id, 1, nil)))
			}
			s.packed(p, all...)
			s.model.take(all...)
		}
	}
	a := s.join("a")
	most := mostHeld(a.source)
	a.assign(0, 1, 2)
	s.await("all is taken in", func() bool {
		return s.reached(0, refused+batches*together) && s.reached(1, batches*together) && s.reached(2, batches*together)
	})
	if n := most(); n > mostAtOnce || n < unpackedBytes {
		t.Errorf("%d MiB were taken at once; the bound is %d, and all together are more", n>>20, mostAtOnce>>20)
	}
	s.check(s.model)
	letters := 0 // they are shortened
	err := kafka.Read(t.Context(), s.cluster, string(events.DeadLetters), func(*kgo.Record) error { letters++; return nil })
	if err != nil || letters != refused {
		t.Errorf("%d dead letters, want %d: %v", letters, refused, err)
	}
}

// Given a batch of more messages than one may have, then one dead letter stands for them, and the partition goes on.
func TestScenarioABatchOfTooManyMessages(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(2)
	s.packed(0, make([]message, kafkalog.PackedTogether+1)...)
	s.send(m...)
	a := s.join("a")
	a.assign()
	s.awaitAll(kafkalog.PackedTogether + 3)
	s.check(s.model)
	s.checkDeadLetters(map[string]int{"": 1})
}

// Given partitions that take up all memory and whose writers don't take what was read for them, when another one has nothing, then what
// was read for them is dropped for it; when they come to it they have it all, once and in order.
func TestWhatNobodyTakesMakesRoom(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	const batches, together = 3, 28
	for p := range int32(2) {
		for i := range batches {
			var all []message
			for j := range together {
				all = append(all, wide(message{key: fmt.Sprint("demo/", i*together+j), value: []byte("{}")}))
			}
			s.packed(p, all...)
		}
	}
	s.packed(2, wide(message{key: "demo/1", value: []byte("{}")}))
	source := startSource(t, s.cluster)
	partition := func(n int32) kafkalog.Partition { return kafkalog.Partition{Topic: string(events.Records), Number: n} }
	slow := []*buffer{source.open(partition(0), 0, -1, 0), source.open(partition(1), 0, -1, 0)}
	s.await("there is no memory left", func() bool { return source.memory.unpacking.Left() <= 0 })
	first, err := slow[0].take(1) // and the rest is left
	if err != nil {
		t.Fatal(err)
	}
	quick := source.open(partition(2), 0, -1, 0)
	s.await("the third one has its message", func() bool {
		taken, err := quick.take(1)
		recycle(taken)
		return err == nil && len(taken) == 1
	})
	slow[0].putBack(first)
	for _, b := range slow {
		next := int64(0)
		s.await("the others have theirs", func() bool {
			taken, err := b.take(1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range taken {
				if r.Offset != next || len(r.Value) != 1<<20 || r.Value[0] != '{' {
					t.Fatalf("offset %d, %d bytes, where offset %d comes next", r.Offset, len(r.Value), next)
				}
				next++
				r.Recycle()
			}
			return next == batches*together
		})
		b.close()
	}
}
