package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"

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
	permit bool          // to let it be large: see coordinator.permits
	memory *batch        // that came with the permit, until a batch begins
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
		w.log.Warn("the partition can't be written for now: it recovers", "error", err, "pause", pause)
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
	defer w.givePermitBack()
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
		w.doubt.unsent = b.next
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
