package kafka_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/schemas/kafka"
)

// cluster is a broker of the test's own.
type cluster struct {
	testing.TB
	addr    string
	options []kgo.Opt
	client  *kgo.Client
}

func newCluster(t *testing.T) *cluster {
	addr := kafkatest.Start(t).Addr()
	c := &cluster{TB: t, addr: addr, options: []kgo.Opt{kgo.SeedBrokers(addr)}}
	c.client = c.connect()
	return c
}

func (c *cluster) connect(more ...kgo.Opt) *kgo.Client {
	c.Helper()
	client, err := kgo.NewClient(append(more, c.options...)...)
	c.must(err)
	c.Cleanup(client.Close)
	return client
}

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) create(topic string, partitions int) {
	c.Helper()
	request := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, int32(partitions), 1
	request.Topics = append(request.Topics, t)
	_, err := request.RequestWith(c.Context(), c.client)
	c.must(err)
	kafkatest.AwaitTopic(c, c.addr, topic, partitions)
}

func (c *cluster) remove(topic string) {
	c.Helper()
	request := kmsg.NewPtrDeleteTopicsRequest()
	t := kmsg.NewDeleteTopicsRequestTopic()
	t.Topic = kmsg.StringPtr(topic)
	request.Topics, request.TopicNames = append(request.Topics, t), append(request.TopicNames, topic)
	_, err := request.RequestWith(c.Context(), c.client)
	c.must(err)
	kafkatest.AwaitTopic(c, c.addr, topic, 0)
}

// transaction sends the values to partition 0 of the topic in one transaction.
func (c *cluster) transaction(topic string, end kgo.TransactionEndTry, values ...string) {
	c.Helper()
	producer := c.begin(topic, values...)
	kafkatest.EndTransaction(c, producer, end)
}

