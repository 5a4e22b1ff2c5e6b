package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

func TestMessagesBesideOneKeyAreInOnePartition(t *testing.T) {
	// Given a topic of some partitions
	c := topicstest.Cluster(t, 5)
	topic := string(events.ReceivedFeedback)
	// When messages of many keys are sent beside one
	for i := range 8 {
		m := kafkago.Message{Topic: topic, Key: fmt.Append(nil, "acme/", i), Value: fmt.Append(nil, i)}
		partition, offset, err := kafka.SendBeside(t.Context(), c, m, []byte("acme/user:a"))
		// Then all are in its partition, one behind the other
		if want := kafka.Partition([]byte("acme/user:a"), 5); err != nil || partition != want || offset != int64(i) {
			t.Errorf("message %d: partition %d, offset %d, %v", i, partition, offset, err)
		}
	}
	if n := len(topicstest.Messages(t, c, events.ReceivedFeedback)); n != 8 {
		t.Errorf("%d messages", n)
	}
	// And a topic that is not there, or a context that is over, is an error.
	_, _, err := kafka.SendBeside(t.Context(), topicstest.Empty(t), kafkago.Message{Topic: topic, Key: []byte("k")}, nil)
	if !errors.Is(err, kafkalog.ErrUnknown) {
		t.Errorf("without the topic: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := kafka.SendBeside(ctx, c, kafkago.Message{Topic: topic, Key: []byte("k")}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("afterwards: %v", err)
	}
}
