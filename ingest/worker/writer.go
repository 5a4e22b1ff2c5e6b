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

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
	kafkalog "tallyhouse/schemas/kafka"
)

// writer is the one goroutine of this worker that writes a partition. Its life:
//
//	    ┌────────── any doubt, a new generation ◀────────┐
//	    ▼                                                │
//	 recover ──▶ cut ──▶ send ──▶ insert ──▶ update heads ──▶ cut …
//	  ▲   │
//	  └───┤
//	      ▼
//	held, inconsistent, refused, database away: it waits, reports why, and tries again
type writer struct {
	tp          kafkalog.Partition
	coordinator *coordinator
	options     latest.Options // of the memory for heads
	heads       *heads         // once there is memory for them
	members     *membership
	pace        *pace
	sender      sender
	metrics     *metrics
	log         *slog.Logger
	state       *state
	sleep       sleeper

	batch  *batch        // used again and again, while it is small
	leave  bool          // to let it be large: see coordinator.large
	memory *batch        // that came with the leave, until a batch begins
	cuts   *assembler    // once there was something to cut
	rows   int           // most rows of a batch: halved by a time-out or a lack of memory, doubled again by success
	limit  time.Duration // of an insert: doubled by a time-out
	doubt  doubt
	claim  *fence.Claim // of the last recovery
	used   bool         // see fenced
	lost   [2]uint64    // the last gap that lostEnd recorded
}

// fenced are the parameters of fence.Counts for a statement of this writer. It may land late, whatever its sender hears of
// it, so the next recovery puts up another fence.
func (w *writer) fenced() database.Params {
	w.used = true
	return w.claim.Params(w.tp.Number)
}

// sender sends dead letters and re-routed messages and returns when Kafka has acknowledged them.
type sender interface {
	sendDeadLetters(ctx context.Context, letters []kafka.DeadLetter) error
	// reroute returns the messages that are too large to be sent.
	reroute(ctx context.Context, partitions int, messages []kafkago.Message) (tooLarge []kafkago.Message, err error)
}

const (
	minLimit = 15 * time.Second
	maxLimit = 60 * time.Second
	minRows  = 100
)

// run writes the partition until the context ends or another member has it.
func (w *writer) run(ctx context.Context) {
	defer w.closeHeads()
	for ctx.Err() == nil {
		w.state.recovering()
		err := w.attempt(ctx)
		switch {
		case errors.Is(err, errLost), ctx.Err() != nil:
			return
		case errors.Is(err, errNewGeneration):
			continue
		}
		pause := w.doubt.pause(err, time.Now())
		w.state.waiting(err)
		w.log.Warn("the partition can't be written for now: it recovers", "error", err, "in", pause)
		w.sleep(ctx, w.tp, pause, w.state.progress)
	}
}

// attempt recovers the partition and writes it until there is a doubt.
func (w *writer) attempt(ctx context.Context) (err error) {
	if w.heads == nil {
		if w.heads, err = newHeads(w.options); err != nil {
			return err
		}
	}
	a, err := w.coordinator.recoverPartition(ctx, w)
	if err != nil {
		return err
	}
	defer a.buffer.close()
	defer w.giveLeaveBack()
	w.doubt.of(a.life)
	if err := w.crossGap(ctx, a); err != nil {
		return err
	}
	return w.write(ctx, a)
}

func (w *writer) closeHeads() {
	if w.heads == nil {
		return
	}
	if err := w.heads.close(); err != nil {
		w.log.Warn("the memory of the heads was not given back", "error", err)
	}
}

// write moves batch after batch into the database until there is a doubt.
func (w *writer) write(ctx context.Context, a *assignment) error {
	w.state.running(a.position)
	for {
		w.state.step(StepCut)
		assembler, err := w.cut(ctx, a)
		if err != nil {
			return errors.Join(err, w.noteLoss(ctx, a.position, err))
		}
		if err := w.flush(ctx, a, assembler); err != nil {
			return err
		}
	}
}

