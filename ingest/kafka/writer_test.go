package kafka_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/schemas/events"
)

// Given a broker whose replicas are away at first, then a message is sent again until all have it, and is there once.
func TestAMessageIsSentUntilAllReplicasHaveIt(t *testing.T) {
	topic := string(events.Records)
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	var mu sync.Mutex
	var acks []int16
	broker.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		broker.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		asked := r.(*kmsg.ProduceRequest)
		if acks = append(acks, asked.Acks); len(acks) > 2 {
			return nil, nil, false
		}
		answer := asked.ResponseKind().(*kmsg.ProduceResponse)
		p := kmsg.NewProduceResponseTopicPartition()
		p.ErrorCode = kerr.NotEnoughReplicas.Code
		of := kmsg.NewProduceResponseTopic()
		of.Topic, of.TopicID, of.Partitions = asked.Topics[0].Topic, asked.Topics[0].TopicID, append(of.Partitions, p)
		answer.Topics = append(answer.Topics, of)
		return answer, nil, true
	})
	c, err := kafka.Connect(kafka.Access{Addrs: broker.ListenAddrs()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	w := kafka.NewWriter(c, kafka.WriterOptions{})
	err = w.WriteMessages(t.Context(), kafkago.Message{Topic: topic, Key: []byte("demo/R1"), Value: []byte("{}")})
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	const ofAll = -1
	if !slices.Equal(acks, []int16{ofAll, ofAll, ofAll}) {
		t.Errorf("it was sent with acknowledgements %v", acks)
	}
	if all := topicstest.Messages(t, c, events.Records); len(all) != 1 {
		t.Errorf("%d messages are there", len(all))
	}
}

// Given a message that its topic doesn't take, then whoever sends it learns of that.
func TestSendTellsWhenTheMessageIsRefused(t *testing.T) {
	const refusal = "Message Size Too Large"
	c := topicstest.Empty(t)
	topic := string(events.Contractors)
	create(t, c, topic, 1, map[string]string{"max.message.bytes": "1000"})
	m := kafkago.Message{Topic: topic, Key: []byte("demo/C1"), Value: []byte(strings.Repeat("x", 2000))}
	if _, _, err := kafka.Send(t.Context(), c, m); err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("sent: %v", err)
	}
	if _, _, err := kafka.SendBeside(t.Context(), c, m, m.Key); err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("sent beside another: %v", err)
	}
}
