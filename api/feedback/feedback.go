// Package feedback takes what clients say about the API (docs/api.md#feedback): it reads what they send, keeps it on its
// Kafka topic, and sees to it that nobody says more in a day than they may.
//
// The topic is the only memory. All messages of a caller are in one partition, so they have one order, the same for all
// instances: the messages that count are those with fewer than Most that count in the day before them. An instance
// sends a message, reads the partition up to it, and knows. So the limit holds over all instances, restarts, and
// requests at the same time, without anything that they would have to share beside the topic.
package feedback

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/kafka"
)

// Most messages of a key or user count in any Day.
const (
	Most = 20
	Day  = 24 * time.Hour
)

// history is how far back a reader begins. Two days tell which messages of the last one count.
const history = 2*Day + time.Hour

// Sender puts a message on the topic, in a partition that depends on beside alone, and returns where all replicas have
// it. What fails may have been stored all the same.
type Sender interface {
	Send(ctx context.Context, topic string, key, value, beside []byte) (partition int32, offset int64, err error)
}

// LimitError says that the caller has sent as much as a day allows.
type LimitError struct{ Wait time.Duration }

func (e *LimitError) Error() string { return fmt.Sprintf("%d messages in a day are enough", Most) }

// Receipt says what has been received, and is kept.
type Receipt struct {
	ID         string
	ReceivedAt time.Time
}

// Log is the topic as one instance of the API uses it. Its methods may be called from several goroutines; one at a time
// works.
type Log struct {
	options []kgo.Opt
	sender  Sender
	clock   func() time.Time

	turn chan struct{} // holds an entry while somebody works
	// What was read of the topic. Valid while the topic is this one.
	topic     string // Kafka's id of it
	positions map[kafka.Partition]int64
	counted   rule
}

// NewLog makes a log on the cluster that the options name. It does nothing until the first message.
func NewLog(options []kgo.Opt, sender Sender, clock func() time.Time) *Log {
	return &Log{options: options, sender: sender, clock: clock, turn: make(chan struct{}, 1)}
}

// Receive keeps feedback of a caller. It is a LimitError when the caller has used up the day; any other error leaves
// open whether it was kept.
func (l *Log) Receive(ctx context.Context, tenant, principal string, in Input) (Receipt, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return Receipt{}, fmt.Errorf("keep feedback: %w", ctx.Err())
	}
	client, err := kgo.NewClient(l.options...)
	if err != nil {
		return Receipt{}, fmt.Errorf("keep feedback: connect to Kafka: %w", err)
	}
	defer client.Close()
	ends, err := l.open(ctx, client)
	if err != nil {
		return Receipt{}, fmt.Errorf("keep feedback: %w", err)
	}
	now := l.clock().UTC().Truncate(time.Millisecond)
	l.counted.forget(now.Add(-history))
	if err := l.read(ctx, ends); err != nil {
		return Receipt{}, fmt.Errorf("keep feedback: %w", err)
	}
	by := tenant + "/" + principal
	if wait, full := l.counted.full(by, now); full {
		return Receipt{}, &LimitError{wait}
	}

	id := uuid.New().String()
	e := events.Event{Envelope: events.Envelope{ID: id, TenantID: tenant, Version: 1, Op: events.Upsert, At: now},
		Data: &events.Feedback{Category: in.Category, Message: in.Message, Endpoint: in.Endpoint, Agent: in.Agent,
			RequestID: in.RequestID, Principal: principal, ReceivedAt: now}}
	value, err := events.Encode(events.ReceivedFeedback, e)
	if err != nil {
		return Receipt{}, fmt.Errorf("keep feedback: %w", err)
	}
	partition, offset, err := l.sender.Send(ctx, string(events.ReceivedFeedback), []byte(e.Key()), value, []byte(by))
	if err != nil {
		return Receipt{}, fmt.Errorf("keep feedback: %w", err)
	}
	at := kafka.Partition{Topic: string(events.ReceivedFeedback), Number: partition}
	if err := l.read(ctx, map[kafka.Partition]int64{at: offset + 1}); err != nil {
		return Receipt{}, fmt.Errorf("read feedback back: %w", err)
	}
	if !l.counted.counts(by, id) { // others were faster
		wait, _ := l.counted.full(by, l.clock())
		return Receipt{}, &LimitError{wait}
	}
	return Receipt{ID: id, ReceivedAt: now}, nil
}