// flush writes the batch: dead letters, re-routed messages and the history first, then the insert, then the heads.
func (w *writer) flush(ctx context.Context, a *assignment, assembler *assembler) error {
	b := w.batch
	w.state.step(StepSend)
	if err := w.sendSideOutputs(ctx, a, b); err != nil {
		return err
	}
	if err := w.keepHistory(ctx, b); err != nil {
		return err
	}
	done, err := w.members.beginInsert(ctx, w.tp, a.generation, w.state.progress)
	if err != nil {
		return err
	}
	defer done()
	w.state.step(StepInsert)
	assembler.finish(b)
	rows, began := b.block.Rows(), time.Now()
	w.state.within(w.limit)
	written, err := w.coordinator.db.Insert(ctx, database.Statement{
		ID:    fence.WriterID(w.coordinator.db, w.tp.Topic, w.tp.Number),
		SQL:   w.coordinator.entity.Insert(insertCondition(w.coordinator.entity)),
		Batch: b.block.Batch(),
		Limit: w.limit,
		Params: w.fenced().With(database.Params{
			"first": number(b.first), "key": clickhouse.PositionProject(w.tp.Number), "server": a.server,
		}),
	})
	w.state.step(StepInserted)
	if err == nil && written == 0 {
		err = position.ErrNotWritten
	}
	if err != nil {
		w.batch = nil // the connection may still read it
		w.adapt(err, rows)
		return fmt.Errorf("insert offsets %d to %d: %w", b.first, b.next, err)
	}
	w.rows, w.limit = min(2*w.rows, maxRows), minLimit
	w.state.step(StepHeadsUpdate)
	if err := b.updateHeads(w.heads, a.life); err != nil {
		return err
	}
	w.state.step(StepCommit)
	a.position = b.next
	w.doubt.progressed()
	w.state.stored(b.next)
	w.metrics.observeBatch(w.tp.Topic, b, rows, time.Since(began))
	w.report(b)
	return nil
}

// keepHistory writes what the history keeps of the batch, before its position passes it. A batch that is cut anew writes it again.
func (w *writer) keepHistory(ctx context.Context, b *batch) error {
	if b.history.Len() == 0 {
		return nil
	}
	w.state.within(w.limit)
	_, err := w.coordinator.db.Insert(ctx, database.Statement{
		ID:  fence.WriterID(w.coordinator.db, w.tp.Topic, w.tp.Number),
		SQL: store.InsertHistory, Batch: b.history.Batch(), Limit: w.limit,
	})
	if err != nil {
		w.batch = nil // the connection may still read it
		w.adapt(err, b.block.Rows())
		return fmt.Errorf("keep the history of offsets %d to %d: %w", b.first, b.next, err)
	}
	w.state.progress()
	return nil
}

// insertCondition is the condition of every insert of a writer: its fence counts, the partition is where the batch
// begins, the server is the one whose fences were read.
func insertCondition(e *store.Entity) string {
	return fence.Counts + " AND " + position.StateIs(e.Table) + " AND " + position.SameServer
}

