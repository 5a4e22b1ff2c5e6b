package kafka

import "github.com/segmentio/kafka-go"

// Partition is where a message with this key belongs among n partitions: murmur2 as Kafka's own default partitioner
// computes it. n is at least 1.
func Partition(key []byte, n int) int {
	return int(Hash(key)&0x7fffffff) % n
}

// Hash is Kafka's murmur2 of a key.
func Hash(key []byte) uint32 {
	const (
		seed  = 0x9747b28c
		mix   = 0x5bd1e995
		shift = 24
	)
	h := uint32(seed) ^ uint32(len(key))
	for ; len(key) >= 4; key = key[4:] {
		k := uint32(key[0]) | uint32(key[1])<<8 | uint32(key[2])<<16 | uint32(key[3])<<24
		k *= mix
		k ^= k >> shift
		k *= mix
		h *= mix
		h ^= k
	}
	switch len(key) {
	case 3:
		h ^= uint32(key[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(key[1]) << 8
		fallthrough
	case 1:
		h ^= uint32(key[0])
		h *= mix
	}
	h ^= h >> 13
	h *= mix
	h ^= h >> 15
	return h
}

// Balancer sends each message to exactly the partition that its key belongs to among a given number of partitions, by
// topic. What the cluster's metadata say at that moment counts only for topics that aren't in it: they may already know
// of more.
type Balancer map[string]int

var _ kafka.Balancer = Balancer(nil)

// Balance implements kafka.Balancer.
func (b Balancer) Balance(m kafka.Message, partitions ...int) int {
	n, ok := b[m.Topic]
	if !ok {
		n = len(partitions)
	}
	return Partition(m.Key, max(n, 1))
}
