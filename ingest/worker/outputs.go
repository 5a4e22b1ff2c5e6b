package worker

import (
	"context"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/ingest/kafka"
	kafkalog "tallyhouse/schemas/kafka"
)

// sender sends dead letters and re-routed messages and returns when Kafka has acknowledged them.
type sender interface {
	sendDeadLetters(ctx context.Context, letters []kafka.DeadLetter) error
	// reroute returns the messages that are too large to be sent.
	reroute(ctx context.Context, partitions int, messages []kafkago.Message) (tooLarge []kafkago.Message, err error)
}

// permitPatience is how long Kafka may take for what a large batch has to send: far longer than it does.
const permitPatience = 3 * time.Second

// sendSideOutputs has Kafka acknowledge the batch's dead letters and re-routed messages, before its position passes
// them: some at a time, in their order. What was acknowledged once is not sent again when the batch is cut anew, so
// that however many there are, and however slow Kafka is, they come to an end. A large batch doesn't wait for that: others want
// its permit, which Kafka is no reason to keep. It is cut anew, in small ones, which need none.
func (w *writer) sendSideOutputs(ctx context.Context, a *assignment, b *batch) error {
	if w.permit {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, permitPatience)
		defer stop()
	}
	var sentAsLetters []kafka.DeadLetter
	for w.doubt.sent < b.next {
		letters, messages, next := b.outputs(w.doubt.sent)
		tooLarge, err := w.reroute(ctx, a, messages)
		if err != nil {
			return err
		}
		if letters = append(letters, tooLarge...); len(letters) > 0 {
			w.state.progress()
			if err := w.sender.sendDeadLetters(ctx, letters); err != nil {
				return fmt.Errorf("send dead letters: %w", err)
			}
		}
		sentAsLetters = append(sentAsLetters, tooLarge...)
		w.doubt.hasSent(next)
	}
	b.deadLetters = append(b.deadLetters, sentAsLetters...)
	return nil
}

// reroute sends on what belongs to other partitions. What is too large for that, as a message at the topic's limit is
// with one header more, becomes a dead letter.
func (w *writer) reroute(ctx context.Context, a *assignment, all []rerouted) (tooLarge []kafka.DeadLetter, err error) {
	if len(all) == 0 {
		return nil, nil
	}
	// Two workers that know of different numbers would send a message to and fro: the recovery refuses, and names the
	// remedy.
	ids, err := kafkalog.Identities(ctx, w.coordinator.admin, w.tp.Topic)
	if err != nil {
		return nil, err
	}
	if now := ids[w.tp.Topic].Partitions; now != a.partitions {
		return nil, fmt.Errorf("%d messages belong to other partitions, but the topic has %d partitions and the database knows of %d: "+
			"they are not re-routed", len(all), now, a.partitions)
	}
	messages := make([]kafkago.Message, len(all))
	for i, r := range all {
		messages[i] = r.message
		messages[i].WriterData = int64(r.offset)
	}
	w.state.progress()
	unsent, err := w.sender.reroute(ctx, a.partitions, messages)
	if err != nil {
		return nil, fmt.Errorf("re-route messages: %w", err)
	}
	for _, m := range unsent {
		tooLarge = append(tooLarge, kafka.DeadLetter{
			Topic: w.tp.Topic, Partition: w.tp.Number, Offset: m.WriterData.(int64), Key: m.Key, Value: m.Value, At: time.Now().UTC(),
			Reason: fmt.Sprintf("it belongs to partition %d and is too large to be re-routed there", kafka.Partition(m.Key, a.partitions)),
		})
	}
	return tooLarge, nil
}
