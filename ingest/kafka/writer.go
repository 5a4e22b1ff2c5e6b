package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/segmentio/kafka-go"

	"tallyhouse/schemas/events"
)

// Sending says how a writer sends. The zero value is for single messages that somebody waits for.
type Sending struct {
	Partitions Balancer      // number of partitions by topic; the cluster's number for topics that aren't in it
	Letters    bool          // the writer is for dead letters alone, which may be larger
	Batch      int           // most messages of one request to a partition; 0 is 100
	Linger     time.Duration // how long a batch waits to fill; 0 is 1 ms
	// Sent hears of every batch. With it WriteMessages returns at once and never tells of a failure; the messages carry partition and
	// offset when err is nil.
	Sent func(messages []kafka.Message, err error)
	Log  *slog.Logger // hears of attempts that failed and are repeated; nil: nobody
}

const (
	defaultBatch  = 100
	defaultLinger = time.Millisecond
)

// NewWriter returns a writer that has Kafka acknowledge each message on all replicas, and puts it where its key belongs. A message
// needs Topic, Key and Value; its Time stays unset, because retention deletes by the time of sending. What the writer reports as failed may have
// been written all the same, and its repetitions may come twice: versions make that harmless. It tries for some 20 seconds while a
// broker is away, and for minutes while one doesn't answer. The caller closes it.
func NewWriter(c Cluster, s Sending) *kafka.Writer {
	w := &kafka.Writer{
		Addr:            c.Addr(),
		Transport:       c.Transport,
		Balancer:        s.Partitions,
		RequiredAcks:    kafka.RequireAll,
		BatchSize:       s.Batch,
		BatchBytes:      MaxBatchBytes,
		BatchTimeout:    s.Linger,
		Async:           s.Sent != nil,
		Completion:      s.Sent,
		MaxAttempts:     20,
		WriteBackoffMin: 100 * time.Millisecond,
		WriteBackoffMax: time.Second,
		ReadTimeout:     10 * time.Second,
		WriteTimeout:    15 * time.Second,
	}
	if s.Letters {
		w.BatchBytes = MaxLetterBytes
	}
	if s.Batch == 0 {
		w.BatchSize = defaultBatch
	}
	if s.Linger == 0 {
		w.BatchTimeout = defaultLinger
	}
	if s.Log != nil {
		w.ErrorLogger = kafka.LoggerFunc(func(text string, args ...any) { s.Log.Warn("kafka: " + fmt.Sprintf(text, args...)) })
	}
	return w
}

// Send sends one message and tells where it stands.
func Send(ctx context.Context, c Cluster, m kafka.Message) (partition int, offset int64, err error) {
	var sent kafka.Message
	w := NewWriter(c, Sending{Letters: m.Topic == string(events.DeadLetters), Sent: func(messages []kafka.Message, failed error) {
		sent, err = messages[0], failed
	}})
	queued := w.WriteMessages(ctx, m)
	closed := w.Close() // waits until the message is acknowledged or given up
	if errors.Is(queued, kafka.UnknownTopicOrPartition) {
		queued = ErrUnknown
	}
	if err = errors.Join(queued, err, closed); err != nil {
		return 0, 0, fmt.Errorf("send a message to %s: %w", m.Topic, err)
	}
	return sent.Partition, sent.Offset, nil
}
