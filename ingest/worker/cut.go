package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/worker/latest"
)

const (
	poll = time.Second // how often an idle partition reports progress and checks its generation

	// A batch whose time is over still waits for records that the log is known to have, tick by tick, up to maxLinger, or
	// maxFill where they fill it.
	tick      = 100 * time.Millisecond
	maxLinger = time.Second
	maxFill   = 10 * time.Second
	manyMore  = 1024 // offsets
)

// emptyBatch makes the batch ready for records from an offset on. One that has the permit to be large has the memory of one that was.
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
	w.batch.large = w.batch.large || w.permit
	w.batch.small = first < w.doubt.unsent
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
	w.givePermitBack() // of the batch before
	var b *batch       // once there are records
	var until <-chan time.Time
	var began time.Time
	changes := w.members.changes()
	if err := w.stillIn(ctx, a.generation); err != nil {
		return nil, err
	}
	room := w.rows
	for {
		if b == nil && a.buffer.some() {
			if b, assembler, err = w.begin(ctx, a); err != nil {
				return nil, err
			}
		}
		limit := 0 // before there is a batch: the buffer alone can give memory back while that waits
		if b != nil {
			limit = max(1, room)
		}
		taken, err := a.buffer.take(limit)
		if err != nil {
			return w.passUnread(ctx, a, b, assembler, err)
		}
		if len(taken) > 0 && until == nil {
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

// begin makes a batch ready for the records that have come. One that will be large waits for its permit before it takes memory, and only
// now that there are records: a partition whose leader is away would keep the permit from the others.
func (w *writer) begin(ctx context.Context, a *assignment) (*batch, *assembler, error) {
	if a.buffer.lag(a.position) > manyMore && a.position >= w.doubt.unsent {
		if err := w.awaitPermit(ctx); err != nil {
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
	var keys []latest.Key
	for i, r := range taken {
		if i%between == 0 {
			if err := w.askPermit(ctx); err != nil {
				return false, err
			}
			w.state.progress()
		}
		if i%expected == 0 {
			keys = assembler.expect(taken[i:min(i+expected, len(taken))])
		}
		if uint64(r.Offset) < b.next {
			return false, fmt.Errorf("offset %d came again: the position is %d", r.Offset, b.next)
		}
		w.doubt.reads(r)
		fits, err := assembler.apply(b, r, keys[i%expected])
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

// askPermit waits for the permit to let the batch grow large, once it would.
func (w *writer) askPermit(ctx context.Context) error {
	if w.permit || w.batch.small || w.batch.bytes <= smallBytes {
		return nil
	}
	w.batch.large = true
	err := w.awaitPermit(ctx)
	w.memory = nil // the batch grows where it began
	return err
}

// awaitPermit waits for the permit to let a batch be large: few are at a time.
func (w *writer) awaitPermit(ctx context.Context) error {
	for {
		select {
		case w.memory = <-w.coordinator.permits:
			w.permit = true
			return nil
		case <-time.After(poll): // those that have one are in motion, or stuck by themselves
			w.state.progress()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// givePermitBack lets another batch be large. The memory of this one goes with it.
func (w *writer) givePermitBack() {
	memory := w.memory // unless it was used
	if w.batch != nil && w.batch.large {
		memory, w.batch = w.batch, nil
	}
	if w.permit {
		w.permit, w.memory = false, nil
		w.coordinator.takePermitBack(memory)
	}
}