// adapt makes the next batches smaller when this one, of so many rows, was too much for the server, and gives them more
// time when it was time that it lacked.
func (w *writer) adapt(err error, rows int) {
	var exception *ch.Exception
	errors.As(err, &exception)
	switch {
	case errors.Is(err, context.DeadlineExceeded), exception != nil && exception.IsCode(proto.ErrTimeoutExceeded):
		w.limit = min(2*w.limit, maxLimit)
		fallthrough
	case exception != nil && exception.IsCode(proto.ErrMemoryLimitExceeded):
		w.rows = max(min(w.rows, rows)/2, minRows)
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

// sendSideOutputs has Kafka acknowledge the batch's dead letters and re-routed messages, before its position passes
// them: some at a time, in their order. What was acknowledged once is not sent again when the batch is cut anew, so
// that however many there are, and however slow Kafka is, they come to an end.
func (w *writer) sendSideOutputs(ctx context.Context, a *assignment, b *batch) error {
	var sentAsLetters []kafka.DeadLetter
	for w.doubt.sent < b.next {
		letters, messages, next := b.outputs(w.doubt.sent)
		tooLarge, err := w.reroute(ctx, a, messages)
		if err != nil {
			return err
		}
		if letters = append(letters, tooLarge...); len(letters) > 0 {
			w.state.progress()
			if err := w.sender.sendDeadLetters(ctx, letters); err != nil {
				return fmt.Errorf("send dead letters: %w", err)
			}
		}
		sentAsLetters = append(sentAsLetters, tooLarge...)
		w.doubt.sent = next
	}
	b.deadLetters = append(b.deadLetters, sentAsLetters...)
	return nil
}

// reroute sends on what belongs to other partitions. What is too large for that, as a message at the topic's limit is
// with one header more, becomes a dead letter.
func (w *writer) reroute(ctx context.Context, a *assignment, all []rerouted) (tooLarge []kafka.DeadLetter, err error) {
	if len(all) == 0 {
		return nil, nil
	}
	// Two workers that know of different numbers would send a message to and fro: the recovery refuses, and names the
	// remedy.
	ids, err := kafkalog.Identities(ctx, w.coordinator.admin, w.tp.Topic)
	if err != nil {
		return nil, err
	}
	if now := ids[w.tp.Topic].Partitions; now != a.partitions {
		return nil, fmt.Errorf("%d messages belong to other partitions, but the topic has %d partitions and the database knows of %d: "+
			"they are not re-routed", len(all), now, a.partitions)
	}
	messages := make([]kafkago.Message, len(all))
	for i, r := range all {
		messages[i] = r.message
		messages[i].WriterData = int64(r.offset)
	}
	w.state.progress()
	unsent, err := w.sender.reroute(ctx, a.partitions, messages)
	if err != nil {
		return nil, fmt.Errorf("re-route messages: %w", err)
	}
	for _, m := range unsent {
		tooLarge = append(tooLarge, kafka.DeadLetter{
			Topic: w.tp.Topic, Partition: w.tp.Number, Offset: m.WriterData.(int64), Key: m.Key, Value: m.Value, At: time.Now().UTC(),
			Reason: fmt.Sprintf("it belongs to partition %d and is too large to be re-routed there", kafka.Partition(m.Key, a.partitions)),
		})
	}
	return tooLarge, nil
}

const (
	poll = time.Second // how often an idle partition reports progress and checks its generation

	// A batch whose time is over still waits for records that the log is known to have, tick by tick, up to maxLinger, or
	// maxFill where they fill it.
	tick      = 100 * time.Millisecond
	maxLinger = time.Second
	maxFill   = 10 * time.Second
	manyMore  = 1024 // offsets
)

// emptyBatch makes the batch ready for records from an offset on. One that has leave to be large has the memory of one that was.
func (w *writer) emptyBatch(first uint64) (_ *batch, err error) {
	if w.memory != nil {
		w.batch, w.memory = w.memory, nil
	}
	if w.batch == nil {
		if w.batch, err = newBatch(w.coordinator.entity); err != nil {
			return nil, err
		}
	}
	w.batch.reset(first)
	w.batch.large = w.batch.large || w.leave
	return w.batch, nil
}

// assembler is the writer's one, made ready for an assignment.
func (w *writer) assembler(a *assignment) (_ *assembler, err error) {
	if w.cuts == nil {
		if w.cuts, err = newAssembler(w.coordinator.entity, w.tp); err != nil {
			return nil, err
		}
	}
	w.cuts.partitions, w.cuts.heads, w.cuts.rows = a.partitions, w.heads, w.rows
	return w.cuts, nil
}

// cut waits for records and makes a batch of them: at once when much has come, after a while when little has.
func (w *writer) cut(ctx context.Context, a *assignment) (assembler *assembler, err error) {
	w.giveLeaveBack() // of the batch before
	var b *batch      // once there are records
	var until <-chan time.Time
	var began time.Time
	changes := w.members.changes()
	if err := w.stillIn(ctx, a.generation); err != nil {
		return nil, err
	}
	room := w.rows
	for {
		taken, err := a.buffer.take(max(1, room))
		if err != nil {
			return w.passUnread(ctx, a, b, assembler, err)
		}
		if len(taken) > 0 && b == nil {
			if b, assembler, err = w.begin(ctx, a); err != nil {
				return nil, err
			}
			began = time.Now()
			until = time.After(w.pace.linger(w.tp, w.coordinator.shard, began))
		}
		if len(taken) > 0 {
			if whole, err := w.apply(ctx, assembler, b, a.buffer, taken); whole || err != nil {
				return assembler, err
			}
			room = w.rows - b.block.Rows()
		}
		select {
		case <-a.buffer.signal:
		case <-until:
			if w.waitsForMore(a.buffer.lag(b.next), time.Since(began)) {
				until = time.After(tick)
				continue
			}
			return assembler, nil
		case <-time.After(poll):
			w.state.progress()
		case <-changes:
			changes = w.members.changes()
			if err := w.stillIn(ctx, a.generation); err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin makes a batch ready for the records that have come. One that will be large waits for leave before it takes memory, and only
// now that there are records: a partition whose leader is away would keep the leave from the others.
func (w *writer) begin(ctx context.Context, a *assignment) (*batch, *assembler, error) {
	if a.buffer.lag(a.position) > manyMore {
		if err := w.awaitLeave(ctx); err != nil {
			return nil, nil, err
		}
	}
	b, err := w.emptyBatch(a.position)
	if err != nil {
		return nil, nil, err
	}
	assembler, err := w.assembler(a)
	return b, assembler, err
}

// stillIn waits until the worker is in a generation of its group, and is nil when that still is this one.
func (w *writer) stillIn(ctx context.Context, generation int32) error {
	now, err := w.members.current(ctx, w.tp, w.state.progress)
	if err == nil && now != generation {
		err = errNewGeneration
	}
	return err
}

// waitsForMore reports whether a batch whose linger is over, begun that long ago, waits for what the log has behind it:
// longest for what fills it, because a few large inserts are how a partition that lies far behind comes up.
func (w *writer) waitsForMore(lag int64, waited time.Duration) bool {
	if lag >= int64(w.rows-w.batch.block.Rows()) {
		return waited < maxFill
	}
	return lag > manyMore && waited < maxLinger
}

// between is how many records are applied between two looks at whether the batch may go on growing, expected how many
// heads are brought to hand at a time.
const (
	between  = 1024
	expected = 64
)

// apply adds records to the batch and reports whether it is complete; what is for the next one goes back to the buffer.
func (w *writer) apply(ctx context.Context, assembler *assembler, b *batch, buffer *buffer, taken []*kgo.Record) (whole bool, err error) {
	for i, r := range taken {
		if i%between == 0 {
			if err := w.askLeave(ctx); err != nil {
				return false, err
			}
			w.state.progress()
		}
		if i%expected == 0 {
			assembler.expect(taken[i:min(i+expected, len(taken))])
		}
		if uint64(r.Offset) < b.next {
			return false, fmt.Errorf("offset %d came again: the position is %d", r.Offset, b.next)
		}
		fits, err := assembler.apply(b, r)
		if err != nil {
			w.heads.forget()
			return false, err
		}
		if !fits {
			buffer.putBack(taken[i:])
			return true, nil
		}
		r.Recycle() // the batch keeps nothing of it
		if assembler.full(b) {
			buffer.putBack(taken[i+1:])
			return true, nil
		}
	}
	return false, nil
}

// askLeave waits for leave to let the batch grow large, once it would.
func (w *writer) askLeave(ctx context.Context) error {
	if w.leave || w.batch.bytes <= smallBytes {
		return nil
	}
	w.batch.large = true
	err := w.awaitLeave(ctx)
	w.memory = nil // the batch grows where it began
	return err
}

// awaitLeave waits for leave to let a batch be large: few are at a time.
func (w *writer) awaitLeave(ctx context.Context) error {
	for {
		select {
		case w.memory = <-w.coordinator.large:
			w.leave = true
			return nil
		case <-time.After(poll): // those that have leave are in motion, or stuck by themselves
			w.state.progress()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// giveLeaveBack lets another batch be large. The memory of this one goes with it.
func (w *writer) giveLeaveBack() {
	memory := w.memory // unless it was used
	if w.batch != nil && w.batch.large {
		memory, w.batch = w.batch, nil
	}
	if w.leave {
		w.leave, w.memory = false, nil
		w.coordinator.giveLarge(memory)
	}
}

// lostFence records that another writer outbid the fence of this member in good standing.
func (w *writer) lostFence(now time.Time) { w.doubt.lost = append(w.doubt.lost, now) }

// doubt is the one back-off of a writer, for all that can go wrong.
type doubt struct {
	repeated int         // in a row, without progress
	lost     []time.Time // when the fence was outbid, within the last minute
	sent     uint64      // offsets whose dead letters and re-routed messages Kafka has
	life     string      // of the stream whose offsets these are
}

// of begins anew with what was sent where the stream began a new life: its topic may be another one, with other messages there.
func (d *doubt) of(life string) {
	if d.life != life {
		d.life, d.sent = life, 0
	}
}

const (
	heldWait         = time.Second
	inconsistentWait = 30 * time.Second
	minWait          = 100 * time.Millisecond // after a doubt that repeats, doubled up to maxWait
	maxWait          = 10 * time.Second
)

// progressed ends the doubts.
func (d *doubt) progressed() { d.repeated = 0 }

// pause is how long to wait before the partition recovers again: not at all after a first doubt, then longer each time.
// Where somebody holds or has to act it is a look now and then. Somebody who outbids this writer again and again is
// given way to longer and longer: two installations that write to one database are safe, but nobody's intention.
func (d *doubt) pause(err error, now time.Time) time.Duration {
	var held *fence.Held
	var inconsistent *position.Inconsistent
	var refusal *position.Refusal
	switch {
	case errors.As(err, &held):
		return heldWait
	case errors.As(err, &inconsistent), errors.As(err, &refusal):
		return inconsistentWait
	}
	d.repeated++
	d.lost = slices.DeleteFunc(d.lost, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	wait := time.Duration(0)
	if d.repeated > 1 {
		wait = min(minWait<<min(d.repeated-2, 16), maxWait)
	}
	if len(d.lost) >= 3 {
		wait = max(wait, min(time.Second<<min(len(d.lost)-3, 5), inconsistentWait))
	}
	return wait
}
