package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
)

// Database is what the protocol needs of the server that holds a shard.
type Database interface {
	fence.Database
	Insert(ctx context.Context, st database.Statement) (written uint64, err error)
	scanner
}

var _ Database = (*database.Server)(nil)

// stand is where a recovered partition's writer stands. It is good for as long as every insert made from it counted.
type stand struct {
	claim      *fence.Claim
	generation int32
	server     string // serverUUID()
	life       string
	partitions int // of the topic, by which keys are hashed
	position   uint64
	feed       *feed
	pending    *batch // cut and not yet inserted: its records are no longer in the feed
	gap        bool   // the log begins behind the position: a batch of the position row alone crosses over
	start      uint64
}

// request asks a desk for one partition's recovery.
type request struct {
	w      *writer
	known  *stand // what the writer stands on and only wants confirmed, nil when in doubt
	answer chan answer
}

type answer struct {
	stand *stand
	err   error
}

// desk recovers the partitions of one topic that are kept on one server. Those that are in doubt at the same moment are recovered
// together: a fence for many costs what one costs.
type desk struct {
	entity   *store.Entity
	db       Database
	log      *slog.Logger
	asking   *kgo.Client // for questions about the log
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

func newDesk(d desk) *desk {
	d.requests = make(chan request)
	d.blocks = make(chan *store.Block, concurrentBatches)
	for range concurrentBatches {
		d.blocks <- nil
	}
	return &d
}

// lend waits for an empty block for the batch, unless it has one; takeBack has it returned.
func (d *desk) lend(ctx context.Context, b *batch) error {
	if b.block != nil {
		return nil
	}
	select {
	case b.block = <-d.blocks:
		if b.block == nil {
			b.block = d.entity.NewBlock()
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// takeBack gets the batch's block back. One whose insert failed may still be read by the connection: it is not used again.
func (d *desk) takeBack(b *batch, failed error) {
	if b == nil || b.block == nil {
		return
	}
	if failed != nil {
		b.block = nil
	} else {
		b.block.Reset()
	}
	d.blocks <- b.block
	b.block = nil
}

// ask has a partition recovered. It waits for the outcome.
func (d *desk) ask(ctx context.Context, w *writer, known *stand) (*stand, error) {
	r := request{w, known, make(chan answer, 1)}
	select {
	case d.requests <- r:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case a := <-r.answer:
		return a.stand, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// gather is how long a desk waits for further partitions that are in doubt for the same reason.
const gather = 5 * time.Millisecond

// run recovers until the context ends.
func (d *desk) run(ctx context.Context) {
	for {
		var together []request
		select {
		case r := <-d.requests:
			together = append(together, r)
		case <-ctx.Done():
			return
		}
		for more := time.After(gather); more != nil; {
			select {
			case r := <-d.requests:
				together = append(together, r)
			case <-more:
				more = nil
			}
		}
		d.answer(ctx, together)
	}
}

func (d *desk) answer(ctx context.Context, together []request) {
	doubtful, err := d.confirm(ctx, together)
	if err == nil && len(doubtful) > 0 {
		err = d.recover(ctx, doubtful)
	}
	if err != nil {
		for _, r := range doubtful {
			r.reply(nil, err)
		}
	}
}

// reply answers once; later answers are dropped.
func (r request) reply(s *stand, err error) {
	select {
	case r.answer <- answer{s, err}:
	default:
	}
}

// confirm answers those that know where they stand and whose fences still are the ones that count; it returns the others.
func (d *desk) confirm(ctx context.Context, together []request) (doubtful []request, err error) {
	var standing map[int32]fence.Standing
	for _, r := range together {
		if r.known == nil {
			doubtful = append(doubtful, r)
			continue
		}
		if standing == nil {
			if standing, err = fence.Read(ctx, d.db, string(d.entity.Topic)); err != nil {
				return together, err
			}
		}
		p := r.w.tp.partition
		generation, err := d.members.current(ctx, r.w.tp)
		if err != nil {
			r.reply(nil, err)
			continue
		}
		if standing[p].Owner != r.known.claim.Owner || standing[p].Epoch != r.known.claim.Epochs[p] {
			doubtful = append(doubtful, r)
			continue
		}
		confirmed := *r.known
		confirmed.generation = generation
		r.reply(&confirmed, nil)
	}
	return doubtful, nil
}

// recover is the one answer to every doubt (docs/architecture.md, Recover): fence, kill, identity, positions, heads. What it cannot
// answer for a single partition is that partition's error; its own error is that of all.
func (d *desk) recover(ctx context.Context, together []request) error {
	topic := string(d.entity.Topic)
	members := map[int32]request{}
	for _, r := range together {
		d.metrics.recoveries.WithLabelValues(topic).Inc()
		if _, err := d.members.current(ctx, r.w.tp); err != nil {
			r.reply(nil, err)
			continue
		}
		members[r.w.tp.partition] = r
	}
	d.step(members, StepFence)
	d.countLostFences(ctx, members)
	claim, held, err := fence.Put(ctx, d.db, topic, partitionsOf(members))
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
	d.step(members, StepKill)
	var prefixes []string
	for p := range members {
		prefixes = append(prefixes, fence.PartitionPrefix(d.db, topic, p))
	}
	if err := fence.Kill(ctx, d.db, prefixes...); err != nil {
		return err
	}
	d.step(members, StepIdentity)
	common, ranges, err := d.identify(ctx, claim, members)
	if err != nil {
		return err
	}
	d.step(members, StepPositions)
	at, err := d.settle(ctx, claim, common.server, members)
	if err != nil {
		return err
	}
	stands := map[int32]*stand{}
	for p, r := range members {
		if int(p) >= len(ranges) { // the group knew of more partitions than the broker that was asked
			r.reply(nil, fmt.Errorf("partition %d is not among the %d that %s has", p, len(ranges), topic))
			delete(members, p)
			continue
		}
		s := *common
		s.claim, s.position = claim, at[p].State
		switch log := ranges[p]; {
		case s.position > uint64(log.End):
			members[p].reply(nil, position.Refuse("partition %d of %s stands at offset %d, but its log ends at %d: this is another log than the one that was ingested; "+
				"connect the right cluster, or ingest into an empty database", p, topic, s.position, log.End))
			delete(members, p)
			continue
		case s.position < uint64(log.Start) && s.position > 0:
			s.gap, s.start = true, uint64(log.Start)
		case s.position == 0:
			s.start = uint64(log.Start)
		}
		stands[p] = &s
	}
	d.step(members, StepHeads)
	if err := d.prepareHeads(ctx, stands, members); err != nil {
		return err
	}
	d.step(members, StepStand)
	for p, r := range members {
		s := stands[p]
		generation, err := d.members.current(ctx, r.w.tp)
		if err != nil {
			r.reply(nil, err)
			continue
		}
		s.generation = generation
		s.feed = d.source.open(r.w.tp, max(s.position, s.start))
		d.log.Info("partition stands", "topic", topic, "partition", p, "position", s.position)
		r.reply(s, nil)
	}
	return nil
}

// identify compares what the database knows of the topic with the topic, the server and this binary. The first writer of all writes
// it down.
func (d *desk) identify(ctx context.Context, claim *fence.Claim, members map[int32]request) (*stand, []kafka.Range, error) {
	topic := string(d.entity.Topic)
	ids, err := kafka.Identities(ctx, d.asking, topic)
	if err != nil {
		return nil, nil, err
	}
	server, err := position.ServerUUID(ctx, d.db)
	if err != nil {
		return nil, nil, err
	}
	known, ok, err := position.ReadStream(ctx, d.db, topic)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		if known, err = d.introduce(ctx, claim, partitionsOf(members)[0], ids[topic], server); err != nil {
			return nil, nil, err
		}
	}
	if err := known.Check(topic, ids[topic], server); err != nil {
		return nil, nil, err
	}
	ranges, err := kafka.Ranges(ctx, d.asking, topic)
	if err != nil {
		return nil, nil, err
	}
	if len(ranges) != int(known.Partitions) {
		return nil, nil, errors.New("the topic's partitions changed meanwhile")
	}
	return &stand{server: server, life: known.Life, partitions: int(known.Partitions)}, ranges, nil
}

// introduce writes down which topic this database follows from now on.
func (d *desk) introduce(ctx context.Context, claim *fence.Claim, partition int32, id kafka.Identity, server string) (position.Stream, error) {
	topic := string(d.entity.Topic)
	var rows uint64
	err := d.db.Rows(ctx, database.Query{SQL: "SELECT count() FROM " + d.entity.Table + " WHERE tenant = ''"}, func(scan func(...any) error) error { return scan(&rows) })
	if err != nil {
		return position.Stream{}, fmt.Errorf("see whether %s is empty: %w", d.entity.Table, err)
	}
	if rows > 0 {
		return position.Stream{}, position.Refuse("%s holds data, but nothing says of which topic: restore the table streams, or ingest into an empty database", d.entity.Table)
	}
	s := position.Stream{Revision: 1, ClusterID: id.Cluster, TopicID: id.Topic, Partitions: uint32(id.Partitions), Server: server, Formula: store.Formula, Life: position.NewLife()}
	if err := position.WriteStream(ctx, d.db, topic, fence.WriterID(d.db, topic, partition), s, fence.Counts, claim.Params(partition)); err != nil {
		return position.Stream{}, err
	}
	s, _, err = position.ReadStream(ctx, d.db, topic) // another worker's may be the one that counts
	return s, err
}

// settle brings the views of the partitions to where their table is and returns where that is. A partition that stands strangely
// leaves members.
func (d *desk) settle(ctx context.Context, claim *fence.Claim, server string, members map[int32]request) (map[int32]position.Positions, error) {
	mended := map[int32]bool{}
	for {
		at, err := position.Read(ctx, d.db, d.entity, partitionsOf(members))
		if err != nil {
			return nil, err
		}
		broken, err := brokenParts(ctx, d.db, d.entity)
		if err != nil {
			return nil, err
		}
		again := false
		for p, r := range members {
			missed, strange := at[p].Torn(d.entity.Views())
			if strange == "" && broken != "" {
				strange = broken
			}
			if strange != "" || mended[p] && len(missed) > 0 {
				if err := d.judge(ctx, claim, p, strange); err != nil {
					r.reply(nil, err)
					delete(members, p)
				}
				continue
			}
			for _, v := range missed {
				d.step(map[int32]request{p: r}, StepMend)
				d.log.Warn("a view missed the last batch: it is mended", "view", v.Name, "partition", p, "from", at[p].First, "to", at[p].State)
				id := fence.WriterID(d.db, claim.Topic, p)
				if err := position.Mend(ctx, d.db, v, id, p, at[p], server, fence.Counts, claim.Params(p)); err != nil {
					return nil, err
				}
				d.metrics.mended.WithLabelValues(v.Name).Inc()
				mended[p], again = true, true
			}
		}
		if !again {
			return at, nil
		}
	}
}

// judge tells what to make of positions that cannot be. Several tables are no one snapshot: only while the fence still counts, read
// after the positions, do they say anything.
func (d *desk) judge(ctx context.Context, claim *fence.Claim, p int32, strange string) error {
	counts, err := claim.Counting(ctx, d.db)
	switch {
	case err != nil:
		return err
	case !counts[p]:
		return errors.New("another writer took over while the positions were read")
	case strange == "":
		return errors.New("a view that was mended still misses the last batch")
	}
	return &position.Strange{Topic: claim.Topic, Partition: p, What: strange}
}

// countLostFences notices members in good standing whose fence somebody else outbid.
func (d *desk) countLostFences(ctx context.Context, members map[int32]request) {
	var standing map[int32]fence.Standing
	for p, r := range members {
		last := r.w.last
		if last == nil {
			continue
		}
		if standing == nil {
			var err error
			if standing, err = fence.Read(ctx, d.db, string(d.entity.Topic)); err != nil {
				return // the recovery itself meets the same error
			}
		}
		if s, ok := standing[p]; ok && s.Owner != last.Owner && !s.Held {
			d.metrics.fencesLost.WithLabelValues(string(d.entity.Topic)).Inc()
			r.w.lostFence(time.Now())
		}
	}
}

const detached = `
SELECT concat(table, ': part ', name, ' is detached as ', reason)
FROM system.detached_parts WHERE database = {database:String} AND table IN {tables:Array(String)} AND startsWith(reason, 'broken') ORDER BY table, name LIMIT 1`

// brokenParts tells of a part that the server put aside: a position is a maximum and would not show it.
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

func (d *desk) step(members map[int32]request, s Step) {
	for _, r := range members {
		d.observe(r.w.tp, s)
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
