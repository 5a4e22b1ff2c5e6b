package worker

import (
	"strings"
	"sync"
	"time"

	kafkalog "tallyhouse/schemas/kafka"
)

// pace budgets small inserts: a server takes some tens of them a second, whatever they hold. The more partitions are
// active, the longer each lingers over its batch. Full batches don't wait: they are worth their insert.
type pace struct {
	freshness time.Duration // how long a batch lingers at least
	budget    float64       // inserts per second and server, of all members together
	members   *membership

	mu     sync.Mutex
	active map[kafkalog.Partition]time.Time // when it last had something to write
}

// insertBudget is what the slowest supported machine's merges keep up with.
const insertBudget = 20

// activeFor is how long a partition counts as active after its last record.
const activeFor = 5 * time.Second

func newPace(freshness time.Duration, members *membership) *pace {
	return &pace{freshness: freshness, budget: insertBudget, members: members, active: map[kafkalog.Partition]time.Time{}}
}

// linger is how long a batch of the partition waits for more, from its first record on.
func (p *pace) linger(tp kafkalog.Partition, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active[tp] = now
	for other, last := range p.active {
		if now.Sub(last) > activeFor {
			delete(p.active, other)
		}
	}
	if strings.HasPrefix(tp.Topic, "access.") { // a changed right goes first
		return p.freshness
	}
	mine := p.budget * max(p.members.portion(), 0.01)
	return max(p.freshness, time.Duration(float64(len(p.active))/mine*float64(time.Second)))
}
