package worker

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/analytics"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/heads"
	"tallyhouse/schemas/events"
)

// Limits of a batch. Rows x contributions stay below the block size that the inserts ask for.
const (
	maxRows          = 50_000
	maxContributions = 400_000
	maxBytes         = 10 << 20
	smallBytes       = 1 << 20 // up to here a batch grows without a block
	maxAbsolute      = 1 << 62 // of one measure, exclusive: the views sum in 64 bits
)

// change is an entity's newest state in a batch, and the head that it replaces.
type change struct {
	event         events.Event
	offset        uint64
	keyHash       uint32
	contentHash   uint64
	project       string
	contributions analytics.Contributions
	before        heads.Head
	existed       bool
}

// batch is what is cut from a partition's records for one insert.
type batch struct {
	first, next uint64 // offsets: from first up to, but without, next
	records     int
	changes     map[string]*change
	sorted      []string
	deadLetters []kafka.DeadLetter
	rerouted    []kafkago.Message
	stale       int
	conflicts   int

	contributions int
	bytes         int
	block         *store.Block // to lay it out in; nil until it is large, or whole
	absolute      []int64      // per measure
	scratch       []int64
	begun         time.Time
}

func newBatch(first uint64, measures int) *batch {
	return &batch{first: first, next: first, changes: map[string]*change{}, absolute: make([]int64, measures), begun: time.Now()}
}

// assembler turns records into a batch: what is newer than its head becomes a change; the rest is dropped and counted, re-routed, or
// becomes a dead letter.
type assembler struct {
	entity     *store.Entity
	tp         topicPartition
	partitions int
	heads      *heads.Partition
	rows       int                   // most rows of a batch, now
	prefetched map[string]heads.Head // heads of the records that are applied next, see prefetch
}

// prefetchSize is how many records have their heads looked up at once.
const prefetchSize = 1024

// prefetch looks up the heads of the records that are applied next.
func (a *assembler) prefetch(b *batch, records []*kgo.Record) (err error) {
	keys := make([]string, 0, len(records))
	for _, r := range records {
		if _, pending := b.changes[string(r.Key)]; !pending {
			keys = append(keys, string(r.Key))
		}
	}
	a.prefetched, err = a.heads.Get(keys...)
	return err
}

// full reports whether nothing more fits.
func (a *assembler) full(b *batch) bool {
	// A record that becomes a dead letter or is re-routed takes its bytes too.
	return len(b.changes) >= a.rows || b.contributions >= maxContributions/2 || b.bytes >= maxBytes || b.records >= 4*maxRows
}

// apply adds a record, whose head was prefetched, to the batch. It returns false when the record is for the next batch; this one is then
// unchanged.
func (a *assembler) apply(b *batch, r *kgo.Record) bool {
	if !a.accept(b, r) {
		return false
	}
	b.records++
	b.bytes += size(r)
	b.next = uint64(r.Offset) + 1
	return true
}

func (a *assembler) accept(b *batch, r *kgo.Record) bool {
	if r.Attrs.IsControl() {
		return true
	}
	if r.Value == nil {
		a.tombstone(b, r)
		return true
	}
	e, err := events.Decode(a.entity.Topic, r.Key, r.Value)
	if err != nil {
		b.refuse(a.tp, r, err.Error())
		return true
	}
	hash := kafka.Hash(r.Key) & 0x7fffffff
	if right := int32(int(hash) % a.partitions); right != a.tp.partition {
		b.reroute(a.tp, r)
		return true
	}
	return a.upsert(b, r, e, hash)
}

// tombstone handles a null value: it has no version, so it can't delete. After a delete it is what compaction needs, and is dropped.
func (a *assembler) tombstone(b *batch, r *kgo.Record) {
	if kafka.Partition(r.Key, a.partitions) != int(a.tp.partition) {
		b.refuse(a.tp, r, "the value is null and its key belongs to another partition")
		return
	}
	deleted := a.prefetched[string(r.Key)].Deleted
	if c, ok := b.changes[string(r.Key)]; ok {
		deleted = c.event.Op == events.Delete
	}
	if !deleted {
		b.refuse(a.tp, r, nullValue)
	}
}

const nullValue = "the value is null: it has no version, so it can't delete; send an event with op delete"

func (a *assembler) upsert(b *batch, r *kgo.Record, e events.Event, hash uint32) bool {
	key := e.Key()
	content := e.ContentHash()
	c := &change{event: e, offset: uint64(r.Offset), keyHash: hash, contentHash: content}
	pending, ok := b.changes[key]
	if ok {
		if a.notNewer(b, e.Version, content, pending.event.Version, pending.contentHash) {
			return true
		}
		c.before, c.existed = pending.before, pending.existed
	} else {
		h, existed := a.prefetched[key]
		if existed && a.notNewer(b, e.Version, content, store.Version(h.RowVersion), h.ContentHash) {
			return true
		}
		c.before, c.existed = h, existed
	}
	var err error
	if c.contributions, err = a.entity.Contributions(e.ID, e.Data); err != nil {
		b.refuse(a.tp, r, err.Error())
		return true
	}
	switch {
	case e.Data != nil:
		c.project = a.entity.Project(e.ID, e.Data)
	case c.existed:
		c.project = c.before.Project // a delete carries no project
	}
	return b.put(key, c)
}

