package kafka_test

import (
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"pgregory.net/rapid"

	"tallyhouse/ingest/kafka"
)

// The vectors that Apache Kafka's own tests publish for its murmur2.
func TestHashIsKafkasMurmur2(t *testing.T) {
	for key, want := range map[string]int32{
		"21":                         -973932308,
		"foobar":                     -790332482,
		"a-little-bit-long-string":   -985981536,
		"a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc": 479470107,
	} {
		if got := int32(kafka.Hash([]byte(key))); got != want {
			t.Errorf("the hash of %q is %d, want %d", key, got, want)
		}
	}
}

func TestPartitionIsWhereOtherClientsPutTheKey(t *testing.T) {
	other := kafkago.Murmur2Balancer{Consistent: true}
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		n := rapid.IntRange(1, 200).Draw(t, "partitions")
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		want := other.Balance(kafkago.Message{Key: key}, all...)
		if got := kafka.Partition(key, n); got != want {
			t.Fatalf("partition %d, another client says %d", got, want)
		}
	})
}

func TestBalancerCountsPartitionsAsItWasTold(t *testing.T) {
	b := kafka.Balancer{"told": 2}
	key := []byte("demo/C1")
	cluster := []int{0, 1, 2, 3, 4, 5, 6}
	if kafka.Partition(key, 2) == kafka.Partition(key, len(cluster)) {
		t.Fatal("the key tells nothing apart")
	}
	if got := b.Balance(kafkago.Message{Topic: "told", Key: key}, cluster...); got != kafka.Partition(key, 2) {
		t.Errorf("a topic it was told of: partition %d", got)
	}
	if got := b.Balance(kafkago.Message{Topic: "other", Key: key}, cluster...); got != kafka.Partition(key, len(cluster)) {
		t.Errorf("another topic: partition %d", got)
	}
}
