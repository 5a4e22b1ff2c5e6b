package main

import (
	"context"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
)

// confirmations sends what people confirm at the desk.
type confirmations struct{ kafka.Cluster }

// Publish implements confirmation.Publisher.
func (c confirmations) Publish(ctx context.Context, topic events.Topic, key, event []byte) error {
	_, _, err := kafka.SendBeside(ctx, c.Cluster, kafkago.Message{Topic: string(topic), Key: key, Value: event}, key)
	return err
}
