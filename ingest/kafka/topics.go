// Package kafka knows the Kafka topics: their settings, which partition a key belongs to, how they are written and
// read, and the form of a dead letter. Every message of the ledger is sent and read through this package.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/sethvargo/go-retry"

	"tallyhouse/schemas/events"
)

// Limits of what is sent in one batch, the value with everything around it. The broker's limit leaves room for the
// batch's own header above them.
const (
	// MaxBatchBytes is for the topics of change events: a value of events.MaxMessageBytes with its key.
	MaxBatchBytes = events.MaxMessageBytes + 128<<10
	// MaxDeadLetterBytes is for dead letters, which carry a message and say what was wrong with it.
	MaxDeadLetterBytes = 17<<20 - batchHeader

	batchHeader = 4 << 10
)

// DefaultPartitions is the number of partitions of a topic that is created without TopicSpec.Partitions.
const DefaultPartitions = 4

const (
	requestTimeout = 30 * time.Second // of one request to the cluster
	createTimeout  = time.Minute      // of all topics together
)

// ErrPartitions says that a topic has another number of partitions than was asked for.
var ErrPartitions = errors.New("another number of partitions")

// topicNames are all topics: those of events.Topics and the dead letters.
func topicNames() []string {
	var names []string
	for _, t := range events.Topics() {
		names = append(names, string(t))
	}
	return append(names, string(events.DeadLetters))
}

// TopicSpec says what topics should be like.
type TopicSpec struct {
	Partitions int // 0: as they are, DefaultPartitions where they are made
	Replicas   int // of topics that are made; 0: the cluster's default
}

// Status is what was found, or made, of one topic.
type Status struct {
	Topic      string
	Created    bool
	Partitions int
	Forgets    bool     // messages are deleted after a time, or beyond a size
	Warnings   []string // it works, but not as it should
}

// Ensure creates the topics that are missing and checks the others: what can be lived with is a warning, another number
// of partitions than specified is an ErrPartitions. Two at once do no harm.
func Ensure(ctx context.Context, c Cluster, spec TopicSpec) ([]Status, error) {
	ctx, stop := context.WithTimeout(ctx, createTimeout)
	defer stop()
	found, err := partitions(ctx, c)
	if err != nil {
		return nil, err
	}
	created, err := create(ctx, c, spec, found)
	if err != nil {
		return nil, err
	}
	if len(created) > 0 {
		if found, err = awaitAll(ctx, c); err != nil {
			return nil, err
		}
	}
	all, err := check(ctx, c, found)
	if err != nil {
		return nil, err
	}
	var wrong []error
	for i := range all {
		s := &all[i]
		s.Created = slices.Contains(created, s.Topic)
		if spec.Partitions > 0 && s.Partitions != spec.Partitions {
			wrong = append(wrong, s.otherPartitions(spec.Partitions))
		}
	}
	return all, errors.Join(wrong...)
}

func check(ctx context.Context, c Cluster, found map[string]int) ([]Status, error) {
	settings, err := describe(ctx, c, found)
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, name := range topicNames() {
		if n, ok := found[name]; ok {
			of := settings[name]
			all = append(all, Status{
				Topic: name, Partitions: n, Forgets: of[retentionTime] != keepAll || of[retentionBytes] != keepAll, Warnings: warnings(name, of),
			})
		}
	}
	return all, nil
}

func (s Status) otherPartitions(want int) error {
	next := "ask for " + strconv.Itoa(s.Partitions)
	if s.Partitions < want {
		next = "add partitions with your Kafka tools, then run `tallyhouse topics resize`"
	}
	return fmt.Errorf("%s: %w: it has %d, not %d; %s", s.Topic, ErrPartitions, s.Partitions, want, next)
}

// Partitions are the numbers of partitions of the topics that exist.
func Partitions(ctx context.Context, c Cluster) (map[string]int, error) {
	ctx, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	return partitions(ctx, c)
}

func partitions(ctx context.Context, c Cluster) (map[string]int, error) {
	r, err := c.Client().Metadata(ctx, &kafka.MetadataRequest{Topics: topicNames()})
	if err != nil {
		return nil, c.unreachable(err)
	}
	found := map[string]int{}
	for _, t := range r.Topics {
		switch {
		case t.Error == nil:
			found[t.Name] = len(t.Partitions)
		case !errors.Is(t.Error, kafka.UnknownTopicOrPartition):
			return nil, fmt.Errorf("ask Kafka for topic %s: %w", t.Name, t.Error)
		}
	}
	return found, nil
}

