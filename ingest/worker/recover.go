package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	kafkalog "tallyhouse/schemas/kafka"
)

// recovery is the one answer to every doubt (docs/architecture.md#recovery), for all partitions of a topic that are in
// doubt at one moment. It goes phase by phase; a partition that cannot go on is answered and leaves, the others go on
// without it.
type recovery struct {
	*coordinator
	db      Database
	members map[int32]request
	in      position.Installation
	stream  position.Stream
	found   map[int32]*assignment
}

func (c *coordinator) recover(ctx context.Context, requests []request) {
	ctx, stop := untilAllStopped(ctx, requests)
	defer stop()
	r := &recovery{coordinator: c, db: beating{c.db, c.beat}, members: map[int32]request{}, found: map[int32]*assignment{}}
	for _, q := range requests {
		r.members[q.w.tp.Number] = q
	}
	for _, phase := range []struct {
		step Step
		run  func(context.Context) error
	}{
		{StepMember, r.stillMember},
		{StepFence, r.putFences},
		{StepKill, r.killOlder},
		{StepIdentity, r.checkIdentity},
		{StepPositions, r.reconcile},
		{StepLog, r.compareLog},
		{StepHeads, r.loadHeads},
		{StepRead, r.startReading},
	} {
		r.releaseStopped()
		if len(r.members) == 0 {
			return
		}
		r.step(phase.step)
		if err := phase.run(ctx); err != nil {
			for p := range r.members {
				r.leave(p, err)
			}
			return
		}
	}
}

func (r *recovery) step(s Step) {
	r.beat.now()
	for _, q := range r.members {
		r.observe(q.w.tp, s)
		q.w.state.progress()
	}
}

// releaseStopped answers writers that have to end: whoever ends them waits for that.
func (r *recovery) releaseStopped() {
	for p, q := range r.members {
		if q.isStopped() {
			r.leave(p, context.Canceled)
		}
	}
}

// leave answers a partition that cannot go on.
func (r *recovery) leave(p int32, err error) {
	r.members[p].reply(nil, err)
	delete(r.members, p)
}

func (r *recovery) topic() string { return string(r.entity.Topic) }

func (r *recovery) partitions() []int32 { return slices.Sorted(maps.Keys(r.members)) }

// stillMember waits until the worker is in a generation of its group, and lets go of partitions that are another
// member's there.
func (r *recovery) stillMember(ctx context.Context) error {
	for p, q := range r.members {
		r.metrics.recoveries.WithLabelValues(r.topic()).Inc()
		if _, err := r.current(ctx, q, StepMember); err != nil {
			r.leave(p, err)
		}
	}
	return nil
}

// current waits for a generation in which the partition is the worker's. Writers that are stopped meanwhile are let go
// of: the generation may begin only once they are.
func (r *recovery) current(ctx context.Context, q request, s Step) (int32, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return r.membership.current(ctx, q.w.tp, func() {
		r.step(s)
		r.releaseStopped()
		if q.isStopped() {
			stop()
		}
	})
}

// putFences puts up new fences. One that still counts, and under which no statement was sent, is as good as a new one.
func (r *recovery) putFences(ctx context.Context) error {
	current, err := fence.Read(ctx, r.db, r.topic())
	if err != nil {
		return err
	}
	var asked []int32
	for p, q := range r.members {
		now, w := current[p], q.w
		switch {
		case w.claim == nil || !w.claim.Has(p):
			asked = append(asked, p)
		case now.Owner == w.claim.Owner:
			if w.used {
				asked = append(asked, p)
			}
		default:
			asked = append(asked, p)
			// Neither one's own attempt that seemed to fail, nor what a holder left behind.
			if by := fence.Writer(now.Owner); !now.Held && by != "" && by != r.name {
				r.metrics.fencesLost.WithLabelValues(r.topic()).Inc()
				w.lostFence(time.Now())
			}
		}
	}
	if len(asked) == 0 {
		return nil
	}
	slices.Sort(asked)
	claim, held, err := fence.Put(ctx, r.db, r.topic(), asked, r.name)
	if err != nil {
		return err
	}
	for _, p := range asked {
		switch h := held[p]; {
		case h != nil:
			r.leave(p, h)
		case !claim.Has(p):
			r.leave(p, errors.New("another writer put up its fence at the same moment"))
		default:
			r.members[p].w.claim, r.members[p].w.used = claim, false
		}
	}
	return nil
}

