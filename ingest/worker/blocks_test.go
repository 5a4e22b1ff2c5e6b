package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/schemas/events"
)

// Given as many large batches as there may be, then one more waits until one of them releases its block, once, and nobody gets a block
// whose insert failed.
func TestBlocksForLargeBatchesAreAcquiredAndReleased(t *testing.T) {
	c := newCoordinator(coordinator{entity: store.Of(events.Records)})
	over, stop := context.WithCancel(t.Context())
	stop()
	var held []*batch
	for range concurrentBatches {
		b := newBatch(0, 0)
		if err := c.acquireBlock(t.Context(), b); err != nil || b.block == nil {
			t.Fatal(b.block, err)
		}
		held = append(held, b)
	}
	if err := c.acquireBlock(over, held[0]); err != nil {
		t.Errorf("a batch that has a block waits for another: %v", err)
	}
	waits := newBatch(0, 0)
	if err := c.acquireBlock(over, waits); !errors.Is(err, context.Canceled) {
		t.Fatalf("one batch too many got a block: %v", err)
	}

	used := held[0].block
	used.Append(store.PositionRow(0, 0, 1, waits.begun))
	c.releaseBlock(held[0], nil)
	c.releaseBlock(held[0], nil)
	if err := c.acquireBlock(t.Context(), waits); err != nil || waits.block != used || used.Rows() != 0 {
		t.Errorf("the block came back as %p with %d rows, want %p and none: %v", waits.block, waits.block.Rows(), used, err)
	}
	if err := c.acquireBlock(over, newBatch(0, 0)); err == nil {
		t.Error("a block that was released twice counts twice")
	}

	c.releaseBlock(waits, errors.New("cut off"))
	if err := c.acquireBlock(t.Context(), waits); err != nil || waits.block == used {
		t.Errorf("a block is handed out that a failed insert may still read: %v", err)
	}
	c.releaseBlock(nil, nil)
	c.releaseBlock(newBatch(0, 0), nil)
}

// Given large batches whose partition goes to somebody else before their insert, one more than there may be at a time, then none keeps
// the block that the next one needs.
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
	for range concurrentBatches + 1 {
		cut := make(chan struct{})
		a.onStep(StepSend, func() {
			a.members.pause(0) // so it gets no further
			close(cut)
		})
		a.assign()
		select {
		case <-cut:
		case <-time.After(time.Minute):
			t.Fatal("no batch is cut: there is no room for one")
		}
		a.revoke()
		if _, _, err := fence.Put(t.Context(), s.db, scenarioPartition.topic, []int32{scenarioPartition.partition}); err != nil { // what was cut counts no more
			t.Fatal(err)
		}
	}
	a.assign()
	s.awaitAll(records)
	s.check(s.model)
}