// begin sends the values in a transaction that stays open.
func (c *cluster) begin(topic string, values ...string) *kgo.Client {
	c.Helper()
	producer := c.connect(kgo.TransactionalID(c.Name()+values[0]), kgo.DefaultProduceTopic(topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	c.must(producer.BeginTransaction())
	for _, v := range values {
		c.must(producer.ProduceSync(c.Context(), &kgo.Record{Value: []byte(v)}).FirstErr())
	}
	return producer
}

func (c *cluster) identity(topic string) kafka.Identity {
	c.Helper()
	ids, err := kafka.Identities(c.Context(), c.client, topic)
	c.must(err)
	return ids[topic]
}

func TestATopicThatIsMadeAnewHasAnotherIdentity(t *testing.T) {
	// Given a topic
	c := newCluster(t)
	if _, err := kafka.Identities(t.Context(), c.client, "a"); !errors.Is(err, kafka.ErrUnknown) {
		t.Fatalf("of a topic that isn't there: %v", err)
	}
	c.create("a", 3)
	before := c.identity("a")
	// When it is removed and made anew
	c.remove("a")
	c.create("a", 3)
	// Then it is another one, of the same cluster
	after := c.identity("a")
	if before.Cluster == "" || before.Cluster != after.Cluster || before.Partitions != 3 || after.Partitions != 3 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if before.Topic == after.Topic {
		t.Errorf("a topic made anew has the old id %s", before.Topic)
	}
}

func TestAPartitionEndsWhereTheFirstOpenTransactionBegins(t *testing.T) {
	// Given two topics, one with two committed messages and an open transaction
	c := newCluster(t)
	c.create("a", 2)
	c.create("b", 1)
	c.transaction("a", kgo.TryCommit, "1", "2")
	open := c.begin("a", "3", "4")
	ids := map[string]kafka.Identity{"a": c.identity("a"), "b": c.identity("b")}
	// When their logs are asked for
	ranges, err := kafka.Ranges(t.Context(), c.client, ids)
	c.must(err)
	// Then they end before it: two messages and the mark of their commit
	if !slices.Equal(ranges["a"], []kafka.Range{{0, 3}, {0, 0}}) || !slices.Equal(ranges["b"], []kafka.Range{{0, 0}}) {
		t.Errorf("ranges %+v", ranges)
	}
	// And behind it once it is committed
	kafkatest.EndTransaction(t, open, kgo.TryCommit)
	ranges, err = kafka.Ranges(t.Context(), c.client, ids)
	c.must(err)
	if ranges["a"][0] != (kafka.Range{Start: 0, End: 6}) {
		t.Errorf("ranges %+v", ranges)
	}
}

func TestAReaderGivesCommittedMessagesAndPassesTheOthers(t *testing.T) {
	// Given a log whose last entry is the mark of an aborted transaction
	c := newCluster(t)
	c.create("a", 1)
	c.transaction("a", kgo.TryCommit, "1", "2")
	c.transaction("a", kgo.TryAbort, "3", "4")
	c.transaction("a", kgo.TryCommit, "5")
	c.transaction("a", kgo.TryAbort, "6")
	partition := kafka.Partition{Topic: "a", Number: 0}
	ranges, err := kafka.Ranges(t.Context(), c.client, map[string]kafka.Identity{"a": c.identity("a")})
	c.must(err)
	end := ranges["a"][0].End
	for from, want := range map[int64][]string{0: {"1", "2", "5"}, 1: {"2", "5"}, 7: nil} {
		// When it is read from an offset on
		reader, err := kafka.NewReader(c.options, map[kafka.Partition]int64{partition: from})
		c.must(err)
		var got []string
		for at := from; at < end; {
			next, err := reader.Poll(t.Context(), func(r *kgo.Record) error {
				got = append(got, string(r.Value))
				return nil
			})
			c.must(err)
			at = next[partition]
		}
		reader.Close()
		// Then the committed messages come, and the position reaches the log's end
		if !slices.Equal(got, want) {
			t.Errorf("from %d: got %q, want %q", from, got, want)
		}
	}
}

// Given messages that are compressed together so well that they would take more memory than anybody has for them, at the beginning of
// a log and between others, when it is read, then they are passed, and what stands before and behind them comes, and what is in another
// partition, once.
func TestAReaderPassesMessagesThatUnpackToTooMuch(t *testing.T) {
	c := newCluster(t)
	c.create("a", 2)
	const mebibytes, beside = kafka.UnpackedBytes >> 20, 20_000
	producer := c.connect(kgo.DefaultProduceTopic("a"), kgo.ProducerBatchMaxBytes(2*kafka.UnpackedBytes), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.BrokerMaxWriteBytes(4*kafka.UnpackedBytes), kgo.ProducerBatchCompression(kgo.ZstdCompression()), kgo.ProducerLinger(time.Second))
	send := func(partition int32, values ...string) {
		t.Helper()
		var all []*kgo.Record
		for _, v := range values {
			all = append(all, &kgo.Record{Partition: partition, Value: []byte(v)})
		}
		c.must(producer.ProduceSync(t.Context(), all...).FirstErr())
	}
	var others []string
	for i := range beside {
		others = append(others, fmt.Sprint(i))
	}
	send(1, others...)
	large := slices.Repeat([]string{strings.Repeat("x", 1<<20)}, mebibytes+1)
	send(0, large...)
	send(0, "1", "2")
	send(0, large...)
	send(0, "3")
	first, second := kafka.Partition{Topic: "a", Number: 0}, kafka.Partition{Topic: "a", Number: 1}
	ranges, err := kafka.Ranges(t.Context(), c.client, map[string]kafka.Identity{"a": c.identity("a")})
	c.must(err)
	ends := map[kafka.Partition]int64{first: ranges["a"][0].End, second: ranges["a"][1].End}
	if ends[first] != 2*(mebibytes+1)+3 || ends[second] != beside {
		t.Fatalf("the logs end at %v", ends)
	}

	reader, err := kafka.NewReader(c.options, map[kafka.Partition]int64{first: 0, second: 0})
	c.must(err)
	defer reader.Close()
	got := map[int32][]string{}
	for at := map[kafka.Partition]int64{}; at[first] < ends[first] || at[second] < ends[second]; {
		next, err := reader.Poll(t.Context(), func(r *kgo.Record) error {
			got[r.Partition] = append(got[r.Partition], string(r.Value))
			return nil
		})
		c.must(err)
		maps.Copy(at, next)
	}
	if !slices.Equal(got[0], []string{"1", "2", "3"}) || !slices.Equal(got[1], others) {
		t.Errorf("got %.100q, and %d of %d beside them", got[0], len(got[1]), beside)
	}
}

// packs sends messages of topic a in one compressed batch for each partition.
func (c *cluster) packs(all ...*kgo.Record) {
	c.Helper()
	client := c.connect(kgo.DefaultProduceTopic("a"), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MaxBufferedRecords(2*kafka.PackedTogether), kgo.ProducerBatchMaxBytes(2*kafka.UnpackedBytes), kgo.BrokerMaxWriteBytes(4*kafka.UnpackedBytes),
		kgo.ProducerBatchCompression(kgo.ZstdCompression()), kgo.ProducerLinger(time.Minute))
	failed := kgo.AbortingFirstErrPromise(client)
	for _, r := range all {
		client.Produce(c.Context(), r, failed.Promise())
	}
	c.must(errors.Join(client.Flush(c.Context()), failed.Err())) // it lingers until it is flushed
}

// Given batches on several partitions, each within what one may unpack to, which come in one fetch and together unpack to several times
// what a reader has for them, when they are read, then all come, once and in order, and the memory that is live stays bounded.
func TestAReaderUnpacksNoMoreThanItHasMemoryFor(t *testing.T) {
	const partitions, batches, bytes = 4, 4, 28 << 20
	c := newCluster(t)
	c.create("a", partitions)
	value := make([]byte, bytes)
	for range batches {
		for p := range int32(partitions) {
			c.packs(&kgo.Record{Partition: p, Value: value})
		}
	}
	from, at := map[kafka.Partition]int64{}, map[kafka.Partition]int64{}
	for p := range int32(partitions) {
		from[kafka.Partition{Topic: "a", Number: p}] = 0
	}
	reader, err := kafka.NewReader(c.options, from)
	c.must(err)
	defer reader.Close()
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	n, most := 0, uint64(0)
	for n < partitions*batches {
		next, err := reader.Poll(t.Context(), func(r *kgo.Record) error {
			p := kafka.Partition{Topic: "a", Number: r.Partition}
			if r.Offset != at[p] || len(r.Value) != bytes {
				t.Errorf("%s: offset %d where %d comes next, %d bytes", p, r.Offset, at[p], len(r.Value))
			}
			at[p] = r.Offset + 1
			n++
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
			return nil
		})
		c.must(err)
		for p, offset := range next {
			if offset != at[p] {
				t.Errorf("%s: the next offset is %d, not %d", p, at[p], offset)
			}
		}
	}
	if all := uint64(partitions * batches * bytes); most > all/2 {
		t.Errorf("%d MiB are held at a time, of %d", most>>20, all>>20)
	}
}

// Given a batch of more messages than one may have, then it is passed as one that unpacks to too much.
func TestAReaderPassesTooManyMessagesInOneBatch(t *testing.T) {
	c := newCluster(t)
	c.create("a", 1)
	for _, n := range []int{kafka.PackedTogether + 1, kafka.PackedTogether} {
		all := make([]*kgo.Record, n)
		for i := range all {
			all[i] = &kgo.Record{}
		}
		c.packs(all...)
	}
	reader, err := kafka.NewReader(c.options, map[kafka.Partition]int64{{Topic: "a"}: 0})
	c.must(err)
	defer reader.Close()
	n := 0
	for at := int64(0); at <= 2*kafka.PackedTogether; {
		next, err := reader.Poll(t.Context(), func(*kgo.Record) error { n++; return nil })
		c.must(err)
		at = max(at, next[kafka.Partition{Topic: "a"}])
	}
	if n != kafka.PackedTogether {
		t.Errorf("%d messages come, want those of the second batch, %d", n, kafka.PackedTogether)
	}
}

// A header takes memory that isn't its bytes: a batch of one message with as many as fit is refused.
func TestManyHeadersAreTooMuchToUnpack(t *testing.T) {
	var held int64
	u, err := kafka.NewUnpacking(1<<30, func(_ []byte, bytes int64) { held += bytes })
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		headers int
		want    error
	}{{1000, nil}, {kafka.UnpackedBytes / 32, kgo.ErrMaxDecompress}} {
		record := append(binary.AppendVarint([]byte{0, 0, 0, 1, 2, 'v'}, int64(tc.headers)), make([]byte, 2*tc.headers)...)
		batch := append(binary.AppendVarint(nil, int64(len(record))), record...)
		held = 0
		_, err := u.Decompress(snappy(batch), kgo.CodecSnappy)
		if !errors.Is(err, tc.want) || err == nil && held < int64(len(batch)+30*tc.headers) {
			t.Errorf("%d headers: %v; %d bytes are counted", tc.headers, err, held)
		}
	}
}

func snappy(b []byte) []byte { return s2.EncodeSnappy(nil, b) }

func TestAReaderNeverBeginsElsewhere(t *testing.T) {
	// Given an offset behind the log's end
	c := newCluster(t)
	c.create("a", 1)
	c.transaction("a", kgo.TryCommit, "1")
	reader, err := kafka.NewReader(c.options, map[kafka.Partition]int64{{Topic: "a"}: 100})
	c.must(err)
	defer reader.Close()
	// When it is read, then that is an error, and nothing is handed over
	_, err = reader.Poll(t.Context(), func(r *kgo.Record) error {
		t.Errorf("got %q", r.Value)
		return nil
	})
	if err == nil {
		t.Error("no error")
	}
}

func TestAReaderStopsWhenItIsTold(t *testing.T) {
	c := newCluster(t)
	c.create("a", 1)
	c.transaction("a", kgo.TryCommit, "1")
	reader, err := kafka.NewReader(c.options, map[kafka.Partition]int64{{Topic: "a"}: 0})
	c.must(err)
	defer reader.Close()
	// When the one who takes the messages fails, then reading fails with the same
	refused := errors.New("refused")
	if _, err := reader.Poll(t.Context(), func(*kgo.Record) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	// And when the context ends, with its error
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reader.Poll(ctx, func(*kgo.Record) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
