package worker

import (
	"errors"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/schemas/events"
)

// messagesOf are messages of these ids, each with a value of so many bytes.
func messagesOf(size int, ids ...string) (all []kafkago.Message) {
	for _, id := range ids {
		all = append(all, kafkago.Message{Topic: string(events.Records), Key: []byte("demo/" + id), Value: []byte(strings.Repeat("x", size))})
	}
	return all
}

// Given messages of which some are larger than a client or the broker takes, then these are told, and all others are sent.
func TestWhatIsTooLargeKeepsNothingElse(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.configure("max.message.bytes", "20000")
	small := messagesOf(10, "a", "b", "c", "d")
	forClient, forBroker := messagesOf(kafka.MaxBatchBytes+1, "e", "f"), messagesOf(30_000, "g")
	p := newProducer(s.cluster, s.log)
	t.Cleanup(func() { _ = p.close() })
	tooLarge, err := p.reroute(t.Context(), testPartitions,
		[]kafkago.Message{small[0], forClient[0], small[1], forBroker[0], small[2], forClient[1], small[3]})
	if err != nil || len(tooLarge) != 3 {
		t.Fatalf("%d are too large, %v", len(tooLarge), err)
	}
	if sent := topicstest.Messages(t, s.cluster, events.Records); len(sent) != len(small) {
		t.Errorf("%d messages are sent, want %d", len(sent), len(small))
	}
}

// Given a partition that takes nothing, for another reason than a size, when messages are sent to several, then that is an error: nobody
// may pass what isn't there.
func TestAMessageThatIsNotSentIsAnError(t *testing.T) {
	t.Parallel()
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(testPartitions, string(events.Records)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	broker.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		broker.KeepControl()
		asked := r.(*kmsg.ProduceRequest)
		if asked.Topics[0].Partitions[0].Partition != 1 {
			return nil, nil, false
		}
		p := kmsg.NewProduceResponseTopicPartition()
		p.Partition, p.ErrorCode = 1, kerr.TopicAuthorizationFailed.Code
		of := kmsg.NewProduceResponseTopic()
		of.Topic, of.TopicID, of.Partitions = asked.Topics[0].Topic, asked.Topics[0].TopicID, append(of.Partitions, p)
		answer := asked.ResponseKind().(*kmsg.ProduceResponse)
		answer.Topics = append(answer.Topics, of)
		return answer, nil, true
	})
	cluster, err := kafka.Connect(kafka.Access{Addrs: broker.ListenAddrs()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	p := newProducer(cluster, testLog(t))
	t.Cleanup(func() { _ = p.close() })
	_, err = p.reroute(t.Context(), testPartitions, messagesOf(10, ids(0, 1)[0], ids(1, 1)[0], ids(2, 1)[0]))
	if !mentions(err, kafkago.TopicAuthorizationFailed) {
		t.Errorf("one of three isn't sent: %v", err)
	}
}

// mentions reports whether a message of a write failed by an error.
func mentions(err, by error) bool {
	var each kafkago.WriteErrors
	if !errors.As(err, &each) {
		return false
	}
	for _, one := range each {
		if errors.Is(one, by) {
			return true
		}
	}
	return false
}

// Given a topic with more partitions than the database knows of, then a message goes where it belongs among those that are known; and
// among all, once they are.
func TestMessagesAreReroutedByTheNumberThatIsKnown(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	const all = 7
	s.addPartitions(all)
	p := newProducer(s.cluster, s.log)
	t.Cleanup(func() { _ = p.close() })
	for _, known := range []int{testPartitions, all} {
		messages := messagesOf(known, ids(0, 20)...)
		untilDone(t, func() error { // the client knows of new partitions after a while
			_, err := p.reroute(t.Context(), known, messages)
			return err
		})
	}
	err := kafka.Read(t.Context(), s.cluster, scenarioPartition.Topic, func(r *kgo.Record) error {
		if known := len(r.Value); int(r.Partition) != kafka.Partition(r.Key, known) {
			t.Errorf("%s is in partition %d of %d that were known", r.Key, r.Partition, known)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
