package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	kafkalog "tallyhouse/schemas/kafka"
)

// What a log doesn't have, or nobody can read, doesn't stop a partition: it is told, and passed.

// crossGap passes offsets that the log no longer has: the gap is recorded, then crossed by a batch of the position row
// alone.
func (w *writer) crossGap(ctx context.Context, a *assignment) error {
	if !a.gap {
		return nil
	}
	w.log.Error("the log begins behind the position: messages are lost to this database, ingest them again from their source",
		"from", a.position, "to", a.start)
	if err := w.recordGap(ctx, a.position, a.start); err != nil {
		return err
	}
	b, err := w.emptyBatch(a.position)
	if err != nil {
		return err
	}
	assembler, err := w.assembler(a)
	if err != nil {
		return err
	}
	b.next = a.start
	return w.flush(ctx, a, assembler)
}

const addGap = `
INSERT INTO gaps (topic, partition, from_offset, to_offset, found_at)
SELECT {topic:String}, {partition:UInt32}, {from:UInt64}, {to:UInt64}, now64(3) WHERE ` + fence.Counts

func (w *writer) recordGap(ctx context.Context, from, to uint64) error {
	db := w.coordinator.db
	n, err := db.Insert(ctx, database.Statement{
		ID: fence.WriterID(db, w.tp.Topic, w.tp.Number), SQL: addGap,
		Params: w.fenced().With(database.Params{"from": number(from), "to": number(to)}),
	})
	if err == nil && n == 0 {
		err = position.ErrNotWritten
	}
	if err != nil {
		return fmt.Errorf("record a gap: %w", err)
	}
	w.metrics.gaps.WithLabelValues(w.tp.Topic).Inc()
	return nil
}

// lostEnd records a gap where the log has lost its end from an offset on: what it is given there now lies below the position, and
// nobody would read it.
func (w *writer) lostEnd(ctx context.Context, end, position uint64) error {
	if w.lost[1] == position && w.lost[0] <= end {
		return nil // it is known, and the log may have grown since
	}
	w.log.Error("the log lost its end, which was written: others may take its place unseen. Have the sources send again what they sent last",
		"from", end, "position", position)
	if err := w.recordGap(ctx, end, position); err != nil {
		return err
	}
	w.lost = [2]uint64{end, position}
	return nil
}

// epochToCheck is the leader epoch by which the broker is asked, before anything is read, whether the log still is the one that was
// written: a log that lost its end and grew past the position again is no shorter, but another epoch begins behind the place where
// it was cut. -1 asks nothing: the epoch isn't known, the reading begins elsewhere, or the loss is recorded.
func (w *writer) epochToCheck(a *assignment) int32 {
	if a.gap || w.lost[1] == a.position {
		return -1
	}
	return a.epoch
}

// noteLoss records what the reading ended with, where that is a loss of the log behind the position.
func (w *writer) noteLoss(ctx context.Context, position uint64, failed error) error {
	var loss *kgo.ErrDataLoss
	if !errors.As(failed, &loss) || uint64(loss.ResetTo) >= position {
		return nil
	}
	return w.lostEnd(ctx, uint64(loss.ResetTo), position)
}

// passUnread completes the batch with a dead letter for messages that nobody can unpack: they take more memory than a worker has for them,
// or their compression is broken. As one message that is too large they don't keep the partition from going on. Any other failure of the
// reading is a doubt.
func (w *writer) passUnread(ctx context.Context, a *assignment, b *batch, assembler *assembler, failed error) (*assembler, error) {
	next := a.position
	if b != nil {
		next = b.next
	}
	unread, ok := errors.AsType[*kafkalog.UnreadError](failed)
	if !ok || uint64(unread.Next) <= next {
		return nil, fmt.Errorf("read from Kafka: %w", failed)
	}
	if b == nil {
		var err error
		if b, assembler, err = w.begin(ctx, a); err != nil {
			return nil, err
		}
	}
	b.refuseUnread(w.tp, max(int64(next), unread.Offset), unread)
	return assembler, nil
}
