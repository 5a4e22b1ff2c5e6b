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
	"tallyhouse/ingest/worker/heads"
	"tallyhouse/ingest/worker/position"
)

// writer is the one goroutine of this worker that writes a partition. Its life:
//
//	    ┌──────────────── any doubt ◀────────────────┐
//	    ▼                                            │
//	 recover ──▶ stand ──▶ cut ──▶ send ──▶ insert ──┴▶ remember ──▶ cut …
//	  ▲   │                 ▲
//	  └───┤                 └─ between generations it waits before the insert; in a new one its stand is confirmed
//	      ▼
//	held, strange, refused, database away: it waits, says so, and asks again
type writer struct {
	tp      topicPartition
	desk    *desk
	heads   *heads.Partition
	members *membership
	pace    *pace
	sender  sender
	metrics *metrics
	log     *slog.Logger
	state   *state

	rows  int           // most rows of a batch: halved by a time-out, doubled again by success
	limit time.Duration // of an insert: doubled by a time-out
	last  *fence.Claim  // the one that the last stand was on
	lost  []time.Time   // when the fence was outbid, within the last minute
}

// sender sends dead letters and re-routed messages and returns when Kafka has acknowledged them.
type sender interface {
	letters(ctx context.Context, messages []kafkago.Message) error
	reroute(ctx context.Context, partitions int, messages []kafkago.Message) error
}

const (
	leastLimit = 15 * time.Second
	mostLimit  = 60 * time.Second
	leastRows  = 100

	heldWait    = time.Second
	strangeWait = 30 * time.Second
	leastWait   = 100 * time.Millisecond // after an error, doubled up to mostWait
	mostWait    = 10 * time.Second
)

// run writes the partition until the context ends or another member has it.
func (w *writer) run(ctx context.Context) {
	var known *stand
	wait := leastWait
	for ctx.Err() == nil {
		w.state.recovering()
		s, err := w.desk.ask(ctx, w, known)
		known = nil
		if err != nil {
			if errors.Is(err, errLost) || ctx.Err() != nil {
				return
			}
			pause := w.patience(err, &wait)
			w.state.waiting(err)
			w.log.Warn("the partition can't be written yet", "error", err, "again in", pause)
			w.sleep(ctx, pause)
			continue
		}
		wait = leastWait
		w.last = s.claim
		if err = w.crossGap(ctx, s); err == nil {
			err = w.write(ctx, s)
			w.desk.takeBack(s.pending, nil) // what was not laid out yet, and waits for the next generation at most
		}
		switch {
		case errors.Is(err, errNewGeneration):
			known = s
		case errors.Is(err, errLost), ctx.Err() != nil:
			s.feed.close()
			return
		default:
			s.feed.close()
			w.log.Warn("in doubt: the partition recovers", "error", err)
			w.sleep(ctx, w.penalty(time.Now()))
		}
	}
}

// patience is how long to wait after an error of a recovery.
func (w *writer) patience(err error, wait *time.Duration) time.Duration {
	var held *fence.Held
	var strange *position.Strange
	var refusal *position.Refusal
	switch {
	case errors.As(err, &held):
		return heldWait
	case errors.As(err, &strange), errors.As(err, &refusal):
		return strangeWait
	}
	defer func() { *wait = min(2**wait, mostWait) }()
	return *wait
}

// lostFence notes that somebody outbid the fence of this member in good standing.
func (w *writer) lostFence(now time.Time) {
	w.lost = append(w.lost, now)
}

