// Package topicstest gives tests a Kafka broker with the topics of the ledger.
package topicstest

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
)

// Empty connects to a broker of the test's own that has no topic yet.
func Empty(t testing.TB) kafka.Cluster {
	t.Helper()
	return connect(t, kafkatest.Start(t))
}

func connect(t testing.TB, broker kafkatest.Broker) kafka.Cluster {
	t.Helper()
	c, err := kafka.Connect(kafka.Access{Addrs: []string{broker.Addr()}})
	if err != nil {
		t.Fatalf("topicstest: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// Cluster is a broker of the test's own with all topics, each of so many partitions.
func Cluster(t testing.TB, partitions int) kafka.Cluster {
	t.Helper()
	return On(t, kafkatest.Start(t), partitions)
}

// On is a broker that the test has started, with all topics, each of so many partitions.
func On(t testing.TB, broker kafkatest.Broker, partitions int) kafka.Cluster {
	t.Helper()
	c := connect(t, broker)
	topics, err := kafka.Ensure(context.Background(), c, kafka.TopicSpec{Partitions: partitions})
	if err != nil {
		t.Fatalf("topicstest: %v", err)
	}
	for _, topic := range topics {
		kafkatest.AwaitTopic(t, broker.Addr(), topic.Topic, topic.Partitions)
	}
	return c
}

// Messages reads everything that a topic holds.
func Messages(t testing.TB, c kafka.Cluster, topic events.Topic) []*kgo.Record {
	t.Helper()
	var all []*kgo.Record
	err := kafka.Read(context.Background(), c, string(topic), func(r *kgo.Record) error {
		all = append(all, r)
		return nil
	})
	if err != nil {
		t.Fatalf("topicstest: %v", err)
	}
	return all
}
