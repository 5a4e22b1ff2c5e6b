package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/heads"
	"tallyhouse/ingest/worker/position"
	kafkalog "tallyhouse/schemas/kafka"
)

// writer is the one goroutine of this worker that writes a partition. Its life:
//
//	    ┌─────────── any doubt ◀────────────┐
//	    ▼                                   │
//	 recover ──▶ cut ──▶ send ──▶ insert ──┴▶ update heads ──▶ cut …
//	  ▲   │                        ▲
//	  └───┤                        └─ between generations it waits here; in a new one its assignment is confirmed
//	      ▼
//	held, inconsistent, refused, database away: it waits, reports why, and tries again
type writer struct {
	tp          topicPartition
	coordinator *coordinator
	heads       *heads.Partition
	members     *membership
	pace        *pace
	sender      sender
	metrics     *metrics
	log         *slog.Logger
	state       *state

	rows  int           // most rows of a batch: halved by a time-out, doubled again by success
	limit time.Duration // of an insert: doubled by a time-out
	last  *fence.Claim  // of the last assignment
	lost  []time.Time   // when the fence was outbid, within the last minute
}

// sender sends dead letters and re-routed messages and returns when Kafka has acknowledged them.
type sender interface {
	sendDeadLetters(ctx context.Context, messages []kafkago.Message) error
	reroute(ctx context.Context, partitions int, messages []kafkago.Message) error
}

const (
	minLimit = 15 * time.Second
	maxLimit = 60 * time.Second
	minRows  = 100

	heldWait         = time.Second
	inconsistentWait = 30 * time.Second
	minWait          = 100 * time.Millisecond // after an error, doubled up to maxWait
	maxWait          = 10 * time.Second
)

// run writes the partition until the context ends or another member has it.
func (w *writer) run(ctx context.Context) {
	var previous *assignment
	wait := minWait
	for ctx.Err() == nil {
		w.state.recovering()
		a, err := w.coordinator.recoverPartition(ctx, w, previous)
		previous = nil
		if err != nil {
			if errors.Is(err, errLost) || ctx.Err() != nil {
				return
			}
			pause := w.backoff(err, &wait)
			w.state.waiting(err)
			w.log.Warn("the partition can't be written yet", "error", err, "again in", pause)
			w.sleep(ctx, pause)
			continue
		}
		wait = minWait
		w.last = a.claim
		if err = w.crossGap(ctx, a); err == nil {
			err = w.write(ctx, a)
			w.coordinator.releaseBlock(a.pending, nil) // a batch that was not laid out yet; at most it waits for the next generation
		}
		switch {
		case errors.Is(err, errNewGeneration):
			previous = a
		case errors.Is(err, errLost), ctx.Err() != nil:
			a.buffer.close()
			return
		default:
			a.buffer.close()
			w.log.Warn("in doubt: the partition recovers", "error", err)
			w.sleep(ctx, w.penalty(time.Now()))
		}
	}
}

// backoff is how long to wait after a recovery that failed.
func (w *writer) backoff(err error, wait *time.Duration) time.Duration {
	var held *fence.Held
	var inconsistent *position.Inconsistent
	var refusal *position.Refusal
	switch {
	case errors.As(err, &held):
		return heldWait
	case errors.As(err, &inconsistent), errors.As(err, &refusal):
		return inconsistentWait
	}
	defer func() { *wait = min(2**wait, maxWait) }()
	return *wait
}

// lostFence records that another writer outbid the fence of this member in good standing.
func (w *writer) lostFence(now time.Time) {
	w.lost = append(w.lost, now)
}

