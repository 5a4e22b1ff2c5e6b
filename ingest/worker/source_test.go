package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// startSource is a source that delivers until the test ends.
func startSource(t *testing.T, cluster kafka.Cluster) *source {
	t.Helper()
	s, err := newSource(cluster)
	if err != nil {
		t.Fatal(err)
	}
	reading, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { s.run(reading); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	return s
}

// Given a partition that is read, when it is opened anew at another offset, then the new buffer has exactly the records
// from there on: nothing that the older reading had fetched, nothing left out.
func TestAPartitionThatIsOpenedAnewIsReadFromItsOffset(t *testing.T) {
	t.Parallel()
	cluster, err := kafka.Connect(kafka.Access{Addrs: []string{kafkatest.Start(t).Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kafka.Ensure(t.Context(), cluster, kafka.TopicSpec{Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	const records = 40
	var messages []message
	for i := range records {
		messages = append(messages, message{topic: events.Records, key: fmt.Sprint("acme/", i), value: []byte("{}")})
	}
	if err := produce(cluster, messages); err != nil {
		t.Fatal(err)
	}
	s := startSource(t, cluster)
	tp := kafkalog.Partition{Topic: string(events.Records)}
	for _, from := range []int64{0, 0, 30, 7, 39, 7} {
		b := s.open(tp, uint64(from), -1, records)
		if lag := b.lag(uint64(from)); lag != records-from {
			t.Errorf("opened at %d: %d offsets lie between there and the log's end, before anything was fetched", from, lag)
		}
		for next := from; next < records; {
			select {
			case <-b.signal:
			case <-time.After(time.Minute):
				t.Fatalf("opened at %d: nothing comes after offset %d", from, next-1)
			}
			taken, err := b.take(records)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range taken {
				if r.Offset != next {
					t.Fatalf("opened at %d: got offset %d where %d comes next", from, r.Offset, next)
				}
				next++
			}
		}
	}
}

// Given a partition that is opened anew, when the older reading is closed late, then the newer one goes on.
func TestAReadingThatIsClosedLateEndsNoOther(t *testing.T) {
	t.Parallel()
	w := newScenario(t)
	s := startSource(t, w.cluster)
	older := s.open(scenarioPartition, 0, -1, 0)
	newer := s.open(scenarioPartition, 0, -1, 0)
	older.close()
	w.await("the source has heard of all that", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.queue) == 0
	})
	w.send(someRecords(1)...)
	w.await("the newer reading goes on", func() bool {
		taken, err := newer.take(1)
		return err == nil && len(taken) == 1
	})
}

// What was read comes before the error with which reading ended, what was given back before what came meanwhile, and nothing comes behind
// the error.
func TestRecordsComeInTheirOrder(t *testing.T) {
	b := &buffer{signal: make(chan struct{}, 1)}
	records := func(offsets ...int64) (all []*kgo.Record) {
		for _, o := range offsets {
			all = append(all, &kgo.Record{Offset: o})
		}
		return all
	}
	b.add(records(1, 2, 3), 9, nil)
	taken, err := b.take(3)
	if err != nil {
		t.Fatal(err)
	}
	b.add(records(4, 5), 9, nil)
	b.putBack(taken[1:])
	b.add(nil, 9, errLostOnTheWay)
	b.add(records(1), 9, nil)
	var got []int64
	for err == nil {
		if taken, err = b.take(3); len(taken) == 0 && err == nil {
			t.Fatalf("after %v nothing comes, no error either", got)
		}
		for _, r := range taken {
			got = append(got, r.Offset)
		}
	}
	if !slices.Equal(got, []int64{2, 3, 4, 5}) || !errors.Is(err, errLostOnTheWay) || b.bytes != 0 {
		t.Errorf("then come %v, %v; %d bytes are left", got, err, b.bytes)
	}
}

// Given memory that came back, then the longest that isn't too long is used again first, the shortest is given up when
// there is too much, and what waits in vain is freed.
func TestMemoryForFetchesIsUsedAgain(t *testing.T) {
	var k kept[byte]
	for _, n := range []int{300, 100, 200} {
		k.put(make([]byte, 0, n))
	}
	k.freed.Stop() // this test frees
	for _, take := range []struct{ most, want int }{{99, 0}, {250, 200}, {1000, 300}, {1000, 100}, {1000, 0}} {
		if got := cap(k.take(take.most)); got != take.want {
			t.Errorf("of at most %d: %d", take.most, got)
		}
	}
	for n := range mostKept + 2 {
		k.put(make([]byte, 0, 1000-n))
		k.freed.Stop()
	}
	if shortest := cap(k.all[0]); len(k.all) != mostKept || shortest != 1000-mostKept+1 {
		t.Errorf("%d are kept, the shortest has %d", len(k.all), shortest)
	}
	k.free()
	if k.take(1000) != nil {
		t.Error("what was freed is still there")
	}
}

// Given records whose headers are much larger than their values, then reading pauses as for large values: they take memory, too.
func TestHeadersCountAsMemory(t *testing.T) {
	t.Parallel()
	w := newScenario(t)
	const records, header = 16, 1 << 20
	client := w.sender()
	for i := range records {
		r := &kgo.Record{Topic: string(events.Records), Key: []byte(fmt.Sprint("demo/", ids(0, records)[i])), Value: []byte("{}"),
			Headers: []kgo.RecordHeader{{Key: "trace", Value: make([]byte, header)}}}
		if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	s := startSource(t, w.cluster)
	b := s.open(kafkalog.Partition{Topic: string(events.Records)}, 0, -1, records)
	read := func() (n int, paused bool) {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.records), b.paused
	}
	w.await("reading pauses, or comes to the end", func() bool { n, paused := read(); return paused || n == records })
	if n, paused := read(); !paused || n == records {
		t.Errorf("%d of %d records are read, which have headers of %d bytes; paused: %v", n, records, header, paused)
	}
}

// What comes for a buffer that lost what it had lies behind that: it has nothing until it is read from there.
func TestNothingComesBehindWhatWasDropped(t *testing.T) {
	b := &buffer{signal: make(chan struct{}, 1)}
	of := func(offsets ...int64) (all []*kgo.Record) {
		for _, o := range offsets {
			all = append(all, &kgo.Record{Offset: o, Value: []byte("value")})
		}
		return all
	}
	b.add(of(3, 4), 9, nil)
	if bytes, records := b.drop(); bytes == 0 || len(records) != 2 {
		t.Fatalf("%d records of %d bytes are dropped", len(records), bytes)
	}
	b.add(of(5, 6), 9, errors.New("what was read behind it failed"))
	if b.some() || b.err != nil {
		t.Errorf("it has %d bytes, %v", b.held(), b.err)
	}
	b.begin()
	b.add(of(3, 4, 5), 9, nil)
	if taken, err := b.take(9); err != nil || len(taken) != 3 || taken[0].Offset != 3 {
		t.Errorf("it has %d records, %v", len(taken), err)
	}
}
