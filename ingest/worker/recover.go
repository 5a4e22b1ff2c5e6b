package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	kafkalog "tallyhouse/schemas/kafka"
)

// Database is what the protocol needs of the server that holds a shard.
type Database interface {
	fence.Database
	Insert(ctx context.Context, st database.Statement) (written uint64, err error)
	scanner
}

var _ Database = (*database.Server)(nil)

// assignment is what a recovery gives a partition's writer: its fence, its position, and the records from there on. It is valid for as
// long as every insert made under it succeeded. (Kafka's own assignment is a hint, see membership.)
type assignment struct {
	claim      *fence.Claim
	generation int32
	server     string // serverUUID()
	life       string
	partitions int // of the topic, by which keys are hashed
	position   uint64
	buffer     *buffer
	pending    *batch // cut and not yet inserted: its records are no longer in the buffer
	gap        bool   // the log begins behind the position: a batch of the position row alone crosses over
	start      uint64
}

// request asks a coordinator to recover one partition.
type request struct {
	w       *writer
	confirm *assignment // the writer's assignment, if all it needs is that it still counts; nil when in doubt
	answer  chan answer
}

type answer struct {
	assignment *assignment
	err        error
}

// coordinator recovers the partitions of one topic that are kept on one server. Those that are in doubt at the same moment are recovered
// together: a fence for many costs what one costs.
type coordinator struct {
	entity   *store.Entity
	db       Database
	log      *slog.Logger
	admin    *kgo.Client // for questions about the log
	source   *source
	members  *membership
	metrics  *metrics
	requests chan request
	observe  observer
	blocks   chan *store.Block // as many as there may be large batches of the topic; nil where none is made yet
}

// concurrentBatches is how many large batches of one topic there are at a time, from cutting to their insert: more would only wait for
// the server's cores, and take memory meanwhile.
const concurrentBatches = 2

func newCoordinator(c coordinator) *coordinator {
	c.requests = make(chan request)
	c.blocks = make(chan *store.Block, concurrentBatches)
	for range concurrentBatches {
		c.blocks <- nil
	}
	return &c
}