// penalty is how long to wait before outbidding another writer again: nothing at first, longer each time once it happened three times in
// a minute. Two installations that write to one database are safe, but nobody wants them.
func (w *writer) penalty(now time.Time) time.Duration {
	w.lost = slices.DeleteFunc(w.lost, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	if len(w.lost) < 3 {
		return 0
	}
	w.log.Error("this partition's fence was outbid three times in a minute: another group or installation writes to "+
		"this database; stop one of the two", "times", len(w.lost))
	return min(time.Second<<min(len(w.lost)-3, 5), 30*time.Second)
}

// write moves batch after batch into the database until there is a doubt.
func (w *writer) write(ctx context.Context, a *assignment) error {
	w.state.running(a.position)
	for {
		if a.pending == nil {
			w.state.step(StepCut)
			b, err := w.cut(ctx, a)
			if err != nil {
				return err
			}
			a.pending = b
		}
		if err := w.flush(ctx, a, a.pending); err != nil {
			return err
		}
		a.pending = nil
	}
}

// flush writes one batch: dead letters and re-routed messages first, then the insert, then the heads.
func (w *writer) flush(ctx context.Context, a *assignment, b *batch) error {
	w.state.step(StepSend)
	if err := w.sendSideOutputs(ctx, a, b); err != nil {
		return err
	}
	done, err := w.members.beginInsert(ctx, w.tp, a.generation)
	if err != nil {
		return err
	}
	defer done()
	w.state.step(StepInsert)
	if err := w.coordinator.acquireBlock(ctx, b); err != nil {
		return err
	}
	b.fill(b.block, w.tp)
	rows, began := b.block.Rows(), time.Now()
	written, err := w.coordinator.db.Insert(ctx, database.Statement{
		ID:    fence.WriterID(w.coordinator.db, w.tp.topic, w.tp.partition),
		SQL:   w.coordinator.entity.Insert(insertCondition(w.coordinator.entity)),
		Batch: b.block.Batch(),
		Limit: w.limit,
		Params: a.claim.Params(w.tp.partition).With(database.Params{
			"first": number(b.first), "key": store.PositionKey(w.tp.partition), "server": a.server,
		}),
	})
	w.coordinator.releaseBlock(b, err)
	w.state.step(StepInserted)
	if err == nil && written == 0 {
		err = position.ErrNotWritten
	}
	if err != nil {
		w.adapt(err)
		return fmt.Errorf("insert offsets %d to %d: %w", b.first, b.next, err)
	}
	w.rows, w.limit = min(2*w.rows, maxRows), minLimit
	w.state.step(StepHeadsUpdate)
	if err := b.updateHeads(w.heads, a.life); err != nil {
		return err
	}
	w.state.step(StepCommit)
	a.position = b.next
	w.state.stored(b.next, a.buffer.lag(b.next))
	w.metrics.observeBatch(w.tp.topic, b, rows, time.Since(began))
	w.report(b)
	return nil
}

// insertCondition is the condition of every insert of a writer: its fence counts, the partition is where the batch begins, the server is
// the one whose fences were read.
func insertCondition(e *store.Entity) string {
	return fence.Counts + " AND " + position.StateIs(e.Table) + " AND " + position.SameServer
}

// adapt makes the next batches smaller and their time limit longer after a time-out.
func (w *writer) adapt(err error) {
	var exception *ch.Exception
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &exception) && exception.IsCode(proto.ErrTimeoutExceeded) {
		w.rows, w.limit = max(w.rows/2, minRows), min(2*w.limit, maxLimit)
	}
}

func (w *writer) report(b *batch) {
	if b.conflicts > 0 {
		w.log.Warn("messages carried a version that is already taken, with other content: the first counts",
			"conflicts", b.conflicts, "before offset", b.next)
	}
	for _, l := range b.deadLetters {
		w.log.Warn("a message was refused: see `tallyhouse deadletters show`", "offset", l.Offset, "reason", l.Reason)
	}
}

// sendSideOutputs has Kafka acknowledge the batch's dead letters and re-routed messages, before its position passes them.
func (w *writer) sendSideOutputs(ctx context.Context, a *assignment, b *batch) error {
	if len(b.deadLetters) > 0 {
		messages := make([]kafkago.Message, len(b.deadLetters))
		for i, l := range b.deadLetters {
			messages[i] = l.Message()
		}
		if err := w.sender.sendDeadLetters(ctx, messages); err != nil {
			return fmt.Errorf("send dead letters: %w", err)
		}
	}
	if len(b.rerouted) > 0 {
		// Two workers that know of different numbers would send a message to and fro: the recovery then refuses, and names the remedy.
		ids, err := kafkalog.Identities(ctx, w.coordinator.admin, w.tp.topic)
		if err != nil {
			return err
		}
		if now := ids[w.tp.topic].Partitions; now != a.partitions {
			return fmt.Errorf("%d messages belong to other partitions, but the topic has %d partitions and the "+
				"database knows of %d: they are not re-routed", len(b.rerouted), now, a.partitions)
		}
		if err := w.sender.reroute(ctx, a.partitions, b.rerouted); err != nil {
			return fmt.Errorf("re-route messages: %w", err)
		}
	}
	return nil
}

