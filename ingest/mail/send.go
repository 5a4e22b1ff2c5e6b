package mail

import (
	"context"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
)

// sender sends records, and what was read for them, to Kafka.
type sender struct {
	writer *kafkago.Writer
	limit  time.Duration // of one try: the writer itself tries on for minutes
}

func (in *Intake) sender() *sender {
	return &sender{kafka.NewWriter(in.options.Cluster, kafka.WriterOptions{Log: in.options.Log}), in.timings.sending}
}

// close waits for nothing: what Kafka has acknowledged was waited for, and what it hasn't is done again. The writer itself would wait for
// its last attempt, for minutes while no broker answers.
func (s *sender) close() { go func() { _ = s.writer.Close() }() }

// try sends and returns when Kafka has acknowledged all of it.
func (s *sender) try(ctx context.Context, messages []kafkago.Message) error {
	bounded, stop := context.WithTimeout(ctx, s.limit)
	defer stop()
	return s.writer.WriteMessages(bounded, messages...)
}

func messageOf(topic events.Topic, e events.Event) (kafkago.Message, error) {
	value, err := events.Encode(topic, e)
	if err != nil {
		return kafkago.Message{}, err
	}
	return kafkago.Message{Topic: string(topic), Key: []byte(e.Key()), Value: value}, nil
}
