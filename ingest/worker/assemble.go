package worker

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/analytics"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/delta"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// assembler turns records into a batch: what is newer than its head becomes a row; the rest is dropped and counted,
// re-routed, or becomes a dead letter.
type assembler struct {
	entity     *store.Entity
	tp         kafkalog.Partition
	partitions int
	heads      *heads
	rows       int // most rows of a batch, now

	reader       *events.Reader
	ahead        []latest.Key // see expect
	contribution analytics.Contribution
	now, was     []summand
	keys         [][]byte
	magnitudes   []delta.Magnitudes // by roll
}

func newAssembler(e *store.Entity, tp kafkalog.Partition) (*assembler, error) {
	reader, err := events.NewReader(e.Topic)
	return &assembler{entity: e, tp: tp, reader: reader}, err
}

// expect has the heads of the next records at hand when apply asks for them, and returns their keys, good until the next call.
func (a *assembler) expect(records []*kgo.Record) []latest.Key {
	a.ahead = a.ahead[:0]
	for _, r := range records {
		tenant, id, _ := cutKey(r.Key)
		a.ahead = append(a.ahead, a.heads.hasher.Key(tenant, id))
	}
	a.heads.table.Prefetch(a.ahead)
	return a.ahead
}

// full reports whether nothing more fits.
func (a *assembler) full(b *batch) bool {
	// A record that is only a dead letter or re-routed takes its bytes too.
	return b.block.Rows() >= a.rows || b.sums.Len() >= maxDeltas || b.bytes >= maxBytes || b.records >= 4*maxRows ||
		b.history.Len() >= maxHistory || b.small && (b.bytes >= smallBytes || b.records >= manyMore)
}

// apply adds a record to the batch, with the key that expect has for it; false when it is for the next one, and the batch is as
// before. An error means that the heads can take no more: they are good for nothing then.
func (a *assembler) apply(b *batch, r *kgo.Record, key latest.Key) (bool, error) {
	fits, err := a.accept(b, r, key)
	if !fits || err != nil {
		return false, err
	}
	b.records++
	b.bytes += size(r)
	b.next, b.epoch = uint64(r.Offset)+1, r.LeaderEpoch
	return true, nil
}

func (a *assembler) accept(b *batch, r *kgo.Record, key latest.Key) (bool, error) {
	if r.Attrs.IsControl() {
		return true, nil
	}
	if r.Value == nil {
		a.tombstone(b, r, key)
		return true, nil
	}
	e, content, err := a.reader.Read(r.Key, r.Value)
	if err != nil {
		b.refuse(a.tp, r, err.Error())
		return true, nil
	}
	hash := kafka.Hash(r.Key) & 0x7fffffff
	if right := int32(int(hash) % a.partitions); right != a.tp.Number {
		b.reroute(a.tp, r)
		return true, nil
	}
	return a.change(b, r, key, e, content, hash)
}

// tombstone judges a null value: it has no version, so it can't delete. After a delete it is compaction's housekeeping.
func (a *assembler) tombstone(b *batch, r *kgo.Record, key latest.Key) {
	if kafka.Partition(r.Key, a.partitions) != int(a.tp.Number) {
		b.refuse(a.tp, r, "the value is null and its key belongs to another partition")
		return
	}
	if head, ok, _ := a.head(b, key); !ok || !head.Deleted {
		b.refuse(a.tp, r, nullValue)
	}
}

const nullValue = "the value is null: it has no version, so it can't delete; send an event with op delete"

// cutKey takes a message's key apart: a tenant has no slash.
func cutKey(key []byte) (tenant, id []byte, ok bool) {
	for i, c := range key {
		if c == '/' {
			return key[:i], key[i+1:], true
		}
	}
	return nil, nil, false
}

// head is an entity's latest state: as the batch has it, and then where among its changes, else as it is stored. Its
// contribution is good until the next change.
func (a *assembler) head(b *batch, key latest.Key) (_ latest.Head, ok bool, change int) {
	if i, ok := b.changed.find(b.changes, key); ok {
		return b.headOf(&b.changes[i]), true, i
	}
	head, ok := a.heads.table.Get(key)
	return head, ok, notInBatch
}

const notInBatch = -1

