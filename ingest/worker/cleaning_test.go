package worker

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/kafka"
)

// newCleanedScenario has a broker whose retention and compaction come round often, and a topic of records with settings
// of its own.
func newCleanedScenario(t testing.TB, settings ...kafkago.ConfigEntry) *scenario {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	broker := kafkatest.Start(t)
	kafkatest.CleanOften(t, broker)
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	client := &kafkago.Client{Addr: kafkago.TCP(broker.Addr())}
	topic := scenarioPartition.Topic
	r, err := client.CreateTopics(ctx, &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{
		{Topic: topic, NumPartitions: testPartitions, ReplicationFactor: 1, ConfigEntries: settings},
	}})
	if err == nil {
		err = r.Errors[topic]
	}
	if err != nil {
		t.Fatal(err)
	}
	kafkatest.AwaitTopic(t, broker.Addr(), topic, testPartitions)
	return newScenarioOn(t, addr, name, broker.Addr())
}

// configure changes a setting of the topic of records.
func (s *scenario) configure(name, value string) {
	s.t.Helper()
	s.configureTopic(scenarioPartition.Topic, name, value)
}

// configureTopic changes a setting of any topic.
func (s *scenario) configureTopic(topic, name, value string) {
	s.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	r, err := s.cluster.Client().IncrementalAlterConfigs(ctx, &kafkago.IncrementalAlterConfigsRequest{Resources: []kafkago.IncrementalAlterConfigsRequestResource{{
		ResourceType: kafkago.ResourceTypeTopic, ResourceName: topic,
		Configs: []kafkago.IncrementalAlterConfigsRequestConfig{{Name: name, Value: value, ConfigOperation: kafkago.ConfigOperationSet}},
	}}})
	if err == nil {
		err = r.Resources[0].Error
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// produceDated sends messages to partition 0 as if at another time: retention goes by that.
func (s *scenario) produceDated(at time.Time, messages ...message) {
	s.t.Helper()
	client := s.sender()
	for _, m := range messages {
		r := &kgo.Record{Topic: string(m.topic), Key: []byte(m.key), Value: m.value, Timestamp: at}
		if err := client.ProduceSync(context.Background(), r).FirstErr(); err != nil {
			s.t.Fatal(err)
		}
	}
}

// awaitOffsets waits until partition 0's log holds no other messages than these. What is read while it is cleaned may be
// gone in the middle.
func (s *scenario) awaitOffsets(want ...int64) {
	s.t.Helper()
	untilDone(s.t, func() error {
		var all []int64
		err := kafka.Read(context.Background(), s.cluster, scenarioPartition.Topic, func(r *kgo.Record) error {
			if r.Partition == scenarioPartition.Number {
				all = append(all, r.Offset)
			}
			return nil
		})
		if err == nil && !slices.Equal(all, want) {
			err = fmt.Errorf("the log holds %d, want %d", all, want)
		}
		return err
	})
}

// Given messages that nobody has read, when retention removes them, then what is lost to this database is noted, and
// what comes later is written.
func TestRetentionOvertakesTheWorker(t *testing.T) {
	t.Parallel()
	s := newCleanedScenario(t, kafkago.ConfigEntry{ConfigName: "retention.ms", ConfigValue: "-1"})
	m := someRecords(6)
	yesterday := time.Now().AddDate(0, 0, -1)
	s.produceDated(yesterday, m[:2]...)
	s.model.take(m[:2]...)
	a := s.join("a")
	a.assign()
	s.awaitAll(2)
	a.crash()
	s.produceDated(yesterday, m[2:4]...)
	s.configure("retention.ms", "3600000")
	s.await("the log begins behind them", func() bool { return s.logStart() == 4 })
	s.send(m[4:]...)
	b := s.join("b")
	b.assign()
	s.awaitAll(6)
	s.check(s.model)
	s.checkGap(2, 4)
}

// checkGap checks that the loss of these offsets of partition 0 is noted, once.
func (s *scenario) checkGap(from, to int) {
	s.t.Helper()
	if n := s.count(fmt.Sprintf(`SELECT count() FROM gaps FINAL WHERE topic = '%s' AND partition = 0
		AND from_offset = %d AND to_offset = %d`, scenarioPartition.Topic, from, to)); n != 1 {
		s.t.Errorf("the gap is noted %d times", n)
	}
}

// logStart is where partition 0's log begins.
func (s *scenario) logStart() int64 {
	s.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	r, err := s.cluster.Client().ListOffsets(ctx, &kafkago.ListOffsetsRequest{
		Topics: map[string][]kafkago.OffsetRequest{scenarioPartition.Topic: {kafkago.FirstOffsetOf(int(scenarioPartition.Number))}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return r.Topics[scenarioPartition.Topic][0].FirstOffset
}