// penalty is how long to wait before outbidding somebody again: nothing at first, longer each time once it happens three times in a
// minute. Two installations that write to one database are safe, but nobody's intention.
func (w *writer) penalty(now time.Time) time.Duration {
	w.lost = slices.DeleteFunc(w.lost, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	if len(w.lost) < 3 {
		return 0
	}
	w.log.Error("this partition's fence was outbid three times in a minute: another group or installation writes to this database; stop one of the two", "times", len(w.lost))
	return min(time.Second<<min(len(w.lost)-3, 5), 30*time.Second)
}

// write moves batch after batch into the database until there is a doubt.
func (w *writer) write(ctx context.Context, s *stand) error {
	w.state.standing(s.position)
	for {
		if s.pending == nil {
			w.state.step(StepCut)
			b, err := w.cut(ctx, s)
			if err != nil {
				return err
			}
			s.pending = b
		}
		if err := w.batch(ctx, s, s.pending); err != nil {
			return err
		}
		s.pending = nil
	}
}

// batch brings one batch through: dead letters and re-routed messages first, then the insert, then what the worker remembers of it.
func (w *writer) batch(ctx context.Context, s *stand, b *batch) error {
	w.state.step(StepSend)
	if err := w.sendOn(ctx, s, b); err != nil {
		return err
	}
	done, err := w.members.insert(ctx, w.tp, s.generation)
	if err != nil {
		return err
	}
	defer done()
	w.state.step(StepInsert)
	if err := w.desk.lend(ctx, b); err != nil {
		return err
	}
	b.fill(b.block, w.tp)
	rows, began := b.block.Rows(), time.Now()
	written, err := w.desk.db.Insert(ctx, database.Statement{
		ID:    fence.WriterID(w.desk.db, w.tp.topic, w.tp.partition),
		SQL:   w.desk.entity.Insert(insertCondition(w.desk.entity)),
		Batch: b.block.Batch(),
		Limit: w.limit,
		Params: s.claim.Params(w.tp.partition).With(database.Params{
			"first": number(b.first), "key": store.PositionKey(w.tp.partition), "server": s.server,
		}),
	})
	w.desk.takeBack(b, err)
	w.state.step(StepInserted)
	if err == nil && written == 0 {
		err = position.ErrNotWritten
	}
	if err != nil {
		w.adapt(err)
		return fmt.Errorf("insert offsets %d to %d: %w", b.first, b.next, err)
	}
	w.rows, w.limit = min(2*w.rows, maxRows), leastLimit
	w.state.step(StepRemember)
	if err := b.remember(w.heads, s.life); err != nil {
		return err
	}
	w.state.step(StepCommit)
	s.position = b.next
	w.state.stored(b.next, s.feed.lag(b.next))
	w.metrics.batch(w.tp.topic, b, rows, time.Since(began))
	w.report(b)
	return nil
}

// insertCondition is what every insert of a writer stands on: its fence counts, the partition is where the batch begins, the server is
// the one whose fences were read.
func insertCondition(e *store.Entity) string {
	return fence.Counts + " AND " + position.StateIs(e.Table) + " AND " + position.SameServer
}

// adapt makes the next batches smaller and gives them more time, when it was time that this one lacked.
func (w *writer) adapt(err error) {
	var exception *ch.Exception
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &exception) && exception.IsCode(proto.ErrTimeoutExceeded) {
		w.rows, w.limit = max(w.rows/2, leastRows), min(2*w.limit, mostLimit)
	}
}

func (w *writer) report(b *batch) {
	if b.conflicts > 0 {
		w.log.Warn("messages carried a version that is already taken, with other content: the first counts", "conflicts", b.conflicts, "before offset", b.next)
	}
	for _, l := range b.letters {
		w.log.Warn("a message was refused: see `tallyhouse deadletters show`", "offset", l.Offset, "reason", l.Reason)
	}
}

// sendOn has Kafka acknowledge the batch's dead letters and re-routed messages, before its position passes them.
func (w *writer) sendOn(ctx context.Context, s *stand, b *batch) error {
	if len(b.letters) > 0 {
		messages := make([]kafkago.Message, len(b.letters))
		for i, l := range b.letters {
			messages[i] = l.Message()
		}
		if err := w.sender.letters(ctx, messages); err != nil {
			return fmt.Errorf("send dead letters: %w", err)
		}
	}
	if len(b.rerouted) > 0 {
		// Two workers that know of different numbers would send a message to and fro: the recovery refuses, and names the remedy.
		ids, err := kafka.Identities(ctx, w.desk.asking, w.tp.topic)
		if err != nil {
			return err
		}
		if now := ids[w.tp.topic].Partitions; now != s.partitions {
			return fmt.Errorf("%d messages belong to other partitions, but the topic has %d partitions and the database knows of %d: they are not sent on", len(b.rerouted), now, s.partitions)
		}
		if err := w.sender.reroute(ctx, s.partitions, b.rerouted); err != nil {
			return fmt.Errorf("send messages on to their partitions: %w", err)
		}
	}
	return nil
}