// open finds the ends of the topic's partitions, and where to begin to read those that are new. When the topic is
// another one than before, what was read of it is void.
func (l *Log) open(ctx context.Context, client *kgo.Client) (map[kafka.Partition]int64, error) {
	name := string(events.ReceivedFeedback)
	ids, err := kafka.Identities(ctx, client, name)
	if err != nil {
		return nil, err
	}
	id := ids[name]
	if l.topic != id.Topic {
		l.topic, l.positions, l.counted = id.Topic, make(map[kafka.Partition]int64), make(rule)
	}
	ranges, err := kafka.Ranges(ctx, client, ids)
	if err != nil {
		return nil, err
	}
	if len(l.positions) < id.Partitions {
		since, err := kafka.Since(ctx, client, name, id, l.clock().Add(-history))
		if err != nil {
			return nil, err
		}
		for number, offset := range since {
			p := kafka.Partition{Topic: name, Number: int32(number)}
			if _, known := l.positions[p]; !known {
				l.positions[p] = offset
			}
		}
	}
	ends := make(map[kafka.Partition]int64)
	for number, r := range ranges[name] {
		p := kafka.Partition{Topic: name, Number: int32(number)}
		l.positions[p] = max(l.positions[p], r.Start) // retention took what lies before
		ends[p] = r.End
	}
	return ends, nil
}

// read counts what the partitions hold up to these offsets.
func (l *Log) read(ctx context.Context, to map[kafka.Partition]int64) error {
	from := make(map[kafka.Partition]int64)
	for p, end := range to {
		if l.positions[p] < end {
			from[p] = l.positions[p]
		}
	}
	if len(from) == 0 {
		return nil
	}
	reader, err := kafka.NewReader(l.options, from)
	if err != nil {
		return err
	}
	defer reader.Close()
	for len(from) > 0 {
		// What fails half-way is read again, and counts once: messages are known by their ids.
		next, err := reader.Poll(ctx, func(r *kgo.Record) error {
			if m, ok := decode(r); ok {
				l.counted.add(m.by(), m.ID, m.ReceivedAt)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for p, offset := range next {
			l.positions[p] = offset
			if offset >= to[p] {
				delete(from, p)
			}
		}
	}
	return nil
}

// Message is feedback as the topic has it.
type Message struct {
	ID     string
	Tenant string
	events.Feedback
}

func (m Message) by() string { return m.Tenant + "/" + m.Principal }

// decode reads a record; false when it is no feedback.
func decode(r *kgo.Record) (Message, bool) {
	e, err := events.Decode(events.ReceivedFeedback, r.Key, r.Value)
	if err != nil {
		return Message{}, false
	}
	f, ok := e.Data.(*events.Feedback)
	if !ok {
		return Message{}, false
	}
	return Message{ID: e.ID, Tenant: e.TenantID, Feedback: *f}, true
}

// List calls each with every message that counts. read calls its argument with every record of the topic, in the order
// of each partition. It returns how many records are no feedback.
func List(read func(each func(*kgo.Record) error) error, each func(Message) error) (foreign int, err error) {
	counted := make(rule)
	err = read(func(r *kgo.Record) error {
		m, ok := decode(r)
		if !ok {
			foreign++
			return nil
		}
		if counted.add(m.by(), m.ID, m.ReceivedAt) {
			return each(m)
		}
		return nil
	})
	return foreign, err
}
