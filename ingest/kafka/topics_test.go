package kafka_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

func ensure(t *testing.T, c kafka.Cluster, w kafka.TopicSpec) []kafka.Status {
	t.Helper()
	all, err := kafka.Ensure(context.Background(), c, w)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func create(t *testing.T, c kafka.Cluster, topic string, partitions int, settings map[string]string) {
	t.Helper()
	config := kafkago.TopicConfig{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}
	for k, v := range settings {
		config.ConfigEntries = append(config.ConfigEntries, kafkago.ConfigEntry{ConfigName: k, ConfigValue: v})
	}
	r, err := c.Client().CreateTopics(context.Background(), &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{config}})
	if err = errors.Join(err, r.Errors[topic]); err != nil {
		t.Fatal(err)
	}
	kafkatest.AwaitTopic(t, c.Addrs[0], topic, partitions)
}

func TestEnsureMakesEveryTopicAsItMustBe(t *testing.T) {
	c := topicstest.Empty(t)
	for _, s := range ensure(t, c, kafka.TopicSpec{}) {
		if !s.Created || s.Partitions != kafka.DefaultPartitions || len(s.Warnings) > 0 {
			t.Errorf("at first %+v", s)
		}
	}
	again := ensure(t, c, kafka.TopicSpec{})
	for _, s := range again {
		if s.Created || s.Partitions != kafka.DefaultPartitions || len(s.Warnings) > 0 {
			t.Errorf("again %+v", s)
		}
	}
	if len(again) != len(events.Topics())+1 || again[len(again)-1].Topic != string(events.DeadLetters) {
		t.Errorf("the topics are %v", again)
	}
}

func TestEnsureWarnsOfWhatIsOther(t *testing.T) {
	c := topicstest.Empty(t)
	create(t, c, string(events.Records), 4, map[string]string{
		"cleanup.policy": "compact", "retention.ms": "86400000", "retention.bytes": "-1", "max.message.bytes": "1048576",
	})
	create(t, c, string(events.Claims), 4, map[string]string{
		"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "1000000000",
		"max.message.bytes": fmt.Sprint(kafka.MaxBatchBytes + 4<<10),
	})
	all := ensure(t, c, kafka.TopicSpec{})
	i := slices.IndexFunc(all, func(s kafka.Status) bool { return s.Topic == string(events.Records) })
	warnings := strings.Join(all[i].Warnings, "\n")
	for _, want := range []string{"compacted", "retention.ms is 86400000", "max.message.bytes is 1048576"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("nothing of %q in %q", want, warnings)
		}
	}
	if all[i].Created || len(all[i].Warnings) != 3 || !all[i].Forgets {
		t.Errorf("records: %+v", all[i])
	}
	i = slices.IndexFunc(all, func(s kafka.Status) bool { return s.Topic == string(events.Claims) })
	if !all[i].Forgets || len(all[i].Warnings) != 1 || !strings.Contains(all[i].Warnings[0], "retention.bytes is 1000000000") {
		t.Errorf("claims: %+v", all[i])
	}
	i = slices.IndexFunc(all, func(s kafka.Status) bool { return s.Topic == string(events.Leases) })
	if all[i].Forgets {
		t.Errorf("leases: %+v", all[i])
	}
}

func TestEnsureRefusesAnotherNumberOfPartitions(t *testing.T) {
	c := topicstest.Empty(t)
	create(t, c, string(events.Records), 3, nil)
	_, err := kafka.Ensure(context.Background(), c, kafka.TopicSpec{Partitions: 6})
	if !errors.Is(err, kafka.ErrPartitions) || !strings.Contains(err.Error(), "ledger.records") || !strings.Contains(err.Error(), "topics resize") {
		t.Errorf("err = %v", err)
	}
	if strings.Contains(err.Error(), "ledger.projects") {
		t.Errorf("complains of a topic that it made: %v", err)
	}
}

