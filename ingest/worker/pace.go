package worker

import (
	"strings"
	"sync"
	"time"

	kafkalog "tallyhouse/schemas/kafka"
)

// pace budgets small inserts: a server takes some tens of them a second, whatever they hold. While there are fewer, a
// batch lingers no longer than the freshness says. When there would be more, each waits for its turn, so the more
// partitions are active the longer each lingers over its batch, and the larger batches become. Full batches don't wait:
// they are worth their insert.
type pace struct {
	freshness time.Duration // how long a batch lingers at least
	budget    float64       // inserts per second and server, of all members together
	members   *membership

	mu    sync.Mutex
	next  map[int]time.Time                // turn that is free, by shard
	turns map[kafkalog.Partition]time.Time // the last one that each partition took
}

// insertBudget is what the slowest supported machine's merges keep up with.
const insertBudget = 40

// saved is how long a server's unused turns are kept: partitions that become active together don't wait for each other.
const saved = 250 * time.Millisecond

func newPace(freshness time.Duration, members *membership) *pace {
	return &pace{freshness: freshness, budget: insertBudget, members: members,
		next: map[int]time.Time{}, turns: map[kafkalog.Partition]time.Time{}}
}

// linger is how long a batch of the partition, kept on a shard, waits for more, from its first record on. A partition that
// comes again before its turn, because its batch was full or came to nothing, still has that one: so the longest wait is
// one turn for each partition, whatever else happens.
func (p *pace) linger(tp kafkalog.Partition, shard int, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	turn := p.turns[tp]
	if !turn.After(now) {
		turn = p.take(shard, now)
		p.turns[tp] = turn
	}
	if strings.HasPrefix(tp.Topic, "access.") { // a changed right goes first
		return p.freshness
	}
	return max(p.freshness, turn.Sub(now))
}

// take takes the next turn of a shard. The caller holds the lock.
func (p *pace) take(shard int, now time.Time) time.Time {
	turn := p.next[shard]
	if oldest := now.Add(-saved); turn.Before(oldest) {
		turn = oldest
	}
	mine := p.budget * max(p.members.portion(), 0.01)
	p.next[shard] = turn.Add(time.Duration(float64(time.Second) / mine))
	return turn
}
