package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// producer sends what the worker itself sends: dead letters and re-routed messages.
type producer struct {
	cluster     kafka.Cluster
	log         *slog.Logger
	deadLetters *kafkago.Writer

	mu        sync.Mutex
	rerouting map[string]*kafkago.Writer // by topic and number of partitions
	warned    map[string]time.Time       // by topic, when re-routing was last warned about
}

func newProducer(c kafka.Cluster, log *slog.Logger) *producer {
	return &producer{
		cluster:     c,
		log:         log,
		deadLetters: kafka.NewWriter(c, kafka.WriterOptions{DeadLetters: true, Log: log}),
		rerouting:   map[string]*kafkago.Writer{},
		warned:      map[string]time.Time{},
	}
}

// sendTimeout bounds one send; the batch is cut again after a failure, and what was sent is sent again, which does no
// harm.
const sendTimeout = 40 * time.Second

// sendDeadLetters implements sender. Where the topic takes less than it should, as one that somebody else made, a letter is shortened.
func (p *producer) sendDeadLetters(ctx context.Context, letters []kafka.DeadLetter) error {
	ctx, stop := context.WithTimeout(ctx, sendTimeout)
	defer stop()
	messages := make([]kafkago.Message, len(letters))
	for i, l := range letters {
		messages[i] = l.Message()
		messages[i].WriterData = l
	}
	for times := 1; ; times++ {
		tooLarge, err := writeWhatFits(ctx, p.deadLetters, messages)
		if err != nil {
			if found, unknown := kafka.Partitions(ctx, p.cluster); unknown == nil && found[string(events.DeadLetters)] == 0 {
				err = fmt.Errorf("%s: %w", events.DeadLetters, kafkalog.ErrUnknown) // what the client says doesn't name it
			}
			return err
		}
		if len(tooLarge) == 0 {
			return nil
		}
		if messages, err = shortened(tooLarge, times); err != nil {
			return err
		}
		if times == 1 {
			p.log.Warn("the topic of dead letters takes less than they need: they are shortened; `tallyhouse topics` says what to set")
		}
	}
}

// errTakesNone is the last word to a topic that doesn't take headers alone.
var errTakesNone = fmt.Errorf("max.message.bytes of %s is less than the shortest letter has: `tallyhouse topics` says what to set",
	events.DeadLetters)

// shortened are letters that are too large, shorter than they were after being shortened so many times.
func shortened(letters []kafkago.Message, times int) ([]kafkago.Message, error) {
	for i, m := range letters {
		l := m.WriterData.(kafka.DeadLetter)
		short, ok := l.Shortened(times)
		if !ok {
			return nil, errTakesNone
		}
		short.WriterData = l
		letters[i] = short
	}
	return letters, nil
}

// reroute implements sender: each message goes to exactly the partition computed with the number of partitions that the
// database knows. Live metadata may know of more, and a message that follows them would come round again.
func (p *producer) reroute(ctx context.Context, partitions int, messages []kafkago.Message) (tooLarge []kafkago.Message, err error) {
	topic := messages[0].Topic
	p.mu.Lock()
	key := fmt.Sprint(topic, "/", partitions)
	w := p.rerouting[key]
	if w == nil {
		w = kafka.NewWriter(p.cluster, kafka.WriterOptions{Partitions: kafka.Balancer{topic: partitions}, Log: p.log})
		p.rerouting[key] = w
	}
	warn := time.Since(p.warned[topic]) > time.Minute
	if warn {
		p.warned[topic] = time.Now()
	}
	p.mu.Unlock()
	if warn {
		p.log.Warn("messages came in another partition than their key's and are re-routed: a producer doesn't hash "+
			"keys by murmur2", "topic", topic, "messages", len(messages))
	}
	ctx, stop := context.WithTimeout(ctx, sendTimeout)
	defer stop()
	return writeWhatFits(ctx, w, messages)
}

// writeWhatFits returns the messages that neither the client nor the broker takes, because of their size.
func writeWhatFits(ctx context.Context, w *kafkago.Writer, messages []kafkago.Message) (tooLarge []kafkago.Message, err error) {
	for len(messages) > 0 {
		err := w.WriteMessages(ctx, messages...)
		var one kafkago.MessageTooLargeError
		var each kafkago.WriteErrors
		switch {
		case err == nil:
			return tooLarge, nil
		case errors.As(err, &one): // the client's own limit: nothing was sent
			tooLarge, messages = append(tooLarge, one.Message), one.Remaining
			continue
		case !errors.As(err, &each):
			return nil, err
		}
		// A broker refuses a batch because of one message: those of such a batch are sent one by one.
		for i, failed := range each {
			if failed == nil {
				continue
			}
			if !errors.Is(failed, kafkago.MessageSizeTooLarge) {
				return nil, err
			}
			switch err := w.WriteMessages(ctx, messages[i]); {
			case errors.Is(onlyError(err), kafkago.MessageSizeTooLarge):
				tooLarge = append(tooLarge, messages[i])
			case err != nil:
				return nil, err
			}
		}
		return tooLarge, nil
	}
	return tooLarge, nil
}

// onlyError is what went wrong with the one message of a write.
func onlyError(err error) error {
	var each kafkago.WriteErrors
	if errors.As(err, &each) && len(each) == 1 {
		return each[0]
	}
	return err
}

func (p *producer) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.deadLetters.Close()
	for _, w := range p.rerouting {
		err = errors.Join(err, w.Close())
	}
	return err
}
