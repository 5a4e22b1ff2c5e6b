package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// Given as many large batches as there may be, then one more waits for a permit until one of them gives its own back,
// once.
func TestLargeBatchesNeedAPermit(t *testing.T) {
	c := newCoordinator(coordinator{entity: store.Of(events.Records)})
	over, stop := context.WithCancel(t.Context())
	stop()
	writing := func() *writer {
		w := &writer{coordinator: c}
		b, err := w.emptyBatch(0)
		if err != nil {
			t.Fatal(err)
		}
		b.bytes = smallBytes + 1
		return w
	}
	var large []*writer
	for range largeBatches {
		w := writing()
		if err := w.askPermit(t.Context()); err != nil || !w.permit {
			t.Fatal(w.permit, err)
		}
		large = append(large, w)
	}
	if err := large[0].askPermit(over); err != nil {
		t.Errorf("a batch that has a permit asks for another: %v", err)
	}
	waits, small := writing(), writing()
	if err := waits.askPermit(over); !errors.Is(err, context.Canceled) {
		t.Fatalf("one batch too many got a permit: %v", err)
	}
	small.batch.bytes = smallBytes
	if err := small.askPermit(over); err != nil || small.permit {
		t.Errorf("a small batch asks for a permit: %v", err)
	}
	large[0].givePermitBack()
	large[0].givePermitBack()
	if large[0].batch != nil {
		t.Error("the memory of a large batch is kept")
	}
	if err := waits.askPermit(t.Context()); err != nil {
		t.Errorf("a permit that was given back is not given: %v", err)
	}
	if err := writing().askPermit(over); err == nil {
		t.Error("a permit that was given back twice counts twice")
	}
}

// Given large batches that were sent, then the next ones with a permit take over their memory, no others; and memory that
// nobody has is freed.
func TestTheMemoryOfALargeBatchIsTheNextOnes(t *testing.T) {
	c := newCoordinator(coordinator{entity: store.Of(events.Records)})
	c.idle.Stop() // this test frees
	large := func() (w *writer, b *batch) {
		w = &writer{coordinator: c}
		if err := w.awaitPermit(t.Context()); err != nil {
			t.Fatal(err)
		}
		b, err := w.emptyBatch(0)
		if err != nil {
			t.Fatal(err)
		}
		return w, b
	}
	first, memory := large()
	first.givePermitBack()
	small := &writer{coordinator: c}
	grown, err := small.emptyBatch(0)
	if err != nil || grown == memory || grown.large {
		t.Fatal("a small batch takes the memory of a large one", err)
	}
	second, own := large()
	third, taken := large()
	if own == memory || taken != memory {
		t.Fatal("the memory is not taken in turns")
	}
	second.givePermitBack()
	small.batch.bytes = smallBytes + 1
	if err := small.askPermit(t.Context()); err != nil || small.memory != nil {
		t.Error("a batch that grows large keeps the memory of another beside its own", err)
	}
	small.givePermitBack()
	third.givePermitBack()
	c.freeLarge()
	for range largeBatches {
		if _, b := large(); b == own || b == memory || b == grown {
			t.Error("memory that was freed is still there")
		}
	}
}

// Given a partition that comes with much behind it in the log, then its very first batch waits for a permit before it takes memory:
// else every partition would take as much as few may have, when a worker starts.
func TestTheFirstBatchOfAPartitionThatLiesBehindNeedsAPermit(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	const records = manyMore + 100 // too little to need a permit by its size
	var messages []message
	for _, id := range ids(0, records) {
		messages = append(messages, record(id, 1, nil))
	}
	s.send(messages...)
	a := s.join("a")
	free := make(chan int, 1)
	a.onStep(StepSend, func() { free <- len(a.coordinators[scenarioPartition.Topic][0].permits) })
	a.assign()
	if left := <-free; left != largeBatches-1 {
		t.Errorf("while the first batch is sent, %d more may be large", left)
	}
	s.awaitAll(records)
	s.check(s.model)
}