// acquireBlock waits for an empty block for the batch, unless it has one; releaseBlock returns it.
func (c *coordinator) acquireBlock(ctx context.Context, b *batch) error {
	if b.block != nil {
		return nil
	}
	select {
	case b.block = <-c.blocks:
		if b.block == nil {
			b.block = c.entity.NewBlock()
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// releaseBlock returns the batch's block. One whose insert failed may still be read by the connection: it is not used again.
func (c *coordinator) releaseBlock(b *batch, failed error) {
	if b == nil || b.block == nil {
		return
	}
	if failed != nil {
		b.block = nil
	} else {
		b.block.Reset()
	}
	c.blocks <- b.block
	b.block = nil
}

// recoverPartition queues a partition's recovery and waits for its outcome.
func (c *coordinator) recoverPartition(ctx context.Context, w *writer, previous *assignment) (*assignment, error) {
	r := request{w, previous, make(chan answer, 1)}
	select {
	case c.requests <- r:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case a := <-r.answer:
		return a.assignment, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// gather is how long a coordinator waits for further partitions that are in doubt for the same reason.
const gather = 5 * time.Millisecond

// run recovers until the context ends.
func (c *coordinator) run(ctx context.Context) {
	for {
		var requests []request
		select {
		case r := <-c.requests:
			requests = append(requests, r)
		case <-ctx.Done():
			return
		}
		for more := time.After(gather); more != nil; {
			select {
			case r := <-c.requests:
				requests = append(requests, r)
			case <-more:
				more = nil
			}
		}
		c.serve(ctx, requests)
	}
}

func (c *coordinator) serve(ctx context.Context, requests []request) {
	doubtful, err := c.confirm(ctx, requests)
	if err == nil && len(doubtful) > 0 {
		err = c.recover(ctx, doubtful)
	}
	if err != nil {
		for _, r := range doubtful {
			r.reply(nil, err)
		}
	}
}

// reply answers once; later answers are dropped.
func (r request) reply(a *assignment, err error) {
	select {
	case r.answer <- answer{a, err}:
	default:
	}
}

// confirm answers the requests whose assignments are still valid, because their fences still count; it returns the others.
func (c *coordinator) confirm(ctx context.Context, requests []request) (doubtful []request, err error) {
	var current map[int32]fence.Current
	for _, r := range requests {
		if r.confirm == nil {
			doubtful = append(doubtful, r)
			continue
		}
		if current == nil {
			if current, err = fence.Read(ctx, c.db, string(c.entity.Topic)); err != nil {
				return requests, err
			}
		}
		p := r.w.tp.partition
		generation, err := c.members.current(ctx, r.w.tp)
		if err != nil {
			r.reply(nil, err)
			continue
		}
		if current[p].Owner != r.confirm.claim.Owner || current[p].Epoch != r.confirm.claim.Epochs[p] {
			doubtful = append(doubtful, r)
			continue
		}
		confirmed := *r.confirm
		confirmed.generation = generation
		r.reply(&confirmed, nil)
	}
	return doubtful, nil
}

// recover is the one answer to every doubt (docs/architecture.md, Recover): fence, kill, identity, positions, heads. What it cannot
// answer for a single partition is that partition's error; its own error is that of all.
func (c *coordinator) recover(ctx context.Context, requests []request) error {
	topic := string(c.entity.Topic)
	members := map[int32]request{}
	for _, r := range requests {
		c.metrics.recoveries.WithLabelValues(topic).Inc()
		if _, err := c.members.current(ctx, r.w.tp); err != nil {
			r.reply(nil, err)
			continue
		}
		members[r.w.tp.partition] = r
	}
	c.step(members, StepFence)
	c.countLostFences(ctx, members)
	claim, held, err := fence.Put(ctx, c.db, topic, partitionsOf(members))
	if err != nil {
		return err
	}
	for p, h := range held {
		members[p].reply(nil, h)
		delete(members, p)
	}
	for p, r := range members {
		if !claim.Has(p) {
			r.reply(nil, errors.New("another writer put up its fence at the same moment"))
			delete(members, p)
		}
	}
	if len(members) == 0 {
		return nil
	}
	c.step(members, StepKill)
	var prefixes []string
	for p := range members {
		prefixes = append(prefixes, fence.PartitionPrefix(c.db, topic, p))
	}
	if err := fence.Kill(ctx, c.db, prefixes...); err != nil {
		return err
	}
	c.step(members, StepIdentity)
	common, ranges, err := c.identify(ctx, claim, members)
	if err != nil {
		return err
	}
	c.step(members, StepPositions)
	at, err := c.reconcile(ctx, claim, common.server, members)
	if err != nil {
		return err
	}
	assignments := map[int32]*assignment{}
	for p, r := range members {
		if int(p) >= len(ranges) { // the group knew of more partitions than the broker that was asked
			r.reply(nil, fmt.Errorf("partition %d is not among the %d that %s has", p, len(ranges), topic))
			delete(members, p)
			continue
		}
		a := *common
		a.claim, a.position = claim, at[p].State
		switch log := ranges[p]; {
		case a.position > uint64(log.End):
			members[p].reply(nil, position.Refuse("partition %d of %s is at offset %d, but its log ends at %d: this is another log than the one that was ingested; "+
				"connect the right cluster, or ingest into an empty database", p, topic, a.position, log.End))
			delete(members, p)
			continue
		case a.position < uint64(log.Start) && a.position > 0:
			a.gap, a.start = true, uint64(log.Start)
		case a.position == 0:
			a.start = uint64(log.Start)
		}
		assignments[p] = &a
	}
	c.step(members, StepHeads)
	if err := c.restoreHeads(ctx, assignments, members); err != nil {
		return err
	}
	c.step(members, StepRead)
	for p, r := range members {
		a := assignments[p]
		generation, err := c.members.current(ctx, r.w.tp)
		if err != nil {
			r.reply(nil, err)
			continue
		}
		a.generation = generation
		a.buffer = c.source.open(r.w.tp, max(a.position, a.start))
		c.log.Info("partition recovered", "topic", topic, "partition", p, "position", a.position)
		r.reply(a, nil)
	}
	return nil
}

// identify compares what the database knows of the topic with the topic, the server and this binary. The first writer of all writes
// it down.
func (c *coordinator) identify(ctx context.Context, claim *fence.Claim, members map[int32]request) (*assignment, []kafkalog.Range, error) {
	topic := string(c.entity.Topic)
	ids, err := kafkalog.Identities(ctx, c.admin, topic)
	if err != nil {
		return nil, nil, err
	}
	server, err := position.ServerUUID(ctx, c.db)
	if err != nil {
		return nil, nil, err
	}
	known, ok, err := position.ReadStream(ctx, c.db, topic)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		if known, err = c.register(ctx, claim, partitionsOf(members)[0], ids[topic], server); err != nil {
			return nil, nil, err
		}
	}
	if err := known.Check(topic, ids[topic], server); err != nil {
		return nil, nil, err
	}
	ranges, err := kafkalog.Ranges(ctx, c.admin, ids)
	if err != nil {
		return nil, nil, err
	}
	return &assignment{server: server, life: known.Life, partitions: int(known.Partitions)}, ranges[topic], nil
}

// register records which topic this database follows from now on.
func (c *coordinator) register(ctx context.Context, claim *fence.Claim, partition int32, id kafkalog.Identity, server string) (position.Stream, error) {
	topic := string(c.entity.Topic)
	var rows uint64
	err := c.db.Rows(ctx, database.Query{SQL: "SELECT count() FROM " + c.entity.Table + " WHERE tenant = ''"}, func(scan func(...any) error) error { return scan(&rows) })
	if err != nil {
		return position.Stream{}, fmt.Errorf("see whether %s is empty: %w", c.entity.Table, err)
	}
	if rows > 0 {
		return position.Stream{}, position.Refuse("%s holds data, but nothing says of which topic: restore the table streams, or ingest into an empty database", c.entity.Table)
	}
	s := position.Stream{Revision: 1, ClusterID: id.Cluster, TopicID: id.Topic, Partitions: uint32(id.Partitions), Server: server, Formula: store.Formula, Life: position.NewLife()}
	if err := position.WriteStream(ctx, c.db, topic, fence.WriterID(c.db, topic, partition), s, fence.Counts, claim.Params(partition)); err != nil {
		return position.Stream{}, err
	}
	s, _, err = position.ReadStream(ctx, c.db, topic) // another worker's may be the one that counts
	return s, err
}

// reconcile brings the views of the partitions to their table's position and returns it. A partition whose positions are inconsistent
// leaves members.
func (c *coordinator) reconcile(ctx context.Context, claim *fence.Claim, server string, members map[int32]request) (map[int32]position.Positions, error) {
	mended := map[int32]bool{}
	for {
		at, err := position.Read(ctx, c.db, c.entity, partitionsOf(members))
		if err != nil {
			return nil, err
		}
		broken, err := brokenParts(ctx, c.db, c.entity)
		if err != nil {
			return nil, err
		}
		again := false
		for p, r := range members {
			missed, inconsistency := at[p].Torn(c.entity.Views())
			if inconsistency == "" && broken != "" {
				inconsistency = broken
			}
			if inconsistency != "" || mended[p] && len(missed) > 0 {
				if err := c.classify(ctx, claim, p, inconsistency); err != nil {
					r.reply(nil, err)
					delete(members, p)
				}
				continue
			}
			for _, v := range missed {
				c.step(map[int32]request{p: r}, StepMend)
				c.log.Warn("a view missed the last batch: it is mended", "view", v.Name, "partition", p, "from", at[p].First, "to", at[p].State)
				id := fence.WriterID(c.db, claim.Topic, p)
				if err := position.Mend(ctx, c.db, v, id, p, at[p], server, fence.Counts, claim.Params(p)); err != nil {
					return nil, err
				}
				c.metrics.mended.WithLabelValues(v.Name).Inc()
				mended[p], again = true, true
			}
		}
		if !again {
			return at, nil
		}
	}
}

// classify returns the error behind positions that cannot be. Several tables are not read in one snapshot: their positions mean
// something only if the fence, read after them, still counts.
func (c *coordinator) classify(ctx context.Context, claim *fence.Claim, p int32, inconsistency string) error {
	counts, err := claim.Counting(ctx, c.db)
	switch {
	case err != nil:
		return err
	case !counts[p]:
		return errors.New("another writer took over while the positions were read")
	case inconsistency == "":
		return errors.New("a view that was mended still misses the last batch")
	}
	return &position.Inconsistent{Topic: claim.Topic, Partition: p, What: inconsistency}
}

// countLostFences counts members in good standing whose fence another writer outbid.
func (c *coordinator) countLostFences(ctx context.Context, members map[int32]request) {
	var current map[int32]fence.Current
	for p, r := range members {
		last := r.w.last
		if last == nil {
			continue
		}
		if current == nil {
			var err error
			if current, err = fence.Read(ctx, c.db, string(c.entity.Topic)); err != nil {
				return // the recovery itself meets the same error
			}
		}
		if s, ok := current[p]; ok && s.Owner != last.Owner && !s.Held {
			c.metrics.fencesLost.WithLabelValues(string(c.entity.Topic)).Inc()
			r.w.lostFence(time.Now())
		}
	}
}

const detached = `
SELECT concat(table, ': part ', name, ' is detached as ', reason)
FROM system.detached_parts WHERE database = {database:String} AND table IN {tables:Array(String)} AND startsWith(reason, 'broken') ORDER BY table, name LIMIT 1`

// brokenParts names a part that the server detached as broken, "" when there is none: positions are maxima and would not show it.
func brokenParts(ctx context.Context, db Database, e *store.Entity) (what string, err error) {
	tables := "['" + e.Table + "'"
	for _, v := range e.Views() {
		tables += ",'" + v.Name + "'"
	}
	q := database.Query{SQL: detached, Params: database.Params{"database": db.Name(), "tables": tables + "]"}}
	if err := db.Rows(ctx, q, func(scan func(...any) error) error { return scan(&what) }); err != nil {
		return "", fmt.Errorf("look for broken parts of %s: %w", e.Table, err)
	}
	return what, nil
}

func (c *coordinator) step(members map[int32]request, s Step) {
	for _, r := range members {
		c.observe(r.w.tp, s)
		r.w.state.progress()
	}
}

func partitionsOf(members map[int32]request) []int32 {
	all := make([]int32, 0, len(members))
	for p := range members {
		all = append(all, p)
	}
	return all
}
