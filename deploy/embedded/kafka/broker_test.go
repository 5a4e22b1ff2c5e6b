package kafka_test

import (
	"context"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"tallyhouse/deploy/embedded/kafka/kafkatest"
)

func TestWhatWasWrittenIsThereAfterARestart(t *testing.T) {
	// given a broker with one message, stopped
	dir := t.TempDir()
	first := kafkatest.StartIn(t, dir, "127.0.0.1:0")
	client := &kafka.Client{Addr: kafka.TCP(first.Addr())}
	created, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: "a", NumPartitions: 1, ReplicationFactor: 1}}})
	if err != nil || created.Errors["a"] != nil {
		t.Fatal(err, created)
	}
	writer := &kafka.Writer{Addr: kafka.TCP(first.Addr()), Topic: "a", RequiredAcks: kafka.RequireAll, BatchTimeout: time.Millisecond}
	if err := writer.WriteMessages(t.Context(), kafka.Message{Key: []byte("k"), Value: []byte("v")}); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if err := first.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	// when it is started again
	second := kafkatest.StartIn(t, dir, "127.0.0.1:0")
	// then the message is read from it
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{second.Addr()}, Topic: "a"})
	defer reader.Close()
	message, err := reader.ReadMessage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if string(message.Value) != "v" {
		t.Fatalf("got %q", message.Value)
	}
}