// change takes in an entity's new state, unless what is known is as new. key is of the message's own key, which the reader found to be
// the entity's.
func (a *assembler) change(b *batch, r *kgo.Record, key latest.Key, e events.Event, content uint64, hash uint32) (bool, error) {
	before, existed, at := a.head(b, key)
	if existed && e.Version <= before.Version {
		if e.Version == before.Version && content != before.ContentHash {
			b.conflicts++
		} else {
			b.stale++
		}
		return true, nil
	}
	var err error
	if a.contribution, err = a.entity.Contribution(a.contribution[:0], e.ID, e.Data); err != nil {
		b.refuse(a.tp, r, err.Error())
		return true, nil
	}
	row, project, err := a.row(r, e, content, hash, before.Project)
	if err != nil {
		return false, err
	}
	again := at != notInBatch
	if !again {
		at = len(b.changes)
	}
	if fits, err := a.sumUp(b, e, before, project, at); !fits || err != nil {
		return false, err
	}
	if again {
		b.block.Drop(b.changes[at].row)
	}
	if existed && project != before.Project {
		gone := row
		gone.Project, gone.Deleted, gone.Moved, gone.Data = string(a.heads.texts.Text(before.Project)), true, true, nil
		b.block.Append(&gone)
		b.history.Add(&gone, uint64(before.Version))
	}
	b.history.Add(&row, uint64(before.Version))
	c := change{
		key: key, version: e.Version, contentHash: content, project: project, deleted: row.Deleted,
		row: b.block.Append(&row), from: len(b.arena),
	}
	b.arena = a.heads.shapes.pack(b.arena, a.now)
	c.to = len(b.arena)
	if again {
		b.changes[at] = c
	} else {
		b.changes = append(b.changes, c)
		b.changed.add(b.changes)
	}
	return true, nil
}

// sumUp adds to the batch's sums what an entity contributes now, less what its head did; false when there is no room for
// that. at is the entity's place among the changes.
func (a *assembler) sumUp(b *batch, e events.Event, before latest.Head, project uint32, at int) (fits bool, err error) {
	if a.now, err = a.heads.numbered(a.now[:0], e.ID, a.contribution); err != nil {
		return false, err
	}
	tenant, err := a.heads.texts.NumberString(e.TenantID)
	if err != nil {
		return false, err
	}
	a.was = a.heads.shapes.unpack(a.was[:0], before.Contribution)
	now, was := a.now, a.was
	if project == before.Project {
		now, was = differing(now, was)
	}
	if !a.fits(b, now, was) {
		return false, nil
	}
	return true, errors.Join(b.sum(at, tenant, project, now, 1), b.sum(at, tenant, before.Project, was, -1))
}

// row is the row of an entity's new state, and the number of its project: a delete carries none, and keeps the one before.
func (a *assembler) row(r *kgo.Record, e events.Event, content uint64, hash, before uint32) (row store.Row, project uint32, err error) {
	row = store.Row{
		Tenant: e.TenantID, ID: e.ID, Version: uint64(e.Version), Deleted: e.Op == events.Delete, At: e.At, Data: e.Data,
		SrcOffset: uint64(r.Offset), KeyHash: hash, ContentHash: content,
	}
	if e.Data == nil {
		row.Project = string(a.heads.texts.Text(before))
		return row, before, nil
	}
	row.Project = a.entity.Project(e.ID, e.Data)
	project, err = a.heads.texts.NumberString(row.Project)
	return row, project, err
}

// fits reports whether the batch has room for a change: for its entries, unless it would be the first, and for its
// amounts, which travel in 64 bits. What an older change of the same entity took stays counted: the bounds may be
// early, never late.
func (a *assembler) fits(b *batch, both ...[]summand) bool {
	if a.magnitudes == nil {
		a.magnitudes = make([]delta.Magnitudes, len(clickhouse.Rolls()))
	}
	clear(a.magnitudes)
	entries := 0
	for _, state := range both {
		entries += len(state)
		for i := range state {
			a.magnitudes[state[i].roll].Add(state[i].amounts[:])
		}
	}
	return (len(b.changes) == 0 || b.sums.Len()+entries <= maxDeltas) && b.sums.Fits(entries, a.magnitudes)
}

// finish adds the position row with all that the batch changes in the sums, and puts both in the order of their tables.
func (a *assembler) finish(b *batch) {
	b.block.AppendPosition(a.tp.Number, b.next, b.epoch, b.begun)
	text := func(part uint32) []byte {
		if part&ownBit != 0 {
			return b.block.ID(b.changes[part&^ownBit].row)
		}
		return a.heads.texts.Text(part)
	}
	for _, r := range b.order.of(b.sums, a.heads.texts.Len(), text) {
		key, amounts := b.sums.Entry(r.entry)
		roll := clickhouse.RollID(key[rollPart])
		a.keys = a.keys[:0]
		for _, part := range key[keyParts:][:len(roll.Roll().Keys)] {
			a.keys = append(a.keys, text(part))
		}
		b.block.AddDelta(roll, text(key[tenantPart]), text(key[projectPart]), a.keys, amounts)
	}
	b.block.Sort()
}