const (
	poll = time.Second // how often an idle partition reports progress and checks its generation

	// A batch whose time is over still waits for records that the log is known to have, tick by tick, up to maxLinger.
	tick      = 100 * time.Millisecond
	maxLinger = time.Second
)

// cut waits for records and makes a batch of them: at once when many have come, after the linger time when few have.
func (w *writer) cut(ctx context.Context, a *assignment) (_ *batch, err error) {
	b := newBatch(a.position, len(w.coordinator.entity.Shape.Sums))
	defer func() {
		if err != nil {
			w.coordinator.releaseBlock(b, nil)
		}
	}()
	assembler := &assembler{entity: w.coordinator.entity, tp: w.tp, partitions: a.partitions, heads: w.heads, rows: w.rows}
	var until <-chan time.Time
	var latest time.Time
	for {
		taken, err := a.buffer.take(max(1, w.rows-len(b.changes)))
		if err != nil {
			return nil, fmt.Errorf("read from Kafka: %w", err)
		}
		if whole, err := w.apply(ctx, assembler, b, a.buffer, taken); whole || err != nil {
			return b, err
		}
		if len(taken) > 0 && until == nil {
			until, latest = time.After(w.pace.linger(w.tp, time.Now())), time.Now().Add(maxLinger)
		}
		select {
		case <-a.buffer.signal:
		case <-until:
			if a.buffer.lag(b.next) > prefetchSize && time.Now().Before(latest) {
				until = time.After(tick)
				continue
			}
			return b, nil
		case <-time.After(poll):
			w.state.progress()
			if generation, err := w.members.current(ctx, w.tp); err != nil {
				return nil, err
			} else if generation != a.generation && b.records == 0 {
				return nil, errNewGeneration
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// apply adds records to the batch and reports whether it is complete; what is for the next one goes back to the buffer.
func (w *writer) apply(ctx context.Context, assembler *assembler, b *batch, buffer *buffer, taken []*kgo.Record) (whole bool, err error) {
	for i, r := range taken {
		if i%prefetchSize == 0 {
			if err := assembler.prefetch(b, taken[i:min(i+prefetchSize, len(taken))]); err != nil {
				return false, err
			}
			if b.bytes > smallBytes {
				if err := w.coordinator.acquireBlock(ctx, b); err != nil {
					return false, err
				}
			}
			w.state.progress()
		}
		if uint64(r.Offset) < b.next {
			return false, fmt.Errorf("offset %d came again: the position is %d", r.Offset, b.next)
		}
		if !assembler.apply(b, r) {
			buffer.putBack(taken[i:])
			return true, nil
		}
		if assembler.full(b) {
			buffer.putBack(taken[i+1:])
			return true, nil
		}
	}
	return false, nil
}

// crossGap passes offsets that the log no longer has: the gap is recorded, then crossed by a batch of the position row alone.
func (w *writer) crossGap(ctx context.Context, a *assignment) error {
	if !a.gap {
		return nil
	}
	w.log.Error("the log begins behind the position: messages are lost to this database, ingest them again from "+
		"their source", "from", a.position, "to", a.start)
	if err := recordGap(ctx, w.coordinator.db, w.tp, a); err != nil {
		return err
	}
	w.metrics.gaps.WithLabelValues(w.tp.topic).Inc()
	b := newBatch(a.position, len(w.coordinator.entity.Shape.Sums))
	b.next = a.start
	return w.flush(ctx, a, b)
}

const insertGap = `
INSERT INTO gaps (topic, partition, from_offset, to_offset, found_at)
SELECT {topic:String}, {partition:UInt32}, {from:UInt64}, {to:UInt64}, now64(3) WHERE ` + fence.Counts

func recordGap(ctx context.Context, db Database, tp topicPartition, a *assignment) error {
	n, err := db.Insert(ctx, database.Statement{
		ID: fence.WriterID(db, tp.topic, tp.partition), SQL: insertGap,
		Params: a.claim.Params(tp.partition).With(database.Params{"from": number(a.position), "to": number(a.start)}),
	})
	if err == nil && n == 0 {
		err = position.ErrNotWritten
	}
	if err != nil {
		return fmt.Errorf("record a gap: %w", err)
	}
	return nil
}

func (w *writer) sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	w.state.progress()
}