// create creates the missing topics and returns their names.
func create(ctx context.Context, c Cluster, spec TopicSpec, found map[string]int) ([]string, error) {
	n, replicas := spec.Partitions, spec.Replicas
	if n == 0 {
		n = DefaultPartitions
	}
	if replicas == 0 {
		replicas = -1
	}
	var missing []kafka.TopicConfig
	for _, name := range topicNames() {
		if _, ok := found[name]; !ok {
			missing = append(missing, kafka.TopicConfig{Topic: name, NumPartitions: n, ReplicationFactor: replicas,
				ConfigEntries: settingsOf(name)})
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	r, err := c.Client().CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: missing})
	if err != nil {
		return nil, fmt.Errorf("create %d topics: %w", len(missing), err)
	}
	var created []string
	var failed []error
	for _, t := range missing {
		switch err := r.Errors[t.Topic]; {
		case err == nil:
			created = append(created, t.Topic)
		case !errors.Is(err, kafka.TopicAlreadyExists): // another process was faster
			failed = append(failed, fmt.Errorf("create topic %s: %w", t.Topic, err))
		}
	}
	return created, errors.Join(failed...)
}

// awaitAll waits until the whole cluster knows of the topics; the context bounds it.
func awaitAll(ctx context.Context, c Cluster) (found map[string]int, err error) {
	err = retry.Constant(ctx, 100*time.Millisecond, func(ctx context.Context) (err error) {
		if found, err = partitions(ctx, c); err != nil {
			return err
		}
		if len(found) < len(topicNames()) {
			return retry.RetryableError(errors.New("some are not known yet"))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("wait for the new topics: %d of %d are known: %w; run `tallyhouse topics` again",
			len(found), len(topicNames()), err)
	}
	return found, nil
}

// The settings of a topic that matter here.
const (
	cleanupPolicy   = "cleanup.policy"
	retentionTime   = "retention.ms"
	keepAll         = "-1" // of both retentions
	retentionBytes  = "retention.bytes"
	maxMessageBytes = "max.message.bytes"
)

func settingsOf(topic string) []kafka.ConfigEntry {
	return []kafka.ConfigEntry{
		{ConfigName: cleanupPolicy, ConfigValue: "delete"},
		{ConfigName: retentionTime, ConfigValue: keepAll},
		{ConfigName: retentionBytes, ConfigValue: keepAll},
		{ConfigName: maxMessageBytes, ConfigValue: strconv.Itoa(limitOf(topic))},
	}
}

// limitOf is the broker's limit of a batch in the topic.
func limitOf(topic string) int {
	if topic == string(events.DeadLetters) {
		return MaxDeadLetterBytes + batchHeader
	}
	return MaxBatchBytes + batchHeader
}

// describe reads the settings of the topics that exist.
func describe(ctx context.Context, c Cluster, found map[string]int) (map[string]map[string]string, error) {
	req := &kafka.DescribeConfigsRequest{}
	if len(found) == 0 {
		return nil, nil
	}
	for name := range found {
		req.Resources = append(req.Resources, kafka.DescribeConfigRequestResource{
			ResourceType: kafka.ResourceTypeTopic,
			ResourceName: name,
			ConfigNames:  []string{cleanupPolicy, retentionTime, retentionBytes, maxMessageBytes},
		})
	}
	r, err := c.Client().DescribeConfigs(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("ask Kafka for the topics' settings: %w", err)
	}
	all := map[string]map[string]string{}
	for _, t := range r.Resources {
		if t.Error != nil {
			return nil, fmt.Errorf("ask Kafka for the settings of topic %s: %w", t.ResourceName, t.Error)
		}
		of := map[string]string{}
		for _, s := range t.ConfigEntries {
			of[s.ConfigName] = s.ConfigValue
		}
		all[t.ResourceName] = of
	}
	return all, nil
}

// warnings name settings that differ from what they should be, and the consequences.
func warnings(topic string, settings map[string]string) []string {
	var w []string
	if strings.Contains(settings[cleanupPolicy], "compact") {
		w = append(w, "it is compacted, and compaction keeps the last message of a key, not its highest version: a "+
			"re-ingest may end up with older states; set cleanup.policy=delete")
	}
	for _, name := range []string{retentionTime, retentionBytes} {
		if v := settings[name]; v != keepAll {
			w = append(w, fmt.Sprintf("%s is %s: a re-ingest finds only what the log still holds; set it to -1 to "+
				"keep everything", name, v))
		}
	}
	want := limitOf(topic)
	switch limit, err := strconv.Atoi(settings[maxMessageBytes]); {
	case err != nil:
		w = append(w, fmt.Sprintf("max.message.bytes is %q, not a number", settings[maxMessageBytes]))
	case limit < want:
		w = append(w, fmt.Sprintf("max.message.bytes is %d: larger messages are refused by the broker; set it to %d", limit, want))
	case limit > want:
		w = append(w, fmt.Sprintf("max.message.bytes is %d: values above %d bytes become dead letters; set it to %d",
			limit, events.MaxMessageBytes, want))
	}
	return w
}
