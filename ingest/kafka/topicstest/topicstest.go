// Package topicstest gives tests a Kafka broker with the topics of the ledger.
package topicstest

import (
	"bytes"
	"context"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
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

// SendTooMuch sends messages to a partition that are compressed together and unpack to more than anybody takes, and returns how many.
func SendTooMuch(t testing.TB, c kafka.Cluster, topic events.Topic, partition int) (n int) {
	t.Helper()
	padding := bytes.Repeat([]byte(" "), events.MaxMessageBytes)
	var packed []kafkago.Record
	for range kafkalog.UnpackedBytes/len(padding) + 1 {
		packed = append(packed, kafkago.Record{Key: kafkago.NewBytes([]byte("demo/C1")), Value: kafkago.NewBytes(padding)})
	}
	r, err := c.Client().Produce(context.Background(), &kafkago.ProduceRequest{Topic: string(topic), Partition: partition,
		RequiredAcks: kafkago.RequireAll, Compression: compress.Zstd, Records: kafkago.NewRecordReader(packed...)})
	if err == nil {
		err = r.Error
	}
	if err != nil {
		t.Fatalf("topicstest: %v", err)
	}
	return len(packed)
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
