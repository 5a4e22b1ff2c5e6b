// Package feedbacktest puts feedback on its topic for tests.
package feedbacktest

import (
	"context"
	"hash/fnv"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/api/feedback"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/schemas/events"
)

// partitions of the topic.
const partitions = 3

// Sender sends to a broker of a test.
type Sender struct {
	client *kgo.Client
	// Before is called before each message is sent, when it is set.
	Before func()
}

var _ feedback.Sender = (*Sender)(nil)

// New makes the topic on the broker, and a sender to it.
func New(t testing.TB, broker string) *Sender {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	request := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = string(events.ReceivedFeedback), partitions, 1
	request.Topics = append(request.Topics, topic)
	if _, err := request.RequestWith(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	kafkatest.AwaitTopic(t, broker, topic.Topic, partitions)
	return &Sender{client: client}
}

// Send implements feedback.Sender.
func (s *Sender) Send(ctx context.Context, topic string, key, value, beside []byte) (partition int32, offset int64, err error) {
	if s.Before != nil {
		s.Before()
	}
	hash := fnv.New32a()
	_, _ = hash.Write(beside) // never fails
	r := &kgo.Record{Topic: topic, Key: key, Value: value, Partition: int32(hash.Sum32() % partitions)}
	err = s.client.ProduceSync(ctx, r).FirstErr()
	return r.Partition, r.Offset, err
}