// killOlder ends what older fences still have under way: what ran is over then, and what starts late finds the new one.
func (r *recovery) killOlder(ctx context.Context) error {
	var prefixes []string
	for p := range r.members {
		prefixes = append(prefixes, fence.PartitionPrefix(r.db, r.topic(), p))
	}
	return fence.Kill(ctx, r.db, prefixes...)
}

// checkIdentity compares what the database knows of the topic with the topic, the server and this binary. The first
// writer of all writes it down.
func (r *recovery) checkIdentity(ctx context.Context) error {
	ids, err := kafkalog.Identities(ctx, r.admin, r.topic())
	if err != nil {
		return err
	}
	server, err := position.ServerUUID(ctx, r.db)
	if err != nil {
		return err
	}
	r.in = position.Installation{Log: ids[r.topic()], Server: server, Shard: r.shard, Shards: len(r.servers)}
	known := false
	if r.stream, known, err = position.ReadStream(ctx, r.db, r.topic()); err != nil {
		return err
	}
	if !known {
		if err := r.register(ctx); err != nil {
			return err
		}
	}
	return r.stream.Check(r.entity, r.in)
}

// register writes down which topic this database follows from now on.
func (r *recovery) register(ctx context.Context) error {
	var rows uint64
	q := database.Query{SQL: "SELECT count() FROM " + r.entity.Table + " WHERE tenant = ''"}
	err := r.db.Rows(ctx, q, func(scan func(...any) error) error { return scan(&rows) })
	if err != nil {
		return fmt.Errorf("see whether %s is empty: %w", r.entity.Table, err)
	}
	if rows > 0 {
		return position.Refuse("%s holds data, but nothing says of which topic: restore the table streams, "+
			"or ingest into an empty database", r.entity.Table)
	}
	if err := r.checkOthers(ctx); err != nil {
		return err
	}
	stream := position.NewStream(r.entity, r.in)
	if stream.Begins, err = r.begins(ctx); err != nil {
		return err
	}
	p := r.partitions()[0]
	id, params := fence.WriterID(r.db, r.topic(), p), r.members[p].w.fenced()
	err = position.WriteStream(ctx, r.db, r.topic(), id, stream, fence.Counts, params)
	if err != nil {
		return err
	}
	r.stream, _, err = position.ReadStream(ctx, r.db, r.topic()) // another worker's may be the one that counts
	return err
}

// checkOthers is nil when none of the other shards was written as one of another number of shards: beside them this
// database would take in anew what they have. Those that don't know the topic yet are as new as this one.
func (r *recovery) checkOthers(ctx context.Context) error {
	for i, db := range r.servers {
		if i == r.shard {
			continue
		}
		stream, known, err := position.ReadStream(ctx, db, r.topic())
		if err != nil {
			return fmt.Errorf("ask shard %d what it knows of %s: %w", i, r.topic(), err)
		}
		if known {
			if err := stream.CheckShard(i, len(r.servers)); err != nil {
				return fmt.Errorf("shard %d: %w", i, err)
			}
		}
	}
	return nil
}

// begins are the offsets at which the logs of all partitions begin.
func (r *recovery) begins(ctx context.Context) ([]uint64, error) {
	partitions := make([]int32, r.in.Log.Partitions)
	for i := range partitions {
		partitions[i] = int32(i)
	}
	logs := kafkalog.Logs(ctx, r.admin, r.topic(), partitions)
	begins := make([]uint64, len(partitions))
	for i, p := range partitions {
		if err := logs[p].Err; err != nil {
			return nil, err
		}
		begins[i] = uint64(logs[p].Start)
	}
	return begins, nil
}