// A value of the largest size comes through, and two that don't fit in one batch together go in two.
func TestLargestMessagesComeThrough(t *testing.T) {
	c := topicstest.Empty(t)
	ensure(t, c, kafka.TopicSpec{Partitions: 1})
	ctx := context.Background()
	value := bytes.Repeat([]byte("x"), events.MaxMessageBytes)
	half := value[:events.MaxMessageBytes*51/100]
	key := []byte("demo/" + strings.Repeat("ü", events.MaxIDLength))
	w := kafka.NewWriter(c, kafka.WriterOptions{Batch: 10})
	defer w.Close()
	var messages []kafkago.Message
	for _, v := range [][]byte{value, half, half} {
		messages = append(messages, kafkago.Message{Topic: string(events.Records), Key: key, Value: v})
	}
	if err := w.WriteMessages(ctx, messages...); err != nil {
		t.Fatal(err)
	}
	writer := kafka.NewWriter(c, kafka.WriterOptions{DeadLetters: true})
	defer writer.Close()
	deadLetter := bytes.Repeat([]byte("x"), kafka.MaxDeadLetterBytes-100)
	if err := writer.WriteMessages(ctx, kafkago.Message{Topic: string(events.DeadLetters), Key: []byte("k"), Value: deadLetter}); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, topic := range []events.Topic{events.Records, events.DeadLetters} {
		err := kafka.Read(ctx, c, string(topic), func(r *kgo.Record) error {
			sizes = append(sizes, len(r.Value))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{len(value), len(half), len(half), len(deadLetter)}; !slices.Equal(sizes, want) {
		t.Errorf("read values of %v bytes, want %v", sizes, want)
	}
}

func TestReadGivesCommittedMessagesAlone(t *testing.T) {
	c := topicstest.Empty(t)
	ensure(t, c, kafka.TopicSpec{Partitions: 2})
	ctx := context.Background()
	topic := string(events.Records)
	producer, err := kgo.NewClient(append(c.Reading, kgo.TransactionalID("a"), kgo.DefaultProduceTopic(topic))...)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	for i, commit := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort, kgo.TryCommit, kgo.TryAbort} {
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
			producer.Produce(ctx, &kgo.Record{Key: []byte(key), Value: []byte{byte('0' + i)}}, func(_ *kgo.Record, err error) {
				if err != nil {
					t.Error(err)
				}
			})
		}
		if err := producer.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		kafkatest.EndTransaction(t, producer, commit)
	}
	var open []kgo.Opt
	open = append(append(open, c.Reading...), kgo.TransactionalID("b"), kgo.DefaultProduceTopic(topic))
	pending, err := kgo.NewClient(open...)
	if err != nil {
		t.Fatal(err)
	}
	defer pending.Close()
	if err := pending.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := pending.ProduceSync(ctx, &kgo.Record{Key: []byte("a"), Value: []byte("open")}).FirstErr(); err != nil {
		t.Fatal(err)
	}

	got := map[string]int{}
	err = kafka.Read(ctx, c, topic, func(r *kgo.Record) error {
		got[string(r.Value)]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got["0"] != 6 || got["2"] != 6 {
		t.Errorf("read %v", got)
	}
}

// Given a topic with messages, when it is followed from an instant on, then what was sent since comes, and what is sent
// then; until the context ends.
func TestFollowGivesWhatIsSentSinceAnInstant(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	topic := string(events.Requests)
	send := func(text string) {
		t.Helper()
		if _, _, err := kafka.Send(t.Context(), c, kafkago.Message{Topic: topic, Key: []byte(text), Value: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	aborted, err := kgo.NewClient(append(slices.Clone(c.Reading), kgo.TransactionalID("a"), kgo.DefaultProduceTopic(topic))...)
	if err != nil {
		t.Fatal(err)
	}
	defer aborted.Close()
	send("before")
	time.Sleep(5 * time.Millisecond) // instants of messages have milliseconds
	since := time.Now()
	if err := aborted.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := aborted.ProduceSync(t.Context(), &kgo.Record{Key: []byte("since"), Value: []byte("aborted")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	kafkatest.EndTransaction(t, aborted, kgo.TryAbort)
	send("since")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var got []string
	err = kafka.Follow(ctx, c, topic, since, func(r *kgo.Record) error {
		if got = append(got, string(r.Value)); len(got) == 1 {
			send("later")
			return nil
		}
		stop()
		return nil
	})
	if !errors.Is(err, context.Canceled) || !slices.Equal(got, []string{"since", "later"}) {
		t.Errorf("got %q, %v", got, err)
	}
	full := errors.New("full")
	if err := kafka.Follow(t.Context(), c, topic, since, func(*kgo.Record) error { return full }); !errors.Is(err, full) {
		t.Errorf("a message that isn't taken: %v", err)
	}
}

func TestSendTellsWhereTheMessageStands(t *testing.T) {
	c := topicstest.Empty(t)
	m := kafkago.Message{Topic: string(events.Contractors), Key: []byte("demo/C1"), Value: []byte("{}")}
	if _, _, err := kafka.Send(context.Background(), c, m); !errors.Is(err, kafkalog.ErrUnknown) {
		t.Errorf("without the topic: %v", err)
	}
	ensure(t, c, kafka.TopicSpec{Partitions: 3})
	for want := range int64(2) {
		partition, offset, err := kafka.Send(context.Background(), c, m)
		if err != nil {
			t.Fatal(err)
		}
		if partition != kafka.Partition(m.Key, 3) || offset != want {
			t.Errorf("sent to partition %d, offset %d", partition, offset)
		}
	}
	sent := topicstest.Messages(t, c, events.Contractors)
	if len(sent) != 2 || string(sent[0].Value) != "{}" {
		t.Errorf("the topic holds %v", sent)
	}
}
