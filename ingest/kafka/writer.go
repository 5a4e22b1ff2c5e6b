package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/segmentio/kafka-go"

	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// WriterOptions say how a writer sends. The zero value is for single messages that somebody waits for.
type WriterOptions struct {
	Partitions  Balancer      // number of partitions by topic; the cluster's number for topics that aren't in it
	DeadLetters bool          // the writer is for dead letters alone, which may be larger
	Batch       int           // most messages of one request to a partition; 0 is 100
	Linger      time.Duration // how long a batch waits to fill; 0 is 1 ms
	// Sent is called with every batch. With it WriteMessages returns at once and never reports a failure; the messages
	// carry partition and offset when err is nil.
	Sent func(messages []kafka.Message, err error)
	Log  *slog.Logger // for attempts that failed and are repeated; may be nil
}

const (
	defaultBatch  = 100
	defaultLinger = time.Millisecond
)

// NewWriter returns a writer that has Kafka acknowledge each message on all replicas, and puts it where its key
// belongs. A message needs Topic, Key and Value; its Time stays unset, because retention deletes by the time of
// sending. What the writer reports as failed may have been written all the same, and its repetitions may come twice:
// versions make that harmless. It tries for some 20 seconds while a broker is away, and for minutes while one doesn't
// answer. The caller closes it.
func NewWriter(c Cluster, o WriterOptions) *kafka.Writer {
	w := &kafka.Writer{
		Addr:            c.Addr(),
		Transport:       c.Transport,
		Balancer:        o.Partitions,
		RequiredAcks:    kafka.RequireAll,
		BatchSize:       o.Batch,
		BatchBytes:      MaxBatchBytes,
		BatchTimeout:    o.Linger,
		Async:           o.Sent != nil,
		Completion:      o.Sent,
		MaxAttempts:     20,
		WriteBackoffMin: 100 * time.Millisecond,
		WriteBackoffMax: time.Second,
		ReadTimeout:     10 * time.Second,
		WriteTimeout:    15 * time.Second,
	}
	if o.DeadLetters {
		w.BatchBytes = MaxDeadLetterBytes
	}
	if o.Batch == 0 {
		w.BatchSize = defaultBatch
	}
	if o.Linger == 0 {
		w.BatchTimeout = defaultLinger
	}
	if o.Log != nil {
		w.ErrorLogger = kafka.LoggerFunc(func(text string, args ...any) { o.Log.Warn("kafka: " + fmt.Sprintf(text, args...)) })
	}
	return w
}

// Send sends one message and returns where it is stored.
func Send(ctx context.Context, c Cluster, m kafka.Message) (partition int, offset int64, err error) {
	var sent kafka.Message
	w := NewWriter(c, WriterOptions{DeadLetters: m.Topic == string(events.DeadLetters), Sent: func(messages []kafka.Message, failed error) {
		sent, err = messages[0], failed
	}})
	queued := w.WriteMessages(ctx, m)
	closed := w.Close() // waits until the message is acknowledged or given up
	if errors.Is(queued, kafka.UnknownTopicOrPartition) {
		queued = kafkalog.ErrUnknown
	}
	if err = errors.Join(queued, err, closed); err != nil {
		return 0, 0, fmt.Errorf("send a message to %s: %w", m.Topic, err)
	}
	return sent.Partition, sent.Offset, nil
}

// SendBeside sends one message to the partition to which another key belongs, so that messages of different keys have
// one order, and returns where it is stored. Somebody waits for it: it gives up with the context. What it reports as
// failed may be stored all the same, or twice.
func SendBeside(ctx context.Context, c Cluster, m kafka.Message, key []byte) (partition int, offset int64, err error) {
	sent := make(chan kafka.Message, 1)
	w := NewWriter(c, WriterOptions{})
	w.MaxAttempts, w.ReadTimeout, w.WriteTimeout = 3, 5*time.Second, 5*time.Second
	w.Balancer = kafka.BalancerFunc(func(_ kafka.Message, partitions ...int) int { return Partition(key, len(partitions)) })
	w.Completion = func(messages []kafka.Message, err error) {
		if err == nil {
			sent <- messages[0]
		}
	}
	err = w.WriteMessages(ctx, m)
	if errors.Is(err, kafka.UnknownTopicOrPartition) {
		err = kafkalog.ErrUnknown
	}
	if err != nil {
		go func() { _ = w.Close() }() // it waits for its last attempt, which nobody does any more
		return 0, 0, fmt.Errorf("send a message to %s: %w", m.Topic, err)
	}
	stored := <-sent
	return stored.Partition, stored.Offset, w.Close()
}