// Given a partition that lies far behind and of which no records come, as when its leader is away, then it keeps no permit from the
// topic's other partitions.
func TestAPartitionWithoutRecordsNeedsNoPermit(t *testing.T) {
	t.Parallel()
	c := newCoordinator(coordinator{entity: store.Of(events.Records)})
	w := &writer{tp: scenarioPartition, coordinator: c, members: newMembership(), state: newState(scenarioPartition, noObserver), rows: maxRows}
	w.members.begin(1, []kafkalog.Partition{scenarioPartition}, 1)
	behind := &assignment{generation: 1, buffer: &buffer{signal: make(chan struct{}, 1), end: manyMore + 1}}
	w.state.overdue()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	got := make(chan error)
	go func() {
		_, err := w.cut(ctx, behind)
		got <- err
	}()
	untilDone(t, func() error {
		if time.Now().After(w.state.status().Due) {
			return errors.New("it doesn't wait for records yet")
		}
		return nil
	})
	if free := len(c.permits); free != largeBatches {
		t.Errorf("while no records come, %d of %d permits are free", free, largeBatches)
	}
	stop()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Given large batches whose partition goes to somebody else before their insert, one more than there may be at a time,
// then none keeps the block that the next one needs.
func TestALargeBatchThatLosesItsPartitionReleasesItsBlock(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	const records = 4 * smallBytes / 500 // of more than 500 bytes each, with what they cost beside
	var messages []message
	for _, id := range ids(0, records) {
		messages = append(messages, record(id, 1, nil))
	}
	s.send(messages...)
	a := s.join("a")
	for range largeBatches + 1 {
		cut := make(chan struct{})
		a.onStep(StepSend, func() {
			a.members.pause(0) // so it gets no further
			close(cut)
		})
		a.assign()
		s.awaitEvent("there is room for a batch, and one is cut", cut)
		a.revoke()
		// What was cut counts no more.
		if _, _, err := fence.Put(t.Context(), s.db, scenarioPartition.Topic, []int32{scenarioPartition.Number}, "test"); err != nil {
			t.Fatal(err)
		}
	}
	a.assign()
	s.awaitAll(records)
	s.check(s.model)
}

// hanging is Kafka when it answers everything but what is produced, as where the followers of a partition are gone.
type hanging struct {
	kafkago.RoundTripper
	until chan struct{}
}

// RoundTrip implements kafka-go's RoundTripper.
func (h hanging) RoundTrip(ctx context.Context, addr net.Addr, r kafkago.Request) (kafkago.Response, error) {
	if strings.Contains(fmt.Sprintf("%T", r), "produce") {
		select {
		case <-h.until:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return h.RoundTripper.RoundTrip(ctx, addr, r)
}

// Given as many partitions with many refused messages as there may be large batches, whose dead letters Kafka doesn't take, when another one
// has much to write, then that is written: they keep no permit while they wait. When Kafka takes letters, all come to their end.
func TestScenarioDeadLettersThatHangBesideOthers(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	const each = manyMore + 100
	client := s.sender()
	for p := range largeBatches {
		var refused []message
		for i := range each {
			refused = append(refused, message{topic: events.Records, partition: p, key: fmt.Sprint("demo/X", i), value: []byte("no")})
		}
		s.sendBy(client, refused...)
	}
	a := s.join("a")
	letters, until := a.sender.deadLetters, make(chan struct{})
	letters.Transport = hanging{letters.Transport, until}
	a.assign(0, 1, 2)
	permits := a.coordinators[scenarioPartition.Topic][0].permits
	s.await("they have all permits", func() bool { return len(permits) == 0 })
	began := time.Now()
	s.await("they have none", func() bool { return len(permits) == largeBatches })
	for range 50 {
		if time.Sleep(10 * time.Millisecond); len(permits) < largeBatches {
			t.Fatal("what could not be sent is sent again with a permit")
		}
	}
	for round := range 2 {
		var sound []message
		for _, id := range ids(2, each) {
			m := record(id, round+1, nil)
			m.partition = 2
			sound = append(sound, m)
		}
		s.sendBy(client, sound...)
		s.model.take(sound...)
		s.await("the third one is written", func() bool { return s.reached(2, uint64((round+1)*each)) })
	}
	if took := time.Since(began); took > sendTimeout/2 {
		t.Errorf("the third one waited %v", took)
	}
	if s.at(0).State > 0 || s.at(1).State > 0 {
		t.Error("a position passed letters that nobody has")
	}
	close(until)
	s.await("the others are written, too", func() bool { return s.reached(0, each) && s.reached(1, each) })
	s.check(s.model)
	s.checkDeadLetters(map[string]int{"no": largeBatches * each})
}
