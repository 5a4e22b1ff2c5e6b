package kafka

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What the rest of the system relies on, held against the embedded broker with
// the clients that it uses: kafka-go for everything but reading, franz-go for that.

func partitionOf(key string, partitions int) int {
	all := make([]int, partitions)
	for i := range all {
		all[i] = i
	}
	return kafka.Murmur2Balancer{Consistent: true}.Balance(kafka.Message{Key: []byte(key)}, all...)
}

func transactional(t *testing.T, addr, id, topic string) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(topic), kgo.TransactionalID(id))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseAllowingRebalance)
	return client
}

// transact writes the values in one transaction and ends it.
func transact(t *testing.T, addr, id, topic string, end kgo.TransactionEndTry, values ...string) {
	t.Helper()
	client := transactional(t, addr, id, topic)
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	for _, value := range values {
		if err := client.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.EndTransaction(t.Context(), end); err != nil {
		t.Fatal(err)
	}
}

func TestMessagesOfTheLargestSizePass(t *testing.T) {
	b := startBroker(t, t.TempDir(), "127.0.0.1:0")
	createTopic(t, b.Addr(), "a", 1)
	// given a dead letter of 17 MiB with its headers, and a message too large for any topic
	letter := kafka.Message{
		Key: []byte("ledger.records/0/1"), Value: bytes.Repeat([]byte("x"), 17<<20),
		Headers: []kafka.Header{{Key: "reason", Value: []byte("too large")}},
	}
	w := writer(t, b.Addr(), "a")
	w.BatchBytes = maxMessageBytes
	// when it is written
	if err := w.WriteMessages(t.Context(), letter); err != nil {
		t.Fatal(err)
	}
	// then it is read as it was
	records := read(t, b.Addr(), "a")
	if len(records) != 1 || !bytes.Equal(records[0].Value, letter.Value) || string(records[0].Headers[0].Value) != "too large" {
		t.Fatalf("%d records read, not the one that was written", len(records))
	}
	// and the too large one is refused
	w.BatchBytes = 64 << 20
	err := w.WriteMessages(t.Context(), kafka.Message{Value: bytes.Repeat([]byte("x"), maxMessageBytes+1)})
	var refused kafka.WriteErrors
	if !errors.As(err, &refused) || !errors.Is(refused[0], kafka.MessageSizeTooLarge) {
		t.Fatalf("got %v", err)
	}
}

func TestAllCompressionsAreRead(t *testing.T) {
	b := startBroker(t, t.TempDir(), "127.0.0.1:0")
	createTopic(t, b.Addr(), "a", 1)
	var want string
	for _, c := range []kafka.Compression{0, kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd} {
		w := writer(t, b.Addr(), "a")
		w.Compression = c
		if err := w.WriteMessages(t.Context(), kafka.Message{Value: []byte(c.String())}); err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if want != "" {
			want += " "
		}
		want += c.String()
	}
	if got := values(read(t, b.Addr(), "a")); got != want {
		t.Errorf("read %q, wrote %q", got, want)
	}
}

func TestOnlyCommittedMessagesAreRead(t *testing.T) {
	b := startBroker(t, t.TempDir(), "127.0.0.1:0")
	createTopic(t, b.Addr(), "a", 1)
	// given messages without a transaction, in a committed one and in an aborted one
	if err := writer(t, b.Addr(), "a").WriteMessages(t.Context(), kafka.Message{Value: []byte("plain")}); err != nil {
		t.Fatal(err)
	}
	transact(t, b.Addr(), "one", "a", kgo.TryAbort, "aborted", "too")
	transact(t, b.Addr(), "two", "a", kgo.TryCommit, "committed")
	if got := values(read(t, b.Addr(), "a")); got != "plain committed" {
		t.Fatalf("read %q", got)
	}
	// and one that is open: what follows it waits
	open := transactional(t, b.Addr(), "three", "a")
	if err := open.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := open.ProduceSync(t.Context(), kgo.StringRecord("open")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := writer(t, b.Addr(), "a").WriteMessages(t.Context(), kafka.Message{Value: []byte("behind")}); err != nil {
		t.Fatal(err)
	}
	if got := values(read(t, b.Addr(), "a")); got != "plain committed" {
		t.Errorf("read %q past an open transaction", got)
	}
	// until it ends
	if err := open.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	if got := values(read(t, b.Addr(), "a")); got != "plain committed open behind" {
		t.Errorf("read %q after its end", got)
	}
}

func TestBothClientsPartitionAlike(t *testing.T) {
	b := startBroker(t, t.TempDir(), "127.0.0.1:0")
	const partitions = 7
	createTopic(t, b.Addr(), "a", partitions)
	// given messages by kafka-go with the murmur2 balancer
	var mu sync.Mutex
	at := map[string]int{}
	w := writer(t, b.Addr(), "a")
	w.Completion = func(messages []kafka.Message, err error) {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range messages {
			at[string(m.Key)] = m.Partition
		}
	}
	for i := range 50 {
		if err := w.WriteMessages(t.Context(), kafka.Message{Key: []byte("tenant/" + strconv.Itoa(i))}); err != nil {
			t.Fatal(err)
		}
	}
	// then franz-go's default puts each key where kafka-go did
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.DefaultProduceTopic("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	used := map[int]bool{}
	for key, partition := range at {
		record, err := client.ProduceSync(t.Context(), kgo.KeyStringRecord(key, "")).First()
		if err != nil {
			t.Fatal(err)
		}
		if int(record.Partition) != partition || partition != partitionOf(key, partitions) {
			t.Errorf("key %s: franz-go says %d, kafka-go %d, its balancer %d", key, record.Partition, partition, partitionOf(key, partitions))
		}
		used[partition] = true
	}
	if len(at) != 50 || len(used) != partitions {
		t.Errorf("%d keys on %d partitions", len(at), len(used))
	}
}

func TestOffsetsAreListedAndDeletedFromTheStart(t *testing.T) {
	dir := t.TempDir()
	b := startBroker(t, dir, "127.0.0.1:0")
	createTopic(t, b.Addr(), "a", 1)
	w := writer(t, b.Addr(), "a")
	for i := range 10 {
		if err := w.WriteMessages(t.Context(), kafka.Message{Value: []byte(strconv.Itoa(i))}); err != nil {
			t.Fatal(err)
		}
	}
	assertOffsets(t, b.Addr(), 0, 10)
	// when the first four are deleted
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	request := kmsg.NewDeleteRecordsRequest()
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = "a"
	partition := kmsg.NewDeleteRecordsRequestTopicPartition()
	partition.Offset = 4
	topic.Partitions = append(topic.Partitions, partition)
	request.Topics = append(request.Topics, topic)
	request.TimeoutMillis = 5000
	if _, err := request.RequestWith(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	// then the log starts behind them, after a stop as well
	assertOffsets(t, b.Addr(), 4, 10)
	stop(t, b)
	assertOffsets(t, startBroker(t, dir, "127.0.0.1:0").Addr(), 4, 10)
}

func assertOffsets(t *testing.T, addr string, first, last int64) {
	t.Helper()
	if got := startOffset(t, addr, "a"); got != first {
		t.Errorf("the log starts at %d, want %d", got, first)
	}
	if got := endOffset(t, addr, "a"); got != last {
		t.Errorf("the log ends at %d, want %d", got, last)
	}
}

func topicID(t *testing.T, addr, topic string) ([16]byte, int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	request := kmsg.NewMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = &topic
	request.Topics = append(request.Topics, asked)
	response, err := request.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	return response.Topics[0].TopicID, len(response.Topics[0].Partitions)
}

func TestATopicMadeAnewHasAnotherID(t *testing.T) {
	dir := t.TempDir()
	b := startBroker(t, dir, "127.0.0.1:0")
	createTopic(t, b.Addr(), "a", 2)
	first, _ := topicID(t, b.Addr(), "a")
	if first == ([16]byte{}) {
		t.Fatal("the topic has no id")
	}
	// the id stays through a restart
	stop(t, b)
	b = startBroker(t, dir, "127.0.0.1:0")
	if again, _ := topicID(t, b.Addr(), "a"); again != first {
		t.Error("the id changed with a restart")
	}
	// and is another one after deletion and creation
	deleted, err := client(t, b.Addr()).DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{"a"}})
	if err != nil || deleted.Errors["a"] != nil {
		t.Fatal(err, deleted)
	}
	createTopic(t, b.Addr(), "a", 2)
	if anew, _ := topicID(t, b.Addr(), "a"); anew == first {
		t.Error("the topic made anew has the old id")
	}
}

func TestPartitionsAreAdded(t *testing.T) {
	dir := t.TempDir()
	b := startBroker(t, dir, "127.0.0.1:0")
	createTopic(t, b.Addr(), "a", 2)
	made, err := client(t, b.Addr()).CreatePartitions(t.Context(), &kafka.CreatePartitionsRequest{
		Topics: []kafka.TopicPartitionsConfig{{Name: "a", Count: 4}},
	})
	if err != nil || made.Errors["a"] != nil {
		t.Fatal(err, made)
	}
	if _, partitions := topicID(t, b.Addr(), "a"); partitions != 4 {
		t.Errorf("%d partitions, want 4", partitions)
	}
	stop(t, b)
	if _, partitions := topicID(t, startBroker(t, dir, "127.0.0.1:0").Addr(), "a"); partitions != 4 {
		t.Errorf("%d partitions after a restart, want 4", partitions)
	}
}

// kfake tells a topic's own settings and the broker's, each under its own name;
// for a setting that only the broker has, it tells the topic's default instead.
func TestSettingsAreTold(t *testing.T) {
	b := startBroker(t, t.TempDir(), "127.0.0.1:0")
	createTopic(t, b.Addr(), "a", 1,
		kafka.ConfigEntry{ConfigName: "cleanup.policy", ConfigValue: "compact"},
		kafka.ConfigEntry{ConfigName: "retention.ms", ConfigValue: "-1"},
		kafka.ConfigEntry{ConfigName: "max.message.bytes", ConfigValue: "17825792"})
	described, err := client(t, b.Addr()).DescribeConfigs(t.Context(), &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{
			{ResourceType: kafka.ResourceTypeTopic, ResourceName: "a"},
			{ResourceType: kafka.ResourceTypeBroker, ResourceName: "0"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, resource := range described.Resources {
		if resource.Error != nil {
			t.Fatal(resource.Error)
		}
		for _, entry := range resource.ConfigEntries {
			got[resource.ResourceName+" "+entry.ConfigName] = entry.ConfigValue
		}
	}
	for name, want := range map[string]string{
		"a retention.ms":        "-1",
		"a cleanup.policy":      "compact",
		"a max.message.bytes":   "17825792",
		"0 log.retention.ms":    "-1",
		"0 log.retention.bytes": "-1",
		"0 message.max.bytes":   strconv.Itoa(maxMessageBytes),
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

func TestMessagesOfLongAgoAreKept(t *testing.T) {
	b := startBroker(t, t.TempDir(), "127.0.0.1:0")
	cleanOften(t, b.Addr())
	// given a topic that says nothing of retention, with messages dated long ago
	createTopic(t, b.Addr(), "a", 1)
	old := kafka.Message{Value: []byte("old"), Time: time.Now().AddDate(-20, 0, 0)}
	if err := writer(t, b.Addr(), "a").WriteMessages(t.Context(), old, old); err != nil {
		t.Fatal(err)
	}
	// when the cleaner has been through, as another topic shows where it does delete
	createTopic(t, b.Addr(), "brief", 1, kafka.ConfigEntry{ConfigName: "retention.ms", ConfigValue: "1000"})
	if err := writer(t, b.Addr(), "brief").WriteMessages(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	await(t, "the brief topic is empty", func() bool { return startOffset(t, b.Addr(), "brief") == 1 })
	// then they are there
	if got := startOffset(t, b.Addr(), "a"); got != 0 {
		t.Errorf("the log starts at %d", got)
	}
}

func TestACompactedTopicKeepsTheLastOfEachKey(t *testing.T) {
	b := startBroker(t, t.TempDir(), "127.0.0.1:0")
	cleanOften(t, b.Addr())
	createTopic(t, b.Addr(), "a", 1, kafka.ConfigEntry{ConfigName: "cleanup.policy", ConfigValue: "compact"})
	w := writer(t, b.Addr(), "a")
	for _, m := range [][2]string{{"x", "x1"}, {"y", "y1"}, {"x", "x2"}, {"z", "last"}} {
		if err := w.WriteMessages(t.Context(), kafka.Message{Key: []byte(m[0]), Value: []byte(m[1])}); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "x1 is gone", func() bool { return values(read(t, b.Addr(), "a")) == "y1 x2 last" })
	// offsets stay what they were
	if records := read(t, b.Addr(), "a"); records[0].Offset != 1 || records[1].Offset != 2 {
		t.Errorf("the offsets have changed: %d, %d", records[0].Offset, records[1].Offset)
	}
}

// cleanOften has the cleaner run every few milliseconds, not every hour. It takes
// effect for topics made afterwards.
func cleanOften(t *testing.T, addr string) {
	t.Helper()
	altered, err := client(t, addr).IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeBroker, ResourceName: "0",
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{
				{Name: "log.cleaner.backoff.ms", Value: "20", ConfigOperation: kafka.ConfigOperationSet},
			},
		}},
	})
	if err == nil {
		err = altered.Resources[0].Error
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestATopicIsNotMadeByWritingToIt(t *testing.T) {
	b := startBroker(t, t.TempDir(), "127.0.0.1:0")
	w := writer(t, b.Addr(), "misspelt")
	w.MaxAttempts = 1
	if err := w.WriteMessages(t.Context(), kafka.Message{Value: []byte("v")}); !errors.Is(err, kafka.UnknownTopicOrPartition) {
		t.Errorf("got %v", err)
	}
}

// member is one process of a consumer group, as the worker is.
type member struct {
	group *kafka.ConsumerGroup
	mu    sync.Mutex
	owned map[int]int64 // partition -> offset to go on from
	gen   *kafka.Generation
	ended chan struct{}
}

func join(t *testing.T, addr string) *member {
	t.Helper()
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: "g", Brokers: []string{addr}, Topics: []string{"a"},
		HeartbeatInterval: 100 * time.Millisecond, JoinGroupBackoff: 100 * time.Millisecond, StartOffset: kafka.FirstOffset,
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &member{group: group, ended: make(chan struct{})}
	t.Cleanup(m.leave)
	go m.follow(t.Context())
	return m
}

func (m *member) follow(ctx context.Context) {
	defer close(m.ended)
	for {
		generation, err := m.group.Next(ctx)
		if errors.Is(err, kafka.ErrGroupClosed) || ctx.Err() != nil {
			return
		}
		if err != nil { // transient, as the library has it
			continue
		}
		m.mu.Lock()
		m.gen, m.owned = generation, map[int]int64{}
		for _, assigned := range generation.Assignments["a"] {
			m.owned[assigned.ID] = assigned.Offset
		}
		m.mu.Unlock()
		generation.Start(func(ctx context.Context) { <-ctx.Done() })
	}
}

func (m *member) partitions() map[int]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	owned := map[int]int64{}
	for partition, offset := range m.owned {
		owned[partition] = offset
	}
	return owned
}

func (m *member) commit(partition int, offset int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gen.CommitOffsets(map[string]map[int]int64{"a": {partition: offset}})
}

func (m *member) leave() {
	m.group.Close()
	<-m.ended
}

func TestGroupsShareHandOverAndRemember(t *testing.T) {
	dir := t.TempDir()
	b := startBroker(t, dir, "127.0.0.1:0")
	createTopic(t, b.Addr(), "a", 4)
	// given one member: it has all partitions
	first := join(t, b.Addr())
	await(t, "the first has all", func() bool { return len(first.partitions()) == 4 })
	// when another joins, each has half, and no partition two owners
	second := join(t, b.Addr())
	await(t, "each has half", func() bool { return len(first.partitions()) == 2 && len(second.partitions()) == 2 })
	for partition := range first.partitions() {
		if _, both := second.partitions()[partition]; both {
			t.Errorf("both have partition %d", partition)
		}
	}
	// when the second commits and leaves, the first goes on from there
	var handed int
	for partition := range second.partitions() {
		handed = partition
	}
	if err := second.commit(handed, 42); err != nil {
		t.Fatal(err)
	}
	second.leave()
	await(t, "the first has all again", func() bool { return len(first.partitions()) == 4 })
	if got := first.partitions()[handed]; got != 42 {
		t.Errorf("partition %d goes on from %d, 42 was committed", handed, got)
	}
	first.leave()
	// and so does one that joins after a restart of the broker
	stop(t, b)
	third := join(t, startBroker(t, dir, "127.0.0.1:0").Addr())
	await(t, "the third has all", func() bool { return len(third.partitions()) == 4 })
	if got := third.partitions()[handed]; got != 42 {
		t.Errorf("partition %d goes on from %d after a restart, 42 was committed", handed, got)
	}
}

func TestAGroupOutlivesItsBroker(t *testing.T) {
	dir := t.TempDir()
	b := startBroker(t, dir, "127.0.0.1:0")
	createTopic(t, b.Addr(), "a", 2)
	m := join(t, b.Addr())
	await(t, "the member has all", func() bool { return len(m.partitions()) == 2 })
	m.mu.Lock()
	before := m.gen
	m.mu.Unlock()
	// when the broker is restarted on its address
	stop(t, b)
	startBroker(t, dir, b.Addr())
	// then the member gets its partitions again
	await(t, "the member is in again", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.gen != before && len(m.owned) == 2
	})
}