const (
	poll = time.Second // how often an idle partition looks up

	// A batch whose time is over still waits for records that the log is known to have: a moment, and again, up to mostLinger.
	moment     = 100 * time.Millisecond
	mostLinger = time.Second
)

// cut waits for records and makes a batch of them: at once when much has come, after a while when little has.
func (w *writer) cut(ctx context.Context, s *stand) (_ *batch, err error) {
	b := newBatch(s.position, len(w.desk.entity.Shape.Sums))
	defer func() {
		if err != nil {
			w.desk.takeBack(b, nil)
		}
	}()
	g := &digester{entity: w.desk.entity, tp: w.tp, partitions: s.partitions, heads: w.heads, rows: w.rows}
	var until <-chan time.Time
	var latest time.Time
	for {
		taken, err := s.feed.take(max(1, w.rows-len(b.changes)))
		if err != nil {
			return nil, fmt.Errorf("read from Kafka: %w", err)
		}
		if whole, err := w.digest(ctx, g, b, s.feed, taken); whole || err != nil {
			return b, err
		}
		if len(taken) > 0 && until == nil {
			until, latest = time.After(w.pace.linger(w.tp, time.Now())), time.Now().Add(mostLinger)
		}
		select {
		case <-s.feed.signal:
		case <-until:
			if s.feed.lag(b.next) > together && time.Now().Before(latest) {
				until = time.After(moment)
				continue
			}
			return b, nil
		case <-time.After(poll):
			w.state.progress()
			if generation, err := w.members.current(ctx, w.tp); err != nil {
				return nil, err
			} else if generation != s.generation && b.records == 0 {
				return nil, errNewGeneration
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// digest adds records to the batch and tells whether it is whole; what is for the next one goes back to the feed.
func (w *writer) digest(ctx context.Context, g *digester, b *batch, feed *feed, taken []*kgo.Record) (whole bool, err error) {
	for i, r := range taken {
		if i%together == 0 {
			if err := g.know(b, taken[i:min(i+together, len(taken))]); err != nil {
				return false, err
			}
			if b.bytes > smallBytes {
				if err := w.desk.lend(ctx, b); err != nil {
					return false, err
				}
			}
			w.state.progress()
		}
		if uint64(r.Offset) < b.next {
			return false, fmt.Errorf("offset %d came again: the partition stands at %d", r.Offset, b.next)
		}
		if !g.digest(b, r) {
			feed.putBack(taken[i:])
			return true, nil
		}
		if g.full(b) {
			feed.putBack(taken[i+1:])
			return true, nil
		}
	}
	return false, nil
}

// crossGap passes offsets that the log no longer has: noted, then crossed by a batch of the position row alone.
func (w *writer) crossGap(ctx context.Context, s *stand) error {
	if !s.gap {
		return nil
	}
	w.log.Error("the log begins behind the position: messages are lost to this database, ingest them again from their source", "from", s.position, "to", s.start)
	if err := noteGap(ctx, w.desk.db, w.tp, s); err != nil {
		return err
	}
	w.metrics.gaps.WithLabelValues(w.tp.topic).Inc()
	b := newBatch(s.position, len(w.desk.entity.Shape.Sums))
	b.next = s.start
	return w.batch(ctx, s, b)
}

const addGap = `
INSERT INTO gaps (topic, partition, from_offset, to_offset, found_at)
SELECT {topic:String}, {partition:UInt32}, {from:UInt64}, {to:UInt64}, now64(3) WHERE ` + fence.Counts

func noteGap(ctx context.Context, db Database, tp topicPartition, s *stand) error {
	n, err := db.Insert(ctx, database.Statement{
		ID: fence.WriterID(db, tp.topic, tp.partition), SQL: addGap,
		Params: s.claim.Params(tp.partition).With(database.Params{"from": number(s.position), "to": number(s.start)}),
	})
	if err == nil && n == 0 {
		err = position.ErrNotWritten
	}
	if err != nil {
		return fmt.Errorf("note a gap: %w", err)
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
