package worker

import (
	"bytes"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/delta"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/clickhouse"
	kafkalog "tallyhouse/schemas/kafka"
)

// Limits of a batch.
const (
	maxRows    = 50_000
	maxDeltas  = 80_000      // sums that it changes: a merge holds those of a position row of each part
	maxBytes   = 32 << 20    // of messages
	maxHistory = 4 * maxRows // a deleted reading takes its earlier versions with it
	smallBytes = 1 << 20     // up to here a batch grows without a permit
)

// batch is what is cut from a partition's records for one insert. It is used again and again, and keeps its memory.
type batch struct {
	first, next uint64 // offsets: from first up to, but without, next
	epoch       int32  // the leader epoch of the last message, -1 where that isn't known
	begun       time.Time
	records     int
	bytes       int // of messages
	deadLetters []kafka.DeadLetter
	rerouted    []rerouted
	stale       int
	conflicts   int

	block   *store.Block
	history *store.History
	changes []change
	changed changeIndex
	arena   []byte // of the contributions in changes
	sums    *delta.Sums
	order   *order
	large   bool // its memory is, or was once
	small   bool // it stays so, for it may wait long for Kafka, and has no permit
}

// rerouted is a message that was found in another partition than its key's.
type rerouted struct {
	offset  uint64
	message kafkago.Message
}

// change is an entity's newest state in a batch: its head, once the batch is stored.
type change struct {
	key         latest.Key
	version     int64
	contentHash uint64
	project     uint32
	deleted     bool
	row         uint32 // in the block
	from, to    int    // its contribution, in the arena
}

func newBatch(e *store.Entity) (*batch, error) {
	sums, err := delta.New(len(clickhouse.Rolls()), delta.MaxEntries) // one entity alone may have more than maxDeltas
	if err != nil {
		return nil, err
	}
	return &batch{block: e.NewBlock(), history: e.NewHistory(), sums: sums, order: newOrder()}, nil
}

// reset empties the batch, which begins at an offset then.
func (b *batch) reset(first uint64) {
	b.block.Reset()
	b.history.Reset()
	b.changed.reset()
	b.sums.Reset()
	*b = batch{
		first: first, next: first, epoch: -1, begun: time.Now(),
		deadLetters: b.deadLetters[:0], rerouted: b.rerouted[:0], block: b.block, history: b.history,
		changes: b.changes[:0], changed: b.changed, arena: b.arena[:0], sums: b.sums, order: b.order,
		large: b.large,
	}
}

func (b *batch) headOf(c *change) latest.Head {
	return latest.Head{
		Version: c.version, ContentHash: c.contentHash, Project: c.project, Deleted: c.deleted, Contribution: b.arena[c.from:c.to],
	}
}

// sum adds the summands of a state of an entity to the batch's sums, or takes them away. change is the entity's place
// among the changes.
func (b *batch) sum(change int, tenant, project uint32, state []summand, sign int64) error {
	for i := range state {
		s := &state[i]
		key := s.sumKey(tenant, project, uint32(change))
		if err := b.sums.Add(int(s.roll), &key, s.amounts[:len(s.roll.Roll().Amounts)], sign); err != nil {
			return fmt.Errorf("sum up a batch: %w", err)
		}
	}
	return nil
}

// updateHeads makes the batch's newest states the heads, which have its position from now on.
func (b *batch) updateHeads(h *heads, life string) error {
	h.life = "" // until all are there
	for i := range b.changes {
		if err := h.table.Put(b.changes[i].key, b.headOf(&b.changes[i])); err != nil {
			return fmt.Errorf("remember a batch: %w", err)
		}
	}
	h.life, h.position = life, b.next
	return nil
}

// refuse makes a dead letter of a message. It has copies: the record's memory is used again.
func (b *batch) refuse(tp kafkalog.Partition, r *kgo.Record, reason string) {
	b.deadLetters = append(b.deadLetters, kafka.DeadLetter{
		Topic: tp.Topic, Partition: tp.Number, Offset: r.Offset, Key: bytes.Clone(r.Key), Reason: reason, At: time.Now().UTC(),
		Value: bytes.Clone(r.Value),
	})
}

// refuseUnread makes one dead letter of messages that nobody can unpack, from an offset on, and passes them.
func (b *batch) refuseUnread(tp kafkalog.Partition, offset int64, unread *kafkalog.UnreadError) {
	b.deadLetters = append(b.deadLetters, kafka.DeadLetter{
		Topic: tp.Topic, Partition: tp.Number, Offset: offset, At: time.Now().UTC(),
		Reason: (&kafkalog.UnreadError{Offset: offset, Next: unread.Next, Cause: unread.Cause}).Error() +
			". Have their producer send them again, in smaller batches or compressed otherwise",
	})
	b.next, b.epoch = uint64(unread.Next), -1
}

// sentTogether is how many bytes of dead letters and re-routed messages, roughly, are sent before that is remembered.
const sentTogether = 2 << 20

// outputs are the first of the dead letters and re-routed messages from an offset on, and the offset behind which the others lie.
func (b *batch) outputs(from uint64) (letters []kafka.DeadLetter, messages []rerouted, next uint64) {
	moreLetters := b.deadLetters[sort.Search(len(b.deadLetters), func(i int) bool { return uint64(b.deadLetters[i].Offset) >= from }):]
	more := b.rerouted[sort.Search(len(b.rerouted), func(i int) bool { return b.rerouted[i].offset >= from }):]
	for bytes := 0; bytes < sentTogether; {
		switch {
		case len(moreLetters) == 0 && len(more) == 0:
			return letters, messages, b.next
		case len(more) == 0 || len(moreLetters) > 0 && uint64(moreLetters[0].Offset) < more[0].offset:
			l := moreLetters[0]
			letters, moreLetters, next = append(letters, l), moreLetters[1:], uint64(l.Offset)+1
			bytes += len(l.Key) + len(l.Value) + 200
		default:
			m := more[0]
			messages, more, next = append(messages, m), more[1:], m.offset+1
			bytes += len(m.message.Key) + len(m.message.Value) + 200
		}
	}
	return letters, messages, next
}

// reroute passes a message to the partition that its key belongs to. It isn't applied here; versions make the detour
// harmless. It is a copy: the record's memory is used again.
func (b *batch) reroute(tp kafkalog.Partition, r *kgo.Record) {
	m := kafkago.Message{Topic: tp.Topic, Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value)}
	for _, h := range r.Headers {
		m.Headers = append(m.Headers, kafkago.Header{Key: strings.Clone(h.Key), Value: bytes.Clone(h.Value)})
	}
	from := strconv.Itoa(int(tp.Number)) + "/" + strconv.FormatInt(r.Offset, 10)
	m.Headers = append(m.Headers, kafkago.Header{Key: "rerouted-from", Value: []byte(from)})
	b.rerouted = append(b.rerouted, rerouted{uint64(r.Offset), m})
}