// notNewer reports whether a version adds nothing to the existing one, and counts why.
func (a *assembler) notNewer(b *batch, version int64, content uint64, existing int64, existingContent uint64) bool {
	switch {
	case version > existing:
		return false
	case version == existing && content != existingContent:
		b.conflicts++
	default:
		b.stale++
	}
	return true
}

// put takes a change in, unless the batch would grow beyond what one insert may hold.
func (b *batch) put(key string, c *change) bool {
	s := len(b.absolute)
	grown := append(b.scratch[:0], b.absolute...)
	if s > 0 {
		for _, part := range [][]int64{c.contributions.Sums, c.before.Contributions.Sums} {
			for i, v := range part {
				sum := grown[i%s] + max(v, -v)
				if sum < 0 || sum >= maxAbsolute {
					return false
				}
				grown[i%s] = sum
			}
		}
	}
	n := entries(c.contributions, s) + entries(c.before.Contributions, s)
	if len(b.changes) > 0 && b.contributions+n > maxContributions {
		return false
	}
	// What an older change of the same entity took stays counted: a bound may be early, never late.
	b.absolute, b.scratch = grown, b.absolute
	b.contributions += n
	b.changes[key] = c
	return true
}

func entries(c analytics.Contributions, measures int) int {
	if measures == 0 {
		return 0
	}
	return len(c.Sums) / measures
}

func (b *batch) refuse(tp topicPartition, r *kgo.Record, reason string) {
	b.deadLetters = append(b.deadLetters, kafka.DeadLetter{
		Topic: tp.topic, Partition: tp.partition, Offset: r.Offset, Key: r.Key, Reason: reason, At: time.Now().UTC(), Value: r.Value,
	})
}

// reroute sends a message to the partition that its key belongs to. It isn't applied here; versions make the detour harmless.
func (b *batch) reroute(tp topicPartition, r *kgo.Record) {
	m := kafkago.Message{Topic: tp.topic, Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		m.Headers = append(m.Headers, kafkago.Header{Key: h.Key, Value: h.Value})
	}
	from := strconv.Itoa(int(tp.partition)) + "/" + strconv.FormatInt(r.Offset, 10)
	m.Headers = append(m.Headers, kafkago.Header{Key: "rerouted-from", Value: []byte(from)})
	b.rerouted = append(b.rerouted, m)
}

// fill lays the batch out as rows of the state table, in the order of its key. A change of project makes two rows. It can be done once:
// what only the rows need is let go, because a batch spends most of its life in its insert.
func (b *batch) fill(block *store.Block, tp topicPartition) {
	block.Append(store.PositionRow(tp.partition, b.first, b.next, b.begun))
	for _, key := range b.keys() {
		c := b.changes[key]
		row := store.Row{
			Tenant: c.event.TenantID, Project: c.project, ID: c.event.ID, RowVersion: store.RowVersion(c.event.Version), Deleted: c.event.Op == events.Delete,
			At: c.event.At, Data: c.event.Data, SrcOffset: c.offset, KeyHash: c.keyHash, ContentHash: c.contentHash, After: c.contributions,
		}
		if c.existed && c.before.Project != c.project {
			gone := row
			gone.Project, gone.Deleted, gone.Moved, gone.Data = c.before.Project, true, true, nil
			gone.Before, gone.After = c.before.Contributions, analytics.Contributions{}
			block.Append(gone)
		} else if c.existed {
			row.Before = c.before.Contributions
		}
		block.Append(row)
		c.event.Data, c.before = nil, heads.Head{}
	}
}

// keys are those of the batch's changes in order, which both the table and the heads take in faster.
func (b *batch) keys() []string {
	if len(b.sorted) != len(b.changes) {
		b.sorted = slices.Sorted(maps.Keys(b.changes))
	}
	return b.sorted
}

// updateHeads writes the batch's newest states into the heads, with the position that they have reached.
func (b *batch) updateHeads(latest *heads.Partition, life string) error {
	u := latest.Update()
	for _, key := range b.keys() {
		c := b.changes[key]
		h := heads.Head{
			RowVersion: store.RowVersion(c.event.Version), Project: c.project, Deleted: c.event.Op == events.Delete,
			ContentHash: c.contentHash, Contributions: c.contributions,
		}
		if err := u.Set(key, h); err != nil {
			return err
		}
	}
	if err := u.Commit(heads.Checkpoint{Life: life, Position: b.next}); err != nil {
		return fmt.Errorf("update the heads: %w", err)
	}
	return nil
}