// reconcile finds where the partitions are, and gives a view the batch that a kill between two parts took from it. A
// partition whose tables are inconsistent leaves.
func (r *recovery) reconcile(ctx context.Context) error {
	if err := replicasSettled(ctx, r.db, r.entity); err != nil {
		return err
	}
	at, err := position.Read(ctx, r.db, r.entity, r.partitions())
	if err != nil {
		return err
	}
	broken, err := brokenParts(ctx, r.db, r.entity)
	if err != nil {
		return err
	}
	for _, p := range r.partitions() {
		inconsistency := broken // before what only follows from it
		if what := at[p].Inconsistency(); inconsistency == nil && what != "" {
			inconsistency = &position.Inconsistent{What: what}
		}
		switch {
		case inconsistency != nil:
			r.leave(p, r.classify(ctx, p, *inconsistency))
		case at[p].Level():
			r.found[p] = &assignment{position: at[p].State, epoch: at[p].Epoch}
		default:
			if err := r.mend(ctx, p, at[p]); err != nil {
				r.leave(p, err)
				continue
			}
			r.found[p] = &assignment{position: at[p].State, epoch: at[p].Epoch}
		}
	}
	return nil
}

// mend gives the view the last batch of a partition, and looks whether it is level then.
func (r *recovery) mend(ctx context.Context, p int32, at position.Positions) error {
	q := r.members[p]
	r.observe(q.w.tp, StepMend)
	r.log.Warn("a view missed the last batch: it is mended", "topic", r.topic(), "partition", p, "from", at.First, "to", at.State)
	id := fence.WriterID(r.db, r.topic(), p)
	if err := position.Mend(ctx, r.db, r.entity, id, p, at, r.in.Server, fence.Counts, q.w.fenced()); err != nil {
		return err
	}
	r.metrics.mended.WithLabelValues(r.entity.Table).Inc()
	now, err := position.Read(ctx, r.db, r.entity, []int32{p})
	if err == nil && (!now[p].Level() || now[p].State != at.State) {
		err = r.classify(ctx, p, position.Inconsistent{What: "a view that was mended still misses the last batch"})
	}
	return err
}

// classify says what positions that cannot be are. Several tables are no one snapshot: only while the fence still
// counts, read after the positions, do they say anything.
func (r *recovery) classify(ctx context.Context, p int32, is position.Inconsistent) error {
	counts, err := r.members[p].w.claim.Counting(ctx, r.db)
	switch {
	case err != nil:
		return err
	case !counts[p]:
		return errors.New("another writer took over while the positions were read")
	}
	is.Topic, is.Partition = r.topic(), p
	return &is
}

// compareLog compares the positions with what the log holds.
func (r *recovery) compareLog(ctx context.Context) error {
	logs := kafkalog.Logs(ctx, r.admin, r.topic(), r.partitions())
	for _, p := range r.partitions() {
		a := r.found[p]
		switch log := logs[p]; {
		case log.Err != nil:
			r.leave(p, log.Err)
		case a.position > uint64(log.End):
			err := r.members[p].w.lostEnd(ctx, uint64(log.End), a.position)
			if err == nil {
				err = position.Refuse("partition %d of %s is at offset %d, but its log ends at %d: it is another log than the one that was "+
					"ingested, or has lost its end; connect the right cluster, or ingest into an empty database; or have the sources send "+
					"again what they sent last: when the log has come to the position the partition goes on", p, r.topic(), a.position, log.End)
			}
			r.leave(p, err)
		default:
			a.start, a.end = uint64(log.Start), log.End
			a.gap = r.stream.IsGap(p, a.position, a.start)
		}
	}
	return nil
}

// startReading has the partitions read from where they are, each by a buffer of its own: what was read for an older one
// vanishes with it.
func (r *recovery) startReading(ctx context.Context) error {
	for p, q := range r.members {
		generation, err := r.current(ctx, q, StepRead)
		if err != nil {
			r.leave(p, err)
			continue
		}
		a := r.found[p]
		a.generation, a.server, a.life, a.partitions = generation, r.in.Server, r.stream.Life, int(r.stream.Partitions)
		a.buffer = r.source.open(q.w.tp, max(a.position, a.start), q.w.epochToCheck(a), a.end)
		r.log.Info("partition recovered", "topic", r.topic(), "partition", p, "position", a.position)
		q.reply(a, nil)
	}
	return nil
}
