package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"golang.org/x/sync/semaphore"

	"tallyhouse/ingest/kafka"
)

const (
	// maxInFlight bounds what is sent and not yet acknowledged, in bytes.
	maxInFlight = 24 << 20
	// perWrite is how much is handed over at a time; with the largest line on top it must fit into maxInFlight.
	perWrite = 1 << 20
	// perMessage is what a message takes beside key and value.
	perMessage = 256
	sendBatch  = 2000
	sendLinger = 10 * time.Millisecond
)

// sending counts what Kafka acknowledges.
type sending struct {
	inFlight *semaphore.Weighted
	progress Progress
	stop     context.CancelFunc // on the first failure

	mu     sync.Mutex
	sent   Sent
	failed error
}

func (l *Load) send(ctx context.Context, c kafka.Cluster, partitions map[string]int, found Checked) (Sent, error) {
	began := time.Now()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &sending{
		inFlight: semaphore.NewWeighted(maxInFlight),
		progress: l.Progress,
		stop:     stop,
		sent:     Sent{Next: map[string]map[int]uint64{}},
	}
	l.Progress.Stage("sending", found.Messages, Messages)
	defer l.Progress.End()
	w := kafka.NewWriter(c, kafka.WriterOptions{Partitions: partitions, Batch: sendBatch, Linger: sendLinger,
		Sent: s.acknowledged, Log: l.Log})
	var err error
	for _, source := range l.sources {
		if err = source.unchanged(); err != nil {
			break
		}
		if err = source.blocks(func(b block) error { return s.send(ctx, w, b) }); err != nil {
			break
		}
	}
	closed := w.Close() // waits for everything under way
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent.Took = time.Since(began)
	if s.failed != nil {
		err = s.failed // rather than the cancellation that followed from it
	}
	if err = errors.Join(err, closed); err != nil {
		return s.sent, fmt.Errorf("%d of %d messages were sent: %w; load all of it again, which harms nothing",
			s.sent.Messages, found.Messages, err)
	}
	return s.sent, nil
}

// send hands one block to the writer. Blocks come one after the other, so the order of a partition's messages is that
// of the lines.
func (s *sending) send(ctx context.Context, w *kafkago.Writer, b block) error {
	if b.text == nil {
		return fmt.Errorf("%s:%d changed after it was checked", b.source.name, b.line)
	}
	var messages []kafkago.Message
	var weight int64
	var failed error
	flush := func() {
		if failed == nil && len(messages) > 0 {
			failed = s.write(ctx, w, messages, weight)
		}
		messages, weight = nil, 0
	}
	b.lines(func(number int, line []byte) {
		if failed != nil {
			return
		}
		m, err := parse(line)
		if err != nil {
			failed = fmt.Errorf("%s:%d changed after it was checked: %w", b.source.name, number, err)
			return
		}
		message := kafkago.Message{Topic: string(m.topic), Key: m.key, Value: m.value}
		messages = append(messages, message)
		if weight += weigh(message); weight >= perWrite {
			flush()
		}
	})
	flush()
	return failed
}

func (s *sending) write(ctx context.Context, w *kafkago.Writer, messages []kafkago.Message, weight int64) error {
	if err := s.inFlight.Acquire(ctx, weight); err != nil {
		return fmt.Errorf("wait for acknowledgements: %w", err)
	}
	if err := w.WriteMessages(ctx, messages...); err != nil {
		s.inFlight.Release(weight)
		return err
	}
	return nil
}

func weigh(m kafkago.Message) int64 { return int64(len(m.Key) + len(m.Value) + perMessage) }

// acknowledged is called with every batch, by several goroutines.
func (s *sending) acknowledged(messages []kafkago.Message, err error) {
	var weight int64
	for _, m := range messages {
		weight += weigh(m)
	}
	s.inFlight.Release(weight)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if s.failed == nil {
			s.failed = fmt.Errorf("send to %s: %w", messages[0].Topic, err)
		}
		s.stop()
		return
	}
	for _, m := range messages {
		next := s.sent.Next[m.Topic]
		if next == nil {
			next = map[int]uint64{}
			s.sent.Next[m.Topic] = next
		}
		next[m.Partition] = max(next[m.Partition], uint64(m.Offset)+1)
	}
	s.sent.Messages += int64(len(messages))
	s.progress.Done(s.sent.Messages)
}
