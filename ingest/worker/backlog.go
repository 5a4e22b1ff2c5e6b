package worker

import (
	"context"
	"sync"
	"time"

	kafkalog "tallyhouse/schemas/kafka"
)

const (
	backlogEvery = 5 * time.Second // the logs are asked for their ends
	mostEnds     = 256             // remembered of a partition
)

// backlog knows what each partition's log holds beyond its position, and since when. It asks the logs itself, so it
// tells the truth when a writer stands still, or ClickHouse is away.
type backlog struct {
	mu   sync.Mutex
	ends map[kafkalog.Partition][]logEnd // rising; those behind the position are gone
	held map[kafkalog.Partition]uint64   // offsets behind the beginning of an open transaction
}

// logEnd is where a log ended when that was first seen.
type logEnd struct {
	offset uint64
	at     time.Time
}

func newBacklog() *backlog { return &backlog{ends: map[kafkalog.Partition][]logEnd{}} }

// run asks for the ends of what the worker writes until the context ends.
func (b *backlog) run(ctx context.Context, w *Worker) {
	for ctx.Err() == nil {
		var mine []kafkalog.Partition
		for _, s := range w.Status() {
			mine = append(mine, kafkalog.Partition{Topic: s.Topic, Number: s.Partition})
		}
		b.see(mine, kafkalog.Ends(ctx, w.admin, mine), time.Now())
		sleep(ctx, backlogEvery)
	}
}

// see takes in where logs end now. Partitions that are not the worker's any more are forgotten; one without an answer
// stays as it was.
func (b *backlog) see(mine []kafkalog.Partition, ends map[kafkalog.Partition]kafkalog.End, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, held := b.ends, b.held
	b.ends, b.held = make(map[kafkalog.Partition][]logEnd, len(mine)), make(map[kafkalog.Partition]uint64, len(mine))
	for _, p := range mine {
		seen := before[p]
		end, ok := ends[p]
		if ok && (len(seen) == 0 || end.Log > seen[len(seen)-1].offset) {
			seen = append(seen, logEnd{end.Log, now})
		}
		if b.held[p] = held[p]; ok {
			b.held[p] = end.Log - end.Committed
		}
		if len(seen) > mostEnds {
			seen = everySecond(seen)
		}
		b.ends[p] = seen
	}
}

// everySecond halves what is remembered: of two ends the later one stays, with the time of the earlier, so that no
// message seems younger than it is.
func everySecond(ends []logEnd) []logEnd {
	kept := ends[:0]
	for i := 0; i < len(ends); i += 2 {
		kept = append(kept, logEnd{ends[min(i+1, len(ends)-1)].offset, ends[i].at})
	}
	return kept
}

// uncommitted is how many offsets lie behind the beginning of an open transaction, which holds them back; 0: there is none.
func (b *backlog) uncommitted(p kafkalog.Partition) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held[p]
}

// behind reports how many offsets lie between a position and its log's end, and how long ago the first of them was seen
// there. It is not known before the log was asked for its end.
func (b *backlog) behind(p kafkalog.Partition, position uint64, now time.Time) (offsets uint64, age time.Duration, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := b.ends[p]
	if len(seen) == 0 {
		return 0, 0, false
	}
	end := seen[len(seen)-1].offset
	for len(seen) > 1 && seen[0].offset <= position {
		seen = seen[1:]
	}
	b.ends[p] = seen
	if end <= position {
		return 0, 0, true
	}
	return end - position, now.Sub(seen[0].at), true
}
