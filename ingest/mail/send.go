package mail

import (
	"context"
	"log/slog"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
)

// sender sends records, and what was read for them, to Kafka.
type sender struct {
	writer *kafkago.Writer
}

// sendLimit bounds one try: the writer itself tries on for minutes.
const sendLimit = 30 * time.Second

func newSender(c kafka.Cluster, log *slog.Logger) *sender {
	return &sender{kafka.NewWriter(c, kafka.WriterOptions{Log: log})}
}

func (s *sender) close() { _ = s.writer.Close() } // everything was waited for

// try sends and returns when Kafka has acknowledged all of it.
func (s *sender) try(ctx context.Context, messages []kafkago.Message) error {
	bounded, stop := context.WithTimeout(ctx, sendLimit)
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
